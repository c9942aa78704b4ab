/*
 * kernel.c - which variant runs where.
 */
#include "math/kernel/kernel.h"

#include <string.h>

#include "base/check.h"
#include "math/kernel/dense.h"

enum {
    SLOPES = 64,    /* Rows that kernel_slopes copies at a time. */
    LONG_ROWS = 64, /* Rows of several stripes that are worked on together. */
};

static const struct dense_ops *const variants[ISAS] =
    ISA_TABLE(&dense_portable, &dense_avx2, &dense_avx512);

const struct dense_ops *dense_ops_of(enum isa isa)
{
    return isa_row(variants, isa);
}

size_t kernel_scratch_bytes(uint32_t stride)
{
    CHECK(stride > 0);
    return dense_block_rows(stride) * stride * sizeof(double);
}

size_t kernel_hessian_scratch_bytes(uint32_t stride)
{
    CHECK(stride <= KERNEL_HESSIAN_STRIDE);
    return ((size_t)stride + 2 * DENSE_BLOCK_MAX) * stride * sizeof(double);
}

static const struct dense_ops *usable(enum isa isa, const struct dense_rows *in)
{
    CHECK(in->stride > 0);
    CHECK(in->stride % KERNEL_LANES == 0);
    return dense_ops_of(isa);
}

/* Of rows of several stripes: scores, slopes, then sums; `v` NULL is the
 * gradient.  Returns the sum of losses. */
static double long_rows(enum isa isa, struct loss loss,
                        const struct dense_rows *in, const double *w,
                        const double *v, double *g)
{
    double r[LONG_ROWS], more[LONG_ROWS]; /* Losses, or x . v. */
    double sum = 0;

    memset(g, 0, in->stride * sizeof *g);
    for (uint32_t i = 0; i < in->rows; i += LONG_ROWS) {
        const struct dense_rows some = dense_part(in, i, LONG_ROWS);

        kernel_scores(isa, &some, w, r);
        kernel_slopes(isa, loss, v != NULL, r, some.y, some.weight,
                      v != NULL ? NULL : more, some.rows);
        if (v != NULL)
            kernel_scores(isa, &some, v, more);
        for (uint32_t k = 0; k < some.rows; k++) {
            if (v != NULL)
                r[k] *= more[k];
            else
                sum += more[k];
        }
        dense_ops_of(isa)->columns(&some, r, 0, in->stride, g);
    }
    return sum;
}

void kernel_gradient(enum isa isa, struct loss loss,
                     const struct dense_rows *in, const double *w, double *g,
                     double *loss_sum, void *scratch)
{
    const struct dense_ops *const ops = usable(isa, in);

    if (in->stride > KERNEL_STRIPE)
        *loss_sum = long_rows(isa, loss, in, w, NULL, g);
    else
        ops->gradient(loss, in, w, g, loss_sum, scratch);
}

void kernel_hessvec(enum isa isa, struct loss loss, const struct dense_rows *in,
                    const double *w, const double *v, double *hv, void *scratch)
{
    const struct dense_ops *const ops = usable(isa, in);

    if (in->stride > KERNEL_STRIPE)
        (void)long_rows(isa, loss, in, w, v, hv);
    else
        ops->hessvec(loss, in, w, v, hv, scratch);
}

void kernel_hessian(enum isa isa, struct loss loss, const struct dense_rows *in,
                    const double *w, double *hessian, void *scratch)
{
    CHECK(in->stride <= KERNEL_HESSIAN_STRIDE);
    usable(isa, in)->hessian(loss, in, w, hessian, scratch);
}

void kernel_scores(enum isa isa, const struct dense_rows *in, const double *w,
                   double *z)
{
    const struct dense_ops *const ops = usable(isa, in);
    const uint32_t stripes = kernel_stripes(in->stride);

    if (stripes == 1) {
        ops->scores(in, w, z);
        return;
    }
    for (uint32_t i = 0; i < in->rows; i += LONG_ROWS) {
        const struct dense_rows some = dense_part(in, i, LONG_ROWS);

        kernel_stripe(isa, &some, w, 0, z + i);
        for (uint32_t s = 1; s < stripes; s++) {
            double sums[LONG_ROWS];

            kernel_stripe(isa, &some, w, s, sums);
            for (uint32_t k = 0; k < some.rows; k++)
                z[i + k] += sums[k];
        }
    }
}

