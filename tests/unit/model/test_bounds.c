/*
 * For random data over many scales and random weights the sum of |g_j| over
 * all chunks, in long double, must stay below 2^62 of the chosen scale, and no
 * chunk may be refused.  The same bounds must come out whatever the order of
 * the chunks and the number of threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "model/linear/bounds.h"
#include "model/linear/problem.h"
#include "model/make_data.h"

enum { SEEDS = 400, DIMS_MAX = 24 };

/* What a round needs, for one random problem. */
struct round {
    struct dataset data;
    struct bounds bounds;
    double w[DIMS_MAX];
    int16_t exponent[DIMS_MAX + 1];
};

/* Labels by their size, as all models but softmax have them. */
static enum err measure(struct bounds *bounds, const struct dataset *data,
                        struct pool *pool)
{
    const struct problem problem = problem_of(data, MODEL_LINEAR, ISA_PORTABLE);

    return bounds_measure(bounds, &problem, pool);
}

static void round_init(struct round *round, struct rng *rng, bool real,
                       int spread)
{
    const uint32_t rows = 1 + (uint32_t)rng_below(rng, 60);
    const uint32_t cols = 1 + (uint32_t)rng_below(rng, DIMS_MAX);

    round->data = make_data(rng, rows, cols, spread, real);
    assert_int_equal(bounds_init(&round->bounds, round->data.stride), ERR_OK);
    assert_int_equal(measure(&round->bounds, &round->data, pool_serial()),
                     ERR_OK);
    memset(round->w, 0, sizeof round->w);
}

static void round_close(struct round *round)
{
    bounds_close(&round->bounds);
    dataset_close(&round->data);
}

static enum err exponents(const struct round *round,
                          const struct model_ops *model, const double *w,
                          int16_t *exponent)
{
    const struct problem problem = {.data = &round->data, .model = model};
    const struct evaluation what = {.kind = EVALUATE_GRADIENT, .w = w};

    return bounds_exponents(&round->bounds, &problem, &what, exponent);
}

static float x_at(const struct dataset *data, uint32_t i, uint32_t j)
{
    return ((const float *)dataset_row(data, i))[j];
}

static void assert_proved(struct round *round, const struct model_ops *model,
                          uint64_t seed)
{
    const uint32_t stride = round->data.stride;
    long double total[DIMS_MAX] = {0};
    double g[DIMS_MAX];
    long double losses = 0;
    double loss;

    assert_int_equal(exponents(round, model, round->w, round->exponent),
                     ERR_OK);
    for (uint32_t k = 0; k < dataset_chunks(&round->data); k++) {
        const struct dense_rows rows = dataset_chunk(&round->data, k);

        kernel_gradient_ref(model->loss, &rows, round->w, g, &loss);
        for (uint32_t j = 0; j < stride; j++)
            total[j] += fabsl((long double)g[j]);
        losses += fabsl((long double)loss);
    }
    if (!(ldexpl(losses, round->exponent[stride]) < 0x1p110L))
        fail_msg("seed %llu: %s: loss %Lg exponent %d",
                 (unsigned long long)seed, model->name, losses,
                 round->exponent[stride]);
    for (uint32_t j = 0; j < stride; j++) {
        if (!(ldexpl(total[j], round->exponent[j]) < 0x1p62L))
            fail_msg("seed %llu: %s: coordinate %u: sum %Lg exponent %d",
                     (unsigned long long)seed, model->name, j, total[j],
                     round->exponent[j]);
    }
}

static void assert_never_refused(struct round *round,
                                 const struct model_ops *model, uint64_t seed)
{
    const struct problem problem = {
        .data = &round->data, .model = model, .isa = isa_best()};
    void *scratch = mem_new(problem_scratch_bytes(&problem), 1);
    struct tally tally;

    assert_non_null(scratch);
    assert_int_equal(
        tally_init(&tally, round->data.stride, dataset_chunks(&round->data)),
        ERR_OK);
    for (uint32_t k = 0; k < dataset_chunks(&round->data); k++) {
        if (problem_add_chunk(&problem, round->w, k, round->exponent, scratch,
                              &tally) != ERR_OK)
            fail_msg("seed %llu: %s: chunk %u refused",
                     (unsigned long long)seed, model->name, k);
    }
    assert_true(tally_in_bound(&tally));
    tally_close(&tally);
    mem_free(scratch);
}

