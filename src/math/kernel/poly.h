/*
 * poly.h - the constants of our exp and log1p.
 *
 * A library's exp may change its last bit between releases; a hash that must
 * stand for years cannot.  Both functions are multiplications and additions
 * in the order written here, so that every instruction set rounds alike:
 *
 *     exp(x)    x = k ln 2 + f, |f| <= ln 2 / 2, h = f f
 *               2^k (1 + (f + h (E(h) + f O(h))))
 *     log1p(e)  0 <= e <= 1, s = e / (2 + e), h = s s, u = h h
 *               e - s (e - 2 (h (E(u) + h O(u))))
 *               which is 2 atanh s, with 2 s = e - s e: most of the result is
 *               then e itself, free of the division's rounding
 *
 * E and O hold the even and odd coefficients, lowest first.  They interpolate
 * at Chebyshev nodes, computed with 60 digits and rounded; the leading term
 * 1/2 of exp is kept exact.  Distance to the function, relative: 0.01 x 2^-53
 * for exp, 0.07 x 2^-53 for log1p; rounding adds about one ulp (test_kernel).
 */
#ifndef MATH_POLY_H
#define MATH_POLY_H

#define POLY_EXP_EVEN 6
#define POLY_EXP_ODD  5
#define POLY_LOG      5 /* Even and odd alike. */

/* Below this argument exp keeps its value there (1e-304, still a normal). */
#define POLY_EXP_LOW (-700.0)

#define POLY_LOG2E 0x1.71547652b82fep+0
/* ln 2 in two parts: the first has 33 bits, so that k times it is exact. */
#define POLY_LN2_HIGH 0x1.62e42fefp-1
#define POLY_LN2_LOW  0x1.473de6af278edp-34
/* Adding it rounds to an integer, whose two's complement is then in the low
 * bits of the sum. */
#define POLY_ROUNDER 0x1.8p52

static const double poly_exp_even[POLY_EXP_EVEN] = {
    0.5,
    0x1.5555555555555p-5,
    0x1.6c16c16c167dep-10,
    0x1.a01a01a47db6fp-16,
    0x1.27e4e1ea0f53ap-22,
    0x1.1f66f85dfa20ap-29,
};
static const double poly_exp_odd[POLY_EXP_ODD] = {
    0x1.5555555555556p-3,  0x1.11111111109adp-7,  0x1.a01a01a7c8d47p-13,
    0x1.71de0d9c145d0p-19, 0x1.af38d53857513p-26,
};
static const double poly_log_even[POLY_LOG] = {
    0x1.5555555555555p-2, 0x1.24924923d44c6p-3, 0x1.745cf0b0e03bdp-4,
    0x1.10ac75dc602b1p-4, 0x1.687a6e7c95176p-5,
};
static const double poly_log_odd[POLY_LOG] = {
    0x1.999999999a3ddp-3, 0x1.c71c727143318p-4, 0x1.3b18b294bebf9p-4,
    0x1.eb905e8575054p-5, 0x1.4b0a26c5f2aefp-4,
};

#endif /* MATH_POLY_H */