uint32_t kernel_stripes(uint32_t stride)
{
    return (stride - 1) / KERNEL_STRIPE + 1;
}

void kernel_stripe(enum isa isa, const struct dense_rows *in, const double *w,
                   uint32_t stripe, double *sums)
{
    const size_t first = (size_t)stripe * KERNEL_STRIPE;
    const size_t left = in->stride - first;

    CHECK(stripe < kernel_stripes(in->stride));
    usable(isa, in)->stripe(in, w, first,
                            left < KERNEL_STRIPE ? left : KERNEL_STRIPE, sums);
}

void kernel_join(const double *sums, uint32_t rows, uint32_t stripes, double *z)
{
    for (uint32_t i = 0; i < rows; i++) {
        double sum = sums[i];

        for (uint32_t s = 1; s < stripes; s++)
            sum += sums[(size_t)s * rows + i];
        z[i] = sum;
    }
}

void kernel_columns(enum isa isa, const struct dense_rows *in, const double *r,
                    uint32_t first, uint32_t count, double *g)
{
    CHECK(first % KERNEL_LANES == 0 && count % KERNEL_LANES == 0);
    CHECK(first <= in->stride && count <= in->stride - first);
    memset(g, 0, count * sizeof *g);
    usable(isa, in)->columns(in, r, first, count, g);
}

void kernel_widen(enum isa isa, const struct dense_rows *in, double *xs)
{
    usable(isa, in)->widen(in, xs);
}

static float narrow_value(const struct dense_rows *in, size_t at)
{
    uint32_t bits = 0;
    float value;

    switch (in->storage) {
    case DENSE_BF16:
        bits = (uint32_t)((const uint16_t *)in->x)[at] << 16;
        break;
    case DENSE_I8:
        return (float)((const int8_t *)in->x)[at];
    case DENSE_BIT:
        return (float)(((const uint8_t *)in->x)[at / 8] >> at % 8 & 1);
    case DENSE_U8:
        return (float)((const uint8_t *)in->x)[at];
    case DENSE_PIXEL:
        return dense_pixel(((const uint8_t *)in->x)[at]);
    case DENSE_F32:
    case DENSE_F64:
        return ((const float *)in->x)[at];
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

const float *kernel_row(const struct dense_rows *in, uint32_t i, float *room)
{
    const size_t first = (size_t)i * in->stride;

    CHECK(in->storage != DENSE_F64);
    if (in->storage == DENSE_F32)
        return (const float *)in->x + first;
    for (uint32_t j = 0; j < in->stride; j++)
        room[j] = narrow_value(in, first + j);
    return room;
}

/* At most SLOPES rows, copied to where there is room for whole vectors. */
static void some_slopes(const struct dense_ops *ops, struct loss loss,
                        bool second, const struct dense_slopes *at)
{
    double z[SLOPES] = {0};
    double y[SLOPES] = {0};
    double weight[SLOPES] = {0};
    double losses[SLOPES] = {0};
    const struct dense_slopes copy = {
        .z = z,
        .y = y,
        .weight = at->weight != NULL ? weight : NULL,
        .r = z,
        .loss = at->loss != NULL ? losses : NULL,
        .rows = at->rows,
    };

    memcpy(z, at->z, at->rows * sizeof *z);
    memcpy(y, at->y, at->rows * sizeof *y);
    if (at->weight != NULL)
        memcpy(weight, at->weight, at->rows * sizeof *weight);
    ops->slopes(loss, second, &copy);
    memcpy(at->r, z, at->rows * sizeof *z);
    if (at->loss != NULL)
        memcpy(at->loss, losses, at->rows * sizeof *losses);
}

/* NOLINTBEGIN(readability-non-const-parameter): written through `at`. */
void kernel_slopes(enum isa isa, struct loss loss, bool second, double *z,
                   const double *y, const double *weight, double *losses,
                   uint32_t rows)
{
    const struct dense_ops *const ops = dense_ops_of(isa);

    CHECK(!second || losses == NULL);
    for (size_t i = 0; i < rows; i += SLOPES) {
        const struct dense_slopes at = {
            .z = z + i,
            .y = y + i,
            .weight = weight != NULL ? weight + i : NULL,
            .r = z + i,
            .loss = losses != NULL ? losses + i : NULL,
            .rows = rows - i < SLOPES ? rows - i : SLOPES,
        };

        some_slopes(ops, loss, second, &at);
    }
}
/* NOLINTEND(readability-non-const-parameter) */
