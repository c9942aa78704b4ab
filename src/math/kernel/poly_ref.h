/*
 * poly_ref.h - exp as poly.h defines it, read off: for the `_ref` oracles.
 */
#ifndef MATH_POLY_REF_H
#define MATH_POLY_REF_H

#include <math.h>

#include "math/kernel/poly.h"

static inline double ref_horner(const double *c, int terms, double x)
{
    double p = c[terms - 1];

    for (int i = terms - 2; i >= 0; i--)
        p = p * x + c[i];
    return p;
}

/* x <= 0 and finite. */
static inline double ref_exp(double x)
{
    const double at = x < POLY_EXP_LOW ? POLY_EXP_LOW : x;
    const double k = (at * POLY_LOG2E + POLY_ROUNDER) - POLY_ROUNDER;
    const double f = (at - k * POLY_LN2_HIGH) - k * POLY_LN2_LOW;
    const double h = f * f;
    const double q = ref_horner(poly_exp_even, POLY_EXP_EVEN, h) +
                     f * ref_horner(poly_exp_odd, POLY_EXP_ODD, h);

    return ldexp((f + h * q) + 1.0, (int)k);
}

#endif /* MATH_POLY_REF_H */
