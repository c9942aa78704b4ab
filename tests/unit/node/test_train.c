/*
 * Real processes on loopback, killed, stopped and restarted at given steps.
 * The oracle is one hash: what one perfect machine computes.
 */
#include "node/run/train.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "node/runs.h"
#include "os/net/token.h"

static void test_nothing_happens(void **state)
{
    struct train_result result;
    struct runs runs;

    (void)state;
    runs_open(&runs, 20);
    runs_expect_same(&runs, &result);
    assert_int_equal(result.stats.joined, 4);
    assert_int_equal(result.stats.died, 0);
    assert_int_equal(result.stats.left, 0);
    assert_int_equal(result.stats.alive_max, 4);
    assert_int_equal(result.stats.exactness[EXACT_BITWISE], 20);
    assert_int_equal(result.coordinator_deaths, 0);
    assert_true(result.elapsed_s > 0);
    runs_close(&runs);
}

/* How often it was called, and who was there then. */
struct other_work {
    uint32_t calls, alive;
};

static bool work_meanwhile(void *context)
{
    struct other_work *const work = context;
    uint32_t count;
    const struct train_process *const processes = train_processes(&count);

    work->calls++;
    for (uint32_t i = 0; i < count; i++)
        work->alive += processes[i].pid > 0 && kill(processes[i].pid, 0) == 0;
    return true;
}

/* Of a series: the one before is judged while its workers compute, and what it
 * comes to is handed over in memory. */
static void test_other_work_meanwhile(void **state)
{
    struct other_work work = {0};
    struct train_result result;
    struct runs runs;
    char path[300];

    (void)state;
    runs_open(&runs, 20);
    runs.options.passing = true;
    runs.options.meanwhile = (struct meanwhile){work_meanwhile, &work};
    runs_chaos(&runs, "kill:coordinator@7");
    runs_expect_same(&runs, &result);
    assert_int_equal(result.coordinator_deaths, 1);
    assert_int_equal(work.calls, 1);
    assert_int_equal(work.alive, 5);
    (void)snprintf(path, sizeof path, "%s/result", runs.out);
    assert_int_not_equal(access(path, F_OK), 0);
    runs_close(&runs);
}

static void check_chaos(const char *code, uint32_t stragglers,
                        const char *chaos, uint32_t steps,
                        struct train_result *result)
{
    struct runs runs;

    runs_open(&runs, steps);
    runs_code(&runs, code, stragglers);
    runs_chaos(&runs, chaos);
    runs_expect_same(&runs, result);
    runs_close(&runs);
}

static void test_a_worker_is_killed(void **state)
{
    struct train_result result;

    (void)state;
    check_chaos("steal", 1, "kill:w2@5", 20, &result);
    assert_int_equal(result.stats.died, 1);
    assert_int_equal(result.stats.joined, 4);
}

static void test_all_but_one_are_killed(void **state)
{
    struct train_result result;

    (void)state;
    check_chaos("uncoded", 0, "kill:w0@3,kill:w1@3,kill:w3@6", 20, &result);
    assert_int_equal(result.stats.died, 3);
}

static void test_the_coordinator_is_killed(void **state)
{
    struct train_result result;

    (void)state;
    check_chaos("frc", 1, "kill:coordinator@7,kill:coordinator@13", 20,
                &result);
    assert_int_equal(result.coordinator_deaths, 2);
    assert_int_equal(result.stats.joined, 4);
    assert_int_equal(result.stats.died, 0);
    assert_int_equal(result.stats.exactness[EXACT_BITWISE], 20);
}

static void test_both_are_killed_at_once(void **state)
{
    struct train_result result;

    (void)state;
    check_chaos("steal", 1, "kill:w1@8,kill:coordinator@8,kill:w3@12", 25,
                &result);
    assert_int_equal(result.coordinator_deaths, 1);
    assert_int_equal(result.stats.died, 2);
}

static void test_workers_join_and_leave(void **state)
{
    struct train_result result;

    (void)state;
    check_chaos("steal", 1, "join@4,leave:w1@8,join@9,leave:w0@12", 30,
                &result);
    assert_int_equal(result.stats.died, 0);
    assert_int_equal(result.stats.left, 2);
    assert_true(result.stats.joined >= 4);
}

