/*
 * sums.c - which variant runs, and what is left over behind whole vectors.
 */
#include "math/net/sums.h"

#include <math.h>
#include <string.h>

#include "math/exact/grid.h"
#include "math/net/net_parts.h"

#define WHOLE 16u /* Floats that every variant takes at a time. */

bool sums_largest(uint32_t bits, int exponent, double *largest)
{
    float top;
    double size;

    memcpy(&top, &bits, sizeof top);
    size = (double)top * power_of_two(exponent);
    *largest = size > *largest ? size : *largest;
    return size < 0x1p51;
}

bool sums_add(enum isa isa, const float *x, size_t count, int exponent,
              int64_t *sum, double *largest)
{
    const double scale = power_of_two(exponent);
    const size_t whole = count / WHOLE * WHOLE;
    bool good = net_ops(isa)->sums_add(x, whole, exponent, sum, largest);

    for (size_t i = whole; i < count; i++) {
        const double v = (double)x[i] * scale;

        if (!(fabs(v) < 0x1p51)) {
            good = false;
            continue;
        }
        sum[i] += llrint(v);
        *largest = fabs(v) > *largest ? fabs(v) : *largest;
    }
    return good;
}

bool sums_finite(enum isa isa, const float *x, size_t count)
{
    const size_t whole = count / WHOLE * WHOLE;
    bool good = net_ops(isa)->sums_finite(x, whole);

    for (size_t i = whole; i < count; i++)
        good &= isfinite(x[i]) != 0;
    return good;
}
