/*
 * softmax_ref.c - the definition of softmax.h in plain scalars.  Slow, short,
 * and shares with softmax.c only the constants.
 */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "math/kernel/poly_ref.h"
#include "math/kernel/slope_ref.h"
#include "math/kernel/softmax.h"

/* One row: z and (or NULL) t are given, r comes out; returns the loss. */
static double ref_row(uint32_t classes, const double *z, const double *t,
                      double y, double weight, double *r)
{
    double m = z[0], s = 0.0, a = 0.0;
    bool good = y >= 0.0 && y < classes && y == floor(y);

    for (uint32_t c = 0; c < classes; c++)
        good = good && isfinite(z[c]);
    for (uint32_t c = 0; c < classes; c++)
        r[c] = y == SOFTMAX_NO_CLASS ? 0.0 : (double)NAN;
    if (!good)
        return t != NULL || y == SOFTMAX_NO_CLASS ? 0.0 : (double)NAN;
    for (uint32_t c = 1; c < classes; c++)
        m = z[c] > m ? z[c] : m;
    for (uint32_t c = 0; c < classes; c++)
        s += r[c] = ref_exp(z[c] - m);
    for (uint32_t c = 0; c < classes; c++)
        r[c] /= s;
    for (uint32_t c = 0; c < classes && t != NULL; c++)
        a += r[c] * t[c];
    for (uint32_t c = 0; c < classes; c++) {
        if (t != NULL)
            r[c] = (r[c] * (t[c] - a) + 0.0) * weight;
        else
            r[c] = ((c == (uint32_t)y ? r[c] - 1.0 : r[c]) + 0.0) * weight;
    }
    return t != NULL ? 0.0 : ((m - z[(uint32_t)y]) + ref_log(s)) * weight;
}

static double ref_dot(const struct dense_rows *in, uint32_t i, const double *w)
{
    double a[8] = {0};

    for (uint32_t j = 0; j < in->stride; j++)
        a[j % 8] += ref_x(in, i, j) * w[j];
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

static double ref_dense(uint32_t classes, const struct dense_rows *in,
                        const double *w, const double *v, double *g)
{
    double z[SOFTMAX_CLASSES_MAX] = {0}, t[SOFTMAX_CLASSES_MAX] = {0};
    double r[SOFTMAX_CLASSES_MAX];
    const size_t stride = in->stride;
    double loss = 0.0;

    memset(g, 0, classes * stride * sizeof *g);
    for (uint32_t i = 0; i < in->rows; i++) {
        for (uint32_t c = 0; c < classes; c++) {
            z[c] = ref_dot(in, i, w + c * stride);
            t[c] = v != NULL ? ref_dot(in, i, v + c * stride) : 0.0;
        }
        loss += ref_row(classes, z, v != NULL ? t : NULL, in->y[i],
                        in->weight != NULL ? in->weight[i] : 1.0, r);
        for (uint32_t c = 0; c < classes; c++) {
            for (uint32_t j = 0; j < stride; j++)
                g[c * stride + j] += ref_x(in, i, j) * r[c];
        }
    }
    return loss;
}

void softmax_gradient_ref(uint32_t classes, const struct dense_rows *in,
                          const double *w, double *g, double *loss_sum)
{
    *loss_sum = ref_dense(classes, in, w, NULL, g);
}

void softmax_hessvec_ref(uint32_t classes, const struct dense_rows *in,
                         const double *w, const double *v, double *hv)
{
    (void)ref_dense(classes, in, w, v, hv);
}

/* --- sparse -------------------------------------------------------------- */

static double ref_value(const struct sparse_rows *in, uint64_t at)
{
    return in->value == NULL ? 1.0 : (double)in->value[at];
}

static double ref_sparse_dot(const struct sparse_rows *in, uint32_t i,
                             const double *w)
{
    double a[4] = {0};
    int lane = 0;

    for (uint64_t at = in->begin[i]; at < in->begin[i + 1]; at++) {
        a[lane] += ref_value(in, at) * w[in->column[at]];
        lane = lane == 3 ? 0 : lane + 1;
    }
    return (a[0] + a[2]) + (a[1] + a[3]);
}

/* r of row i into `row`; returns the loss. */
static double ref_sparse_row(uint32_t classes, uint32_t stride,
                             const struct sparse_rows *in,
                             const struct evaluation *what, uint32_t i,
                             double *r)
{
    double z[SOFTMAX_CLASSES_MAX] = {0}, t[SOFTMAX_CLASSES_MAX] = {0};
    const bool hessvec = what->kind == EVALUATE_HESSVEC;

    for (uint32_t c = 0; c < classes; c++) {
        const size_t at = (size_t)c * stride;

        z[c] = ref_sparse_dot(in, i, what->w + at);
        t[c] = hessvec ? ref_sparse_dot(in, i, what->v + at) : 0.0;
    }
    return ref_row(classes, z, hessvec ? t : NULL, in->y[i],
                   in->weight != NULL ? in->weight[i] : 1.0, r);
}

/* All rows; with `sum` NULL only whether they fit. */
static bool ref_sparse(uint32_t classes, uint32_t stride,
                       const struct sparse_rows *in,
                       const struct evaluation *what, const int16_t *exponent,
                       int64_t *sum, double *loss)
{
    double r[SOFTMAX_CLASSES_MAX];
    bool fits = true;

    *loss = 0.0;
    for (uint32_t i = 0; i < in->rows; i++) {
        *loss += ref_sparse_row(classes, stride, in, what, i, r);
        for (uint32_t c = 0; c < classes; c++) {
            fits = fits && isfinite(r[c]);
            for (uint64_t at = in->begin[i]; at < in->begin[i + 1]; at++) {
                const size_t j = (size_t)c * stride + in->column[at];
                const double scaled =
                    ldexp(ref_value(in, at) * r[c], exponent[j]);

                fits = fits && fabs(scaled) < 0x1p62;
                if (sum != NULL)
                    sum[j] += (int64_t)rint(scaled);
            }
        }
    }
    return fits;
}

enum err softmax_add_sparse_ref(uint32_t classes, uint32_t stride,
                                const struct sparse_rows *in,
                                const struct evaluation *what,
                                const int16_t *exponent, uint32_t chunk,
                                struct tally *tally)
{
    double loss = 0.0;

    if (chunkset_has(&tally->chunks, chunk))
        return ERR_OVERLAP;
    if (!ref_sparse(classes, stride, in, what, exponent, NULL, &loss) ||
        !tally_loss_fits(tally, exponent, loss))
        return ERR_RANGE;
    (void)ref_sparse(classes, stride, in, what, exponent, tally->sum, &loss);
    tally_mark(tally, exponent, chunk, loss);
    return ERR_OK;
}