static void test_a_worker_is_stopped(void **state)
{
    struct train_result result;

    (void)state;
    check_chaos("steal", 1, "stop:w2@5+10", 20, &result);
    assert_int_equal(result.stats.died, 0);
}

static void test_respawn(void **state)
{
    struct train_result result;
    struct runs runs;

    (void)state;
    runs_open(&runs, 30);
    runs_chaos(&runs, "kill:w0@3,kill:w1@6,kill:w0@15");
    runs.options.respawn = true;
    runs_expect_same(&runs, &result);
    assert_int_equal(result.stats.died, 3);
    runs_close(&runs);
}

static void test_threads_do_not_change_bits(void **state)
{
    struct train_result result;
    struct runs runs;

    (void)state;
    runs_open(&runs, 10);
    runs.options.threads = 3;
    runs_expect_same(&runs, &result);
    runs_close(&runs);
}

static void test_all_workers_die(void **state)
{
    struct train_result result;
    struct runs runs;
    struct why why = {0};
    char path[300];

    (void)state;
    runs_open(&runs, 1000);
    runs_chaos(&runs, "kill:w0@3,kill:w1@3,kill:w2@3,kill:w3@3");
    assert_int_equal(train_run(&runs.options, &result, &why), ERR_CLOSED);
    assert_non_null(strstr(why.text, "all workers are gone"));
    (void)snprintf(path, sizeof path, "%s/checkpoint.0", runs.out);
    assert_int_equal(access(path, R_OK), 0);
    assert_non_null(strstr(why.text, "the state is saved"));
    runs_close(&runs);
}

static void test_all_workers_die_and_nothing_is_kept(void **state)
{
    struct train_result result;
    struct runs runs;
    struct why why = {0};

    (void)state;
    runs_open(&runs, 1000);
    runs_chaos(&runs, "kill:w0@3,kill:w1@3,kill:w2@3,kill:w3@3");
    runs.options.scratch = true;
    assert_int_equal(train_run(&runs.options, &result, &why), ERR_CLOSED);
    assert_string_equal(why.text,
                        "all workers are gone; nothing is saved without --out");
    runs_close(&runs);
}

/* Some are left, but too few, and nobody can find the run to join it. */
static void test_too_few_are_left(void **state)
{
    struct train_result result;
    struct runs runs;
    struct why why = {0};

    (void)state;
    runs_open(&runs, 1000);
    runs_code(&runs, "cec", 1);
    runs_chaos(&runs, "kill:w0@3,kill:w1@3,kill:w2@3");
    runs.options.scratch = true;
    runs.options.max_time_us = 60 * SECOND_US;
    assert_int_equal(train_run(&runs.options, &result, &why), ERR_CLOSED);
    assert_non_null(strstr(why.text, " workers, 1 is left, and nobody can "
                                     "join this run; nothing is saved"));
    runs_close(&runs);
}

/* Who is to join at a later step does not come while this one waits. */
static void test_a_later_join_is_no_hope(void **state)
{
    static const char *const faults[] = {
        "kill:w0@3,kill:w1@3,kill:w2@3,join@5",
        "kill:w0@3,kill:w1@3,kill:w2@3,kill:w3@3,join@5"};

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct train_result result;
        struct runs runs;
        struct why why = {0};

        runs_open(&runs, 1000);
        runs_code(&runs, "cec", 1);
        runs_chaos(&runs, faults[i]);
        runs.options.scratch = true;
        runs.options.max_time_us = 60 * SECOND_US;
        assert_int_equal(train_run(&runs.options, &result, &why), ERR_CLOSED);
        assert_non_null(strstr(why.text, "nothing is saved"));
        runs_close(&runs);
    }
}

/* Kills one process again and again, each life after so many ticks. */
struct killer {
    const char *name;
    uint32_t age, ticks; /* SIGTERM to the run after `ticks`. */
    uint32_t lives, lived, ticked;
    int pid;
};

