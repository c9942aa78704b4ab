/*
 * Any bytes go to the LIBSVM reader and to a naive one written from the
 * format's description with the C library's number parser.  Both must accept
 * or refuse together and, if they accept, hold the same rows to the bit.
 * README.md says how to build and run it.
 */
#include "fuzz.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "data/read/libsvm.h"
#include "data/text/unpack.h"

enum { NAIVE_MAX = 1 << 16 };

/* Rows as the naive reader sees them. */
struct naive {
    size_t rows, entries;
    double label[NAIVE_MAX];
    size_t end[NAIVE_MAX]; /* Entries up to and with each row. */
    uint32_t index[NAIVE_MAX];
    double value[NAIVE_MAX];
};

static struct naive naive;

/* A decimal number by its grammar: [+-] digits [. digits] [e [+-] digits]. */
static bool naive_number(const char *text, double *value)
{
    const size_t sign = text[0] == '+' || text[0] == '-';
    const char *at = text + sign;
    size_t digits = strspn(at, "0123456789");

    at += digits;
    if (*at == '.') {
        const size_t more = strspn(at + 1, "0123456789");

        digits += more;
        at += more + 1;
    }
    if (digits == 0)
        return false;
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '+' || *at == '-';
        if (strspn(at, "0123456789") == 0)
            return false;
        at += strspn(at, "0123456789");
    }
    *value = strtod(text, NULL);
    return *at == '\0' && strlen(text) <= 2048 && isfinite(*value);
}

static bool naive_pair(char *field, uint32_t *after)
{
    char *colon = strchr(field, ':');
    double value;
    double index;

    if (colon == NULL)
        return false;
    *colon = '\0';
    if (*field == '\0' || strspn(field, "0123456789") != strlen(field))
        return false;
    index = strtod(field, NULL);
    if (index <= *after || index > DATA_COLS_MAX)
        return false;
    if (!naive_number(colon + 1, &value) || isinf((float)value))
        return false;
    *after = (uint32_t)index;
    naive.index[naive.entries] = *after - 1;
    naive.value[naive.entries++] = value;
    return true;
}

/* `line` is NUL-terminated and may be written to. */
static bool naive_line(char *line)
{
    uint32_t after = 0;
    char *rest = NULL;
    char *field;

    line[strcspn(line, "#")] = '\0';
    field = strtok_r(line, " \t", &rest);
    if (field == NULL)
        return true;
    if (!naive_number(field, &naive.label[naive.rows]))
        return false;
    while ((field = strtok_r(NULL, " \t", &rest)) != NULL) {
        if (!naive_pair(field, &after))
            return false;
    }
    naive.end[naive.rows++] = naive.entries;
    return true;
}

/* A NUL byte would end a C string: it may stand in a comment, nowhere else. */
static bool hide_nuls(char *line, size_t size)
{
    bool comment = false;

    for (size_t i = 0; i < size; i++) {
        comment = comment || line[i] == '#';
        if (line[i] == '\0' && !comment)
            return false;
        if (line[i] == '\0')
            line[i] = '?';
    }
    return true;
}

static bool naive_read(char *text, size_t size)
{
    size_t at = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    naive.rows = 0;
    naive.entries = 0;
    while (at < size) {
        char *line = text + at;
        size_t length = 0;

        while (at + length < size && line[length] != '\n')
            length++;
        at += length + 1;
        if (length > 0 && line[length - 1] == '\r')
            length--;
        line[length] = '\0';
        if (!hide_nuls(line, length) || !naive_line(line))
            return false;
    }
    return naive.rows > 0;
}

static bool same_bytes(const void *a, const void *b, size_t size)
{
    return size == 0 || memcmp(a, b, size) == 0;
}

static void compare(const struct sparse *sparse)
{
    FUZZ_REQUIRE(sparse->rows == naive.rows);
    FUZZ_REQUIRE(sparse->start[0] == 0);
    FUZZ_REQUIRE(same_bytes(sparse->start + 1, naive.end,
                            naive.rows * sizeof *naive.end));
    FUZZ_REQUIRE(same_bytes(sparse->label, naive.label,
                            naive.rows * sizeof *naive.label));
    FUZZ_REQUIRE(same_bytes(sparse->index, naive.index,
                            naive.entries * sizeof *naive.index));
    FUZZ_REQUIRE(same_bytes(sparse->value, naive.value,
                            naive.entries * sizeof *naive.value));
    for (size_t k = 0; k < naive.entries; k++)
        FUZZ_REQUIRE(sparse->index[k] < sparse->cols);
}

/* The reader in a hurry, in blocks, against the careful one: the same rows but
 * for zeros, which blocks leave out, or the same sentence. */
static void compare_blocks(const uint8_t *data, size_t size, enum err wanted,
                           const struct sparse *rows, const struct why *said)
{
    const struct text_format format = {.read = libsvm_block};
    struct stage stage = {0};
    struct sparse read = {0};
    struct why why = {0};
    const enum err err = text_blocks_read_memory(
        data, size, 1 + size % 61, &format, pool_serial(), &stage, &why);
    size_t at = 0;

    if (err != ERR_OK) {
        FUZZ_REQUIRE(err == wanted && strcmp(why.text, said->text) == 0);
        stage_close(&stage);
        return;
    }
    FUZZ_REQUIRE(stage_unpack(&stage, &read) == ERR_OK);
    FUZZ_REQUIRE(read.rows == (wanted == ERR_OK ? rows->rows : 0));
    for (size_t k = 0; k < sparse_entries(rows); k++) {
        const double value = (double)(float)rows->value[k];

        if (value == 0)
            continue;
        FUZZ_REQUIRE(at < sparse_entries(&read));
        FUZZ_REQUIRE(read.index[at] == rows->index[k]);
        FUZZ_REQUIRE(read.value[at] == value);
        at++;
    }
    FUZZ_REQUIRE(at == sparse_entries(&read));
    FUZZ_REQUIRE(
        same_bytes(read.label, rows->label, read.rows * sizeof *read.label));
    sparse_close(&read);
    stage_close(&stage);
}

/* Packed data are for the unpackers to judge. */
static bool is_packed(const uint8_t *data, size_t size)
{
    return unpacker_is_packed(data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text_source source = {0};
    struct sparse sparse = {0};
    struct why why = {0};
    char *copy;
    enum err err;

    if (size >= NAIVE_MAX)
        return 0;
    copy = calloc(size + 1, 1);
    FUZZ_REQUIRE(copy != NULL);
    if (size > 0)
        memcpy(copy, data, size);
    FUZZ_REQUIRE(text_open_memory(&source, data, size) == ERR_OK);
    err = libsvm_read(&source, &sparse, &why);
    FUZZ_REQUIRE((err == ERR_OK) == naive_read(copy, size));
    fuzz_reached = err == ERR_OK;
    if (err == ERR_OK)
        compare(&sparse);
    else
        FUZZ_REQUIRE(why.text[0] != '\0' && sparse.rows == 0);
    if (!is_packed(data, size))
        compare_blocks(data, size, err, &sparse, &why);
    sparse_close(&sparse);
    text_close(&source);
    free(copy);
    return 0;
}
