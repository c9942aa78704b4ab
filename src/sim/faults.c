/*
 * faults.c - what goes wrong, and when.
 *
 * Two sources, one set of faults.  A script names step, victim and duration
 * (tests of one situation).  A seed draws kind, victim and duration one after
 * the other, `fault_count` times, then everything is mended (the cure) and the
 * run must make a step in every `settle_us`: CHECK-5.
 *
 * To add a fault: a line in FAULT_LIST (sim.h), a weight below, a row in
 * inject.c with a function that returns false if there is nobody to hit.
 */
#include "sim/world.h"

#include <math.h>

#include "base/check.h"

#define TRIES_MAX 16u /* Draws before a turn is given up. */
/* Before the cure, or without faults, nothing is promised about time; but a run
 * that makes no step for so long never will. */
#define QUIET_US (2000 * SECOND_US)

const char *fault_name(enum fault_kind kind)
{
#define FAULT_TEXT(code, text) [code] = (text),
    static const char *const names[] = {FAULT_LIST(FAULT_TEXT)};
#undef FAULT_TEXT

    CHECK((size_t)kind < sizeof names / sizeof *names);
    return names[kind];
}

struct fault_mix fault_mix_default(void)
{
    return (struct fault_mix){.weight = {
                                  [FAULT_CRASH] = 12,
                                  [FAULT_RESTART] = 14,
                                  [FAULT_FREEZE] = 8,
                                  [FAULT_THAW] = 6,
                                  [FAULT_LEAVE] = 4,
                                  [FAULT_JOIN] = 5,
                                  [FAULT_PARTITION] = 8,
                                  [FAULT_RESET] = 10,
                                  [FAULT_BURST] = 8,
                                  [FAULT_REPLAY] = 5,
                                  [FAULT_SLOW] = 5,
                                  [FAULT_POISON] = 3,
                                  [FAULT_KILL] = 4,
                                  [FAULT_POWER] = 3,
                                  [FAULT_DISK_CRASH] = 5,
                                  [FAULT_DISK_ERROR] = 2,
                                  [FAULT_STALL] = 3,
                                  [FAULT_STOP] = 1,
                              }};
}

/* --- drawing ------------------------------------------------------------- */

static enum fault_kind draw_kind(struct world *world)
{
    const struct fault_mix *mix = &world->options->mix;
    uint64_t total = 0;
    uint64_t at;

    for (int kind = 0; kind < FAULT_KINDS; kind++)
        total += mix->weight[kind];
    CHECK(total > 0);
    at = rng_below(&world->fault_rng, total);
    for (int kind = 0; kind < FAULT_KINDS; kind++) {
        if (at < mix->weight[kind])
            return (enum fault_kind)kind;
        at -= mix->weight[kind];
    }
    return FAULT_CRASH;
}

/* Mostly short, sometimes past every limit of the detector. */
static time_us draw_duration(struct world *world)
{
    const struct sim_options *options = world->options;
    struct rng *rng = &world->fault_rng;
    const time_us most =
        rng_chance(rng, 0.7) ? options->suspect_us : 2 * options->dead_us;

    return MS_US + (time_us)rng_below(rng, (uint64_t)most);
}

/* Each fault has its own stream, so that leaving one out (to shrink a failing
 * seed) does not turn the others into different faults. */
static void draw_fault(struct world *world, uint32_t index)
{
    const bool *skip = world->options->fault_skip;

    world->fault_rng = rng_split(&world->fault_root, index);
    for (uint32_t i = 0; i < TRIES_MAX; i++) {
        struct sim_fault fault = {.worker = NODE_NOBODY};

        fault.kind = draw_kind(world);
        fault.for_us = draw_duration(world);
        fault.count = (uint32_t)rng_below(&world->fault_rng, 24);
        if ((skip != NULL && skip[index]) || fault_inject(world, &fault))
            return;
    }
}

static time_us draw_gap(struct world *world)
{
    const double u = rng_unit(&world->gap_rng);

    return 1 + (time_us)(-log1p(-u) * (double)world->options->fault_gap_us);
}

static void next_fault(struct world *world)
{
    draw_fault(world, world->options->fault_count - world->faults_left);
    world->faults_left--;
    world_push(world,
               (struct happening){.at = world->now + draw_gap(world),
                                  .kind = world->faults_left > 0 ? HAPPEN_FAULT
                                                                 : HAPPEN_CURE,
                                  .node = NODE_NOBODY});
}

/* --- the cure ------------------------------------------------------------ */

/* Even if it is to start later anyway; a second start does nothing. */
static void start_now(struct world *world, uint32_t node)
{
    world_push(world, (struct happening){.at = world->now,
                                         .kind = HAPPEN_START,
                                         .node = node});
}

/* All rows on one machine, begun while it was as slow as any: a mended one
 * finishes what it has begun. */
static time_us longest_work(const struct world *world)
{
    const struct sim_options *options = world->options;
    const uint32_t every = options->optim.local.every;
    const uint32_t passes = every > 0 ? every : 1;

    return options->chunk_us * world->oracle.chunks * passes * SLOWEST;
}

