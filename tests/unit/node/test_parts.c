/*
 * What a run keeps of private data: written and read it is the same, any byte
 * that is changed or missing is noticed, and the data set made of it has whole
 * chunks for each file.
 */
#include "node/owners/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "os/file/file.h"

static struct parts make(void)
{
    struct parts parts = {.count = 2,
                          .rows = 230,
                          .cols = 5,
                          .image = {5, 1, 1},
                          .sizes = {.least = -1, .most = 200, .whole = true},
                          .intercept = true,
                          .model = MODEL_LOGISTIC,
                          .label_count = 2};

    parts.homes = mem_new(2, sizeof *parts.homes);
    parts.labels = mem_new(2, sizeof *parts.labels);
    assert_non_null(parts.homes);
    assert_non_null(parts.labels);
    parts.homes[0] = (struct home){.part = {{1}}, .rows = 100};
    parts.homes[1] = (struct home){.part = {{2}}, .rows = 130};
    parts.labels[1] = 1;
    assert_int_equal(parts_cut(&parts, 64), ERR_OK);
    assert_int_equal(bounds_init(&parts.bounds, 8), ERR_OK);
    parts.bounds.u[3] = 0.25;
    parts.bounds.m[7] = 5;
    parts.bounds.x_max[0] = 3;
    parts.bounds.norm = 7;
    return parts;
}

static void test_file(void **state)
{
    char folder[] = "parts-XXXXXX";
    char path[64];
    struct parts parts = make();
    struct parts again = {0};
    struct digest before = parts_digest(&parts), after;
    uint8_t *bytes;
    size_t size;

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/parts", folder);
    assert_int_equal(parts_save(&parts, folder, NULL), ERR_OK);
    assert_int_equal(parts_load(&again, folder, NULL), ERR_OK);
    after = parts_digest(&again);
    assert_true(digest_equal(&before, &after));
    assert_int_equal(again.rows, 230);
    assert_int_equal(again.chunks, 5);
    assert_int_equal(again.homes[1].first, 2);
    assert_int_equal(again.image.height, 5);
    assert_true(again.sizes.least == -1 && again.sizes.most == 200);
    assert_true(again.sizes.whole);
    assert_int_equal(parts_schema(&again, 1, true).first_row, 100);
    assert_true(again.bounds.u[3] == 0.25 && again.bounds.norm == 7);
    assert_true(again.bounds.m[7] == 5 && again.bounds.x_max[0] == 3);
    parts_close(&again);
    assert_int_equal(file_read(path, 65536, &bytes, &size, NULL), ERR_OK);
    for (size_t i = 0; i < size; i += 7) {
        bytes[i] ^= 1;
        assert_int_equal(file_write_atomic(path, bytes, size, 0600, NULL),
                         ERR_OK);
        assert_int_equal(parts_load(&again, folder, NULL), ERR_FORMAT);
        bytes[i] ^= 1;
    }
    for (size_t cut = 0; cut < size; cut += 11) {
        assert_int_equal(file_write_atomic(path, bytes, cut, 0600, NULL),
                         ERR_OK);
        assert_int_equal(parts_load(&again, folder, NULL), ERR_FORMAT);
    }
    mem_free(bytes);
    parts_close(&parts);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static long peak_kib(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

/* A hole of many GiB takes no room on the disk: what it says of its size is
 * looked at before anything is read. */
static void test_huge(void **state)
{
    char folder[] = "parts-XXXXXX";
    char path[64];
    struct parts parts = make();
    struct parts again = {0};
    struct why why = {0};
    long before;

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/parts", folder);
    assert_int_equal(parts_save(&parts, folder, NULL), ERR_OK);
    assert_int_equal(truncate(path, (off_t)1 << 34), 0);
    before = peak_kib();
    assert_int_equal(parts_load(&again, folder, &why), ERR_TOOBIG);
    assert_true(peak_kib() - before < 65536);
    assert_non_null(strstr(why.text, "larger than"));
    parts_close(&parts);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* Whatever is in the file is in one of the two names: a peer that was told
 * something else is another one. */
static void test_all_is_named(void **state)
{
    struct parts parts = make();
    const struct digest data = parts_digest(&parts);
    const struct digest derived = parts_derived(&parts);
    uint8_t *bytes;
    size_t size;
    uint32_t read = 0;

    (void)state;
    assert_int_equal(parts_encode(&parts, &bytes, &size), ERR_OK);
    for (size_t i = 0; i < size - DIGEST_BYTES; i++) {
        struct parts other = {0};
        struct digest named, also, whole;

        bytes[i] ^= 1;
        whole = hash_bytes(bytes, size - DIGEST_BYTES);
        memcpy(bytes + size - DIGEST_BYTES, whole.bytes, DIGEST_BYTES);
        if (parts_decode(bytes, size, &other) == ERR_OK) {
            named = parts_digest(&other);
            also = parts_derived(&other);
            assert_false(digest_equal(&named, &data) &&
                         digest_equal(&also, &derived));
            read++;
        }
        parts_close(&other);
        bytes[i] ^= 1;
    }
    assert_true(read > size / 2);
    mem_free(bytes);
    parts_close(&parts);
}

/* A network has no bounds. */
static void test_unbounded(void **state)
{
    char folder[] = "parts-XXXXXX";
    struct parts parts = make();
    struct parts again = {0};
    char path[64];

    (void)state;
    bounds_close(&parts.bounds);
    parts.bounds = (struct bounds){0};
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/parts", folder);
    assert_int_equal(parts_save(&parts, folder, NULL), ERR_OK);
    assert_int_equal(parts_load(&again, folder, NULL), ERR_OK);
    assert_int_equal(again.bounds.dims, 0);
    assert_int_equal(again.chunks, 5);
    parts_close(&again);
    parts_close(&parts);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void test_hollow(void **state)
{
    struct parts parts = make();
    struct dataset data;

    (void)state;
    assert_int_equal(parts_hollow(&parts, &data), ERR_OK);
    assert_int_equal(dataset_chunks(&data), 5);
    assert_int_equal(dataset_chunk_size(&data, 0), 64);
    assert_int_equal(dataset_chunk_size(&data, 1), 36);
    assert_int_equal(dataset_first_row(&data, 2), 100);
    assert_int_equal(dataset_chunk_size(&data, 4), 2);
    assert_int_equal(data.classes, 2);
    assert_null(data.y);
    dataset_close(&data);
    parts_close(&parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),   cmocka_unit_test(test_all_is_named),
        cmocka_unit_test(test_huge),   cmocka_unit_test(test_unbounded),
        cmocka_unit_test(test_hollow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
