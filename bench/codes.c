/*
 * codes.c - what coding costs the coordinator, against one worker's share.
 *
 *     codes [WORKERS STRAGGLERS COLUMNS ROWS_A_PART]
 *
 * A step of code cb: the weights for a new pattern of stragglers, the folds
 * combined at the end of the step, one answer folded in as it arrives (while
 * others are waited for).  A worker's share is S+1 parts of so many rows of
 * COLUMNS fp32 columns; the gradient of a few of them is measured and scaled.
 * The best of five each; one line each: name, milliseconds, share.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "code/preset.h"
#include "math/golden/golden.h"
#include "model/linear/problem.h"

#define REPEATS     5
#define SAMPLE_ROWS 128u

struct bench {
    uint32_t workers, stragglers, columns, part_rows;
    struct code code;
    struct dataset data;
    struct problem problem;
    double *w, *row, *folds, *gradient, *weight;
    bool *in;
    int16_t *exponent;
    void *scratch;
    struct tally tally;
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *room(size_t count, size_t size)
{
    void *memory = mem_new(count, size);

    CHECK(memory != NULL);
    return memory;
}

static void make_code(struct bench *bench)
{
    const struct preset_options options = {.name = "cb",
                                           .stragglers = bench->stragglers,
                                           .workers = bench->workers};
    struct code_spec spec;
    struct why why = {0};
    const double begin = now();

    CHECK(preset_spec(&options, &spec, &why) == ERR_OK);
    if (code_build(&bench->code, &spec, bench->workers, bench->workers, &why) !=
        ERR_OK) {
        (void)fprintf(stderr, "%s\n", why.text);
        exit(1);
    }
    (void)printf("cb n=%u s=%u: certificate %.2g over %u patterns in %.2f s\n",
                 bench->workers, bench->stragglers,
                 bench->code.certificate.worst_residual,
                 bench->code.certificate.patterns, now() - begin);
}

static void make_data(struct bench *bench)
{
    struct dataset *data = &bench->data;
    struct rng rng;

    CHECK(dataset_init(data, SAMPLE_ROWS, bench->columns, SAMPLE_ROWS) ==
          ERR_OK);
    rng_init(&rng, 1);
    for (uint32_t i = 0; i < data->rows; i++) {
        float *row = dataset_row(data, i);

        for (uint32_t j = 0; j < data->cols; j++)
            row[j] = (float)(rng_unit(&rng) - 0.5);
        data->y[i] = i % 2 == 0 ? 1 : -1;
    }
    chunkset_fill(&data->present);
    bench->problem = (struct problem){
        .data = data, .model = model_ops(MODEL_LOGISTIC), .isa = isa_best()};
}

static void make_room(struct bench *bench)
{
    const uint32_t dims = problem_dims(&bench->problem);

    bench->w = room(dims, sizeof *bench->w);
    bench->exponent = room(dims + 1, sizeof *bench->exponent);
    bench->scratch = room(problem_scratch_bytes(&bench->problem), 1);
    bench->row = room(bench->columns, sizeof *bench->row);
    bench->gradient = room(bench->columns, sizeof *bench->gradient);
    bench->folds =
        room((size_t)bench->columns * bench->code.folds, sizeof *bench->folds);
    bench->weight = room(bench->workers, sizeof *bench->weight);
    bench->in = room(bench->workers, sizeof *bench->in);
    CHECK(tally_init(&bench->tally, dims, 1) == ERR_OK);
    for (uint32_t j = 0; j < bench->columns; j++) {
        bench->row[j] = rng_unit_at(2, j, 0);
        bench->exponent[j] = 20;
    }
}

/* A rack of s neighbours is silent, another one each time. */
static void run_weights(struct bench *bench, int repeat)
{
    double residual;

    CHECK(bench->workers > 0);
    for (uint32_t i = 0; i < bench->workers; i++)
        bench->in[i] = true;
    for (uint32_t k = 0; k < bench->stragglers; k++)
        bench->in[((uint32_t)repeat * 37 + k) % bench->workers] = false;
    CHECK(code_decode(&bench->code, bench->in, bench->weight, &residual) ==
          ERR_OK);
}

static void add(double *to, const double *from, double factor, uint32_t count)
{
    for (uint32_t j = 0; j < count; j++)
        to[j] += factor * from[j];
}

static void run_combine(struct bench *bench, int repeat)
{
    (void)repeat;
    for (uint32_t k = 0; k < bench->code.folds; k++)
        add(bench->gradient, bench->folds + (size_t)k * bench->columns,
            code_folds(&bench->code)[k], bench->columns);
}

static void run_arrival(struct bench *bench, int repeat)
{
    const uint32_t slot = (uint32_t)repeat % bench->workers;

    for (uint32_t k = 0; k < bench->code.folds; k++)
        add(bench->folds + (size_t)k * bench->columns, bench->row,
            bench->code.basis[(size_t)k * bench->workers + slot],
            bench->columns);
}

static void run_worker(struct bench *bench, int repeat)
{
    (void)repeat;
    tally_clear(&bench->tally);
    CHECK(problem_add_chunk(&bench->problem, bench->w, 0, bench->exponent,
                            bench->scratch, &bench->tally) == ERR_OK);
}

static double best_of(struct bench *bench, void (*run)(struct bench *, int))
{
    double best = 1e9;

    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const double begin = now();
        double took;

        run(bench, repeat);
        took = now() - begin;
        best = took < best ? took : best;
    }
    return best;
}

static uint32_t number(int argc, char **argv, int at, uint32_t initial)
{
    return argc > at ? (uint32_t)strtoul(argv[at], NULL, 10) : initial;
}

int main(int argc, char **argv)
{
    struct bench bench = {.workers = number(argc, argv, 1, 1000),
                          .stragglers = number(argc, argv, 2, 10),
                          .columns = number(argc, argv, 3, 100000),
                          .part_rows = number(argc, argv, 4, 1024)};
    double share, weights, combine, arrival;

    CHECK(bench.workers > 0);
    make_code(&bench);
    make_data(&bench);
    make_room(&bench);
    share = best_of(&bench, run_worker) * (bench.stragglers + 1) *
            bench.part_rows / SAMPLE_ROWS;
    weights = best_of(&bench, run_weights);
    combine = best_of(&bench, run_combine);
    arrival = best_of(&bench, run_arrival);
    (void)printf("worker's share   %10.3f ms\n", 1e3 * share);
    (void)printf("decode: weights  %10.3f ms  %.4f\n", 1e3 * weights,
                 weights / share);
    (void)printf("decode: combine  %10.3f ms  %.4f\n", 1e3 * combine,
                 combine / share);
    (void)printf("decode           %10.3f ms  %.4f\n",
                 1e3 * (weights + combine), (weights + combine) / share);
    (void)printf("each arrival     %10.3f ms  %.4f\n", 1e3 * arrival,
                 arrival / share);
    return 0;
}
