/*
 * by_parts.c - a first-order step that several make for each other: each steps
 * a part of the coordinates, and all gather the parts.
 *
 * A coordinate depends on no other, so that a part is what the whole step would
 * have made of it, to the bit; sums over coordinates are added up from those of
 * its blocks, in order, as math/vec.h has it.
 *
 * What is gathered lies beside the state until it is fed: who reads parts in
 * memory of others looks at the end whether they were whole, and must still
 * have its own state if they were not.
 *
 * Weights that were gathered go by the name that those gave them who made them.
 * Whether they still have it, after all that was computed from them, is looked
 * at when they are written over, which is where two steps later the next ones
 * are laid ready; if they have not, the difference goes into the name of those:
 * so weights that have changed in memory are noticed by those who compare
 * names, as they are if everybody computes its own, a step later.
 */
#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/quick.h"
#include "math/vec.h"
#include "optim/parts.h"

#define BLOCK        SLICE_GRAIN
#define GATHER_LEAST 8192u
/* Blocks that are gathered together: names are made of four at a time. */
#define TOGETHER (4 * BLOCK)

enum err optim_share(struct optim *opt)
{
    CHECK(opt->spare == NULL);
    if (optim_part_vectors(&opt->options) == 0)
        return ERR_OK;
    opt->spare = mem_new((size_t)opt->vectors * opt->dims, sizeof *opt->spare);
    return opt->spare != NULL ? ERR_OK : ERR_NOMEM;
}

/* Whole blocks of the first span, of which the penalty is one. */
static struct optim_span first_span(const struct optim *opt)
{
    struct optim_span span = {0};

    (void)optim_span_next(opt, &span);
    return span;
}

uint32_t optim_shared(const struct optim *opt)
{
    return opt->spare == NULL ? 0 : first_span(opt).to / BLOCK * BLOCK;
}

void optim_ungather(struct optim *opt)
{
    opt->gathered.end = 0;
}

static struct optim_room room_in(const struct optim *opt, double *vectors)
{
    struct optim_room room = {.blocks = opt->blocks};

    for (uint32_t i = 0; i < opt->vectors; i++)
        room.vector[i] = vectors + (size_t)i * opt->dims;
    return room;
}

/* Names of some coordinates of all vectors; of the weights alone in *first. */
static uint64_t names_of(const struct optim *opt, const struct optim_room *room,
                         uint32_t at, uint32_t end, uint64_t *first)
{
    uint64_t names = 0;

    for (uint32_t i = 0; i < opt->vectors; i++) {
        const uint64_t name =
            quick_part(room->vector[i], at * sizeof **room->vector,
                       end * sizeof **room->vector, KNOWN_SEED + i);

        names += name;
        if (i == 0)
            *first = name;
    }
    return names;
}

static void copy(const struct optim *opt, const struct optim_room *from,
                 const struct optim_room *to, uint32_t at, uint32_t end)
{
    for (uint32_t i = 0; i < opt->vectors; i++)
        memcpy(to->vector[i] + at, from->vector[i] + at,
               (end - at) * sizeof **to->vector);
}

uint64_t optim_name_part(const struct optim *opt, uint32_t at, uint32_t end)
{
    const struct optim_room now = room_in(opt, opt->kept);
    uint64_t name;

    return names_of(opt, &now, at, end, &name);
}

void optim_step_part(const struct optim *opt, uint32_t at, uint32_t end,
                     const double *sum, const struct optim_room *into,
                     struct optim_found *found)
{
    const struct optim_room now = room_in(opt, opt->kept);
    const double l2 = first_span(opt).l2;
    struct optim like = *opt; /* ... but elsewhere. */
    double room[BLOCK];
    uint64_t name;

    CHECK(at % BLOCK == 0 && end % BLOCK == 0 && opt->vectors <= OPTIM_SHARED);
    *found = (struct optim_found){0};
    like.b = into->vector[0];
    like.u = into->vector[1];
    like.v = into->vector[2];
    like.shortened = 1;
    found->before = names_of(opt, &now, at, end, &name);
    copy(opt, &now, into, at, end);
    for (uint32_t i = at; i < end; i += BLOCK) {
        const struct optim_span block = {i, i + BLOCK, l2};
        struct optim_squares squares = {0};
        const double largest =
            optim_step_block(&like, sum + (i - at), &block, &squares, room);

        if (largest > found->largest)
            found->largest = largest;
        into->blocks[i / BLOCK * 2] = vec_sum_end(&squares.slopes);
        into->blocks[i / BLOCK * 2 + 1] = vec_sum_end(&squares.weights);
    }
    found->after = names_of(opt, into, at, end, &found->name);
}

