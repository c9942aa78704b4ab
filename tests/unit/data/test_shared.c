/*
 * Every chunk read from a prepared file is, byte for byte, the chunk that
 * would have been shipped: all storages, any cut, any order; and other data is
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pool.h"
#include "data/read/cache.h"
#include "data/read/shared.h"
#include "data/source.h"

#define TEXT      "test_shared.svm"
#define FILE_NAME "test_shared.prepared"

static const char *const storages[] = {"f32", "f64",   "bf16",  "i8", "u8",
                                       "bit", "pixel", "index", "csr"};

/* 0/1 values in rows of different lengths, one of them empty. */
static void write_text(void)
{
    FILE *file = fopen(TEXT, "wb");

    assert_non_null(file);
    for (int i = 0; i < 45; i++) {
        (void)fprintf(file, "%+d", i % 2 == 0 ? 1 : -1);
        for (int j = 1; j <= 13; j++) {
            if ((i * 7 + j * 5) % 11 < i % 6)
                (void)fprintf(file, " %d:1", j);
        }
        (void)fputc('\n', file);
    }
    assert_int_equal(fclose(file), 0);
}

static struct dataset load(const char *storage, uint32_t chunk_rows)
{
    const struct source_options options = {
        .spec = TEXT, .storage = storage, .chunk_rows = chunk_rows};
    struct dataset data = {0};
    struct why why = {0};

    assert_int_equal(source_load(&options, &data, NULL, NULL, &why), ERR_OK);
    return data;
}

static void prepare(const struct dataset *data)
{
    const struct digest key = {0};
    struct why why = {0};

    assert_int_equal(cache_write(FILE_NAME, &key, data, pool_serial(), &why),
                     ERR_OK);
}

static struct shared *open_shared(const struct dataset *data, enum err wanted)
{
    const struct dataset_shape shape = dataset_shape(data);
    const struct digest digest = dataset_digest(data);
    struct shared *shared = NULL;
    struct why why = {0};

    assert_int_equal(shared_open(FILE_NAME, NULL, &shared, &why), ERR_OK);
    assert_int_equal(shared_check(shared, &shape, &digest, &why), wanted);
    assert_int_equal(why.text[0] == '\0', wanted == ERR_OK);
    return shared;
}

static void compare(const struct dataset *data, struct shared *shared,
                    uint32_t chunk, uint32_t end)
{
    const size_t size = dataset_chunk_bytes(data, chunk);
    uint8_t *wanted = mem_new(size, 1);
    const uint8_t *bytes = NULL;
    size_t got = 0;
    struct why why = {0};

    dataset_chunk_encode(data, chunk, wanted);
    assert_int_equal(shared_chunk(shared, chunk, end, &bytes, &got, &why),
                     ERR_OK);
    assert_int_equal(got, size);
    assert_memory_equal(bytes, wanted, size);
    mem_free(wanted);
}

static void check_all(const struct dataset *data)
{
    const uint32_t chunks = dataset_chunks(data);
    struct shared *shared = open_shared(data, ERR_OK);

    for (uint32_t chunk = 0; chunk < chunks; chunk++)
        compare(data, shared, chunk, chunks);
    for (uint32_t chunk = chunks; chunk-- > 0;)
        compare(data, shared, chunk, chunk + 1);
    shared_close(shared);
}

static void test_chunks_as_shipped(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof storages / sizeof *storages; i++) {
        struct dataset data = load(storages[i], 8);

        prepare(&data);
        check_all(&data);
        assert_int_equal(dataset_add_weights(&data), ERR_OK);
        data.weight[3] = 2.5;
        prepare(&data);
        check_all(&data);
        dataset_close(&data);
    }
}

/* The file's own cut is not the job's. */
static void test_any_cut(void **state)
{
    static const uint32_t cuts[] = {1, 7, 45, 100};

    (void)state;
    for (size_t i = 0; i < sizeof storages / sizeof *storages; i++) {
        struct dataset data = load(storages[i], 8);

        prepare(&data);
        dataset_close(&data);
        for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
            data = load(storages[i], cuts[k]);
            check_all(&data);
            dataset_close(&data);
        }
    }
}

static void test_other_data_is_refused(void **state)
{
    struct dataset data = load("csr", 8);
    struct dataset other = load("f32", 8);

    (void)state;
    prepare(&data);
    shared_close(open_shared(&other, ERR_MISMATCH));
    data.value[5] = 3; /* The same shape. */
    shared_close(open_shared(&data, ERR_MISMATCH));
    dataset_close(&data);
    dataset_close(&other);
}

static void test_what_is_no_file(void **state)
{
    struct shared *shared = NULL;
    struct why why = {0};

    (void)state;
    assert_int_equal(shared_open(TEXT, NULL, &shared, &why), ERR_FORMAT);
    assert_int_equal(shared_open("no such file", NULL, &shared, &why),
                     ERR_NOTFOUND);
    assert_int_equal(shared_open("/dev/null", NULL, &shared, &why),
                     ERR_UNSUPPORTED);
    assert_null(shared);
    shared_close(NULL);
}

/* Cut short behind the first page. */
static void test_truncated(void **state)
{
    struct dataset data = load("f32", 8);
    struct shared *shared;
    const uint8_t *bytes = NULL;
    size_t size = 0;
    struct why why = {0};

    (void)state;
    prepare(&data);
    assert_int_equal(truncate(FILE_NAME, 2 * CACHE_PAGE), 0);
    shared = open_shared(&data, ERR_OK);
    assert_int_equal(shared_chunk(shared, 0, 1, &bytes, &size, &why),
                     ERR_TRUNCATED);
    assert_non_null(strstr(why.text, "too early"));
    shared_close(shared);
    dataset_close(&data);
}

static int begin(void **state)
{
    (void)state;
    write_text();
    return 0;
}

static int end(void **state)
{
    (void)state;
    (void)unlink(TEXT);
    (void)unlink(FILE_NAME);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks_as_shipped),
        cmocka_unit_test(test_any_cut),
        cmocka_unit_test(test_other_data_is_refused),
        cmocka_unit_test(test_what_is_no_file),
        cmocka_unit_test(test_truncated),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
