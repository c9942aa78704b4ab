/*
 * Pieces come out as they went in or not at all: damage, other content under
 * the name, and the cap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/file/depot.h"

#define FOLDER "test_depot.tmp/a/b"
#define SIZE   1000u

static void path_of(const struct digest *digest, char path[256])
{
    char name[DIGEST_TEXT];

    (void)snprintf(path, 256, FOLDER "/%s", digest_text(digest, name));
}

static struct depot *open_depot(uint64_t most)
{
    struct depot *depot = NULL;
    struct why why = {0};

    assert_int_equal(depot_open(FOLDER, most, &depot, &why), ERR_OK);
    return depot;
}

static struct digest put(struct depot *depot, uint8_t fill)
{
    uint8_t bytes[SIZE];
    struct digest digest;
    struct why why = {0};

    memset(bytes, fill, sizeof bytes);
    digest = hash_bytes(bytes, sizeof bytes);
    assert_int_equal(depot_put(depot, &digest, bytes, sizeof bytes, &why),
                     ERR_OK);
    return digest;
}

/* Gives it a time of use, so that the test does not depend on the clock. */
static void set_age(const struct digest *digest, time_t second)
{
    const struct timespec times[2] = {{.tv_sec = second}, {.tv_sec = second}};
    char path[256];

    path_of(digest, path);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static int remove_all(void **state)
{
    (void)state;
    return system("rm -rf test_depot.tmp") == 0 ? 0 : -1;
}

static void test_in_and_out(void **state)
{
    struct depot *depot = open_depot(1 << 20);
    const struct digest digest = put(depot, 7);
    const struct digest other = hash_bytes("x", 1);
    uint8_t bytes[SIZE];
    size_t size = 0;
    struct stat info;
    char path[256];

    (void)state;
    assert_true(depot_has(depot, &digest));
    assert_false(depot_has(depot, &other));
    assert_int_equal(depot_size(depot, &digest, &size), ERR_OK);
    assert_int_equal(size, SIZE);
    assert_int_equal(depot_get(depot, &digest, bytes, sizeof bytes, &size),
                     ERR_OK);
    assert_int_equal(size, SIZE);
    assert_int_equal(bytes[SIZE - 1], 7);
    assert_int_equal(depot_get(depot, &other, bytes, sizeof bytes, &size),
                     ERR_NOTFOUND);
    assert_int_equal(depot_size(depot, &other, &size), ERR_NOTFOUND);
    path_of(&digest, path);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(stat(FOLDER, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    depot_close(depot);
    depot_close(NULL);
}

static void test_other_content_is_not_kept(void **state)
{
    struct depot *depot = open_depot(1 << 20);
    const struct digest digest = hash_bytes("x", 1);

    (void)state;
    assert_int_equal(depot_put(depot, &digest, (const uint8_t *)"y", 1, NULL),
                     ERR_MISMATCH);
    assert_false(depot_has(depot, &digest));
    depot_close(depot);
}

static void test_damage_is_found_and_removed(void **state)
{
    struct depot *depot = open_depot(1 << 20);

    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        const struct digest digest = put(depot, 9);
        uint8_t bytes[SIZE];
        size_t size = 0;
        char path[256];
        int fd;

        path_of(&digest, path);
        fd = open(path, O_WRONLY);
        assert_true(fd >= 0);
        if (kind == 0)
            assert_int_equal(pwrite(fd, "?", 1, 500), 1);
        if (kind == 1)
            assert_int_equal(ftruncate(fd, SIZE / 2), 0);
        if (kind == 2)
            assert_int_equal(ftruncate(fd, SIZE * 2), 0);
        assert_int_equal(close(fd), 0);
        assert_int_equal(depot_get(depot, &digest, bytes, sizeof bytes, &size),
                         ERR_MISMATCH);
        assert_false(depot_has(depot, &digest));
    }
    depot_close(depot);
}

static void damage(const struct digest *digest)
{
    char path[256];
    int fd;

    path_of(digest, path);
    fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, "?", 1, 500), 1);
    assert_int_equal(close(fd), 0);
}

static int hold_folder(void)
{
    const int fd = open(FOLDER "/.bytes", O_RDWR);

    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    return fd;
}

struct reader {
    struct depot *depot;
    struct digest digest;
};

static void *get_damaged(void *context)
{
    const struct reader *reader = context;
    uint8_t bytes[SIZE];
    size_t size = 0;

    assert_int_equal(
        depot_get(reader->depot, &reader->digest, bytes, sizeof bytes, &size),
        ERR_MISMATCH);
    return NULL;
}

static void await_read(const char *path)
{
    struct stat info;

    do {
        assert_int_equal(stat(path, &info), 0);
        (void)sched_yield();
    } while (info.st_mtime == 1000);
}

/* Two find the same damage; one has mended it when the other, which has read
 * the old bytes, comes to throw them away. */
