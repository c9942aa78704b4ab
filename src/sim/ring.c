/*
 * ring.c - one run of a ring: processes, what they ask for, the loop.
 */
#include "sim/ring.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "code/rules.h"
#include "math/kernel/kernel.h"
#include "sim/ring_world.h"

#define ACTIONS_FIRST 64u
#define DISK_US       1500u
#define PULSE_BEATS   4 /* Few runs are a second long. */
#define EVENTS_MAX    4000000u

void ring_note(struct ring_world *world, uint32_t node, char mark,
               const char *format, ...)
{
    const struct sim_options *run = world->options->run;
    char line[SIM_TEXT * 2];
    va_list list;
    int used;

    if (run->sink == NULL)
        return;
    used = snprintf(line, sizeof line, "%10.6f p%u %c ",
                    (double)world->base.now / 1e6, node, mark);
    va_start(list, format);
    (void)vsnprintf(line + used, sizeof line - (size_t)used, format, list);
    va_end(list);
    run->sink(run->sink_context, line);
}

void ring_place(uint32_t node, char place[PEER_PLACE])
{
    (void)snprintf(place, PEER_PLACE, "%u", node);
}

static void later(struct ring_world *world, uint32_t node, time_us after_us,
                  enum ring_happening kind, uint32_t number)
{
    world_push(&world->base,
               (struct happening){.at = world->base.now + after_us,
                                  .kind = kind,
                                  .node = node,
                                  .life = world->nodes[node].life,
                                  .number = number});
}

static time_us some_time(struct ring_world *world, uint64_t most_us)
{
    return (time_us)rng_below(&world->rng, most_us + 1);
}

/* --- what a peer asks for ------------------------------------------------- */

static void compute(struct ring_world *world, uint32_t node,
                    const struct action *action)
{
    struct ring_node *at = &world->nodes[node];
    const time_us each = world->options->run->chunk_us;
    const uint32_t chunks = action->computation.end - action->computation.first;

    CHECK(!at->computing);
    if (action->computation.first < at->first ||
        action->computation.end > at->end)
        checker_violate(&world->base.checker,
                        "p%u computes chunks that it has not", node);
    at->computing = true;
    at->asked = action->computation;
    later(world, node, (time_us)((double)(each * chunks) * at->slow),
          RING_COMPUTED, ++at->number);
}

/* It may be too late, as in a thread. */
static void cancel(struct ring_world *world, uint32_t node)
{
    struct ring_node *at = &world->nodes[node];

    if (at->computing)
        later(world, node, some_time(world, 200), RING_COMPUTED,
              at->number | UINT32_C(1) << 31);
}

static void append(struct ring_world *world, uint32_t node,
                   const struct action *action)
{
    struct ring_node *at = &world->nodes[node];

    CHECK(store_append(&at->disk.disk, action->bytes, action->size,
                       action->sync) == ERR_OK);
    later(world, node, some_time(world, DISK_US), RING_JOURNALED, 0);
}

static void finish(struct ring_world *world, uint32_t node,
                   const struct action *action)
{
    struct ring_node *at = &world->nodes[node];

    ring_note(world, node, '.', "finished: %s", action->reason);
    ring_check_finish(world, node, action);
    ring_close_all(world, node, false);
    at->running = false;
    at->finished = true;
    /* Its rows are wanted: whoever asked it to leave starts it again. */
    if (world->cured && action->err == ERR_CANCELLED && !world->stop_asked &&
        world->options->run->home_count > 0)
        later(world, node, MS_US, RING_START, 0);
}

static void show(struct ring_world *world, uint32_t node,
                 const struct trace *trace)
{
    ring_note(world, node, '*', "%s %s view %u step %u round %u attempt %u",
              trace_name(trace->kind), trace->name, (unsigned)trace->key.view,
              trace->key.step, trace->key.round, trace->key.attempt);
    ring_check_trace(world, node, trace);
}

