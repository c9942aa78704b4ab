/*
 * gemm.c - which variant runs, on which machines, and the definition.
 */
#include "math/net/gemm.h"

#include <math.h>

#include "math/net/net_parts.h"

static const struct net_ops *const variants[ISAS] =
    ISA_TABLE(&net_portable, &net_avx2, &net_avx512);

const struct net_ops *net_ops(enum isa isa)
{
    return isa_row(variants, isa);
}

static bool has_fma(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("fma") != 0;
#elif defined(__FP_FAST_FMAF)
    return true;
#else
    return false;
#endif
}

enum err gemm_machine(struct why *why)
{
    if (has_fma())
        return ERR_OK;
    return why_set(why, ERR_UNSUPPORTED,
                   "this processor has no fused multiply-add (FMA), which "
                   "networks are defined by; train them on another machine");
}

void gemm_run(enum isa isa, const struct gemm *gemm, float *scratch)
{
    net_ops(isa)->gemm(gemm, scratch);
}

void matrix_turn(enum isa isa, const float *from, size_t from_row, size_t rows,
                 size_t cols, float *to, size_t to_row)
{
    net_ops(isa)->turn(from, from_row, rows, cols, to, to_row);
}

static float init_at(const struct gemm *g, size_t i, size_t j)
{
    return g->init == NULL ? 0 : g->init[i * g->init_row + j];
}

void gemm_ref(const struct gemm *g)
{
    for (size_t i = 0; i < g->m; i++) {
        for (size_t j = 0; j < g->n; j++) {
            float c = init_at(g, i, j);

            for (size_t k = 0; k < g->k; k++)
                c = fmaf(g->a[i * g->a_row + k * g->a_col],
                         g->b[k * g->b_row + j * g->b_col], c);
            g->c[i * g->c_row + j] = c;
        }
    }
}
