/*
 * share.c - one pass from everybody's tallies to a slice of the next model.
 */
#include "core/ring/share.h"

#include <assert.h>
#include <string.h>

#include "base/bugs.h"
#include "base/mem.h"
#include "base/pool.h"

#define STEP_LEAST 4096u
#define TOGETHER                                                               \
    (4 * SLICE_GRAIN) /* Coordinates that stay in a near cache.                \
                       */

struct head {
    double largest;
    uint64_t name, after; /* As in optim_found. */
    uint64_t good;        /* All sums are in bound. */
};

static_assert(sizeof(struct head) <= MEM_LINE, "a line of its own");

/* --- where it lies -------------------------------------------------------- */

/* Numbers, on whole lines. */
static size_t on_lines(size_t count)
{
    const size_t line = MEM_LINE / sizeof(double);

    return (count + line - 1) / line * line;
}

static size_t block_numbers(uint32_t dims)
{
    return on_lines(2 * ((size_t)dims / SLICE_GRAIN + 1));
}

size_t share_bytes(uint32_t dims, uint32_t vectors)
{
    return MEM_LINE + (block_numbers(dims) + (vectors + 1) * on_lines(dims)) *
                          sizeof(double);
}

/* Of what is read nothing is written. */
static double *numbers_at(const void *memory, uint32_t dims, uint32_t vectors)
{
    const union {
        const void *read;
        uint8_t *at;
    } bytes = {memory};

    return (double *)(void *)(bytes.at + MEM_LINE) +
           (vectors == 0 ? 0 : block_numbers(dims)) +
           (vectors > 1 ? (vectors - 1) * on_lines(dims) : 0);
}

/* Squares, numbers, vectors: the first, the second and those after it. */
static double *squares_of(const void *memory, uint32_t dims)
{
    return numbers_at(memory, dims, 0);
}

static double *sums_of(const void *memory, uint32_t dims)
{
    return numbers_at(memory, dims, 1);
}

static struct optim_room vectors_of(const void *memory,
                                    const struct optim *optim)
{
    struct optim_room room = {.blocks = squares_of(memory, optim->dims)};

    for (uint32_t i = 0; i < optim->vectors; i++)
        room.vector[i] = numbers_at(memory, optim->dims, 2 + i);
    return room;
}

struct slice_range share_of(const struct slice_shape *shape, uint32_t rank,
                            uint32_t shared)
{
    struct slice_range range = slice_of(shape, rank);

    range.at = range.at < shared ? range.at : shared;
    range.end = range.end < shared ? range.end : shared;
    return range;
}

/* --- stepping ------------------------------------------------------------- */

struct stepping {
    const struct trainer *trainer;
    const struct slice_parts *parts;
    struct optim_room room;
    double *sums;
    uint32_t at;     /* Where the slice begins; ... */
    uint32_t shared; /* ... from here on only numbers are made. */
    struct {
        struct optim_found found;
        uint64_t bad;
        bool good;
    } of[SLICES_MAX];
};

/* Where a thread adds up and converts. */
struct scratch {
    int64_t total[TOGETHER];
    double number[TOGETHER];
};

/* Some coordinates, at most TOGETHER. */
static void step_some(struct stepping *stepping, uint32_t slice, uint32_t at,
                      uint32_t count, struct scratch *scratch)
{
    const struct slice_parts *const parts = stepping->parts;
    const int16_t *const exponent = stepping->trainer->exponent + at;
    const uint32_t head = stepping->shared <= at ? 0
                          : stepping->shared - at < count
                              ? stepping->shared - at
                              : count;
    const int64_t *from[PEERS_MAX];
    int64_t *const total = scratch->total;
    double *const number = scratch->number;
    struct optim_found found;

    for (uint32_t i = 0; i < parts->count; i++)
        from[i] = parts->sums[i] + at;
    stepping->of[slice].bad |=
        tally_add_up(from, parts->count, count, true, NULL, total);
    stepping->of[slice].good &=
        tally_numbers(total, exponent, count, NULL, number);
    if (head > 0) {
        struct optim_found *const all = &stepping->of[slice].found;

        optim_step_part(&stepping->trainer->optim, at, at + head, number,
                        &stepping->room, &found);
        all->largest =
            found.largest > all->largest ? found.largest : all->largest;
        all->name += found.name;
        all->before += found.before;
        all->after += found.after;
    }
    memcpy(stepping->sums + at + head, number + head,
           (count - head) * sizeof *number);
}