static time_us patience(const struct world *world)
{
    return world->mending ? world->options->settle_us + longest_work(world)
                          : QUIET_US;
}

static void arm_deadline(struct world *world)
{
    world->commits_seen = world->checker.commits;
    world_push(world, (struct happening){.at = world->now + patience(world),
                                         .kind = HAPPEN_DEADLINE,
                                         .node = NODE_NOBODY});
}

static void mend_worker(struct world *world, uint32_t index)
{
    struct sim_worker *worker = &world->workers[index];

    worker->caller.cut_until[TO_WORKER] = world->now;
    worker->caller.cut_until[TO_COORDINATOR] = world->now;
    worker->slow = 1;
    worker->poison = false;
    worker->lies = false;
    worker->refuses = false;
    thaw(world, index);
    if (worker->exists)
        start_now(world, index);
}

static void cure(struct world *world)
{
    world_note(world, NODE_NOBODY, '=', "all faults end");
    world->mending = true;
    world->burst.until = world->now;
    world->coordinator.disk.crash_after = DISK_OPS_NEVER;
    world->coordinator.disk.error_after = DISK_OPS_NEVER;
    thaw(world, NODE_COORDINATOR);
    for (uint32_t i = 0; i < world->relay_count; i++) {
        world->relays[i].caller.cut_until[TO_WORKER] = world->now;
        world->relays[i].caller.cut_until[TO_COORDINATOR] = world->now;
        thaw(world, NODE_RELAY + i);
        start_now(world, NODE_RELAY + i);
    }
    for (uint32_t i = 0; i < world->workers_max; i++)
        mend_worker(world, i);
    start_now(world, NODE_COORDINATOR);
    arm_deadline(world);
}

/* CHECK-5: healthy again, the run makes a step in every such stretch. */
static void check_progress(struct world *world)
{
    if (world->checker.commits > world->commits_seen) {
        arm_deadline(world);
        return;
    }
    checker_violate(&world->checker,
                    "CHECK-5: no progress: %u of %u steps, none in %.1f s",
                    world->checker.committed, world->options->optim.steps,
                    (double)patience(world) / 1e6);
    world->over = true;
}

/* --- scripts ------------------------------------------------------------- */

void faults_step_opened(struct world *world, uint32_t step)
{
    const struct sim_options *options = world->options;

    if (step < world->steps_opened)
        return;
    world->steps_opened = step + 1;
    resized_step_opened(world, step);
    for (uint32_t i = 0; i < options->script_count; i++) {
        if (options->script[i].step > step || world->scripted[i])
            continue;
        world->scripted[i] = true;
        world_push(world, (struct happening){.at = world->now +
                                                   options->script[i].after_us,
                                             .kind = HAPPEN_SCRIPT,
                                             .node = NODE_NOBODY,
                                             .number = i});
    }
}

static void play(struct world *world, const struct sim_fault *fault)
{
    CHECK(world->faults_left > 0);
    if (!fault_inject(world, fault))
        world_note(world, NODE_NOBODY, '?', "script: nobody to %s",
                   fault_name(fault->kind));
    if (--world->faults_left == 0)
        world_push(world, (struct happening){.at = world->now + fault->for_us +
                                                   world->options->dead_us,
                                             .kind = HAPPEN_CURE,
                                             .node = NODE_NOBODY});
}

void faults_begin(struct world *world)
{
    const struct sim_options *options = world->options;

    world->remembers = options->faults || options->script_count > 0;
    if (options->script_count > 0) {
        world->faults_left = options->script_count;
    } else if (options->faults && options->fault_count > 0) {
        world->faults_left = options->fault_count;
        world_push(world, (struct happening){.at = draw_gap(world),
                                             .kind = HAPPEN_FAULT,
                                             .node = NODE_NOBODY});
    }
    arm_deadline(world);
}

void faults_on(struct world *world, const struct happening *happening)
{
    switch ((enum happening_kind)happening->kind) {
    case HAPPEN_FAULT:
        next_fault(world);
        break;
    case HAPPEN_SCRIPT:
        play(world, &world->options->script[happening->number]);
        break;
    case HAPPEN_CURE:
        cure(world);
        break;
    case HAPPEN_DEADLINE:
        check_progress(world);
        break;
    case HAPPEN_START:
    case HAPPEN_TIMER:
    case HAPPEN_PACKET:
    case HAPPEN_DIAL:
    case HAPPEN_LINK_UP:
    case HAPPEN_LINK_DOWN:
    case HAPPEN_COMPUTED:
    case HAPPEN_RECALLED:
    case HAPPEN_FETCHED:
    case HAPPEN_PEERED:
    case HAPPEN_SERVING:
    case HAPPEN_DISK:
    case HAPPEN_DISK_DONE:
    case HAPPEN_THAW:
    case HAPPEN_LEAVE:
    case HAPPEN_STOP:
    case HAPPEN_SIZE:
    case HAPPEN_JUDGED:
    case HAPPEN_MEASURED:
        CHECK(!"not a fault");
    }
}
