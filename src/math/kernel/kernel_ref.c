/*
 * kernel_ref.c - the definition of kernel.h in plain scalars, one row after
 * the other.  Slow, short, and shares with dense.inc only the constants.
 */
#include "math/kernel/kernel.h"

#include <math.h>
#include <string.h>

#include "math/kernel/poly_ref.h"
#include "math/kernel/slope_ref.h"

static double ref_log1p(double e)
{
    const double s = e / (e + 2.0);
    const double h = s * s;
    const double u = h * h;
    const double q = ref_horner(poly_log_even, POLY_LOG, u) +
                     h * ref_horner(poly_log_odd, POLY_LOG, u);

    return e - s * (e - (h * q) * 2.0);
}

static struct ref_slope ref_logistic(double z, double y)
{
    const double m = y * z;
    const double e = ref_exp(-fabs(m));
    const double d = e + 1.0;
    const double t = (m < 0.0 ? 1.0 : e) / d;
    const double loss = ref_log1p(e) + (m < 0.0 ? -m : 0.0);

    if (y == 0.0)
        return (struct ref_slope){-y * t, 0.0, 0.0};
    return (struct ref_slope){-y * t, (e / d) / d, loss};
}

static struct ref_slope ref_squared(double z, double y)
{
    const double d = z - y;

    return (struct ref_slope){d * 2.0, 2.0, d * d};
}

static struct ref_slope ref_squared_hinge(double z, double y)
{
    const double m = 1.0 - y * z;

    if (!(m > 0.0))
        return (struct ref_slope){0.0, 0.0, 0.0};
    return (struct ref_slope){(y * -2.0) * m, (y * 2.0) * y,
                              y == 0.0 ? 0.0 : m * m};
}

static struct ref_slope ref_hinge(double z, double y)
{
    const double m = 1.0 - y * z;

    if (!(m > 0.0))
        return (struct ref_slope){0.0, 0.0, 0.0};
    return (struct ref_slope){-y, 0.0, y == 0.0 ? 0.0 : m};
}

static struct ref_slope ref_hinge_soft(double z, double y, double inverse)
{
    const double m = 1.0 - y * z;
    const double share = m * inverse;

    if (!(m > 0.0))
        return (struct ref_slope){0.0, 0.0, 0.0};
    if (share <= 1.0)
        return (struct ref_slope){-y * share, (y * inverse) * y,
                                  y == 0.0 ? 0.0 : m * (share * 0.5)};
    return (struct ref_slope){-y, 0.0, y == 0.0 ? 0.0 : m - 0.5 / inverse};
}

/* A z that is not finite makes the row NaN; a residual of -0 becomes +0. */
struct ref_slope ref_slope_at(enum loss kind, double z, double y)
{
    struct ref_slope slope = {0.0, 0.0, 0.0};

    if (!isfinite(z))
        return (struct ref_slope){(double)NAN, (double)NAN, (double)NAN};
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
    case LOSS_HINGE:
        slope = ref_hinge(z, y);
        break;
    case LOSS_HINGE_SOFT:
    default: /* ... and those after it. */
        slope = ref_hinge_soft(z, y, loss_soft_inverse(kind));
    }
    return (struct ref_slope){slope.r + 0.0, slope.h + 0.0, slope.loss + 0.0};
}

struct ref_slope ref_slope_of_row(enum loss kind, double z, double y,
                                  const double *weight, uint32_t row)
{
    struct ref_slope slope = ref_slope_at(kind, z, y);

    if (weight != NULL) {
        slope.r *= weight[row];
        slope.h *= weight[row];
        slope.loss *= weight[row];
    }
    return slope;
}

double ref_x(const struct dense_rows *in, uint32_t i, uint32_t j)
{
    const size_t at = (size_t)i * in->stride + j;
    uint32_t bits;
    float x;

    switch (in->storage) {
    case DENSE_F32:
        break;
    case DENSE_BF16:
        bits = (uint32_t)((const uint16_t *)in->x)[at] << 16;
        memcpy(&x, &bits, sizeof x);
        return (double)x;
    case DENSE_I8:
        return (double)((const int8_t *)in->x)[at];
    case DENSE_BIT:
        return (double)(((const uint8_t *)in->x)[at / 8] >> at % 8 & 1);
    case DENSE_F64:
        return ((const double *)in->x)[at];
    }
    return (double)((const float *)in->x)[at];
}

static double ref_score(const struct dense_rows *in, uint32_t i,
                        const double *w)
{
    double a[8] = {0};

    for (uint32_t j = 0; j < in->stride; j++)
        a[j % 8] += ref_x(in, i, j) * w[j];
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

static struct ref_slope ref_slope_in(enum loss loss,
                                     const struct dense_rows *in, uint32_t i,
                                     const double *w)
{
    return ref_slope_of_row(loss, ref_score(in, i, w), in->y[i], in->weight, i);
}

void kernel_gradient_ref(enum loss loss, const struct dense_rows *in,
                         const double *w, double *g, double *loss_sum)
{
    double sum = 0.0;

    memset(g, 0, in->stride * sizeof *g);
    for (uint32_t i = 0; i < in->rows; i++) {
        const struct ref_slope slope = ref_slope_in(loss, in, i, w);

        sum += slope.loss;
        for (uint32_t j = 0; j < in->stride; j++)
            g[j] += ref_x(in, i, j) * slope.r;
    }
    *loss_sum = sum;
}

void kernel_hessvec_ref(enum loss loss, const struct dense_rows *in,
                        const double *w, const double *v, double *hv)
{
    memset(hv, 0, in->stride * sizeof *hv);
    for (uint32_t i = 0; i < in->rows; i++) {
        const double h = ref_slope_in(loss, in, i, w).h;
        const double s = h * ref_score(in, i, v);

        for (uint32_t j = 0; j < in->stride; j++)
            hv[j] += ref_x(in, i, j) * s;
    }
}

void kernel_hessian_ref(enum loss loss, const struct dense_rows *in,
                        const double *w, double *hessian)
{
    memset(hessian, 0,
           (size_t)in->stride * (in->stride + 1) / 2 * sizeof *hessian);
    for (uint32_t i = 0; i < in->rows; i++) {
        const double h = ref_slope_in(loss, in, i, w).h;
        double *entry = hessian;

        for (uint32_t j = 0; j < in->stride; j++) {
            for (uint32_t k = 0; k <= j; k++)
                *entry++ += (h * ref_x(in, i, j)) * ref_x(in, i, k);
        }
    }
}
