/*
 * A temporary folder is gone with the folders in it, whether it is closed or
 * the process that made it is killed; what a link in it leads to stays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/file/file.h"
#include "os/file/scratch.h"

static char outside[] = "/tmp/muster-test-XXXXXX";
static char kept[FILE_PATH_SIZE];

static int begin(void **state)
{
    (void)state;
    memcpy(strrchr(outside, '-'), "-XXXXXX", 8);
    assert_non_null(mkdtemp(outside));
    file_path_in(outside, "kept", kept);
    assert_int_equal(file_write_atomic(kept, "k", 1, 0600, NULL), ERR_OK);
    return 0;
}

static int end(void **state)
{
    (void)state;
    file_remove(kept);
    file_remove_folder(outside);
    return 0;
}

/* As a ring leaves it: a folder for each peer, with files; and a link. */
static void fill(const char *folder)
{
    char peer[FILE_PATH_SIZE], path[FILE_PATH_SIZE];

    file_path_in(folder, "w0", peer);
    assert_int_equal(file_make_folder(peer, NULL), ERR_OK);
    file_path_in(peer, "journal", path);
    assert_int_equal(file_write_atomic(path, "j", 1, 0600, NULL), ERR_OK);
    file_path_in(peer, "link", path);
    assert_int_equal(symlink(outside, path), 0);
}

static void test_closed(void **state)
{
    struct scratch scratch;

    (void)state;
    assert_int_equal(scratch_open(&scratch, NULL), ERR_OK);
    fill(scratch.path);
    scratch_close(&scratch);
    assert_false(file_exists(scratch.path));
    assert_true(file_exists(kept));
}

/* Nobody's child any more, the keeper becomes ours, and its end is awaited. */
static void test_killed(void **state)
{
    char path[FILE_PATH_SIZE] = "";
    int ends[2];
    pid_t child;

    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        struct scratch scratch;

        if (scratch_open(&scratch, NULL) != ERR_OK)
            _exit(1);
        fill(scratch.path);
        if (write(ends[1], scratch.path, sizeof scratch.path) < 0)
            _exit(1);
        (void)raise(SIGKILL);
    }
    (void)close(ends[1]);
    assert_int_equal(read(ends[0], path, sizeof path), sizeof path);
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(waitpid(-1, NULL, 0) > 0);
    assert_false(file_exists(path));
    assert_true(file_exists(kept));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_closed, begin, end),
        cmocka_unit_test_setup_teardown(test_killed, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
