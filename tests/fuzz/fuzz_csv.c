/*
 * Any bytes as a table of numbers: where the text is cut into blocks must not
 * matter, neither to rows nor to sentences, and the reader that keeps words
 * must agree with the one that does not.
 * README.md says how to build and run it.
 */
#include "fuzz.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "data/table/frame.h"
#include "data/text/unpack.h"

enum { CSV_MAX = 1 << 12 };

struct reading {
    enum err err;
    struct why why;
    struct sparse rows;
};

static void read_blocks(const uint8_t *data, size_t size, size_t bytes,
                        struct reading *out)
{
    struct csv csv = {0};
    const struct text_format format = {
        .read = csv_block, .begin = csv_block_begin, .options = &csv};
    struct stage stage = {0};

    *out = (struct reading){0};
    out->err = text_blocks_read_memory(data, size, bytes, &format,
                                       pool_serial(), &stage, &out->why);
    if (out->err == ERR_OK)
        FUZZ_REQUIRE(stage_unpack(&stage, &out->rows) == ERR_OK);
    stage_close(&stage);
    csv_close(&csv);
}

static bool same_bytes(const void *a, const void *b, size_t size)
{
    return size == 0 || memcmp(a, b, size) == 0;
}

static void compare(const struct reading *a, const struct reading *b)
{
    const size_t entries = sparse_entries(&a->rows);

    FUZZ_REQUIRE(a->err == b->err);
    FUZZ_REQUIRE(strcmp(a->why.text, b->why.text) == 0);
    FUZZ_REQUIRE((a->err != ERR_OK) == (a->why.text[0] != '\0'));
    FUZZ_REQUIRE(a->rows.rows == b->rows.rows);
    FUZZ_REQUIRE(entries == sparse_entries(&b->rows));
    FUZZ_REQUIRE(same_bytes(a->rows.label, b->rows.label,
                            a->rows.rows * sizeof *a->rows.label));
    FUZZ_REQUIRE(same_bytes(a->rows.index, b->rows.index,
                            entries * sizeof *a->rows.index));
    FUZZ_REQUIRE(same_bytes(a->rows.value, b->rows.value,
                            entries * sizeof *a->rows.value));
}

/* A frame of numbers holds what the rows hold. */
static void compare_frame(const uint8_t *data, size_t size, bool words,
                          const struct reading *numbers)
{
    const struct frame_options options = {.categorical = words ? "all" : NULL};
    struct text_source source = {0};
    struct frame frame = {0};
    struct why why = {0};
    enum err err;

    FUZZ_REQUIRE(text_open_memory(&source, data, size) == ERR_OK);
    err = frame_read(&source, &options, &frame, &why);
    FUZZ_REQUIRE((err == ERR_OK) == (why.text[0] == '\0'));
    if (!words && err == ERR_OK && numbers->err == ERR_OK &&
        numbers->rows.rows > 0) {
        FUZZ_REQUIRE(frame.rows == numbers->rows.rows);
        for (uint32_t i = 0; i < frame.rows; i++)
            FUZZ_REQUIRE(frame.label[i] == numbers->rows.label[i]);
    }
    for (uint32_t j = 0; words && err == ERR_OK && j < frame.cols; j++)
        for (uint32_t i = 0; i < frame.rows; i++)
            FUZZ_REQUIRE(frame.column[j].code[i] < frame.column[j].categories);
    frame_close(&frame);
    text_close(&source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reading whole;
    struct reading cut;

    if (size >= CSV_MAX || unpacker_is_packed(data, size))
        return 0;
    read_blocks(data, size, CSV_MAX, &whole);
    read_blocks(data, size, 1 + size % 37, &cut);
    compare(&whole, &cut);
    fuzz_reached = whole.err == ERR_OK;
    compare_frame(data, size, false, &whole);
    compare_frame(data, size, true, &whole);
    sparse_close(&whole.rows);
    sparse_close(&cut.rows);
    return 0;
}
