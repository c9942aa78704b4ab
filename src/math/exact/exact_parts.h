/*
 * exact_parts.h - one row per instruction set of exact.inc (math/ only).
 */
#ifndef MATH_EXACT_PARTS_H
#define MATH_EXACT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Columns at a time; what is kept of them, 6 KiB, stays in L1. */
#define EXACT_BLOCK 256u

/* Columns `first` .. `first` + EXACT_BLOCK of `count` rows into out.  False if
 * some are in doubt: those whose doubt[j] is not 0 have no meaning. */
struct exact_ops {
    bool (*f64)(const void *const *rows, uint32_t count, size_t first,
                double *out, int64_t *doubt);
    bool (*f32)(const void *const *rows, uint32_t count, size_t first,
                float *out, int64_t *doubt);
    void (*i64)(const void *const *rows, uint32_t count, size_t first,
                int64_t *out); /* Never in doubt. */
};

extern const struct exact_ops exact_portable;
#ifdef __x86_64__
extern const struct exact_ops exact_avx2;
extern const struct exact_ops exact_avx512;
#endif

#endif /* MATH_EXACT_PARTS_H */
