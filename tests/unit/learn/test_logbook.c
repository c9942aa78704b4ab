/*
 * The logbook of a series: what was written down is found again, with its
 * scores, whatever happened to the end of the file; what is damaged counts as
 * not over, and another plan is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "learn/series/logbook.h"
#include "node/host/format.h"
#include "os/file/file.h"
#include "os/file/scratch.h"

static struct scratch scratch;
static struct logbook *book;
static struct why why;
static struct digest plan;
static const double scores[] = {0.5, -1e300, 3};

static int begin(void **state)
{
    (void)state;
    plan = hash_bytes("plan", 4);
    why = (struct why){0};
    assert_int_equal(scratch_open(&scratch, &why), ERR_OK);
    assert_int_equal(logbook_open(scratch.path, &plan, &book, &why), ERR_OK);
    return 0;
}

static int end(void **state)
{
    (void)state;
    logbook_close(book);
    book = NULL;
    scratch_close(&scratch);
    return 0;
}

static void reopen(void)
{
    logbook_close(book);
    book = NULL;
    assert_int_equal(logbook_open(scratch.path, &plan, &book, &why), ERR_OK);
}

static void add(uint32_t trial, uint32_t fold)
{
    const struct entry entry = {.trial = trial,
                                .fold = fold,
                                .steps = 7,
                                .end = OPTIM_STALLED,
                                .why = {"it learnt nothing"},
                                .objective = 0.1,
                                .seconds = 1.25,
                                .hash = hash_bytes("model", 5)};

    assert_int_equal(logbook_add(book, &entry, scores, 3, &why), ERR_OK);
}

static void assert_over(uint32_t trial, uint32_t fold)
{
    const struct entry *const entry = logbook_find(book, trial, fold);
    const struct digest model = hash_bytes("model", 5);
    double read[3];

    assert_non_null(entry);
    assert_int_equal(entry->steps, 7);
    assert_int_equal(entry->end, OPTIM_STALLED);
    assert_string_equal(entry->why.text, "it learnt nothing");
    assert_true(entry->objective == 0.1 && entry->seconds == 1.25);
    assert_true(digest_equal(&entry->hash, &model));
    assert_false(entry->diverged);
    assert_int_equal(logbook_scores(book, trial, fold, read, 3), ERR_OK);
    assert_memory_equal(read, scores, sizeof scores);
}

static void path_of(const char *name, char path[FILE_PATH_SIZE])
{
    file_path_in(scratch.path, name, path);
}

/* What is in the file, from `at` on, becomes `text`. */
static void write_at(const char *name, long at, int whence, const char *text)
{
    char path[FILE_PATH_SIZE];
    FILE *file;

    path_of(name, path);
    file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, whence), 0);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void test_found_again(void **state)
{
    (void)state;
    assert_true(format_holds_run(scratch.path));
    add(0, 0);
    add(3, 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(logbook_count(book), 2);
        assert_over(0, 0);
        assert_over(3, 1);
        assert_null(logbook_find(book, 0, 1));
        reopen();
    }
}

static void test_diverged(void **state)
{
    const struct entry entry = {.trial = 1,
                                .diverged = true,
                                .objective = (double)NAN,
                                .why = {"too\nlarge, at step 3"}};

    (void)state;
    assert_int_equal(logbook_add(book, &entry, NULL, 0, &why), ERR_OK);
    add(2, 0);
    reopen();
    assert_int_equal(logbook_count(book), 2);
    assert_true(logbook_find(book, 1, 0)->diverged);
    assert_true(isnan(logbook_find(book, 1, 0)->objective));
    assert_string_equal(logbook_find(book, 1, 0)->why.text,
                        "too\\x0alarge, at step 3");
}

/* A write that power cut short: what came before holds, what comes after is
 * read. */
static void test_torn(void **state)
{
    (void)state;
    add(0, 0);
    write_at(SERIES_FILE, 0, SEEK_END, "0123456789abcdef done 1 0 7 0x1p");
    reopen();
    assert_int_equal(logbook_count(book), 1);
    add(1, 0);
    reopen();
    assert_int_equal(logbook_count(book), 2);
    assert_over(0, 0);
    assert_over(1, 0);
}

/* A line that says something else than was written counts for nothing. */
static void test_damaged_line(void **state)
{
    char path[FILE_PATH_SIZE];
    uint8_t *text;
    size_t size;
    const char *line;

    (void)state;
    add(0, 0);
    add(1, 0);
    path_of(SERIES_FILE, path);
    assert_int_equal(file_read(path, 10000, &text, &size, &why), ERR_OK);
    line = strstr((char *)text, "done 0 0 7");
    assert_non_null(line);
    write_at(SERIES_FILE, line - (char *)text, SEEK_SET, "done 0 0 8");
    mem_free(text);
    reopen();
    assert_null(logbook_find(book, 0, 0));
    assert_over(1, 0);
    add(0, 0); /* Made again. */
    reopen();
    assert_over(0, 0);
}

static void test_damaged_scores(void **state)
{
    char path[FILE_PATH_SIZE];
    double read[3];

    (void)state;
    add(0, 0);
    add(1, 0);
    add(2, 0);
    write_at("scores-0-0", 3, SEEK_SET, "x");
    path_of("scores-1-0", path);
    file_remove(path);
    assert_int_equal(logbook_scores(book, 0, 0, read, 3), ERR_NOTFOUND);
    assert_int_equal(logbook_scores(book, 1, 0, read, 3), ERR_NOTFOUND);
    assert_int_equal(logbook_scores(book, 2, 0, read, 2), ERR_NOTFOUND);
    assert_int_equal(logbook_count(book), 0);
}