static void obey(struct ring_world *world, uint32_t node,
                 const struct action *action)
{
    struct ring_node *at = &world->nodes[node];

    switch ((int)action->kind) {
    case ACTION_SEND:
        ring_send(world, node, action->link, &action->msg);
        break;
    case ACTION_CLOSE:
        ring_close_link(world, node, action->link);
        break;
    case ACTION_CONNECT:
        ring_dial(world, node, action->link, action->place);
        break;
    case ACTION_TIMER:
        at->timer_at =
            action->at > world->base.now ? action->at : world->base.now + 1;
        world_push(&world->base, (struct happening){.at = at->timer_at,
                                                    .kind = RING_TIMER,
                                                    .node = node,
                                                    .life = at->life});
        break;
    case ACTION_TRACE:
        show(world, node, &action->trace);
        break;
    case ACTION_COMPUTE:
        compute(world, node, action);
        break;
    case ACTION_CANCEL:
        cancel(world, node);
        break;
    case ACTION_JOURNAL:
        append(world, node, action);
        break;
    case ACTION_CHECKPOINT:
        at->save =
            (struct ring_save){action->bytes, action->size, action->step};
        later(world, node, some_time(world, 4 * DISK_US), RING_SAVED, 0);
        break;
    case ACTION_MEASURE:
        later(world, node, 2 * world->options->run->chunk_us, RING_MEASURED, 0);
        break;
    case ACTION_FINISH:
        finish(world, node, action);
        break;
    default:
        CHECK(!"no such action of a peer");
    }
}

void ring_tell(struct ring_world *world, uint32_t node, struct event event)
{
    struct ring_node *at = &world->nodes[node];

    CHECK(at->running);
    event.now = world->base.now;
    world->actions.count = 0;
    peer_step(&at->machine, &event, &world->actions);
    if (at->machine.stats.stalls > 0 && !world->muted)
        checker_violate(&world->base.checker,
                        "CHECK-R6: p%u gives up one whose messages come", node);
    for (uint32_t i = 0; i < world->actions.count; i++)
        obey(world, node, &world->actions.list[i]);
}

/* --- lives ---------------------------------------------------------------- */

static enum err exponents(struct scale *self, const struct evaluation *what,
                          int16_t *exponent)
{
    return oracle_scale(((struct sim_scale *)self)->oracle, what, exponent);
}

static struct scale *make_scale(struct ring_world *world, struct ring_node *at)
{
    static const struct scale_ops ops = {.exponents = exponents};
    const struct oracle *oracle = &world->base.oracle;

    at->scale = (struct sim_scale){{.ops = &ops}, oracle};
    if (oracle->net.model != NULL)
        CHECK(networked_follow(oracle->net.model, oracle->chunks,
                               &at->follow) == ERR_OK);
    else if (oracle->followed.on)
        CHECK(follow_init(&at->follow, oracle->followed.dims, oracle->chunks) ==
              ERR_OK);
    else
        return &at->scale.scale;
    return &at->follow.scale;
}

static struct trainer_options trainer_options(struct ring_world *world,
                                              struct scale *scale)
{
    const struct sim_options *run = world->options->run;
    const struct oracle *oracle = &world->base.oracle;
    struct trainer_options options = {
        .optim = run->optim,
        .scale = scale,
        .dims = oracle->dims,
        .vectors = problem_outputs(run->problem),
        .length = run->problem->data->cols,
        .kept = world->options->kept,
        .ledger = {.checkpoint_steps = run->checkpoint_steps,
                   .checkpoint_us = 2 * SECOND_US,
                   .sync = run->sync}};

    if (run->follow || run->net != NULL) {
        options.vectors = 1;
        options.length = run->follow ? oracle->followed.dims
                                     : (uint32_t)run->net->neural.parameters;
    }
    return options;
}

static void close_life(struct ring_node *at)
{
    if (at->made) {
        peer_close(&at->machine);
        follow_close(&at->follow);
    }
    at->made = false;
}