static void test_bounds_hold(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const enum model_kind kind = (enum model_kind)(seed % 3);
        const int spread = (int)(seed / 3 % 4) * 2;
        struct round round;
        struct rng rng;

        rng_init(&rng, seed);
        round_init(&round, &rng, kind == MODEL_LINEAR, spread);
        for (int i = 0; i < 3; i++) {
            const int scale = (int)rng_between(&rng, -12, 4);

            assert_proved(&round, model_ops(kind), seed);
            assert_never_refused(&round, model_ops(kind), seed);
            for (uint32_t j = 0; j < round.data.cols; j++)
                round.w[j] = ldexp(rng_normal_at(rng_next(&rng), 0, 0), scale);
        }
        round_close(&round);
    }
}

static void test_bounds_hold_at_the_edges(void **state)
{
    (void)state;
    for (uint64_t seed = 1000; seed < 1000 + SEEDS; seed++) {
        const enum model_kind kind = (enum model_kind)(seed % 3);
        struct round round;
        struct rng rng;

        rng_init(&rng, seed);
        round_init(&round, &rng, kind == MODEL_LINEAR, 30);
        for (uint32_t j = 0; j < round.data.cols; j++)
            round.w[j] = ldexp(rng_normal_at(rng_next(&rng), 0, 0),
                               (int)rng_between(&rng, -1074, 300));
        assert_proved(&round, model_ops(kind), seed);
        round_close(&round);
    }
}

/* Aligned signs make the sum of |g_j| nearly the bound: 62 bits are used. */
static void test_bound_is_tight(void **state)
{
    struct round round;
    struct rng rng;
    static const double zero[DIMS_MAX];
    int16_t exponent[DIMS_MAX + 1];

    (void)state;
    rng_init(&rng, 5);
    round_init(&round, &rng, false, 3);
    assert_int_equal(
        exponents(&round, model_ops(MODEL_LOGISTIC), zero, exponent), ERR_OK);
    for (uint32_t j = 0; j < round.data.cols; j++) {
        long double true_u = 0;

        for (uint32_t i = 0; i < round.data.rows; i++)
            true_u += fabsl((long double)x_at(&round.data, i, j));
        assert_true((long double)round.bounds.u[j] >= true_u);
        assert_true((long double)round.bounds.u[j] <= true_u * 1.0001L);
        if (true_u > 0)
            assert_true(ldexpl(true_u, exponent[j]) >= 0x1p60L);
    }
    round_close(&round);
}

/* U is never below the true sum, though fp64 sums of such spread round down
 * half the time. */
static void test_sums_are_rounded_up(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct round round;
        struct rng rng;

        rng_init(&rng, seed);
        round_init(&round, &rng, false, 18);
        for (uint32_t j = 0; j < round.data.cols; j++) {
            long double true_u = 0;

            for (uint32_t i = 0; i < round.data.rows; i++)
                true_u += fabsl((long double)x_at(&round.data, i, j));
            if ((long double)round.bounds.u[j] < true_u)
                fail_msg("seed %llu: coordinate %u", (unsigned long long)seed,
                         j);
        }
        round_close(&round);
    }
}

/* Rows along w make |z| = |x||w|: the bound is met but for rounding. */
static void test_bound_holds_along_w(void **state)
{
    struct round round = {.bounds = {0}};

    (void)state;
    assert_int_equal(dataset_init(&round.data, 9, DIMS_MAX, 4), ERR_OK);
    for (uint32_t i = 0; i < 9 * DIMS_MAX; i++)
        ((float *)round.data.x)[i] = 1.1f;
    for (uint32_t j = 0; j < DIMS_MAX; j++)
        round.w[j] = -0.7;
    chunkset_fill(&round.data.present);
    assert_int_equal(bounds_init(&round.bounds, DIMS_MAX), ERR_OK);
    assert_int_equal(measure(&round.bounds, &round.data, pool_serial()),
                     ERR_OK);
    assert_proved(&round, model_ops(MODEL_LINEAR), 0);
    assert_never_refused(&round, model_ops(MODEL_LINEAR), 0);
    round_close(&round);
}

/* A pool that hands items to "threads" in a scrambled order. */
static void scrambled_run(struct pool *pool, pool_item item, void *context,
                          uint32_t items)
{
    for (uint32_t i = items; i-- > 0;)
        item(context, (i * 7 + 3) % pool->threads, i);
}

