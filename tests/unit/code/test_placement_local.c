/*
 * Code `local`: every slot its own part, whoever answers counts alike, and
 * what is missing is counted as missing, under every mask; an average after
 * every step is a plain sum and keeps its bits.
 */
#include "code/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "code/code_fixture.h"

static void check_mask(const struct code *code, uint32_t mask)
{
    uint32_t chunks;
    const double residual = decode_plainly(code, mask, &chunks);

    assert_true((residual == 0) == (chunks == code->chunks));
}

static void test_every_mask(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 8; n++) {
        for (uint32_t chunks = 1; chunks <= 2 * n + 1; chunks++) {
            struct code code =
                code_of((struct shape){"local", n, 0, 0, chunks});

            assert_int_equal(code.exactness, EXACT_APPROX);
            assert_int_equal(code.carrier, CARRIER_F64);
            assert_int_equal(code.folds, 0); /* Kept apart, to be in order. */
            for (uint32_t mask = 0; mask < 1u << n; mask++) {
                check_mask(&code, mask);
                /* Waits for all, so that nothing goes missing unasked. */
                if (chunks >= n)
                    assert_true(enough_with(&code, mask) ==
                                (mask == (1u << n) - 1));
            }
            code_close(&code);
        }
    }
}

static void test_may_be_large(void **state)
{
    struct code code = code_of((struct shape){"local", 4000, 0, 0, 5000});

    (void)state;
    assert_int_equal(code.busy_count, 4000);
    code_close(&code);
}

static struct code_spec every_step(const char *stop)
{
    const struct preset_options options = {
        .name = "local", .workers = 5, .stop = stop, .every = 1};
    struct code_spec spec = {0};
    struct why why = {0};

    assert_int_equal(preset_spec(&options, &spec, &why), ERR_OK);
    return spec;
}

static void test_an_average_of_every_step_is_a_tally(void **state)
{
    struct code_spec spec = every_step(NULL);
    struct code code = {0};
    struct why why = {0};

    (void)state;
    assert_string_equal(spec.name, "local");
    assert_true(code_spec_bitwise(&spec));
    assert_false(code_spec_estimates(&spec));
    assert_int_equal(code_build(&code, &spec, 5, 9, &why), ERR_OK);
    assert_int_equal(code.exactness, EXACT_BITWISE);
    code_close(&code);
    spec = every_step("first:3");
    assert_int_equal(code_build(&code, &spec, 5, 9, &why), ERR_OK);
    assert_int_equal(code.exactness, EXACT_APPROX);
    code_close(&code);
}

static void refuses(const char *stop, const char *estimate)
{
    const struct preset_options options = {
        .name = "local", .workers = 4, .stop = stop, .estimate = estimate};
    struct code_spec spec;
    struct code code = {0};
    struct why why = {0};

    assert_int_equal(preset_spec(&options, &spec, &why), ERR_OK);
    assert_int_equal(code_build(&code, &spec, 4, 8, &why), ERR_SHAPE);
    assert_non_null(strstr(why.text, "code local goes only with"));
}

static void test_axes_that_do_not_go_with_it(void **state)
{
    (void)state;
    refuses("cover", NULL);
    refuses("collect:2", NULL);
    refuses(NULL, "reference");
    refuses(NULL, "unbiased");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_mask),
        cmocka_unit_test(test_may_be_large),
        cmocka_unit_test(test_an_average_of_every_step_is_a_tally),
        cmocka_unit_test(test_axes_that_do_not_go_with_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
