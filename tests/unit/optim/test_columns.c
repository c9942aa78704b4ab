/*
 * Columns of a matrix, multiplied by the data one after the other: what is
 * asked for, what is handed over, and a state from the middle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "optim/optim.h"

enum { ROWS = 5, COLS = 3, STRIDE = 8, COUNT = 4 };

static double b[COUNT][STRIDE];

static struct optim_options options_of(void)
{
    struct optim_options options = optim_defaults(OPTIM_COLUMNS);

    options.rows = ROWS;
    options.steps = COUNT;
    options.columns = (struct optim_columns){&b[0][0], STRIDE};
    for (int t = 0; t < COUNT; t++)
        for (int j = 0; j < COLS; j++)
            b[t][j] = 10 * t + j;
    return options;
}

/* Row i of the data is i+1, 0, 0. */
static void answer(struct optim *opt)
{
    const struct ask ask = optim_next(opt);
    double z[ROWS];

    assert_int_equal(ask.kind, ASK_EVALUATE);
    assert_int_equal(ask.what.kind, EVALUATE_SCORES);
    assert_ptr_equal(ask.what.w, b[opt->step]);
    for (int i = 0; i < ROWS; i++)
        z[i] = (i + 1) * ask.what.w[0];
    assert_true(optim_feed(opt, z, 0));
}

static void assert_done(const struct optim *opt)
{
    uint32_t count;
    const double *const all = optim_model(opt, &count);

    assert_int_equal(optim_next(opt).kind, ASK_DONE);
    assert_int_equal(optim_end(opt), OPTIM_STEPS);
    assert_int_equal(count, COUNT * ROWS);
    for (int t = 0; t < COUNT; t++)
        for (int i = 0; i < ROWS; i++)
            assert_true(all[t * ROWS + i] == (i + 1) * 10 * t);
}

static void test_each_column_once(void **state)
{
    const struct optim_options options = options_of();
    struct optim opt;

    (void)state;
    assert_int_equal(optim_dims(&options, STRIDE), ROWS);
    assert_int_equal(optim_init(&opt, &options, ROWS), ERR_OK);
    for (uint32_t t = 0; t < COUNT; t++) {
        assert_int_equal(opt.step, t);
        answer(&opt);
        /* The model of a step is what it made. */
        assert_true(optim_weights(&opt)[ROWS - 1] == ROWS * 10.0 * t);
    }
    assert_done(&opt);
    optim_close(&opt);
}

static void test_resumes_anywhere(void **state)
{
    const struct optim_options options = options_of();

    (void)state;
    for (uint32_t middle = 0; middle <= COUNT; middle++) {
        struct optim first, second;
        struct writer out;
        struct reader in;
        uint8_t *bytes;

        assert_int_equal(optim_init(&first, &options, ROWS), ERR_OK);
        assert_int_equal(optim_init(&second, &options, ROWS), ERR_OK);
        bytes = mem_new(optim_state_bytes(&first), 1);
        assert_non_null(bytes);
        while (first.step < middle)
            answer(&first);
        out = writer_on(bytes, optim_state_bytes(&first));
        optim_save(&first, &out);
        assert_true(out.ok);
        in = reader_on(bytes, out.size);
        assert_int_equal(optim_load(&second, &in), ERR_OK);
        assert_memory_equal(optim_weights(&second), optim_weights(&first),
                            ROWS * sizeof(double));
        while (second.step < COUNT)
            answer(&second);
        assert_done(&second);
        mem_free(bytes);
        optim_close(&first);
        optim_close(&second);
    }
}

/* The number of the step is an index: a damaged file must not get that far. */
static void test_a_damaged_step_is_refused(void **state)
{
    const struct optim_options options = options_of();
    struct optim opt;
    struct writer out;
    struct reader in;
    uint8_t *bytes;

    (void)state;
    assert_int_equal(optim_init(&opt, &options, ROWS), ERR_OK);
    bytes = mem_new(optim_state_bytes(&opt), 1);
    assert_non_null(bytes);
    opt.step = COUNT + 1;
    out = writer_on(bytes, optim_state_bytes(&opt));
    optim_save(&opt, &out);
    opt.step = 0;
    in = reader_on(bytes, out.size);
    assert_int_equal(optim_load(&opt, &in), ERR_FORMAT);
    mem_free(bytes);
    optim_close(&opt);
}

static void test_what_does_not_fit(void **state)
{
    struct optim_options options = options_of();
    enum optim_kind kind;
    struct optim opt;

    (void)state;
    assert_int_equal(optim_init(&opt, &options, ROWS + 1), ERR_SHAPE);
    options.steps = 0;
    assert_int_equal(optim_init(&opt, &options, ROWS), ERR_SHAPE);
    options = options_of();
    options.columns.first = NULL;
    assert_int_equal(optim_init(&opt, &options, ROWS), ERR_SHAPE);
    /* Nobody chooses it by name. */
    assert_int_equal(optim_parse("columns", &kind), ERR_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_column_once),
        cmocka_unit_test(test_resumes_anywhere),
        cmocka_unit_test(test_a_damaged_step_is_refused),
        cmocka_unit_test(test_what_does_not_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
