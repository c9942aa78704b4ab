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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

/* --- before there is anything to save ------------------------------------- */

#define OVER 100 /* What 0 is told as. */

static void end_it(void *context, int number)
{
    (void)context;
    _exit(number == 0 ? OVER : number);
}

static bool is_over(void *context)
{
    return flag_raised(context);
}

static void wait_for_ever(void)
{
    for (;;)
        (void)pause();
}

/* How a process of its own ends. */
static int ends(void (*child)(void))
{
    const pid_t pid = fork();
    int status = -1;

    if (pid == 0) {
        child();
        _exit(OVER + 1); /* It was not to return. */
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static struct flag asked;

static void begin_early(void)
{
    const struct interrupt_early early = {
        .over = is_over, .end = end_it, .context = &asked};

    interrupt_begin_early(&early);
}

/* The program waits, as for a pipe, and is not asked. */
static void raises_early(void)
{
    begin_early();
    (void)raise(SIGTERM);
    (void)raise(SIGTERM);
    wait_for_ever();
}

static void is_told_early(void)
{
    begin_early();
    flag_raise(&asked);
    wait_for_ever();
}

/* What came before is not lost when rows are read, or could not be. */
static void raises_and_goes_on(void)
{
    struct flag flag = {0};

    begin_early();
    (void)raise(SIGINT);
    interrupt_begin(&flag);
}

static void raises_and_gives_up(void)
{
    begin_early();
    (void)raise(SIGHUP);
    interrupt_end_early();
}

static void test_early(void **state)
{
    (void)state;
    assert_int_equal(ends(raises_early), SIGTERM);
    assert_int_equal(ends(is_told_early), OVER);
    assert_int_equal(ends(raises_and_goes_on), SIGINT);
    assert_int_equal(ends(raises_and_gives_up), SIGHUP);
}

/* Once it is over signals do what they did, or raise the flag of the run. */
static void test_early_is_over(void **state)
{
    struct sigaction action = {.sa_handler = see}, before;
    struct flag flag = {0};

    (void)state;
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    seen = 0;
    begin_early();
    interrupt_end_early();
    assert_int_equal(raise(SIGUSR1), 0);
    assert_int_equal(seen, SIGUSR1);
    begin_early();
    interrupt_begin(&flag);
    seen = 0;
    assert_int_equal(raise(SIGUSR1), 0);
    assert_true(flag_raised(&flag));
    assert_int_equal(seen, 0);
    interrupt_end();
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_signal_and_its_echo),
        cmocka_unit_test(test_a_waiter_and_an_echo),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_impatience),
        cmocka_unit_test(test_early),
        cmocka_unit_test(test_early_is_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
