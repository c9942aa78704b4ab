/*
 * A real folder under the working directory; every operation of base/disk.h,
 * then what must be refused.
 */
#include "os/file/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static unsigned syncs; /* So far. */

/* In the place of the library's. */
int fsync(int fd)
{
    syncs++;
    return fdatasync(fd);
}

struct fixture {
    char path[64];
    struct folder folder;
    struct disk *disk;
};

static int setup(void **state)
{
    struct fixture *f = mem_new(1, sizeof *f);

    (void)snprintf(f->path, sizeof f->path, "folder.XXXXXX");
    assert_non_null(mkdtemp(f->path));
    assert_int_equal(folder_open(&f->folder, f->path, NULL), ERR_OK);
    f->disk = &f->folder.disk;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    static const char *const names[] = {"a", "b", "link", "outside"};
    struct fixture *f = *state;
    char path[128];

    folder_close(&f->folder);
    folder_close(&f->folder); /* Twice does no harm. */
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", f->path, names[i]);
        (void)unlink(path);
    }
    assert_int_equal(rmdir(f->path), 0);
    mem_free(f);
    return 0;
}

static void check_holds(struct fixture *f, const char *name, const char *text)
{
    uint8_t *data;
    size_t size;

    assert_int_equal(f->disk->ops->read(f->disk, name, &data, &size), ERR_OK);
    assert_int_equal(size, strlen(text));
    assert_memory_equal(data, text, size);
    mem_free(data);
}

static void test_write_read(void **state)
{
    struct fixture *f = *state;
    const struct disk_ops *ops = f->disk->ops;
    uint8_t *data;
    size_t size;

    assert_int_equal(ops->read(f->disk, "a", &data, &size), ERR_NOTFOUND);
    assert_int_equal(ops->write_new(f->disk, "a", "hello", 5), ERR_OK);
    check_holds(f, "a", "hello");
    assert_int_equal(ops->write_new(f->disk, "a", "hi", 2), ERR_OK);
    assert_int_equal(ops->sync(f->disk, "a"), ERR_OK);
    assert_int_equal(ops->sync_folder(f->disk), ERR_OK);
    check_holds(f, "a", "hi");
    assert_int_equal(ops->write_new(f->disk, "a", "", 0), ERR_OK);
    check_holds(f, "a", "");
}

static void test_append_cut_rename(void **state)
{
    struct fixture *f = *state;
    const struct disk_ops *ops = f->disk->ops;

    assert_int_equal(ops->append(f->disk, "a", "one", 3), ERR_OK);
    assert_int_equal(ops->append(f->disk, "a", "two", 3), ERR_OK);
    assert_int_equal(ops->sync(f->disk, "a"), ERR_OK);
    check_holds(f, "a", "onetwo");
    assert_int_equal(ops->cut(f->disk, "a", 4), ERR_OK);
    assert_int_equal(ops->append(f->disk, "a", "!", 1), ERR_OK);
    check_holds(f, "a", "onet!");
    /* The kept descriptor must not follow a renamed file. */
    assert_int_equal(ops->rename(f->disk, "a", "b"), ERR_OK);
    assert_int_equal(ops->append(f->disk, "a", "new", 3), ERR_OK);
    check_holds(f, "b", "onet!");
    check_holds(f, "a", "new");
    assert_int_equal(ops->rename(f->disk, "b", "a"), ERR_OK);
    assert_int_equal(ops->append(f->disk, "a", "?", 1), ERR_OK);
    check_holds(f, "a", "onet!?");
    assert_int_equal(ops->write_new(f->disk, "a", "x", 1), ERR_OK);
    assert_int_equal(ops->append(f->disk, "a", "y", 1), ERR_OK);
    check_holds(f, "a", "xy");
}

static unsigned syncs_of(struct fixture *f)
{
    const unsigned before = syncs;

    assert_int_equal(f->disk->ops->sync_folder(f->disk), ERR_OK);
    return syncs - before;
}

/* A file that grows changes no name. */
static void test_folder_synced_for_names(void **state)
{
    struct fixture *f = *state;
    const struct disk_ops *ops = f->disk->ops;

    assert_int_equal(syncs_of(f), 1); /* A life before may have left some. */
    assert_int_equal(syncs_of(f), 0);
    assert_int_equal(ops->append(f->disk, "a", "one", 3), ERR_OK);
    assert_int_equal(syncs_of(f), 1);
    assert_int_equal(ops->append(f->disk, "a", "two", 3), ERR_OK);
    assert_int_equal(ops->cut(f->disk, "a", 4), ERR_OK);
    assert_int_equal(syncs_of(f), 0);
    assert_int_equal(ops->write_new(f->disk, "b", "x", 1), ERR_OK);
    assert_int_equal(syncs_of(f), 1);
    assert_int_equal(ops->rename(f->disk, "b", "a"), ERR_OK);
    assert_int_equal(syncs_of(f), 1);
    assert_int_equal(ops->append(f->disk, "a", "y", 1), ERR_OK);
    assert_int_equal(syncs_of(f), 1); /* Opened anew: made, perhaps. */
    assert_int_equal(syncs_of(f), 0);
}