static void resume(struct ring_world *world, uint32_t node)
{
    struct ring_node *at = &world->nodes[node];
    struct recovery recovery = {0};
    struct why why = {{0}};

    CHECK(store_recover(&at->disk.disk, &recovery, &why) == ERR_OK);
    if (recovery.found && peer_resume(&at->machine, &recovery, &why) != ERR_OK)
        checker_violate(&world->base.checker, "p%u cannot resume: %s", node,
                        why.text);
    recovery_close(&recovery);
}

void ring_start(struct ring_world *world, uint32_t node, const char *contact,
                uint32_t least)
{
    const struct ring_options *options = world->options;
    const struct sim_options *run = options->run;
    struct ring_node *at = &world->nodes[node];
    struct peer_options made = {.chunks = world->base.oracle.chunks,
                                .first = at->first,
                                .end = at->end,
                                .homes = run->homes,
                                .home_count = run->home_count,
                                .least = least,
                                .small = options->small,
                                .segment = options->segment,
                                .state_segment = options->state_segment,
                                .share = SLICE_GRAIN,
                                .beat_us = run->beat_us,
                                .pulse_us = PULSE_BEATS * run->beat_us,
                                .stints = options->kept,
                                .dead_us = run->dead_us,
                                .retry_us = 5 * MS_US,
                                .retry_max_us = 200 * MS_US};

    CHECK(!at->running);
    close_life(at);
    at->life++;
    at->running = true;
    at->frozen = at->unplugged = at->finished = at->computing = false;
    at->stopping = at->flipped = false;
    at->committed = 0;
    at->saved = (struct saved){.known = false};
    at->slow = 1;
    (void)snprintf(made.name, sizeof made.name, "p%u", node);
    ring_place(node, made.place);
    (void)snprintf(made.contact, sizeof made.contact, "%s", contact);
    made.incarnation = rng_at(run->seed, node, at->life);
    made.config = hash_bytes(&run->seed, sizeof run->seed);
    made.arithmetic = world->base.arithmetic;
    made.trainer = trainer_options(world, make_scale(world, at));
    ring_lend_rooms(world, node, &made);
    CHECK(peer_init(&at->machine, &made) == ERR_OK);
    at->made = true;
    if (options->kept)
        resume(world, node);
    ring_note(world, node, '+', "starts, life %u, contact '%s'",
              (unsigned)at->life, contact);
    ring_tell(world, node, (struct event){.kind = EVENT_START});
}

static void free_held(struct ring_node *at)
{
    for (size_t i = 0; i < at->held_count; i++) {
        if (at->held[i].packet != NULL)
            mem_free(at->held[i].packet->bytes);
        mem_free(at->held[i].packet);
    }
    at->held_count = 0;
}

void ring_kill(struct ring_world *world, uint32_t node, bool unplugged)
{
    struct ring_node *at = &world->nodes[node];

    ring_note(world, node, '!', unplugged ? "unplugged" : "killed");
    ring_close_all(world, node, unplugged);
    at->running = false;
    at->unplugged = unplugged;
    free_held(at);
}

void ring_freeze(struct ring_world *world, uint32_t node, time_us for_us)
{
    struct ring_node *at = &world->nodes[node];

    ring_note(world, node, '!', "stopped");
    at->frozen = true;
    at->freeze++;
    if (for_us > 0)
        later(world, node, for_us, RING_THAW, at->freeze);
}

void ring_thaw(struct ring_world *world, uint32_t node)
{
    struct ring_node *at = &world->nodes[node];

    ring_note(world, node, '!', "goes on");
    at->frozen = false;
    for (size_t i = 0; i < at->held_count; i++) {
        struct happening again = at->held[i];

        again.at = world->base.now;
        world_push(&world->base, again);
    }
    at->held_count = 0;
    at->timer_at = world->base.now;
    later(world, node, 0, RING_TIMER, 0);
}

