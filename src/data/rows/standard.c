/*
 * standard.c - means and deviations, of numbers of any size.
 */
#include "data/rows/standard.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

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

static bool counts(const double *weight, uint32_t i)
{
    return weight == NULL || weight[i] > 0;
}

/* What to multiply deviations from the mean by; values, if that is 0. */
static double unit_of(const double *x, const double *weight, uint32_t count,
                      double mean)
{
    double most = 0;

    for (uint32_t i = 0; i < count; i++)
        if (counts(weight, i))
            most = fmax(most, fabs(x[i] - mean));
    return most < SIZE_LEAST ? SIZE_UNIT : most > SIZE_MOST ? 1 / SIZE_UNIT : 1;
}

/* And how many they are. */
static double mean_of(const double *x, const double *weight, uint32_t count,
                      double *n)
{
    const double unit = fmin(unit_of(x, weight, count, 0), 1);
    double sum = 0;

    *n = 0;
    for (uint32_t i = 0; i < count; i++)
        if (counts(weight, i)) {
            sum += x[i] * unit;
            ++*n;
        }
    return *n > 0 ? sum / *n / unit : 0;
}

double standard_mean(const double *x, uint32_t count)
{
    double n;

    return mean_of(x, NULL, count, &n);
}

struct standard standard_of(const double *x, const double *weight,
                            uint32_t count)
{
    double n;
    const double mean = mean_of(x, weight, count, &n);
    const double unit = unit_of(x, weight, count, mean);
    double squares = 0;

    for (uint32_t i = 0; i < count; i++) {
        const double away = x[i] * unit - mean * unit;

        squares += counts(weight, i) ? away * away : 0;
    }
    return (struct standard){mean,
                             n == 0 || is_constant(squares / n, mean * unit, n)
                                 ? 0
                                 : fmin(unit / sqrt(squares / n), DBL_MAX)};
}
