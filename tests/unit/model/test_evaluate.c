/*
 * Everything that can be asked of a problem, over random data in every
 * storage: no chunk is refused at the scale of its bound, no sum leaves it,
 * and sparse rows say what the same rows say as dense ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/linear/bounds.h"
#include "model/linear/problem.h"

enum { DIMS_MAX = 40, SUMS_MAX = DIMS_MAX * (DIMS_MAX + 1) / 2 };

/* Values that every storage holds, one if it holds no other. */
static float draw(enum storage storage, struct rng *rng)
{
    switch (storage) {
    case STORAGE_BIT:
    case STORAGE_INDEX:
    case STORAGE_U8:
    case STORAGE_PIXEL:
        return rng_chance(rng, 0.4) ? 1.0f : 0.0f;
    case STORAGE_F32:
    case STORAGE_BF16:
    case STORAGE_I8:
    case STORAGE_CSR:
    case STORAGE_F64:
        break;
    }
    return rng_chance(rng, 0.3) ? 0.0f : (float)rng_between(rng, -9, 9);
}

static void put(struct dataset *data, uint32_t i, uint32_t j, float value)
{
    const size_t at = (size_t)i * data->stride + j;
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    switch (data->storage) {
    case STORAGE_F32:
        ((float *)data->x)[at] = value;
        break;
    case STORAGE_BF16:
        ((uint16_t *)data->x)[at] = (uint16_t)(bits >> 16);
        break;
    case STORAGE_I8:
        ((int8_t *)data->x)[at] = (int8_t)value;
        break;
    case STORAGE_U8:
    case STORAGE_PIXEL:
        storage_put(data->storage, dataset_row(data, i), j, (double)value);
        break;
    case STORAGE_BIT:
        if (value != 0)
            ((uint8_t *)data->x)[at / 8] |= (uint8_t)(1u << at % 8);
        break;
    case STORAGE_F64:
        ((double *)data->x)[at] = (double)value;
        break;
    case STORAGE_INDEX:
    case STORAGE_CSR:
        if (value == 0)
            break;
        data->column[data->begin[i + 1]] = j;
        if (data->value != NULL)
            data->value[data->begin[i + 1]] = value;
        data->begin[i + 1]++;
        break;
    }
}

/* The same rows and labels for every storage of the same values. */
static struct dataset make(enum storage storage, uint64_t seed, bool real)
{
    struct dataset data = {0};
    struct rng rng;
    struct dataset_shape shape = {.storage = storage};

    rng_init(&rng, seed);
    shape.rows = 1 + (uint32_t)rng_below(&rng, 60);
    shape.cols = 1 + (uint32_t)rng_below(&rng, DIMS_MAX);
    shape.chunk_rows = 1 + (uint32_t)rng_below(&rng, 20);
    shape.weighted = seed % 2 == 0;
    if (storage == STORAGE_INDEX || storage == STORAGE_CSR)
        shape.entries = (uint64_t)shape.rows * shape.cols;
    assert_int_equal(dataset_init_shape(&data, &shape), ERR_OK);
    for (uint32_t i = 0; i < data.rows; i++) {
        if (data.begin != NULL)
            data.begin[i + 1] = data.begin[i];
        for (uint32_t j = 0; j < data.cols; j++)
            put(&data, i, j, draw(storage, &rng));
        data.y[i] =
            real ? 4 * rng_unit(&rng) - 2 : (rng_chance(&rng, 0.5) ? 1 : -1);
        if (data.weight != NULL)
            data.weight[i] = rng_chance(&rng, 0.1) ? 0 : 3 * rng_unit(&rng);
    }
    chunkset_fill(&data.present);
    return data;
}

struct asked {
    double w[DIMS_MAX], v[DIMS_MAX];
    double sums[SUMS_MAX];
    double loss;
};

static void assert_csr_sums(const struct tally *tally, const int16_t *exponent)
{
    int least = exponent[0], most = exponent[0];

    for (uint32_t j = 0; j < tally->dims; j++) {
        assert_true(llabs(tally->sum[j]) < INT64_C(1) << SPARSE_CSR_BITS);
        least = exponent[j] < least ? exponent[j] : least;
        most = exponent[j] > most ? exponent[j] : most;
    }
    assert_true(most - least <= SPARSE_EXPONENT_SPAN);
}