static void hold(struct ring_node *at, const struct happening *happening)
{
    if (at->held_count == at->held_capacity) {
        at->held = mem_grow(at->held, at->held_count, at->held_count + 1,
                            sizeof *at->held, &at->held_capacity);
        CHECK(at->held != NULL);
    }
    at->held[at->held_count++] = *happening;
}

/* --- what comes of it ----------------------------------------------------- */

static void on_computed(struct ring_world *world,
                        const struct happening *happening)
{
    struct ring_node *at = &world->nodes[happening->node];
    const uint32_t called_off = happening->number & UINT32_C(1) << 31;
    enum err err = ERR_CANCELLED;

    if (!at->computing || (happening->number & ~called_off) != at->number)
        return; /* It was told before. */
    at->computing = false;
    if (called_off == 0) /* From what lies there now. */
        err = sim_compute_judge(&world->base, &at->asked);
    ring_tell(world, happening->node,
              (struct event){.kind = EVENT_COMPUTED, .err = err});
}

static void on_measured(struct ring_world *world, uint32_t node)
{
    const struct held_out *held_out = &world->options->run->held_out;
    double loss = 0;

    CHECK(held_out->loss(held_out->context,
                         trainer_weights(&world->nodes[node].machine.trainer),
                         &loss) == ERR_OK);
    ring_tell(world, node,
              (struct event){.kind = EVENT_MEASURED, .loss = loss});
}

static void on_saved(struct ring_world *world, uint32_t node)
{
    struct ring_node *at = &world->nodes[node];

    CHECK(store_save(&at->disk.disk, at->save.bytes, at->save.size,
                     &at->saved) == ERR_OK);
    world->counted.saves++;
    if (at->save.step > world->saved_step)
        world->saved_step = at->save.step;
    ring_tell(
        world, node,
        (struct event){.kind = EVENT_CHECKPOINTED, .step = at->save.step});
}

static void deliver(struct ring_world *world, const struct happening *happening)
{
    const uint32_t node = happening->node;

    switch ((int)happening->kind) {
    case RING_TIMER:
        if (happening->at == world->nodes[node].timer_at)
            ring_tell(world, node, (struct event){.kind = EVENT_TIME});
        break;
    case RING_UP:
        ring_on_up(world, happening);
        break;
    case RING_COMPUTED:
        on_computed(world, happening);
        break;
    case RING_MEASURED:
        on_measured(world, node);
        break;
    case RING_JOURNALED:
        ring_tell(world, node, (struct event){.kind = EVENT_JOURNALED});
        break;
    case RING_SAVED:
        on_saved(world, node);
        break;
    default:
        CHECK(!"no such happening");
    }
}

static void handle(struct ring_world *world, struct happening *happening)
{
    struct ring_node *at = &world->nodes[happening->node];

    if (happening->kind == RING_FAULT || happening->kind == RING_CURE ||
        happening->kind == RING_DEADLINE || happening->kind == RING_START) {
        ring_on_fault(world, happening);
    } else if (happening->kind == RING_DIAL) {
        ring_on_dial(world, happening);
    } else if (happening->kind == RING_THAW) {
        if (at->running && at->life == happening->life && at->frozen &&
            at->freeze == happening->number)
            ring_thaw(world, happening->node);
    } else if (at->running && at->life == happening->life && at->frozen) {
        if (happening->kind != RING_TIMER) /* That is due when it goes on. */
            hold(at, happening);
    } else if (happening->kind == RING_PACKET) {
        ring_on_packet(world, happening);
    } else if (happening->kind == RING_PULSE) {
        ring_on_pulse(world, happening);
    } else if (at->running && at->life == happening->life) {
        deliver(world, happening);
    }
}

/* --- the run -------------------------------------------------------------- */

