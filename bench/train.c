/*
 * train.c - seconds of a whole training, in process, until the gap is closed.
 *
 *     train X.npy Y.npy MODEL OPTIM C REPEATS GAP OPTIMUM
 *     train ROWS.svm -  MODEL OPTIM C REPEATS GAP OPTIMUM
 *
 * Objective: mean loss + |w|^2 / (2 C rows), as LIBLINEAR's divided by
 * C rows.  Prints the least CPU and wall seconds of REPEATS runs with one
 * thread, from data in memory to weights, then steps, evaluations, Hessians
 * among them, objective, storage; then the weights, one a line.  GAP 0: until
 * nothing gets better.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/source.h"
#include "node/fixed/alone.h"

#define STEPS_MAX 2000u

struct seconds {
    double cpu, wall;
};

static double read_clock(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static struct seconds seconds_now(void)
{
    return (struct seconds){read_clock(CLOCK_PROCESS_CPUTIME_ID),
                            read_clock(CLOCK_MONOTONIC)};
}

struct counts {
    uint64_t evaluations, hessians;
};

/* After each round; the first is a gradient. */
static bool count(void *context, const struct trainer *trainer, bool last)
{
    const struct optim *const optim = &trainer->optim;
    struct counts *counts = context;
    const struct ask ask = optim_next(optim);

    (void)last;
    if (optim->evaluations == 1)
        counts->hessians = 0;
    counts->evaluations = optim->evaluations;
    counts->hessians +=
        ask.kind == ASK_EVALUATE && ask.what.kind == EVALUATE_HESSIAN;
    return true;
}

/* One a line, in the order of the file. */
static void print_weights(const struct dataset *data, const double *w)
{
    double *const read = mem_new(data->cols, sizeof *read);

    CHECK(read != NULL);
    for (uint32_t j = 0; j < data->cols; j++)
        read[data->original != NULL ? data->original[j] : j] = w[j];
    for (uint32_t j = 0; j < data->cols; j++)
        printf("%.17g\n", read[j]);
    mem_free(read);
}

int main(int argc, char **argv)
{
    struct source_options source = {0};
    struct optim_options options;
    struct dataset data = {0};
    struct alone_result result = {0};
    struct seconds best = {HUGE_VAL, HUGE_VAL};
    struct why why = {{0}};
    enum optim_kind kind = OPTIM_NEWTON;
    enum model_kind model = MODEL_LOGISTIC;
    struct counts counts = {0};
    struct objective_options what;
    const struct alone_hooks hooks = {
        .hooks = {.watch = count, .context = &counts}};
    enum err err = ERR_SHAPE;

    if (argc == 9 && strtol(argv[6], NULL, 10) > 0 &&
        optim_parse(argv[4], &kind) == ERR_OK &&
        model_parse(argv[3], &model) == ERR_OK) {
        source.spec = argv[1];
        source.labels_file = strcmp(argv[2], "-") == 0 ? NULL : argv[2];
        err = source_load(&source, &data, NULL, NULL, &why);
    }
    if (err != ERR_OK) {
        fprintf(stderr,
                "usage: train X.npy Y.npy MODEL OPTIM C REPEATS GAP "
                "OPTIMUM\n%s\n",
                why.text);
        return 2;
    }
    options = optim_defaults(kind);
    options.rows = data.rows;
    options.steps = STEPS_MAX;
    options.l2 = 1 / (2 * strtod(argv[5], NULL) * data.rows);
    options.gap = strtod(argv[7], NULL);
    options.optimum = strtod(argv[8], NULL);
    what = (struct objective_options){
        .data = &data, .model = model, .isa = isa_best(), .optim = &options};
    for (long i = strtol(argv[6], NULL, 10); i > 0; i--) {
        const struct seconds begin = seconds_now();
        struct seconds end;

        mem_free(result.weights);
        err = alone_train(&what, pool_serial(), &hooks, &result, &why);
        if (err != ERR_OK) {
            fprintf(stderr, "train: %s\n", why.text);
            return 1;
        }
        end = seconds_now();
        best.cpu = fmin(best.cpu, end.cpu - begin.cpu);
        best.wall = fmin(best.wall, end.wall - begin.wall);
    }
    CHECK(result.weights != NULL);
    printf("%.6f %.6f %u %llu %llu %.17g %s\n", best.cpu, best.wall,
           result.steps, (unsigned long long)counts.evaluations,
           (unsigned long long)counts.hessians, result.outcome.objective,
           storage_name(data.storage));
    print_weights(&data, result.weights);
    mem_free(result.weights);
    dataset_close(&data);
    return 0;
}
