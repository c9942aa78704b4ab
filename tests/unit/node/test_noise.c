/*
 * The gradient noise scale against loops over rows: rows whose gradients are
 * known, drawn into batches by many seeds.
 */
#include "node/fixed/noise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/rng.h"

enum { ROWS = 240, COLS = 5, BATCH = 24, CHUNK_ROWS = 6, SEEDS = 200 };

struct stage {
    struct dataset data;
    struct optim_options optim;
    double w[8];
};

static void stage_open(struct stage *stage)
{
    const struct dataset_shape shape = {.storage = STORAGE_F32,
                                        .rows = ROWS,
                                        .cols = COLS,
                                        .chunk_rows = CHUNK_ROWS};

    *stage = (struct stage){.optim = optim_defaults(OPTIM_GD)};
    assert_int_equal(dataset_init_shape(&stage->data, &shape), ERR_OK);
    for (uint32_t i = 0; i < ROWS; i++) {
        float *const x = (float *)stage->data.x + i * stage->data.stride;

        stage->data.y[i] = 3;
        for (uint32_t j = 0; j < COLS; j++)
            x[j] = (float)(1 + rng_normal_at(3, i, j));
    }
    for (uint32_t k = 0; k < dataset_chunks(&stage->data); k++)
        chunkset_add(&stage->data.present, k);
    stage->optim.rate = 0.1;
    stage->optim.rows = ROWS;
    stage->optim.l2 = 0.5;
    for (uint32_t j = 0; j < COLS; j++)
        stage->w[j] = 0.1 * j;
}

static struct noise measured(struct stage *stage, enum sampler_kind kind,
                             uint64_t seed)
{
    const struct objective_options what = {.data = &stage->data,
                                           .model = MODEL_LINEAR,
                                           .isa = isa_best(),
                                           .optim = &stage->optim};
    struct noise noise;

    stage->optim.sampler = sampler_of(kind, ROWS, CHUNK_ROWS, BATCH, seed);
    assert_int_equal(noise_measure(&what, pool_serial(), stage->w, &noise),
                     ERR_OK);
    return noise;
}

/* tr(S) and |G|^2 of squared errors, a row at a time. */
static void by_rows(const struct stage *stage, double *variance, double *square)
{
    double mean[COLS] = {0}, squares = 0;

    *variance = *square = 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        const float *const x =
            (const float *)stage->data.x + i * stage->data.stride;
        double score = 0;

        for (uint32_t j = 0; j < COLS; j++)
            score += stage->w[j] * (double)x[j];
        for (uint32_t j = 0; j < COLS; j++) {
            const double g = 2 * (score - stage->data.y[i]) * (double)x[j];

            mean[j] += g / ROWS;
            squares += g * g;
        }
    }
    for (uint32_t j = 0; j < COLS; j++) {
        const double g = mean[j] + 2 * stage->optim.l2 * stage->w[j];

        squares -= ROWS * mean[j] * mean[j];
        *square += g * g;
    }
    *variance = squares / (ROWS - 1);
}

/* The mean over many orders of the rows is what the rows say. */
static void test_unbiased(void **state)
{
    double variance, square, sum = 0, squares = 0;
    struct stage stage;

    (void)state;
    stage_open(&stage);
    by_rows(&stage, &variance, &square);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const struct noise noise = measured(&stage, SAMPLER_ROWS, seed);

        assert_int_equal(noise.batches, 4);
        sum += noise.variance / SEEDS;
        squares += noise.square / SEEDS;
    }
    assert_true(fabs(sum / variance - 1) < 0.06);
    assert_true(fabs(squares / square - 1) < 0.01);
    dataset_close(&stage.data);
}

/* Chunks that draw from their own rows vary less where these are alike, not
 * here. */
