/*
 * hindsight.c - counterfactual replay: the delays that a run measured, put to
 * other codes.  Missing answers are drawn from the survival estimate of their
 * worker, always by the same seed.
 */
#include "plan/hindsight.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "plan/replay.h"
#include "plan/survival.h"

#define QUICK_SHARE .05 /* Of all times per chunk: what a chunk takes. */
#define ENOUGH      20u /* Answers of a worker, to know it. */
#define SEED        UINT64_C(0x6869)

/* What is usual for a worker. */
struct usual {
    double compute_us; /* In a step ... */
    double pace_us;    /* ... and for a chunk. */
    uint32_t counted;
    struct survival beside; /* Times that were not computing. */
};

struct view {
    const struct hindsight *seen;
    double chunk_us;     /* Of a quick worker. */
    struct usual *usual; /* Of each worker, ... */
    struct usual all;    /* ... and of all together. */
    uint32_t drawn;
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
        view->chunk_us = floor(all[(size_t)(QUICK_SHARE * (double)used)]);
        view->chunk_us = view->chunk_us < 1 ? 1 : view->chunk_us;
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

static void learn_cell(const struct view *view,
                       const struct hindsight_cell *cell, struct usual *usual)
{
    if (cell->answered_us < 0)
        return;
    usual->compute_us += (double)cell->compute_us;
    usual->pace_us += pace_us(view, cell);
    usual->counted++;
}

static void learn_end(struct usual *usual)
{
    usual->compute_us /= usual->counted > 0 ? usual->counted : 1;
    usual->pace_us /= usual->counted > 0 ? usual->counted : 1;
}

/* Too few answers say little: then all workers' count. */
static const struct usual *usual_of(const struct view *view, uint32_t worker)
{
    return view->usual[worker].counted >= ENOUGH ? &view->usual[worker]
                                                 : &view->all;
}

/* The step ended before: at least so much was not computing. */
static double cut_us(const struct view *view, uint32_t step, uint32_t worker)
{
    const double took = (double)view->seen->took_us[step];
    const double compute = usual_of(view, worker)->compute_us;

    return took > compute ? took - compute : 0;
}

/* The times of workers [first, end), into `times`; returns how many. */
static uint32_t list_times(const struct view *view, uint32_t first,
                           uint32_t end, struct survival_time *times)
{
    uint32_t count = 0;

    for (uint32_t step = 0; step < view->seen->steps; step++) {
        for (uint32_t i = first; i < end; i++) {
            const struct hindsight_cell *cell = cell_at(view->seen, step, i);

            if (cell->answered_us == HINDSIGHT_AWAY)
                continue;
            times[count++] =
                cell->answered_us >= 0
                    ? (struct survival_time){beside_us(cell), false}
                    : (struct survival_time){cut_us(view, step, i), true};
        }
    }
    return count;
}

static enum err learn_usual(struct view *view)
{
    const struct hindsight *seen = view->seen;
    const size_t cells = (size_t)seen->steps * seen->workers;
    struct survival_time *times = mem_new(cells, sizeof *times);
    enum err err = times == NULL ? ERR_NOMEM : ERR_OK;

    for (size_t i = 0; i < cells; i++) {
        learn_cell(view, &seen->cells[i], &view->usual[i % seen->workers]);
        learn_cell(view, &seen->cells[i], &view->all);
    }
    for (uint32_t i = 0; i < seen->workers; i++)
        learn_end(&view->usual[i]);
    learn_end(&view->all);
    if (err == ERR_OK)
        err = survival_init(&view->all.beside, times,
                            list_times(view, 0, seen->workers, times));
    for (uint32_t i = 0; err == ERR_OK && i < seen->workers; i++)
        err = survival_init(&view->usual[i].beside, times,
                            list_times(view, i, i + 1, times));
    mem_free(times);
    return err;
}

static void view_close(struct view *view)
{
    for (uint32_t i = 0; view->usual != NULL && i < view->seen->workers; i++)
        survival_close(&view->usual[i].beside);
    survival_close(&view->all.beside);
    mem_free(view->usual);
}

/* The answer never came: drawn from the longer ones, always the same way. */
static struct delay_draw draw_missing(struct view *view, uint32_t step,
                                      uint32_t worker)
{
    const struct usual *usual = usual_of(view, worker);
    const double u =
        (double)(rng_at(SEED, step, worker) >> 11) * 0x1p-53 + 0x1p-54;
    const double cut = cut_us(view, step, worker);
    const double us = view->seen->least || usual->beside.ends == 0
                          ? cut
                          : survival_draw(&usual->beside, cut, u);

    view->drawn++;
    return (struct delay_draw){.add_s = us / 1e6,
                               .factor = usual->pace_us / view->chunk_us - 1};
}

static void draw_step(struct view *view, uint32_t step,
                      struct delay_draw *draws)
{
    const struct hindsight *seen = view->seen;

    for (uint32_t i = 0; i < seen->workers; i++) {
        const struct hindsight_cell *cell = cell_at(seen, step, i);

        draws[i] = (struct delay_draw){0};
        if (cell->answered_us == HINDSIGHT_CALLED_OFF) {
            draws[i] = draw_missing(view, step, i);
        } else if (cell->answered_us >= 0) {
            draws[i].add_s = beside_us(cell) / 1e6;
            draws[i].factor = pace_us(view, cell) / view->chunk_us - 1;
        }
    }
}

static enum err run_all(struct view *view, struct replay *replay,
                        struct delay_draw *draws,
                        struct hindsight_result *result)
{
    for (uint32_t step = 0; step < view->seen->steps; step++) {
        struct replay_step made;

        enum err err;

        draw_step(view, step, draws);
        err = replay_run(replay, draws, &made);
        if (err != ERR_OK)
            return err;
        if (made.stalled) {
            result->stalled++;
            continue;
        }
        result->total_s += (double)made.took_us / 1e6;
        result->measured_s += (double)view->seen->took_us[step] / 1e6;
    }
    result->drawn = view->drawn;
    return ERR_OK;
}

static enum err replay_with(struct view *view, const struct code *code,
                            struct hindsight_result *result)
{
    const time_us chunk_us = (time_us)view->chunk_us;
    struct delay_draw *draws = mem_new(code->slots, sizeof *draws);
    struct replay replay = {0};
    enum err err = draws == NULL ? ERR_NOMEM : ERR_OK;

    if (err == ERR_OK)
        err = replay_init(&replay, code, chunk_us);
    if (err == ERR_OK) {
        err = run_all(view, &replay, draws, result);
        replay_close(&replay);
    }
    mem_free(draws);
    return err;
}

enum err hindsight_replay(const struct hindsight *seen,
                          const struct code_spec *spec,
                          struct hindsight_result *result, struct why *why)
{
    struct view view = {.seen = seen,
                        .usual = mem_new(seen->workers, sizeof *view.usual)};
    struct hindsight_result made = {0};
    struct code code = {0};
    enum err err = view.usual == NULL ? ERR_NOMEM : find_chunk_time(&view);

    if (err == ERR_SHAPE)
        (void)why_set(why, err, "no step was measured");
    if (err == ERR_OK)
        err = learn_usual(&view);
    if (err == ERR_OK)
        err = code_build(&code, spec, seen->workers, seen->chunks, why);
    if (err == ERR_OK)
        err = replay_with(&view, &code, &made);
    code_close(&code);
    view_close(&view);
    if (err == ERR_OK)
        *result = made;
    return err;
}
