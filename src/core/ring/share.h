/*
 * share.h - a step that members of a view on one machine make for each other.
 *
 * Who adds up slice j of the sums has what it takes to step slice j of the
 * model, if a coordinate depends on no other (optim_shared), and does so in the
 * same pass: add up, convert, measure, update, name, a few blocks at a time.
 * What comes of it lies in memory that the others read, and they take it over
 * instead of doing the same.
 *
 *     memory   [ head ][ squares ][ numbers ][ weights ][ ... ]
 *
 * Head: what the slice came to; squares: of each block, for the objective and
 * the gradient's norm; numbers: the gradient of coordinates that everybody
 * steps, those behind the whole blocks and weights without a penalty; then the
 * optimiser's vectors.  All are as long as the model, and written where the
 * slice is, by one owner under one seal.
 *
 * RING-10  Whoever takes steps over lays them ready beside its own state, then
 *          looks at the seals, and only then are they its state (RING-9): so a
 *          member that dies while it writes, or is read too late, costs nobody
 *          what it has.  Who owns a slice steps it only if what it starts from
 *          is still what it was: else it lends sums, and all step it.
 */
#ifndef CORE_RING_SHARE_H
#define CORE_RING_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/ring/slices.h"
#include "core/run/trainer.h"

/* Memory of one peer's; zeroed: none. */
struct share_room {
    void *memory;
    struct seal *seal;
};

/* Bytes of it for so many weights, of which each is `vectors` numbers. */
size_t share_bytes(uint32_t dims, uint32_t vectors);

struct share {
    struct share_room room;
    /* Own slice of the state that the step to come starts from, as it was when
     * it was made or, in a view's first round, when that was opened: */
    uint64_t view;
    uint32_t step;
    uint64_t name;
    bool begun;     /* Something of the round at hand was taken over: ... */
    uint64_t taken; /* ... of these ranks. */
};

/* Of a slice's coordinates these, from the first on, are stepped. */
struct slice_range share_of(const struct slice_shape *shape, uint32_t rank,
                            uint32_t shared);

/* A round is opened: names what own slice is stepped from, if that was not made
 * here. */
void share_open(struct share *share, const struct trainer *trainer,
                const struct slice_shape *shape, uint64_t view,
                uint32_t shared);

/* Adds `parts` up in own slice and steps it, of `shared` coordinates in all;
 * bits of what is returned: parts that are out of bound.  *sure: it is what
 * others would make of it. */
uint64_t share_step(struct share *share, const struct trainer *trainer,
                    const struct slice_shape *shape, uint64_t view,
                    uint32_t shared, const struct slice_parts *parts,
                    bool *sure);

/* Takes over what a member has stepped, as soon as it is told of it. */
void share_take(struct share *share, struct trainer *trainer,
                const struct exchange *x, const struct slice_shape *shape,
                uint32_t shared, uint32_t rank);
/* The whole total is here: takes over what was not yet, and steps what was lent
 * as sums.  Into `sums` come the numbers of what everybody steps.  Then the
 * step lies ready (trainer_gather_end).  False: some sum is out of bound. */
bool share_gather(struct share *share, struct trainer *trainer,
                  const struct exchange *x, const struct slice_shape *shape,
                  uint32_t shared, double *sums);

#endif /* CORE_RING_SHARE_H */
