/*
 * An assertion that never fires is worse than none, so CHECK is made to fail:
 * the handler jumps back here instead of ending the process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

#include "base/check.h"

static jmp_buf back;
static const char *failed_condition;
static int failed_line;

static void jump_back(const char *file, int line, const char *condition)
{
    assert_non_null(strstr(file, "test_check.c"));
    failed_line = line;
    failed_condition = condition;
    longjmp(back, 1);
}

static void test_fires(void **state)
{
    volatile bool passed = false;

    (void)state;
    check_set_handler(jump_back);
    if (setjmp(back) == 0) {
        CHECK(passed);
        passed = true;
    }
    check_set_handler(NULL);
    assert_false(passed);
    assert_string_equal(failed_condition, "passed");
    assert_true(failed_line > 0);
}

static void test_passes(void **state)
{
    volatile bool failed = false;

    (void)state;
    check_set_handler(jump_back);
    if (setjmp(back) == 0)
        CHECK(1 + 1 == 2);
    else
        failed = true;
    check_set_handler(NULL);
    assert_false(failed);
}

/* Precedence: !(a == b), not !a == b. */
static void test_wraps_its_argument(void **state)
{
    volatile bool fired = false;
    const int zero = 0;

    (void)state;
    check_set_handler(jump_back);
    if (setjmp(back) == 0)
        CHECK(zero & 1 || zero == 0);
    else
        fired = true;
    check_set_handler(NULL);
    assert_false(fired);
}

static int calls;

static bool count_call(void)
{
    calls++;
    return true;
}

static void test_evaluates_once(void **state)
{
    (void)state;
    calls = 0;
    CHECK(count_call());
    assert_int_equal(calls, 1);
    DCHECK(count_call());
#ifdef MUSTER_DEBUG
    assert_int_equal(calls, 2);
#else
    assert_int_equal(calls, 1);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fires),
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_wraps_its_argument),
        cmocka_unit_test(test_evaluates_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
