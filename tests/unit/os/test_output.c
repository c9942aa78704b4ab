/*
 * A file appears whole when it is committed, and not at all if it is dropped
 * or something fails; nothing is left beside it.  What is no file is written
 * through, and links and modes stay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file/file.h"
#include "os/file/output.h"

#define FOLDER "test_output.tmp"
#define PATH   FOLDER "/file"

static int files_in_folder(void)
{
    DIR *const folder = opendir(FOLDER);
    int count = 0;

    assert_non_null(folder);
    for (struct dirent *one = readdir(folder); one != NULL;
         one = readdir(folder))
        count += one->d_name[0] != '.';
    assert_int_equal(closedir(folder), 0);
    return count;
}

/* Pieces smaller and larger than the buffer. */
static void test_pieces(void **state)
{
    static const size_t pieces[] = {0, 1, 1000, 262143, 262144, 3, 500000};
    static uint8_t bytes[500000];
    struct output *output = NULL;
    struct why why = {0};
    uint8_t *read = NULL;
    size_t size = 0;
    size_t at = 0;

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * i >> 3);
    assert_int_equal(output_open(&output, PATH, OUTPUT_OWN, 0644, &why),
                     ERR_OK);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        output_write(output, bytes, pieces[i]);
    assert_false(file_exists(PATH));
    assert_int_equal(output_commit(output, &why), ERR_OK);
    assert_int_equal(files_in_folder(), 1);
    assert_int_equal(file_read(PATH, 1 << 24, &read, &size, &why), ERR_OK);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        assert_memory_equal(read + at, bytes, pieces[i]);
        at += pieces[i];
    }
    assert_int_equal(at, size);
    mem_free(read);
    assert_int_equal(unlink(PATH), 0);
}

static void test_dropped(void **state)
{
    struct output *output = NULL;
    struct why why = {0};

    (void)state;
    assert_int_equal(output_open(&output, PATH, OUTPUT_OWN, 0644, &why),
                     ERR_OK);
    output_write(output, "x", 1);
    assert_int_equal(files_in_folder(), 1); /* Under another name. */
    output_abort(output);
    output_abort(NULL);
    assert_int_equal(files_in_folder(), 0);
}

static void test_failures(void **state)
{
    static char name[5000];
    struct output *output = NULL;
    struct why why = {0};

    (void)state;
    assert_int_equal(
        output_open(&output, FOLDER "/none/file", OUTPUT_OWN, 0644, &why),
        ERR_NOTFOUND);
    assert_non_null(strstr(why.text, FOLDER "/none/file"));
    memset(name, 'a', sizeof name - 1);
    assert_int_not_equal(output_open(&output, name, OUTPUT_OWN, 0644, &why),
                         ERR_OK);
    /* A folder is in the way. */
    assert_int_equal(mkdir(PATH, 0700), 0);
    assert_int_equal(output_open(&output, PATH, OUTPUT_OWN, 0644, &why),
                     ERR_OK);
    output_write(output, "x", 1);
    assert_int_not_equal(output_commit(output, &why), ERR_OK);
    assert_non_null(strstr(why.text, PATH));
    assert_int_equal(files_in_folder(), 1);
    assert_int_equal(rmdir(PATH), 0);
}

static void put(const char *path, enum output_way way, const char *text)
{
    struct output *output = NULL;
    struct why why = {0};

    assert_int_equal(output_open(&output, path, way, 0644, &why), ERR_OK);
    output_write(output, text, strlen(text));
    assert_int_equal(output_commit(output, &why), ERR_OK);
}

static struct stat look(const char *path)
{
    struct stat info;

    assert_int_equal(lstat(path, &info), 0);
    return info;
}

/* The file's mode stays, and of what was there nothing does. */
static void test_mode_stays(void **state)
{
    (void)state;
    put(PATH, OUTPUT_WHOLE, "a longer text");
    assert_int_equal(chmod(PATH, 0640), 0);
    put(PATH, OUTPUT_WHOLE, "short");
    assert_int_equal(look(PATH).st_mode & 0777, 0640);
    assert_int_equal(look(PATH).st_size, 5);
    assert_int_equal(files_in_folder(), 1);
    assert_int_equal(unlink(PATH), 0);
}

