/*
 * IDX and npy files are written byte by byte as their formats say, read, and
 * compared; then cut off at every byte and changed at every byte: that must
 * end in a sentence or in rows, never in a crash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "data/read/idx.h"
#include "data/read/npy.h"
#include "os/run/threads.h"

static struct pool *pool; /* Of three threads. */

struct file {
    uint8_t bytes[512];
    size_t size;
};

static void put(struct file *file, const void *bytes, size_t size)
{
    memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
}

static void put_be32(struct file *file, uint32_t value)
{
    const uint8_t bytes[] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16),
                             (uint8_t)(value >> 8), (uint8_t)value};

    put(file, bytes, 4);
}

/* Three images of 2 x 2. */
static struct file images(void)
{
    static const uint8_t pixels[] = {0, 255, 51, 0, 0, 0, 0, 0, 1, 2, 3, 4};
    struct file file = {0};

    put(&file, "\0\0\x08\x03", 4);
    put_be32(&file, 3);
    put_be32(&file, 2);
    put_be32(&file, 2);
    put(&file, pixels, sizeof pixels);
    return file;
}

static struct file labels(void)
{
    struct file file = {0};

    put(&file, "\0\0\x08\x01", 4);
    put_be32(&file, 3);
    put(&file, "\7\0\x09", 3);
    return file;
}

static struct file npy_with(const char *text, const void *values, size_t size)
{
    struct file file = {0};
    char header[119];
    const int used = snprintf(header, sizeof header, "%s", text);

    memset(header + used, ' ', sizeof header - (size_t)used);
    header[117] = '\n';
    put(&file, "\x93NUMPY\1\0\x76\0", 10);
    put(&file, header, 118);
    put(&file, values, size);
    return file;
}

