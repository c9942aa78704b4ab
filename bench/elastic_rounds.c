/*
 * elastic_rounds.c - coded elastic computing in virtual time, by the
 * coordinator and the workers that ship (sim/sim.h).
 *
 *     elastic_rounds events [TRIES]         100
 *     elastic_rounds sequence [SEQUENCES]   5
 *
 * events: one machine leaves in good order, is killed, or joins at a time drawn
 * uniformly from a step; how long the step takes, in undisturbed ones.  Beside
 * it what is counted for others: the step begun again by those who are there,
 * and uncoded training that goes back to its last checkpoint, every ten steps.
 *
 * sequence: N machines, drawn anew from {10, 12, 15, 18, 20} with probability
 * .02 a step, 1,000 steps (Yang et al., ISIT 2019), as a ratio to mds with k =
 * L; counted is the mean of L/N of that very sequence.
 *
 * A step of ten machines takes 20 s, so that what the detector takes (.3 s) and
 * messages do is small beside it, as it is where coding pays.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "code/preset.h"
#include "sim/sim.h"

enum {
    PARTS = 10,
    BLOCKS = 20,
    CHUNKS = 640,
    COLS = 640, /* With two copies a piece is a column of each part. */
    ROWS = 2 * CHUNKS,
    STEPS = 6,
    AT = 3, /* The step in which something happens. */
    SEQUENCE = 1000,
    CHECKPOINT = 10,
    SCRIPT_MAX = SEQUENCE * BLOCKS + 1,
};

#define STEP_S   20.0
#define NEVER_US ((time_us)1000000 * SECOND_US)
#define CHANGE   .02

struct times {
    double end_s[SEQUENCE];
    uint32_t count;
};

static void on_commit(void *context, const struct sim_step *step)
{
    struct times *times = context;

    CHECK(times->count < SEQUENCE);
    times->end_s[times->count++] = step->t_s;
}

static double step_s(const struct times *times, uint32_t step)
{
    return times->end_s[step] - (step == 0 ? 0 : times->end_s[step - 1]);
}

/* Data where there is any; otherwise times only. */
static void run(const char *name, uint32_t n, uint32_t steps,
                const struct problem *problem, const struct sim_fault *script,
                uint32_t script_count, uint64_t seed, struct times *times)
{
    char text[64];
    struct preset_options preset = {.workers = n, .seed = 1};
    struct sim_options options = sim_options_default();
    struct sim_result result = {0};
    struct why why = {{0}};
    enum err err;

    (void)snprintf(text, sizeof text, "%s", name);
    err = preset_parse(text, &preset, &why);
    if (err == ERR_OK)
        err = preset_spec(&preset, &options.code, &why);
    sim_bring_rows(&options);
    options.problem = problem;
    options.rows = CHUNKS;
    options.chunk_rows = 1;
    options.optim = optim_defaults(OPTIM_GD);
    options.optim.rate = 1e-3;
    options.optim.diagonal = false;
    options.optim.rows = problem == NULL ? CHUNKS : problem->data->rows;
    options.optim.steps = steps;
    options.slots = n;
    options.workers_max = BLOCKS;
    options.chunk_us = (time_us)(STEP_S * 1e6 * PARTS / CHUNKS);
    options.beat_us = 100 * MS_US;
    options.seed = seed;
    options.script = script;
    options.script_count = script_count;
    options.settle_us = NEVER_US;
    options.commit = on_commit;
    options.commit_context = times;
    times->count = 0;
    if (err == ERR_OK)
        err = sim_run(&options, &result, &why);
    if (err != ERR_OK || result.violated || !result.finished) {
        fprintf(stderr, "%s, %u machines: %s\n", name, n,
                err != ERR_OK ? why.text : result.violation);
        exit(1);
    }
    CHECK(times->count == steps);
    sim_result_close(&result);
}

/* The simulator mends everything after the last fault: this one never comes. */
static const struct sim_fault never = {.kind = FAULT_THAW, .step = UINT32_MAX};

/* --- one event ----------------------------------------------------------- */

