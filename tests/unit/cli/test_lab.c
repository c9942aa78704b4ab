/*
 * What an experiment makes of runs that did not end well: only what diverged is
 * called so, and what failed for another reason is a failure of the experiment.
 */
#include "cli/reproduce/lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct end {
    const char *printed;
    int code;
    bool diverged, done, ended; /* ... and allowed as such. */
} ends[] = {
    {"{\"end\": \"converged\"}", 0, false, true, true},
    {"{\"end\": \"steps\"}", 1, false, false, true},
    {"{\"end\": \"diverged\"}", 1, true, false, true},
    {"{\"best\": {}, \"refit\": {\"end\": \"diverged\"}}", 1, true, false,
     true},
    {"{\"error\": \"the training diverged at step 113: weights or loss are not "
     "finite\"}",
     1, true, false, true},
    {"{\"error\": \"muster-runs: not a folder\"}", 1, false, false, false},
    {"{\"error\": \"no space left on device\"}", 1, false, false, false},
    {"{\"error\": \"step 3: all 4 workers died\"}", 1, false, false, false},
    {"{\"error\": \"--lr: expected a number\"}", 2, false, false, false},
};

#define ENDS (sizeof ends / sizeof *ends)

static json_t *read_end(const struct end *end)
{
    json_t *run = json_loads(end->printed, 0, NULL);

    assert_non_null(run);
    return run;
}

static void test_what_is_called_diverged(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENDS; i++) {
        json_t *run = read_end(&ends[i]);
        const bool told = json_object_get(run, "error") != NULL;

        assert_int_equal(lab_diverged(run), ends[i].diverged);
        assert_int_equal(*lab_trouble(run) != '\0', told || ends[i].diverged);
        json_decref(run);
    }
}

static void test_what_is_a_failure(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENDS; i++) {
        json_t *run = read_end(&ends[i]);

        assert_int_equal(lab_allows(LAB_DONE, ends[i].code, run), ends[i].done);
        assert_int_equal(lab_allows(LAB_ENDED, ends[i].code, run),
                         ends[i].ended);
        json_decref(run);
    }
}

static void test_only_they_are_counted(void **state)
{
    struct lab lab = {.runs = ENDS};
    const char *said;

    (void)state;
    lab.page = json_pack("{s:[], s:[]}", "remarks", "commands");
    for (size_t i = 0; i < ENDS; i++)
        (void)json_array_append_new(
            json_object_get(lab.page, "commands"),
            json_pack("{s:o}", "result", read_end(&ends[i])));
    lab_tell_diverged(&lab);
    said = lab_text(lab.page, "remarks.0");
    assert_non_null(strstr(said, "3 of the 9 runs diverged"));
    json_decref(lab.page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_called_diverged),
        cmocka_unit_test(test_what_is_a_failure),
        cmocka_unit_test(test_only_they_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
