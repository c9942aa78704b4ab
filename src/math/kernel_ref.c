/*
 * kernel_ref.c - the definition of kernel.h in plain scalars, one row after
 * the other.  Slow, short, and shares with dense.inc only the constants.
 */
#include "math/kernel.h"

#include <math.h>
#include <string.h>

#include "math/poly.h"

static double ref_horner(const double *c, int terms, double x)
{
    double p = c[terms - 1];

    for (int i = terms - 2; i >= 0; i--)
        p = p * x + c[i];
    return p;
}

/* x <= 0 and finite. */
static double ref_exp(double x)
{
    const double at = x < POLY_EXP_LOW ? POLY_EXP_LOW : x;
    const double k = (at * POLY_LOG2E + POLY_ROUNDER) - POLY_ROUNDER;
    const double f = (at - k * POLY_LN2_HIGH) - k * POLY_LN2_LOW;
    const double h = f * f;
    const double q = ref_horner(poly_exp_even, POLY_EXP_EVEN, h) +
                     f * ref_horner(poly_exp_odd, POLY_EXP_ODD, h);

    return ldexp((f + h * q) + 1.0, (int)k);
}

static double ref_log1p(double e)
{
    const double s = e / (e + 2.0);
    const double h = s * s;
    const double u = h * h;
    const double q = ref_horner(poly_log_even, POLY_LOG, u) +
                     h * ref_horner(poly_log_odd, POLY_LOG, u);

    return e - s * (e - (h * q) * 2.0);
}

struct ref_slope {
    double r;
    double loss;
};

static struct ref_slope ref_logistic(double z, double y)
{
    const double m = y * z;
    const double e = ref_exp(-fabs(m));
    const double t = (m < 0.0 ? 1.0 : e) / (e + 1.0);
    const double loss = ref_log1p(e) + (m < 0.0 ? -m : 0.0);

    return (struct ref_slope){-y * t, y == 0.0 ? 0.0 : loss};
}

static struct ref_slope ref_squared(double z, double y)
{
    const double d = z - y;

    return (struct ref_slope){d * 2.0, d * d};
}

static struct ref_slope ref_squared_hinge(double z, double y)
{
    const double m = 1.0 - y * z;

    if (!(m > 0.0))
        return (struct ref_slope){0.0, 0.0};
    return (struct ref_slope){(y * -2.0) * m, y == 0.0 ? 0.0 : m * m};
}

/* A z that is not finite makes the row NaN; a residual of -0 becomes +0. */
static struct ref_slope ref_slope_at(enum loss kind, double z, double y)
{
    struct ref_slope slope = {0.0, 0.0};

    if (!isfinite(z))
        return (struct ref_slope){(double)NAN, (double)NAN};
    switch (kind) {
    case LOSS_LOGISTIC:
        slope = ref_logistic(z, y);
        break;
    case LOSS_SQUARED:
        slope = ref_squared(z, y);
        break;
    case LOSS_SQUARED_HINGE:
        slope = ref_squared_hinge(z, y);
        break;
    }
    return (struct ref_slope){slope.r + 0.0, slope.loss + 0.0};
}

static double ref_score(const float *x, const double *w, uint32_t stride)
{
    double a[8] = {0};

    for (uint32_t j = 0; j < stride; j++)
        a[j % 8] += (double)x[j] * w[j];
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

void kernel_gradient_ref(enum loss loss, const struct dense_rows *in,
                         const double *w, double *g, double *loss_sum)
{
    double sum = 0.0;

    memset(g, 0, in->stride * sizeof *g);
    for (uint32_t i = 0; i < in->rows; i++) {
        const float *x = in->x + (size_t)i * in->stride;
        const struct ref_slope slope =
            ref_slope_at(loss, ref_score(x, w, in->stride), in->y[i]);

        sum += slope.loss;
        for (uint32_t j = 0; j < in->stride; j++)
            g[j] += (double)x[j] * slope.r;
    }
    *loss_sum = sum;
}
