/*
 * A part's own steps through the table, against the formula of one step and
 * against themselves with other threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "eval/small.h"
#include "math/exact/tally.h"
#include "os/run/threads.h"

enum { ROWS = 40, COLS = 5, STRIDE = 8, CHUNK = 4, FIRST = 2, END = 7 };

static const double w[STRIDE] = {0.5, -0.25, 1, 0, 0.125};

static struct local plan(enum optim_kind kind, uint32_t every)
{
    return (struct local){.kind = kind,
                          .schedule = SCHEDULE_CONSTANT,
                          .rate = 0.5,
                          .decay = 1,
                          .l2 = 0.01,
                          .every = every,
                          .steps = 2 * every,
                          .seed = 3};
}

static enum err run(const struct small *small, const struct local *local,
                    uint32_t threads, const struct flag *cancel,
                    double out[STRIDE + 1])
{
    const struct computation asked = {.what = {.kind = EVALUATE_LOCAL, .w = w},
                                      .first = FIRST,
                                      .end = END,
                                      .step = 1,
                                      .vector = out};
    uint8_t room[BRIEF_MAX];
    const struct brief brief = brief_local(room, &small->subject, local);
    struct evaluator *evaluator = NULL;
    struct pool *pool;
    enum err err;

    memset(out, 0, (STRIDE + 1) * sizeof *out);
    assert_int_equal(threads_new(threads, &pool), ERR_OK);
    err = evaluator_open(&brief, &small->shelf, pool, &evaluator);
    if (err == ERR_OK)
        err = evaluator_run(evaluator, &asked, cancel);
    evaluator_close(evaluator);
    threads_free(pool);
    return err;
}

/* One step of gd: -rate (mean gradient + 2 l2 w), and the mean loss. */
static void test_one_step(void **state)
{
    const struct local local = plan(OPTIM_GD, 1);
    double expected[STRIDE + 1] = {0}, out[STRIDE + 1];
    const uint32_t rows = (END - FIRST) * CHUNK;
    struct small small;

    (void)state;
    small_open(&small, ROWS, COLS, CHUNK);
    for (uint32_t i = FIRST * CHUNK; i < END * CHUNK; i++) {
        const double y = small.data.y[i];
        double z = 0;

        for (uint32_t j = 0; j < COLS; j++)
            z += w[j] * small_x(&small, i, j);
        for (uint32_t j = 0; j < COLS; j++)
            expected[j] += -y / (1 + exp(y * z)) * small_x(&small, i, j) / rows;
        expected[STRIDE] += log1p(exp(-y * z)) / rows;
    }
    for (uint32_t j = 0; j < COLS; j++)
        expected[j] = -local.rate * (expected[j] + 2 * local.l2 * w[j]);
    assert_int_equal(run(&small, &local, 1, NULL, out), ERR_OK);
    for (uint32_t j = 0; j <= STRIDE; j++)
        assert_true(fabs(out[j] - expected[j]) < 1e-9);
    small_close(&small);
}

static void test_same_bits(void **state)
{
    const enum optim_kind kinds[] = {OPTIM_GD, OPTIM_SGD};
    double one[STRIDE + 1], more[STRIDE + 1];
    struct small small;

    (void)state;
    small_open(&small, ROWS, COLS, CHUNK);
    for (size_t k = 0; k < 2; k++) {
        const struct local local = plan(kinds[k], 3);

        assert_int_equal(run(&small, &local, 1, NULL, one), ERR_OK);
        assert_int_equal(run(&small, &local, 3, NULL, more), ERR_OK);
        assert_memory_equal(one, more, sizeof one);
        assert_true(one[0] != 0);
    }
    small_close(&small);
}

static void test_refused(void **state)
{
    struct local local = plan(OPTIM_GD, 2);
    double out[STRIDE + 1];
    struct flag flag = {0};
    struct small small;

    (void)state;
    small_open(&small, ROWS, COLS, CHUNK);
    flag_raise(&flag);
    assert_int_equal(run(&small, &local, 2, &flag, out), ERR_CANCELLED);
    local.rate = NAN;
    assert_int_equal(run(&small, &local, 1, NULL, out), ERR_SHAPE);
    local = plan(OPTIM_ADAM, 2);
    assert_int_equal(run(&small, &local, 1, NULL, out), ERR_SHAPE);
    local = plan(OPTIM_GD, 2);
    small.shelf.part = true;
    assert_int_equal(run(&small, &local, 1, NULL, out), ERR_SHAPE);
    small_close(&small);
}

/* Whatever else is asked of it is the linear evaluator's. */
static void test_other_kinds(void **state)
{
    const struct local local = plan(OPTIM_GD, 1);
    const int16_t exponent[STRIDE + 1] = {30, 30, 30, 30, 30, 30, 30, 30, 30};
    struct digest digests[2];
    struct small small;

    (void)state;
    small_open(&small, ROWS, COLS, CHUNK);
    for (int i = 0; i < 2; i++) {
        uint8_t room[BRIEF_MAX];
        const struct brief brief =
            i == 0 ? brief_local(room, &small.subject, &local)
                   : brief_linear(room, &small.subject, &sampler_whole);
        struct computation asked = {.what = {.kind = EVALUATE_GRADIENT, .w = w},
                                    .end = ROWS / CHUNK,
                                    .exponent = exponent};
        struct evaluator *evaluator;
        struct tally tally;

        assert_int_equal(tally_init(&tally, STRIDE, ROWS / CHUNK), ERR_OK);
        asked.tally = &tally;
        assert_int_equal(
            evaluator_open(&brief, &small.shelf, pool_serial(), &evaluator),
            ERR_OK);
        assert_int_equal(evaluator_begin(evaluator, &asked), ERR_OK);
        assert_int_equal(evaluator_run(evaluator, &asked, NULL), ERR_OK);
        evaluator_end(evaluator);
        digests[i] = tally_digest(&tally);
        tally_close(&tally);
        evaluator_close(evaluator);
    }
    assert_true(digest_equal(&digests[0], &digests[1]));
    small_close(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_step),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_other_kinds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
