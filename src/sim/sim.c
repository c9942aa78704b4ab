/*
 * sim.c - one run: build the world, let things happen, look at the end.
 */
#include "sim/sim.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "code/rules.h"
#include "math/kernel/kernel.h"
#include "sim/world.h"

#define ACTIONS_FIRST   64u      /* The list grows. */
#define SAME_TIME_MAX   1000000u /* Events at one moment. */
#define NO_COMPUTE_DIMS KERNEL_LANES

struct sim_options sim_options_default(void)
{
    return (struct sim_options){
        .chunk_us = MS_US,
        .latency_us = 100,
        .bulk_latency_us = 200,
        .jitter_us = 100,
        .beat_us = 50 * MS_US,
        .suspect_us = 300 * MS_US,
        .dead_us = 2 * SECOND_US,
        .resend_us = 500 * MS_US,
        .checkpoint_steps = 10,
        .fault_count = 60,
        .fault_gap_us = 30 * MS_US,
        .mix = fault_mix_default(),
        .settle_us = 60 * SECOND_US,
        .seed = 1,
    };
}

void sim_bring_rows(struct sim_options *options)
{
    options->own_data = true;
    options->shipped = options->kept = 0;
    options->shared = options->peers = false;
}

/* --- set-up -------------------------------------------------------------- */

static enum err shape(const struct sim_options *options, uint32_t *dims,
                      uint32_t *chunks, struct why *why)
{
    if (options->slots == 0 || options->slots > CODE_SLOTS_MAX)
        return why_set(why, ERR_SHAPE, "%u workers: 1 to %u can be simulated",
                       options->slots, CODE_SLOTS_MAX);
    if (options->optim.steps == 0)
        return why_set(why, ERR_SHAPE, "no steps to simulate");
    if (options->problem != NULL && code_spec_products(&options->code) &&
        (problem_outputs(options->problem) > 1 || options->adapt))
        return why_set(why, ERR_SHAPE,
                       "code %s gives products with one weight vector, and "
                       "nothing else",
                       options->code.name);
    CHECK(!options->follow || options->problem != NULL);
    if (options->problem != NULL) {
        *dims = options->net != NULL ? neural_sums_dims(&options->net->neural)
                                     : problem_dims(options->problem);
        *chunks = optim_chunks(&options->optim,
                               dataset_chunks(options->problem->data));
        return ERR_OK;
    }
    if (options->rows == 0 || options->chunk_rows == 0)
        return why_set(why, ERR_SHAPE,
                       "without data, rows and rows per chunk must be given");
    *dims = NO_COMPUTE_DIMS;
    *chunks = (options->rows + options->chunk_rows - 1) / options->chunk_rows;
    if (*chunks > CHUNKS_MAX)
        return why_set(why, ERR_TOOBIG, "%u chunks; there can be %u", *chunks,
                       CHUNKS_MAX);
    return ERR_OK;
}

/* What the code promises, asked of the code itself. */
static enum err code_class(const struct sim_options *options, uint32_t chunks,
                           enum exactness *class, struct why *why)
{
    struct code code;
    const enum err err =
        code_build(&code, &options->code, options->slots, chunks, why);

    if (err != ERR_OK)
        return err;
    *class = code.exactness;
    if (options->adapt && options->worst == EXACT_APPROX)
        *class = EXACT_APPROX;
    code_close(&code);
    return ERR_OK;
}

static void name_data(struct world *world)
{
    const struct problem *problem = world->options->problem;

    world->arithmetic = hash_bytes("simulated", 9);
    if (problem != NULL)
        world->data_digest = dataset_digest(problem->data);
    else
        world->data_digest = world->arithmetic;
}

/* On coded data vectors of all rows travel too. */
static uint32_t longest_vector(const struct world *world)
{
    const uint32_t rows = block_pad(world->coordinator.options.job.rows);
    const uint32_t sums = world->oracle.sum_dims;

    return code_spec_products(&world->options->code) && rows > sums ? rows
                                                                    : sums;
}

