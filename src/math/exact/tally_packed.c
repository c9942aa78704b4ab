/*
 * tally_packed.c - sums that arrive packed, onto others: of a part of a tally,
 * by several threads.
 */
#include <assert.h>

#include "math/exact/tally.h"
#include "math/exact/tally_loops.h"

#define TAKE_BLOCK   1024u  /* Between unpacked and added: the first cache. */
#define UNPACK_LEAST 16384u /* Of a slice. */

/* What is in bound comes to less than 2^63: it does not wrap. */
bool tally_add_in_bound(const int64_t *sum, uint32_t count, bool blank,
                        int64_t *out)
{
    const struct tally_ops *const ops = tally_ops_of(isa_best());
    bool good = true;

    for (uint32_t at = 0; good && at < count; at += TAKE_BLOCK) {
        const uint32_t left = count - at;
        const uint32_t n = left < TAKE_BLOCK ? left : TAKE_BLOCK;

        good = ops->join(blank ? NULL : out + at, sum + at, out + at, n) &&
               (blank || ops->within(out + at, n));
    }
    return good;
}

struct adding {
    const struct packed *packed;
    bool blank;
    int64_t *out;
    bool good[SLICES_MAX];
};

static_assert(SLICE_GRAIN % PACK_BLOCK == 0, "slices begin with a block");

/* What comes first is unpacked where it is to lie. */
static bool add_some(struct unpacking *unpacking, uint32_t count, bool blank,
                     int64_t *out)
{
    int64_t some[TAKE_BLOCK];

    if (blank)
        return unpack_next(unpacking, count, out) &&
               tally_ops_of(isa_best())->within(out, count);
    return unpack_next(unpacking, count, some) &&
           tally_add_in_bound(some, count, false, out);
}

static void add_slice(void *context, uint32_t slice, uint32_t first,
                      uint32_t end)
{
    struct adding *adding = context;
    struct unpacking unpacking = unpack_from(adding->packed, first);
    bool good = true;

    for (uint32_t at = first; good && at < end; at += TAKE_BLOCK) {
        const uint32_t left = end - at;
        const uint32_t count = left < TAKE_BLOCK ? left : TAKE_BLOCK;

        good = add_some(&unpacking, count, adding->blank, adding->out + at);
    }
    adding->good[slice] = good;
}

bool tally_add_packed(const struct packed *packed, bool blank,
                      struct pool *pool, int64_t *out)
{
    struct adding adding = {.packed = packed, .blank = blank};
    bool good = true;
    uint32_t slices;

    adding.out = out;
    slices = pool_slices(pool, (uint32_t)packed->count, UNPACK_LEAST, add_slice,
                         &adding);
    for (uint32_t i = 0; i < slices; i++)
        good &= adding.good[i];
    return good;
}