/* A chain of links, one of them from another folder, to a file that is there
 * or not: the links stay. */
static void test_links_stay(void **state)
{
    (void)state;
    assert_int_equal(symlink("second", PATH), 0);
    assert_int_equal(symlink("../" FOLDER "/target", FOLDER "/second"), 0);
    put(PATH, OUTPUT_WHOLE, "one");
    put(PATH, OUTPUT_WHOLE, "three");
    assert_true(S_ISLNK(look(PATH).st_mode));
    assert_true(S_ISLNK(look(FOLDER "/second").st_mode));
    assert_int_equal(look(FOLDER "/target").st_size, 5);
    /* A name that we chose is not followed. */
    put(PATH, OUTPUT_OWN, "four");
    assert_true(S_ISREG(look(PATH).st_mode));
    assert_int_equal(look(FOLDER "/target").st_size, 5);
    assert_int_equal(unlink(PATH), 0);
    assert_int_equal(unlink(FOLDER "/second"), 0);
    assert_int_equal(unlink(FOLDER "/target"), 0);
}

static void test_links_in_a_circle(void **state)
{
    struct output *output = NULL;
    struct why why = {0};

    (void)state;
    assert_int_equal(symlink("file", PATH), 0);
    assert_int_not_equal(output_open(&output, PATH, OUTPUT_WHOLE, 0644, &why),
                         ERR_OK);
    assert_int_equal(unlink(PATH), 0);
}