static struct file npy(const char *descr, const char *shape, const void *values,
                       size_t size)
{
    char header[119];

    (void)snprintf(header, sizeof header,
                   "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                   descr, shape);
    return npy_with(header, values, size);
}

static enum err read_idx(const struct file *file, const double *label,
                         uint64_t count, struct sparse *rows, struct why *why)
{
    struct unpacker *in;
    struct stage stage = {0};
    uint64_t cols = 0;
    enum err err;

    assert_int_equal(unpacker_open_memory(file->bytes, file->size, &in),
                     ERR_OK);
    err = idx_stage(in, label, count, &cols, pool, &stage, why);
    unpacker_close(in);
    if (err == ERR_OK)
        err = stage_unpack(&stage, rows);
    stage_close(&stage);
    return err;
}

/* Column `label` from 1 is the label; 0: the last. */
static enum err stage_npy(struct unpacker *in, uint64_t label,
                          struct pool *hands, struct stage *stage,
                          struct why *why)
{
    char number[16];
    struct csv form = {0};
    enum err err;

    (void)snprintf(number, sizeof number, "%u", (unsigned)label);
    form.wanted.label = label == 0 ? NULL : number;
    err = npy_stage(in, NULL, 0, &form, hands, stage, why);
    csv_close(&form);
    return err;
}

static enum err read_npy(const struct file *file, uint64_t column,
                         struct sparse *rows, struct why *why)
{
    struct unpacker *in;
    struct stage stage = {0};
    enum err err;

    assert_int_equal(unpacker_open_memory(file->bytes, file->size, &in),
                     ERR_OK);
    err = stage_npy(in, column, pool, &stage, why);
    unpacker_close(in);
    if (err == ERR_OK)
        err = stage_unpack(&stage, rows);
    stage_close(&stage);
    return err;
}

static void test_idx(void **state)
{
    static const double label[] = {7, 0, 9};
    const struct file file = images();
    struct sparse rows = {0};
    struct why why = {0};

    (void)state;
    assert_int_equal(read_idx(&file, label, 3, &rows, &why), ERR_OK);
    assert_int_equal(rows.rows, 3);
    assert_int_equal(rows.cols, 4);
    assert_true(rows.label[2] == 9);
    assert_int_equal(rows.start[1], 2);
    assert_int_equal(rows.start[2], 2);
    assert_int_equal(rows.index[0], 1);
    assert_true(rows.value[0] == 1);
    assert_true(rows.value[1] == (double)0.2f);
    sparse_close(&rows);
    assert_int_equal(read_idx(&file, label, 2, &rows, &why), ERR_MISMATCH);
    assert_string_equal(why.text, "3 rows, but there are 2 labels");
}

static void test_idx_labels(void **state)
{
    const struct file file = labels();
    const struct file wrong = images();
    struct unpacker *in;
    double *read = NULL;
    uint64_t count = 0;
    struct why why = {0};

    (void)state;
    assert_int_equal(unpacker_open_memory(file.bytes, file.size, &in), ERR_OK);
    assert_int_equal(idx_labels(in, &read, &count, &why), ERR_OK);
    assert_int_equal(count, 3);
    assert_true(read[0] == 7 && read[2] == 9);
    mem_free(read);
    unpacker_close(in);
    assert_int_equal(unpacker_open_memory(wrong.bytes, wrong.size, &in),
                     ERR_OK);
    assert_int_equal(idx_labels(in, &read, &count, &why), ERR_FORMAT);
    unpacker_close(in);
}

static void test_npy_types(void **state)
{
    static const float f4[] = {1, 2, 3, 4, 5, 6};
    static const double f8[] = {1, 2, 3, 4, 5, 6};
    static const int8_t i1[] = {1, 2, 3, 4, 5, 6};
    static const uint16_t u2[] = {1, 2, 3, 4, 5, 6};
    static const int64_t i8[] = {1, 2, 3, 4, 5, 6};
    static const uint8_t big[] = {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6};
    const struct file files[] = {
        npy("<f4", "(2, 3)", f4, sizeof f4),
        npy("<f8", "(2, 3)", f8, sizeof f8),
        npy("|i1", "(2, 3)", i1, sizeof i1),
        npy("<u2", "(2,3)", u2, sizeof u2),
        npy("<i8", "(2, 3)", i8, sizeof i8),
        npy(">i2", "(2, 3)", big, sizeof big),
    };

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct sparse rows = {0};
        struct why why = {0};

        assert_int_equal(read_npy(&files[i], 0, &rows, &why), ERR_OK);
        assert_int_equal(rows.rows, 2);
        assert_int_equal(rows.cols, 2);
        assert_true(rows.label[0] == 3 && rows.label[1] == 6);
        assert_true(rows.value[0] == 1 && rows.value[3] == 5);
        sparse_close(&rows);
        assert_int_equal(read_npy(&files[i], 1, &rows, &why), ERR_OK);
        assert_true(rows.label[0] == 1 && rows.value[0] == 2);
        sparse_close(&rows);
    }
}

static void assert_npy_refused(const struct file *file, enum err err,
                               const char *part)
{
    struct sparse rows = {0};
    struct why why = {0};

    assert_int_equal(read_npy(file, 0, &rows, &why), err);
    assert_non_null(strstr(why.text, part));
}

static void test_npy_refusals(void **state)
{
    static const float values[] = {1, 2, 3, 4, 5, 6};
    static const float bad[] = {1, 2, 3, 4, __builtin_nanf(""), 6};
    static const double huge[] = {1, 2, 1e300, 4};
    struct file file = npy("<f4", "(2, 3)", values, sizeof values);

    (void)state;
    file.size--;
    assert_npy_refused(&file, ERR_TRUNCATED, "row 2: the file ends too early");
    file.size += 2;
    assert_npy_refused(&file, ERR_FORMAT, "bytes follow the last row");
    file = npy("<c8", "(2, 3)", values, sizeof values);
    assert_npy_refused(&file, ERR_UNSUPPORTED, "'<c8'");
    file = npy("<f4", "(6,)", values, sizeof values);
    assert_npy_refused(&file, ERR_FORMAT, "--labels");
    file = npy("<f4", "(x, 3)", values, sizeof values);
    assert_npy_refused(&file, ERR_FORMAT, "shape");
    file = npy("<f4", "(4000000000, 3)", values, sizeof values);
    assert_npy_refused(&file, ERR_TOOBIG, "at most");
    file = npy("<f4", "(2, 3)", bad, sizeof bad);
    assert_npy_refused(&file, ERR_RANGE, "row 2: column 2: not a finite");
    file = npy("<f8", "(2, 2)", huge, sizeof huge);
    assert_npy_refused(&file, ERR_RANGE, "row 2: column 1: 1e+300 is too");
}

