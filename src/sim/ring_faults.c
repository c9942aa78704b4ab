/*
 * ring_faults.c - what goes wrong in a simulated ring, and when it ends.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "sim/ring_world.h"

#define SCRIPT_DEADS  5 /* A script's last fault lasts so many silences. */
#define SETTLE_FACTOR 4 /* A ring of one computes all chunks alone. */

/* --- one fault ------------------------------------------------------------ */

static uint32_t running(const struct ring_world *world)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < world->options->peers_max; i++)
        count += world->nodes[i].running;
    return count;
}

/* Any that runs, else "": whom a newcomer asks. */
static void any_contact(struct ring_world *world, uint32_t node,
                        char contact[PEER_PLACE])
{
    const uint32_t from =
        (uint32_t)rng_below(&world->fault_rng, world->options->peers_max);

    contact[0] = '\0';
    for (uint32_t i = 0; i < world->options->peers_max; i++) {
        const uint32_t other = (from + i) % world->options->peers_max;

        if (other != node && world->nodes[other].running) {
            ring_place(other, contact);
            return;
        }
    }
}

static void join(struct ring_world *world, uint32_t node)
{
    char contact[PEER_PLACE];

    any_contact(world, node, contact);
    ring_start(world, node, contact,
               contact[0] == '\0' ? 1 : world->options->least);
}

static void heal(struct ring_world *world)
{
    world->side = 0;
    world->cut_pairs = 0;
    world->mute = world->choke = world->trickle = 0;
}

static void flip(struct ring_world *world, uint32_t node)
{
    struct trainer *trainer = &world->nodes[node].machine.trainer;
    struct optim *optim = &trainer->optim;

    /* Not what is computed from right now: sums from that would be wrong for
     * everybody alike. */
    for (uint32_t i = 0; i < optim->vectors; i++) {
        double *vector = optim->kept + (size_t)i * optim->dims;

        if (vector != trainer->what.w)
            vector[0] += 0.5;
    }
    world->nodes[node].flipped = true;
    ring_note(world, node, '!', "a bit turns over");
}

static void do_running(struct ring_world *world, const struct ring_fault *fault)
{
    struct ring_node *at = &world->nodes[fault->node];

    switch ((int)fault->kind) {
    case RING_KILL:
    case RING_UNPLUG:
        ring_kill(world, fault->node, fault->kind == RING_UNPLUG);
        break;
    case RING_STOP:
        if (!at->frozen)
            ring_freeze(world, fault->node, fault->for_us);
        break;
    case RING_FLIP:
        flip(world, fault->node);
        break;
    case RING_HANG:
        ring_note(world, fault->node, '!', "hangs");
        at->number++; /* Nobody is told of the one before. */
        break;
    case RING_LEAVE:
    case RING_END:
        if (at->frozen || at->machine.phase >= PEER_ENDING)
            break;
        at->stopping = true;
        world->stop_asked |= fault->kind == RING_END;
        ring_tell(world, fault->node,
                  (struct event){.kind = fault->kind == RING_END
                                             ? EVENT_STOP
                                             : EVENT_LEAVE});
        break;
    default:
        break;
    }
}

static void inject(struct ring_world *world, const struct ring_fault *fault)
{
    const uint64_t way = UINT64_C(1) << (8 * fault->node + fault->other);
    const uint64_t pair = way | UINT64_C(1) << (8 * fault->other + fault->node);

    world->base.result->faults++;
    world->muted |= fault->kind == RING_MUTE || fault->kind == RING_CHOKE ||
                    fault->kind == RING_HANG;
    world_mix(&world->base, (uint64_t)fault->kind);
    switch ((int)fault->kind) {
    case RING_CUT:
        ring_note(world, fault->node, '!', "cut, side %u", fault->side);
        world->side = fault->side;
        break;
    case RING_CUT_ONE:
        ring_note(world, fault->node, '!', "cut from p%u", fault->other);
        world->cut_pairs |= pair;
        break;
    case RING_HEAL:
        ring_note(world, fault->node, '!', "healed");
        heal(world);
        break;
    case RING_RESET:
        ring_note(world, fault->node, '!', "reset to p%u", fault->other);
        ring_reset(world, fault->node, fault->other);
        break;
    case RING_MUTE:
        ring_note(world, fault->node, '!', "mute to p%u", fault->other);
        world->mute |= way;
        break;
    case RING_CHOKE:
        ring_note(world, fault->node, '!', "choked to p%u", fault->other);
        world->choke |= way;
        break;
    case RING_TRICKLE:
        ring_note(world, fault->node, '!', "trickles to p%u", fault->other);
        world->trickle |= way;
        break;
    case RING_JOIN:
        if (!world->nodes[fault->node].running)
            join(world, fault->node);
        break;
    default:
        if (world->nodes[fault->node].running)
            do_running(world, fault);
    }
}

