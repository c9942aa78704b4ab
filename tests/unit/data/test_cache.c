/*
 * A data set comes out of the cache as it went in, in every form; a changed
 * source, a damaged copy and other options do not find it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/read/cache.h"
#include "data/source.h"

#define FOLDER    "test_cache.tmp"
#define FILE_NAME FOLDER "/data.svm"

static char last_note[512];

static void take_note(void *context, const char *sentence)
{
    (void)context;
    (void)snprintf(last_note, sizeof last_note, "%s", sentence);
}

static void write_source(const char *text)
{
    FILE *file = fopen(FILE_NAME, "wb");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static struct source_options with(const char *storage)
{
    return (struct source_options){.spec = FILE_NAME,
                                   .storage = storage,
                                   .cache = FOLDER "/cache",
                                   .note = take_note};
}

static struct dataset load(const struct source_options *options)
{
    struct dataset data = {0};
    struct why why = {0};

    last_note[0] = '\0';
    assert_int_equal(source_load(options, &data, NULL, NULL, &why), ERR_OK);
    return data;
}

static void assert_equal_data(const struct dataset *a, const struct dataset *b)
{
    struct dataset plain = *b;
    struct digest one = dataset_digest(a);
    struct digest other;
    double x[16];
    double y[16];

    plain.digest_known = false; /* Read it, do not believe the header. */
    other = dataset_digest(&plain);
    assert_true(digest_equal(&one, &other));
    assert_int_equal(a->rounded, b->rounded);
    assert_true(a->rounding == b->rounding);
    for (uint32_t i = 0; i < a->rows; i++) {
        dataset_row_values(a, i, x);
        dataset_row_values(b, i, y);
        assert_memory_equal(x, y, a->cols * sizeof *x);
        assert_true(a->y[i] == b->y[i]);
    }
}

static void test_every_form(void **state)
{
    static const char *const forms[] = {NULL,  "f32",   "bf16", "i8",
                                        "bit", "index", "csr",  "f64"};

    (void)state;
    write_source("3 1:1 9:1\n5 2:1\n3 4:1\n5 9:1\n");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const struct source_options options = with(forms[i]);
        struct dataset first = load(&options);
        struct dataset second = load(&options);

        assert_null(first.map);
        assert_non_null(second.map);
        assert_int_equal(second.classes, 2);
        assert_true(second.label[0] == 3 && second.label[1] == 5);
        assert_equal_data(&first, &second);
        dataset_close(&first);
        dataset_close(&second);
    }
    assert_string_equal(last_note, "");
}

static void test_other_source_or_options(void **state)
{
    struct source_options options = with(NULL);
    struct dataset data;

    (void)state;
    write_source("3 1:1\n5 2:1\n");
    data = load(&options);
    dataset_close(&data);
    write_source("3 1:1\n5 2:4\n");
    data = load(&options);
    assert_null(data.map);
    dataset_close(&data);
    options.intercept = true;
    data = load(&options);
    assert_null(data.map);
    assert_int_equal(data.cols, 3);
    dataset_close(&data);
    /* The same bytes under new times: hashed, and found. */
    options.intercept = false;
    write_source("3 1:1\n5 2:4\n");
    data = load(&options);
    assert_non_null(data.map);
    dataset_close(&data);
}

/* Change one byte of the copy, or cut it, and load. */
static void test_damage(void **state)
{
    const struct source_options options = with("f32");
    struct cache_place place;
    struct why why = {0};
    struct dataset data;

    (void)state;
    write_source("3 1:1 3:2.5\n5 2:4\n");
    data = load(&options);
    dataset_close(&data);
    assert_int_equal(cache_place(&options, &place, &why), ERR_OK);
    for (int i = 0; i < 12; i++) {
        struct stat info;
        FILE *file = fopen(place.path, "r+b");
        const long at = i * 1024L; /* Header, labels, y, x. */
        int byte;

        assert_non_null(file);
        assert_int_equal(stat(place.path, &info), 0);
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        byte = fgetc(file);
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        (void)fputc(byte ^ 4, file);
        assert_int_equal(fclose(file), 0);
        if (i == 11)
            assert_int_equal(truncate(place.path, info.st_size - 1), 0);
        data = load(&options);
        /* Padding between sections is nobody's. */
        if (data.map == NULL)
            assert_non_null(strstr(last_note, "damaged"));
        assert_true(data.map == NULL || i == 1 || i == 2 || i == 3 ||
                    i % 4 != 0);
        assert_true(((float *)data.x)[2] == 2.5f);
        dataset_close(&data);
        data = load(&options);
        assert_non_null(data.map);
        dataset_close(&data);
    }
}

static void test_headers(void **state)
{
    uint8_t page[CACHE_PAGE];
    struct cache_header header = {
        .shape = {
            .storage = STORAGE_F32, .rows = 3, .cols = 5, .chunk_rows = 8}};
    struct cache_header read;

    (void)state;
    cache_header_encode(&header, page);
    assert_int_equal(cache_header_decode(page, &read), ERR_FORMAT);
    header.file_bytes = 3 * CACHE_PAGE;
    header.section[0].offset = CACHE_PAGE;
    header.section[1] = (struct cache_section){CACHE_PAGE, 24, 1};
    header.section[2].offset = 2 * CACHE_PAGE;
    header.section[3] = (struct cache_section){2 * CACHE_PAGE, 96, 1};
    for (int i = 4; i < 8; i++)
        header.section[i].offset = 3 * CACHE_PAGE;
    cache_header_encode(&header, page);
    assert_int_equal(cache_header_decode(page, &read), ERR_OK);
    assert_int_equal(read.shape.cols, 5);
    for (size_t at = 0; at < CACHE_PAGE; at += 7) {
        page[at] ^= 1;
        assert_int_equal(cache_header_decode(page, &read), ERR_FORMAT);
        page[at] ^= 1;
    }
}

static void test_checksum(void **state)
{
    static uint8_t bytes[3000];
    uint64_t seen[64];
    struct pool *const pool = pool_serial();

    (void)state;
    for (uint32_t i = 0; i < 64; i++) {
        if (i > 0)
            bytes[i * 46] = 1;
        seen[i] = cache_checksum(bytes, sizeof bytes - i % 2, pool);
        bytes[i * 46] = 0;
        for (uint32_t k = 0; k < i; k++)
            assert_true(seen[k] != seen[i]);
    }
    assert_true(cache_checksum(bytes, 0, pool) != 0);
}

static int make_folder(void **state)
{
    (void)state;
    return system("rm -rf " FOLDER " && mkdir " FOLDER);
}

static int remove_folder(void **state)
{
    (void)state;
    return system("rm -rf " FOLDER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_form),
        cmocka_unit_test(test_other_source_or_options),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_checksum),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
