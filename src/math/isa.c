/*
 * isa.c - what the machine can run, and what the user lets it.
 */
#include "math/isa.h"

#include <string.h>

#include "base/check.h"

static const char *const names[ISAS] = {
    [ISA_PORTABLE] = "portable",
    [ISA_AVX2] = "avx2",
    [ISA_AVX512] = "avx512",
};

/* One more than the variant in use; 0 until somebody asks. */
static unsigned in_use;

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

static enum isa widest(void)
{
    if (isa_runs(ISA_AVX512))
        return ISA_AVX512;
    return isa_runs(ISA_AVX2) ? ISA_AVX2 : ISA_PORTABLE;
}

enum isa isa_best(void)
{
    unsigned used = __atomic_load_n(&in_use, __ATOMIC_RELAXED);

    if (used == 0) {
        used = (unsigned)widest() + 1;
        __atomic_store_n(&in_use, used, __ATOMIC_RELAXED);
    }
    return (enum isa)(used - 1);
}

enum isa isa_checked(enum isa isa)
{
    CHECK(isa_runs(isa));
    return isa;
}

const char *isa_name(enum isa isa)
{
    CHECK(isa < ISAS);
    return names[isa];
}

bool isa_parse(const char *name, enum isa *isa)
{
    for (unsigned i = 0; i < ISAS; i++) {
        if (strcmp(name, names[i]) == 0) {
            *isa = (enum isa)i;
            return true;
        }
    }
    return false;
}

enum err isa_choose(const char *name, struct why *why)
{
    enum isa isa;

    if (name == NULL)
        return ERR_OK;
    if (!isa_parse(name, &isa))
        return why_set(why, ERR_UNKNOWN,
                       "--isa %.32s: not known; there are portable, avx2 and "
                       "avx512",
                       name);
    if (!isa_runs(isa))
        return why_set(why, ERR_UNSUPPORTED,
                       "--isa %s: this processor does not have it; the best "
                       "here is %s",
                       name, isa_name(widest()));
    __atomic_store_n(&in_use, (unsigned)isa + 1, __ATOMIC_RELAXED);
    return ERR_OK;
}
