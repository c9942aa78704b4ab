/*
 * special.c - normal and beta distributions and harmonic numbers. libm is good
 * enough here: nothing of this reaches a model.
 */
#include "plan/special.h"

#include <math.h>

#define NORMAL_LARGE 38.0 /* Beyond it the tail is below the least double. */
#define SQRT_2       1.4142135623730950488
#define SQRT_2_PI    2.5066282746310005024
#define LENTZ_STEPS  500
#define LENTZ_TINY   1e-300
#define LENTZ_ENOUGH 1e-15

double harmonic(uint32_t n)
{
    double sum = 0;

    for (uint32_t i = n; i > 0; i--)
        sum += 1.0 / (double)i;
    return sum;
}

double normal_cdf(double x)
{
    return 0.5 * erfc(-x / SQRT_2);
}

/* A start good to 5e-4 (Abramowitz & Stegun 26.2.23), for the lower half. */
static double quantile_start(double u)
{
    const double t = sqrt(-2 * log(u));

    return (2.515517 + t * (0.802853 + t * 0.010328)) /
               (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) -
           t;
}

double normal_quantile(double u)
{
    const double half = u < 0.5 ? u : 1 - u;
    double x;

    if (half <= 0)
        return u < 0.5 ? -NORMAL_LARGE : NORMAL_LARGE;
    x = quantile_start(half);
    /* Two steps of Halley's method reach full precision. */
    for (int i = 0; i < 2; i++) {
        const double error = normal_cdf(x) - half;
        const double slope = exp(-x * x / 2) / SQRT_2_PI;
        const double newton = error / slope;

        x -= newton / (1 + x * newton / 2);
    }
    return u < 0.5 ? x : -x;
}

static double away_from_zero(double x)
{
    return fabs(x) < LENTZ_TINY ? LENTZ_TINY : x;
}

/* The continued fraction of I_x(a, b) by Lentz's method; converges fast for
 * x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
    double c = 1;
    double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
    double value = d;

    for (int m = 1; m <= LENTZ_STEPS; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd =
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double step;

        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        value *= d * c;
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        step = d * c;
        value *= step;
        if (fabs(step - 1) < LENTZ_ENOUGH)
            break;
    }
    return value;
}

double beta_density(double u, double v, double a, double b)
{
    return exp(lgamma(a + b) - lgamma(a) - lgamma(b) + (a - 1) * log(u) +
               (b - 1) * log(v));
}

double beta_cdf(double x, double a, double b)
{
    const double front =
        x <= 0 || x >= 1 ? 0 : beta_density(x, 1 - x, a, b) * x * (1 - x);

    if (x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(x, a, b) / a;
    return 1 - front * beta_fraction(1 - x, b, a) / b;
}