/* All chunks through a tally at the proved scale, back to front. */
static void ask(const struct problem *problem, enum evaluation_kind kind,
                struct asked *asked)
{
    const struct evaluation what = {.kind = kind, .w = asked->w, .v = asked->v};
    const uint32_t chunks = dataset_chunks(problem->data);
    void *scratch = mem_new(problem_scratch_bytes(problem), 1);
    struct problem_round round;
    struct bounds bounds;
    struct tally tally;
    int16_t exponent[SUMS_MAX + 1];

    assert_non_null(scratch);
    assert_int_equal(bounds_init(&bounds, problem->data->stride), ERR_OK);
    assert_int_equal(bounds_measure(&bounds, problem, pool_serial()), ERR_OK);
    assert_int_equal(bounds_exponents(&bounds, problem, &what, exponent),
                     ERR_OK);
    assert_int_equal(tally_init(&tally,
                                evaluation_dims(kind, problem_dims(problem)),
                                chunks),
                     ERR_OK);
    assert_int_equal(problem_round_init(&round, problem), ERR_OK);
    assert_int_equal(problem_round_prepare(&round, problem, &what), ERR_OK);
    for (uint32_t k = chunks; k-- > 0;)
        assert_int_equal(
            problem_add(problem, &round, &what, k, exponent, scratch, &tally),
            ERR_OK);
    problem_settle(problem, scratch, &tally);
    assert_true(tally_in_bound(&tally));
    if (problem->data->storage == STORAGE_CSR)
        assert_csr_sums(&tally, exponent);
    tally_gradient(&tally, exponent, asked->sums);
    asked->loss = tally_loss_value(&tally, exponent);
    problem_round_close(&round);
    tally_close(&tally);
    bounds_close(&bounds);
    mem_free(scratch);
}

static void draw_point(struct asked *asked, uint64_t seed, uint32_t cols)
{
    const int scale = (int)(seed % 9) - 6;

    memset(asked, 0, sizeof *asked);
    for (uint32_t j = 0; j < cols; j++) {
        asked->w[j] = ldexp(rng_normal_at(seed, j, 1), scale);
        asked->v[j] = ldexp(rng_normal_at(seed, j, 2), -2 * scale);
    }
}

static void assert_near(const struct asked *a, const struct asked *b,
                        uint32_t count, double tolerance, uint64_t seed)
{
    double scale = 1;

    for (uint32_t j = 0; j < count; j++)
        scale = fmax(scale, fabs(a->sums[j]));
    for (uint32_t j = 0; j < count; j++) {
        if (!(fabs(a->sums[j] - b->sums[j]) <= tolerance * scale))
            fail_msg("seed %llu: sum %u: %.17g against %.17g",
                     (unsigned long long)seed, j, a->sums[j], b->sums[j]);
    }
    assert_true(fabs(a->loss - b->loss) <= tolerance * (1 + fabs(a->loss)));
}

static void test_storages_agree(void **state)
{
    /* Pairs of the same values, and how much apart they may be: the narrow
     * dense ones not at all. */
    static const struct {
        enum storage one, other;
        double tolerance;
    } pairs[] = {
        {STORAGE_F32, STORAGE_BF16, 0},     {STORAGE_F32, STORAGE_I8, 0},
        {STORAGE_F32, STORAGE_CSR, 1e-12},  {STORAGE_BIT, STORAGE_INDEX, 2e-7},
        {STORAGE_CSR, STORAGE_BF16, 1e-12}, {STORAGE_F32, STORAGE_F64, 0},
        {STORAGE_BIT, STORAGE_U8, 0},       {STORAGE_BIT, STORAGE_PIXEL, 0},
    };

    (void)state;
    for (uint64_t seed = 0; seed < 480; seed++) {
        const unsigned pair = (unsigned)(seed % 8);
        const enum model_kind kind = (enum model_kind)(seed / 8 % 2);
        const enum evaluation_kind what =
            seed / 16 % 2 == 0 ? EVALUATE_GRADIENT : EVALUATE_HESSVEC;
        struct dataset data[2];
        struct asked asked[2];

        data[0] = make(pairs[pair].one, seed, kind == MODEL_LINEAR);
        data[1] = make(pairs[pair].other, seed, kind == MODEL_LINEAR);
        for (int i = 0; i < 2; i++) {
            const struct problem problem = {
                .data = &data[i], .model = model_ops(kind), .isa = isa_best()};

            draw_point(&asked[i], seed, data[0].cols);
            ask(&problem, what, &asked[i]);
        }
        assert_near(&asked[0], &asked[1], data[0].stride, pairs[pair].tolerance,
                    seed);
        dataset_close(&data[0]);
        dataset_close(&data[1]);
    }
}