static void test_missing(void **state)
{
    struct fixture *f = *state;
    const struct disk_ops *ops = f->disk->ops;

    assert_int_equal(ops->cut(f->disk, "a", 0), ERR_NOTFOUND);
    assert_int_equal(ops->sync(f->disk, "a"), ERR_NOTFOUND);
    assert_int_equal(ops->rename(f->disk, "a", "b"), ERR_NOTFOUND);
}

static void test_private_and_no_links(void **state)
{
    struct fixture *f = *state;
    const struct disk_ops *ops = f->disk->ops;
    char path[128];
    struct stat info;
    uint8_t *data;
    size_t size;

    assert_int_equal(ops->write_new(f->disk, "a", "x", 1), ERR_OK);
    (void)snprintf(path, sizeof path, "%s/a", f->path);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    (void)snprintf(path, sizeof path, "%s/link", f->path);
    assert_int_equal(symlink("a", path), 0);
    assert_int_equal(ops->write_new(f->disk, "link", "y", 1), ERR_DENIED);
    assert_int_equal(ops->append(f->disk, "link", "y", 1), ERR_DENIED);
    assert_int_equal(ops->read(f->disk, "link", &data, &size), ERR_DENIED);
    check_holds(f, "a", "x");
}

/* Nobody waits for the other end of a pipe. */
static void test_no_pipes(void **state)
{
    struct fixture *f = *state;
    const struct disk_ops *ops = f->disk->ops;
    char path[128], byte;
    uint8_t *data;
    size_t size;

    (void)snprintf(path, sizeof path, "%s/pipe", f->path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(ops->read(f->disk, "pipe", &data, &size), ERR_DENIED);
    assert_int_equal(ops->read_at(f->disk, "pipe", 0, &byte, 1, &size),
                     ERR_DENIED);
    assert_int_equal(ops->append(f->disk, "pipe", "y", 1), ERR_DENIED);
    assert_int_equal(ops->write_new(f->disk, "pipe", "y", 1), ERR_DENIED);
    assert_int_equal(unlink(path), 0);
}

static void test_read_at(void **state)
{
    struct fixture *f = *state;
    const struct disk_ops *ops = f->disk->ops;
    char got[8];
    size_t size;

    assert_int_equal(ops->write_new(f->disk, "a", "hello", 5), ERR_OK);
    assert_int_equal(ops->read_at(f->disk, "a", 1, got, 3, &size), ERR_OK);
    assert_int_equal(size, 3);
    assert_memory_equal(got, "ell", 3);
    assert_int_equal(ops->read_at(f->disk, "a", 3, got, 8, &size), ERR_OK);
    assert_int_equal(size, 2);
    assert_int_equal(ops->read_at(f->disk, "a", 9, got, 8, &size), ERR_OK);
    assert_int_equal(size, 0);
    assert_int_equal(ops->read_at(f->disk, "none", 0, got, 8, &size),
                     ERR_NOTFOUND);
}

static void test_large(void **state)
{
    struct fixture *f = *state;
    const size_t size = 5000001;
    uint8_t *data = mem_new(size, 1), *back;
    size_t got;

    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(i * 7);
    assert_int_equal(f->disk->ops->write_new(f->disk, "a", data, size), ERR_OK);
    assert_int_equal(f->disk->ops->read(f->disk, "a", &back, &got), ERR_OK);
    assert_int_equal(got, size);
    assert_memory_equal(back, data, size);
    mem_free(back);
    mem_free(data);
}

static void test_no_folder(void **state)
{
    struct folder folder;
    struct why why = {0};

    (void)state;
    assert_int_equal(folder_open(&folder, "no/such/folder", &why),
                     ERR_NOTFOUND);
    assert_non_null(strstr(why.text, "no/such/folder"));
    folder_close(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_write_read, setup, teardown),
        cmocka_unit_test_setup_teardown(test_append_cut_rename, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_folder_synced_for_names, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_missing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_private_and_no_links, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_no_pipes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_read_at, setup, teardown),
        cmocka_unit_test_setup_teardown(test_large, setup, teardown),
        cmocka_unit_test(test_no_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
