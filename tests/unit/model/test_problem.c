/*
 * The gradient that comes out of a full tally is compared with central
 * differences of the tally's own loss; the default rate with the eigenvalue
 * of a matrix that is known by construction.
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

enum { DIMS_MAX = 24 };

/* Gradient and loss over all chunks at w, through a tally. */
static double evaluate(const struct problem *problem,
                       const struct bounds *bounds, const double *w, double *g)
{
    const uint32_t chunks = dataset_chunks(problem->data);
    void *scratch = mem_new(problem_scratch_bytes(problem), 1);
    int16_t exponent[DIMS_MAX + 1];
    const struct evaluation what = {.kind = EVALUATE_GRADIENT, .w = w};
    struct tally tally;
    double loss;

    assert_non_null(scratch);
    assert_int_equal(tally_init(&tally, problem->data->stride, chunks), ERR_OK);
    assert_int_equal(bounds_exponents(bounds, problem, &what, exponent),
                     ERR_OK);
    for (uint32_t k = chunks; k-- > 0;)
        assert_int_equal(
            problem_add_chunk(problem, w, k, exponent, scratch, &tally),
            ERR_OK);
    tally_gradient(&tally, exponent, g);
    loss = tally_loss_value(&tally, exponent);
    tally_close(&tally);
    mem_free(scratch);
    return loss;
}

static void assert_differences(enum model_kind kind, uint64_t seed)
{
    struct rng rng;
    struct dataset data;
    struct bounds bounds;
    double w[DIMS_MAX] = {0};
    double g[DIMS_MAX], unused[DIMS_MAX];

    rng_init(&rng, seed);
    data = make_data(&rng, 40, 11, 0, kind == MODEL_LINEAR);
    assert_int_equal(bounds_init(&bounds, data.stride), ERR_OK);
    for (uint32_t j = 0; j < data.cols; j++)
        w[j] = rng_normal_at(seed, j, 1);
    {
        const struct problem problem = {
            .data = &data, .model = model_ops(kind), .isa = isa_best()};

        assert_int_equal(bounds_measure(&bounds, &problem, pool_serial()),
                         ERR_OK);
        (void)evaluate(&problem, &bounds, w, g);
        for (uint32_t j = 0; j < data.cols; j++) {
            const double step = 1e-5;
            const double at = w[j];
            double up, down;

            w[j] = at + step;
            up = evaluate(&problem, &bounds, w, unused);
            w[j] = at - step;
            down = evaluate(&problem, &bounds, w, unused);
            w[j] = at;
            if (fabs((up - down) / (2 * step) - g[j]) >
                2e-4 + 1e-6 * fabs(g[j]))
                fail_msg("seed %llu: coordinate %u: %g against %g",
                         (unsigned long long)seed, j, (up - down) / (2 * step),
                         g[j]);
        }
    }
    bounds_close(&bounds);
    dataset_close(&data);
}

static void test_gradient_is_a_derivative(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++)
        assert_differences((enum model_kind)(seed % 3), seed);
}

static void test_errors_pass_through(void **state)
{
    struct rng rng;
    struct dataset data;
    struct tally tally;
    double w[DIMS_MAX] = {0};
    int16_t exponent[DIMS_MAX + 1];
    void *scratch;

    (void)state;
    rng_init(&rng, 1);
    data = make_data(&rng, 20, 8, 0, false);
    {
        const struct problem problem = {.data = &data,
                                        .model = model_ops(MODEL_LOGISTIC),
                                        .isa = ISA_PORTABLE};

        scratch = mem_new(problem_scratch_bytes(&problem), 1);
        assert_non_null(scratch);
        assert_int_equal(tally_init(&tally, 8, dataset_chunks(&data)), ERR_OK);
        for (int j = 0; j < 8; j++)
            exponent[j] = 200; /* Far too fine a scale. */
        exponent[8] = 0;
        assert_int_equal(
            problem_add_chunk(&problem, w, 0, exponent, scratch, &tally),
            ERR_RANGE);
        memset(exponent, 0, sizeof exponent);
        assert_int_equal(
            problem_add_chunk(&problem, w, 0, exponent, scratch, &tally),
            ERR_OK);
        assert_int_equal(
            problem_add_chunk(&problem, w, 0, exponent, scratch, &tally),
            ERR_OVERLAP);
    }
    tally_close(&tally);
    mem_free(scratch);
    dataset_close(&data);
}

