/*
 * Samples through the table of evaluators, of a linear model and of a network:
 * a sample of all rows is the sum of all rows, samples are right on average and
 * as far off as their variance says, and depend on step and chunks alone.
 */
#include "eval/shadow.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "eval/briefs.h"
#include "eval/registry.h"
#include "math/exact/tally.h"

enum { ROWS = 400, COLS = 5, CHUNK = 20, CHUNKS = 20, STEPS = 150, GRID = 24 };

struct bench {
    struct dataset data;
    struct evaluator *evaluator;
    struct tally tally;
    double *w, *sum;
    int16_t *exponent;
    uint32_t dims;
};

static void fill(struct dataset *data)
{
    assert_int_equal(dataset_init(data, ROWS, COLS, CHUNK), ERR_OK);
    for (uint32_t i = 0; i < ROWS; i++) {
        float *const x = dataset_row(data, i);

        data->y[i] = rng_at(1, 0, i) % 3 == 0 ? 1 : -1;
        for (uint32_t j = 0; j + 1 < COLS; j++)
            x[j] = (float)(rng_normal_at(2, i, j) + (data->y[i] > 0) * j);
        x[COLS - 1] = 1;
    }
    data->classes = 2;
    chunkset_fill(&data->present);
}

static void open_bench(struct bench *b, double share)
{
    struct shadowing how = {.draw = DRAW_STRATA, .seed = 5};
    struct sampler whole = {.rows = ROWS, .chunk_rows = CHUNK};
    uint8_t inner[BRIEF_MAX];
    uint8_t room[BRIEF_MAX];
    struct problem problem;
    struct subject subject;
    struct brief inside;
    struct brief brief;
    struct shelf shelf;

    fill(&b->data);
    assert_int_equal(
        shadowing_choose(&how, share, &b->data, &whole, 1, "label", NULL),
        ERR_OK);
    assert_int_equal(how.colouring.count, 1);
    problem = problem_of(&b->data, MODEL_LOGISTIC, ISA_PORTABLE);
    subject = subject_of(&problem);
    inside = brief_linear(inner, &subject, &sampler_whole);
    brief = brief_shadow(room, &inside, &how);
    shelf = (struct shelf){.data = &b->data, .isa = ISA_PORTABLE};
    assert_int_equal(
        evaluator_open(&brief, &shelf, pool_serial(), &b->evaluator), ERR_OK);
    assert_int_equal(b->evaluator->chunks, 2 * CHUNKS);
    b->dims = b->evaluator->dims;
    assert_int_equal(tally_init(&b->tally, b->dims, 2 * CHUNKS), ERR_OK);
    b->w = mem_new(b->dims, sizeof *b->w);
    b->sum = mem_new(b->dims, sizeof *b->sum);
    b->exponent = mem_new((size_t)b->dims + 1, sizeof *b->exponent);
    for (uint32_t j = 0; j <= b->dims; j++)
        b->exponent[j] = GRID;
    for (uint32_t j = 0; j < COLS; j++)
        b->w[j] = .1 * j;
}

static void close_bench(struct bench *b)
{
    evaluator_close(b->evaluator);
    tally_close(&b->tally);
    dataset_close(&b->data);
    mem_free(b->w);
    mem_free(b->sum);
    mem_free(b->exponent);
}

/* Samples of this share of the rows. */
static void run(struct bench *b, double size, uint32_t step, uint32_t first,
                uint32_t end)
{
    const struct computation asked = {
        .what = {.kind = EVALUATE_GRADIENT, .w = b->w},
        .first = first,
        .end = end,
        .step = step,
        .size = size,
        .exponent = b->exponent,
        .tally = &b->tally};

    tally_blank(&b->tally);
    assert_int_equal(evaluator_begin(b->evaluator, &asked), ERR_OK);
    assert_int_equal(evaluator_run(b->evaluator, &asked, NULL), ERR_OK);
    evaluator_end(b->evaluator);
    (void)tally_gradient(&b->tally, b->exponent, b->sum);
}

static void test_all_rows(void **state)
{
    struct bench b = {0};
    double right[64];

    (void)state;
    open_bench(&b, 1);
    assert_true(b.dims <= 64);
    run(&b, 1, 3, 5, 9);
    memcpy(right, b.sum, b.dims * sizeof *right);
    run(&b, 1, 3, CHUNKS + 5, CHUNKS + 9);
    for (uint32_t j = 0; j < b.dims; j++) /* Rounded on a coarser grid. */
        assert_true(fabs(ldexp(b.sum[j], draw_shift(1)) - right[j]) < 1e-4);
    assert_true(b.tally.variance == 0);
    assert_true(chunkset_has_range(&b.tally.chunks, CHUNKS + 5, CHUNKS + 9));
    close_bench(&b);
}

static void test_on_average(void **state)
{
    const int shift = draw_shift(.2);
    struct bench b = {0};
    double right[64];
    double mean[64] = {0};
    double off = 0;
    double told = 0;
    double bias = 0;

    (void)state;
    open_bench(&b, .2);
    run(&b, .2, 0, 0, CHUNKS / 2);
    memcpy(right, b.sum, b.dims * sizeof *right);
    for (uint32_t step = 0; step < STEPS; step++) {
        run(&b, .2, step, CHUNKS, CHUNKS + CHUNKS / 2);
        told += ldexp(b.tally.variance, 2 * shift) / STEPS;
        for (uint32_t j = 0; j < b.dims; j++) {
            const double d = ldexp(b.sum[j], shift) - right[j];

            mean[j] += d / STEPS;
            off += d * d / STEPS;
        }
    }
    for (uint32_t j = 0; j < b.dims; j++)
        bias += mean[j] * mean[j];
    assert_true(bias < 9 * off / STEPS); /* Three standard errors. */
    assert_true(told / off > .7 && told / off < 1.5);
    close_bench(&b);
}

/* Whoever computes it, after whatever else. */
static void test_repeatable(void **state)
{
    struct bench b = {0};
    int64_t first[64];
    double variance;

    (void)state;
    open_bench(&b, .1);
    run(&b, .1, 7, CHUNKS, CHUNKS + 10);
    memcpy(first, b.tally.sum, b.dims * sizeof *first);
    variance = b.tally.variance;
    run(&b, .1, 8, CHUNKS, CHUNKS + 10);
    assert_memory_not_equal(first, b.tally.sum, b.dims * sizeof *first);
    run(&b, .1, 7, CHUNKS, CHUNKS + 10);
    assert_memory_equal(first, b.tally.sum, b.dims * sizeof *first);
    assert_true(variance > 0 && variance == b.tally.variance);
    close_bench(&b);
}

/* Who is asked for another size draws as one who never was asked for any. */
static void test_other_size(void **state)
{
    static const double sizes[] = {.1, .5, .02, 1, .1};
    struct bench changed = {0};

    (void)state;
    open_bench(&changed, .1);
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct bench fresh = {0};

        open_bench(&fresh, .1); /* The same filters. */
        run(&changed, sizes[i], 7, CHUNKS, CHUNKS + 10);
        run(&fresh, sizes[i], 7, CHUNKS, CHUNKS + 10);
        assert_memory_equal(changed.tally.sum, fresh.tally.sum,
                            fresh.dims * sizeof *fresh.tally.sum);
        assert_true(changed.tally.variance == fresh.tally.variance);
        close_bench(&fresh);
    }
    close_bench(&changed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_rows),
        cmocka_unit_test(test_on_average),
        cmocka_unit_test(test_repeatable),
        cmocka_unit_test(test_other_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