static void test_same_bits_for_any_threads(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct pool pool = {.threads = 1 + (uint32_t)(seed % 5),
                            .run = scrambled_run};
        struct bounds other;
        struct round round;
        struct rng rng;

        rng_init(&rng, seed);
        round_init(&round, &rng, seed % 2 == 0, 8);
        assert_int_equal(bounds_init(&other, round.data.stride), ERR_OK);
        assert_int_equal(measure(&other, &round.data, &pool), ERR_OK);
        assert_memory_equal(other.u, round.bounds.u,
                            other.dims * sizeof *other.u);
        assert_memory_equal(other.v, round.bounds.v,
                            other.dims * sizeof *other.v);
        assert_memory_equal(other.m, round.bounds.m,
                            other.dims * sizeof *other.m);
        bounds_close(&other);
        round_close(&round);
    }
}

static void test_weights_that_are_not_finite(void **state)
{
    static const double bad[] = {HUGE_VAL, -HUGE_VAL, 1e300};
    struct round round;
    struct rng rng;

    (void)state;
    rng_init(&rng, 6);
    round_init(&round, &rng, true, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        round.w[0] = bad[i];
        assert_int_equal(exponents(&round, model_ops(MODEL_LOGISTIC), round.w,
                                   round.exponent),
                         ERR_RANGE);
    }
    round.w[0] = nan("");
    assert_int_equal(
        exponents(&round, model_ops(MODEL_LINEAR), round.w, round.exponent),
        ERR_RANGE);
    round_close(&round);
}

/* Whatever the sizes of labels and weights, no chunk is refused, and the sum
 * of the losses is right to the grid, which is far below least squares. */
static void test_losses_keep_their_bits(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const enum model_kind kind = (enum model_kind)(seed % 4);
        struct problem problem = {.model = model_ops(kind),
                                  .isa = ISA_PORTABLE};
        struct round round;
        struct tally tally;
        long double losses = 0;
        void *scratch;
        struct rng rng;

        rng_init(&rng, seed);
        round_init(&round, &rng, kind == MODEL_LINEAR, 4);
        for (uint32_t i = 0; kind == MODEL_LINEAR && i < round.data.rows; i++)
            round.data.y[i] = ldexp(round.data.y[i], (int)(seed % 160) - 80);
        assert_int_equal(measure(&round.bounds, &round.data, pool_serial()),
                         ERR_OK);
        for (uint32_t j = 0; j < round.data.cols; j++)
            round.w[j] =
                ldexp(rng_normal_at(seed, j, 1), (int)(seed % 180) - 90);
        problem.data = &round.data;
        scratch = mem_new(problem_scratch_bytes(&problem), 1);
        assert_non_null(scratch);
        assert_int_equal(
            tally_init(&tally, round.data.stride, dataset_chunks(&round.data)),
            ERR_OK);
        assert_proved(&round, problem.model, seed);
        for (uint32_t k = 0; k < dataset_chunks(&round.data); k++) {
            const struct dense_rows rows = dataset_chunk(&round.data, k);
            double g[DIMS_MAX], loss;

            assert_int_equal(problem_add_chunk(&problem, round.w, k,
                                               round.exponent, scratch, &tally),
                             ERR_OK);
            kernel_gradient_ref(problem.model->loss, &rows, round.w, g, &loss);
            losses += (long double)loss;
        }
        assert_true(
            fabsl((long double)tally_loss_value(&tally, round.exponent) -
                  losses) <=
            0x1p-52L * losses + ldexpl(dataset_chunks(&round.data),
                                       -round.exponent[round.data.stride]));
        if (kind == MODEL_LINEAR && losses > 0)
            assert_true(ldexpl(losses, round.exponent[round.data.stride]) >=
                        0x1p64L);
        tally_close(&tally);
        mem_free(scratch);
        round_close(&round);
    }
}

static void test_labels_too_large(void **state)
{
    struct round round;
    struct rng rng;

    (void)state;
    rng_init(&rng, 7);
    round_init(&round, &rng, true, 0);
    round.data.y[0] = 1e300;
    assert_int_equal(measure(&round.bounds, &round.data, pool_serial()),
                     ERR_RANGE);
    round_close(&round);
}

