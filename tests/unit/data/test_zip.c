/*
 * Archives are written byte by byte as the format says, read, and compared;
 * then each field lies, and every byte is changed and cut off at: that must end
 * in a sentence, or in the bytes that were put in, never in others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "data/text/zip.h"

enum { ROOM = 1024, TEXT = 200 };

struct file {
    uint8_t bytes[ROOM];
    size_t size;
};

static void put(struct file *file, const void *bytes, size_t size)
{
    assert_true(file->size + size <= ROOM);
    memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
}

static void put_number(struct file *file, uint32_t value, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const uint8_t byte = (uint8_t)(value >> 8 * i);

        put(file, &byte, 1);
    }
}

static void text_of(char which, uint8_t *text)
{
    for (size_t i = 0; i < TEXT; i++)
        text[i] = (uint8_t)((size_t)which + i % 7);
}

struct piece {
    uint8_t bytes[ROOM];
    uint32_t packed, check, method, at;
    char name;
};

static void pack(struct piece *piece, char name, bool deflated)
{
    uint8_t text[TEXT];
    z_stream zlib = {.next_in = text,
                     .avail_in = TEXT,
                     .next_out = piece->bytes,
                     .avail_out = ROOM};

    text_of(name, text);
    piece->name = name;
    piece->method = deflated ? 8 : 0;
    piece->check = (uint32_t)crc32(0, text, TEXT);
    piece->packed = TEXT;
    memcpy(piece->bytes, text, TEXT);
    if (!deflated)
        return;
    assert_int_equal(deflateInit2(&zlib, 9, Z_DEFLATED, -15, 8, 0), Z_OK);
    assert_int_equal(deflate(&zlib, Z_FINISH), Z_STREAM_END);
    piece->packed = (uint32_t)zlib.total_out;
    (void)deflateEnd(&zlib);
}

/* What both headers share, from the version needed to the name's size. */
static void put_common(struct file *file, const struct piece *piece)
{
    put_number(file, 20, 2);
    put_number(file, 0, 2);
    put_number(file, piece->method, 2);
    put_number(file, 0, 4);
    put_number(file, piece->check, 4);
    put_number(file, piece->packed, 4);
    put_number(file, TEXT, 4);
    put_number(file, 1, 2);
}

static void put_local(struct file *file, struct piece *piece)
{
    piece->at = (uint32_t)file->size;
    put(file, "PK\3\4", 4);
    put_common(file, piece);
    put_number(file, 4, 2); /* An extra field, as numpy writes one. */
    put(file, &piece->name, 1);
    put(file, "\1\0\0\0", 4);
    put(file, piece->bytes, piece->packed);
}

static void put_entry(struct file *file, const struct piece *piece)
{
    put(file, "PK\1\2", 4);
    put_number(file, 20, 2);
    put_common(file, piece);
    put_number(file, 0, 2);
    put_number(file, 0, 4);
    put_number(file, 0, 2);
    put_number(file, 0, 4);
    put_number(file, piece->at, 4);
    put(file, &piece->name, 1);
}

enum { ENTRY = 47, END = 22 };

static struct file archive(void)
{
    struct file file = {0};
    struct piece a, b;
    uint32_t at;

    pack(&a, 'a', false);
    pack(&b, 'b', true);
    put_local(&file, &a);
    put_local(&file, &b);
    at = (uint32_t)file.size;
    put_entry(&file, &a);
    put_entry(&file, &b);
    put(&file, "PK\5\6\0\0\0\0\2\0\2\0", 12);
    put_number(&file, (uint32_t)file.size - 12 - at, 4);
    put_number(&file, at, 4);
    put_number(&file, 0, 2);
    return file;
}

/* All of a member; the sentence if it cannot be had. */
static enum err take(const struct zip *zip, const struct zip_member *member,
                     uint8_t *out, size_t *got, struct why *why)
{
    struct unpacker *in = NULL;
    enum err err = zip_read(zip, member, &in, why);

    if (err == ERR_OK)
        err = unpacker_fill(in, out, ROOM, got, why);
    unpacker_close(in);
    return err;
}

/* ERR_OK if the archive opens and both members are what was put in. */
static enum err judge(const struct file *file, struct why *why)
{
    struct zip zip = {0};
    enum err err = zip_open_memory(&zip, file->bytes, file->size, why);

