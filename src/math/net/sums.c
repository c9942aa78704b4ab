/*
 * sums.c - which variant runs, and what is left over behind whole vectors.
 */
#include "math/net/sums.h"

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
    const size_t whole = count / WHOLE * WHOLE;
    const bool good = net_ops(isa)->sums_add(x, whole, exponent, sum, largest);

    return net_portable.sums_add(x + whole, count - whole, exponent,
                                 sum + whole, largest) &&
           good;
}

bool sums_finite(enum isa isa, const float *x, size_t count)
{
    const size_t whole = count / WHOLE * WHOLE;

    return net_ops(isa)->sums_finite(x, whole) &&
           net_portable.sums_finite(x + whole, count - whole);
}
