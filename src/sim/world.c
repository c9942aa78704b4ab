/*
 * world.c - time, lives, the trace and the digest of all that happens.
 */
#include "sim/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

void world_push(struct world *world, struct happening happening)
{
    CHECK(happening.at >= world->now);
    /* A simulation that is out of memory proves nothing; stop it loudly. */
    CHECK(heap_push(&world->heap, happening) == ERR_OK);
}

/* A cheap mixing step: one per event is affordable, SHA-256 would not be. */
void world_mix(struct world *world, uint64_t value)
{
    world->digest = (world->digest ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    world->digest ^= world->digest >> 29;
}

struct process *world_process(struct world *world, uint32_t node)
{
    if (node == NODE_COORDINATOR)
        return &world->coordinator.process;
    if (is_relay(node))
        return &world->relays[node - NODE_RELAY].process;
    CHECK(node < world->workers_max);
    return &world->workers[node].process;
}

bool world_tracing(const struct world *world)
{
    return world->options->sink != NULL;
}

void world_note(struct world *world, uint32_t node, char mark,
                const char *format, ...)
{
    char line[SIM_TEXT * 2];
    char who[16] = "-";
    va_list list;
    int used;

    if (!world_tracing(world))
        return;
    if (node == NODE_COORDINATOR)
        (void)snprintf(who, sizeof who, "c%u", world->coordinator.lives);
    else if (is_relay(node))
        (void)snprintf(who, sizeof who, "r%u", node - NODE_RELAY);
    else if (node != NODE_NOBODY)
        (void)snprintf(who, sizeof who, "w%u", node);
    used = snprintf(line, sizeof line, "%10.6f %-4s %c ",
                    (double)world->now / 1e6, who, mark);
    CHECK(used > 0);
    va_start(list, format);
    (void)vsnprintf(line + used, sizeof line - (size_t)used, format, list);
    va_end(list);
    world->options->sink(world->options->sink_context, line);
}

/* --- timers -------------------------------------------------------------- */

/* Machines ask for a timer at every step, mostly for a later moment than
 * before.  A happening is pushed only if none is due early enough; one that
 * comes too early is pushed again. */
void world_set_timer(struct world *world, uint32_t node, time_us at)
{
    struct process *process = world_process(world, node);

    process->timer_at = at;
    if (at == TIME_NEVER)
        return;
    if (at < world->now)
        at = world->now;
    if (at >= process->timer_due)
        return;
    process->timer_due = at;
    world_push(world, (struct happening){.at = at,
                                         .kind = HAPPEN_TIMER,
                                         .node = node,
                                         .life = process->life});
}

bool world_timer_due(struct world *world, uint32_t node)
{
    struct process *process = world_process(world, node);

    if (process->timer_due <= world->now)
        process->timer_due = TIME_NEVER;
    if (process->timer_at <= world->now) {
        process->timer_at = TIME_NEVER;
        return true;
    }
    world_set_timer(world, node, process->timer_at);
    return false;
}

/* --- lives --------------------------------------------------------------- */

void process_hold(struct process *process, const struct happening *happening)
{
    if (process->held_count == process->held_capacity) {
        struct happening *grown = mem_grow(
            process->held, process->held_count, process->held_count + 1,
            sizeof *grown, &process->held_capacity);

        CHECK(grown != NULL);
        process->held = grown;
    }
    process->held[process->held_count++] = *happening;
}

void process_begin(struct process *process)
{
    CHECK(!process->running);
    process->running = true;
    process->unplugged = false;
    process->has_life_to_come = false;
    process->life++;
    process->frozen = false;
    process->timer_at = TIME_NEVER;
    process->timer_due = TIME_NEVER;
}

void process_end(struct world *world, struct process *process)
{
    CHECK(process->running);
    process->running = false;
    process->frozen = false;
    process->life++;
    for (size_t i = 0; i < process->held_count; i++) {
        if (process->held[i].packet != NULL)
            network_free_packet(world, process->held[i].packet);
    }
    process->held_count = 0;
}

void world_start_later(struct world *world, uint32_t node, time_us after_us)
{
    struct process *process = world_process(world, node);

    if (process->has_life_to_come || process->running)
        return;
    process->has_life_to_come = true;
    world_push(world, (struct happening){.at = world->now + after_us,
                                         .kind = HAPPEN_START,
                                         .node = node});
}
