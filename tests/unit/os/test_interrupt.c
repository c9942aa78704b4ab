/*
 * Signals that ask a program to end, sent to this one.  A test that fails may
 * be ended by them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>

#include "os/run/interrupt.h"

/* GNU timeout sends one to the process and one to its group. */
static void test_a_sigterm_and_its_echo(void **state)
{
    struct flag flag = {0};

    (void)state;
    interrupt_begin(&flag);
    assert_int_equal(raise(SIGTERM), 0);
    assert_int_equal(raise(SIGTERM), 0);
    assert_true(flag_raised(&flag));
    assert_int_equal(interrupt_signal(), SIGTERM);
    interrupt_end();
}

/* What comes while the model is saved is heard, and so is its echo. */
static void test_late(void **state)
{
    struct flag flag = {0};

    (void)state;
    interrupt_begin(&flag);
    interrupt_hold();
    assert_int_equal(raise(SIGTERM), 0);
    assert_int_equal(raise(SIGTERM), 0);
    assert_false(flag_raised(&flag));
    assert_int_equal(interrupt_signal(), SIGTERM);
    interrupt_end();
}

static volatile sig_atomic_t seen;

static void see(int number)
{
    seen = number;
}

/* A second Ctrl-C does what it did before; so does a SIGTERM after it. */
static void test_impatience(void **state)
{
    struct sigaction action = {.sa_handler = see}, before[2];
    const int numbers[] = {SIGINT, SIGTERM};

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(sigaction(numbers[i], &action, &before[i]), 0);
    for (int i = 0; i < 2; i++) {
        struct flag flag = {0};

        seen = 0;
        interrupt_begin(&flag);
        assert_int_equal(raise(SIGINT), 0);
        assert_int_equal(seen, 0);
        assert_int_equal(raise(numbers[i]), 0);
        assert_int_equal(seen, numbers[i]);
        interrupt_end();
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(sigaction(numbers[i], &before[i], NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sigterm_and_its_echo),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_impatience),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