/* What numpy's own reader refuses. */
static void test_npy_headers(void **state)
{
    static const float values[] = {1, 2, 3, 4, 5, 6};
    static const char *const sound[] = {
        "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}",
        " {\"descr\" : '<f4' ,'fortran_order':False , \"shape\": ( 2,3, ) , }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }",
        "{\n'descr':\t'<f4',\r\n'fortran_order': False,\n'shape': (2,\n3)\n}\n",
    };
    static const struct {
        const char *header, *part;
    } bad[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), ", "dict"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)", "dict"},
        {"'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", "dict"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } x",
         "dict"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'shape': "
         "(3, 2), }",
         "each once"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'more': 1}",
         "dict"},
        {"{'descr': '<f4', 'shape': (2, 3), }", "dict"},
        {"{'descr': '<f4 'fortran_order': False, 'shape': (2, 3), }", "dict"},
        {"{'descr': '<f4', 'fortran_order': False 'shape': (2, 3), }", "dict"},
        {"{'descr': '<f4', 'fortran_order': False,, 'shape': (2, 3), }",
         "dict"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)), }",
         "dict"},
        {"{'descr': '<f4', 'fortran_order': Falsehood, 'shape': (2, 3), }",
         "fortran_order"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }", "shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,, 3), }",
         "shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (6), }", "shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2LL, 3), }",
         "shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (L, 3), }",
         "shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3) + (), }",
         "shape"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++) {
        const struct file file = npy_with(sound[i], values, sizeof values);
        struct sparse rows = {0};

        assert_int_equal(read_npy(&file, 0, &rows, NULL), ERR_OK);
        assert_int_equal(rows.rows, 2);
        sparse_close(&rows);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct file file = npy_with(bad[i].header, values, sizeof values);

        assert_npy_refused(&file, ERR_FORMAT, bad[i].part);
    }
}

static void test_broken_bytes(void **state)
{
    static const float values[] = {1, 2, 3, 4, 5, 6};
    static const double label[] = {7, 0, 9};
    const struct file sound[] = {images(),
                                 npy("<f4", "(2, 3)", values, sizeof values)};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        for (size_t at = 0; at < sound[i].size; at++) {
            for (int change = 0; change < 4; change++) {
                struct file file = sound[i];
                struct sparse rows = {0};
                struct why why = {0};
                enum err err;

                if (change == 0)
                    file.size = at;
                else
                    file.bytes[at] = (uint8_t)(file.bytes[at] + 85 * change);
                err = i == 0 ? read_idx(&file, label, 3, &rows, &why)
                             : read_npy(&file, 0, &rows, &why);
                assert_true(err == ERR_OK || why.text[0] != '\0');
                sparse_close(&rows);
            }
        }
    }
}

/* An npy file of doubles, larger than blocks are. */
struct table_file {
    uint8_t *bytes;
    size_t size;
};

static double value_at(uint32_t row, uint32_t col)
{
    const uint64_t draw = rng_at(5, row, col);

    return draw % 3 == 0 ? 0 : (double)(draw % 4096) / 64;
}

static struct table_file large_npy(uint32_t rows, uint32_t cols)
{
    const size_t cells = (size_t)rows * cols;
    struct table_file file = {0};
    char shape[64];
    struct file head;

    (void)snprintf(shape, sizeof shape, "(%u, %u)", rows, cols);
    head = npy("<f8", shape, "", 0);
    file.size = head.size + cells * sizeof(double);
    file.bytes = mem_new(file.size, 1);
    assert_non_null(file.bytes);
    memcpy(file.bytes, head.bytes, head.size);
    for (size_t k = 0; k < cells; k++) {
        const double value =
            value_at((uint32_t)(k / cols), (uint32_t)(k % cols));

        memcpy(file.bytes + head.size + k * sizeof value, &value, sizeof value);
    }
    return file;
}

