/*
 * A run in one process is stopped after every round in turn, its state saved,
 * and gone on with from the disk: each time it ends on the hash of the run that
 * nobody disturbed, alone and with workers.
 */
#include "node/host/keep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "core/run/store.h"
#include "node/host/format.h"
#include "node/host/ways.h"
#include "node/runs.h"
#include "os/file/file.h"

#define STEPS 6u

struct stopper {
    struct runs *runs;
    struct keep *keep;
    uint32_t after; /* Rounds. */
    uint32_t seen;
    bool saved;
};

static bool stop_after(void *context, const struct trainer *trainer, bool last)
{
    struct stopper *stopper = context;
    struct why why = {0};

    (void)last;
    if (++stopper->seen < stopper->after)
        return true;
    if (keep_save(stopper->keep, trainer, dataset_chunks(&stopper->runs->data),
                  &why) != ERR_OK)
        fail_msg("%s", why.text);
    stopper->saved = true;
    return false;
}

static struct alone_result go(struct runs *runs,
                              const struct alone_hooks *hooks)
{
    const struct objective_options what = {.data = &runs->data,
                                           .model = MODEL_LOGISTIC,
                                           .isa = isa_best(),
                                           .optim = &runs->options.optim};
    struct alone_result result = {0};
    struct why why = {0};

    if (alone_train(&what, pool_serial(), hooks, &result, &why) != ERR_OK)
        fail_msg("%s", why.text);
    mem_free(result.weights);
    return result;
}

static struct keep *open_in(struct runs *runs, bool resume)
{
    struct keep *keep = NULL;
    struct why why = {0};

    if (keep_open(runs->out, &runs->options.config, resume, &keep, &why) !=
        ERR_OK)
        fail_msg("%s", why.text);
    return keep;
}

/* False if it was over before. */
static bool stop_and_save(struct runs *runs, uint32_t after)
{
    struct stopper stopper = {
        .runs = runs, .keep = open_in(runs, false), .after = after};
    const struct alone_hooks hooks = {
        .hooks = {.watch = stop_after, .context = &stopper}};
    const struct alone_result result = go(runs, &hooks);

    keep_close(stopper.keep);
    assert_int_equal(result.stopped && stopper.saved, result.stopped);
    return stopper.saved;
}

static void discard(struct runs *runs)
{
    struct keep *keep = open_in(runs, true);

    keep_discard(keep);
    keep_close(keep);
}

static void check_kind(struct runs *runs, enum optim_kind kind)
{
    struct alone_result wanted;
    uint32_t after = 1;

    runs->options.optim = optim_defaults(kind);
    runs->options.optim.rate = kind == OPTIM_LBFGS ? 0 : 0.1;
    runs->options.optim.l2 = 1e-3;
    runs->options.optim.steps = STEPS;
    runs->options.optim.rows = runs->data.rows;
    wanted = go(runs, NULL);
    while (stop_and_save(runs, after)) {
        struct keep *keep = open_in(runs, true);
        struct alone_hooks hooks = {0};
        struct alone_result result;

        assert_true(keep_is_alone(runs->out));
        assert_true(keep_state(keep, &hooks.state, &hooks.state_size));
        result = go(runs, &hooks);
        keep_close(keep);
        assert_false(result.stopped);
        assert_true(digest_equal(&result.hash, &wanted.hash));
        discard(runs);
        after++;
    }
    assert_true(after >= STEPS);
}

static void test_after_every_round(void **state)
{
    static const enum optim_kind kinds[] = {OPTIM_GD,       OPTIM_AGD,
                                            OPTIM_MOMENTUM, OPTIM_ADAM,
                                            OPTIM_LBFGS,    OPTIM_NEWTON};
    struct runs runs;

    (void)state;
    runs_open(&runs, STEPS);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        check_kind(&runs, kinds[i]);
    runs_close(&runs);
}

/* The same folder, now with a coordinator and workers; then it is no longer a
 * run of one process. */
static void test_workers_go_on(void **state)
{
    struct train_result result = {0};
    struct runs runs;

    (void)state;
    runs_open(&runs, STEPS);
    assert_true(stop_and_save(&runs, 3));
    assert_true(keep_is_alone(runs.out));
    runs.options.resume = true;
    runs_expect_same(&runs, &result);
    assert_int_equal(result.stats.exactness[EXACT_BITWISE], STEPS);
    assert_false(keep_is_alone(runs.out));
    train_result_close(&result);
    runs_close(&runs);
}

