/*
 * kernel.h - the gradient of one chunk of dense rows, to the bit.
 *
 * The definition (every operation one IEEE binary64 multiply, add, divide or
 * compare; nothing fused, no library):
 *
 *     z_i   8 lanes, column j in lane j % 8, j ascending;
 *           then lanes l + (l+4), + (l+2), + (l+1)
 *     r_i   dloss/dz at (z_i, y_i)
 *     g_j   sum over rows, one after the other, of x_ij r_i
 *     loss  sum over rows, one after the other
 *
 * A row with y = 0 is no sample to the two losses of +-1 labels: it adds +0 to
 * everything.  A z that is not finite (broken weights, overflow) makes r and
 * loss NaN, so that the tally refuses the chunk.  exp stays at exp(-700) below
 * -700.
 *
 * Blocking and instruction set are not part of it: the portable, AVX2 and
 * AVX-512 variants give the same bits as kernel_gradient_ref.
 */
#ifndef MATH_KERNEL_H
#define MATH_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_LANES 8u /* Rows are padded with zeros to this many columns. */

enum isa { ISA_PORTABLE, ISA_AVX2, ISA_AVX512 };

enum loss {
    LOSS_LOGISTIC,      /* log(1 + exp(-y z)), y in {-1, +1} */
    LOSS_SQUARED,       /* (z - y)^2 */
    LOSS_SQUARED_HINGE, /* max(0, 1 - y z)^2, y in {-1, +1} */
};

/* Rows of one chunk: row i is x[i * stride .. +stride), padded with zeros. */
struct dense_rows {
    const float *x;
    const double *y;
    uint32_t rows;
    uint32_t stride; /* A multiple of KERNEL_LANES. */
};

/* The best variant this machine can run. */
enum isa isa_best(void);
bool isa_runs(enum isa isa);
const char *isa_name(enum isa isa);
/* False if there is no variant of that name ("portable", "avx2", "avx512"). */
bool isa_parse(const char *name, enum isa *isa);

size_t kernel_scratch_bytes(uint32_t stride);

/* w has stride entries, those of the padding finite.  g[0..stride) and
 * *loss_sum are overwritten.  `scratch`: kernel_scratch_bytes,
 * aligned to a cache line. */
void kernel_gradient(enum isa isa, enum loss loss, const struct dense_rows *in,
                     const double *w, double *g, double *loss_sum,
                     void *scratch);

/* The oracle: the definition above, read off. */
void kernel_gradient_ref(enum loss loss, const struct dense_rows *in,
                         const double *w, double *g, double *loss_sum);

/* z_i of every row, same definition; for prediction and metrics. */
void kernel_scores(enum isa isa, const struct dense_rows *in, const double *w,
                   double *z);

#endif /* MATH_KERNEL_H */
