/*
 * chunks.h - random chunks for the tests of math/.
 *
 * Values are as awkward as their kind says; everything follows from a seed.
 */
#ifndef UNIT_MATH_CHUNKS_H
#define UNIT_MATH_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "math/kernel/kernel.h"

enum chunk_kind {
    CHUNK_PLAIN,
    CHUNK_DENORMAL, /* x below the least normal float. */
    CHUNK_HUGE,     /* x about 1e30, w about 1e-30. */
    CHUNK_STEEP,    /* |z| in the thousands and more. */
    CHUNK_MIXED,    /* x over 60 binary orders. */
    CHUNK_BROKEN,   /* Like plain, with NaN, Inf or 1e308 in w. */
    CHUNK_KINDS,
};

struct chunk {
    struct dense_rows rows;
    float *x;
    double *y;
    double *w;
};

/* At most `rows_max` rows and `columns_max` columns, padded; ends the process
 * if out of memory. */
void chunk_make(struct chunk *chunk, uint64_t seed, enum chunk_kind kind,
                uint32_t rows_max, uint32_t columns_max);
void chunk_close(struct chunk *chunk);

/* Equal bits, or both NaN: payloads differ between machines. */
bool same_bits(const double *a, const double *b, uint32_t count);

#endif /* UNIT_MATH_CHUNKS_H */