/* Written through where it is open; its name alone is refused. */
static void test_pipe_stays(void **state)
{
    char got[8] = {0}, name[32];
    struct output *output = NULL;
    struct why why = {0};
    int fd;

    (void)state;
    assert_int_equal(mkfifo(PATH, 0600), 0);
    fd = open(PATH, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(output_check(PATH, &why), ERR_DENIED);
    assert_int_equal(output_open(&output, PATH, OUTPUT_WHOLE, 0644, &why),
                     ERR_DENIED);
    assert_non_null(strstr(why.text, "a named pipe"));
    (void)snprintf(name, sizeof name, "/dev/fd/%d", fd);
    assert_int_equal(output_check(name, &why), ERR_OK);
    put(name, OUTPUT_WHOLE, "through");
    assert_int_equal(read(fd, got, sizeof got), 7);
    assert_string_equal(got, "through");
    put(name, OUTPUT_LIVE, "live");
    assert_int_equal(read(fd, got, sizeof got), 4);
    assert_int_equal(close(fd), 0);
    assert_true(S_ISFIFO(look(PATH).st_mode));
    assert_int_equal(unlink(PATH), 0);
}

static void test_device_stays(void **state)
{
    (void)state;
    put("/dev/null", OUTPUT_WHOLE, "nothing");
    put("/dev/null", OUTPUT_LIVE, "nothing");
    assert_true(S_ISCHR(look("/dev/null").st_mode));
}

static void test_folder_is_no_file(void **state)
{
    struct output *output = NULL;
    struct why why = {0};

    (void)state;
    assert_int_not_equal(output_open(&output, FOLDER, OUTPUT_WHOLE, 0644, &why),
                         ERR_OK);
    assert_non_null(strstr(why.text, "is a directory"));
}

static void test_same_file(void **state)
{
    (void)state;
    put(PATH, OUTPUT_WHOLE, "x");
    assert_int_equal(link(PATH, FOLDER "/again"), 0);
    assert_true(output_is_input(PATH, FOLDER "/../" FOLDER "/file"));
    assert_true(output_is_input(PATH, FOLDER "/again"));
    assert_false(output_is_input(PATH, FOLDER "/none"));
    assert_false(output_is_input("/dev/null", "/dev/null"));
    assert_int_equal(unlink(FOLDER "/again"), 0);
    assert_int_equal(unlink(PATH), 0);
}

/* What was printed before and after goes elsewhere; "-" and the other names of
 * it arrive where standard output went. */
static void test_stdout_taken(void **state)
{
    const int kept = dup(STDOUT_FILENO);
    const int fd = open(PATH, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    char got[16] = {0};

    (void)state;
    assert_true(kept >= 0 && fd >= 0);
    assert_int_equal(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
    assert_int_equal(output_take_stdout(NULL), ERR_OK);
    put("-", OUTPUT_WHOLE, "a");
    put("/dev/stdout", OUTPUT_WHOLE, "b");
    put(PATH, OUTPUT_WHOLE, "c"); /* Where it goes, by name. */
    assert_int_equal(output_take_stdout(NULL), ERR_OK);
    assert_int_equal(pread(fd, got, sizeof got, 0), 3);
    assert_string_equal(got, "abc");
    assert_int_equal(dup2(kept, STDOUT_FILENO), STDOUT_FILENO);
    assert_int_equal(close(kept), 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(unlink(PATH), 0);
}

#define STRANGER 65534u

static bool not_root(void)
{
    if (geteuid() != 0)
        print_message("skipped: only root can give files to another user\n");
    return geteuid() != 0;
}

static enum err try_open(const char *path, enum output_way way)
{
    struct output *output = NULL;
    struct why why = {0};
    const enum err err = output_open(&output, path, way, 0644, &why);

    if (err == ERR_OK)
        output_abort(output);
    return err;
}

/* What replaces another user's file is ours, and he cannot write to it. */
static void test_strangers_file_gives_no_right(void **state)
{
    const mode_t umask_before = umask(022);

    (void)state;
    if (!not_root()) {
        put(PATH, OUTPUT_WHOLE, "his");
        assert_int_equal(chmod(PATH, 0666), 0);
        assert_int_equal(chown(PATH, STRANGER, STRANGER), 0);
        put(PATH, OUTPUT_WHOLE, "ours");
        assert_int_equal(look(PATH).st_uid, geteuid());
        assert_int_equal(look(PATH).st_gid, getegid());
        assert_int_equal(look(PATH).st_mode & 0777, 0644);
        assert_int_equal(chmod(PATH, 0640), 0);
        assert_int_equal(chown(PATH, STRANGER, STRANGER), 0);
        put(PATH, OUTPUT_WHOLE, "ours");
        assert_int_equal(look(PATH).st_mode & 0777, 0600);
        assert_int_equal(unlink(PATH), 0);
    }
    (void)umask(umask_before);
}

/* Whose file grows under our hands could change what we write. */
static void test_strangers_file_does_not_grow(void **state)
{
    (void)state;
    if (not_root())
        return;
    put(PATH, OUTPUT_LIVE, "his");
    assert_int_equal(chown(PATH, STRANGER, STRANGER), 0);
    assert_int_equal(try_open(PATH, OUTPUT_LIVE), ERR_DENIED);
    assert_int_equal(look(PATH).st_size, 3);
    assert_int_equal(chown(PATH, geteuid(), getegid()), 0);
    assert_int_equal(try_open(PATH, OUTPUT_LIVE), ERR_OK);
    assert_int_equal(unlink(PATH), 0);
}

/* In any folder, also if it is the second one, and to a device; our own are
 * followed. */
static void test_strangers_link_is_refused(void **state)
{
    (void)state;
    if (not_root())
        return;
    put(FOLDER "/target", OUTPUT_WHOLE, "x");
    assert_int_equal(chmod(FOLDER, 01777), 0);
    assert_int_equal(symlink("target", PATH), 0);
    assert_int_equal(symlink("file", FOLDER "/first"), 0);
    assert_int_equal(try_open(FOLDER "/first", OUTPUT_WHOLE), ERR_OK);
    assert_int_equal(lchown(PATH, STRANGER, STRANGER), 0);
    assert_int_equal(try_open(PATH, OUTPUT_WHOLE), ERR_DENIED);
    assert_int_equal(try_open(FOLDER "/first", OUTPUT_WHOLE), ERR_DENIED);
    assert_int_equal(try_open(FOLDER "/first", OUTPUT_LIVE), ERR_DENIED);
    assert_int_equal(chown(FOLDER, STRANGER, STRANGER), 0);
    assert_int_equal(chmod(FOLDER, 0755), 0);
    assert_int_equal(try_open(FOLDER "/first", OUTPUT_WHOLE), ERR_DENIED);
    assert_int_equal(output_check(FOLDER "/first", NULL), ERR_DENIED);
    assert_int_equal(symlink("/dev/null", FOLDER "/null"), 0);
    assert_int_equal(try_open(FOLDER "/null", OUTPUT_WHOLE), ERR_OK);
    assert_int_equal(lchown(FOLDER "/null", STRANGER, STRANGER), 0);
    assert_int_equal(try_open(FOLDER "/null", OUTPUT_WHOLE), ERR_DENIED);
    assert_int_equal(output_check(FOLDER "/null", NULL), ERR_DENIED);
    assert_int_equal(unlink(FOLDER "/null"), 0);
    assert_int_equal(chown(FOLDER, geteuid(), getegid()), 0);
    assert_int_equal(chmod(FOLDER, 0700), 0);
    assert_int_equal(look(FOLDER "/target").st_size, 1);
    assert_int_equal(unlink(PATH), 0);
    assert_int_equal(unlink(FOLDER "/first"), 0);
    assert_int_equal(unlink(FOLDER "/target"), 0);
}

/* A folder to drop files into: it cannot be synced, the file is there. */
static void test_folder_that_cannot_be_read(void **state)
{
    struct why why = {0};
    enum err err;

    (void)state;
    assert_int_equal(chmod(FOLDER, 0333), 0);
    if (geteuid() == 0)
        assert_int_equal(seteuid(STRANGER), 0);
    err = output_save(PATH, "x", 1, &why);
    assert_int_equal(seteuid(getuid()), 0);
    assert_int_equal(chmod(FOLDER, 0700), 0);
    assert_string_equal(why.text, "");
    assert_int_equal(err, ERR_OK);
    assert_int_equal(look(PATH).st_size, 1);
    assert_int_equal(unlink(PATH), 0);
}

/* Not even a link that leads nowhere is in the place of a new file. */
static void test_new_file(void **state)
{
    (void)state;
    assert_int_equal(symlink("target", PATH), 0);
    assert_int_equal(try_open(PATH, OUTPUT_NEW), ERR_EXISTS);
    assert_int_equal(unlink(PATH), 0);
    assert_int_equal(try_open(PATH, OUTPUT_NEW), ERR_OK);
    assert_int_equal(files_in_folder(), 0); /* Dropped. */
    put(PATH, OUTPUT_NEW, "new");
    assert_int_equal(look(PATH).st_size, 3);
    assert_int_equal(try_open(PATH, OUTPUT_NEW), ERR_EXISTS);
    assert_int_equal(unlink(PATH), 0);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdir(FOLDER, 0700);
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(FOLDER); /* Empty by then. */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_mode_stays),
        cmocka_unit_test(test_links_stay),
        cmocka_unit_test(test_links_in_a_circle),
        cmocka_unit_test(test_pipe_stays),
        cmocka_unit_test(test_device_stays),
        cmocka_unit_test(test_folder_is_no_file),
        cmocka_unit_test(test_same_file),
        cmocka_unit_test(test_strangers_file_gives_no_right),
        cmocka_unit_test(test_strangers_file_does_not_grow),
        cmocka_unit_test(test_strangers_link_is_refused),
        cmocka_unit_test(test_folder_that_cannot_be_read),
        cmocka_unit_test(test_new_file),
        cmocka_unit_test(test_stdout_taken), /* Last: it stays taken. */
    };

    return cmocka_run_group_tests_name("output", tests, make_folder,
                                       remove_folder);
}
