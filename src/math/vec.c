#include "math/vec.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define BLOCK 1024u
#define LANES 8u

/* The same tree as the kernels': l + (l+4), + (l+2), + (l+1). */
static double fold(const double lane[LANES])
{
    const double a = (lane[0] + lane[4]) + (lane[2] + lane[6]);
    const double b = (lane[1] + lane[5]) + (lane[3] + lane[7]);

    return a + b;
}

static double dot_block(const double *a, const double *b, size_t count)
{
    double lane[LANES] = {0};
    size_t j = 0;

    /* Written out so that the compiler sees eight independent sums. */
    for (; j + LANES <= count; j += LANES) {
        lane[0] += a[j] * b[j];
        lane[1] += a[j + 1] * b[j + 1];
        lane[2] += a[j + 2] * b[j + 2];
        lane[3] += a[j + 3] * b[j + 3];
        lane[4] += a[j + 4] * b[j + 4];
        lane[5] += a[j + 5] * b[j + 5];
        lane[6] += a[j + 6] * b[j + 6];
        lane[7] += a[j + 7] * b[j + 7];
    }
    for (; j < count; j++)
        lane[j % LANES] += a[j] * b[j];
    return fold(lane);
}

double vec_dot(const double *a, const double *b, size_t count)
{
    double sum = 0.0;

    for (size_t i = 0; i < count; i += BLOCK)
        sum += dot_block(a + i, b + i, count - i < BLOCK ? count - i : BLOCK);
    return sum;
}

/* The root is one IEEE operation too: correctly rounded everywhere. */
double vec_norm(const double *a, size_t count)
{
    return sqrt(vec_dot(a, a, count));
}

/* The top bit is set if the exponent is all ones: NaN or infinite. */
static uint64_t endless(uint64_t bits)
{
    const uint64_t exponent = UINT64_C(0x7ff) << 52;

    return (bits & exponent) + (UINT64_C(1) << 52);
}

bool vec_finite(const double *a, size_t count)
{
    uint64_t lane[LANES] = {0};
    uint64_t all = 0;
    size_t i = 0;

    /* A loop of constant length is one the compiler makes wide. */
    for (; count - i >= LANES; i += LANES) {
        uint64_t bits[LANES];

        memcpy(bits, &a[i], sizeof bits);
        for (size_t k = 0; k < LANES; k++)
            lane[k] |= endless(bits[k]);
    }
    for (; i < count; i++) {
        uint64_t bits;

        memcpy(&bits, &a[i], sizeof bits);
        all |= endless(bits);
    }
    for (size_t k = 0; k < LANES; k++)
        all |= lane[k];
    return all >> 63 == 0;
}

double vec_largest(const double *a, size_t count)
{
    double lane[LANES] = {0};
    size_t i = 0;

    if (!vec_finite(a, count))
        return HUGE_VAL;
    for (; count - i >= LANES; i += LANES) {
        for (size_t k = 0; k < LANES; k++) {
            const double here = fabs(a[i + k]);

            lane[k] = here > lane[k] ? here : lane[k];
        }
    }
    for (; i < count; i++)
        lane[0] = fmax(lane[0], fabs(a[i]));
    for (size_t k = 1; k < LANES; k++)
        lane[0] = fmax(lane[0], lane[k]);
    return lane[0];
}