/* Before the first round is fed there is no objective to judge by. */
static void test_stopped_is_not_judged(void **state)
{
    struct flag cancel = {0};
    const struct alone_hooks hooks = {.hooks.cancel = &cancel};
    struct alone_result result;
    struct runs runs;

    (void)state;
    runs_open(&runs, STEPS);
    runs.options.optim = optim_defaults(OPTIM_LBFGS);
    runs.options.optim.steps = STEPS;
    runs.options.optim.rows = runs.data.rows;
    flag_raise(&cancel);
    result = go(&runs, &hooks);
    assert_true(result.stopped);
    assert_int_equal(result.outcome.end, OPTIM_GOING);
    runs_close(&runs);
}

/* Saved again and again: the journal goes on, the newest state is loaded. */
static void test_saved_twice(void **state)
{
    struct runs runs;
    struct keep *keep;
    struct stopper stopper;
    struct alone_hooks hooks = {
        .hooks = {.watch = stop_after, .context = &stopper}};

    (void)state;
    runs_open(&runs, STEPS);
    assert_true(stop_and_save(&runs, 2));
    for (uint32_t more = 0; more < 3; more++) {
        keep = open_in(&runs, true);
        assert_int_equal(keep_step(keep), 2 + more);
        stopper = (struct stopper){.runs = &runs, .keep = keep, .after = 1};
        assert_true(keep_state(keep, &hooks.state, &hooks.state_size));
        assert_true(go(&runs, &hooks).stopped);
        keep_close(keep);
    }
    runs_close(&runs);
}

static void test_refusals(void **state)
{
    struct digest other = {{9}};
    struct keep *keep = NULL;
    struct keep *second = NULL;
    struct why why = {0};
    struct runs runs;

    (void)state;
    runs_open(&runs, STEPS);
    assert_int_equal(
        keep_open(runs.out, &runs.options.config, true, &keep, &why),
        ERR_NOTFOUND);
    assert_true(stop_and_save(&runs, 2));
    assert_int_equal(
        keep_open(runs.out, &runs.options.config, false, &keep, &why),
        ERR_EXISTS);
    assert_int_equal(keep_open(runs.out, &other, true, &keep, &why),
                     ERR_MISMATCH);
    assert_non_null(strstr(why.text, "computes other bits"));
    keep = open_in(&runs, true);
    assert_int_equal(
        keep_open(runs.out, &runs.options.config, true, &second, &why),
        ERR_EXISTS);
    assert_non_null(strstr(why.text, "going on"));
    keep_close(keep);
    runs_close(&runs);
}

/* What the disk says of a journal that cannot be written anew is passed on. */
static void test_disk_words(void **state)
{
    struct rlimit limit, before;
    struct keep *keep = NULL;
    struct why why = {0};
    struct runs runs;

    (void)state;
    runs_open(&runs, STEPS);
    assert_true(stop_and_save(&runs, 2));
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 16;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(
        keep_open(runs.out, &runs.options.config, true, &keep, &why), ERR_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_non_null(strstr(why.text, "anew (File too large)"));
    runs_close(&runs);
}

static ino_t number_of(const char *folder)
{
    char path[4096];
    struct stat stat_;

    (void)snprintf(path, sizeof path, "%s/%s", folder, FORMAT_FILE);
    assert_int_equal(stat(path, &stat_), 0);
    return stat_.st_ino;
}

/* A folder that has the number is not made to wait for the disk again; another
 * number, or something else, is replaced. */
static void test_format_once(void **state)
{
    struct runs runs;
    char path[4096];
    FILE *file;
    ino_t first;

    (void)state;
    runs_open(&runs, STEPS);
    assert_int_equal(format_write(runs.out, NULL), ERR_OK);
    first = number_of(runs.out);
    assert_int_equal(format_write(runs.out, NULL), ERR_OK);
    assert_true(number_of(runs.out) == first);
    (void)snprintf(path, sizeof path, "%s/%s", runs.out, FORMAT_FILE);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("2\n", file) >= 0 && fclose(file) == 0);
    assert_int_equal(format_write(runs.out, NULL), ERR_OK);
    assert_true(number_of(runs.out) != first);
    runs_close(&runs);
}

/* Else who holds the folder now would be told of as reading, and a stop would
 * end nothing. */
static void test_a_killed_reader_is_forgotten(void **state)
{
    struct why why = {0};
    int lock = -1;

    (void)state;
    assert_int_equal(mkdir("killed", 0700), 0);
    assert_int_equal(
        file_write_atomic("killed/" READING_FILE, "", 0, 0600, &why), ERR_OK);
    assert_int_equal(format_take("killed", &lock, &why), ERR_OK);
    assert_false(ways_reading("killed"));
    format_leave("killed", lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_after_every_round),
        cmocka_unit_test(test_workers_go_on),
        cmocka_unit_test(test_stopped_is_not_judged),
        cmocka_unit_test(test_saved_twice),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_disk_words),
        cmocka_unit_test(test_format_once),
        cmocka_unit_test(test_a_killed_reader_is_forgotten),
    };

    return cmocka_run_group_tests_name("keep", tests, NULL, NULL);
}
