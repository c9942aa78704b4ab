/*
 * inject.c - fault injection: for each kind of fault, whom it may hit and what
 * it does to the simulated machines, links and disk.
 */
#include "sim/world.h"

#include "base/check.h"

/* --- freezing ------------------------------------------------------------ */

void freeze(struct world *world, uint32_t node, time_us for_us)
{
    struct process *process = world_process(world, node);

    CHECK(process->running && !process->frozen);
    process->frozen = true;
    process->freeze++;
    world_push(world, (struct happening){.at = world->now + for_us,
                                         .kind = HAPPEN_THAW,
                                         .node = node,
                                         .life = process->life,
                                         .number = process->freeze});
}

/* What came meanwhile comes now, all at once and in its order. */
void thaw(struct world *world, uint32_t node)
{
    struct process *process = world_process(world, node);

    if (!process->frozen)
        return;
    world_note(world, node, '~', "thaws, %zu waiting", process->held_count);
    process->frozen = false;
    for (size_t i = 0; i < process->held_count; i++) {
        struct happening happening = process->held[i];

        happening.at = world->now;
        world_push(world, happening);
    }
    process->held_count = 0;
}

/* --- choosing ------------------------------------------------------------ */

typedef bool (*suits)(const struct sim_worker *worker);

static bool is_running(const struct sim_worker *worker)
{
    return worker->process.running;
}

static bool is_awake(const struct sim_worker *worker)
{
    return worker->process.running && !worker->process.frozen;
}

static bool is_frozen(const struct sim_worker *worker)
{
    return worker->process.frozen;
}

static bool is_dead(const struct sim_worker *worker)
{
    return worker->exists && !worker->process.running &&
           !worker->process.has_life_to_come;
}

static bool is_linked(const struct sim_worker *worker)
{
    return worker->process.running && worker->caller.conn != CONN_NONE;
}

/* A worker that suits: the one wished for, or any; NODE_NOBODY if none. */
static uint32_t choose(struct world *world, const struct sim_fault *fault,
                       suits suit)
{
    const uint32_t count = world->workers_max;
    uint32_t first;

    if (fault->worker < count)
        return suit(&world->workers[fault->worker]) ? fault->worker
                                                    : NODE_NOBODY;
    first = (uint32_t)rng_below(&world->fault_rng, count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t index = (first + i) % count;

        if (suit(&world->workers[index]))
            return index;
    }
    return NODE_NOBODY;
}

/* --- the faults ---------------------------------------------------------- */

static bool inject_crash(struct world *world, const struct sim_fault *fault)
{
    const uint32_t index = choose(world, fault, is_running);

    if (index == NODE_NOBODY)
        return false;
    sim_worker_crash(world, index, rng_chance(&world->fault_rng, 0.3));
    if (rng_chance(&world->fault_rng, 0.5))
        world_start_later(world, index, fault->for_us);
    return true;
}

static bool inject_restart(struct world *world, const struct sim_fault *fault)
{
    const uint32_t index = choose(world, fault, is_dead);

    if (index == NODE_NOBODY)
        return false;
    world_start_later(world, index, 0);
    return true;
}

static bool inject_freeze(struct world *world, const struct sim_fault *fault)
{
    const uint32_t index = choose(world, fault, is_awake);

    if (index == NODE_NOBODY)
        return false;
    world_note(world, index, '~', "freezes");
    freeze(world, index, fault->for_us);
    return true;
}

static bool inject_thaw(struct world *world, const struct sim_fault *fault)
{
    const uint32_t index = choose(world, fault, is_frozen);

    if (index == NODE_NOBODY)
        return false;
    thaw(world, index);
    return true;
}

static bool inject_leave(struct world *world, const struct sim_fault *fault)
{
    const uint32_t index = choose(world, fault, is_running);

    if (index == NODE_NOBODY)
        return false;
    world_note(world, index, '-', "is asked to leave");
    world_push(world,
               (struct happening){.at = world->now,
                                  .kind = HAPPEN_LEAVE,
                                  .node = index,
                                  .life = world->workers[index].process.life});
    return true;
}

static bool inject_join(struct world *world, const struct sim_fault *fault)
{
    uint64_t count = 1 + rng_below(&world->fault_rng, 3);
    bool any = false;

    for (; count > 0; count--) {
        const uint32_t index = sim_worker_spare(world);

        if (index == NODE_NOBODY)
            return any || inject_restart(world, fault);
        world_start_later(world, index, 0);
        any = true;
    }
    return any;
}