static void kill_again(void *context, const struct trace *trace)
{
    struct killer *killer = context;
    uint32_t count;
    const struct train_process *list = train_processes(&count);

    if (trace != NULL)
        return;
    if (++killer->ticked == killer->ticks)
        (void)kill(getpid(), SIGTERM);
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].pid <= 0 || strcmp(list[i].name, killer->name) != 0)
            continue;
        if (list[i].pid != killer->pid) {
            killer->pid = list[i].pid;
            killer->lived = 0;
            killer->lives++;
        }
        if (++killer->lived == killer->age)
            (void)kill(killer->pid, SIGKILL);
    }
}

/* Lives of some seconds that finish no step are in vain, too. */
static void test_a_coordinator_dies_slowly(void **state)
{
    struct killer killer = {.name = "coordinator", .age = 26};
    struct train_result result;
    struct runs runs;
    struct why why = {0};

    (void)state;
    runs_open(&runs, 2);
    assert_int_equal(delay_parse("exp:100000", 1, &runs.options.delay, &why),
                     ERR_OK);
    runs.options.watch = kill_again;
    runs.options.watch_context = &killer;
    runs.options.max_time_us = 120 * SECOND_US;
    assert_int_equal(train_run(&runs.options, &result, &why), ERR_CLOSED);
    assert_non_null(strstr(why.text, "died 5 times in a row"));
    assert_int_equal(killer.lives, 5);
    runs_close(&runs);
}

/* A worker that fails whenever it is started is started ever more rarely. */
static void test_respawn_pauses(void **state)
{
    struct killer killer = {.name = "w0", .age = 1, .ticks = 30};
    struct train_result result;
    struct runs runs;
    struct why why = {0};

    (void)state;
    runs_open(&runs, 2);
    runs.options.optim.steps = 1000000;
    runs.options.respawn = true;
    assert_int_equal(delay_parse("exp:0.01", 1, &runs.options.delay, &why),
                     ERR_OK);
    runs.options.watch = kill_again;
    runs.options.watch_context = &killer;
    assert_int_equal(train_run(&runs.options, &result, &why), ERR_OK);
    assert_int_equal(result.signal, SIGTERM);
    assert_in_range(killer.lives, 3, 10);
    train_result_close(&result);
    runs_close(&runs);
}

/* Stops itself with a signal after some steps, then goes on to the end. */
static void stop_at_ten(void *context, const struct trace *trace)
{
    (void)context;
    if (trace != NULL && trace->kind == TRACE_COMMIT && trace->key.step == 10)
        (void)kill(getpid(), SIGTERM);
}

static void test_stop_and_resume(void **state)
{
    struct train_result result;
    struct runs runs;
    struct why why = {0};

    (void)state;
    runs_open(&runs, 60);
    assert_int_equal(delay_parse("exp:0.002", 1, &runs.options.delay, &why),
                     ERR_OK);
    runs.options.watch = stop_at_ten;
    assert_int_equal(train_run(&runs.options, &result, &why), ERR_OK);
    assert_false(result.finished);
    assert_int_equal(result.signal, SIGTERM);
    assert_true(result.steps >= 10 && result.steps < 60);
    train_result_close(&result);

    runs.options.watch = NULL;
    assert_int_equal(train_run(&runs.options, &result, &why), ERR_EXISTS);
    assert_non_null(strstr(why.text, "--resume"));
    runs.options.resume = true;
    runs_expect_same(&runs, &result);
    assert_int_equal(result.stats.exactness[EXACT_BITWISE], 60);
    runs_close(&runs);
}

/* As GNU timeout does: once to the run and, when that was heard, once more. */
static void stop_twice(void *context, const struct trace *trace)
{
    (void)context;
    if (trace != NULL && (trace->kind == TRACE_STOP ||
                          (trace->kind == TRACE_SHORT && trace->key.step == 5)))
        (void)kill(getpid(), SIGTERM);
}

/* The state of a coded run is its checkpoint: had the second signal ended the
 * coordinator, it would go on from step 0. */