static void test_a_mended_piece_is_not_discarded(void **state)
{
    struct depot *depot = open_depot(1 << 20);
    const struct digest digest = put(depot, 9);
    struct reader reader = {.depot = open_depot(1 << 20), .digest = digest};
    uint8_t bytes[SIZE];
    size_t size = 0;
    pthread_t other;
    char path[256];
    int held, fd;

    (void)state;
    damage(&digest);
    set_age(&digest, 1000);
    path_of(&digest, path);
    memset(bytes, 9, sizeof bytes);
    fd = open(FOLDER "/mended", O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_int_equal(write(fd, bytes, sizeof bytes), SIZE);
    assert_int_equal(close(fd), 0);
    held = hold_folder();
    assert_int_equal(pthread_create(&other, NULL, get_damaged, &reader), 0);
    await_read(path);
    assert_int_equal(rename(FOLDER "/mended", path), 0);
    assert_int_equal(close(held), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(depot_get(depot, &digest, bytes, sizeof bytes, &size),
                     ERR_OK);
    depot_close(reader.depot);
    depot_close(depot);
}

/* Nor is anything thrown away while another has the folder; who then puts the
 * piece puts it over the damaged one. */
static void test_a_damaged_piece_is_written_over(void **state)
{
    struct depot *depot = open_depot(1 << 20);
    const struct digest digest = put(depot, 9);
    const int held = hold_folder();
    uint8_t bytes[SIZE];
    size_t size = 0;

    (void)state;
    damage(&digest);
    assert_int_equal(depot_get(depot, &digest, bytes, sizeof bytes, &size),
                     ERR_MISMATCH);
    assert_true(depot_has(depot, &digest));
    assert_int_equal(close(held), 0);
    (void)put(depot, 9);
    assert_int_equal(depot_get(depot, &digest, bytes, sizeof bytes, &size),
                     ERR_OK);
    depot_close(depot);
}

/* Over the cap the oldest go, and those of an earlier process count. */
static void test_cap(void **state)
{
    struct depot *depot = open_depot(10 * SIZE);
    struct digest digests[10];

    (void)state;
    for (uint8_t i = 0; i < 10; i++) {
        digests[i] = put(depot, i);
        set_age(&digests[i], 1000 + i);
    }
    set_age(&digests[0], 2000); /* Used since. */
    depot_close(depot);
    depot = open_depot(10 * SIZE);
    assert_true(depot_has(depot, &digests[0]));
    assert_false(depot_has(depot, &digests[1]));
    assert_true(depot_has(depot, &digests[2]));
    (void)put(depot, 100);
    (void)put(depot, 101);
    assert_false(depot_has(depot, &digests[2]));
    assert_true(depot_has(depot, &digests[0]));
    assert_true(depot_has(depot, &digests[9]));
    depot_close(depot);
}

static void test_larger_than_the_cap(void **state)
{
    struct depot *depot = open_depot(SIZE - 1);
    const struct digest digest = put(depot, 1);

    (void)state;
    assert_false(depot_has(depot, &digest));
    depot_close(depot);
}

static uint64_t bytes_in_folder(void)
{
    DIR *const folder = opendir(FOLDER);
    uint64_t bytes = 0;
    char path[512];
    struct stat info;

    assert_non_null(folder);
    for (struct dirent *one = readdir(folder); one != NULL;
         one = readdir(folder)) {
        (void)snprintf(path, sizeof path, FOLDER "/%s", one->d_name);
        assert_int_equal(stat(path, &info), 0);
        if (one->d_name[0] != '.')
            bytes += (uint64_t)info.st_size;
    }
    assert_int_equal(closedir(folder), 0);
    return bytes;
}

/* Four that share the folder share its cap: in turn, and at once. */
static void test_cap_of_all(void **state)
{
    const uint64_t most = (uint64_t)5 * SIZE;
    struct depot *depot[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        depot[i] = open_depot(most);
    for (int i = 0; i < 40; i++) {
        (void)put(depot[i % 4], (uint8_t)i);
        assert_true(bytes_in_folder() <= most);
    }
    for (int i = 0; i < 4; i++)
        depot_close(depot[i]);
    for (int i = 0; i < 4; i++) {
        if (fork() != 0)
            continue;
        depot[0] = open_depot(most);
        for (int k = 0; k < 50; k++)
            (void)put(depot[0], (uint8_t)(50 * i + k));
        depot_close(depot[0]);
        _exit(0);
    }
    for (int i = 0; i < 4; i++)
        assert_true(wait(NULL) > 0);
    assert_true(bytes_in_folder() <= most);
    assert_true(bytes_in_folder() > 0);
}

static void test_no_folder_to_make(void **state)
{
    struct depot *depot = NULL;
    struct why why = {0};

    (void)state;
    assert_int_not_equal(depot_open("/dev/null/x", 1, &depot, &why), ERR_OK);
    assert_null(depot);
    assert_true(why.text[0] != '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_in_and_out, remove_all),
        cmocka_unit_test_teardown(test_other_content_is_not_kept, remove_all),
        cmocka_unit_test_teardown(test_damage_is_found_and_removed, remove_all),
        cmocka_unit_test_teardown(test_a_mended_piece_is_not_discarded,
                                  remove_all),
        cmocka_unit_test_teardown(test_a_damaged_piece_is_written_over,
                                  remove_all),
        cmocka_unit_test_teardown(test_cap, remove_all),
        cmocka_unit_test_teardown(test_larger_than_the_cap, remove_all),
        cmocka_unit_test_teardown(test_cap_of_all, remove_all),
        cmocka_unit_test_teardown(test_no_folder_to_make, remove_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