static void run(struct ring_world *world)
{
    struct world *base = &world->base;
    struct happening happening;

    while (!base->over && !base->checker.violated &&
           heap_pop(&base->heap, &happening)) {
        base->now = happening.at;
        ring_faults_script(world);
        world->events++;
        world_mix(base, (uint64_t)happening.at);
        world_mix(
            base,
            (uint64_t)happening.kind << 48 ^ (uint64_t)happening.node << 16 ^
                (happening.packet != NULL ? happening.packet->bytes[0] : 0));
        handle(world, &happening);
        if (world->events > EVENTS_MAX)
            checker_violate(&base->checker, "CHECK-R3: it goes on for ever");
        if (ring_is_over(world))
            base->over = true;
    }
}

static void cut_parts(struct ring_world *world)
{
    const struct sim_options *run = world->options->run;

    for (uint32_t i = 0; i < world->options->peers_max; i++) {
        struct ring_node *at = &world->nodes[i];

        at->end = world->base.oracle.chunks;
        if (run->home_count == 0)
            continue;
        at->first = run->homes[i % run->home_count].first;
        at->end = run->homes[i % run->home_count].end;
    }
}

static enum err open_world(struct ring_world *world, struct why *why)
{
    const struct sim_options *run = world->options->run;
    struct world *base = &world->base;
    const uint32_t dims = run->net != NULL ? neural_sums_dims(&run->net->neural)
                                           : problem_dims(run->problem);
    const uint32_t chunks =
        optim_chunks(&run->optim, dataset_chunks(run->problem->data));
    enum err err;

    base->options = run;
    base->arithmetic = hash_bytes("simulated", 9);
    err = oracle_init(&base->oracle, run->problem, dims, chunks, &run->optim,
                      run->follow ? &run->follow_shift : NULL, run->net,
                      &run->held_out);
    if (err != ERR_OK)
        return why_set(why, err, "one machine alone: %s", err_text(err));
    err = checker_init(&base->checker, &base->oracle, EXACT_BITWISE, 0, 1);
    if (err == ERR_OK)
        err = codec_room_init(&world->room, base->oracle.dims,
                              base->oracle.sum_dims, 1);
    if (err == ERR_OK)
        err = codec_room_peers(&world->room);
    if (err == ERR_OK)
        err = actions_init(&world->actions, ACTIONS_FIRST);
    if (err == ERR_OK && world->options->machines > 0)
        err = ring_open_rooms(world);
    if (err != ERR_OK)
        return why_set(why, err, "%s", err_text(err));
    world->room.packed = run->seed % 2 == 0;
    base->coordinator.options.job.brief = sim_compute_brief(base, base->brief);
    rng_init(&world->rng, run->seed ^ UINT64_C(0x72696e67));
    rng_init(&world->fault_rng, run->seed ^ UINT64_C(0x72696e676661756c));
    rng_init(&world->pulse_rng, run->seed ^ UINT64_C(0x72696e6770756c73));
    rng_init(&world->mute_rng, run->seed ^ UINT64_C(0x72696e676d757465));
    for (uint32_t i = 0; i < world->options->peers_max; i++)
        disk_model_init(&world->nodes[i].disk);
    cut_parts(world);
    return ERR_OK;
}

static void close_packets(struct ring_world *world)
{
    struct happening happening;

    while (heap_pop(&world->base.heap, &happening)) {
        if (happening.packet != NULL)
            mem_free(happening.packet->bytes);
        mem_free(happening.packet);
    }
}

static void close_world(struct ring_world *world)
{
    close_packets(world);
    ring_close_rooms(world);
    for (uint32_t i = 0; i < world->options->peers_max; i++) {
        struct ring_node *at = &world->nodes[i];

        free_held(at);
        mem_free(at->held);
        close_life(at);
        disk_model_close(&at->disk);
    }
    heap_close(&world->base.heap);
    checker_close(&world->base.checker);
    sim_evaluator_close(&world->base.evaluator);
    oracle_close(&world->base.oracle);
    actions_close(&world->actions);
    codec_room_close(&world->room);
    mem_free(world->conns);
}

