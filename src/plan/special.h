/*
 * special.h - the special functions that delay models need.
 *
 * For plans and tables, never for a model's bits: libm will do.
 */
#ifndef PLAN_SPECIAL_H
#define PLAN_SPECIAL_H

#include <stdint.h>

/* 1 + 1/2 + ... + 1/n. */
double harmonic(uint32_t n);
/* Of the standard normal, 0 < u < 1; at the ends a large finite value. */
double normal_quantile(double u);
double normal_cdf(double x);
/* Regularised incomplete beta I_x(a, b), a and b > 0. */
double beta_cdf(double x, double a, double b);
/* Its density at u, with v = 1 - u given for the sake of the tail. */
double beta_density(double u, double v, double a, double b);

#endif /* PLAN_SPECIAL_H */