    for (uint32_t i = 0; err == ERR_OK && i < zip.count; i++) {
        uint8_t wanted[TEXT];
        uint8_t out[ROOM];
        size_t got = 0;

        err = take(&zip, &zip.member[i], out, &got, why);
        text_of(i == 0 ? 'a' : 'b', wanted);
        if (err == ERR_OK) {
            assert_int_equal(got, TEXT);
            assert_memory_equal(out, wanted, TEXT);
        }
    }
    zip_close(&zip);
    assert_true((err == ERR_OK) == (why->text[0] == '\0'));
    return err;
}

static void test_members(void **state)
{
    const struct file file = archive();
    struct zip zip = {0};
    struct why why = {0};

    (void)state;
    assert_true(zip_is_magic(file.bytes, file.size));
    assert_int_equal(judge(&file, &why), ERR_OK);
    assert_int_equal(zip_open_memory(&zip, file.bytes, file.size, &why),
                     ERR_OK);
    assert_int_equal(zip.count, 2);
    assert_true(zip_find(&zip, "b") == &zip.member[1]);
    assert_null(zip_find(&zip, "c"));
    zip_close(&zip);
}

/* Places from the end of the file. */
enum {
    LAST = END + ENTRY,  /* The entry of "b", ... */
    FIRST = LAST + ENTRY /* ... and of "a". */
};

static void test_lies(void **state)
{
    static const struct {
        size_t header, field; /* From the end of the file; into it. */
        const char *bytes;
        size_t size;
        const char *said;
    } lies[] = {
        {LAST, 24, "\x10\0\0\0", 4, "is larger than it says"},
        {LAST, 24, "\xff\0\0\0", 4, "ends too early"},
        {LAST, 20, "\5\0\0\0", 4, "ends too early"},
        {LAST, 16, "\0\0\0\0", 4, "fails its checksum"},
        {LAST, 24, "\xff\xff\xff\xff", 4, "ZIP64"},
        {LAST, 20, "\xff\xff\xff\xff", 4, "ZIP64"},
        {LAST, 42, "\xff\xff\xff\xff", 4, "ZIP64"},
        {LAST, 42, "\0\0\0\1", 4, "behind its end"},
        {LAST, 42, "\0\0\0\0", 4, "not what the directory says"},
        {LAST, 8, "\1\0", 2, "encrypted"},
        {LAST, 10, "\x0c\0", 2, "in a way (12)"},
        {LAST, 10, "\0\0", 2, "not what the directory says"},
        {LAST, 28, "\0\0", 2, "is no name"},
        {LAST, 28, "\xff\xff", 2, "cut short"},
        {LAST, 20, "\0\x10\0\0", 4, "reaches into the directory"},
        {FIRST, 20, "\x10\0\0\0", 4, "says two sizes"},
        {FIRST, 0, "a", 1, "other entries"},
        {FIRST, 46, "b", 1, "not what the directory says"},
        {END, 10, "\xff\xff", 2, "ZIP64"},
        {END, 8, "\3\0\3\0", 4, "other entries"},
        {END, 8, "\1\0\1\0", 4, "other entries"},
        {END, 8, "\1\0", 2, "several parts"},
        {END, 4, "\1\0", 2, "several parts"},
        {END, 16, "\1\0\0\0", 4, "not where it should be"},
        {END, 20, "\1\0", 2, "its end is missing"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct file file = archive();
        struct why why = {0};
        const size_t at = file.size - lies[i].header + lies[i].field;

        memcpy(file.bytes + at, lies[i].bytes, lies[i].size);
        assert_int_not_equal(judge(&file, &why), ERR_OK);
        if (strstr(why.text, lies[i].said) == NULL)
            fail_msg("lie %zu: %s", i, why.text);
    }
}

static void test_overlap(void **state)
{
    struct file file = archive();
    uint8_t *const last = file.bytes + file.size - LAST;
    uint8_t *const first = file.bytes + file.size - FIRST;
    struct why why = {0};

    (void)state;
    memcpy(last, first, ENTRY); /* The first member twice. */
    assert_int_equal(judge(&file, &why), ERR_FORMAT);
    assert_non_null(strstr(why.text, "share bytes"));
}

static void test_cut_and_changed(void **state)
{
    const struct file whole = archive();

    (void)state;
    for (size_t size = 0; size < whole.size; size++) {
        struct file cut = whole;
        struct why why = {0};

        cut.size = size;
        assert_int_not_equal(judge(&cut, &why), ERR_OK);
    }
    for (size_t i = 0; i < whole.size; i++) {
        for (uint32_t bit = 0; bit < 8; bit++) {
            struct file changed = whole;
            struct why why = {0};

            changed.bytes[i] ^= (uint8_t)(1u << bit);
            (void)judge(&changed, &why);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_cut_and_changed),
    };

    return cmocka_run_group_tests_name("zip", tests, NULL, NULL);
}
