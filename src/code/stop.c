/*
 * stop.c - the stop axis: when a step may end.
 *
 *   all        every slot with work has delivered its initial work
 *   cover      every piece is in, whoever sent it
 *   first:k    k slots have delivered their initial work
 *   collect:k  first:k or cover, whichever comes first; counts workers, not
 *              groups, as Wang, Charles & Papailiopoulos do, "ErasureHead:
 *              Distributed Gradient Descent without Delays Using Approximate
 *              Gradient Coding", 2019
 *
 * A slot without work counts as arrived from the start, but at least one slot
 * with work must have answered: an update of nothing is no step.
 */
#include "code/axes.h"

#include <stddef.h>

#include "base/check.h"

/* How many of the slots with work must answer to make k slots. */
static uint32_t busy_needed(const struct code *code, uint32_t k)
{
    const uint32_t idle = code->slots - code->busy_count;

    return k > idle ? k - idle : 1;
}

static bool busy_reach(const struct code *code, const bool *slots,
                       uint32_t needed)
{
    uint32_t count = 0;

    for (uint32_t slot = 0; slot < code->slots && count < needed; slot++)
        count += slots[slot] && code->busy[slot];
    return count >= needed;
}

/* The caller's count answers at once for most arrivals; it may or may not
 * include slots without work, so that where there are any the slots are
 * counted. */
static bool slots_reach(const struct code *code,
                        const struct code_progress *progress, uint32_t k)
{
    const uint32_t needed = busy_needed(code, k);

    if (progress->slots_in < needed)
        return false;
    if (code->busy_count == code->slots)
        return true;
    return busy_reach(code, progress->slot_in, needed);
}

static bool all_enough(const struct code *code,
                       const struct code_progress *progress)
{
    return slots_reach(code, progress, code->slots);
}

static bool all_feasible(const struct code *code, const bool *slot_alive)
{
    return busy_reach(code, slot_alive, code->busy_count);
}

static bool cover_enough(const struct code *code,
                         const struct code_progress *progress)
{
    return progress->pieces_in >= code->piece_count;
}

static bool group_lives(const struct group *group, const bool *slot_alive)
{
    for (uint32_t slot = group->slot_first; slot < group->slot_end; slot++) {
        if (slot_alive[slot])
            return true;
    }
    return group->piece_first == group->piece_end;
}

static bool cover_feasible(const struct code *code, const bool *slot_alive)
{
    for (uint32_t q = 0; q < code->group_count; q++) {
        if (!group_lives(&code->groups[q], slot_alive))
            return false;
    }
    return true;
}

static bool first_enough(const struct code *code,
                         const struct code_progress *progress)
{
    return slots_reach(code, progress, code->spec.k);
}

static bool first_feasible(const struct code *code, const bool *slot_alive)
{
    return busy_reach(code, slot_alive, busy_needed(code, code->spec.k));
}

static bool collect_enough(const struct code *code,
                           const struct code_progress *progress)
{
    return cover_enough(code, progress) || first_enough(code, progress);
}

static bool collect_feasible(const struct code *code, const bool *slot_alive)
{
    return first_feasible(code, slot_alive) || cover_feasible(code, slot_alive);
}

static const struct stop_ops stops[] = {
    [STOP_ALL] = {.name = "all",
                  .enough = all_enough,
                  .feasible = all_feasible},
    [STOP_COVER] = {.name = "cover",
                    .enough = cover_enough,
                    .feasible = cover_feasible},
    [STOP_FIRST] = {.name = "first",
                    .counts = true,
                    .partial = true,
                    .enough = first_enough,
                    .feasible = first_feasible},
    [STOP_COLLECT] = {.name = "collect",
                      .counts = true,
                      .partial = true,
                      .enough = collect_enough,
                      .feasible = collect_feasible},
};

const struct stop_ops *stop_ops(enum stop stop)
{
    CHECK((size_t)stop < sizeof stops / sizeof *stops);
    return &stops[stop];
}