static void assert_as_anew(const struct round *round,
                           const struct model_ops *model, const double *w,
                           struct bounds_memo *memo, int16_t *kept)
{
    const struct problem problem = {.data = &round->data, .model = model};
    const struct evaluation what = {.kind = EVALUATE_GRADIENT, .w = w};
    int16_t anew[DIMS_MAX + 1];
    int16_t before[DIMS_MAX + 1];
    const enum err err = exponents(round, model, w, anew);

    memcpy(before, kept, sizeof before);
    assert_int_equal(bounds_exponents_again(&round->bounds, &problem, &what,
                                            memo, NULL, kept),
                     err);
    if (err == ERR_OK)
        assert_memory_equal(kept, anew,
                            (round->data.stride + 1) * sizeof *anew);
    if (err == ERR_OK && memo->same)
        assert_memory_equal(kept, before, sizeof before);
}

/* What is kept from round to round must be what would be found anew, also
 * after weights that no bound holds for. */
static void test_exponents_kept_are_those_found(void **state)
{
    static const enum model_kind kinds[] = {MODEL_LINEAR, MODEL_LOGISTIC,
                                            MODEL_SVM};
    struct round round;
    struct rng rng;

    (void)state;
    rng_init(&rng, 11);
    for (int k = 0; k < 30; k++) {
        const struct model_ops *model = model_ops(kinds[k % 3]);
        struct bounds_memo memo = {0};
        int16_t kept[DIMS_MAX + 1] = {0};

        round_init(&round, &rng, kinds[k % 3] == MODEL_LINEAR, 3);
        for (int i = 0; i < 8; i++) {
            for (uint32_t j = 0; j < round.data.cols; j++)
                round.w[j] = ldexp(rng_unit(&rng) - .5, i == 4 ? 1000 : i);
            assert_as_anew(&round, model, round.w, &memo, kept);
        }
        round_close(&round);
    }
}

/* Rows [first, end) of `from` as a data set of their own. */
static struct dataset part_of(const struct dataset *from, uint32_t first,
                              uint32_t end)
{
    struct dataset part;

    assert_int_equal(
        dataset_init(&part, end - first, from->cols, from->chunk_rows), ERR_OK);
    memcpy(part.x, dataset_row(from, first),
           (end - first) * from->stride * sizeof(float));
    memcpy(part.y, from->y + first, (end - first) * sizeof *part.y);
    chunkset_fill(&part.present);
    return part;
}

/* Rows on two machines, cut at a chunk: the very bits of one with all. */
static void test_parts_add_up(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 77);
    for (int seed = 0; seed < SEEDS; seed++) {
        const uint32_t rows = 2 + (uint32_t)rng_below(&rng, 60);
        struct dataset all = make_data(&rng, rows, 5, 12, seed % 2 == 0);
        const uint32_t chunks = dataset_chunks(&all);
        const uint32_t cut = all.chunk_rows * (chunks / 2);
        int16_t scale[BOUNDS_SUMS * DIMS_MAX];
        int64_t sums[2][BOUNDS_SUMS * DIMS_MAX];
        struct bounds_sizes sizes;
        struct bounds one, two;
        struct dataset part[2];

        if (cut == 0) {
            dataset_close(&all);
            continue;
        }
        part[0] = part_of(&all, 0, cut);
        part[1] = part_of(&all, cut, rows);
        assert_int_equal(bounds_init(&one, all.stride), ERR_OK);
        assert_int_equal(bounds_init(&two, all.stride), ERR_OK);
        assert_int_equal(measure(&one, &all, pool_serial()), ERR_OK);
        assert_int_equal(bounds_sizes_init(&sizes, all.stride), ERR_OK);
        for (int i = 0; i < 2; i++) {
            const struct problem problem =
                problem_of(&part[i], MODEL_LINEAR, ISA_PORTABLE);

            assert_int_equal(
                bounds_sizes_measure(&sizes, &problem, pool_serial()), ERR_OK);
        }
        assert_int_equal(bounds_scales(&sizes, rows, scale), ERR_OK);
        for (int i = 0; i < 2; i++) {
            const struct problem problem =
                problem_of(&part[i], MODEL_LINEAR, ISA_PORTABLE);

            assert_int_equal(
                bounds_sums(&problem, scale, pool_serial(), sums[i]), ERR_OK);
        }
        for (uint32_t j = 0; j < BOUNDS_SUMS * all.stride; j++)
            sums[0][j] += sums[1][j];
        bounds_settle(&two, &sizes, scale, sums[0]);
        assert_memory_equal(one.u, two.u, all.stride * sizeof *one.u);
        assert_memory_equal(one.v, two.v, all.stride * sizeof *one.v);
        assert_memory_equal(one.m, two.m, all.stride * sizeof *one.m);
        assert_memory_equal(one.x_max, two.x_max, all.stride * sizeof *one.m);
        assert_true(one.label == two.label && one.norm == two.norm &&
                    one.weight == two.weight);
        bounds_sizes_close(&sizes);
        bounds_close(&one);
        bounds_close(&two);
        dataset_close(&part[0]);
        dataset_close(&part[1]);
        dataset_close(&all);
    }
}

