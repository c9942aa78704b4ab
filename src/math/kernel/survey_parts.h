/*
 * survey_parts.h - one row per instruction set of survey.inc (math/ only).
 */
#ifndef MATH_SURVEY_PARTS_H
#define MATH_SURVEY_PARTS_H

#include "math/kernel/survey.h"

/* What the rows of a block are multiplied by. */
struct survey_factors {
    double a[SURVEY_BLOCK], b[SURVEY_BLOCK], s[SURVEY_BLOCK];
};

/* On `rows` <= SURVEY_BLOCK rows of floats, one after the other. */
struct survey_ops {
    /* norm[i] = |x_i|; x_max as in survey.h. */
    void (*maxima)(const float *x, size_t rows, size_t stride, double *x_max,
                   double *norm);
    void (*norms)(const float *x, size_t rows, size_t stride, double *norm);
    /* u += |x_ij| a_i, v += |x_ij| b_i, m += |x_ij| s_i. */
    void (*sums)(const float *x, size_t rows, size_t stride,
                 const struct survey_factors *by, double *u, double *v,
                 double *m);
    void (*pairs)(const uint64_t *words, size_t count, size_t stride,
                  size_t first, uint64_t *pairs);
};

/* Bits set: in pairs of bits, in fours, in bytes, which are then added up. */
static inline uint64_t ones_of(uint64_t word)
{
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) +
           (word >> 2 & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return word * UINT64_C(0x0101010101010101) >> 56;
}

extern const struct survey_ops survey_portable;
#ifdef __x86_64__
extern const struct survey_ops survey_avx2;
extern const struct survey_ops survey_avx512;
/* The last of these for machines that also have AVX512_VPOPCNTDQ. */
void survey_pairs_vpopcnt(const uint64_t *words, size_t count, size_t stride,
                          size_t first, uint64_t *pairs);
#endif

#endif /* MATH_SURVEY_PARTS_H */