static enum err buffers(struct world *world)
{
    const uint32_t chunks = world->oracle.chunks + 1;
    const uint32_t items = chunks < SEGMENTS_MAX ? SEGMENTS_MAX : chunks;
    enum err err = actions_init(&world->actions, ACTIONS_FIRST);

    if (err == ERR_OK)
        err = codec_room_init(&world->room, world->oracle.dims,
                              longest_vector(world), items);
    if (err == ERR_OK && world->relay_count > 0)
        err = codec_room_answers(&world->room, ANSWERS_MAX);
    if (err == ERR_OK)
        err = codec_room_init(&world->bare, 0, 0, 0);
    if (err != ERR_OK)
        return err;
    world->upper = world->room;
    world->upper.packed = true;
    world->scripted =
        mem_new(world->options->script_count, sizeof *world->scripted);
    return world->scripted == NULL ? ERR_NOMEM : ERR_OK;
}

static enum err make_workers(struct world *world)
{
    const struct sim_options *options = world->options;

    world->worker_count =
        options->workers > 0 ? options->workers : options->slots;
    world->workers_max = options->workers_max > world->worker_count
                             ? options->workers_max
                             : world->worker_count;
    if (options->workers_max == 0 && options->faults)
        world->workers_max = world->worker_count + 4;
    world->workers = mem_new(world->workers_max, sizeof *world->workers);
    return world->workers == NULL ? ERR_NOMEM : ERR_OK;
}

static enum err open_world(struct world *world, struct why *why)
{
    const struct sim_options *options = world->options;
    enum exactness class = EXACT_BITWISE;
    uint32_t dims = 0;
    uint32_t chunks = 0;
    enum err err = shape(options, &dims, &chunks, why);

    if (err == ERR_OK)
        err = rules_check_code(&options->code, optim_name(options->optim.kind),
                               why);
    if (err == ERR_OK)
        err = code_class(options, chunks, &class, why);
    if (err != ERR_OK)
        return err;
    err = oracle_init(&world->oracle, options->problem, dims, chunks,
                      &options->optim,
                      options->follow ? &options->follow_shift : NULL,
                      options->net, &options->held_out);
    if (err != ERR_OK)
        return why_set(why, err, "one machine alone: %s", err_text(err));
    err = make_workers(world);
    if (err == ERR_OK)
        err = sim_relays_init(world);
    if (err == ERR_OK) {
        name_data(world);
        err = sim_coordinator_init(world, why);
    }
    if (err == ERR_OK)
        err = checker_init(
            &world->checker, &world->oracle, class, options->code.staleness,
            world->coordinator.listener.links + world->coordinator.leaves);
    world->checker.gullible = options->gullible;
    world->checker.residual_max = code_spec_residual_max(&options->code);
    world->checker.searches = options->optim.line;
    if (err == ERR_OK)
        err = buffers(world);
    if (err == ERR_OK)
        err = truth_init(world);
    if (err != ERR_OK)
        return why_set(why, err, "%s", err_text(err));
    return ERR_OK;
}

static void close_world(struct world *world)
{
    sim_coordinator_close(world);
    if (world->workers != NULL)
        sim_workers_close(world);
    sim_relays_close(world);
    network_close(world);
    heap_close(&world->heap);
    checker_close(&world->checker);
    truth_close(&world->truth);
    sim_evaluator_close(&world->evaluator);
    oracle_close(&world->oracle);
    actions_close(&world->actions);
    codec_room_close(&world->room);
    codec_room_close(&world->bare);
    mem_free(world->chunk_bytes);
    mem_free(world->chunk_digests);
    mem_free(world->scripted);
}

static void split_seed(struct world *world)
{
    struct rng root;

    rng_init(&root, world->options->seed);
    world->network_rng = rng_split(&root, 1);
    world->fault_root = rng_split(&root, 2);
    world->fault_rng = world->fault_root;
    world->disk_rng = rng_split(&root, 3);
    world->life_rng = rng_split(&root, 4);
    world->gap_rng = rng_split(&root, 5);
}

