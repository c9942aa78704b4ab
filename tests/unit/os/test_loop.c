/*
 * Timers, tasks, pipes and signals on one loop; children and the supervisor's
 * wait beside it.
 */
#define _GNU_SOURCE
#include "os/run/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/flag.h"
#include "base/mem.h"
#include "os/clock.h"
#include "os/random.h"
#include "os/run/process.h"
#include "os/run/threads.h"
#include "os/run/wait.h"

struct fixture {
    struct loop *loop;
    struct timer *timer;
    struct task *task;
    time_us due_at, came_at;
    uint32_t worked, done, alerts;
    struct flag go;
};

static void on_due(void *context)
{
    struct fixture *f = context;

    f->came_at = clock_now_us();
    loop_stop(f->loop);
}

static void test_timer_is_not_early(void **state)
{
    struct fixture f = {0};

    (void)state;
    assert_int_equal(loop_new(&f.loop), ERR_OK);
    assert_int_equal(timer_new(f.loop, on_due, &f, &f.timer), ERR_OK);
    for (int i = 0; i < 20; i++) {
        f.due_at = clock_now_us() + 1 + i * 300;
        timer_at(f.timer, f.due_at + SECOND_US);
        timer_at(f.timer, f.due_at); /* Replaces the one before. */
        loop_run(f.loop);
        assert_true(f.came_at >= f.due_at);
    }
    timer_at(f.timer, 0); /* Past: soon. */
    loop_run(f.loop);
    timer_at(f.timer, clock_now_us() + SECOND_US);
    timer_at(f.timer, TIME_NEVER);
    timer_free(f.timer);
    loop_free(f.loop);
    loop_free(NULL);
}

static void work(void *context)
{
    struct fixture *f = context;

    f->worked++;
}

static void done(void *context)
{
    struct fixture *f = context;

    assert_false(task_busy(f->task));
    f->done++;
    assert_int_equal(f->worked, f->done);
    if (f->done < 500)
        task_start(f->task);
    else
        loop_stop(f->loop);
}

static void test_task(void **state)
{
    struct fixture f = {0};

    (void)state;
    assert_int_equal(loop_new(&f.loop), ERR_OK);
    assert_int_equal(task_new(f.loop, work, done, &f, &f.task), ERR_OK);
    task_start(f.task);
    assert_true(task_busy(f.task));
    loop_run(f.loop);
    assert_int_equal(f.done, 500);
    task_start(f.task); /* Freed while it works. */
    task_free(f.task);
    loop_free(f.loop);
}

static void on_alert(void *context)
{
    struct fixture *f = context;

    if (++f->alerts == 2)
        loop_stop(f->loop);
    else
        (void)kill(getpid(), SIGUSR1);
}

static void test_alerts(void **state)
{
    struct fixture f = {0};
    struct alerts *alerts;

    (void)state;
    assert_int_equal(loop_new(&f.loop), ERR_OK);
    assert_int_equal(alerts_new(f.loop, true, on_alert, &f, &alerts), ERR_OK);
    (void)kill(getpid(), SIGTERM);
    loop_run(f.loop);
    assert_int_equal(f.alerts, 2);
    alerts_free(alerts);
    loop_free(f.loop);
}

