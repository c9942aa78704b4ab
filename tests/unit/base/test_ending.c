/*
 * Endings of whole names, and of names less what they were packed with.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/ending.h"

static void test_endings(void **state)
{
    const char *packed = "rows.csv.gz";

    (void)state;
    assert_true(ending_is("rows.csv", strlen("rows.csv"), ".csv"));
    assert_true(ending_is(packed, strlen(packed), ".gz"));
    assert_false(ending_is(packed, strlen(packed), ".csv"));
    assert_true(ending_is(packed, strlen(packed) - strlen(".gz"), ".csv"));
    assert_true(ending_is(packed, strlen(packed), ""));
    assert_false(ending_is("csv", 3, ".csv"));
    assert_true(ending_is("rows.CSV", strlen("rows.CSV"), ".csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_endings)};

    return cmocka_run_group_tests_name("ending", tests, NULL, NULL);
}
