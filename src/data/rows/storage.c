/*
 * storage.c - packing and unpacking of rows: fp64, fp32, bf16, bytes, bits,
 * dense or sparse, and which of them holds every value exactly.
 */
#include "data/rows/storage.h"

#include <string.h>

#include "base/check.h"

enum { DENSE_SHARE = 8, DENSE_SHARE_BITS = 32 };

/* Values that fit a cache are read fastest as they stand. */
#define SMALL_VALUES (UINT64_C(1) << 16)
/* bf16 rows take more steps to convert than fp32 rows, which costs more time
 * than their smaller size saves until memory is what is short. */
#define BF16_FROM_BYTES (UINT64_C(256) << 20) /* Of the fp32 table. */

static const char *const names[STORAGES] = {
    [STORAGE_F32] = "f32", [STORAGE_BF16] = "bf16",   [STORAGE_I8] = "i8",
    [STORAGE_BIT] = "bit", [STORAGE_INDEX] = "index", [STORAGE_CSR] = "csr",
    [STORAGE_F64] = "f64", [STORAGE_U8] = "u8",       [STORAGE_PIXEL] = "pixel",
};

enum storage storage_choose_dense(const struct census *census)
{
    const uint64_t bytes = census->rows * census->cols * sizeof(float);

    if (census->fits & VALUES_ZERO_ONE)
        return STORAGE_BIT;
    if (census->fits & VALUES_I8)
        return STORAGE_I8;
    if (census->fits & VALUES_U8)
        return STORAGE_U8;
    if (census->fits & VALUES_PIXEL)
        return STORAGE_PIXEL;
    return census->fits & VALUES_BF16 && bytes > BF16_FROM_BYTES ? STORAGE_BF16
                                                                 : STORAGE_F32;
}

enum storage storage_choose(const struct census *census)
{
    const uint64_t values = census->rows * census->cols;
    const bool bits = (census->fits & VALUES_ZERO_ONE) != 0;
    const uint64_t share = bits ? DENSE_SHARE_BITS : DENSE_SHARE;

    if (values <= SMALL_VALUES || census->nonzero >= values / share)
        return storage_choose_dense(census);
    return bits ? STORAGE_INDEX : STORAGE_CSR;
}

enum storage storage_smallest(const struct census *census)
{
    const enum storage storage = storage_choose(census);

    if (!(census->fits & VALUES_F32))
        return STORAGE_F64;
    return storage == STORAGE_F32 && census->fits & VALUES_BF16 ? STORAGE_BF16
                                                                : storage;
}

bool storage_holds(enum storage storage, const struct census *census)
{
    switch (storage) {
    case STORAGE_BIT:
    case STORAGE_INDEX:
        return (census->fits & VALUES_ZERO_ONE) != 0;
    case STORAGE_I8:
        return (census->fits & VALUES_I8) != 0;
    case STORAGE_BF16:
        return (census->fits & VALUES_BF16) != 0;
    case STORAGE_U8:
        return (census->fits & VALUES_U8) != 0;
    case STORAGE_PIXEL:
        return (census->fits & VALUES_PIXEL) != 0;
    case STORAGE_F32:
    case STORAGE_CSR:
    case STORAGE_F64:
        break;
    }
    return true;
}

bool storage_is_sparse(enum storage storage)
{
    return storage == STORAGE_INDEX || storage == STORAGE_CSR;
}

size_t storage_row_bytes(enum storage storage, uint32_t stride)
{
    switch (storage) {
    case STORAGE_F32:
        return (size_t)stride * sizeof(float);
    case STORAGE_BF16:
        return (size_t)stride * sizeof(uint16_t);
    case STORAGE_I8:
    case STORAGE_U8:
    case STORAGE_PIXEL:
        return stride;
    case STORAGE_BIT:
        return stride / 8;
    case STORAGE_F64:
        return (size_t)stride * sizeof(double);
    case STORAGE_INDEX:
    case STORAGE_CSR:
        break;
    }
    return 0;
}

uint32_t storage_byte(enum storage storage)
{
    if (storage == STORAGE_U8)
        return 1;
    return storage == STORAGE_PIXEL ? 255 : 0;
}

const char *storage_name(enum storage storage)
{
    CHECK((uint32_t)storage < STORAGES);
    return names[storage];
}