static bool inject_partition(struct world *world, const struct sim_fault *fault)
{
    const uint32_t index = choose(world, fault, is_running);
    const uint64_t ways = rng_below(&world->fault_rng, 3);
    struct sim_worker *worker;

    if (index == NODE_NOBODY)
        return false;
    worker = &world->workers[index];
    worker->caller.cut_loses = rng_chance(&world->fault_rng, 0.5);
    if (ways != 0)
        worker->caller.cut_until[TO_WORKER] = world->now + fault->for_us;
    if (ways != 1)
        worker->caller.cut_until[TO_COORDINATOR] = world->now + fault->for_us;
    world_note(world, index, '/', "is cut off %s for %.3f s, messages %s",
               ways == 0   ? "outwards"
               : ways == 1 ? "inwards"
                           : "both ways",
               (double)fault->for_us / 1e6,
               worker->caller.cut_loses ? "lost" : "late");
    return true;
}

static bool inject_reset(struct world *world, const struct sim_fault *fault)
{
    const uint32_t index = choose(world, fault, is_linked);
    const uint64_t ends = rng_below(&world->fault_rng, 3);
    uint32_t conn;

    if (index == NODE_NOBODY)
        return false;
    conn = world->workers[index].caller.conn;
    world_note(world, index, '/', "connection resets, end %d", (int)ends);
    if (ends != 0)
        network_break(world, conn, TO_WORKER);
    if (ends != 1)
        network_break(world, conn, TO_COORDINATOR);
    return true;
}

/* Sometimes nothing, else up to `most`. */
static double draw_share(struct rng *rng, double most)
{
    return rng_chance(rng, 0.6) ? most * rng_unit(rng) : 0;
}

static bool inject_burst(struct world *world, const struct sim_fault *fault)
{
    struct rng *rng = &world->fault_rng;

    /* One statement each: the order of draws must not be the compiler's. */
    world->burst.until = world->now + fault->for_us;
    world->burst.lose = draw_share(rng, 0.4);
    world->burst.twice = draw_share(rng, 0.4);
    world->burst.late = draw_share(rng, 0.5);
    world->burst.late_us = 1 + (time_us)rng_below(rng, 100 * MS_US);
    world_note(world, NODE_NOBODY, '/', "burst: lose %.2f twice %.2f late %.2f",
               world->burst.lose, world->burst.twice, world->burst.late);
    return true;
}

static bool inject_replay(struct world *world, const struct sim_fault *fault)
{
    (void)fault;
    world_note(world, NODE_NOBODY, '/', "old answers come again");
    network_replay(world);
    return true;
}

static bool inject_slow(struct world *world, const struct sim_fault *fault)
{
    const uint32_t index = choose(world, fault, is_running);

    if (index == NODE_NOBODY)
        return false;
    world->workers[index].slow =
        2 + (SLOWEST - 2) * rng_unit(&world->fault_rng);
    world_note(world, index, '~', "is slow: %.1f x",
               world->workers[index].slow);
    return true;
}

static bool inject_poison(struct world *world, const struct sim_fault *fault)
{
    const uint32_t index = choose(world, fault, is_running);

    if (index == NODE_NOBODY)
        return false;
    world->workers[index].poison = true;
    world_note(world, index, '!', "sends poison from now on");
    return true;
}

/* One liar at a time: nothing is promised of two that lie alike. */
static bool may_lie(const struct world *world, uint32_t index)
{
    for (uint32_t i = 0; i < world->workers_max; i++) {
        if (i != index && world->workers[i].lies)
            return false;
    }
    return world->options->verify || world->options->gullible;
}

static bool inject_lie(struct world *world, const struct sim_fault *fault)
{
    const uint32_t index = choose(world, fault, is_running);

    if (index == NODE_NOBODY || !may_lie(world, index))
        return false;
    world->workers[index].lies = true;
    world->workers[index].lie_every = fault->count;
    world->workers[index].lie_piece = fault->piece;
    world_note(world, index, '!', "lies from now on");
    return true;
}

/* One at a time, and where others can tell: private rows, and a worker's own
 * steps, are nobody else's. */
static bool may_refuse(const struct world *world, uint32_t index)
{
    for (uint32_t i = 0; i < world->workers_max; i++) {
        if (i != index && world->workers[i].refuses)
            return false;
    }
    return world->options->home_count == 0 &&
           world->options->code.placement != PLACE_LOCAL;
}

static bool inject_refuse(struct world *world, const struct sim_fault *fault)
{
    const uint32_t index = choose(world, fault, is_running);

    if (index == NODE_NOBODY || !may_refuse(world, index))
        return false;
    world->workers[index].refuses = true;
    world_note(world, index, '!', "refuses everything from now on");
    return true;
}

