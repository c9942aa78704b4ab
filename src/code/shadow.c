/*
 * shadow.c - missing parts by the estimate axis, in fp64 and a fixed order: the
 * same answers give the same bits.
 */
#include "code/shadow.h"

#include <math.h>

#include "base/bugs.h"
#include "base/check.h"

double shadow_weight(double distance2, double variance)
{
    const double between = distance2 - variance;

    if (variance == 0)
        return 1;
    if (BUG(BUG_SAMPLE_TURNED))
        return between > 0 ? variance / distance2 : 1;
    return between > 0 ? between / distance2 : 0;
}

static double distance2(const double *a, const double *b, double scale,
                        uint32_t dims)
{
    double sum = 0;

    for (uint32_t j = 0; j < dims; j++) {
        const double d = a[j] - scale * b[j];

        sum += d * d;
    }
    return sum;
}

/* What is expected of its square, whose estimate has the variance as well. */
static double true_square(double square, double variance)
{
    return square > variance ? square - variance : 0;
}

/* m s^2, by V = m^2 s^2 / b (1 - b/m): so far from what is expected of them are
 * the sums of rows that are alike. */
static double alike_square(const struct shadow_part *part)
{
    return part->variance == 0
               ? 0
               : part->variance * part->share / (1 - part->share);
}

/* Of l g^ + (1 - l) r, with r off by `square`. */
static double shrunk_error(double weight, double variance, double square)
{
    return (1 - weight) * (1 - weight) * square + weight * weight * variance;
}

/* Sets the weight; returns the expected squared error. */
static double weigh(enum estimate estimate, struct shadow_part *part,
                    double share, uint32_t dims, const double *sum)
{
    const double off = distance2(part->sum, sum, share, dims);
    double alike;

    part->weight = estimate == ESTIMATE_SHADOW ? 1 : 0;
    if (!isfinite(part->variance))
        return (double)NAN;
    alike = alike_square(part);
    switch (estimate) {
    case ESTIMATE_SHADOW:
        return part->variance;
    case ESTIMATE_SHRINK:
        part->weight = shadow_weight(off, part->variance);
        return shrunk_error(
            part->weight, part->variance,
            fmax(true_square(off, part->variance), alike * (1 + share)));
    case ESTIMATE_RATIO: /* r's own rows are so far from theirs, too. */
        return fmax(true_square(off, part->variance), alike * (1 + share));
    case ESTIMATE_REFERENCE:
        return fmax(
            true_square(distance2(part->sum, sum, 0, dims), part->variance),
            alike);
    case ESTIMATE_EXACT:
    case ESTIMATE_UNBIASED:
        break;
    }
    CHECK(false);
    return 0;
}

double shadow_fill(enum estimate estimate, struct shadow_part *parts,
                   uint32_t count, uint64_t rows_in, uint32_t dims,
                   uint32_t width, double *sum)
{
    double scale = 1;
    double error2 = 0;

    CHECK(dims <= width);
    for (uint32_t i = 0; i < count; i++) {
        const double share =
            rows_in == 0 ? 0 : (double)parts[i].rows / (double)rows_in;

        error2 += weigh(estimate, &parts[i], share, dims, sum);
        if (estimate != ESTIMATE_REFERENCE)
            scale += (1 - parts[i].weight) * share;
    }
    for (uint32_t j = 0; j < width; j++) {
        double filled = scale * sum[j];

        for (uint32_t i = 0; i < count; i++)
            filled += parts[i].weight * parts[i].sum[j];
        sum[j] = filled;
    }
    return error2;
}
