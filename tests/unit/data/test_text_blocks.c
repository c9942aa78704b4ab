/*
 * Texts cut at every possible place and read by one or several threads must
 * give the rows, and the sentences, that reading line by line gives.
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
#include "data/read/libsvm.h"
#include "os/run/threads.h"

#define FILE_NAME "test_text_blocks.tmp"

static const char *const texts[] = {
    "1 1:2 3:4\n-1 2:5\n# comment\n\n1 1:0.5e3 7:-2\n",
    ("\xef\xbb\xbf"
     "1 1:2\r\n2 2:3\r\n3 3:4"),
    "1 1:1\n2 2:2\n3 0:1\n4 4:4\n",
    "1 1:1\n\n\n2 x\n",
    "1 1:nan\n",
    "",
    "\n\n\n",
    "1\n2\n",
    "1 1:123456789012345678901234567890 2:1e-320 3:1e38\n0 1:3.4e39\n",
    "+1 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1 11:1 12:1 13:1 14:1\n2 1:2",
};

#define TEXTS (sizeof texts / sizeof *texts)

static struct pool *pool;

static enum err read_lines(const char *text, struct sparse *rows,
                           struct why *why)
{
    struct text_source source = {0};
    enum err err;

    assert_int_equal(text_open_memory(&source, text, strlen(text)), ERR_OK);
    err = libsvm_read(&source, rows, why);
    text_close(&source);
    return err;
}

static void assert_same(const struct sparse *a, const struct sparse *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_memory_equal(a->start, b->start, (a->rows + 1) * sizeof *a->start);
    assert_memory_equal(a->label, b->label, a->rows * sizeof *a->label);
    if (sparse_entries(a) == 0)
        return;
    assert_memory_equal(a->index, b->index,
                        sparse_entries(a) * sizeof *a->index);
    assert_memory_equal(a->value, b->value,
                        sparse_entries(a) * sizeof *a->value);
}

static void compare(enum err wanted, const struct sparse *rows,
                    const struct why *sentence, enum err err,
                    struct stage *stage, const struct why *why)
{
    struct sparse read = {0};

    /* Of no rows at all the caller of the blocks speaks. */
    if (wanted != ERR_OK && strstr(sentence->text, "no rows") != NULL) {
        assert_int_equal(err, ERR_OK);
        assert_int_equal(stage_rows(stage), 0);
    } else {
        assert_int_equal(err, wanted);
        if (err != ERR_OK)
            assert_string_equal(why->text, sentence->text);
    }
    if (wanted == ERR_OK) {
        assert_int_equal(stage_unpack(stage, &read), ERR_OK);
        assert_same(rows, &read);
    }
    sparse_close(&read);
    stage_close(stage);
}

static void test_every_cut(void **state)
{
    const struct text_format format = {.read = libsvm_block};

    (void)state;
    for (size_t i = 0; i < TEXTS; i++) {
        struct sparse rows = {0};
        struct why sentence = {0};
        const enum err wanted = read_lines(texts[i], &rows, &sentence);

        for (size_t bytes = 1; bytes < 60; bytes++) {
            struct stage stage = {0};
            struct why why = {0};
            const enum err err = text_blocks_read_memory(
                texts[i], strlen(texts[i]), bytes, &format, pool, &stage, &why);

            compare(wanted, &rows, &sentence, err, &stage, &why);
        }
        sparse_close(&rows);
    }
}

static void test_files(void **state)
{
    const struct text_format format = {.read = libsvm_block};

    (void)state;
    for (size_t i = 0; i < TEXTS; i++) {
        struct sparse rows = {0};
        struct why sentence = {0};
        struct why why = {0};
        const enum err wanted = read_lines(texts[i], &rows, &sentence);
        struct stage stage = {0};
        FILE *file = fopen(FILE_NAME, "wb");
        enum err err;

        assert_non_null(file);
        assert_int_equal(fwrite(texts[i], 1, strlen(texts[i]), file),
                         strlen(texts[i]));
        assert_int_equal(fclose(file), 0);
        err = text_blocks_read(FILE_NAME, &format, pool, &stage, &why);
        compare(wanted, &rows, &sentence, err, &stage, &why);
        sparse_close(&rows);
    }
}

/* Several blocks of a plain file, with a line longer than a block and an error
 * in the last: line numbers must count through. */
static void test_large_file(void **state)
{
    const struct text_format format = {.read = libsvm_block};
    const uint32_t lines = 200000;
    struct stage stage = {0};
    struct why why = {0};
    FILE *file = fopen(FILE_NAME, "wb");

    (void)state;
    assert_non_null(file);
    for (uint32_t i = 0; i < lines; i++) {
        (void)fprintf(file, "%u 1:%u 2:0.25\n", i % 2, i);
        if (i == 100) {
            (void)fputs("1", file);
            for (uint32_t j = 1; j < 300000; j++)
                (void)fprintf(file, " %u:1", j);
            (void)fputc('\n', file);
        }
    }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(text_blocks_read(FILE_NAME, &format, pool, &stage, &why),
                     ERR_OK);
    assert_true(stage.count > 4);
    assert_int_equal(stage_rows(&stage), lines + 1);
    stage_close(&stage);
    file = fopen(FILE_NAME, "ab");
    assert_non_null(file);
    (void)fputs("1 2:1 1:1", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(text_blocks_read(FILE_NAME, &format, pool, &stage, &why),
                     ERR_FORMAT);
    assert_string_equal(why.text, "line 200002: index 1 after 2; indices must "
                                  "increase along a line");
    stage_close(&stage);
}

/* Options of the reader first, then ours. */
struct meanwhile {
    struct libsvm_options reader;
    long length;
};

/* Somebody writes to the file once its first line has been looked at. */
static enum err write_meanwhile(void *options, const char *line, size_t size,
                                bool *skip, struct why *why)
{
    const long length = ((const struct meanwhile *)options)->length;
    FILE *file;

    (void)line;
    (void)size;
    (void)why;
    *skip = false;
    if (length >= 0) {
        assert_int_equal(truncate(FILE_NAME, length), 0);
        return ERR_OK;
    }
    file = fopen(FILE_NAME, "ab");
    assert_non_null(file);
    (void)fputs("1 1:1\n", file);
    assert_int_equal(fclose(file), 0);
    return ERR_OK;
}

static void test_file_that_changes(void **state)
{
    /* One line less, a line cut in two, one line more. */
    static const long lengths[] = {12, 15, -1};

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct meanwhile meanwhile = {.length = lengths[i]};
        const struct text_format format = {.read = libsvm_block,
                                           .begin = write_meanwhile,
                                           .options = &meanwhile};
        struct stage stage = {0};
        struct why why = {0};
        FILE *file = fopen(FILE_NAME, "wb");

        assert_non_null(file);
        (void)fputs("1 1:1\n0 2:1\n1 3:1\n", file);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(
            text_blocks_read(FILE_NAME, &format, pool, &stage, &why), ERR_IO);
        assert_string_equal(why.text, "changed while it was read; try again "
                                      "when it is complete");
        stage_close(&stage);
    }
}

static int start(void **state)
{
    (void)state;
    return threads_new(3, &pool) == ERR_OK ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    threads_free(pool);
    (void)unlink(FILE_NAME);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_large_file),
        cmocka_unit_test(test_file_that_changes),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
