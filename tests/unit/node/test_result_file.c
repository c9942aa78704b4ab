/*
 * How a run is said to end: that it gave up with its state saved is no
 * divergence, which series write down for good.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "node/host/result_file.h"

static struct coordinator core;

static void test_end_of_one_that_gave_up(void **state)
{
    (void)state;
    core.gave_up = ERR_RANGE;
    assert_int_equal(result_end(&core, ERR_RANGE), ERR_UNDECODABLE);
    core.gave_up = ERR_CLOSED;
    assert_int_equal(result_end(&core, ERR_CLOSED), ERR_CLOSED);
}

static void test_end_of_one_that_diverged(void **state)
{
    (void)state;
    core.gave_up = ERR_OK;
    assert_int_equal(result_end(&core, ERR_RANGE), ERR_RANGE);
    assert_int_equal(result_end(&core, ERR_OK), ERR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end_of_one_that_gave_up),
        cmocka_unit_test(test_end_of_one_that_diverged),
    };

    return cmocka_run_group_tests_name("result_file", tests, NULL, NULL);
}
