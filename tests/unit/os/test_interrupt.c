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
#include <time.h>

#include "os/run/interrupt.h"
#include "os/run/wait.h"

/* GNU timeout sends one to the process and one to its group, whatever its -s
 * says. */
static void test_a_signal_and_its_echo(void **state)
{
    const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct flag flag = {0};

        interrupt_begin(&flag);
        assert_int_equal(raise(numbers[i]), 0);
        assert_int_equal(raise(numbers[i]), 0);
        assert_true(flag_raised(&flag));
        assert_int_equal(interrupt_signal(), numbers[i]);
        interrupt_end();
    }
}

/* The supervisor's signals: one and its echo are one, another one is not. */
static void test_a_waiter_and_an_echo(void **state)
{
    struct waiter waiter;
    struct why why = {0};

    (void)state;
    assert_int_equal(waiter_open(&waiter, &why), ERR_OK);
    assert_int_equal(raise(SIGINT), 0);
    assert_int_equal(waiter_wait(&waiter, -1, 0).signal, SIGINT);
    assert_int_equal(raise(SIGINT), 0);
    assert_int_equal(waiter_wait(&waiter, -1, 0).signal, 0);
    assert_int_equal(raise(SIGTERM), 0);
    assert_int_equal(waiter_wait(&waiter, -1, 0).signal, SIGTERM);
    waiter.told_at -= WAIT_ECHO_US;
    assert_int_equal(raise(SIGTERM), 0);
    assert_int_equal(waiter_wait(&waiter, -1, 0).signal, SIGTERM);
    assert_int_equal(waiter_close(&waiter), 0);
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

/* A Ctrl-C that is no echo does what it did before; so does a SIGTERM after
 * a first Ctrl-C. */
static void test_impatience(void **state)
{
    struct sigaction action = {.sa_handler = see}, before[2];
    const int numbers[] = {SIGINT, SIGTERM};
    const struct timespec later = {.tv_nsec = (WAIT_ECHO_US + MS_US) * 1000};

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(sigaction(numbers[i], &action, &before[i]), 0);
    for (int i = 0; i < 2; i++) {
        struct flag flag = {0};

        seen = 0;
        interrupt_begin(&flag);
        assert_int_equal(raise(SIGINT), 0);
        assert_int_equal(seen, 0);
        if (numbers[i] == SIGINT)
            assert_int_equal(nanosleep(&later, NULL), 0);
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
        cmocka_unit_test(test_a_signal_and_its_echo),
        cmocka_unit_test(test_a_waiter_and_an_echo),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_impatience),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
