/*
 * Whole files by path: read, replace, make, guard.
 */
#include "os/file/file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static void test_write_and_read(void **state)
{
    uint8_t *data;
    size_t size;
    struct stat info;

    (void)state;
    assert_int_equal(file_write_atomic("file.a", "hello", 5, 0600, NULL),
                     ERR_OK);
    assert_int_equal(file_write_atomic("file.a", "again", 5, 0600, NULL),
                     ERR_OK);
    assert_int_equal(file_read("file.a", 100, &data, &size, NULL), ERR_OK);
    assert_string_equal((char *)data, "again");
    assert_int_equal(size, 5);
    mem_free(data);
    assert_int_equal(stat("file.a", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    file_remove("file.a");
    file_remove("file.a");
    assert_false(file_exists("file.a"));
}

static void test_errors_name_the_path(void **state)
{
    uint8_t *data;
    size_t size;
    struct why why = {0};

    (void)state;
    assert_int_equal(file_read("no.such", 10, &data, &size, &why),
                     ERR_NOTFOUND);
    assert_non_null(strstr(why.text, "no.such"));
    assert_int_equal(file_write_atomic("no/such", "x", 1, 0600, &why),
                     ERR_NOTFOUND);
    assert_int_equal(file_write_atomic("file.b", "12345", 5, 0600, NULL),
                     ERR_OK);
    assert_int_equal(file_read("file.b", 4, &data, &size, &why), ERR_TOOBIG);
    assert_int_equal(file_read("file.b", 5, &data, &size, &why), ERR_OK);
    mem_free(data);
    assert_int_equal(file_make_folder("file.b", &why), ERR_NOTFOUND);
    assert_int_equal(file_make_folder("file.b/c", &why), ERR_NOTFOUND);
    file_remove("file.b");
}

/* What it was for, and what to do; each once. */
static void test_errors_say_what_to_do(void **state)
{
    struct why why = {0};

    (void)state;
    assert_int_equal(file_read_failed(&why, "a", ENOENT), ERR_NOTFOUND);
    assert_string_equal(why.text, "a: no such file; check the name");
    assert_int_equal(file_read_failed(&why, "a", EACCES), ERR_DENIED);
    assert_string_equal(why.text,
                        "a: not readable; check the file's permissions");
    assert_int_equal(file_read_failed(&why, "a", EIO), ERR_IO);
    assert_string_equal(why.text, "a: cannot be read: Input/output error");
    assert_int_equal(file_write_failed(&why, "a/b", ENOENT), ERR_NOTFOUND);
    assert_string_equal(why.text,
                        "a/b: its folder is not there; make it first");
    assert_int_equal(file_write_failed(&why, "a", EISDIR), ERR_IO);
    assert_string_equal(why.text, "a: is a directory; name a file in it");
    assert_int_equal(file_write_failed(&why, "a", EACCES), ERR_DENIED);
    assert_string_equal(
        why.text,
        "a: cannot be written: Permission denied; choose another place");
    assert_int_equal(file_write_failed(&why, "a", ENOSPC), ERR_IO);
    assert_string_equal(why.text, "a: cannot be written: No space left on "
                                  "device; free some, or choose another place");
}

static void test_folders(void **state)
{
    (void)state;
    assert_int_equal(file_make_folder("d1/d2/d3", NULL), ERR_OK);
    assert_int_equal(file_make_folder("d1/d2/d3/", NULL), ERR_OK);
    assert_true(file_exists("d1/d2/d3"));
    assert_int_equal(rmdir("d1/d2/d3"), 0);
    assert_int_equal(rmdir("d1/d2"), 0);
    assert_int_equal(rmdir("d1"), 0);
}

static void test_private(void **state)
{
    struct why why = {0};

    (void)state;
    assert_int_equal(file_write_atomic("file.c", "x", 1, 0600, NULL), ERR_OK);
    assert_int_equal(file_check_private("file.c", &why), ERR_OK);
    assert_int_equal(chmod("file.c", 0640), 0);
    assert_int_equal(file_check_private("file.c", &why), ERR_DENIED);
    assert_non_null(strstr(why.text, "chmod 600"));
    assert_int_equal(symlink("file.c", "file.d"), 0);
    assert_int_equal(file_check_private("file.d", &why), ERR_DENIED);
    assert_int_equal(file_check_private("file.e", &why), ERR_NOTFOUND);
    file_remove("file.c");
    file_remove("file.d");
}

/* What is checked is what was opened; a pipe that nobody writes to does not
 * hold it up. */
static void test_read_private(void **state)
{
    struct why why = {0};
    uint8_t *data;
    size_t size;

    (void)state;
    assert_int_equal(file_write_atomic("file.c", "x", 1, 0600, NULL), ERR_OK);
    assert_int_equal(file_read_private("file.c", 9, &data, &size, &why),
                     ERR_OK);
    assert_int_equal(size, 1);
    mem_free(data);
    assert_int_equal(file_read_private("file.c", 0, &data, &size, &why),
                     ERR_TOOBIG);
    assert_int_equal(symlink("file.c", "file.d"), 0);
    assert_int_equal(file_read_private("file.d", 9, &data, &size, &why),
                     ERR_DENIED);
    assert_int_equal(mkfifo("file.e", 0600), 0);
    assert_int_equal(file_read_private("file.e", 9, &data, &size, &why),
                     ERR_DENIED);
    assert_int_equal(chmod("file.c", 0604), 0);
    assert_int_equal(file_read_private("file.c", 9, &data, &size, &why),
                     ERR_DENIED);
    assert_int_equal(file_read_private("file.f", 9, &data, &size, &why),
                     ERR_NOTFOUND);
    file_remove("file.c");
    file_remove("file.d");
    file_remove("file.e");
}

static void test_lock(void **state)
{
    int fd, other;

    (void)state;
    assert_int_equal(file_lock("file.lock", &fd, NULL), ERR_OK);
    assert_int_equal(file_lock("file.lock", &other, NULL), ERR_EXISTS);
    assert_true(file_locked("file.lock"));
    file_unlock(fd);
    assert_false(file_locked("file.lock"));
    assert_false(file_locked("nowhere.lock"));
    assert_int_equal(file_lock("file.lock", &fd, NULL), ERR_OK);
    file_unlock(fd);
    file_remove("file.lock");
}

/* Under /usr, too, there are folders to work in. */
static void test_folders_of_the_system(void **state)
{
    (void)state;
    assert_true(file_is_system("/"));
    assert_true(file_is_system("/usr"));
    assert_true(file_is_system("/usr/bin/run"));
    assert_true(file_is_system("/etc/run"));
    assert_false(file_is_system("/usr/src/app/muster-runs/0001-abcd"));
    assert_false(file_is_system("/usr/local/run"));
    assert_false(file_is_system("run"));
    /* Where others have theirs: itself, there or not, and nothing below. */
    assert_true(file_is_system("/srv"));
    assert_true(file_is_system("/mnt/"));
    assert_true(file_is_system("//media/./"));
    assert_true(file_is_system("/var/lib"));
    assert_true(file_is_system("/var/mail"));
    assert_true(file_is_system("/tmp/../srv"));
    assert_false(file_is_system("/srv/run"));
    assert_false(file_is_system("/mnt/disk/run"));
    assert_false(file_is_system("/var/lib/muster/runs/0001-abcd"));
    assert_false(file_is_system("/srvrun"));
    assert_false(file_is_system("/libexec"));
    assert_false(file_is_system("srv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_and_read),
        cmocka_unit_test(test_errors_name_the_path),
        cmocka_unit_test(test_errors_say_what_to_do),
        cmocka_unit_test(test_folders),
        cmocka_unit_test(test_private),
        cmocka_unit_test(test_read_private),
        cmocka_unit_test(test_lock),
        cmocka_unit_test(test_folders_of_the_system),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