bool storage_parse(const char *name, enum storage *storage)
{
    for (uint32_t i = 0; i < STORAGES; i++) {
        if (strcmp(name, names[i]) == 0) {
            *storage = (enum storage)i;
            return true;
        }
    }
    return false;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint16_t to_bf16(float value)
{
    return (uint16_t)(bits_of(value) >> 16);
}

static float from_bf16(uint16_t half)
{
    const uint32_t bits = (uint32_t)half << 16;
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static void pack_bits(const double *in, uint32_t cols, uint8_t *row)
{
    memset(row, 0, ((size_t)cols + 7) / 8);
    for (uint32_t j = 0; j < cols; j++)
        row[j / 8] = (uint8_t)(row[j / 8] | (in[j] != 0) << j % 8);
}

void storage_pack(enum storage storage, const double *in, uint32_t cols,
                  void *row)
{
    switch (storage) {
    case STORAGE_F32:
        for (uint32_t j = 0; j < cols; j++)
            ((float *)row)[j] = (float)in[j];
        return;
    case STORAGE_BF16:
        for (uint32_t j = 0; j < cols; j++)
            ((uint16_t *)row)[j] = to_bf16((float)in[j]);
        return;
    case STORAGE_I8:
        for (uint32_t j = 0; j < cols; j++)
            ((int8_t *)row)[j] = (int8_t)in[j];
        return;
    case STORAGE_U8:
        for (uint32_t j = 0; j < cols; j++)
            ((uint8_t *)row)[j] = (uint8_t)in[j];
        return;
    case STORAGE_PIXEL:
        for (uint32_t j = 0; j < cols; j++)
            ((uint8_t *)row)[j] = storage_pixel(in[j]);
        return;
    case STORAGE_BIT:
        pack_bits(in, cols, row);
        return;
    case STORAGE_F64:
        memcpy(row, in, cols * sizeof *in);
        return;
    case STORAGE_INDEX:
    case STORAGE_CSR:
        break;
    }
    CHECK(!storage_is_sparse(storage));
}

void storage_unpack(enum storage storage, const void *row, uint32_t cols,
                    double *out)
{
    switch (storage) {
    case STORAGE_F32:
        for (uint32_t j = 0; j < cols; j++)
            out[j] = (double)((const float *)row)[j];
        return;
    case STORAGE_BF16:
        for (uint32_t j = 0; j < cols; j++)
            out[j] = (double)from_bf16(((const uint16_t *)row)[j]);
        return;
    case STORAGE_I8:
        for (uint32_t j = 0; j < cols; j++)
            out[j] = (double)((const int8_t *)row)[j];
        return;
    case STORAGE_U8:
        for (uint32_t j = 0; j < cols; j++)
            out[j] = (double)((const uint8_t *)row)[j];
        return;
    case STORAGE_PIXEL:
        for (uint32_t j = 0; j < cols; j++)
            out[j] = (double)dense_pixel(((const uint8_t *)row)[j]);
        return;
    case STORAGE_BIT:
        for (uint32_t j = 0; j < cols; j++)
            out[j] = (double)(((const uint8_t *)row)[j / 8] >> j % 8 & 1);
        return;
    case STORAGE_F64:
        memcpy(out, row, cols * sizeof *out);
        return;
    case STORAGE_INDEX:
    case STORAGE_CSR:
        break;
    }
    CHECK(!storage_is_sparse(storage));
}

void storage_floats(enum storage storage, const void *row, uint32_t cols,
                    float *out)
{
    switch (storage) {
    case STORAGE_F32:
        memcpy(out, row, cols * sizeof *out);
        return;
    case STORAGE_BF16:
        for (uint32_t j = 0; j < cols; j++)
            out[j] = from_bf16(((const uint16_t *)row)[j]);
        return;
    case STORAGE_I8:
        for (uint32_t j = 0; j < cols; j++)
            out[j] = (float)((const int8_t *)row)[j];
        return;
    case STORAGE_U8:
        for (uint32_t j = 0; j < cols; j++)
            out[j] = (float)((const uint8_t *)row)[j];
        return;
    case STORAGE_PIXEL:
        for (uint32_t j = 0; j < cols; j++)
            out[j] = dense_pixel(((const uint8_t *)row)[j]);
        return;
    case STORAGE_BIT:
        for (uint32_t j = 0; j < cols; j++)
            out[j] = (float)(((const uint8_t *)row)[j / 8] >> j % 8 & 1);
        return;
    case STORAGE_F64:
        for (uint32_t j = 0; j < cols; j++)
            out[j] = (float)((const double *)row)[j];
        return;
    case STORAGE_INDEX:
    case STORAGE_CSR:
        break;
    }
    CHECK(!storage_is_sparse(storage));
}

void storage_put(enum storage storage, void *row, uint32_t column, double value)
{
    switch (storage) {
    case STORAGE_F32:
        ((float *)row)[column] = (float)value;
        return;
    case STORAGE_BF16:
        ((uint16_t *)row)[column] = to_bf16((float)value);
        return;
    case STORAGE_I8:
        ((int8_t *)row)[column] = (int8_t)value;
        return;
    case STORAGE_U8:
        ((uint8_t *)row)[column] = (uint8_t)value;
        return;
    case STORAGE_PIXEL:
        ((uint8_t *)row)[column] = storage_pixel(value);
        return;
    case STORAGE_BIT: {
        uint8_t *const byte = (uint8_t *)row + column / 8;
        const uint8_t mask = (uint8_t)(1u << column % 8);

        *byte = (uint8_t)(value != 0 ? *byte | mask : *byte & ~mask);
        return;
    }
    case STORAGE_F64:
        ((double *)row)[column] = value;
        return;
    case STORAGE_INDEX:
    case STORAGE_CSR:
        break;
    }
    CHECK(!storage_is_sparse(storage));
}

double storage_get(enum storage storage, const void *row, uint32_t column)
{
    switch (storage) {
    case STORAGE_F32:
        return (double)((const float *)row)[column];
    case STORAGE_BF16:
        return (double)from_bf16(((const uint16_t *)row)[column]);
    case STORAGE_I8:
        return (double)((const int8_t *)row)[column];
    case STORAGE_U8:
        return (double)((const uint8_t *)row)[column];
    case STORAGE_PIXEL:
        return (double)dense_pixel(((const uint8_t *)row)[column]);
    case STORAGE_BIT:
        return (double)(((const uint8_t *)row)[column / 8] >> column % 8 & 1);
    case STORAGE_F64:
        return ((const double *)row)[column];
    case STORAGE_INDEX:
    case STORAGE_CSR:
        break;
    }
    CHECK(!storage_is_sparse(storage));
    return 0;
}
