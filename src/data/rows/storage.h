/*
 * storage.h - the forms in which rows lie in memory, and the choice of one.
 *
 * A form is chosen from the values alone, so that every machine that reads the
 * same data computes the same bits.  A narrow form is used only where every
 * value is exactly representable in it.  Values are fp32 unless the user asks
 * for f64 or rounding does harm (rounding.h): what others read is rounded as it
 * is packed.
 */
#ifndef DATA_STORAGE_H
#define DATA_STORAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "math/kernel/kernel.h"

/* Which kernels read it.  Dense narrow forms give dense bits; index and csr
 * are profiles of their own.  Chosen from the data and --storage alone. */
enum storage {
    STORAGE_F32,
    STORAGE_BF16,
    STORAGE_I8,
    STORAGE_BIT,
    STORAGE_INDEX,
    STORAGE_CSR,
    STORAGE_F64,
    STORAGE_U8,
    STORAGE_PIXEL, /* A byte k is k / 255, as a float: of images in IDX. */
};

#define STORAGES 9u

enum value_fit {
    VALUES_ZERO_ONE = 1,
    VALUES_I8 = 2,
    VALUES_BF16 = 4,
    VALUES_F32 = 8,
    VALUES_U8 = 16,
    VALUES_PIXEL = 32,
    VALUES_ALL = 63,
};

/* What is known of all values of a table; an empty one has fits VALUES_ALL. */
struct census {
    uint64_t rows, cols;
    uint64_t nonzero;
    uint32_t fits;    /* Bits of enum value_fit that hold for every value. */
    uint64_t rounded; /* Values that fp32 did not hold... */
    double error;     /* ...and the largest relative error of one. */
};

/* The byte that stands for `value`, from 0 to 1, if one does. */
static inline uint8_t storage_pixel(double value)
{
    return (uint8_t)(value * 255 + 0.5);
}

/* The forms that hold `value` exactly (bits of enum value_fit). */
static inline uint32_t value_fits(double wide)
{
    const float value = (float)wide;
    union {
        float value;
        uint32_t bits;
    } u = {value};
    uint32_t fits = VALUES_F32;

    if ((double)value != wide)
        return 0;
    if ((u.bits & 0xffffu) == 0)
        fits |= VALUES_BF16;
    if (value >= -128 && value <= 127 && value == (float)(int32_t)value)
        fits |= VALUES_I8;
    if (value >= 0 && value <= 255 && value == (float)(int32_t)value)
        fits |= VALUES_U8;
    if (value >= 0 && value <= 1 && value == dense_pixel(storage_pixel(wide)))
        fits |= VALUES_PIXEL;
    if (value == 0 || value == 1)
        fits |= VALUES_ZERO_ONE;
    return fits;
}

/* Dense where an eighth of the values is not zero (a thirty-second if bits
 * hold them: then the bits are no larger than the indices) or where the table
 * is small; of those that hold all values, the fastest.  Values count as
 * rounded to fp32. */
enum storage storage_choose(const struct census *census);
/* The dense one of that choice. */
enum storage storage_choose_dense(const struct census *census);
/* The same choice for rows that only wait: the narrowest form that holds them
 * all, which is f64 where fp32 does not. */
enum storage storage_smallest(const struct census *census);
/* Does it hold every value? */
bool storage_holds(enum storage storage, const struct census *census);

bool storage_is_sparse(enum storage storage);
/* Bytes of one dense row of `stride` columns, a multiple of 8. */
size_t storage_row_bytes(enum storage storage, uint32_t stride);

/* Of values that are bytes, or bytes by 255: by what; else 0. */
uint32_t storage_byte(enum storage storage);
const char *storage_name(enum storage storage);
/* False if there is none of that name. */
bool storage_parse(const char *name, enum storage *storage);

/* A whole dense row of `cols` values, from and to doubles.  f32 rounds;
 * narrower forms must hold the values exactly. */
void storage_pack(enum storage storage, const double *in, uint32_t cols,
                  void *row);
void storage_unpack(enum storage storage, const void *row, uint32_t cols,
                    double *out);

/* The same as floats; f64 is rounded. */
void storage_floats(enum storage storage, const void *row, uint32_t cols,
                    float *out);

/* One value of a dense row, the same way; `row` points at its first byte. */
void storage_put(enum storage storage, void *row, uint32_t column,
                 double value);
double storage_get(enum storage storage, const void *row, uint32_t column);

#endif /* DATA_STORAGE_H */
