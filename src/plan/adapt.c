/*
 * adapt.c - choosing a code during a run.  Answers are collected into a trace
 * of delays; candidates are scored on it one at a step boundary, so that no
 * step waits for the planner.
 */
#include "plan/adapt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

#define ROOM         ((size_t)ADAPT_ROUNDS * ADAPT_SLOTS_MAX)
#define NOISE_ALL    1e9 /* Progress in proportion to the rows used. */
#define UNKNOWN_PACE (-1.0)
#define PACE_MIN_S   1e-6 /* Of a chunk: the replay's clock ticks so. */

/* --- watching ------------------------------------------------------------ */

static enum err trace_init(struct delay_trace *trace)
{
    *trace = (struct delay_trace){0};
    trace->value = mem_new(ROOM, sizeof *trace->value);
    trace->work_s = mem_new(ADAPT_ROUNDS, sizeof *trace->work_s);
    if (trace->value == NULL || trace->work_s == NULL)
        return ERR_NOMEM;
    return ERR_OK;
}

enum err adapt_init(struct adapt *adapt, uint32_t chunks, enum exactness worst,
                    uint32_t drill)
{
    enum err err;

    *adapt = (struct adapt){
        .chunks = chunks, .worst = worst, .hold = ADAPT_ROUNDS, .drill = drill};
    err = trace_init(&adapt->wait);
    if (err == ERR_OK)
        err = trace_init(&adapt->pace);
    adapt->slot = mem_new(ADAPT_SLOTS_MAX, sizeof *adapt->slot);
    adapt->table = mem_new(1, sizeof *adapt->table);
    if (adapt->slot == NULL || adapt->table == NULL)
        err = ERR_NOMEM;
    if (err != ERR_OK)
        adapt_close(adapt);
    return err;
}

void adapt_close(struct adapt *adapt)
{
    delay_trace_close(&adapt->wait);
    delay_trace_close(&adapt->pace);
    mem_free(adapt->slot);
    mem_free(adapt->table);
    *adapt = (struct adapt){0};
}

static void watch_anew(struct adapt *adapt)
{
    adapt->wait.rows = 0;
    adapt->pace.rows = 0;
    adapt->listed = 0;
}

void adapt_view(struct adapt *adapt, const struct code *code)
{
    adapt->on = code->slots > 1 && code->slots <= ADAPT_SLOTS_MAX &&
                code->slots <= adapt->chunks;
    adapt->slots = code->slots;
    adapt->wait.cols = code->slots;
    adapt->pace.cols = code->slots;
    adapt->current = code->spec;
    if (adapt->skip < ADAPT_WARM)
        adapt->skip = ADAPT_WARM;
    watch_anew(adapt);
}

void adapt_open(struct adapt *adapt, time_us now)
{
    if (!adapt->on)
        return;
    adapt->opened_at = now;
    memset(adapt->slot, 0, adapt->slots * sizeof *adapt->slot);
}

void adapt_answer(struct adapt *adapt, uint32_t slot, time_us now,
                  uint32_t chunks, int64_t compute_us, bool busy)
{
    struct adapt_slot *seen;

    if (!adapt->on)
        return;
    CHECK(slot < adapt->slots);
    seen = &adapt->slot[slot];
    if (seen->chunks == 0) {
        seen->first_at = now;
        seen->first_chunks = chunks;
    } else if (seen->busy) {
        seen->paced_us += now - seen->last_at;
        seen->paced_chunks += chunks;
    }
    seen->last_at = now;
    seen->chunks += chunks;
    seen->compute_us += compute_us;
    seen->busy = busy;
}

/* Seconds for a chunk, and what went by before the first answer besides. */
static void measure(const struct adapt_slot *seen, time_us opened_at,
                    double *wait_s, double *pace_s)
{
    const double first_s = (double)(seen->first_at - opened_at) / 1e6;
    double each_s = (double)seen->compute_us / 1e6 / seen->chunks;

    if (seen->paced_chunks > 0)
        each_s = (double)seen->paced_us / 1e6 / seen->paced_chunks;
    if (each_s * seen->first_chunks > first_s)
        each_s = first_s / seen->first_chunks;
    *pace_s = each_s > PACE_MIN_S ? each_s : PACE_MIN_S;
    *wait_s = first_s - each_s * seen->first_chunks;
}

void adapt_end(struct adapt *adapt, time_us now, const bool *alive)
{
    const size_t row = (size_t)adapt->wait.rows * adapt->slots;
    const double took_s = (double)(now - adapt->opened_at) / 1e6;

    if (!adapt->on || adapt->wait.rows == ADAPT_ROUNDS)
        return;
    if (adapt->skip > 0) {
        adapt->skip--;
        return;
    }
    for (uint32_t slot = 0; slot < adapt->slots; slot++) {
        double *wait_s = &adapt->wait.value[row + slot];
        double *pace_s = &adapt->pace.value[row + slot];

        *wait_s = alive[slot] ? took_s : DELAY_NEVER_S;
        *pace_s = UNKNOWN_PACE;
        if (alive[slot] && adapt->slot[slot].chunks > 0)
            measure(&adapt->slot[slot], adapt->opened_at, wait_s, pace_s);
    }
    adapt->wait.rows++;
    adapt->pace.rows++;
}

/* --- from what was seen to delays ---------------------------------------- */

