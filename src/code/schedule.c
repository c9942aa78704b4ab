/*
 * schedule.c - the schedule axis: what a slot computes without being asked.
 *
 *   all     everything it holds.  What several slots hold in common is one
 *           piece: it is always computed and sent whole.
 *   steal   its own part, cut into up to CODE_STEAL_PIECES pieces so that
 *           finished work counts and the rest can be given away; the other
 *           pieces of its group only when the coordinator asks.
 */
#include "code/axes.h"

#include <stddef.h>

#include "base/check.h"

static uint32_t all_cut(const struct code *code, uint32_t first, uint32_t end,
                        struct piece *pieces, uint32_t max)
{
    const uint32_t chunk_first = code_part_first(code, first);
    const uint32_t chunk_end = code_part_first(code, end);

    if (chunk_first == chunk_end)
        return 0;
    CHECK(max >= 1);
    pieces[0] =
        (struct piece){.first = chunk_first, .end = chunk_end, .owner = first};
    return 1;
}

static uint32_t all_work(const struct code *code, uint32_t slot, uint32_t *ids,
                         uint32_t max)
{
    return placement_ops(code->spec.placement)->held(code, slot, ids, max);
}

static uint32_t steal_cut_part(const struct code *code, uint32_t part,
                               struct piece *pieces, uint32_t max)
{
    const uint32_t first = code_part_first(code, part);
    const uint32_t chunks = code_part_first(code, part + 1) - first;
    const uint32_t count =
        chunks < CODE_STEAL_PIECES ? chunks : CODE_STEAL_PIECES;

    CHECK(count <= max);
    for (uint32_t j = 0; j < count; j++) {
        const uint64_t from = (uint64_t)j * chunks / count;
        const uint64_t to = (uint64_t)(j + 1) * chunks / count;

        pieces[j] = (struct piece){.first = first + (uint32_t)from,
                                   .end = first + (uint32_t)to,
                                   .owner = part};
    }
    return count;
}

static uint32_t steal_cut(const struct code *code, uint32_t first, uint32_t end,
                          struct piece *pieces, uint32_t max)
{
    uint32_t count = 0;

    for (uint32_t part = first; part < end; part++)
        count += steal_cut_part(code, part, pieces + count, max - count);
    return count;
}

static uint32_t steal_work(const struct code *code, uint32_t slot,
                           uint32_t *ids, uint32_t max)
{
    const uint32_t first = code_piece_at(code, code_part_first(code, slot));
    const uint32_t end = code_piece_at(code, code_part_first(code, slot + 1));

    return code_ids(ids, 0, max, first, end);
}

static const struct schedule_ops schedules[] = {
    [SCHED_ALL] = {.name = "all", .cut = all_cut, .work = all_work},
    [SCHED_STEAL] = {.name = "steal", .cut = steal_cut, .work = steal_work},
};

const struct schedule_ops *schedule_ops(enum schedule schedule)
{
    CHECK((size_t)schedule < sizeof schedules / sizeof *schedules);
    return &schedules[schedule];
}