void ring_faults_script(struct ring_world *world)
{
    const struct ring_options *options = world->options;

    while (world->script_next < options->script_count &&
           options->script[world->script_next].event <= world->events) {
        inject(world, &options->script[world->script_next++]);
        if (world->script_next == options->script_count)
            world_push(
                &world->base,
                (struct happening){.at = world->base.now +
                                         SCRIPT_DEADS * options->run->dead_us,
                                   .kind = RING_CURE});
    }
}

/* --- faults of a seed ----------------------------------------------------- */

static const struct {
    enum ring_fault_kind kind;
    uint32_t weight;
    enum fault_kind counts; /* In a campaign. */
} odds[] = {
    {RING_KILL, 12, FAULT_CRASH},       {RING_UNPLUG, 6, FAULT_CRASH},
    {RING_STOP, 12, FAULT_FREEZE},      {RING_CUT, 10, FAULT_PARTITION},
    {RING_CUT_ONE, 8, FAULT_PARTITION}, {RING_HEAL, 14, FAULT_PARTITION},
    {RING_JOIN, 30, FAULT_JOIN},        {RING_RESET, 14, FAULT_RESET},
    {RING_LEAVE, 3, FAULT_LEAVE},
};

static void draw_fault(struct ring_world *world)
{
    const bool *skip = world->options->run->fault_skip;
    struct rng *rng = &world->fault_rng;
    const uint32_t nodes = world->options->peers_max;
    struct ring_fault fault = {.node = (uint32_t)rng_below(rng, nodes)};
    uint64_t total = 0;
    uint64_t at;
    size_t pick = 0;

    for (size_t i = 0; i < sizeof odds / sizeof *odds; i++)
        total += odds[i].weight;
    at = rng_below(rng, total);
    while (at >= odds[pick].weight)
        at -= odds[pick++].weight;
    fault.kind = odds[pick].kind;
    fault.other = (uint32_t)rng_below(rng, nodes);
    fault.side = (uint32_t)rng_below(rng, UINT64_C(1) << nodes);
    fault.for_us =
        (time_us)rng_below(rng, (uint64_t)(2 * world->options->run->dead_us));
    if (fault.kind == RING_STOP && fault.for_us == 0)
        fault.for_us = 1;
    if (fault.other == fault.node &&
        (fault.kind == RING_CUT_ONE || fault.kind == RING_RESET))
        fault.kind = RING_HEAL;
    /* The last one is not killed: what is left of a ring is tested by others.
     */
    if ((fault.kind == RING_KILL || fault.kind == RING_UNPLUG ||
         fault.kind == RING_LEAVE) &&
        running(world) < 2)
        fault.kind = RING_JOIN;
    if (skip != NULL && skip[world->fault_number++])
        return;
    world->base.result->by_kind[odds[pick].counts]++;
    inject(world, &fault);
}

/* One road in one direction, with every third fault. */
static void draw_mute(struct ring_world *world)
{
    struct rng *rng = &world->mute_rng;
    const uint32_t nodes = world->options->peers_max;
    const uint64_t draw = rng_below(rng, 6);
    struct ring_fault fault = {.kind = draw == 0 ? RING_MUTE : RING_CHOKE,
                               .node = (uint32_t)rng_below(rng, nodes),
                               .other = (uint32_t)rng_below(rng, nodes)};

    if (draw < 2 && fault.node != fault.other)
        inject(world, &fault);
}

