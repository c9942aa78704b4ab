/*
 * kernel.h - sums over one chunk of dense rows, to the bit.
 *
 * The definition (every operation one IEEE binary64 multiply, add, divide or
 * compare; nothing fused, no library):
 *
 *     z_i   of each stripe of 65,536 columns (the last may be shorter): 8
 *           lanes, column j in lane j % 8, j ascending;
 *           then lanes l + (l+4), + (l+2), + (l+1);
 *           sums of stripes, one after the other
 *     r_i   dloss/dz at (z_i, y_i), and loss_i; h_i  d2loss/dz2 (loss.h)
 *           each + (z_i - z_i), then times the row's weight if there are any
 *     GRADIENT  g_j   sum over rows, one after the other, of x_ij r_i
 *               loss  sum over rows, one after the other
 *     HESSVEC   t_i = x_i . v as z_i, s_i = h_i t_i;  g_j of s_i for r_i
 *     HESSIAN   H_jk, k <= j: sum over rows, one after the other, of
 *               (h_i x_ij) x_ik
 *
 * A row with y = 0 is no sample to the losses of +-1 labels: it adds +0 to
 * everything.  A z that is not finite (broken weights, overflow) makes r, h
 * and loss NaN, so that the tally refuses the chunk.  exp stays at exp(-700)
 * below -700.  The second derivative of the logistic loss is (e / d) / d with
 * e = exp(-|y z|), d = 1 + e.
 *
 * Blocking, storage and instruction set are not part of it: the portable, AVX2
 * and AVX-512 variants give the same bits as the _ref functions.
 */
#ifndef MATH_KERNEL_H
#define MATH_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "math/isa.h"
#include "math/kernel/loss.h"

#define KERNEL_LANES 8u /* Rows are padded with zeros to this many columns. */

/* Columns whose products are summed by themselves: a long row's score may so be
 * computed by several threads, each of some stripes. */
#define KERNEL_STRIPE 65536u

/* How values lie in memory.  x_ij is the stored value as a double, so that
 * forms which hold the same values give the same bits: a narrow form is only
 * used where every value is exactly representable. */
enum dense_storage {
    DENSE_F32,
    DENSE_BF16,
    DENSE_I8,
    DENSE_BIT,
    DENSE_F64,
    DENSE_U8,
    DENSE_PIXEL, /* A byte k stands for the float nearest k / 255. */
};

#define DENSE_STORAGES 7u

static inline float dense_pixel(uint8_t k)
{
    return (float)k / 255.0f;
}

/* Rows of one chunk: row i is x[i * stride .. +stride), padded with zeros. */
struct dense_rows {
    enum dense_storage storage;
    const void *x; /* F32: float; BF16: uint16_t; I8: int8_t; BIT: one bit a
                      column, stride / 8 bytes a row; F64: double; U8 and
                      PIXEL: uint8_t. */
    const double *y;
    const double *weight; /* Sample weights; NULL: all 1. */
    uint32_t rows;
    uint32_t stride; /* A multiple of KERNEL_LANES. */
};

/* Of kernel_gradient and kernel_hessvec. */
size_t kernel_scratch_bytes(uint32_t stride);

/* w has stride entries, those of the padding finite.  g[0..stride) and
 * *loss_sum are overwritten.  `scratch`: kernel_scratch_bytes,
 * aligned to a cache line. */
void kernel_gradient(enum isa isa, struct loss loss,
                     const struct dense_rows *in, const double *w, double *g,
                     double *loss_sum, void *scratch);

/* The same for the Hessian at w times v; v like w. */
void kernel_hessvec(enum isa isa, struct loss loss, const struct dense_rows *in,
                    const double *w, const double *v, double *hv,
                    void *scratch);

/* The Hessian itself: stride (stride + 1) / 2 entries, lower triangle row by
 * row; stride <= KERNEL_HESSIAN_STRIDE. */
#define KERNEL_HESSIAN_STRIDE 512u
size_t kernel_hessian_scratch_bytes(uint32_t stride);
void kernel_hessian(enum isa isa, struct loss loss, const struct dense_rows *in,
                    const double *w, double *hessian, void *scratch);

/* The oracles: the definition above, read off. */
void kernel_gradient_ref(struct loss loss, const struct dense_rows *in,
                         const double *w, double *g, double *loss_sum);
void kernel_hessvec_ref(struct loss loss, const struct dense_rows *in,
                        const double *w, const double *v, double *hv);
void kernel_hessian_ref(struct loss loss, const struct dense_rows *in,
                        const double *w, double *hessian);

/* Slopes of rows whose scores are known.  Overwrites z with r, or with h where
 * `second`; `losses` (not for `second`) may be NULL. */
void kernel_slopes(enum isa isa, struct loss loss, bool second, double *z,
                   const double *y, const double *weight, double *losses,
                   uint32_t rows);

/* Row i as floats: where it lies, or widened into `room` (stride of them).
 * Not for F64, which floats do not hold. */
const float *kernel_row(const struct dense_rows *in, uint32_t i, float *room);

/* All values as doubles, padding and all: rows * stride of them. */
void kernel_widen(enum isa isa, const struct dense_rows *in, double *xs);

/* z_i of every row, same definition; for prediction and metrics. */
void kernel_scores(enum isa isa, const struct dense_rows *in, const double *w,
                   double *z);

/* How many stripes a row has, the sum of one of them in every row, and the
 * scores from the sums of all: stripe s of row i at sums[s * rows + i].  `z`
 * may be `sums`. */
uint32_t kernel_stripes(uint32_t stride);
void kernel_stripe(enum isa isa, const struct dense_rows *in, const double *w,
                   uint32_t stripe, double *sums);
void kernel_join(const double *sums, uint32_t rows, uint32_t stripes,
                 double *z);

/* g_j of columns first .. first + count, both multiples of KERNEL_LANES, where
 * the r_i are known: with kernel_scores and kernel_slopes the gradient of rows
 * that are too long for a cache, a block of columns at a time.  Overwrites
 * g[0..count). */
void kernel_columns(enum isa isa, const struct dense_rows *in, const double *r,
                    uint32_t first, uint32_t count, double *g);

#endif /* MATH_KERNEL_H */
