/*
 * poly_ref.h - exp and log as poly.h defines them, read off: for the `_ref`
 * oracles, and where numbers are few.
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

/* x > 0 and finite. */
static inline double ref_log(double x)
{
    int k = 0;
    const double e = frexp(x, &k) * 2.0 - 1.0;
    const double s = e / (e + 2.0);
    const double h = s * s;
    const double u = h * h;
    const double q = ref_horner(poly_log_even, POLY_LOG, u) +
                     h * ref_horner(poly_log_odd, POLY_LOG, u);
    const double log1p = e - s * (e - (h * q) * 2.0);

    return (k - 1) * POLY_LN2_HIGH + (log1p + (k - 1) * POLY_LN2_LOW);
}

#endif /* MATH_POLY_REF_H */