/* --- gathering ------------------------------------------------------------ */

struct gathering {
    const struct optim *opt;
    const struct optim_part *part;
    const double *sum;
    struct optim_found found[SLICES_MAX]; /* Of what is stepped here. */
    uint64_t was[SLICES_MAX];
};

static void add_found(struct optim_gathered *to,
                      const struct optim_found *found)
{
    if (found->largest > to->largest)
        to->largest = found->largest;
    to->name += found->name;
}

static void step_here(struct gathering *gathering, uint32_t slice, uint32_t at,
                      uint32_t end)
{
    const struct optim_room next =
        room_in(gathering->opt, gathering->opt->spare);

    optim_step_part(gathering->opt, at, end,
                    gathering->sum + (at - gathering->part->at), &next,
                    &gathering->found[slice]);
}

static void take_over(struct gathering *gathering, uint32_t at, uint32_t end)
{
    const struct optim_room *const from = &gathering->part->room;
    const struct optim_room next =
        room_in(gathering->opt, gathering->opt->spare);

    copy(gathering->opt, from, &next, at, end);
    memcpy(next.blocks + at / BLOCK * 2, from->blocks + at / BLOCK * 2,
           (end - at) / BLOCK * 2 * sizeof *next.blocks);
}

static void gather_slice(void *context, uint32_t slice, uint32_t first,
                         uint32_t end)
{
    struct gathering *gathering = context;
    const struct optim *const opt = gathering->opt;
    const uint32_t from = gathering->part->at;
    uint64_t was = 0;

    for (uint32_t at = from + first, next; at < from + end; at = next) {
        next = from + end - at < TOGETHER ? from + end : at + TOGETHER;
        if (opt->gathered.looks)
            was += quick_part(opt->spare, at * sizeof *opt->spare,
                              next * sizeof *opt->spare, KNOWN_SEED);
        if (gathering->sum == NULL)
            take_over(gathering, at, next);
    }
    gathering->was[slice] = was;
    if (gathering->sum != NULL)
        step_here(gathering, slice, from + first, from + end);
}

void optim_gather_begin(struct optim *opt)
{
    struct optim_gathered *const g = &opt->gathered;

    CHECK(optim_shared(opt) > 0);
    g->looks = g->spare.end == optim_shared(opt);
    g->off = 0 - g->spare.name;
    g->spare.end = 0;
    g->end = 0;
    g->largest = 0;
    g->name = 0;
}

void optim_gather(struct optim *opt, const struct optim_part *part,
                  const double *sum)
{
    const bool here = part->room.vector[0] == NULL;
    struct optim_gathered *const g = &opt->gathered;
    struct gathering gathering = {
        .opt = opt, .part = part, .sum = here ? sum : NULL};
    uint32_t slices;

    CHECK(part->end <= optim_shared(opt) && g->end == 0);
    if (part->at == part->end)
        return;
    slices = pool_slices(opt->pool, part->end - part->at, GATHER_LEAST,
                         gather_slice, &gathering);
    for (uint32_t i = 0; i < slices; i++) {
        g->off += gathering.was[i];
        if (here)
            add_found(g, &gathering.found[i]);
    }
    if (!here)
        add_found(g, &part->found);
}

void optim_gather_end(struct optim *opt)
{
    const struct optim_room now = room_in(opt, opt->kept);
    const struct optim_room next = room_in(opt, opt->spare);
    struct optim_gathered *const g = &opt->gathered;

    g->end = optim_shared(opt);
    copy(opt, &now, &next, g->end, opt->dims);
    if (BUG(BUG_RING_IN_PLACE))
        copy(opt, &next, &now, 0, g->end);
    if (!g->looks)
        g->off = 0;
}

void optim_take_gathered(struct optim *opt)
{
    struct optim_gathered *const g = &opt->gathered;
    double *const was = opt->kept;

    if (g->end == 0) { /* A step that is made in place. */
        g->kept.end = 0;
        return;
    }
    g->spare = g->kept;
    g->kept = (struct optim_vouched){g->end, g->name};
    g->name += g->off;
    opt->kept = opt->spare;
    opt->spare = was;
    opt->ops->place(opt);
}
