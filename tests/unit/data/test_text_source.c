/*
 * The same lines are read from memory, a plain file and a gzip file, with
 * lines longer than any buffer; then the gzip file is cut at every length,
 * and each cut must be noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "data/text/text_source.h"

#define FILE_NAME "test_text_source.tmp"

enum { LONG_LINE = 700000 };

static void write_plain(const void *data, size_t size)
{
    FILE *file = fopen(FILE_NAME, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void write_gzip(const char *mode, const void *data, size_t size)
{
    gzFile file = gzopen(FILE_NAME, mode);

    assert_non_null(file);
    if (size > 0)
        assert_int_equal(gzwrite(file, data, (unsigned)size), size);
    assert_int_equal(gzclose(file), Z_OK);
}

static size_t read_file(uint8_t *data, size_t capacity)
{
    FILE *file = fopen(FILE_NAME, "rb");
    size_t size;

    assert_non_null(file);
    size = fread(data, 1, capacity, file);
    (void)fclose(file);
    return size;
}

static void assert_line(struct text_source *source, const char *wanted)
{
    const char *text = NULL;
    size_t size = 0;
    struct why why = {0};

    assert_int_equal(text_line(source, &text, &size, &why), ERR_OK);
    if (wanted == NULL) {
        assert_null(text);
        return;
    }
    assert_non_null(text);
    assert_int_equal(size, strlen(wanted));
    assert_memory_equal(text, wanted, size);
}

static void assert_four_lines(struct text_source *source)
{
    assert_line(source, "first");
    assert_line(source, "");
    assert_line(source, "third\r");
    assert_int_equal(source->line, 3);
    assert_line(source, "last");
    assert_line(source, NULL);
    assert_line(source, NULL); /* The end stays the end. */
}

static const char four_lines[] = "\xef\xbb\xbf"
                                 "first\r\n\nthird\r\r\nlast";

static void test_memory(void **state)
{
    struct text_source source = {0};

    (void)state;
    assert_int_equal(
        text_open_memory(&source, four_lines, sizeof four_lines - 1), ERR_OK);
    assert_four_lines(&source);
    text_close(&source);
    text_close(&source);
    assert_int_equal(text_open_memory(&source, NULL, 0), ERR_OK);
    assert_line(&source, NULL);
    text_close(&source);
    assert_int_equal(text_open_memory(&source, "\xef\xbb\xbf", 3), ERR_OK);
    assert_line(&source, NULL);
    text_close(&source);
}

static void assert_file_has_four_lines(void)
{
    struct text_source source = {0};
    struct why why = {0};

    assert_int_equal(text_open(&source, FILE_NAME, &why), ERR_OK);
    assert_four_lines(&source);
    text_close(&source);
}

static void test_plain_and_gzip(void **state)
{
    const size_t size = sizeof four_lines - 1;

    (void)state;
    write_plain(four_lines, size);
    assert_file_has_four_lines();
    write_gzip("wb", four_lines, size);
    assert_file_has_four_lines();
    /* Two members, as from cat a.gz b.gz, the second in mid-line. */
    write_gzip("wb", four_lines, 7);
    write_gzip("ab", four_lines + 7, size - 7);
    assert_file_has_four_lines();
}

static void test_trailing_padding(void **state)
{
    uint8_t packed[256];
    size_t size;

    (void)state;
    write_gzip("wb", four_lines, sizeof four_lines - 1);
    size = read_file(packed, sizeof packed - 8);
    memset(packed + size, 0, 8);
    write_plain(packed, size + 8);
    assert_file_has_four_lines();
}

static void test_long_lines(void **state)
{
    char *text = mem_new(2 * LONG_LINE + 2, 1);

    (void)state;
    assert_non_null(text);
    memset(text, 'a', LONG_LINE);
    text[LONG_LINE] = '\n';
    memset(text + LONG_LINE + 1, 'b', LONG_LINE);
    for (int gzip = 0; gzip < 2; gzip++) {
        struct text_source source = {0};

        if (gzip)
            write_gzip("wb", text, 2 * LONG_LINE + 1);
        else
            write_plain(text, 2 * LONG_LINE + 1);
        assert_int_equal(text_open(&source, FILE_NAME, NULL), ERR_OK);
        text[LONG_LINE] = '\0';
        assert_line(&source, text);
        assert_line(&source, text + LONG_LINE + 1);
        assert_line(&source, NULL);
        text[LONG_LINE] = '\n';
        text_close(&source);
    }
    mem_free(text);
}

/* Reads all lines; what the first failure was. */
static enum err read_all(struct why *why)
{
    struct text_source source = {0};
    enum err err = text_open(&source, FILE_NAME, why);
    const char *text = "";
    size_t size;

    while (err == ERR_OK && text != NULL)
        err = text_line(&source, &text, &size, why);
    text_close(&source);
    return err;
}

static void test_every_cut_is_noticed(void **state)
{
    uint8_t packed[256];
    size_t size;

    (void)state;
    write_gzip("wb", four_lines, sizeof four_lines - 1);
    size = read_file(packed, sizeof packed);
    for (size_t cut = 2; cut < size; cut++) {
        struct why why = {0};

        write_plain(packed, cut);
        assert_int_equal(read_all(&why), ERR_TRUNCATED);
        assert_string_equal(
            why.text, "the gzip data end too early; fetch the file again");
    }
}

static void test_damage_is_noticed(void **state)
{
    uint8_t packed[256];
    struct why why = {0};
    size_t size;

    (void)state;
    write_gzip("wb", four_lines, sizeof four_lines - 1);
    size = read_file(packed, sizeof packed);
    packed[size - 6] ^= 1; /* The checksum. */
    write_plain(packed, size);
    assert_int_equal(read_all(&why), ERR_FORMAT);
    assert_string_equal(why.text,
                        "the gzip data are damaged; fetch the file again");
}

