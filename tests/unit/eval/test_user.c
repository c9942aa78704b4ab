/*
 * A user's function through the table: its sums with their sizes, and each way
 * in which a chunk is not answered.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/mem.h"
#include "eval/briefs.h"
#include "eval/registry.h"
#include "math/exact/follow.h"
#include "math/exact/tally.h"
#include "os/run/threads.h"

enum { DIMS = 3, CHUNKS = 9, BAD = 4 };

/* What the function says of chunk BAD; 0: what it says of all. */
static double bad;
static int stop;

static int gradient(void *context, const double *w, uint32_t chunk, double *g,
                    double *loss)
{
    (void)context;
    for (uint32_t j = 0; j < DIMS; j++)
        g[j] += (chunk + 1) * w[j];
    if (chunk == BAD && bad != 0)
        g[1] = bad;
    *loss += chunk;
    return chunk == BAD ? stop : 0;
}

static int hessvec(void *context, const double *w, const double *v,
                   uint32_t chunk, double *product)
{
    (void)context;
    (void)w;
    for (uint32_t j = 0; j < DIMS; j++)
        product[j] += (chunk + 1) * v[j];
    return 0;
}

static struct user_function function(void)
{
    return (struct user_function){.gradient = gradient,
                                  .hessvec = hessvec,
                                  .dims = DIMS,
                                  .chunks = CHUNKS,
                                  .rows = CHUNKS};
}

static enum err run(const struct user_function *user, enum evaluation_kind kind,
                    uint32_t threads, const struct flag *cancel, double *sums)
{
    static const double w[] = {0.5, -2, 1}, v[] = {1, 0.25, -1};
    const struct shelf shelf = {.user = user};
    const uint32_t dims = follow_dims(DIMS);
    int16_t *exponent = mem_new((size_t)dims + 1, sizeof *exponent);
    uint8_t room[BRIEF_MAX];
    const struct brief brief = brief_user(room, user);
    struct computation asked = {.what = {.kind = kind, .w = w, .v = v},
                                .end = CHUNKS,
                                .exponent = exponent};
    struct evaluator *evaluator;
    struct tally tally;
    struct pool *pool;
    enum err err;

    assert_non_null(exponent);
    for (uint32_t j = 0; j <= dims; j++)
        exponent[j] = 20;
    assert_int_equal(threads_new(threads, &pool), ERR_OK);
    assert_int_equal(tally_init(&tally, dims, CHUNKS), ERR_OK);
    asked.tally = &tally;
    assert_int_equal(evaluator_open(&brief, &shelf, pool, &evaluator), ERR_OK);
    assert_int_equal(evaluator->dims, dims);
    assert_false(evaluator->ops->anywhere);
    err = evaluator_run(evaluator, &asked, cancel);
    if (err == ERR_OK)
        (void)tally_gradient(&tally, exponent, sums);
    evaluator_close(evaluator);
    tally_close(&tally);
    threads_free(pool);
    mem_free(exponent);
    return err;
}

static void test_sums(void **state)
{
    const struct user_function user = function();
    double *sums = mem_new(follow_dims(DIMS), sizeof *sums);

    (void)state;
    assert_non_null(sums);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        assert_int_equal(run(&user, EVALUATE_GRADIENT, threads, NULL, sums),
                         ERR_OK);
        assert_true(sums[0] == 22.5 && sums[1] == -90 && sums[2] == 45);
        assert_int_equal(run(&user, EVALUATE_HESSVEC, threads, NULL, sums),
                         ERR_OK);
        assert_true(sums[0] == 45 && sums[1] == 11.25 && sums[2] == -45);
    }
    mem_free(sums);
}

static void test_not_answered(void **state)
{
    const struct flag up = {1};
    struct user_function user = function();

    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        bad = 0x1p50;
        assert_int_equal(run(&user, EVALUATE_GRADIENT, threads, NULL, NULL),
                         ERR_TOOBIG);
        bad = NAN;
        assert_int_equal(run(&user, EVALUATE_GRADIENT, threads, NULL, NULL),
                         ERR_RANGE);
        bad = 0;
        stop = 1;
        assert_int_equal(run(&user, EVALUATE_GRADIENT, threads, NULL, NULL),
                         ERR_CLOSED);
        stop = 0;
        assert_int_equal(run(&user, EVALUATE_GRADIENT, threads, &up, NULL),
                         ERR_CANCELLED);
    }
    user.hessvec = NULL;
    assert_int_equal(run(&user, EVALUATE_HESSVEC, 1, NULL, NULL), ERR_SHAPE);
    assert_int_equal(run(&user, EVALUATE_DIAGONAL, 1, NULL, NULL), ERR_SHAPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_not_answered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