static void test_a_second_sigterm_is_no_other(void **state)
{
    struct train_result result;
    struct runs runs;
    struct why why = {0};

    (void)state;
    runs_open(&runs, 1000);
    runs_code(&runs, "cec", 1);
    runs_chaos(&runs, "kill:w0@3,kill:w1@5");
    runs.options.watch = stop_twice;
    runs.options.max_time_us = 60 * SECOND_US;
    assert_int_equal(train_run(&runs.options, &result, &why), ERR_OK);
    assert_false(result.finished);
    assert_int_equal(result.signal, SIGTERM);
    assert_int_equal(result.steps, 5);
    assert_int_equal(result.saved, 5);
    train_result_close(&result);
    runs_close(&runs);
}

static void test_resume_needs_the_same_run(void **state)
{
    struct train_result result;
    struct runs runs;
    struct why why = {0};

    (void)state;
    runs_open(&runs, 5);
    runs.options.resume = true;
    assert_int_equal(train_run(&runs.options, &result, &why), ERR_NOTFOUND);
    runs.options.resume = false;
    runs_expect_same(&runs, &result);
    runs.options.resume = true;
    runs.options.config.bytes[0]++;
    assert_int_equal(train_run(&runs.options, &result, &why), ERR_MISMATCH);
    assert_non_null(strstr(why.text, "other data or options"));
    runs_close(&runs);
}

static void test_max_time(void **state)
{
    struct train_result result;
    struct runs runs;
    struct why why = {0};

    (void)state;
    runs_open(&runs, 2);
    runs.options.optim.steps = 4000000;
    runs.options.max_time_us = 300 * MS_US;
    assert_int_equal(train_run(&runs.options, &result, &why), ERR_OK);
    assert_false(result.finished);
    assert_int_equal(result.signal, 0);
    assert_non_null(result.weights);
    train_result_close(&result);
    runs_close(&runs);
}

static void test_off_loopback_needs_a_token(void **state)
{
    struct train_result result;
    struct runs runs;
    struct why why = {0};

    (void)state;
    runs_open(&runs, 2);
    runs.options.listen = "0.0.0.0:0";
    assert_int_equal(train_run(&runs.options, &result, &why), ERR_DENIED);
    assert_non_null(strstr(why.text, "--token-file"));
    runs_close(&runs);
}

static void test_with_a_token(void **state)
{
    struct train_result result;
    struct runs runs;
    struct why why = {0};
    char path[512];

    (void)state;
    runs_open(&runs, 20);
    (void)snprintf(path, sizeof path, "%s/token", runs.out);
    assert_int_equal(token_new(path, NULL, NULL, &why), ERR_OK);
    runs.options.token_file = path;
    runs.options.listen = "0.0.0.0:0";
    runs_chaos(&runs, "kill:w2@5,kill:coordinator@8");
    runs_expect_same(&runs, &result);
    assert_int_equal(result.stats.died, 1);
    runs_close(&runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_happens),
        cmocka_unit_test(test_other_work_meanwhile),
        cmocka_unit_test(test_a_worker_is_killed),
        cmocka_unit_test(test_all_but_one_are_killed),
        cmocka_unit_test(test_the_coordinator_is_killed),
        cmocka_unit_test(test_both_are_killed_at_once),
        cmocka_unit_test(test_workers_join_and_leave),
        cmocka_unit_test(test_a_worker_is_stopped),
        cmocka_unit_test(test_respawn),
        cmocka_unit_test(test_threads_do_not_change_bits),
        cmocka_unit_test(test_all_workers_die),
        cmocka_unit_test(test_all_workers_die_and_nothing_is_kept),
        cmocka_unit_test(test_stop_and_resume),
        cmocka_unit_test(test_a_second_sigterm_is_no_other),
        cmocka_unit_test(test_resume_needs_the_same_run),
        cmocka_unit_test(test_too_few_are_left),
        cmocka_unit_test(test_a_later_join_is_no_hope),
        cmocka_unit_test(test_a_coordinator_dies_slowly),
        cmocka_unit_test(test_respawn_pauses),
        cmocka_unit_test(test_max_time),
        cmocka_unit_test(test_off_loopback_needs_a_token),
        cmocka_unit_test(test_with_a_token),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
