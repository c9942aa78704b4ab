/*
 * isa.h - instruction sets: which there are, and the one dispatch.
 *
 * A module whose loops exist in several variants has one struct of functions
 * per variant and one table of them, ISA_TABLE; isa_row picks the row.  All
 * variants give the same bits, so which one runs is a matter of speed only.
 */
#ifndef MATH_ISA_H
#define MATH_ISA_H

#include <stdbool.h>

#include "base/err.h"

enum isa { ISA_PORTABLE, ISA_AVX2, ISA_AVX512 };

#define ISAS 3u

/* The best variant that this machine can run and isa_choose allows. */
enum isa isa_best(void);
bool isa_runs(enum isa isa);
const char *isa_name(enum isa isa);
/* False if there is no variant of that name ("portable", "avx2", "avx512"). */
bool isa_parse(const char *name, enum isa *isa);

/* Of the whole process, before it computes: isa_best is the variant of that
 * name from now on (--isa).  NULL: the best there is. */
MUST_CHECK enum err isa_choose(const char *name, struct why *why);

/* The rows of a table.  A module without a variant for some set names that of
 * the next lesser one again.  Elsewhere than on x86-64 there is one row. */
#ifdef __x86_64__
#define ISA_TABLE(portable, avx2, avx512)                                      \
    {                                                                          \
        [ISA_PORTABLE] = (portable), [ISA_AVX2] = (avx2),                      \
        [ISA_AVX512] = (avx512),                                               \
    }
#else
#define ISA_TABLE(portable, avx2, avx512)                                      \
    {                                                                          \
        [ISA_PORTABLE] = (portable),                                           \
    }
#endif

/* An instruction that the machine has not got would end the process without a
 * word; this ends it with one. */
enum isa isa_checked(enum isa isa);
#define isa_row(table, isa) ((table)[isa_checked(isa)])

#endif /* MATH_ISA_H */