/* --- the loop ------------------------------------------------------------ */

static void begin(struct world *world)
{
    const bool ideal = world->options->ideal;

    world->msg_conn = CONN_NONE;
    world_start_later(world, NODE_COORDINATOR, 0);
    for (uint32_t i = 0; i < world->relay_count; i++)
        world_start_later(world, NODE_RELAY + i, 0);
    for (uint32_t i = 0; i < world->worker_count; i++)
        world_start_later(
            world, i,
            ideal ? 0 : (time_us)rng_below(&world->life_rng, 10 * MS_US));
    faults_begin(world);
}

static void start_node(struct world *world, uint32_t node)
{
    if (world_process(world, node)->running)
        return;
    if (node == NODE_COORDINATOR)
        sim_coordinator_start(world);
    else if (is_relay(node))
        sim_relay_start(world, node - NODE_RELAY);
    else
        sim_worker_start(world, node);
}

static void thaw_node(struct world *world, const struct happening *happening)
{
    const struct process *process = world_process(world, happening->node);

    if (process->running && happening->life == process->life &&
        happening->number == process->freeze)
        thaw(world, happening->node);
}

/* Those that a process handles itself, and so not while it is frozen. */
static bool is_for_process(uint32_t kind)
{
    return kind == HAPPEN_TIMER || kind == HAPPEN_PACKET ||
           kind == HAPPEN_LINK_UP || kind == HAPPEN_LINK_DOWN ||
           kind == HAPPEN_COMPUTED || kind == HAPPEN_RECALLED ||
           kind == HAPPEN_FETCHED || kind == HAPPEN_PEERED ||
           kind == HAPPEN_SERVING || kind == HAPPEN_DISK ||
           kind == HAPPEN_DISK_DONE || kind == HAPPEN_LEAVE ||
           kind == HAPPEN_STOP || kind == HAPPEN_SIZE ||
           kind == HAPPEN_JUDGED || kind == HAPPEN_MEASURED;
}

static void deliver(struct world *world, struct happening *happening)
{
    struct process *process = world_process(world, happening->node);

    if (process->frozen) {
        process_hold(process, happening);
        return;
    }
    if (happening->conn == CONN_GHOST && happening->packet != NULL &&
        !network_find_ghost(world, happening)) {
        network_free_packet(world, happening->packet);
        return;
    }
    process = world_process(world, happening->node);
    if (process->frozen) { /* The ghost's way leads elsewhere today. */
        process_hold(process, happening);
        return;
    }
    if (happening->node == NODE_COORDINATOR)
        sim_coordinator_on(world, happening);
    else if (is_relay(happening->node))
        sim_relay_on(world, happening);
    else
        sim_worker_on(world, happening);
    if (happening->packet != NULL)
        network_free_packet(world, happening->packet);
}

static void handle(struct world *world, struct happening *happening)
{
    if (is_for_process(happening->kind))
        deliver(world, happening);
    else if (happening->kind == HAPPEN_START)
        start_node(world, happening->node);
    else if (happening->kind == HAPPEN_DIAL)
        network_on_dial(world, happening);
    else if (happening->kind == HAPPEN_THAW)
        thaw_node(world, happening);
    else
        faults_on(world, happening);
}

/* A machine that asks for the past again and again stops time. */
static void check_time_passes(struct world *world, time_us at)
{
    world->same_time = at > world->now ? 0 : world->same_time + 1;
    if (world->same_time > SAME_TIME_MAX)
        checker_violate(&world->checker, "CHECK-5: time stands still");
}

static void run(struct world *world)
{
    struct happening happening;

    while (!world->over && !world->checker.violated &&
           heap_pop(&world->heap, &happening)) {
        CHECK(happening.at >= world->now);
        check_time_passes(world, happening.at);
        world->now = happening.at;
        world->result->events++;
        world_mix(world, (uint64_t)happening.at);
        world_mix(
            world,
            (uint64_t)happening.kind << 48 ^ (uint64_t)happening.node << 16 ^
                (happening.packet != NULL ? happening.packet->bytes[0] : 0));
        handle(world, &happening);
    }
}