/* Bytes sent through an outlet come out of the pipe in order and whole. */
static void test_outlet(void **state)
{
    struct fixture f = {0};
    struct outlet *outlet;
    uint8_t data[1000], got[1000];
    uint64_t sent = 0, received = 0;
    bool ended = false;
    int reader, writer;

    (void)state;
    assert_int_equal(loop_new(&f.loop), ERR_OK);
    assert_int_equal(timer_new(f.loop, on_due, &f, &f.timer), ERR_OK);
    assert_int_equal(wait_pipe(&reader, &writer, NULL), ERR_OK);
    assert_int_equal(outlet_new(f.loop, writer, &outlet), ERR_OK);
    for (int i = 0; i < 3000; i++) { /* More than a pipe holds. */
        memset(data, i, sizeof data);
        assert_true(outlet_send(outlet, data, sizeof data));
        sent += sizeof data;
    }
    assert_true(outlet_queued(outlet) > 0);
    while (received < sent) {
        const size_t size = wait_read(reader, got, sizeof got, &ended);

        assert_false(ended);
        for (size_t i = 0; i < size; i++, received++)
            assert_int_equal(got[i], (uint8_t)(received / sizeof data));
        if (size == 0) {
            timer_at(f.timer, clock_now_us());
            loop_run(f.loop);
        }
    }
    wait_close(&reader); /* The reader is gone: no signal, only false. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)outlet_send(outlet, data, sizeof data);
    timer_at(f.timer, clock_now_us());
    loop_run(f.loop);
    assert_false(outlet_send(outlet, data, sizeof data));
    outlet_free(outlet);
    timer_free(f.timer);
    loop_free(f.loop);
}

struct tap {
    int reader;
    uint64_t received;
};

static void *drink(void *context)
{
    struct tap *tap = context;
    uint8_t got[1000];
    ssize_t size;

    while ((size = read(tap->reader, got, sizeof got)) != 0)
        tap->received += size > 0 ? (uint64_t)size : 0;
    return NULL;
}

/* No loop runs, and more is sent than a pipe holds. */
static void test_outlet_is_drained(void **state)
{
    struct fixture f = {0};
    struct outlet *outlet;
    struct tap tap = {0};
    uint8_t data[1000] = {0};
    pthread_t thread;
    int writer;

    (void)state;
    assert_int_equal(loop_new(&f.loop), ERR_OK);
    assert_int_equal(wait_pipe(&tap.reader, &writer, NULL), ERR_OK);
    assert_int_equal(fcntl(tap.reader, F_SETFL, 0), 0); /* It may block. */
    assert_int_equal(outlet_new(f.loop, writer, &outlet), ERR_OK);
    for (int i = 0; i < 3000; i++)
        assert_true(outlet_send(outlet, data, sizeof data));
    assert_true(outlet_queued(outlet) > 0);
    assert_int_equal(pthread_create(&thread, NULL, drink, &tap), 0);
    assert_true(outlet_drain(outlet));
    assert_int_equal(outlet_queued(outlet), 0);
    outlet_free(outlet); /* Ends the other side. */
    loop_free(f.loop);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(tap.received, 3000 * sizeof data);
    wait_close(&tap.reader);
}

/* A reader that is gone is not waited for. */
static void test_outlet_of_nobody(void **state)
{
    struct fixture f = {0};
    struct outlet *outlet;
    uint8_t data[1000] = {0};
    int reader, writer;

    (void)state;
    (void)signal(SIGPIPE, SIG_IGN);
    assert_int_equal(loop_new(&f.loop), ERR_OK);
    assert_int_equal(wait_pipe(&reader, &writer, NULL), ERR_OK);
    assert_int_equal(outlet_new(f.loop, writer, &outlet), ERR_OK);
    for (int i = 0; i < 3000; i++)
        assert_true(outlet_send(outlet, data, sizeof data));
    wait_close(&reader);
    assert_false(outlet_drain(outlet));
    assert_int_equal(outlet_queued(outlet), 0);
    outlet_free(outlet);
    loop_free(f.loop);
}

static int answer(void *context)
{
    return *(const int *)context;
}

static int wait_for_ever(void *context)
{
    (void)context;
    while (getppid() != 0)
        (void)pause();
    return 0;
}

struct broken {
    struct loop *loop;
    int fds[2];
    int written;
    int error;
};

static void write_to_nobody(void *context)
{
    struct broken *b = context;

    b->written = (int)write(b->fds[1], "x", 1);
    b->error = errno;
    loop_stop(b->loop);
}

/* A peer that is gone does not take the process with it, nor does the signal
 * come later, when the loop has ended. */
static void test_nobody_reads(void **state)
{
    struct broken b = {0};
    struct timer *timer;
    sigset_t mask;

    (void)state;
    (void)signal(SIGPIPE, SIG_DFL);
    assert_int_equal(pipe(b.fds), 0);
    (void)close(b.fds[0]);
    assert_int_equal(loop_new(&b.loop), ERR_OK);
    assert_int_equal(timer_new(b.loop, write_to_nobody, &b, &timer), ERR_OK);
    timer_at(timer, 0);
    loop_run(b.loop);
    assert_int_equal(b.written, -1);
    assert_int_equal(b.error, EPIPE);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
    assert_false(sigismember(&mask, SIGPIPE));
    timer_free(timer);
    loop_free(b.loop);
    (void)close(b.fds[1]);
}

static void test_children(void **state)
{
    struct waiter waiter;
    struct wake wake = {0};
    struct process_end end = {0};
    int code = 42, pid;
    struct process_start start = {
        .title = "t", .main = answer, .context = &code};

    (void)state;
    assert_int_equal(waiter_open(&waiter, NULL), ERR_OK);
    assert_int_equal(process_fork(&start, &pid, NULL), ERR_OK);
    while (!process_ended(pid, &end))
        wake = waiter_wait(&waiter, -1, clock_now_us() + 10 * SECOND_US);
    assert_true(wake.child || end.code == 42);
    assert_int_equal(end.signal, 0);
    assert_int_equal(end.code, 42);

    start.main = wait_for_ever;
    assert_int_equal(process_fork(&start, &pid, NULL), ERR_OK);
    assert_false(process_ended(pid, &end));
    process_kill(pid);
    while (!process_ended(pid, &end))
        (void)waiter_wait(&waiter, -1, clock_now_us() + 10 * SECOND_US);
    assert_int_equal(end.signal, SIGKILL);

    (void)kill(getpid(), SIGTERM);
    wake = waiter_wait(&waiter, -1, clock_now_us() + 10 * SECOND_US);
    assert_int_equal(wake.signal, SIGTERM);
    waiter_close(&waiter);
    process_kill(0); /* Must not be our whole group. */
}

static int pin_and_count(void *context)
{
    const uint32_t *const index = context;

    return process_pin(*index) ? (int)threads_available() : 100;
}

static int ended_with(process_main main, uint32_t index)
{
    struct process_start start = {
        .title = "t", .main = main, .context = &index};
    struct process_end end = {0};
    struct waiter waiter;
    int pid;

    assert_int_equal(waiter_open(&waiter, NULL), ERR_OK);
    assert_int_equal(process_fork(&start, &pid, NULL), ERR_OK);
    while (!process_ended(pid, &end))
        (void)waiter_wait(&waiter, -1, clock_now_us() + 10 * SECOND_US);
    waiter_close(&waiter);
    return end.code;
}

static void test_pin(void **state)
{
    (void)state;
    assert_int_equal(ended_with(pin_and_count, 0), 1);
    assert_int_equal(ended_with(pin_and_count, threads_available() - 1), 1);
    assert_int_equal(ended_with(pin_and_count, threads_available()), 100);
}

static void test_random(void **state)
{
    (void)state;
    assert_true(random_u64() != random_u64());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timer_is_not_early),
        cmocka_unit_test(test_task),
        cmocka_unit_test(test_alerts),
        cmocka_unit_test(test_outlet_is_drained),
        cmocka_unit_test(test_outlet_of_nobody),
        cmocka_unit_test(test_outlet),
        cmocka_unit_test(test_nobody_reads),
        cmocka_unit_test(test_children),
        cmocka_unit_test(test_pin),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