static void next_fault(struct ring_world *world)
{
    const uint64_t gap = (uint64_t)world->options->fault_gap_us;
    const bool more = world->faults_left > 0;

    world_push(
        &world->base,
        (struct happening){
            .at =
                world->base.now +
                (more ? (time_us)rng_below(&world->fault_rng, 2 * gap + 1) : 0),
            .kind = more ? RING_FAULT : RING_CURE});
}

/* --- the end of them ------------------------------------------------------ */

static time_us deadline(const struct ring_world *world)
{
    const struct sim_options *run = world->options->run;
    const time_us step = run->chunk_us * world->base.oracle.chunks;

    return SETTLE_FACTOR * (run->settle_us + 4 * run->dead_us) +
           20 * (time_us)(run->optim.steps + 1) *
               (step + 8 * (run->latency_us + run->jitter_us));
}

/* Does some ring run that this one can reach? */
static bool has_company(const struct ring_world *world, uint32_t node)
{
    for (uint32_t i = 0; i < world->options->peers_max; i++) {
        const struct ring_node *at = &world->nodes[i];

        if (i != node && at->running && at->machine.started &&
            ring_reaches(world, i, node))
            return true;
    }
    return false;
}

/* Newcomers whom nobody lets in, and who are too few to begin by themselves:
 * whom they were to ask is gone.  People start such ones again. */
static void give_up_strangers(struct ring_world *world)
{
    for (uint32_t i = 0; i < world->options->peers_max; i++) {
        const struct ring_node *at = &world->nodes[i];

        if (at->running && !at->machine.started && !has_company(world, i))
            ring_kill(world, i, false);
    }
}

static bool any_started(const struct ring_world *world)
{
    for (uint32_t i = 0; i < world->options->peers_max; i++)
        if (world->nodes[i].running && world->nodes[i].machine.started)
            return true;
    return false;
}

static bool any_finished(const struct ring_world *world)
{
    return world->counted.finished > 0;
}

static void cure(struct ring_world *world)
{
    const struct ring_options *options = world->options;
    const bool private = options->run->home_count > 0;
    const bool begun = any_started(world) || any_finished(world);

    world->cured = true;
    ring_note(world, 0, '!', "faults end");
    if (!options->divided || !begun)
        heal(world);
    for (uint32_t i = 0; i < options->peers_max; i++)
        if (world->nodes[i].running && world->nodes[i].frozen)
            ring_thaw(world, i);
    for (uint32_t i = 0; i < options->peers_max && !options->stays; i++) {
        if (!world->nodes[i].running && (private || !begun))
            join(world, i);
    }
    world_push(&world->base,
               (struct happening){.at = world->base.now + deadline(world),
                                  .kind = RING_DEADLINE});
}

void ring_on_fault(struct ring_world *world, const struct happening *happening)
{
    if (happening->kind == RING_CURE) {
        cure(world);
    } else if (happening->kind == RING_START) {
        if (!world->nodes[happening->node].running)
            join(world, happening->node);
    } else if (happening->kind == RING_DEADLINE) {
        give_up_strangers(world);
        world->base.over = true;
    } else {
        world->faults_left--;
        draw_fault(world);
        if (world->options->mutes)
            draw_mute(world);
        next_fault(world);
    }
}

bool ring_is_over(const struct ring_world *world)
{
    return world->script_next == world->options->script_count &&
           running(world) == 0 && (world->cured || any_finished(world));
}

void ring_faults_begin(struct ring_world *world)
{
    const struct ring_options *options = world->options;
    char contact[PEER_PLACE] = "";

    for (uint32_t i = 0; i < options->peers; i++) {
        ring_start(world, i, contact, options->least);
        ring_place(0, contact);
    }
    world->faults_left = options->fault_count;
    if (options->script_count == 0)
        next_fault(world);
}
