/*
 * Softmax regression as a problem, over random data in every storage: no chunk
 * is refused at the scale of its bound and no sum leaves it; dense storages
 * agree to the bit, so do the two sparse ones, and both say the same but for
 * rounding; sums are derivatives; metrics are what a slow count says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "math/kernel/softmax.h"
#include "model/linear/bounds.h"
#include "model/metrics.h"

enum { COLS_MAX = 24, CLASSES = 5, DIMS_MAX = COLS_MAX * CLASSES };

static bool is_sparse(enum storage storage)
{
    return storage == STORAGE_INDEX || storage == STORAGE_CSR;
}

static void put(struct dataset *data, uint32_t i, uint32_t j, float value)
{
    if (!is_sparse(data->storage) || value == 0)
        return;
    data->column[data->begin[i + 1]] = j;
    if (data->value != NULL)
        data->value[data->begin[i + 1]] = value;
    data->begin[i + 1]++;
}

/* The same rows, labels and cut for every storage: values are 0 and 1, or
 * small integers. */
static struct dataset make(enum storage storage, uint64_t seed, bool ones)
{
    struct dataset_shape shape = {.storage = storage,
                                  .weighted = seed % 2 == 0};
    struct dataset data = {0};
    struct rng rng;

    rng_init(&rng, seed);
    shape.rows = 1 + (uint32_t)rng_below(&rng, 60);
    shape.cols = 1 + (uint32_t)rng_below(&rng, COLS_MAX);
    shape.chunk_rows = 1 + (uint32_t)rng_below(&rng, 20);
    if (is_sparse(storage))
        shape.entries = (uint64_t)shape.rows * shape.cols;
    assert_int_equal(dataset_init_shape(&data, &shape), ERR_OK);
    data.classes = 2 + (uint32_t)rng_below(&rng, CLASSES - 1);
    for (uint32_t i = 0; i < data.rows; i++) {
        double row[COLS_MAX + 8] = {0};

        for (uint32_t j = 0; j < data.cols; j++)
            row[j] = (double)(ones ? rng_chance(&rng, 0.4)
                                   : rng_between(&rng, -9, 9));
        if (is_sparse(storage))
            data.begin[i + 1] = data.begin[i];
        else
            storage_pack(storage, row, data.stride, dataset_row(&data, i));
        for (uint32_t j = 0; j < data.cols; j++)
            put(&data, i, j, (float)row[j]);
        data.y[i] = (double)rng_below(&rng, data.classes);
        if (data.weight != NULL)
            data.weight[i] = rng_chance(&rng, 0.1) ? 0 : 3 * rng_unit(&rng);
    }
    chunkset_fill(&data.present);
    return data;
}

struct asked {
    double w[DIMS_MAX], v[DIMS_MAX];
    double sums[DIMS_MAX];
    double loss;
};

static void draw_point(struct asked *asked, uint64_t seed, int scale,
                       const struct problem *problem)
{
    const struct dataset *const data = problem->data;

    memset(asked, 0, sizeof *asked);
    for (uint32_t k = 0; k < problem->outputs; k++) {
        for (uint32_t j = 0; j < data->cols; j++) {
            const uint32_t at = k * data->stride + j;

            asked->w[at] = ldexp(rng_normal_at(seed, at, 1), scale);
            asked->v[at] = rng_normal_at(seed, at, 2);
        }
    }
}

/* All chunks through a tally at the proved scale, back to front. */
static void ask(const struct problem *problem, enum evaluation_kind kind,
                struct asked *asked)
{
    const struct evaluation what = {.kind = kind, .w = asked->w, .v = asked->v};
    const uint32_t dims = problem_dims(problem);
    const uint32_t chunks = dataset_chunks(problem->data);
    void *scratch = mem_new(problem_scratch_bytes(problem), 1);
    struct problem_round round;
    struct bounds bounds;
    struct tally tally;
    int16_t exponent[DIMS_MAX + 1];

