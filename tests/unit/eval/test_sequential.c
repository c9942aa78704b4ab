/*
 * Passes of sgd through the table, against sgd itself on rows read here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "eval/small.h"
#include "optim/sgd.h"

enum { ROWS = 30, COLS = 5, STRIDE = 8 };

static const struct passes passes = {.rate = 0.5,
                                     .l2 = 0.05,
                                     .count = 3,
                                     .seed = 9,
                                     .has_free = true,
                                     .free = COLS - 1};

static enum err run(const struct small *small, const struct flag *cancel,
                    /* NOLINTNEXTLINE(readability-non-const-parameter) */
                    double weights[STRIDE])
{
    const struct computation asked = {.what.kind = EVALUATE_LOCAL,
                                      .vector = weights};
    uint8_t room[BRIEF_MAX];
    const struct brief brief = brief_sequential(room, &small->subject, &passes);
    struct evaluator *evaluator;
    enum err err;

    assert_int_equal(
        evaluator_open(&brief, &small->shelf, pool_serial(), &evaluator),
        ERR_OK);
    err = evaluator_run(evaluator, &asked, cancel);
    evaluator_close(evaluator);
    return err;
}

static struct sgd_row row(void *context, uint32_t i)
{
    const struct small *small = context;
    const float *x = small->data.x;

    return (struct sgd_row){.value = x + (size_t)i * STRIDE,
                            .count = COLS,
                            .y = small->data.y[i],
                            .weight = 1};
}

static void test_passes(void **state)
{
    const struct sgd_options options = {.loss = {.kind = LOSS_LOGISTIC},
                                        .rate = passes.rate,
                                        .c = 1 / (2 * passes.l2),
                                        .passes = passes.count,
                                        .rows = ROWS,
                                        .dims = COLS,
                                        .shuffle = true,
                                        .seed = passes.seed,
                                        .has_free = true,
                                        .free = passes.free};
    double expected[STRIDE] = {0}, weights[STRIDE] = {0};
    struct small small;

    (void)state;
    small_open(&small, ROWS, COLS, 4);
    assert_int_equal(sgd_train(&options, row, &small, expected), ERR_OK);
    assert_int_equal(run(&small, NULL, weights), ERR_OK);
    assert_memory_equal(weights, expected, sizeof weights);
    assert_true(weights[0] != 0);
    small_close(&small);
}

static void test_cancelled(void **state)
{
    double weights[STRIDE];
    struct flag flag = {0};
    struct small small;

    (void)state;
    small_open(&small, ROWS, COLS, 4);
    flag_raise(&flag);
    assert_int_equal(run(&small, &flag, weights), ERR_CANCELLED);
    small_close(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_cancelled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