/* Column j alone in every 4th row: X'X / rows is diagonal, largest 9/4. */
static void test_default_rate_of_a_diagonal(void **state)
{
    static const float scale[4] = {1, 3, 2, 0.5f};
    struct dataset data = {0};

    (void)state;
    assert_int_equal(dataset_init(&data, 400, 4, 8), ERR_OK);
    for (uint32_t i = 0; i < 400; i++)
        ((float *)dataset_row(&data, i))[i % 4] = scale[i % 4];
    chunkset_fill(&data.present);
    for (int kind = 0; kind < 3; kind++) {
        const struct model_ops *model = model_ops((enum model_kind)kind);
        const struct problem problem = {
            .data = &data, .model = model, .isa = ISA_PORTABLE};
        const double wanted = 1 / (1.1 * (model->curvature * 2.25 + 0.02));
        double rate = 0;

        assert_int_equal(problem_default_rate(&problem, 0.01, &rate), ERR_OK);
        assert_true(fabs(rate / wanted - 1) < 5e-3);
    }
    dataset_close(&data);
}

static void test_default_rate_is_the_same_everywhere(void **state)
{
    struct rng rng;
    struct dataset data;
    double rate[3] = {0};

    (void)state;
    rng_init(&rng, 3);
    data = make_data(&rng, 500, 21, 4, false);
    for (int isa = ISA_PORTABLE; isa <= ISA_AVX512; isa++) {
        const struct problem problem = {.data = &data,
                                        .model = model_ops(MODEL_LOGISTIC),
                                        .isa = (enum isa)isa};

        if (!isa_runs((enum isa)isa)) {
            rate[isa] = rate[0];
            continue;
        }
        assert_int_equal(problem_default_rate(&problem, 1e-3, &rate[isa]),
                         ERR_OK);
    }
    assert_true(rate[0] > 0 && rate[0] == rate[1] && rate[1] == rate[2]);
    dataset_close(&data);
}

/* Weights of 16 are 16 times the curvature; weights of 0 take rows out. */
static void test_default_rate_minds_weights(void **state)
{
    const struct dataset_shape shape = {.storage = STORAGE_F32,
                                        .rows = 64,
                                        .cols = 3,
                                        .chunk_rows = 8,
                                        .weighted = true};
    struct dataset data;
    struct problem problem;
    double rate[2];
    struct rng rng;

    (void)state;
    rng_init(&rng, 9);
    assert_int_equal(dataset_init_shape(&data, &shape), ERR_OK);
    for (uint32_t i = 0; i < data.rows; i++) {
        for (uint32_t j = 0; j < data.cols; j++)
            ((float *)dataset_row(&data, i))[j] = (float)rng_unit(&rng);
    }
    chunkset_fill(&data.present);
    problem = problem_of(&data, MODEL_LINEAR, ISA_PORTABLE);
    for (int k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < data.rows; i++)
            data.weight[i] = k == 0 ? 1 : 16;
        assert_int_equal(problem_default_rate(&problem, 0, &rate[k]), ERR_OK);
    }
    assert_true(rate[0] > 0 && fabs(rate[0] / rate[1] - 16) < 1e-9);
    dataset_close(&data);
}

static void test_default_rate_of_zeros(void **state)
{
    struct dataset data = {0};
    double rate = 0;

    (void)state;
    assert_int_equal(dataset_init(&data, 4, 4, 8), ERR_OK);
    chunkset_fill(&data.present);
    {
        const struct problem problem = {.data = &data,
                                        .model = model_ops(MODEL_LINEAR),
                                        .isa = ISA_PORTABLE};

        assert_int_equal(problem_default_rate(&problem, 0, &rate), ERR_OK);
        assert_true(rate == 1);
    }
    dataset_close(&data);
}

/* The gradient of a chunk as the reference has it. */
static void add_plainly(const struct problem *problem, const double *w,
                        uint32_t chunk, const int16_t *exponent,
                        struct tally *tally)
{
    const struct dense_rows rows = dataset_chunk(problem->data, chunk);
    double *g = mem_new(rows.stride, sizeof *g);
    double loss;

    assert_non_null(g);
    kernel_gradient_ref(problem->model->loss, &rows, w, g, &loss);
    assert_int_equal(tally_add_chunk(tally, chunk, g, loss, exponent), ERR_OK);
    mem_free(g);
}

/* Long rows are summed in blocks of columns: into cleared and blank tallies,
 * with few rows and with many, the same bits; and a chunk of which the last
 * column does not fit is refused whole. */