    assert_non_null(scratch);
    assert_true(dims <= DIMS_MAX);
    assert_int_equal(bounds_init(&bounds, problem->data->stride), ERR_OK);
    assert_int_equal(bounds_measure(&bounds, problem, pool_serial()), ERR_OK);
    assert_int_equal(bounds_exponents(&bounds, problem, &what, exponent),
                     ERR_OK);
    assert_int_equal(tally_init(&tally, dims, chunks), ERR_OK);
    assert_int_equal(problem_round_init(&round, problem), ERR_OK);
    assert_int_equal(problem_round_prepare(&round, problem, &what), ERR_OK);
    for (uint32_t k = chunks; k-- > 0;)
        assert_int_equal(
            problem_add(problem, &round, &what, k, exponent, scratch, &tally),
            ERR_OK);
    problem_settle(problem, scratch, &tally);
    assert_true(tally_in_bound(&tally));
    tally_gradient(&tally, exponent, asked->sums);
    asked->loss = tally_loss_value(&tally, exponent);
    problem_round_close(&round);
    tally_close(&tally);
    bounds_close(&bounds);
    mem_free(scratch);
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
    /* Pairs of the same values, and how much apart they may be. */
    static const struct {
        enum storage one, other;
        bool ones;
        double tolerance;
    } pairs[] = {
        {STORAGE_F32, STORAGE_BF16, false, 0},
        {STORAGE_F32, STORAGE_I8, false, 0},
        {STORAGE_F32, STORAGE_F64, false, 0},
        {STORAGE_F32, STORAGE_BIT, true, 0},
        {STORAGE_INDEX, STORAGE_CSR, true, 0},
        {STORAGE_F32, STORAGE_CSR, false, 1e-12},
        {STORAGE_BIT, STORAGE_INDEX, true, 1e-12},
    };

    (void)state;
    for (uint64_t seed = 0; seed < 480; seed++) {
        const unsigned pair = (unsigned)(seed % 6);
        const enum evaluation_kind what =
            seed / 6 % 2 == 0 ? EVALUATE_GRADIENT : EVALUATE_HESSVEC;
        struct dataset data[2];
        struct asked asked[2];

        data[0] = make(pairs[pair].one, seed, pairs[pair].ones);
        data[1] = make(pairs[pair].other, seed, pairs[pair].ones);
        for (int i = 0; i < 2; i++) {
            const struct problem problem = problem_of(
                &data[i], MODEL_SOFTMAX, i == 0 ? isa_best() : ISA_PORTABLE);

            draw_point(&asked[i], seed, (int)(seed % 9) - 6, &problem);
            ask(&problem, what, &asked[i]);
        }
        assert_near(&asked[0], &asked[1], data[0].classes * data[0].stride,
                    pairs[pair].tolerance, seed);
        dataset_close(&data[0]);
        dataset_close(&data[1]);
    }
}

/* Nothing is refused and nothing leaves its bound, from gentle weights to
 * scores in the millions. */
static void test_bounds_hold(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 600; seed++) {
        const enum storage storage = (enum storage)(seed % 6);
        struct dataset data = make(
            storage, seed, storage == STORAGE_BIT || storage == STORAGE_INDEX);
        const struct problem problem =
            problem_of(&data, MODEL_SOFTMAX, isa_best());
        struct asked asked;

        assert_int_equal(problem.outputs, data.classes);
        assert_false(problem_has_hessian(&problem));
        assert_false(problem_quantises(&problem));
        draw_point(&asked, seed, (int)(seed / 6 % 25) - 6, &problem);
        ask(&problem, EVALUATE_GRADIENT, &asked);
        ask(&problem, EVALUATE_HESSVEC, &asked);
        dataset_close(&data);
    }
}

/* U_j is the sum of s_i |x_ij|, whatever numbers the classes have: with all
 * rows sure of the wrong class, 61 of the 62 bits are used at least. */