static void grow(const char *name, off_t size)
{
    char path[FILE_PATH_SIZE];

    path_of(name, path);
    assert_int_equal(truncate(path, size), 0);
}

/* Holes of 1 TiB: no more is read than there can be. */
static void test_huge(void **state)
{
    double read[3];

    (void)state;
    add(0, 0);
    add(1, 0);
    grow("scores-0-0", (off_t)1 << 40);
    assert_int_equal(logbook_scores(book, 0, 0, read, 3), ERR_NOTFOUND);
    assert_over(1, 0);
    logbook_close(book);
    book = NULL;
    grow(SERIES_FILE, (off_t)1 << 40);
    assert_int_equal(logbook_open(scratch.path, &plan, &book, &why),
                     ERR_FORMAT);
    assert_non_null(strstr(why.text, "/series: damaged, larger than"));
}

/* It is not taken for one of another plan. */
static void test_damaged_head(void **state)
{
    (void)state;
    logbook_close(book);
    book = NULL;
    write_at(SERIES_FILE, 20, SEEK_SET, "?");
    assert_int_equal(logbook_open(scratch.path, &plan, &book, &why),
                     ERR_FORMAT);
    assert_non_null(strstr(why.text, "/series: damaged"));
    grow(SERIES_FILE, 0);
    why = (struct why){0};
    assert_int_equal(logbook_open(scratch.path, &plan, &book, &why),
                     ERR_FORMAT);
    assert_non_null(strstr(why.text, "/series: damaged"));
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void assert_said_large(const char *file)
{
    assert_non_null(strstr(why.text, file));
    assert_non_null(strstr(why.text, "File too large"));
    assert_non_null(strstr(why.text, "ulimit -f"));
    assert_non_null(strstr(why.text, "go on with --resume"));
}

/* A disk that does not take it is told of in its own words. */
static void test_unwritten(void **state)
{
    const struct entry entry = {.trial = 5};
    const struct entry diverged = {.trial = 6, .diverged = true};
    char path[FILE_PATH_SIZE];
    enum err err;

    (void)state;
    (void)signal(SIGXFSZ, SIG_IGN);
    limit_files(16);
    err = logbook_add(book, &entry, scores, 3, &why);
    assert_int_equal(err, ERR_IO);
    assert_said_large("/scores-new: ");
    err = logbook_add(book, &diverged, NULL, 0, &why);
    assert_int_equal(err, ERR_IO);
    assert_said_large("/series: ");
    logbook_close(book);
    book = NULL;
    path_of(SERIES_FILE, path);
    file_remove(path);
    err = logbook_open(scratch.path, &plan, &book, &why);
    limit_files(RLIM_INFINITY);
    assert_int_equal(err, ERR_IO);
    assert_said_large("/scores-new: ");
}

/* What is in the way is named. */
static void test_not_plain(void **state)
{
    const struct entry entry = {.trial = 5};
    char path[FILE_PATH_SIZE];

    (void)state;
    path_of("scores-new", path);
    assert_int_equal(file_link_atomic("elsewhere", path, &why), ERR_OK);
    assert_int_equal(logbook_add(book, &entry, scores, 3, &why), ERR_DENIED);
    assert_non_null(strstr(why.text, "/scores-new: not a plain file"));
    assert_non_null(strstr(why.text, "remove it"));
    file_remove(path);
    add(5, 0);
    logbook_close(book);
    book = NULL;
    path_of("series", path);
    assert_int_equal(file_link_atomic("elsewhere", path, &why), ERR_OK);
    assert_int_equal(logbook_open(scratch.path, &plan, &book, &why),
                     ERR_DENIED);
    assert_non_null(strstr(why.text, "/series: not a plain file"));
    file_remove(path);
    assert_int_equal(logbook_open(scratch.path, &plan, &book, &why), ERR_OK);
}

static void test_other_plan(void **state)
{
    struct logbook *other = NULL;
    const struct digest another = hash_bytes("other", 5);

    (void)state;
    add(0, 0);
    assert_int_equal(logbook_open(scratch.path, &another, &other, &why),
                     ERR_MISMATCH);
    assert_non_null(strstr(why.text, "other rows, options or lists"));
    reopen();
    assert_over(0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_found_again, begin, end),
        cmocka_unit_test_setup_teardown(test_diverged, begin, end),
        cmocka_unit_test_setup_teardown(test_torn, begin, end),
        cmocka_unit_test_setup_teardown(test_damaged_line, begin, end),
        cmocka_unit_test_setup_teardown(test_damaged_scores, begin, end),
        cmocka_unit_test_setup_teardown(test_huge, begin, end),
        cmocka_unit_test_setup_teardown(test_damaged_head, begin, end),
        cmocka_unit_test_setup_teardown(test_unwritten, begin, end),
        cmocka_unit_test_setup_teardown(test_not_plain, begin, end),
        cmocka_unit_test_setup_teardown(test_other_plan, begin, end),
    };

    return cmocka_run_group_tests_name("logbook", tests, NULL, NULL);
}
