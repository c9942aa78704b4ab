/*
 * What a run says while it waits for workers, and when.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "learn/watch/waiting.h"

static struct progress progress;
static char text[WAITING_TEXT];

static void happens(enum trace_kind kind, const char *name)
{
    struct trace trace = {.kind = kind};

    (void)snprintf(trace.name, sizeof trace.name, "%s", name);
    progress_event(&progress, &trace);
}

static void test_says_who_is_awaited(void **state)
{
    struct waiting w = {
        .wanted = 2, .remote = true, .patience = 60 * SECOND_US};
    const time_us t = 1000 * SECOND_US;

    (void)state;
    progress_init(&progress);
    assert_string_equal(waiting_look(&w, &progress, t, text),
                        "waiting: 0 of 2 workers are here; it begins with 2, "
                        "or in 60 s with those here");
    assert_null(waiting_look(&w, &progress, t + SECOND_US, text));
    happens(TRACE_JOINED, "ann");
    assert_string_equal(waiting_look(&w, &progress, t + 2 * SECOND_US, text),
                        "waiting: 1 of 2 workers are here (ann); it begins "
                        "with 2, or in 58 s with those here");
    assert_null(waiting_look(&w, &progress, t + 3 * SECOND_US, text));
    assert_non_null(waiting_look(&w, &progress, t + 7 * SECOND_US, text));
    happens(TRACE_LEFT, "ann");
    assert_non_null(
        strstr(waiting_look(&w, &progress, t + 61 * SECOND_US, text),
               "0 of 2 workers are here; it begins with 2, or with "
               "the first to come"));
    happens(TRACE_JOINED, "bob");
    happens(TRACE_ROUND, "");
    assert_null(waiting_look(&w, &progress, t + 90 * SECOND_US, text));
}

/* Local workers start at once; a line is for when they do not. */
static void test_is_quiet_about_local_workers(void **state)
{
    struct waiting w = {.wanted = 3, .patience = 5 * SECOND_US};
    const time_us t = 1000 * SECOND_US;

    (void)state;
    progress_init(&progress);
    assert_null(waiting_look(&w, &progress, t, text));
    happens(TRACE_JOINED, "w0");
    assert_null(waiting_look(&w, &progress, t + SECOND_US, text));
    assert_non_null(strstr(waiting_look(&w, &progress, t + 5 * SECOND_US, text),
                           "1 of 3 workers are here (w0)"));
}

static void test_says_that_all_are_gone(void **state)
{
    struct waiting w = {
        .wanted = 1, .remote = true, .patience = 60 * SECOND_US};
    const time_us t = 1000 * SECOND_US;

    (void)state;
    progress_init(&progress);
    happens(TRACE_JOINED, "ann");
    happens(TRACE_ROUND, "");
    assert_null(waiting_look(&w, &progress, t, text));
    happens(TRACE_DIED, "ann");
    assert_string_equal(
        waiting_look(&w, &progress, t + SECOND_US, text),
        "step 0: nobody is left to compute; waiting for workers");
    assert_null(waiting_look(&w, &progress, t + 2 * SECOND_US, text));
    assert_non_null(waiting_look(&w, &progress, t + 6 * SECOND_US, text));
    happens(TRACE_DONE, "");
    assert_null(waiting_look(&w, &progress, t + 20 * SECOND_US, text));
}

/* Twenty minutes of nobody are two dozen lines, not hundreds. */
static void test_says_it_ever_more_rarely(void **state)
{
    struct waiting w = {
        .wanted = 2, .remote = true, .patience = 60 * SECOND_US};
    const time_us t = 1000 * SECOND_US;
    int lines = 0;

    (void)state;
    progress_init(&progress);
    for (time_us s = 0; s < 1200; s++)
        lines += waiting_look(&w, &progress, t + s * SECOND_US, text) != NULL;
    assert_in_range(lines, 20, 24);
    happens(TRACE_JOINED, "ann");
    assert_non_null(waiting_look(&w, &progress, t + 1200 * SECOND_US, text));
    assert_non_null(waiting_look(&w, &progress, t + 1205 * SECOND_US, text));
}

static void test_a_crowd_is_not_named(void **state)
{
    struct waiting w = {
        .wanted = 400, .remote = true, .patience = 60 * SECOND_US};

    (void)state;
    progress_init(&progress);
    for (int i = 0; i < 300; i++) {
        char name[16];

        (void)snprintf(name, sizeof name, "w%d", i);
        happens(TRACE_JOINED, name);
    }
    assert_non_null(
        strstr(waiting_look(&w, &progress, SECOND_US, text),
               "300 of 400 workers are here (w0, w1, w2, w3, ...)"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_says_who_is_awaited),
        cmocka_unit_test(test_is_quiet_about_local_workers),
        cmocka_unit_test(test_says_that_all_are_gone),
        cmocka_unit_test(test_says_it_ever_more_rarely),
        cmocka_unit_test(test_a_crowd_is_not_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