static void test_bound_is_tight(void **state)
{
    struct dataset data = {0};
    struct problem problem;
    struct bounds bounds;
    double w[3 * 8] = {0};
    const struct evaluation what = {.kind = EVALUATE_GRADIENT, .w = w};
    int16_t exponent[3 * 8 + 1];

    (void)state;
    assert_int_equal(dataset_init(&data, 40, 1, 8), ERR_OK);
    data.classes = 3;
    for (uint32_t i = 0; i < 40; i++) {
        *(float *)dataset_row(&data, i) = 1;
        data.y[i] = 2;
    }
    chunkset_fill(&data.present);
    problem = problem_of(&data, MODEL_SOFTMAX, ISA_PORTABLE);
    w[0] = 800;
    assert_int_equal(bounds_init(&bounds, 8), ERR_OK);
    assert_int_equal(bounds_measure(&bounds, &problem, pool_serial()), ERR_OK);
    assert_true(bounds.u[0] >= 40 && bounds.u[0] <= 40 * 1.0001);
    assert_int_equal(bounds_exponents(&bounds, &problem, &what, exponent),
                     ERR_OK);
    for (int k = 0; k < 3; k++) {
        assert_true(ldexp(40, exponent[8 * k]) < 0x1p62);
        assert_true(ldexp(40, exponent[8 * k]) >= 0x1p60);
        assert_int_equal(exponent[8 * k + 7], 0); /* Padding. */
    }
    bounds_close(&bounds);
    dataset_close(&data);
}

/* Loss, gradient and product, each the difference of the one before. */
static void test_derivatives(void **state)
{
    const double step = 1e-6;

    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct dataset data =
            make((enum storage)(seed % 6), seed, seed % 6 >= STORAGE_BIT);
        const struct problem problem =
            problem_of(&data, MODEL_SOFTMAX, isa_best());
        const uint32_t dims = problem_dims(&problem);
        struct asked product, gradient, side[2];
        double slope = 0;

        draw_point(&product, seed, -3, &problem);
        gradient = side[0] = side[1] = product;
        ask(&problem, EVALUATE_HESSVEC, &product);
        ask(&problem, EVALUATE_GRADIENT, &gradient);
        for (int s = 0; s < 2; s++) {
            for (uint32_t j = 0; j < dims; j++)
                side[s].w[j] += (s == 0 ? -step : step) * product.v[j];
            ask(&problem, EVALUATE_GRADIENT, &side[s]);
        }
        for (uint32_t j = 0; j < dims; j++) {
            slope += gradient.sums[j] * product.v[j];
            side[0].sums[j] = (side[1].sums[j] - side[0].sums[j]) / (2 * step);
        }
        assert_true(fabs((side[1].loss - side[0].loss) / (2 * step) - slope) <=
                    1e-5 * (1 + fabs(slope)));
        assert_true(product.loss == 0);
        side[0].loss = product.loss;
        assert_near(&product, &side[0], dims, 1e-5, seed);
        dataset_close(&data);
    }
}

/* For every class the mean of the diagonals of all. */
static void test_diagonal(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct dataset data =
            make((enum storage)(seed % 6), seed, seed % 6 >= STORAGE_BIT);
        const struct problem problem =
            problem_of(&data, MODEL_SOFTMAX, isa_best());
        struct asked diagonal, product;

        draw_point(&diagonal, seed, -3, &problem);
        product = diagonal;
        ask(&problem, EVALUATE_DIAGONAL, &diagonal);
        for (uint32_t j = 0; j < data.cols; j++) {
            double mean = 0;

            for (uint32_t k = 0; k < problem.outputs; k++) {
                const uint32_t at = k * data.stride + j;

                memset(product.v, 0, sizeof product.v);
                product.v[at] = 1;
                ask(&problem, EVALUATE_HESSVEC, &product);
                mean += product.sums[at] / problem.outputs;
                assert_true(diagonal.sums[at] == diagonal.sums[j]);
            }
            assert_true(fabs(diagonal.sums[j] - mean) <= 1e-9 * (1 + mean));
        }
        dataset_close(&data);
    }
}

/* What does not fit is refused, and weights that are no numbers too. */
static void test_refusals(void **state)
{
    struct dataset data = make(STORAGE_CSR, 4, false);
    const struct problem problem = problem_of(&data, MODEL_SOFTMAX, isa_best());
    struct asked asked;
    const struct evaluation what = {.kind = EVALUATE_GRADIENT, .w = asked.w};
    int16_t exponent[DIMS_MAX + 1];
    struct bounds bounds;

    (void)state;
    draw_point(&asked, 1, 0, &problem);
    assert_int_equal(bounds_init(&bounds, data.stride), ERR_OK);
    assert_int_equal(bounds_measure(&bounds, &problem, pool_serial()), ERR_OK);
    /* A weight of the last class counts as much as one of the first. */
    asked.w[problem_dims(&problem) - data.stride] = 1e300;
    assert_int_equal(bounds_exponents(&bounds, &problem, &what, exponent),
                     ERR_RANGE);
    asked.w[problem_dims(&problem) - data.stride] = nan("");
    assert_int_equal(bounds_exponents(&bounds, &problem, &what, exponent),
                     ERR_RANGE);
    bounds_close(&bounds);
    dataset_close(&data);
}