static void add_stats(struct ring_world *world)
{
    struct ring_result *counted = &world->counted;

    for (uint32_t i = 0; i < world->options->peers_max; i++) {
        const struct peer_stats *stats = &world->nodes[i].machine.stats;

        counted->coordinates += stats->coordinates;
        counted->slices += stats->slices;
        counted->state_bytes += stats->state_bytes;
        counted->views += stats->views;
        counted->merges += stats->merges;
        counted->doubts += stats->doubts;
        counted->rounds += world->nodes[i].rounds;
    }
}

static void sum_up(struct ring_world *world, struct sim_result *result)
{
    const struct world *base = &world->base;

    result->finished = world->counted.finished > 0;
    result->events = world->events;
    result->steps = base->oracle.steps;
    for (uint32_t i = 0; i < world->options->peers_max; i++)
        if (result->lives < world->nodes[i].life)
            result->lives = (uint32_t)world->nodes[i].life;
    result->end_s = (double)base->now / 1e6;
    result->hash_expected = true;
    result->expected = oracle_hash(&base->oracle, base->oracle.weights);
    result->hash = result->expected;
    result->violated = base->checker.violated;
    memcpy(result->violation, base->checker.text, sizeof result->violation);
    result->trace_digest = base->digest;
    result->banned_step = UINT32_MAX;
}

enum err ring_run(const struct ring_options *options, struct sim_result *result,
                  struct ring_result *ring, struct why *why)
{
    struct ring_world *world = mem_new(1, sizeof *world);
    enum err err;

    if (world == NULL)
        return why_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    CHECK(options->peers > 0 && options->peers <= options->peers_max);
    CHECK(options->peers_max <= RING_NODES_MAX);
    *result = (struct sim_result){0};
    world->options = options;
    world->base.result = result;
    err = open_world(world, why);
    if (err == ERR_OK) {
        ring_faults_begin(world);
        run(world);
        if (!world->base.checker.violated)
            ring_check_end(world);
        add_stats(world);
        sum_up(world, result);
        if (ring != NULL)
            *ring = world->counted;
    }
    close_world(world);
    mem_free(world);
    return err;
}

/* --- a ring of what another simulation trains ----------------------------- */

bool ring_may(const struct sim_options *run)
{
    return run->problem != NULL && code_spec_bitwise(&run->code) &&
           !code_spec_products(&run->code) &&
           run->code.placement != PLACE_LOCAL && run->code.staleness == 0 &&
           run->mix.weight[FAULT_REFUSE] == 0 && !run->verify &&
           run->audit == 0 && run->fanout == 0;
}

/* From a stream of its own: other seeds stay as they were. */
bool ring_drawn(const struct sim_options *run, bool all)
{
    return (all || rng_at(run->seed, 8, 30) % 4 == 0) && ring_may(run);
}

struct ring_options ring_options_of(const struct sim_options *run)
{
    struct ring_options options = {.run = run};
    const uint64_t draw = rng_at(run->seed, 3, 77);

    options.peers =
        run->home_count > 0 ? run->home_count : (uint32_t)(1 + draw % 5);
    if (options.peers > RING_NODES_MAX - 1)
        options.peers = RING_NODES_MAX - 1;
    options.peers_max = options.peers + (uint32_t)(draw / 8 % 3);
    if (run->home_count > 0)
        options.peers = options.peers_max = run->home_count;
    if (options.peers_max > RING_NODES_MAX)
        options.peers_max = RING_NODES_MAX;
    options.least = options.peers;
    options.small = draw / 32 % 3 == 0 ? 1024 : 0;
    options.segment = draw / 128 % 2 == 0 ? 64 : 128;
    options.state_segment = 64 + (uint32_t)(draw / 256 % 1000);
    options.kept = draw / 512 % 2 == 0;
    options.machines = (uint32_t)(draw / 4096 % 3);
    options.divided = run->home_count == 0 && draw / 1024 % 4 == 0;
    options.fault_count = run->faults ? run->fault_count : 0;
    options.fault_gap_us = run->fault_gap_us;
    return options;
}