/* Nothing is refused and nothing leaves its bound, whatever is asked. */
static void test_bounds_hold(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 1200; seed++) {
        const enum storage storage = (enum storage)(seed % 6);
        const enum model_kind kind = (enum model_kind)(seed / 6 % 4);
        struct dataset data = make(storage, seed, kind == MODEL_LINEAR);
        const struct problem problem = {
            .data = &data, .model = model_ops(kind), .isa = isa_best()};
        struct asked asked;

        draw_point(&asked, seed, data.cols);
        ask(&problem, EVALUATE_GRADIENT, &asked);
        ask(&problem, EVALUATE_HESSVEC, &asked);
        ask(&problem, EVALUATE_DIAGONAL, &asked);
        assert_true(problem_has_hessian(&problem) == (storage < STORAGE_INDEX));
        if (problem_has_hessian(&problem))
            ask(&problem, EVALUATE_HESSIAN, &asked);
        dataset_close(&data);
    }
}

/* The Hessian times v is what HESSVEC says. */
static void test_hessian_times_v(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct dataset data = make((enum storage)(seed % 4), seed, false);
        const struct problem problem = {
            .data = &data,
            .model = model_ops(seed % 2 == 0 ? MODEL_LOGISTIC : MODEL_SVM),
            .isa = isa_best()};
        struct asked full, product, made;

        draw_point(&full, seed, data.cols);
        product = full;
        made = full;
        ask(&problem, EVALUATE_HESSIAN, &full);
        ask(&problem, EVALUATE_HESSVEC, &product);
        for (uint32_t j = 0; j < data.stride; j++) {
            made.sums[j] = 0;
            for (uint32_t k = 0; k < data.stride; k++) {
                const uint32_t row = j > k ? j : k, col = j > k ? k : j;

                made.sums[j] +=
                    full.sums[row * (row + 1) / 2 + col] * full.v[k];
            }
        }
        made.loss = product.loss;
        assert_near(&product, &made, data.stride, 1e-11, seed);
        dataset_close(&data);
    }
}

/* DIAGONAL is what stands on the diagonal: of dense rows to the bit; of all,
 * what HESSVEC says of unit vectors. */
static void test_diagonal(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 140; seed++) {
        const enum storage storage = (enum storage)(seed % 7);
        struct dataset data = make(storage, seed, false);
        const struct problem problem = {
            .data = &data,
            .model = model_ops(seed % 2 == 0 ? MODEL_LOGISTIC : MODEL_SVM),
            .isa = isa_best()};
        struct asked diagonal, other;

        draw_point(&diagonal, seed, data.cols);
        other = diagonal;
        ask(&problem, EVALUATE_DIAGONAL, &diagonal);
        assert_true(diagonal.loss == 0);
        if (problem_has_hessian(&problem))
            ask(&problem, EVALUATE_HESSIAN, &other);
        for (uint32_t j = 0; j < data.cols; j++) {
            const double found = diagonal.sums[j];

            if (problem_has_hessian(&problem)) {
                assert_true(found == other.sums[j * (j + 1) / 2 + j]);
                continue;
            }
            memset(other.v, 0, sizeof other.v);
            other.v[j] = 1;
            ask(&problem, EVALUATE_HESSVEC, &other);
            assert_true(fabs(found - other.sums[j]) <= 2e-6 * (1 + found));
        }
        dataset_close(&data);
    }
}

