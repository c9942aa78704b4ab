/*
 * plan.c - scoring of codes by paired simulation.  Every candidate sees the
 * same delays, so that the difference of two codes has less noise than either
 * of them.
 */
#include "plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "plan/replay.h"

#define NEAR_BEST    1.02
#define STALL_COST_S 1e6  /* A step that never ends, for the sake of order. */
#define T_95         2.09 /* Student, PLAN_BLOCKS - 1 degrees of freedom. */

/* --- scoring ------------------------------------------------------------- */

/* Steps of this coverage for the progress of one full step. */
static double steps_needed(double noise, double coverage)
{
    if (coverage <= 0)
        return HUGE_VAL;
    return (1 + noise / coverage) / (1 + noise);
}

struct sums {
    double time_s, coverage, done, answers, stalled;
    uint32_t steps;
};

static void add_step(struct sums *sums, const struct replay_step *step,
                     uint32_t chunks)
{
    sums->steps++;
    if (step->stalled) {
        sums->stalled++;
        return;
    }
    sums->time_s += (double)step->took_us / 1e6;
    sums->coverage += (double)step->chunks_in / chunks;
    sums->done += (double)step->chunks_done / chunks;
    sums->answers += step->answers;
}

static double progress(const struct sums *sums, double noise)
{
    const double went = sums->steps - sums->stalled;
    const double wait = sums->stalled / sums->steps * STALL_COST_S;

    if (went == 0)
        return STALL_COST_S;
    return sums->time_s / went * steps_needed(noise, sums->coverage / went) +
           wait;
}

static void merge(struct sums *to, const struct sums *from)
{
    to->steps += from->steps;
    to->time_s += from->time_s;
    to->coverage += from->coverage;
    to->done += from->done;
    to->answers += from->answers;
    to->stalled += from->stalled;
}

static enum err run_blocks(const struct plan_options *options,
                           struct replay *replay, struct delay_draw *draws,
                           struct score *score)
{
    const struct code *code = replay->code;
    struct sums all = {0};
    double went;

    for (uint32_t block = 0; block < PLAN_BLOCKS; block++) {
        const uint64_t from = (uint64_t)block * options->steps / PLAN_BLOCKS;
        const uint64_t to =
            (uint64_t)(block + 1) * options->steps / PLAN_BLOCKS;
        struct sums sums = {0};

        for (uint64_t i = from; i < to; i++) {
            struct replay_step step;
            enum err err;

            delay_row(options->delay, options->first_step + (uint32_t)i,
                      code->slots, draws);
            err = replay_run(replay, draws, &step);
            if (err != ERR_OK)
                return err;
            add_step(&sums, &step, code->chunks);
        }
        score->block_s[block] = progress(&sums, options->noise);
        merge(&all, &sums);
    }
    went = all.steps - all.stalled;
    score->stalled = all.stalled / all.steps;
    score->step_s = went > 0 ? all.time_s / went : HUGE_VAL;
    score->coverage = went > 0 ? all.coverage / went : 0;
    score->extra_compute = went > 0 ? all.done / went - 1 : 0;
    score->answers = went > 0 ? all.answers / went : 0;
    score->progress_s = progress(&all, options->noise);
    return ERR_OK;
}

static enum err score_code(const struct plan_options *options,
                           const struct code *code, struct score *score)
{
    const double chunk_us = options->work_s * 1e6 * code->slots / code->chunks;
    struct delay_draw *draws = mem_new(code->slots, sizeof *draws);
    struct replay replay = {0};
    enum err err = ERR_NOMEM;

    if (draws != NULL)
        err = replay_init(&replay, code, (time_us)(chunk_us + .5));
    if (err == ERR_OK) {
        *score = (struct score){
            .exactness = code->exactness,
            .storage = options->everywhere ? code->slots : code_copies(code)};
        err = run_blocks(options, &replay, draws, score);
        replay_close(&replay);
    }
    mem_free(draws);
    return err;
}

enum err plan_score(const struct plan_options *options,
                    const struct candidate *candidate, struct score *score,
                    struct why *why)
{
    const uint32_t chunks = options->chunks > 0
                                ? options->chunks
                                : candidate_chunks(candidate, options->workers);
    struct code code = {0};
    enum err err;

    CHECK(options->steps >= PLAN_BLOCKS);
    if (!code_spec_replays(&candidate->spec))
        return why_set(why, ERR_SHAPE,
                       "the rounds of code %s are not replayed by a plan; "
                       "muster simulate runs them",
                       candidate->spec.name);
    err = code_build(&code, &candidate->spec, options->workers, chunks, why);
    if (err == ERR_OK)
        err = score_code(options, &code, score);
    if (err == ERR_OK && options->storage_max > 0 &&
        score->storage > options->storage_max)
        err = why_set(why, ERR_RANGE, "%s stores %.3g copies of the data",
                      candidate->label, score->storage);
    code_close(&code);
    return err;
}