static void step_slice(void *context, uint32_t slice, uint32_t first,
                       uint32_t end)
{
    struct stepping *stepping = context;
    struct scratch scratch;

    stepping->of[slice].found = (struct optim_found){0};
    stepping->of[slice].bad = 0;
    stepping->of[slice].good = true;
    for (uint32_t at = first; at < end; at += TOGETHER)
        step_some(stepping, slice, stepping->at + at,
                  end - at < TOGETHER ? end - at : TOGETHER, &scratch);
}

void share_open(struct share *share, const struct trainer *trainer,
                const struct slice_shape *shape, uint64_t view, uint32_t shared)
{
    const struct slice_range own = share_of(shape, shape->self, shared);

    share->begun = false;
    share->taken = 0;
    if (shared == 0 ||
        (share->view == view && share->step == trainer->optim.step))
        return;
    share->view = view;
    share->step = trainer->optim.step;
    share->name = optim_name_part(&trainer->optim, own.at, own.end);
}

uint64_t share_step(struct share *share, const struct trainer *trainer,
                    const struct slice_shape *shape, uint64_t view,
                    uint32_t shared, const struct slice_parts *parts,
                    bool *sure)
{
    const struct optim *const optim = &trainer->optim;
    const struct slice_range range = slice_of(shape, shape->self);
    struct head *const head = share->room.memory;
    struct head made = {.good = true};
    struct stepping stepping = {.trainer = trainer,
                                .parts = parts,
                                .room = vectors_of(head, optim),
                                .sums = sums_of(head, optim->dims),
                                .at = range.at,
                                .shared = shared};
    uint64_t bad = 0, before = 0;
    uint32_t slices;

    seal_break(share->room.seal);
    slices = pool_slices(optim->pool, range.end - range.at, STEP_LEAST,
                         step_slice, &stepping);
    for (uint32_t i = 0; i < slices; i++) {
        const struct optim_found *const found = &stepping.of[i].found;

        made.largest =
            found->largest > made.largest ? found->largest : made.largest;
        made.name += found->name;
        made.after += found->after;
        made.good &= stepping.of[i].good;
        before += found->before;
        bad |= stepping.of[i].bad;
    }
    *head = made;
    *sure = BUG(BUG_RING_UNSURE) || share->name == before;
    share->view = view;
    share->step = optim->step + 1;
    share->name = made.after;
    return bad;
}

/* --- taking over ---------------------------------------------------------- */

static struct optim_part part_of(const struct trainer *trainer,
                                 const void *memory, struct slice_range range)
{
    struct optim_part part = {.at = range.at, .end = range.end};
    struct head head;

    if (memory == NULL)
        return part;
    memcpy(&head, memory, sizeof head);
    part.room = vectors_of(memory, &trainer->optim);
    part.found =
        (struct optim_found){.largest = head.largest, .name = head.name};
    return part;
}

void share_take(struct share *share, struct trainer *trainer,
                const struct exchange *x, const struct slice_shape *shape,
                uint32_t shared, uint32_t rank)
{
    const struct optim_part part =
        part_of(trainer, x->of[rank].stepped, share_of(shape, rank, shared));

    if (!share->begun)
        trainer_gather_begin(trainer);
    share->begun = true;
    share->taken |= UINT64_C(1) << rank;
    trainer_gather(trainer, &part, NULL);
}

/* Numbers that everybody steps, and whether those of all its slice are good. */
static bool take_sums(const struct trainer *trainer, const void *memory,
                      struct slice_range slice, uint32_t shared, double *sums)
{
    const uint32_t at = slice.at > shared ? slice.at : shared;
    struct head head;

    memcpy(&head, memory, sizeof head);
    if (slice.end > at)
        memcpy(sums + at, sums_of(memory, trainer->optim.dims) + at,
               (slice.end - at) * sizeof *sums);
    return head.good != 0;
}

bool share_gather(struct share *share, struct trainer *trainer,
                  const struct exchange *x, const struct slice_shape *shape,
                  uint32_t shared, double *sums)
{
    bool good = exchange_decode(x, shape, trainer->exponent, sums);

    for (uint32_t rank = 0; rank < shape->ranks; rank++) {
        const void *const memory = x->of[rank].stepped;
        const struct slice_range range = share_of(shape, rank, shared);
        const struct optim_part part = part_of(trainer, NULL, range);

        if (memory != NULL && (share->taken >> rank & 1) == 0)
            share_take(share, trainer, x, shape, shared, rank);
        if (memory != NULL)
            good &=
                take_sums(trainer, memory, slice_of(shape, rank), shared, sums);
        if (memory == NULL && !share->begun)
            trainer_gather_begin(trainer);
        share->begun = true;
        if (memory == NULL)
            trainer_gather(trainer, &part, sums + range.at);
    }
    trainer_gather_end(trainer);
    return good;
}