enum { COLS = 5, WIDE_ROWS = 40, WIDE_DIMS = 8 };

/* Rows of doubles, column j of size 2^power[j], with weights that are far
 * apart. */
static struct dataset make_wide(struct rng *rng, const int *power)
{
    const struct dataset_shape shape = {.storage = STORAGE_F64,
                                        .rows = WIDE_ROWS,
                                        .cols = COLS,
                                        .chunk_rows = 7,
                                        .weighted = true};
    struct dataset data;

    assert_int_equal(dataset_init_shape(&data, &shape), ERR_OK);
    for (uint32_t i = 0; i < WIDE_ROWS; i++) {
        double *const row = dataset_row(&data, i);

        for (uint32_t j = 0; j < COLS; j++)
            row[j] = ldexp(rng_normal_at(rng_next(rng), 0, 0), power[j]);
        data.y[i] = rng_normal_at(rng_next(rng), 0, 0);
        data.weight[i] = ldexp(1, (int)rng_between(rng, -40, 0));
    }
    chunkset_fill(&data.present);
    return data;
}

/* Sums of sizes over rows, in long double: of least squares, h = 2. */
static long double true_sum(const struct dataset *data,
                            const struct evaluation *what, uint32_t j,
                            uint32_t k)
{
    long double sum = 0;

    for (uint32_t i = 0; i < data->rows; i++) {
        const double *const x = dataset_row(data, i);
        long double z =
            what->kind == EVALUATE_GRADIENT ? -(long double)data->y[i] : 0.0L;

        for (uint32_t l = 0; l < COLS; l++)
            z += (long double)x[l] *
                 (long double)(what->kind == EVALUATE_HESSVEC ? what->v
                                                              : what->w)[l];
        if (what->kind == EVALUATE_HESSIAN || what->kind == EVALUATE_DIAGONAL)
            z = (long double)x[k];
        sum += fabsl(2 * z * (long double)x[j] * (long double)data->weight[i]);
    }
    return sum;
}

static void assert_exponent(long double sum, int16_t exponent, bool sharp)
{
    if (!(ldexpl(sum, exponent) < 0x1p62L))
        fail_msg("sum %Lg exponent %d", sum, exponent);
    /* Columns that contribute alike keep their bits, whatever their scales. */
    if (sharp && exponent < 1022)
        assert_true(ldexpl(sum, exponent) > 0x1p40L);
}

static void assert_wide(const struct dataset *data, const struct bounds *bounds,
                        const struct evaluation *what, bool sharp)
{
    const struct problem problem = problem_of(data, MODEL_LINEAR, ISA_PORTABLE);
    int16_t exponent[WIDE_DIMS * (WIDE_DIMS + 1) / 2 + 1];
    uint32_t at = 0;

    assert_int_equal(bounds_exponents(bounds, &problem, what, exponent),
                     ERR_OK);
    for (uint32_t j = 0; j < COLS; j++) {
        if (what->kind != EVALUATE_HESSIAN) {
            assert_exponent(true_sum(data, what, j, j), exponent[j], sharp);
            continue;
        }
        for (uint32_t k = 0; k <= j; k++)
            assert_exponent(true_sum(data, what, j, k), exponent[at++], sharp);
    }
}