/* Members after the first, or what is left of them, are rows. */
static void test_nothing_after_gzip_is_dropped(void **state)
{
    uint8_t packed[256];
    struct why why = {0};
    size_t first, size;

    (void)state;
    write_gzip("wb", four_lines, 7);
    first = read_file(packed, sizeof packed);
    write_gzip("ab", four_lines + 7, sizeof four_lines - 8);
    size = read_file(packed, sizeof packed);
    for (int value = 0; value < 2; value++) {
        packed[first] = (uint8_t)value; /* Of 0x1f; or zeros, then others. */
        write_plain(packed, size);
        assert_int_equal(read_all(&why), ERR_FORMAT);
        assert_string_equal(why.text,
                            "what follows the end of the gzip data is neither "
                            "gzip nor zeros; fetch the file again");
    }
}

static void test_files_that_cannot_be_read(void **state)
{
    struct text_source source = {0};
    struct why why = {0};
    const char *text;
    size_t size;

    (void)state;
    assert_int_equal(text_open(&source, "no/such.svm", &why), ERR_NOTFOUND);
    assert_string_equal(why.text, "no such file; check the name");
    assert_int_equal(text_open(&source, ".", &why), ERR_OK);
    assert_int_equal(text_line(&source, &text, &size, &why), ERR_IO);
    assert_string_equal(why.text, "is a directory; name a file in it");
    text_close(&source);
    write_plain("\x28\xb5\x2f\xfd....", 8);
    assert_int_equal(read_all(&why), ERR_FORMAT);
    assert_non_null(strstr(why.text, "the zstd data are damaged ("));
}

static void test_zstd(void **state)
{
    char packed[512];
    const size_t size = ZSTD_compress(packed, sizeof packed, four_lines,
                                      sizeof four_lines - 1, 1);
    struct why why = {0};

    (void)state;
    assert_false(ZSTD_isError(size));
    write_plain(packed, size);
    assert_int_equal(read_all(&why), ERR_OK);
    for (size_t cut = 5; cut < size; cut++) {
        write_plain(packed, cut);
        assert_int_equal(read_all(&why), ERR_TRUNCATED);
        assert_string_equal(why.text,
                            "the zstd data end too early; fetch the file "
                            "again");
    }
    /* Two frames are one text. */
    memcpy(packed + size, packed, size);
    write_plain(packed, 2 * size);
    assert_int_equal(read_all(&why), ERR_OK);
}

/* A text read line by line, and a packed one, that get longer meanwhile. */
static void test_file_that_changes(void **state)
{
    static const char more[] = "1 1:1\n";

    (void)state;
    for (int packed = 0; packed < 2; packed++) {
        struct text_source source = {0};
        struct why why = {0};
        const char *text = more;
        enum err err = ERR_OK;
        size_t size = 0;
        FILE *file;

        if (packed)
            write_gzip("wb", four_lines, sizeof four_lines - 1);
        else
            write_plain(four_lines, sizeof four_lines - 1);
        assert_int_equal(text_open(&source, FILE_NAME, &why), ERR_OK);
        assert_int_equal(text_line(&source, &text, &size, &why), ERR_OK);
        file = fopen(FILE_NAME, "ab");
        assert_non_null(file);
        (void)fputs(more, file);
        assert_int_equal(fclose(file), 0);
        while (err == ERR_OK && text != NULL)
            err = text_line(&source, &text, &size, &why);
        assert_int_equal(err, ERR_IO);
        assert_string_equal(why.text, "changed while it was read; try again "
                                      "when it is complete");
        text_close(&source);
    }
}

/* Lines made one, over more than the buffer holds at first. */
static void test_joined_lines(void **state)
{
    enum { LINES = 40000, BYTES = 9 };
    static const char mark[3] = {'\xef', '\xbb', '\xbf'};
    static char big[LINES * BYTES];
    struct text_source source = {0};
    struct why why = {0};
    const char *text = NULL;
    size_t size = 0;
    bool more = true;

    (void)state;
    for (size_t i = 0; i < sizeof big; i++)
        big[i] = i % BYTES == BYTES - 1 ? '\n' : (char)('a' + i / BYTES % 26);
    memcpy(big, mark, sizeof mark);
    write_plain(big, sizeof big);
    assert_int_equal(text_open(&source, FILE_NAME, &why), ERR_OK);
    assert_int_equal(text_line(&source, &text, &size, &why), ERR_OK);
    while (more)
        assert_int_equal(text_join(&source, &text, &size, &more, &why), ERR_OK);
    assert_int_equal(source.line, LINES);
    assert_int_equal(size, sizeof big - 4); /* No mark, no last LF. */
    assert_memory_equal(text, big + 3, size);
    assert_int_equal(text_line(&source, &text, &size, &why), ERR_OK);
    assert_null(text);
    text_close(&source);
}

static int remove_file(void **state)
{
    (void)state;
    (void)unlink(FILE_NAME);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_plain_and_gzip),
        cmocka_unit_test(test_trailing_padding),
        cmocka_unit_test(test_nothing_after_gzip_is_dropped),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_every_cut_is_noticed),
        cmocka_unit_test(test_damage_is_noticed),
        cmocka_unit_test(test_files_that_cannot_be_read),
        cmocka_unit_test(test_zstd),
        cmocka_unit_test(test_joined_lines),
        cmocka_unit_test(test_file_that_changes),
    };

    return cmocka_run_group_tests(tests, NULL, remove_file);
}
