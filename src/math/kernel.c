/*
 * kernel.c - which variant runs where.
 */
#include "math/kernel.h"

#include <string.h>

#include "base/check.h"
#include "math/dense.h"

static const char *const names[] = {
    [ISA_PORTABLE] = "portable",
    [ISA_AVX2] = "avx2",
    [ISA_AVX512] = "avx512",
};

const struct dense_ops *dense_ops_of(enum isa isa)
{
    switch (isa) {
    case ISA_PORTABLE:
        return &dense_portable;
#ifdef __x86_64__
    case ISA_AVX2:
        return &dense_avx2;
    case ISA_AVX512:
        return &dense_avx512;
#else
    case ISA_AVX2:
    case ISA_AVX512:
        return NULL;
#endif
    }
    return NULL;
}

bool isa_runs(enum isa isa)
{
    switch (isa) {
    case ISA_PORTABLE:
        return true;
#ifdef __x86_64__
    case ISA_AVX2:
        return __builtin_cpu_supports("avx2") != 0;
    case ISA_AVX512:
        return __builtin_cpu_supports("avx512f") != 0 &&
               __builtin_cpu_supports("avx512dq") != 0 &&
               __builtin_cpu_supports("avx512bw") != 0 &&
               __builtin_cpu_supports("avx512vl") != 0;
#else
    case ISA_AVX2:
    case ISA_AVX512:
        return false;
#endif
    }
    return false;
}

enum isa isa_best(void)
{
    if (isa_runs(ISA_AVX512))
        return ISA_AVX512;
    return isa_runs(ISA_AVX2) ? ISA_AVX2 : ISA_PORTABLE;
}

const char *isa_name(enum isa isa)
{
    CHECK(isa <= ISA_AVX512);
    return names[isa];
}

bool isa_parse(const char *name, enum isa *isa)
{
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            *isa = (enum isa)i;
            return true;
        }
    }
    return false;
}

size_t kernel_scratch_bytes(uint32_t stride)
{
    CHECK(stride > 0);
    return dense_block_rows(stride) * stride * sizeof(double);
}

/* An instruction the machine has not got would end the process without a
 * word; so few calls are made that asking costs nothing. */
static const struct dense_ops *usable(enum isa isa, const struct dense_rows *in)
{
    CHECK(isa_runs(isa));
    CHECK(in->stride > 0);
    CHECK(in->stride % KERNEL_LANES == 0);
    return dense_ops_of(isa);
}

void kernel_gradient(enum isa isa, enum loss loss, const struct dense_rows *in,
                     const double *w, double *g, double *loss_sum,
                     void *scratch)
{
    usable(isa, in)->gradient(loss, in, w, g, loss_sum, scratch);
}

void kernel_scores(enum isa isa, const struct dense_rows *in, const double *w,
                   double *z)
{
    usable(isa, in)->scores(in, w, z);
}
