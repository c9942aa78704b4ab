/*
 * Numbers as people write them are read, and all else that strtod would take is
 * not.
 */
#include "math/decimal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_numbers(void **state)
{
    static const struct {
        const char *text, *rest;
        double value;
    } good[] = {{"1", "", 1},
                {"0.5,2", ",2", .5},
                {".25", "", .25},
                {"3.", "", 3},
                {"1e-3", "", 1e-3},
                {"2E2x", "x", 200},
                {"1e400", "", INFINITY},
                {"0", "", 0},
                {"5e", "e", 5}};
    static const char *const bad[] = {"",    " 1",  "-1",     "+1",
                                      "inf", "nan", "0x1p-3", "0X8",
                                      ".",   ".e3", "x",      "%"};

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const char *at = good[i].text;
        double value = -1;

        assert_true(decimal_read(&at, &value));
        assert_true(value == good[i].value);
        assert_string_equal(at, good[i].rest);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *at = bad[i];
        double value = -1;

        assert_false(decimal_read(&at, &value));
        assert_ptr_equal(at, bad[i]);
        assert_true(value == -1);
    }
}

static void test_shares(void **state)
{
    static const char *const bad[] = {"0x1p-3", " 10%", "10 %", "10%%",
                                      "%",      "",     "1,2"};
    double share = -1;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(decimal_share(bad[i], &share));
    assert_true(share == -1);
    assert_true(decimal_share("10%", &share) && share == .1);
    assert_true(decimal_share(".25", &share) && share == .25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_shares),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
