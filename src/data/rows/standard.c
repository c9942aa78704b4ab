/*
 * standard.c - means and deviations, of numbers of any size.
 */
#include "data/rows/standard.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* Values and deviations are measured in units of 2^-540 or 2^540 where their
 * squares, or sums, might be 0 or beyond all numbers. */
#define SIZE_LEAST 1e-140
#define SIZE_MOST  1e140
#define SIZE_UNIT  0x1p540

/* Deviations below what rounding alone may leave of a constant column count as
 * none: n times the error of a mean, as scikit-learn has it. */
static bool is_constant(double variance, double mean, double n)
{
    const double slip = n * mean * DBL_EPSILON;

    return variance <= n * DBL_EPSILON * variance + slip * slip;
}

/* What to multiply deviations from the mean by; values, if that is 0. */
static double unit_of(const double *x, uint32_t count, double mean)
{
    double most = 0;

    for (uint32_t i = 0; i < count; i++)
        most = fmax(most, fabs(x[i] - mean));
    return most < SIZE_LEAST ? SIZE_UNIT : most > SIZE_MOST ? 1 / SIZE_UNIT : 1;
}

double standard_mean(const double *x, uint32_t count)
{
    const double unit = fmin(unit_of(x, count, 0), 1);
    double sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += x[i] * unit;
    return sum / (double)count / unit;
}

struct standard standard_of(const double *x, uint32_t count)
{
    const double n = (double)count;
    const double mean = standard_mean(x, count);
    const double unit = unit_of(x, count, mean);
    double squares = 0;

    for (uint32_t i = 0; i < count; i++) {
        const double away = x[i] * unit - mean * unit;

        squares += away * away;
    }
    return (struct standard){mean,
                             is_constant(squares / n, mean * unit, n)
                                 ? 0
                                 : fmin(unit / sqrt(squares / n), DBL_MAX)};
}
