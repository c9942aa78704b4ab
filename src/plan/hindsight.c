#include "plan/hindsight.h"

#include <stdlib.h>

#include "base/mem.h"
#include "plan/replay.h"

#define QUICK_SHARE .05 /* Of all times per chunk: what a chunk takes. */

struct view {
    const struct hindsight *seen;
    double chunk_us;   /* Of a quick worker. */
    double *usual_us;  /* Per worker: mean time of the steps it answered. */
    uint32_t *counted; /* ... and of how many. */
    uint32_t bounds;
};

static const struct hindsight_cell *cell_at(const struct hindsight *seen,
                                            uint32_t step, uint32_t worker)
{
    return &seen->cells[(size_t)step * seen->workers + worker];
}

static int ascending(const void *a, const void *b)
{
    const double *one = a;
    const double *two = b;

    return (*one > *two) - (*one < *two);
}

static enum err find_chunk_time(struct view *view)
{
    const size_t count = (size_t)view->seen->steps * view->seen->workers;
    double *all = mem_new(count, sizeof *all);
    size_t used = 0;

    if (all == NULL)
        return ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct hindsight_cell *cell = &view->seen->cells[i];

        if (cell->answered_us >= 0 && cell->chunks > 0)
            all[used++] = (double)cell->compute_us / cell->chunks;
    }
    if (used > 0) {
        qsort(all, used, sizeof *all, ascending);
        view->chunk_us = all[(size_t)(QUICK_SHARE * (double)used)];
    }
    mem_free(all);
    return used > 0 ? ERR_OK : ERR_SHAPE;
}

/* What is not computing: delay, road, queue. */
static double beside_us(const struct hindsight_cell *cell)
{
    const int64_t beside = cell->answered_us - cell->compute_us;

    return beside > 0 ? (double)beside : 0;
}

static double pace_us(const struct view *view,
                      const struct hindsight_cell *cell)
{
    const double pace = cell->chunks > 0
                            ? (double)cell->compute_us / cell->chunks
                            : view->chunk_us;

    return pace > view->chunk_us ? pace : view->chunk_us;
}

static void learn_usual(struct view *view)
{
    const struct hindsight *seen = view->seen;

    for (uint32_t step = 0; step < seen->steps; step++) {
        for (uint32_t i = 0; i < seen->workers; i++) {
            const struct hindsight_cell *cell = cell_at(seen, step, i);

            if (cell->answered_us < 0)
                continue;
            view->usual_us[i] += (double)cell->answered_us;
            view->counted[i]++;
        }
    }
    for (uint32_t i = 0; i < seen->workers; i++)
        view->usual_us[i] /= view->counted[i] > 0 ? view->counted[i] : 1;
}

/* The answer never came: it would have taken longer than the step. */
static double missing_us(struct view *view, uint32_t step, uint32_t worker)
{
    const double took = (double)view->seen->took_us[step];

    if (view->usual_us[worker] > took)
        return view->usual_us[worker];
    view->bounds++;
    return took;
}

static void draw_step(struct view *view, uint32_t step,
                      struct delay_draw *draws)
{
    const struct hindsight *seen = view->seen;
    const double share_us = view->chunk_us * seen->chunks / seen->workers;

    for (uint32_t i = 0; i < seen->workers; i++) {
        const struct hindsight_cell *cell = cell_at(seen, step, i);

        draws[i] = (struct delay_draw){0};
        if (cell->answered_us == HINDSIGHT_CALLED_OFF) {
            const double us = missing_us(view, step, i);

            draws[i].add_s = us > share_us ? (us - share_us) / 1e6 : 0;
        } else if (cell->answered_us >= 0) {
            draws[i].add_s = beside_us(cell) / 1e6;
            draws[i].factor = pace_us(view, cell) / view->chunk_us - 1;
        }
    }
}

static void run_all(struct view *view, struct replay *replay,
                    struct delay_draw *draws, struct hindsight_result *result)
{
    for (uint32_t step = 0; step < view->seen->steps; step++) {
        struct replay_step made;

        draw_step(view, step, draws);
        replay_run(replay, draws, &made);
        if (made.stalled) {
            result->stalled++;
            continue;
        }
        result->total_s += (double)made.took_us / 1e6;
        result->measured_s += (double)view->seen->took_us[step] / 1e6;
    }
    result->bounds = view->bounds;
}

static enum err replay_with(struct view *view, const struct code *code,
                            struct hindsight_result *result)
{
    const time_us chunk_us = view->chunk_us < 1 ? 1 : (time_us)view->chunk_us;
    struct delay_draw *draws = mem_new(code->slots, sizeof *draws);
    struct replay replay = {0};
    enum err err = draws == NULL ? ERR_NOMEM : ERR_OK;

    view->chunk_us = (double)chunk_us;
    if (err == ERR_OK)
        err = replay_init(&replay, code, chunk_us);
    if (err == ERR_OK) {
        run_all(view, &replay, draws, result);
        replay_close(&replay);
    }
    mem_free(draws);
    return err;
}

enum err hindsight_replay(const struct hindsight *seen,
                          const struct code_spec *spec,
                          struct hindsight_result *result, struct why *why)
{
    struct view view = {
        .seen = seen,
        .usual_us = mem_new(seen->workers, sizeof *view.usual_us),
        .counted = mem_new(seen->workers, sizeof *view.counted),
    };
    struct hindsight_result made = {0};
    struct code code = {0};
    enum err err =
        view.usual_us == NULL || view.counted == NULL ? ERR_NOMEM : ERR_OK;

    if (err == ERR_OK)
        err = find_chunk_time(&view);
    if (err == ERR_SHAPE)
        (void)why_set(why, err, "no step was measured");
    if (err == ERR_OK)
        err = code_build(&code, spec, seen->workers, seen->chunks, why);
    if (err == ERR_OK) {
        learn_usual(&view);
        err = replay_with(&view, &code, &made);
    }
    code_close(&code);
    mem_free(view.usual_us);
    mem_free(view.counted);
    if (err == ERR_OK)
        *result = made;
    return err;
}