/* From columns of 2^20 beside 2^-20 to those whose squares are 0. */
static void test_columns_of_any_scale(void **state)
{
    static const int powers[][COLS] = {{20, -20, 0, 3, -3},
                                       {300, -300, 0, 100, -100},
                                       {-540, -545, -550, -560, -540},
                                       {-540, 0, -700, 20, -20}};
    static const enum evaluation_kind kinds[] = {
        EVALUATE_GRADIENT, EVALUATE_HESSVEC, EVALUATE_HESSIAN,
        EVALUATE_DIAGONAL};
    struct rng rng;

    (void)state;
    rng_init(&rng, 21);
    for (size_t p = 0; p < 4 * 20; p++) {
        const int *const power = powers[p % 4];
        struct dataset data = make_wide(&rng, power);
        double w[WIDE_DIMS] = {0}, v[WIDE_DIMS] = {0};
        struct bounds bounds;

        for (uint32_t j = 0; j < COLS; j++) {
            w[j] = ldexp(rng_unit(&rng) - .5, -power[j]);
            v[j] = ldexp(rng_unit(&rng) - .5, -power[j]);
        }
        assert_int_equal(bounds_init(&bounds, data.stride), ERR_OK);
        assert_int_equal(measure(&bounds, &data, pool_serial()), ERR_OK);
        for (uint32_t j = 0; j < COLS; j++)
            assert_true(bounds.m[j] > 0 && bounds.x_max[j] > 0);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            const struct evaluation what = {.kind = kinds[k], .w = w, .v = v};

            assert_wide(&data, &bounds, &what, p % 4 < 2);
        }
        bounds_close(&bounds);
        dataset_close(&data);
    }
}

/* What cannot be trained on is said, not taken for weights that diverged. */
static void test_what_cannot_be_is_said(void **state)
{
    struct why why = {0};
    struct problem problem;
    struct round round;
    struct rng rng;

    (void)state;
    rng_init(&rng, 7);
    round_init(&round, &rng, true, 0);
    problem = problem_of(&round.data, MODEL_LINEAR, ISA_PORTABLE);
    assert_int_equal(
        bounds_measure_all(&round.bounds, &problem, pool_serial(), &why),
        ERR_OK);
    round.data.y[0] = 1e200;
    assert_int_equal(
        bounds_measure_all(&round.bounds, &problem, pool_serial(), &why),
        ERR_RANGE);
    assert_non_null(strstr(why.text, "a label of size 1e+200"));
    round_close(&round);
}

/* Two columns of ones, in rows whose weights are so far apart. */
static enum err weigh_apart(int power, struct why *why)
{
    const struct dataset_shape shape = {.storage = STORAGE_INDEX,
                                        .rows = 2,
                                        .cols = 2,
                                        .chunk_rows = 2,
                                        .entries = 2,
                                        .weighted = true};
    struct problem problem;
    struct dataset data;
    struct bounds bounds;
    enum err err;

    assert_int_equal(dataset_init_shape(&data, &shape), ERR_OK);
    for (uint32_t i = 0; i < 2; i++) {
        data.begin[i + 1] = i + 1;
        data.column[i] = i;
        data.y[i] = i == 0 ? 1 : -1;
        data.weight[i] = ldexp(1, i == 0 ? 0 : power);
    }
    chunkset_fill(&data.present);
    problem = problem_of(&data, MODEL_LOGISTIC, ISA_PORTABLE);
    assert_int_equal(bounds_init(&bounds, data.stride), ERR_OK);
    err = bounds_measure_all(&bounds, &problem, pool_serial(), why);
    bounds_close(&bounds);
    dataset_close(&data);
    return err;
}

static void test_index_columns_share_a_scale(void **state)
{
    struct why why = {0};

    (void)state;
    assert_int_equal(weigh_apart(30, &why), ERR_OK);
    assert_int_equal(weigh_apart(40, &why), ERR_RANGE);
    assert_non_null(strstr(why.text, "--storage csr"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds_hold),
        cmocka_unit_test(test_bounds_hold_at_the_edges),
        cmocka_unit_test(test_bound_is_tight),
        cmocka_unit_test(test_sums_are_rounded_up),
        cmocka_unit_test(test_bound_holds_along_w),
        cmocka_unit_test(test_same_bits_for_any_threads),
        cmocka_unit_test(test_weights_that_are_not_finite),
        cmocka_unit_test(test_losses_keep_their_bits),
        cmocka_unit_test(test_labels_too_large),
        cmocka_unit_test(test_exponents_kept_are_those_found),
        cmocka_unit_test(test_parts_add_up),
        cmocka_unit_test(test_columns_of_any_scale),
        cmocka_unit_test(test_what_cannot_be_is_said),
        cmocka_unit_test(test_index_columns_share_a_scale),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