static void test_local(void **state)
{
    double variance, square, sum = 0;
    struct stage stage;

    (void)state;
    stage_open(&stage);
    by_rows(&stage, &variance, &square);
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        sum += measured(&stage, SAMPLER_LOCAL, seed).variance / SEEDS;
    assert_true(fabs(sum / variance - 1) < 0.12);
    dataset_close(&stage.data);
}

static void test_scale(void **state)
{
    struct stage stage;
    struct noise noise;

    (void)state;
    stage_open(&stage);
    noise = measured(&stage, SAMPLER_ROWS, 1);
    assert_true(noise.scale == noise.variance / noise.square);
    noise = measured(&stage, SAMPLER_WHOLE, 1);
    assert_int_equal(noise.batches, 0);
    assert_true(noise.scale == 0);
    dataset_close(&stage.data);
}

/* Of squared errors and a penalty the curvature along the gradient is known
 * from the rows: the mean over many orders is that. */
static void test_curvature(void **state)
{
    double mean[COLS] = {0}, along = 0, square = 0, found = 0;
    struct stage stage;

    (void)state;
    stage_open(&stage);
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t j = 0; j < COLS; j++)
            ((float *)stage.data.x)[i * stage.data.stride + j] =
                i % COLS == j ? (float)(j + 1) : 0;
    for (uint32_t j = 0; j < COLS; j++) {
        /* A fifth of the rows has this column alone, of value j + 1. */
        const double x = j + 1, h = 2 * x * x / COLS + 2 * stage.optim.l2;

        mean[j] = 2 * (stage.w[j] * x - 3) * x / COLS +
                  2 * stage.optim.l2 * stage.w[j];
        along += mean[j] * mean[j] * h;
        square += mean[j] * mean[j];
    }
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        found += measured(&stage, SAMPLER_ROWS, seed).curvature / SEEDS;
    assert_true(fabs(found / (along / square) - 1) < 0.05);
    dataset_close(&stage.data);
}

/* Two ways down: one step would do, or each takes a tenth of what is left. */
static void test_share(void **state)
{
    const struct noise start = {.square = 8, .curvature = 4, .objective = 3};
    struct noise end = {.square = 4, .curvature = 4, .objective = 2.5};

    (void)state;
    assert_true(noise_share(&start, &end) == 1);
    end.objective = -2;
    assert_true(noise_share(&start, &end) == 0.1);
    end.objective = 2.9; /* More than all there is. */
    assert_true(noise_share(&start, &end) == 1);
    end.objective = 4; /* Up: nothing is told. */
    assert_true(noise_share(&start, &end) == 0);
    end = (struct noise){.square = 4, .curvature = -1, .objective = 1};
    assert_true(noise_share(&start, &end) == 0.5);
}

static void test_critical(void **state)
{
    (void)state;
    assert_true(noise_critical(30, 30, 0) == 30);
    assert_true(noise_critical(30, 30, 1) == 60);
    assert_true(fabs(noise_critical(1, exp(1), 0) - (exp(1) - 1)) < 1e-12);
    assert_true(isinf(noise_critical(10, HUGE_VAL, 0)));
    assert_true(isinf(noise_critical(0, 10, 1)));
}

/* However many rows there are, and however large a batch. */
static void test_rows_are_bounded(void **state)
{
    static const struct {
        uint32_t rows, batch, wanted;
    } cases[] = {
        {240, 24, 4},        {100, 60, 0},          {1 << 20, 128, 32},
        {1 << 20, 2048, 32}, {1 << 30, 4096, 16},   {1 << 30, 32768, 2},
        {1 << 30, 32769, 0}, {1 << 30, 1 << 29, 0}, {100000, 20000, 3},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sampler sampler =
            sampler_of(SAMPLER_ROWS, cases[i].rows, 1 << 16, cases[i].batch, 0);

        assert_int_equal(noise_batches(&sampler), cases[i].wanted);
    }
    assert_int_equal(noise_batches(&sampler_whole), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unbiased),
        cmocka_unit_test(test_rows_are_bounded),
        cmocka_unit_test(test_local),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_curvature),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_critical),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
