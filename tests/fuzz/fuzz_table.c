/*
 * Any bytes as an IDX or npy file of rows, and as one of labels: rows or a
 * sentence.  Rows must hold what a naive reader finds in the bytes behind the
 * header.  The first byte says which column of an npy file is the label.
 * README.md says how to build and run it.
 */
#include "fuzz.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/read/idx.h"
#include "data/read/npy.h"

enum { TABLE_MAX = 1 << 16 };

/* A cell as its description says: 'f', 'i', 'u' or 'b' and its size. */
struct kind {
    char type;
    size_t size;
    bool big_endian;
};

static struct kind kind_of(const uint8_t *data, size_t size)
{
    static const char key[] = "'descr'";
    static const char types[] = "u1i1??i2i4f4f8"; /* IDX types 8 to 14. */

    if (data[0] == 0)
        return (struct kind){types[2 * (data[2] - 8)],
                             (size_t)(types[2 * (data[2] - 8) + 1] - '0'),
                             true};
    for (size_t i = 0; i + sizeof key - 1 < size; i++) {
        if (memcmp(data + i, key, sizeof key - 1) != 0)
            continue;
        i += sizeof key - 1;
        while (data[i] == ' ' || data[i] == ':')
            i++;
        return (struct kind){(char)data[i + 2], (size_t)(data[i + 3] - '0'),
                             data[i + 1] == '>'};
    }
    FUZZ_REQUIRE(!"a header without its descr");
    return (struct kind){0};
}

static double naive_cell(struct kind kind, const uint8_t *at)
{
    uint64_t bits = 0;
    uint32_t low;
    float narrow;
    double wide;

    for (size_t i = 0; i < kind.size; i++)
        bits |= (uint64_t)at[i]
                << 8 * (kind.big_endian ? kind.size - 1 - i : i);
    if (kind.type == 'b')
        return bits != 0;
    if (kind.type == 'u')
        return (double)bits;
    if (kind.type == 'i') {
        const uint64_t sign = UINT64_C(1) << (8 * kind.size - 1);

        return (double)(int64_t)((bits ^ sign) - sign);
    }
    low = (uint32_t)bits;
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&wide, &bits, sizeof wide);
    return kind.size == 4 ? (double)narrow : wide;
}

/* `label` is the label's column; the number of columns if there is none. */
static void compare(const uint8_t *data, size_t size, const struct sparse *rows,
                    uint64_t cols, uint64_t label)
{
    const struct kind kind = kind_of(data, size);
    const size_t bytes = rows->rows * cols * kind.size;
    const uint8_t *const first = data + size - bytes;
    const double divisor = data[0] == 0 && data[2] == 8 ? 255 : 1;

    FUZZ_REQUIRE(bytes <= size);
    for (uint32_t i = 0; i < rows->rows; i++) {
        size_t at = rows->start[i];

        for (uint64_t j = 0; j < cols; j++) {
            const double value =
                naive_cell(kind, first + (i * cols + j) * kind.size);
            const float narrow = (float)(value / divisor);

            FUZZ_REQUIRE(isfinite(value));
            if (j == label) {
                FUZZ_REQUIRE(rows->label[i] == value);
            } else if (narrow != 0) {
                FUZZ_REQUIRE(rows->index[at] == j - (j > label));
                FUZZ_REQUIRE(rows->value[at] == (double)narrow);
                at++;
            }
        }
        FUZZ_REQUIRE(at == rows->start[i + 1]);
    }
}

static uint64_t idx_rows(const uint8_t *data, size_t size)
{
    return size < 8 ? 0
                    : (uint64_t)data[4] << 24 | (uint64_t)data[5] << 16 |
                          (uint64_t)data[6] << 8 | data[7];
}

static void read_rows(const uint8_t *data, size_t size, uint64_t column)
{
    static const double labels[TABLE_MAX];
    const bool idx = idx_is_magic(data, size);
    const uint64_t count = idx ? idx_rows(data, size) : 0;
    char number[16];
    struct csv form = {.wanted = {.label = column == 0 ? NULL : number}};
    uint64_t cols = 0;
    struct unpacker *in = NULL;
    struct stage stage = {0};
    struct sparse rows = {0};
    struct why why = {0};
    enum err err;

    if (count > TABLE_MAX)
        return;
    FUZZ_REQUIRE(unpacker_open_memory(data, size, &in) == ERR_OK);
    (void)snprintf(number, sizeof number, "%u", (unsigned)column);
    err = idx ? idx_stage(in, labels, count, &cols, pool_serial(), &stage, &why)
              : npy_stage(in, NULL, 0, &form, pool_serial(), &stage, &why);
    csv_close(&form);
    FUZZ_REQUIRE((err == ERR_OK) == (why.text[0] == '\0'));
    if (err == ERR_OK) {
        fuzz_reached = true;
        FUZZ_REQUIRE(stage_unpack(&stage, &rows) == ERR_OK);
        FUZZ_REQUIRE(!idx || rows.rows == count);
        if (!unpacker_is_packed(data, size))
            compare(data, size, &rows, rows.cols + (idx ? 0 : 1),
                    idx           ? rows.cols
                    : column == 0 ? rows.cols
                                  : column - 1);
    }
    sparse_close(&rows);
    stage_close(&stage);
    unpacker_close(in);
}

static void read_labels(const uint8_t *data, size_t size)
{
    struct unpacker *in = NULL;
    struct why why = {0};
    double *labels = NULL;
    uint64_t count = 0;
    enum err err;

    FUZZ_REQUIRE(unpacker_open_memory(data, size, &in) == ERR_OK);
    err = idx_is_magic(data, size) ? idx_labels(in, &labels, &count, &why)
                                   : npy_labels(in, &labels, &count, &why);
    FUZZ_REQUIRE((err == ERR_OK) == (why.text[0] == '\0'));
    for (uint64_t i = 0; i < count; i++)
        FUZZ_REQUIRE(isfinite(labels[i]));
    mem_free(labels);
    unpacker_close(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && size < TABLE_MAX) {
        read_rows(data + 1, size - 1, data[0]);
        read_labels(data + 1, size - 1);
    }
    return 0;
}