static void test_outputs(void **state)
{
    (void)state;
    assert_true(model_has_outputs(MODEL_LOGISTIC, 1));
    assert_false(model_has_outputs(MODEL_LOGISTIC, 2));
    assert_false(model_has_outputs(MODEL_SOFTMAX, 1));
    assert_true(model_has_outputs(MODEL_SOFTMAX, 2));
    assert_true(model_has_outputs(MODEL_SOFTMAX, SOFTMAX_CLASSES_MAX));
    assert_false(model_has_outputs(MODEL_SOFTMAX, SOFTMAX_CLASSES_MAX + 1));
    assert_false(model_has_outputs(MODEL_SOFTMAX + 1, 1));
    assert_false(model_has_outputs(UINT32_MAX, 1));
}

/* The hash is that of the weights, class after class, without padding. */
static void test_hash(void **state)
{
    const struct dataset data = {.cols = 3, .stride = 8, .classes = 2};
    const struct problem problem =
        problem_of(&data, MODEL_SOFTMAX, ISA_PORTABLE);
    const double plain[] = {1, 2, 3, 4, 5, 6};
    double w[16] = {1, 2, 3, [8] = 4, 5, 6};
    const struct digest wanted = hash_f64(plain, 6);
    struct digest got = problem_hash(&problem, w);

    (void)state;
    assert_true(digest_equal(&got, &wanted));
    w[3] = 7;
    got = problem_hash(&problem, w);
    assert_true(digest_equal(&got, &wanted));
    w[10] = 7;
    got = problem_hash(&problem, w);
    assert_false(digest_equal(&got, &wanted));
}

/* X'X of ones in one column is 1, and the curvature 1/2. */
static void test_default_rate(void **state)
{
    struct dataset data = {0};
    struct problem problem;
    double rate = 0;

    (void)state;
    assert_int_equal(dataset_init(&data, 20, 1, 8), ERR_OK);
    data.classes = 4;
    for (uint32_t i = 0; i < 20; i++)
        *(float *)dataset_row(&data, i) = 1;
    chunkset_fill(&data.present);
    problem = problem_of(&data, MODEL_SOFTMAX, ISA_PORTABLE);
    assert_int_equal(problem_default_rate(&problem, 0.25, &rate), ERR_OK);
    assert_true(fabs(rate - 1 / 1.1) < 1e-12);
    dataset_close(&data);
}

/* Five rows of three classes, one left out, one class never the truth. */
static void test_metrics_by_hand(void **state)
{
    static const double z[] = {2, 1, 0, /* 0 */ 0, 3, 1, /* 1 */
                               1, 1, 0, /* 0: the first of equals. */
                               0, 0, 9, /* 2 */ 5, 0, 0};
    static const double y[] = {0, 1, 1, 0, -1};
    static const double weight[] = {1, 3, 1, 1, 0};
    const struct scored_rows rows = {z, y, weight, 5, 3, false};
    struct metrics got;
    double loss = 0;

    (void)state;
    assert_int_equal(
        metrics_of_scores(&got, model_ops(MODEL_SOFTMAX), ISA_PORTABLE, &rows),
        ERR_OK);
    /* Of classes 0, 1, 2: hits 1 1 0, said 2 1 1, were 2 2 0. */
    assert_true(got.accuracy == 0.5);
    assert_true(fabs(got.precision - (0.5 + 1 + 0) / 3) < 1e-15);
    assert_true(fabs(got.recall - (0.5 + 0.5 + 0) / 3) < 1e-15);
    assert_true(fabs(got.f1 - (0.5 + 2 / 3.0 + 0) / 3) < 1e-15);
    assert_true(isnan(got.auc) && isnan(got.mse));
    for (int i = 0; i < 4; i++) {
        const double *const s = z + 3 * i;

        loss += log(exp(s[0]) + exp(s[1]) + exp(s[2])) - s[(int)y[i]];
    }
    assert_true(fabs(got.logloss - loss / 4) < 1e-14);
    /* One against the rest has no probabilities of its own. */
    assert_int_equal(
        metrics_of_scores(&got, model_ops(MODEL_SVM), ISA_PORTABLE, &rows),
        ERR_OK);
    assert_true(got.accuracy == 0.5 && isnan(got.logloss));
}