/* The quickest: all others are slower than it by some factor. */
static double least_pace(const struct adapt *adapt)
{
    const size_t count = (size_t)adapt->pace.rows * adapt->slots;
    double least = HUGE_VAL;

    for (size_t i = 0; i < count; i++) {
        if (adapt->pace.value[i] > 0 && adapt->pace.value[i] < least)
            least = adapt->pace.value[i];
    }
    return least;
}

/* How long a share would have taken whoever was called off after `had_s`. */
static double longer_than(const struct adapt *adapt, double had_s, double share)
{
    const size_t count = (size_t)adapt->pace.rows * adapt->slots;
    double sum = 0;
    uint32_t longer = 0;

    for (size_t i = 0; i < count; i++) {
        const double took_s =
            adapt->wait.value[i] + share * adapt->pace.value[i];

        if (adapt->pace.value[i] > 0 && took_s > had_s) {
            sum += took_s;
            longer++;
        }
    }
    return longer > 0 ? sum / longer : 2 * had_s;
}

/* Fill what is not known; then paces become factors on the quickest.  Those of
 * the called off are read only once their delay stands. */
static void complete(struct adapt *adapt)
{
    const size_t count = (size_t)adapt->pace.rows * adapt->slots;
    const double share = (double)adapt->chunks / adapt->slots;
    const double least = least_pace(adapt);

    for (size_t i = 0; i < count; i++) {
        double *wait_s = &adapt->wait.value[i];

        if (adapt->pace.value[i] > 0 || *wait_s >= DELAY_NEVER_S)
            continue;
        *wait_s = longer_than(adapt, *wait_s, share) - share * least;
        if (*wait_s < 0)
            *wait_s = 0;
    }
    for (size_t i = 0; i < count; i++)
        adapt->pace.value[i] =
            adapt->pace.value[i] > 0 ? adapt->pace.value[i] / least : 1;
    adapt->work_s = share * least;
}

/* --- scoring ------------------------------------------------------------- */

static bool may_try(const struct adapt *adapt, const struct code_spec *spec)
{
    return code_spec_bitwise(spec) ||
           (adapt->worst == EXACT_APPROX && code_spec_tally(spec));
}

/* What runs now comes first. */
static void list_candidates(struct adapt *adapt)
{
    struct candidate *list = adapt->table->candidate;
    uint32_t count;
    uint32_t kept = 1;

    candidate_of(&adapt->current, &list[0]);
    count = 1 + candidate_list(adapt->slots, adapt->worst, adapt->current.seed,
                               list + 1, CANDIDATES_MAX - 1);
    for (uint32_t i = 1; i < count; i++) {
        if (may_try(adapt, &list[i].spec))
            list[kept++] = list[i];
    }
    adapt->listed = kept;
    adapt->at = 0;
    adapt->scored = 0;
}

/* The next candidate; one that does not fit falls out.  False: what runs now
 * cannot be scored, so nothing can be compared with it. */
static bool score_next(struct adapt *adapt)
{
    const struct delay seen = {
        .count = 2,
        .term = {{.kind = DELAY_TRACE, .trace = &adapt->wait},
                 {.kind = DELAY_TRACE,
                  .unit = UNIT_TIMES,
                  .trace = &adapt->pace}},
    };
    const struct plan_options options = {.workers = adapt->slots,
                                         .chunks = adapt->chunks,
                                         .work_s = adapt->work_s,
                                         .delay = &seen,
                                         .steps = adapt->wait.rows,
                                         .noise = NOISE_ALL};
    struct plan_table *table = adapt->table;
    const enum err err = plan_score(&options, &table->candidate[adapt->at],
                                    &table->score[adapt->scored], NULL);

    if (err == ERR_OK)
        table->candidate[adapt->scored++] = table->candidate[adapt->at];
    adapt->at++;
    return adapt->scored > 0;
}

static bool change_anyway(struct adapt *adapt, struct code_spec *spec,
                          struct plan_choice *choice)
{
    if (++adapt->looks % adapt->drill != 0)
        return false;
    list_candidates(adapt);
    *choice = (struct plan_choice){.best = adapt->looks / adapt->drill %
                                           adapt->listed};
    *spec = adapt->table->candidate[choice->best].spec;
    watch_anew(adapt);
    return true;
}

bool adapt_look(struct adapt *adapt, struct code_spec *spec,
                struct plan_choice *choice)
{
    struct plan_choice made;

    if (adapt->on && adapt->drill > 0)
        return change_anyway(adapt, spec, choice);
    if (!adapt->on || adapt->wait.rows < ADAPT_ROUNDS)
        return false;
    if (adapt->listed == 0) {
        if (!isfinite(least_pace(adapt))) {
            watch_anew(adapt); /* Nobody answered at all. */
            return false;
        }
        complete(adapt);
        list_candidates(adapt);
    }
    if (!score_next(adapt)) {
        watch_anew(adapt);
        return false;
    }
    if (adapt->at < adapt->listed)
        return false;
    plan_choose(adapt->table->candidate, adapt->table->score, adapt->scored, 0,
                &made);
    watch_anew(adapt);
    if (!made.change)
        return false;
    adapt->skip = adapt->hold;
    if (adapt->hold < ADAPT_HOLD_MAX)
        adapt->hold *= 2;
    *spec = adapt->table->candidate[made.best].spec;
    *choice = made;
    return true;
}