static bool inject_kill(struct world *world, const struct sim_fault *fault)
{
    if (!world->coordinator.process.running)
        return false;
    sim_coordinator_crash(world, fault->kind == FAULT_POWER, fault->for_us);
    return true;
}

static bool inject_disk(struct world *world, const struct sim_fault *fault)
{
    struct sim_coordinator *coordinator = &world->coordinator;

    if (!coordinator->process.running)
        return false;
    if (fault->kind == FAULT_DISK_ERROR) {
        coordinator->disk.error_after = fault->count;
        world_note(world, NODE_COORDINATOR, '!',
                   "disk will fail after %u operations", fault->count);
        return true;
    }
    coordinator->disk.crash_after = fault->count;
    coordinator->power = rng_chance(&world->fault_rng, 0.6);
    coordinator->away_us = fault->for_us;
    world_note(world, NODE_COORDINATOR, '!',
               "will crash after %u disk operations", fault->count);
    return true;
}

static bool inject_stall(struct world *world, const struct sim_fault *fault)
{
    const struct process *process = &world->coordinator.process;

    if (!process->running || process->frozen)
        return false;
    world_note(world, NODE_COORDINATOR, '~', "freezes");
    freeze(world, NODE_COORDINATOR, fault->for_us);
    return true;
}

static bool inject_stop(struct world *world, const struct sim_fault *fault)
{
    const struct process *process = &world->coordinator.process;

    (void)fault;
    if (!process->running)
        return false;
    world_note(world, NODE_COORDINATOR, '-', "is asked to stop");
    world_push(world, (struct happening){.at = world->now,
                                         .kind = HAPPEN_STOP,
                                         .node = NODE_COORDINATOR,
                                         .life = process->life});
    return true;
}

/* Mostly it dies; its leaves find another way. */
static bool inject_relay(struct world *world, const struct sim_fault *fault)
{
    const double what = rng_unit(&world->fault_rng);
    struct sim_relay *relay;
    uint32_t index;

    if (world->relay_count == 0)
        return false;
    index = fault->worker < world->relay_count
                ? fault->worker
                : (uint32_t)rng_below(&world->fault_rng, world->relay_count);
    relay = &world->relays[index];
    if (!relay->process.running || relay->process.frozen)
        return false;
    if (what < 0.6) {
        sim_relay_crash(world, index, what < 0.15);
        world_start_later(world, NODE_RELAY + index, fault->for_us);
    } else if (what < 0.8) {
        world_note(world, NODE_RELAY + index, '~', "freezes");
        freeze(world, NODE_RELAY + index, fault->for_us);
    } else {
        world_note(world, NODE_RELAY + index, '/', "is cut off");
        relay->caller.cut_loses = what < 0.9;
        relay->caller.cut_until[TO_WORKER] = world->now + fault->for_us;
        relay->caller.cut_until[TO_COORDINATOR] = world->now + fault->for_us;
    }
    return true;
}

typedef bool (*injector)(struct world *world, const struct sim_fault *fault);

static const injector injectors[FAULT_KINDS] = {
    [FAULT_CRASH] = inject_crash,
    [FAULT_RESTART] = inject_restart,
    [FAULT_FREEZE] = inject_freeze,
    [FAULT_THAW] = inject_thaw,
    [FAULT_LEAVE] = inject_leave,
    [FAULT_JOIN] = inject_join,
    [FAULT_PARTITION] = inject_partition,
    [FAULT_RESET] = inject_reset,
    [FAULT_BURST] = inject_burst,
    [FAULT_REPLAY] = inject_replay,
    [FAULT_SLOW] = inject_slow,
    [FAULT_POISON] = inject_poison,
    [FAULT_KILL] = inject_kill,
    [FAULT_POWER] = inject_kill,
    [FAULT_DISK_CRASH] = inject_disk,
    [FAULT_DISK_ERROR] = inject_disk,
    [FAULT_STALL] = inject_stall,
    [FAULT_STOP] = inject_stop,
    [FAULT_LIE] = inject_lie,
    [FAULT_RELAY] = inject_relay,
    [FAULT_REFUSE] = inject_refuse,
};

bool fault_inject(struct world *world, const struct sim_fault *fault)
{
    if (!injectors[fault->kind](world, fault))
        return false;
    world->result->faults++;
    world->result->by_kind[fault->kind]++;
    world_mix(world, fault->kind);
    return true;
}