static void assert_wide(uint32_t rows, uint32_t cols)
{
    struct rng rng;
    struct dataset data;
    struct tally tally, plain;
    double *w = mem_new(cols + 8, sizeof *w);
    int16_t *exponent = mem_new(cols + 9, sizeof *exponent);
    void *scratch;
    struct digest before, after;

    rng_init(&rng, cols);
    data = make_data(&rng, rows, cols, 0, false);
    {
        const struct problem problem = {.data = &data,
                                        .model = model_ops(MODEL_LOGISTIC),
                                        .isa = isa_best()};
        const uint32_t chunks = dataset_chunks(&data);

        scratch = mem_new(problem_scratch_bytes(&problem), 1);
        assert_true(w != NULL && exponent != NULL && scratch != NULL);
        for (uint32_t j = 0; j < data.stride; j++)
            exponent[j] = 40;
        for (uint32_t j = 0; j < cols; j++)
            w[j] = rng_normal_at(7, j, 1) * 1e-2;
        assert_int_equal(tally_init(&tally, data.stride, chunks), ERR_OK);
        assert_int_equal(tally_init(&plain, data.stride, chunks), ERR_OK);
        memset(tally.sum, 0x55, data.stride * sizeof *tally.sum);
        tally_blank(&tally);
        for (uint32_t k = 0; k < chunks; k++) {
            add_plainly(&problem, w, k, exponent, &plain);
            if (k == chunks - 1 && k > 0) {
                before = tally_digest(&tally);
                exponent[cols - 1] = 1000;
                assert_int_equal(problem_add_chunk(&problem, w, k, exponent,
                                                   scratch, &tally),
                                 ERR_RANGE);
                after = tally_digest(&tally);
                assert_true(digest_equal(&before, &after));
                exponent[cols - 1] = 40;
            }
            assert_int_equal(
                problem_add_chunk(&problem, w, k, exponent, scratch, &tally),
                ERR_OK);
        }
        before = tally_digest(&plain);
        after = tally_digest(&tally);
        assert_true(digest_equal(&before, &after));
    }
    tally_close(&tally);
    tally_close(&plain);
    dataset_close(&data);
    mem_free(w);
    mem_free(exponent);
    mem_free(scratch);
}

/* A Hessian times a vector of such rows, the same way. */
static void assert_wide_hessvec(uint32_t rows, uint32_t cols)
{
    struct rng rng;
    struct dataset data;
    struct tally tally, plain;
    double *w = mem_new(cols + 8, sizeof *w);
    double *v = mem_new(cols + 8, sizeof *v);
    double *hv = mem_new(cols + 8, sizeof *hv);
    int16_t *exponent = mem_new(cols + 9, sizeof *exponent);
    const struct evaluation what = {.kind = EVALUATE_HESSVEC, .w = w, .v = v};
    const struct problem_round round = {0};
    struct digest got, wanted;
    struct problem problem = {.model = model_ops(MODEL_LOGISTIC),
                              .isa = isa_best()};
    void *scratch;

    rng_init(&rng, cols);
    data = make_data(&rng, rows, cols, 0, false);
    problem.data = &data;
    scratch = mem_new(problem_scratch_bytes(&problem), 1);
    assert_true(w != NULL && v != NULL && hv != NULL && exponent != NULL &&
                scratch != NULL);
    assert_false(problem_has_vector(&problem, EVALUATE_HESSVEC));
    for (uint32_t j = 0; j < cols; j++) {
        w[j] = rng_normal_at(7, j, 1) * 1e-2;
        v[j] = rng_normal_at(8, j, 1);
        exponent[j] = 40;
    }
    assert_int_equal(tally_init(&tally, data.stride, dataset_chunks(&data)),
                     ERR_OK);
    assert_int_equal(tally_init(&plain, data.stride, dataset_chunks(&data)),
                     ERR_OK);
    for (uint32_t k = 0; k < dataset_chunks(&data); k++) {
        const struct dense_rows chunk = dataset_chunk(&data, k);

        kernel_hessvec_ref(problem.model->loss, &chunk, w, v, hv);
        assert_int_equal(tally_add_chunk(&plain, k, hv, 0, exponent), ERR_OK);
        assert_int_equal(
            problem_add(&problem, &round, &what, k, exponent, scratch, &tally),
            ERR_OK);
    }
    wanted = tally_digest(&plain);
    got = tally_digest(&tally);
    assert_true(digest_equal(&wanted, &got));
    tally_close(&tally);
    tally_close(&plain);
    dataset_close(&data);
    mem_free(w);
    mem_free(v);
    mem_free(hv);
    mem_free(exponent);
    mem_free(scratch);
}

static void test_long_rows(void **state)
{
    (void)state;
    assert_wide(3, 1100);
    assert_wide(2, 5000);
    assert_wide(20, 33000);
    assert_wide_hessvec(3, 1100);
    assert_wide_hessvec(20, 33000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient_is_a_derivative),
        cmocka_unit_test(test_errors_pass_through),
        cmocka_unit_test(test_default_rate_of_a_diagonal),
        cmocka_unit_test(test_default_rate_is_the_same_everywhere),
        cmocka_unit_test(test_default_rate_minds_weights),
        cmocka_unit_test(test_default_rate_of_zeros),
        cmocka_unit_test(test_long_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
