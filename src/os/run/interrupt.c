/*
 * interrupt.c - signal handlers for a program that may be asked to end: the
 * first signal raises a flag and puts the old handlers back, so that the second
 * one ends the program, or, with interrupt_begin_twice, the third.  The same
 * signal again may be an echo (WAIT_ECHO_US): of a SIGTERM, which no person
 * sends by a key, for a second.
 *
 * Reading rows looks at no flag, and may wait for a pipe without end; so what
 * ends a program at that time is a thread beside it (early).
 */
#include "os/run/interrupt.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "os/clock.h"
#include "os/run/thread.h"
#include "os/run/wait.h"

#define LOOK_MS 100

static_assert(INTERRUPT_INT == SIGINT, "one number for it");

static const int asking[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};

#define ASKING (sizeof asking / sizeof *asking)

static struct sigaction before[ASKING];
static struct flag *raised, *hurried; /* NULL: the second does what it did. */
static volatile sig_atomic_t came;
static time_us came_at; /* Written by handlers, or while they are blocked. */

static struct {
    struct interrupt_early what;
    pthread_t thread;
    bool begun;
    int bell;           /* Rung by the handler, and to end the thread. */
    atomic_int came;    /* The signal; 0 = none. */
    struct flag closed; /* The thread is to end. */
} early = {.bell = -1};

/* The next one does what it did before. */
static void give_back(void)
{
    for (size_t i = 0; i < ASKING; i++)
        (void)sigaction(asking[i], &before[i], NULL);
}

static void on_second(int number)
{
    give_back();
    if (hurried != NULL)
        flag_raise(hurried);
    else
        (void)raise(number);
}

static void on_echo(int number)
{
    if (clock_now_us() - came_at >=
        (number == SIGTERM ? SECOND_US : WAIT_ECHO_US))
        on_second(number);
}

/* This signal is an echo for a while; each of the others does what `others`
 * says, or, if that is NULL, what it did before. */
static void give_back_but(int number, const struct sigaction *others)
{
    struct sigaction echo = {.sa_handler = on_echo, .sa_flags = SA_RESTART};

    (void)sigemptyset(&echo.sa_mask);
    for (size_t i = 0; i < ASKING; i++)
        if (asking[i] == number)
            (void)sigaction(number, &echo, NULL);
        else if (before[i].sa_handler != SIG_IGN)
            (void)sigaction(asking[i], others == NULL ? &before[i] : others,
                            NULL);
}

static void give_back_soon(int number)
{
    struct sigaction second = {.sa_handler = on_second, .sa_flags = SA_RESTART};

    came = number;
    came_at = clock_now_us();
    (void)sigemptyset(&second.sa_mask);
    give_back_but(number, &second);
}

static void take(const struct sigaction *action)
{
    for (size_t i = 0; i < ASKING; i++)
        if (before[i].sa_handler != SIG_IGN)
            (void)sigaction(asking[i], action, NULL);
}

static void on_signal(int number)
{
    give_back_soon(number);
    flag_raise(raised);
}

static void on_early(int number)
{
    const int error = errno;

    give_back_soon(number);
    atomic_store(&early.came, number);
    wait_give(early.bell);
    errno = error;
}

static void *early_main(void *unused)
{
    struct pollfd rung = {.fd = early.bell, .events = POLLIN};

    (void)unused;
    for (;;) {
        const int number = atomic_load(&early.came);

        if (number != 0 ||
            (early.what.over != NULL && early.what.over(early.what.context)))
            early.what.end(early.what.context, number);
        if (flag_raised(&early.closed))
            return NULL;
        (void)poll(&rung, 1, LOOK_MS);
    }
}

/* What signals do now, as far as it is not ours. */
static void remember(void)
{
    for (size_t i = 0; i < ASKING; i++) {
        struct sigaction now;

        (void)sigaction(asking[i], NULL, &now);
        /* Ours, of the last time. */
        if (now.sa_handler != on_echo && now.sa_handler != on_second &&
            now.sa_handler != on_early)
            before[i] = now;
    }
}

/* Those of this thread: the only one that takes them, os/run/thread.h. */
static void mask(int how)
{
    sigset_t set;

    (void)sigemptyset(&set);
    for (size_t i = 0; i < ASKING; i++)
        (void)sigaddset(&set, asking[i]);
    (void)pthread_sigmask(how, &set, NULL);
}

void interrupt_block(void)
{
    mask(SIG_BLOCK);
}

void interrupt_unblock(void)
{
    mask(SIG_UNBLOCK);
}

void interrupt_begin_early(const struct interrupt_early *what)
{
    struct sigaction action = {.sa_handler = on_early, .sa_flags = SA_RESTART};

    if (wait_passes(&early.bell, NULL) != ERR_OK)
        return;
    early.what = *what;
    atomic_store(&early.came, 0);
    flag_lower(&early.closed);
    early.begun = thread_masked(&early.thread, early_main, NULL) == 0;
    if (!early.begun) {
        wait_close(&early.bell);
        return;
    }
    came = 0;
    hurried = NULL;
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < ASKING; i++)
        (void)sigaddset(&action.sa_mask, asking[i]);
    remember();
    take(&action);
}

/* If a signal came before, this does not return. */
static void close_early(void)
{
    if (!early.begun)
        return;
    early.begun = false;
    flag_raise(&early.closed);
    wait_give(early.bell);
    pthread_join(early.thread, NULL);
    if (atomic_load(&early.came) != 0) /* The thread was gone by then. */
        early.what.end(early.what.context, atomic_load(&early.came));
    wait_close(&early.bell);
}

void interrupt_end_early(void)
{
    if (early.begun)
        give_back();
    close_early();
}

void interrupt_begin(struct flag *flag)
{
    interrupt_begin_twice(flag, NULL);
}

void interrupt_begin_twice(struct flag *flag, struct flag *hurry)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    came = 0;
    raised = flag;
    hurried = hurry;
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < ASKING; i++)
        (void)sigaddset(&action.sa_mask, asking[i]);
    remember();
    take(&action);
    close_early(); /* Only now: no signal comes in between. */
}

/* To save may be to wait for who reads: the next one ends that. */
static void on_late_signal(int number)
{
    give_back_soon(number);
}

void interrupt_hold(void)
{
    struct sigaction action = {.sa_handler = on_late_signal,
                               .sa_flags = SA_RESTART};

    (void)sigemptyset(&action.sa_mask);
    take(&action);
}

void interrupt_heard(int number)
{
    sigset_t all, old;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &old);
    if (came == 0) {
        came = number;
        came_at = clock_now_us();
    }
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* What is left to do, such as to print, is not to be ended by an echo. */
void interrupt_end(void)
{
    hurried = NULL;
    give_back_but((int)came, NULL);
}

int interrupt_signal(void)
{
    return (int)came;
}
