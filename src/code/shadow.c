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

/* Sets the weight; returns the expected squared error. */
static double weigh(enum estimate estimate, struct shadow_part *part,
                    double share, uint32_t dims, const double *sum)
{
    const double off = distance2(part->sum, sum, share, dims);

    part->weight = 0;
    if (!isfinite(part->variance) && estimate != ESTIMATE_SHADOW)
        return 0;
    switch (estimate) {
    case ESTIMATE_SHADOW:
        part->weight = 1;
        return isfinite(part->variance) ? part->variance : 0;
    case ESTIMATE_SHRINK:
        part->weight = shadow_weight(off, part->variance);
        return part->weight * part->variance;
    case ESTIMATE_RATIO:
        return true_square(off, part->variance);
    case ESTIMATE_REFERENCE:
        return true_square(distance2(part->sum, sum, 0, dims), part->variance);
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