/* Two outputs are judged as the one score is that is their difference, also
 * where the first is the larger label's. */
static void test_metrics_of_two(void **state)
{
    static const double one[] = {2, -1, .5, -3, 1, -.5, -.25};
    static const double truth[] = {1, -1, -1, 1, 1, -1, -1};
    const struct scored_rows plain = {one, truth, NULL, 7, 1, false};
    double z[2][14], y[2][7];
    struct metrics wanted, got;

    (void)state;
    for (int i = 0; i < 7; i++) {
        z[0][2 * i] = z[1][2 * i + 1] = .75;
        z[0][2 * i + 1] = z[1][2 * i] = one[i] + .75;
        y[0][i] = truth[i] > 0;
        y[1][i] = truth[i] < 0;
    }
    assert_int_equal(metrics_of_scores(&wanted, model_ops(MODEL_LOGISTIC),
                                       ISA_PORTABLE, &plain),
                     ERR_OK);
    for (int falling = 0; falling < 2; falling++) {
        const struct scored_rows rows = {z[falling], y[falling], NULL,
                                         7,          2,          falling != 0};

        assert_int_equal(metrics_of_scores(&got, model_ops(MODEL_SOFTMAX),
                                           ISA_PORTABLE, &rows),
                         ERR_OK);
        assert_true(got.accuracy == wanted.accuracy && got.f1 == wanted.f1 &&
                    got.precision == wanted.precision &&
                    got.recall == wanted.recall && got.auc == wanted.auc);
        assert_true(fabs(got.logloss - wanted.logloss) < 1e-14);
    }
}

/* Three threads, of which the last begins, with the last chunk. */
static void run_backwards(struct pool *pool, pool_item item, void *context,
                          uint32_t items)
{
    for (uint32_t i = items; i-- > 0;)
        item(context, i % pool->threads, i);
}

/* Whoever scores a chunk, its scores are the same. */
static void check_pool(const struct problem *problem, const double *w)
{
    const size_t size = (size_t)problem->data->rows * problem_outputs(problem);
    struct pool pool = {.threads = 3, .run = run_backwards};
    double *const z = mem_new(2 * size, sizeof *z);

    assert_int_equal(metrics_scores(problem, pool_serial(), w, z), ERR_OK);
    assert_int_equal(metrics_scores(problem, &pool, w, z + size), ERR_OK);
    assert_memory_equal(z, z + size, size * sizeof *z);
    mem_free(z);
}

/* Dense and sparse scores, through the usual door. */
static void test_metrics_measure(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct dataset data =
            make((enum storage)(seed % 6), 2 * seed + 1, seed % 6 >= 3);
        const struct problem problem =
            problem_of(&data, MODEL_SOFTMAX, isa_best());
        struct asked asked;
        struct metrics got;

        draw_point(&asked, seed, -2, &problem);
        ask(&problem, EVALUATE_GRADIENT, &asked);
        assert_int_equal(metrics_measure(&got, &problem, asked.w), ERR_OK);
        assert_true(fabs(got.logloss - asked.loss / data.rows) <=
                    1e-12 * (1 + got.logloss));
        check_pool(&problem, asked.w);
        for (uint32_t j = 0; j < data.cols; j++)
            asked.w[data.stride + j] = HUGE_VAL;
        assert_int_equal(metrics_measure(&got, &problem, asked.w), ERR_RANGE);
        dataset_close(&data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_storages_agree),
        cmocka_unit_test(test_bounds_hold),
        cmocka_unit_test(test_bound_is_tight),
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_diagonal),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_default_rate),
        cmocka_unit_test(test_metrics_by_hand),
        cmocka_unit_test(test_metrics_of_two),
        cmocka_unit_test(test_metrics_measure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