struct spread {
    double *value;
    uint32_t count;
};

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;

    return (x > y) - (x < y);
}

static void show(const char *code, uint32_t n, const char *what,
                 struct spread *seen, double restart, double checkpoint)
{
    double mean = 0;

    for (uint32_t i = 0; i < seen->count; i++)
        mean += seen->value[i] / seen->count;
    qsort(seen->value, seen->count, sizeof *seen->value, by_size);
    printf("%-22s %2u  %-6s %6.3f %6.3f %6.3f %6.3f   %6.3f %6.3f\n", code, n,
           what, mean, seen->value[seen->count / 2],
           seen->value[seen->count * 9 / 10], seen->value[seen->count - 1],
           restart, checkpoint);
}

static void events_of(const char *code, uint32_t n,
                      const struct problem *problem, uint32_t tries)
{
    static const struct {
        const char *name;
        enum fault_kind kind;
        int more;
    } kinds[] = {{"leave", FAULT_LEAVE, -1},
                 {"kill", FAULT_CRASH, -1},
                 {"join", FAULT_RESTART, 1}};
    struct spread seen = {.value = mem_new(tries, sizeof *seen.value)};
    struct times times;

    CHECK(seen.value != NULL);
    for (uint32_t k = 0; k < 3; k++) {
        const double later = (double)n / (double)((int)n + kinds[k].more);
        struct rng rng;

        rng_init(&rng, 1);
        seen.count = 0;
        for (uint32_t i = 0; i < tries; i++) {
            const double share = rng_unit(&rng);
            const uint32_t whom = (uint32_t)rng_below(&rng, n);
            /* Who joins was there before, and left in the first step. */
            const bool joins = kinds[k].more > 0;
            struct sim_fault script[] = {
                {.kind = FAULT_LEAVE, .step = 1, .worker = n},
                {.kind = kinds[k].kind,
                 .step = AT,
                 .worker = joins ? n : whom,
                 .for_us = NEVER_US},
                never};
            double whole;

            if (joins)
                run(code, n + 1, STEPS, problem,
                    (struct sim_fault[]){script[0], never}, 2, i + 1, &times);
            else
                run(code, n, STEPS, problem, NULL, 0, i + 1, &times);
            whole = step_s(&times, AT);
            script[1].after_us = (time_us)(share * whole * 1e6);
            run(code, joins ? n + 1 : n, STEPS, problem, script + !joins,
                2 + joins, i + 1, &times);
            seen.value[seen.count++] = step_s(&times, AT) / whole;
        }
        show(code, n, kinds[k].name, &seen, .5 + later,
             .5 + (CHECKPOINT - 1) / 2. * later + later);
    }
    mem_free(seen.value);
}

static void fill(struct dataset *data)
{
    float *x = data->x;

    for (uint32_t i = 0; i < data->rows; i++) {
        for (uint32_t j = 0; j < data->cols; j++)
            x[(size_t)i * data->stride + j] =
                (float)(rng_unit_at(7, i, j) - .5);
        data->y[i] = i % 2 == 0 ? 1 : -1;
    }
    data->classes = 2;
    chunkset_fill(&data->present);
}

static void events(uint32_t tries)
{
    static const uint32_t machines[] = {12, 15, 18};
    struct dataset data;
    struct problem problem = {
        .data = &data, .model = model_ops(MODEL_LOGISTIC), .isa = ISA_PORTABLE};

    CHECK(dataset_init(&data, ROWS, COLS, ROWS / CHUNKS) == ERR_OK);
    fill(&data);
    printf("one event at a random time of a step, %u of each, virtual time: "
           "in undisturbed steps\n"
           "%-22s %2s  %-6s %6s %6s %6s %6s   %6s %6s\n",
           tries, "code", "N", "", "mean", "median", "90 %", "most", "again",
           "check.");
    for (uint32_t k = 0; k < 3; k++)
        events_of("cec:l=10:p=20", machines[k], NULL, tries);
    events_of("cec:l=10:p=20:copies=2", 15, &problem, (tries + 3) / 4);
    dataset_close(&data);
}

