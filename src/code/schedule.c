/*
 * schedule.c - the schedule axis: what a slot computes without being asked.
 *
 *   all     everything it holds.  What several slots hold in common is one
 *           piece: it is always computed and sent whole.
 *   steal   its own part, cut into up to CODE_STEAL_PIECES pieces so that
 *           finished work counts and the rest can be given away; the other
 *           pieces of its group only when the coordinator asks.
 *   stream  everything it holds, its own part first, every piece sent as soon
 *           as it is done.  The others' parts are begun at their far end, where
 *           their owners come last, so that the two meet in the middle.
 */
#include "code/axes.h"

#include <stddef.h>

#include "base/check.h"

static uint32_t steal_work(const struct code *code, uint32_t slot,
                           uint32_t *ids, uint32_t max)
{
    const uint32_t first = code_piece_at(code, code_part_first(code, slot));
    const uint32_t end = code_piece_at(code, code_part_first(code, slot + 1));

    return code_ids(ids, 0, max, first, end);
}

/* The pieces of another's part, from the last to the first. */
static uint32_t stream_part(const struct code *code, uint32_t part,
                            uint32_t *ids, uint32_t count, uint32_t max)
{
    const uint32_t first = code_piece_at(code, code_part_first(code, part));
    uint32_t id = code_piece_at(code, code_part_first(code, part + 1));

    while (id > first && count < max)
        ids[count++] = --id;
    return count;
}

/* A span of several parts is gone through in a circle from the slot's own. */
static uint32_t stream_span(const struct code *code, uint32_t slot,
                            uint32_t span, uint32_t *ids, uint32_t count,
                            uint32_t max)
{
    const uint32_t first = code_span_first(code, span);
    const uint32_t parts = code_span_first(code, span + 1) - first;
    const uint32_t own =
        slot >= first && slot - first < parts ? slot - first : 0;

    for (uint32_t k = 0; k < parts; k++) {
        const uint32_t part = first + (own + k) % parts;

        if (part != slot)
            count = stream_part(code, part, ids, count, max);
    }
    return count;
}

static uint32_t stream_work(const struct code *code, uint32_t slot,
                            uint32_t *ids, uint32_t max)
{
    const struct code_table *table = &code->table;
    uint32_t count = steal_work(code, slot, ids, max);

    for (uint32_t i = table->row[slot]; i < table->row[slot + 1]; i++)
        count = stream_span(code, slot, table->span[i], ids, count, max);
    return count;
}

static const struct schedule_ops schedules[] = {
    [SCHED_ALL] = {.name = "all", .work = code_held},
    [SCHED_STEAL] = {.name = "steal",
                     .pieces = CODE_STEAL_PIECES,
                     .work = steal_work},
    [SCHED_STREAM] = {.name = "stream", .pieces = 1, .work = stream_work},
};

const struct schedule_ops *schedule_ops(enum schedule schedule)
{
    CHECK((size_t)schedule < sizeof schedules / sizeof *schedules);
    return &schedules[schedule];
}
