/*
 * The factor on the merged sum, for each estimate; by value, since there are
 * three.
 */
#include "code/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "code/code_fixture.h"

static double factor(const char *name, uint64_t covered, uint64_t rows)
{
    struct code code = code_of((struct shape){name, 4, 1, 2, 8});
    const double value = code_rescale(&code, covered, rows);

    code_close(&code);
    return value;
}

static void test_factors(void **state)
{
    (void)state;
    assert_true(factor("uncoded", 100, 100) == 1);
    assert_true(factor("cyclic", 0, 100) == 1);
    assert_true(factor("agc", 50, 100) == 1); /* No rescale: too short. */
    assert_true(factor("ignore", 75, 100) == 100.0 / 75.0);
    assert_true(factor("ignore", 100, 100) == 1);
    assert_true(factor("ignore", 0, 100) == 1); /* Zero stays zero. */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_factors)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
