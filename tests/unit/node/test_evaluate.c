/*
 * Rows whose bounds are known are not measured again, neither by a training
 * nor by who evaluates its model; all bits stay.
 */
#include "node/fixed/evaluate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/linear/bounds.h"
#include "node/fixed/alone.h"

enum { ROWS = 90, COLS = 5, CHUNK_ROWS = 16, STEPS = 7 };

static uint32_t looks; /* Loops over chunks so far. */

static void run_counted(struct pool *pool, pool_item item, void *context,
                        uint32_t items)
{
    (void)pool;
    looks++;
    for (uint32_t i = 0; i < items; i++)
        item(context, 0, i);
}

static struct pool counted = {.threads = 1, .run = run_counted};

static void make(struct dataset *data)
{
    assert_int_equal(dataset_init(data, ROWS, COLS, CHUNK_ROWS), ERR_OK);
    for (uint32_t i = 0; i < ROWS; i++) {
        float *const x = (float *)data->x + i * data->stride;

        data->y[i] = rng_normal_at(5, i, 0) > 0 ? 1 : -1;
        for (uint32_t j = 0; j < COLS; j++)
            x[j] = (float)(data->y[i] + rng_normal_at(3, i, j));
    }
    for (uint32_t k = 0; k < dataset_chunks(data); k++)
        chunkset_add(&data->present, k);
}

/* Both ways, with the loops that each has taken. */
struct seen {
    uint32_t training, evaluation;
    struct digest hash;
    double objective, again;
};

static struct seen see(const struct dataset *data, const struct bounds *bounds)
{
    struct optim_options optim = optim_defaults(OPTIM_AGD);
    const struct objective_options what = {.data = data,
                                           .model = MODEL_LOGISTIC,
                                           .isa = isa_best(),
                                           .optim = &optim,
                                           .bounds = bounds};
    struct problem problem = problem_of(data, MODEL_LOGISTIC, isa_best());
    struct alone_result result;
    struct seen seen;
    struct why why;

    optim.rate = 0.1;
    optim.rows = ROWS;
    optim.steps = STEPS;
    problem.bounds = bounds;
    looks = 0;
    assert_int_equal(alone_train(&what, &counted, NULL, &result, &why), ERR_OK);
    seen = (struct seen){.training = looks,
                         .hash = result.hash,
                         .objective = result.outcome.objective};
    assert_int_equal(evaluate_at(&problem, &counted, &optim, result.weights,
                                 &seen.again, NULL),
                     ERR_OK);
    seen.evaluation = looks - seen.training;
    mem_free(result.weights);
    return seen;
}

static void test_known_bounds(void **state)
{
    struct dataset data;
    struct bounds bounds;
    struct problem problem;
    struct seen plain, known;
    uint32_t measuring;

    (void)state;
    make(&data);
    problem = problem_of(&data, MODEL_LOGISTIC, isa_best());
    assert_int_equal(bounds_init(&bounds, data.stride), ERR_OK);
    looks = 0;
    assert_int_equal(bounds_measure(&bounds, &problem, &counted), ERR_OK);
    measuring = looks;
    assert_true(measuring > 0);
    plain = see(&data, NULL);
    known = see(&data, &bounds);
    assert_true(digest_equal(&plain.hash, &known.hash));
    assert_true(plain.objective == known.objective);
    assert_true(plain.again == known.again && plain.again == plain.objective);
    /* A training measures before its steps and, at its end, for them. */
    assert_int_equal(known.training + 2 * measuring, plain.training);
    assert_int_equal(known.evaluation + measuring, plain.evaluation);
    bounds_close(&bounds);
    dataset_close(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_bounds)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