/* HESSVEC is how the gradient changes along v. */
static void test_differences(void **state)
{
    const double step = 1e-6;

    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct dataset data = make((enum storage)(seed % 6), seed, false);
        const struct problem problem = {.data = &data,
                                        .model = model_ops(MODEL_LOGISTIC),
                                        .isa = isa_best()};
        struct asked product, side[2];

        draw_point(&product, 9 * seed + 4, data.cols); /* Scale 1/4. */
        side[0] = side[1] = product;
        ask(&problem, EVALUATE_HESSVEC, &product);
        for (int s = 0; s < 2; s++) {
            for (uint32_t j = 0; j < data.cols; j++)
                side[s].w[j] += (s == 0 ? -step : step) * product.v[j];
            ask(&problem, EVALUATE_GRADIENT, &side[s]);
        }
        for (uint32_t j = 0; j < data.stride; j++)
            side[0].sums[j] = (side[1].sums[j] - side[0].sums[j]) / (2 * step);
        side[0].loss = product.loss;
        /* Index weights have 30 bits: a coarse difference. */
        assert_near(&product, &side[0], data.stride,
                    data.storage == STORAGE_INDEX ? 2e-2 : 1e-5, seed);
        dataset_close(&data);
    }
}

/* Columns of very different sizes, one of them without a value: each is as
 * exact as its own size allows, down to 2^-63 of the largest. */
static void test_csr_scales(void **state)
{
    static const float sizes[] = {1, 0, 0x1p-30f, 0x1p50f, 0x1p-13f, 0x1p-20f};
    const struct dataset_shape shape = {.storage = STORAGE_CSR,
                                        .rows = 9,
                                        .cols = 6,
                                        .chunk_rows = 4,
                                        .entries = 9 * 6};
    struct dataset data = {0};
    const struct problem problem = {
        .data = &data, .model = model_ops(MODEL_LINEAR), .isa = isa_best()};
    struct asked asked;

    (void)state;
    assert_int_equal(dataset_init_shape(&data, &shape), ERR_OK);
    memset(&asked, 0, sizeof asked);
    for (uint32_t i = 0; i < data.rows; i++) {
        data.begin[i + 1] = data.begin[i];
        for (uint32_t j = 0; j < data.cols; j++) {
            if (sizes[j] > 0)
                put(&data, i, j, sizes[j] * (float)(1 + (i + j) % 3));
        }
        data.y[i] = 0.1 * (i + 1);
    }
    chunkset_fill(&data.present);
    ask(&problem, EVALUATE_GRADIENT, &asked);
    for (uint32_t j = 0; j < data.cols; j++) {
        long double g = 0;
        /* Columns 2 and 5 are 2^-80 and 2^-70 of the largest: they lose bits.
         */
        const long double tolerance = j == 2   ? 0x1p-34L
                                      : j == 5 ? 0x1p-44L
                                               : 0x1p-50L;

        for (uint32_t i = 0; i < data.rows; i++)
            g -= 2 * (long double)data.y[i] * (long double)sizes[j] *
                 (1 + (i + j) % 3);
        if (!(fabsl((long double)asked.sums[j] - g) <= tolerance * fabsl(g)))
            fail_msg("column %u: %.17g against %.17Lg", j, asked.sums[j], g);
    }
    dataset_close(&data);
}

static void test_broken_weights(void **state)
{
    static const double bad[] = {HUGE_VAL, 1e300, 0};

    (void)state;
    for (unsigned i = 0; i < 6 * 3; i++) {
        struct dataset data = make((enum storage)(i % 6), 3, false);
        const struct problem problem = {.data = &data,
                                        .model = model_ops(MODEL_LOGISTIC),
                                        .isa = isa_best()};
        struct asked asked;
        struct evaluation what = {
            .kind = EVALUATE_HESSVEC, .w = asked.w, .v = asked.v};
        struct bounds bounds;
        int16_t exponent[SUMS_MAX + 1];

        draw_point(&asked, 1, data.cols);
        assert_int_equal(bounds_init(&bounds, data.stride), ERR_OK);
        assert_int_equal(bounds_measure(&bounds, &problem, pool_serial()),
                         ERR_OK);
        asked.w[0] = i / 6 == 2 ? nan("") : bad[i / 6];
        assert_int_equal(bounds_exponents(&bounds, &problem, &what, exponent),
                         ERR_RANGE);
        what.w = asked.v;
        what.v = asked.w;
        assert_int_equal(bounds_exponents(&bounds, &problem, &what, exponent),
                         ERR_RANGE);
        bounds_close(&bounds);
        dataset_close(&data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_storages_agree),
        cmocka_unit_test(test_bounds_hold),
        cmocka_unit_test(test_hessian_times_v),
        cmocka_unit_test(test_diagonal),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_csr_scales),
        cmocka_unit_test(test_broken_weights),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