static bool same_code(const struct candidate *a, const struct candidate *b)
{
    return memcmp(&a->spec, &b->spec, sizeof a->spec) == 0;
}

enum err plan_score_all(const struct plan_options *options,
                        struct plan_table *table, struct why *why)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < table->count; i++) {
        enum err err;

        if (i > 0 && same_code(&table->candidate[i], &table->candidate[0]))
            continue;
        err = plan_score(options, &table->candidate[i], &table->score[kept],
                         i == 0 ? why : NULL);
        if (err != ERR_OK && (i == 0 || err == ERR_NOMEM))
            return err;
        if (err == ERR_OK)
            table->candidate[kept++] = table->candidate[i];
    }
    table->count = kept;
    return ERR_OK;
}

/* --- choosing ------------------------------------------------------------ */

/* Less of everything, the dearest first. */
static bool cheaper(const struct score *a, const struct score *b)
{
    if (fabs(a->storage - b->storage) > .01)
        return a->storage < b->storage;
    if (fabs(a->extra_compute - b->extra_compute) > .01)
        return a->extra_compute < b->extra_compute;
    if (a->exactness != b->exactness)
        return a->exactness < b->exactness;
    return a->answers < b->answers - .01;
}

static uint32_t find_best(const struct score *scores, uint32_t count)
{
    uint32_t best = 0;
    uint32_t chosen;

    for (uint32_t i = 1; i < count; i++) {
        if (scores[i].progress_s < scores[best].progress_s)
            best = i;
    }
    chosen = best;
    for (uint32_t i = 0; i < count; i++) {
        if (scores[i].progress_s <= NEAR_BEST * scores[best].progress_s &&
            cheaper(&scores[i], &scores[chosen]))
            chosen = i;
    }
    return chosen;
}

/* Paired: both saw the same delays, so that the difference of each block says
 * more than the difference of the means. */
static void compare(const struct score *best, const struct score *current,
                    struct plan_choice *choice)
{
    double mean = 0;
    double square = 0;
    double base = 0;
    double error;

    for (uint32_t i = 0; i < PLAN_BLOCKS; i++) {
        mean += (current->block_s[i] - best->block_s[i]) / PLAN_BLOCKS;
        base += current->block_s[i] / PLAN_BLOCKS;
    }
    for (uint32_t i = 0; i < PLAN_BLOCKS; i++) {
        const double off = current->block_s[i] - best->block_s[i] - mean;

        square += off * off;
    }
    error = T_95 * sqrt(square / (PLAN_BLOCKS - 1) / PLAN_BLOCKS);
    choice->gain = base > 0 ? mean / base : 0;
    choice->gain_low = base > 0 ? (mean - error) / base : 0;
    choice->gain_high = base > 0 ? (mean + error) / base : 0;
}

static void explain(const struct candidate *candidates,
                    const struct score *scores, uint32_t current,
                    struct plan_choice *choice)
{
    const struct score *best = &scores[choice->best];
    const char *name = candidates[choice->best].label;
    char saved[96] = "";
    char stored[32] = "once";

    if (choice->best != current)
        (void)snprintf(saved, sizeof saved,
                       ", %.0f %% less than %s (95 %%: %.0f to %.0f)",
                       100 * choice->gain, candidates[current].label,
                       100 * choice->gain_low, 100 * choice->gain_high);
    if (best->storage != 1)
        (void)snprintf(stored, sizeof stored, "%.3g times", best->storage);
    (void)snprintf(choice->why, sizeof choice->why,
                   "%s takes %.4g s to the progress of a full step%s; it "
                   "stores the data %s, computes %+.0f %%, sends %.3g "
                   "sums a step, and its steps are %s%s",
                   name, best->progress_s, saved, stored,
                   100 * best->extra_compute, best->answers,
                   exactness_name(best->exactness),
                   code_spec_products(&candidates[choice->best].spec)
                       ? "; it codes the data of linear models"
                       : "");
}

void plan_choose(const struct candidate *candidates, const struct score *scores,
                 uint32_t count, uint32_t current, struct plan_choice *choice)
{
    CHECK(count > 0);
    CHECK(current < count);
    *choice = (struct plan_choice){.best = find_best(scores, count)};
    compare(&scores[choice->best], &scores[current], choice);
    choice->change = choice->best != current && choice->gain > PLAN_GAIN_MIN &&
                     choice->gain_low > 0;
    explain(candidates, scores, current, choice);
}
