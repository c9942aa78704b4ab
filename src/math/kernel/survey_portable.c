/*
 * survey_portable.c - survey.inc in vectors of two, by the compiler's own
 * extension.
 */
#include "math/kernel/survey_parts.h"
#include "math/lanes.h"

#define ZL         2
#define ONES(word) ones_of(word)
#define N(x)       x##_portable
#define FOLD(a, z) fold_portable(a, z)

#define load_f32_portable load_f32_pair

typedef pair zd_portable;

INLINE void fold_portable(zd_portable a[4][4], double *z)
{
    for (int i = 0; i < 4; i++) {
        const zd_portable t = (a[i][0] + a[i][2]) + (a[i][1] + a[i][3]);

        z[i] = t[0] + t[1];
    }
}

#include "math/kernel/survey.inc"