static void assert_large_row(const struct sparse *rows, uint32_t row,
                             uint32_t cols, uint32_t label)
{
    size_t at = rows->start[row];

    assert_true(rows->label[row] == value_at(row, label));
    for (uint32_t col = 0; col < cols; col++) {
        if (col == label || value_at(row, col) == 0)
            continue;
        assert_int_equal(rows->index[at], col - (col > label));
        assert_true(rows->value[at] == (double)(float)value_at(row, col));
        at++;
    }
    assert_int_equal(at, rows->start[row + 1]);
}

static enum err stage_large(const struct table_file *file, uint64_t label,
                            struct pool *hands, struct stage *stage,
                            struct why *why)
{
    struct unpacker *in;
    enum err err;

    assert_int_equal(unpacker_open_memory(file->bytes, file->size, &in),
                     ERR_OK);
    err = stage_npy(in, label + 1, hands, stage, why);
    unpacker_close(in);
    return err;
}

static void check_large(uint32_t row_count, uint32_t cols, uint32_t label)
{
    struct pool *const hands[] = {pool_serial(), pool};
    struct table_file file = large_npy(row_count, cols);

    for (int i = 0; i < 2; i++) {
        struct stage stage = {0};
        struct sparse rows = {0};
        struct why why = {0};

        assert_int_equal(stage_large(&file, label, hands[i], &stage, &why),
                         ERR_OK);
        assert_true(stage.count > 1);
        assert_int_equal(stage_unpack(&stage, &rows), ERR_OK);
        assert_int_equal(rows.rows, row_count);
        assert_int_equal(rows.cols, cols - 1);
        for (uint32_t row = 0; row < row_count; row++)
            assert_large_row(&rows, row, cols, label);
        sparse_close(&rows);
        stage_close(&stage);
    }
    mem_free(file.bytes);
}

/* Of two bad cells far apart the first is told, whoever read it; then of a
 * file that ends early its last row. */
static void check_first_error(void)
{
    const double bad = __builtin_nan("");
    struct table_file file = large_npy(60000, 9);
    const size_t head = file.size - sizeof bad * 60000 * 9;
    struct stage stage = {0};
    struct why why = {0};

    memcpy(file.bytes + head + sizeof bad * (50000 * 9 + 3), &bad, sizeof bad);
    memcpy(file.bytes + head + sizeof bad * (20000 * 9 + 7), &bad, sizeof bad);
    assert_int_equal(stage_large(&file, 8, pool, &stage, &why), ERR_RANGE);
    assert_string_equal(why.text,
                        "row 20001: column 8: not a finite number; fill such "
                        "values in, or train with --missing mean, median, zero "
                        "or indicator");
    stage_close(&stage);
    file.size = head + sizeof bad * (20000 * 9 + 1);
    assert_int_equal(stage_large(&file, 8, pool, &stage, &why), ERR_TRUNCATED);
    assert_string_equal(why.text,
                        "row 20001: the file ends too early; fetch it again");
    stage_close(&stage);
    mem_free(file.bytes);
}

static void test_large(void **state)
{
    (void)state;
    check_large(60000, 9, 8);
    check_large(60000, 9, 0);
    check_large(3, 300000, 1234); /* Rows longer than a block. */
    check_first_error();
}

static int open_pool(void **state)
{
    (void)state;
    return threads_new(3, &pool) == ERR_OK ? 0 : -1;
}

static int close_pool(void **state)
{
    (void)state;
    threads_free(pool);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idx),         cmocka_unit_test(test_idx_labels),
        cmocka_unit_test(test_npy_types),   cmocka_unit_test(test_npy_refusals),
        cmocka_unit_test(test_npy_headers), cmocka_unit_test(test_broken_bytes),
        cmocka_unit_test(test_large),
    };

    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
