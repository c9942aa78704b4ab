/*
 * evaluation.c - a name for what was asked: two evaluations of the same name
 * have the same weights, so that what was prepared for one serves the other.
 */
#include "math/evaluation.h"

#include "base/quick.h"

uint64_t evaluation_name(const struct evaluation *what, uint32_t dims,
                         struct pool *pool)
{
    const uint64_t seed = (uint64_t)what->kind | (uint64_t)what->soft << 8;
    const uint32_t named = seed == KNOWN_SEED ? what->known.named : 0;
    const uint64_t w =
        quick_rest(pool, what->w, dims * sizeof *what->w, seed,
                   named * sizeof *what->w, named > 0 ? what->known.name : 0);

    return what->v == NULL
               ? w
               : quick_long(pool, what->v, dims * sizeof *what->v, w);
}
