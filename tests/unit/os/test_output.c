/*
 * A file appears whole when it is committed, and not at all if it is dropped
 * or something fails; nothing is left beside it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/output.h"

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
    assert_int_equal(output_open(&output, PATH, &why), ERR_OK);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        output_write(output, bytes, pieces[i]);
        size += pieces[i];
        assert_int_equal(output_size(output), size);
    }
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
    assert_int_equal(output_open(&output, PATH, &why), ERR_OK);
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
    assert_int_equal(output_open(&output, FOLDER "/none/file", &why),
                     ERR_NOTFOUND);
    assert_non_null(strstr(why.text, FOLDER "/none/file"));
    memset(name, 'a', sizeof name - 1);
    assert_int_not_equal(output_open(&output, name, &why), ERR_OK);
    /* A folder is in the way. */
    assert_int_equal(mkdir(PATH, 0700), 0);
    assert_int_equal(output_open(&output, PATH, &why), ERR_OK);
    output_write(output, "x", 1);
    assert_int_not_equal(output_commit(output, &why), ERR_OK);
    assert_non_null(strstr(why.text, PATH));
    assert_int_equal(files_in_folder(), 1);
    assert_int_equal(rmdir(PATH), 0);
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
    };

    return cmocka_run_group_tests_name("output", tests, make_folder,
                                       remove_folder);
}