/* --- the end ------------------------------------------------------------- */

static void sum_up(struct world *world)
{
    struct sim_result *result = world->result;
    const struct checker *checker = &world->checker;
    const double chunks = (double)world->oracle.chunks;

    result->steps = checker->committed;
    result->lives = world->coordinator.lives;
    result->end_s = (double)world->now / 1e6;
    result->total_s =
        (double)(world->last_commit_at - world->first_step_at) / 1e6;
    if (checker->commits > 0) {
        result->mean_step_s = result->total_s / (double)checker->commits;
        result->coverage = (double)checker->chunks_merged /
                           ((double)checker->commits * chunks);
    }
    result->hash_expected = checker->class == EXACT_BITWISE;
    result->expected = oracle_hash(&world->oracle, world->oracle.weights);
    result->violated = checker->violated;
    for (size_t i = 0; i < sizeof result->violation; i++)
        result->violation[i] = checker->text[i];
    result->trace_digest = world->digest;
}

static void keep_weights(struct world *world, const double *weights)
{
    struct sim_result *result = world->result;
    const uint32_t dims = world->oracle.dims;

    result->weights = mem_new(dims, sizeof *result->weights);
    CHECK(result->weights != NULL);
    memcpy(result->weights, weights, dims * sizeof *weights);
    result->dims = dims;
    result->hash = oracle_hash(&world->oracle, weights);
    world_mix(world, digest_short(&result->hash));
}

/* Whoever hears that the job is done may pull the plug: all is on disk. */
static void check_disk_at_end(struct world *world)
{
    struct sim_coordinator *coordinator = &world->coordinator;
    struct recovery recovery = {0};

    if (coordinator->disk_failed)
        return; /* It went on without the disk, with an alarm. */
    disk_model_drop_unsynced(&coordinator->disk);
    checker_journal(&world->checker, &coordinator->disk, true);
    disk_model_revive(&coordinator->disk);
    /* Who never made a step can begin again. */
    if (store_recover(&coordinator->disk.disk, &recovery, NULL) != ERR_OK ||
        recovery.has_checkpoint != (world->checker.committed > 0) ||
        (recovery.has_checkpoint &&
         recovery.checkpoint.step != world->checker.committed))
        checker_violate(&world->checker,
                        "CHECK-4: done, but the last state is not on disk");
    recovery_close(&recovery);
}

static void look_at_end(struct world *world)
{
    struct sim_coordinator *coordinator = &world->coordinator;

    if (coordinator->done && !world->checker.violated) {
        uint32_t count;
        const double *weights =
            trainer_model(&coordinator->machine.trainer, &count);

        world->result->finished = true;
        keep_weights(world, weights);
        checker_final(&world->checker, weights, world->checker.committed);
        checker_journal(&world->checker, &coordinator->disk, false);
        check_disk_at_end(world);
    }
    if (!coordinator->done && !world->checker.violated)
        checker_violate(&world->checker, "CHECK-5: nothing left to happen");
    if (world->checker.violated)
        world_note(world, NODE_NOBODY, 'X', "%s", world->checker.text);
}

enum err sim_run(const struct sim_options *options, struct sim_result *result,
                 struct why *why)
{
    struct world world = {.options = options, .result = result};
    enum err err;

    *result = (struct sim_result){.banned_step = UINT32_MAX};
    split_seed(&world);
    err = open_world(&world, why);
    if (err == ERR_OK) {
        begin(&world);
        run(&world);
        look_at_end(&world);
        sum_up(&world);
    }
    close_world(&world);
    return err;
}

void sim_result_close(struct sim_result *result)
{
    mem_free(result->series);
    mem_free(result->weights);
    result->series = NULL;
    result->weights = NULL;
}
