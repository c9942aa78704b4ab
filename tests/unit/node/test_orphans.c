/*
 * However a run ends, nothing of it is left.  The run is a child of this test,
 * which makes itself the reaper of all its descendants and so sees each of
 * them end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "node/runs.h"
#include "os/clock.h"
#include "os/run/process.h"

#define LIMIT_S   20u
#define STOPPED   75
#define TRIES_MAX 8

struct run {
    struct runs *runs;
    int ready; /* A byte is written here when the first step is committed. */
    bool told;
};

static void tell(void *context, const struct trace *trace)
{
    struct run *run = context;

    if (trace == NULL || trace->kind != TRACE_COMMIT || run->told)
        return;
    run->told = true;
    (void)!write(run->ready, "x", 1);
}

static int run_main(void *context)
{
    struct run *run = context;
    struct train_result result;
    struct why why = {0};

    run->runs->options.watch = tell;
    run->runs->options.watch_context = run;
    if (train_run(&run->runs->options, &result, &why) != ERR_OK)
        return 1;
    train_result_close(&result);
    return result.finished ? 0 : STOPPED;
}

/* Start a run that would go on for a long time; return once it steps. */
static int start_run(struct runs *runs, const char *delay)
{
    struct run run = {.runs = runs};
    struct why why = {0};
    int fds[2], pid;
    char byte;
    struct process_start start = {
        .title = "run", .drop_count = 1, .main = run_main, .context = &run};

    runs_open(runs, 2);
    runs->options.optim.steps = 1000000;
    assert_int_equal(delay_parse(delay, 1, &runs->options.delay, &why), ERR_OK);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    assert_int_equal(pipe(fds), 0);
    run.ready = fds[1];
    start.drop = &fds[0];
    assert_int_equal(process_fork(&start, &pid, NULL), ERR_OK);
    close(fds[1]);
    assert_int_equal(read(fds[0], &byte, 1), 1);
    close(fds[0]);
    return pid;
}

/* Reap every descendant; SIGALRM ends the test if one does not go. */
static int reap_all(int pid)
{
    int status, last = -1;
    pid_t got;

    (void)alarm(LIMIT_S);
    while ((got = waitpid(-1, &status, 0)) > 0) {
        if (got == pid)
            last = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    assert_int_equal(errno, ECHILD);
    (void)alarm(0);
    return last;
}

static void test_supervisor_killed(void **state)
{
    struct runs runs;
    const int pid = start_run(&runs, "exp:0.001");

    (void)state;
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(reap_all(pid), -SIGKILL);
    runs_close(&runs);
}

static void test_asked_to_stop(void **state)
{
    struct runs runs;
    const int pid = start_run(&runs, "exp:0.001");

    (void)state;
    assert_int_equal(kill(pid, SIGUSR1), 0);
    assert_int_equal(reap_all(pid), STOPPED);
    runs_close(&runs);
}

/* The step at hand takes minutes; the second signal does not wait for it. */
static void test_asked_twice(void **state)
{
    struct runs runs;
    const int pid = start_run(&runs, "exp:0.001");
    const time_us began = clock_now_us();

    (void)state;
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_int_equal(kill(pid, SIGINT), 0);
    assert_int_equal(reap_all(pid), STOPPED);
    assert_true(clock_now_us() - began < LIMIT_S * SECOND_US);
    runs_close(&runs);
}

static void test_a_run_goes_on_after_its_supervisor_was_killed(void **state)
{
    struct train_result result;
    struct runs runs;
    const int pid = start_run(&runs, "exp:0.001");
    struct why why = {0};
    uint32_t steps = 0;

    (void)state;
    assert_int_equal(kill(pid, SIGKILL), 0);
    (void)reap_all(pid);
    runs.options.resume = true;
    runs.options.max_time_us = 300 * MS_US;
    /* A busy machine may not come to a step in that time: longer, then. */
    for (int tries = 0; tries < TRIES_MAX && steps == 0; tries++) {
        if (train_run(&runs.options, &result, &why) != ERR_OK)
            fail_msg("%s", why.text);
        steps = result.steps;
        train_result_close(&result);
        runs.options.max_time_us *= 2;
    }
    assert_true(steps > 0);
    runs_close(&runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_supervisor_killed),
        cmocka_unit_test(test_asked_to_stop),
        cmocka_unit_test(test_asked_twice),
        cmocka_unit_test(test_a_run_goes_on_after_its_supervisor_was_killed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