/* --- the sequence -------------------------------------------------------- */

static const uint32_t sizes[] = {10, 12, 15, 18, 20};

/* From `now` machines to `n`, those with the lowest numbers. */
static uint32_t change(struct sim_fault *script, uint32_t step, uint32_t now,
                       uint32_t n)
{
    uint32_t count = 0;

    for (uint32_t i = n; i < now; i++)
        script[count++] =
            (struct sim_fault){.kind = FAULT_LEAVE, .step = step, .worker = i};
    for (uint32_t i = now; i < n; i++)
        script[count++] = (struct sim_fault){
            .kind = FAULT_RESTART, .step = step, .worker = i};
    return count;
}

static double counted_of(uint64_t seed, struct sim_fault *script,
                         uint32_t *count, uint32_t *changes)
{
    struct rng rng;
    double sum = 0;
    uint32_t n = BLOCKS; /* All are there, and the first may have to go. */
    uint32_t drawn;

    rng_init(&rng, seed);
    *count = *changes = 0;
    for (uint32_t step = 0; step < SEQUENCE; step++) {
        if (step == 0 || rng_unit(&rng) < CHANGE) {
            drawn = sizes[rng_below(&rng, 5)];
            if (script != NULL)
                *count += change(script + *count, step, n, drawn);
            *changes += drawn != n;
            n = drawn;
        }
        sum += (double)PARTS / n;
    }
    return sum / SEQUENCE;
}

/* How far one sequence may be from another. */
static void chances(void)
{
    enum { MANY = 20000 };
    static double mean[MANY];
    double sum = 0, squares = 0;
    uint32_t count, changes, below = 0;

    for (uint32_t i = 0; i < MANY; i++) {
        mean[i] = counted_of(1000 + i, NULL, &count, &changes);
        sum += mean[i] / MANY;
        squares += mean[i] * mean[i] / MANY;
        below += mean[i] <= .54;
    }
    qsort(mean, MANY, sizeof *mean, by_size);
    printf("counted, %u sequences: mean %.3f, deviation %.3f, least %.3f, "
           "%.2f %% at .54 and less\n",
           MANY, sum, sqrt(squares - sum * sum), mean[0], 100. * below / MANY);
}

static void sequences(uint32_t count)
{
    static struct sim_fault script[SCRIPT_MAX];
    static struct times times;
    double mds, sum = 0, all = 0;

    run("mds:k=10", BLOCKS, STEPS, NULL, NULL, 0, 1, &times);
    mds = (times.end_s[STEPS - 1] - times.end_s[0]) / (STEPS - 1);
    printf("N drawn anew with probability %g a step, %u steps, virtual time: "
           "mean step in those of mds:k=10 (%.3f s)\n"
           "sequence  changes  cec    counted  off\n",
           CHANGE, SEQUENCE, mds);
    for (uint32_t i = 1; i <= count; i++) {
        uint32_t faults, changes;
        const double counted = counted_of(i, script, &faults, &changes);
        double ratio;

        script[faults++] = never;
        run("cec:l=10:p=20", BLOCKS, SEQUENCE, NULL, script, faults, i, &times);
        ratio = times.end_s[SEQUENCE - 1] / SEQUENCE / mds;
        printf("%8u %8u  %.3f  %.3f  %+.1f %%\n", i, changes, ratio, counted,
               100 * (ratio / counted - 1));
        sum += ratio / count;
        all += counted / count;
    }
    printf("    mean           %.3f  %.3f\n", sum, all);
    chances();
}

int main(int argc, char **argv)
{
    const bool sequence = argc > 1 && strcmp(argv[1], "sequence") == 0;
    const long count = argc > 2   ? strtol(argv[2], NULL, 10)
                       : sequence ? 5
                                  : 100;

    if (argc < 2 || count < 1 || count > 10000)
        return 2;
    if (sequence)
        sequences((uint32_t)count);
    else
        events((uint32_t)count);
    return 0;
}
