/*
 * placement_homes.c - private data: every chunk is where its owner is.
 *
 * A home is a file of rows that never leaves its machine.  Its slots are those
 * who have that very file, one as a rule; they share its chunks out as equally
 * as whole numbers allow and may take over from each other, from nobody else:
 *
 *     home      0          1        2
 *     chunks    0 .. 6     7 .. 9   10 .. 30
 *     slots     0          1        2    3
 *     parts     0 .. 6     7 .. 9   10 .. 19, 20 .. 30
 *
 * A home whose owner is away keeps a slot, which stays empty.
 */
#include "code/axes.h"

#include "base/check.h"

static uint32_t homes_count(const struct code *code)
{
    return code->spec.homes->count;
}

static uint32_t homes_first(const struct code *code, uint32_t span)
{
    return code->spec.homes->slot[span];
}

/* The home of a slot. */
static uint32_t home_of(const struct code *code, uint32_t slot)
{
    const struct code_homes *homes = code->spec.homes;
    uint32_t home = 0;

    while (home + 1 < homes->count && homes->slot[home + 1] <= slot)
        home++;
    return home;
}

static uint32_t homes_part_first(const struct code *code, uint32_t part)
{
    const struct code_homes *homes = code->spec.homes;
    const uint32_t home = home_of(code, part);
    const uint64_t chunks = homes->chunk[home + 1] - homes->chunk[home];
    const uint64_t slots = homes->slot[home + 1] - homes->slot[home];

    return homes->chunk[home] +
           (uint32_t)((part - homes->slot[home]) * chunks / slots);
}

static uint32_t homes_row(const struct code *code, uint32_t slot,
                          uint32_t *spans, uint32_t max)
{
    if (max > 0)
        spans[0] = home_of(code, slot);
    return 1;
}

static enum err homes_vet(const struct code *code, struct why *why)
{
    const struct code_homes *homes = code->spec.homes;

    CHECK(homes != NULL && homes->count > 0);
    if (homes->slot[homes->count] == code->slots &&
        homes->chunk[homes->count] == code->chunks)
        return ERR_OK;
    if (homes->slot[homes->count] != code->slots)
        return why_set(why, ERR_SHAPE,
                       "private rows are computed where they are: by %u "
                       "worker%s in all, and %u are asked for; leave -n and "
                       "--workers out",
                       homes->slot[homes->count],
                       homes->slot[homes->count] == 1 ? "" : "s", code->slots);
    return why_set(why, ERR_SHAPE,
                   "the owners have %u chunks of rows, and the training has "
                   "%u; --chunk-rows must be the same for all of them",
                   homes->chunk[homes->count], code->chunks);
}

const struct placement_ops placement_homes = {
    .name = "homes",
    .carrier = CARRIER_TALLY,
    .grouped = true,
    .traits = TRAIT(OWNERS),
    .span_count = homes_count,
    .part_first = homes_part_first,
    .span_first = homes_first,
    .row = homes_row,
    .vet = homes_vet,
};
