/*
 * kernel_ref.c - the definition of kernel.h in plain scalars, one row after
 * the other.  Slow, short, and shares with dense.inc only the constants.
 */
#include "math/kernel/kernel.h"

#include <string.h>

#include "math/kernel/slope_ref.h"

struct loss_slope ref_slope_of_row(struct loss loss, double z, double y,
                                   const double *weight, uint32_t row)
{
    struct loss_slope slope = loss_at(loss, z, y);

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
    case DENSE_U8:
        return (double)((const uint8_t *)in->x)[at];
    case DENSE_PIXEL:
        return (double)dense_pixel(((const uint8_t *)in->x)[at]);
    }
    return (double)((const float *)in->x)[at];
}

static double ref_stripe(const struct dense_rows *in, uint32_t i,
                         const double *w, uint32_t first)
{
    double a[8] = {0};

    for (uint32_t j = first; j < in->stride && j - first < KERNEL_STRIPE; j++)
        a[j % 8] += ref_x(in, i, j) * w[j];
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

static double ref_score(const struct dense_rows *in, uint32_t i,
                        const double *w)
{
    double z = ref_stripe(in, i, w, 0);

    for (uint32_t j = KERNEL_STRIPE; j < in->stride; j += KERNEL_STRIPE)
        z += ref_stripe(in, i, w, j);
    return z;
}

static struct loss_slope ref_slope_in(struct loss loss,
                                      const struct dense_rows *in, uint32_t i,
                                      const double *w)
{
    return ref_slope_of_row(loss, ref_score(in, i, w), in->y[i], in->weight, i);
}

void kernel_gradient_ref(struct loss loss, const struct dense_rows *in,
                         const double *w, double *g, double *loss_sum)
{
    double sum = 0.0;

    memset(g, 0, in->stride * sizeof *g);
    for (uint32_t i = 0; i < in->rows; i++) {
        const struct loss_slope slope = ref_slope_in(loss, in, i, w);

        sum += slope.loss;
        for (uint32_t j = 0; j < in->stride; j++)
            g[j] += ref_x(in, i, j) * slope.r;
    }
    *loss_sum = sum;
}

void kernel_hessvec_ref(struct loss loss, const struct dense_rows *in,
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

void kernel_hessian_ref(struct loss loss, const struct dense_rows *in,
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
