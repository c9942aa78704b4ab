/*
 * dense_portable.c - the dense kernels in vectors of two doubles, by the
 * compiler's own extension: SSE2, NEON or plain scalars, never fused.
 */
#define VL    2
#define GROUP 2
#define N(x)  x##_portable
/* Not __builtin_convertvector: gcc 12 goes through memory for two floats. */
#define LOADX(p)   ((vd_portable){(double)(p)[0], (double)(p)[1]})
#define FOLD(a, z) fold_portable(a, z)

typedef double fold_vd __attribute__((vector_size(16), aligned(8), may_alias));

static inline void fold_portable(fold_vd a[2][4], double *z)
{
    for (int k = 0; k < 2; k++) {
        const fold_vd t = (a[k][0] + a[k][2]) + (a[k][1] + a[k][3]);

        z[k] = t[0] + t[1];
    }
}

#include "math/dense.inc"
