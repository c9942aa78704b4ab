/*
 * coordinator.c - the coordinator's process: core/star/coordinator.h on a
 * modelled disk, with many lives.
 *
 * Disk jobs wait in a queue and are carried out one after the other, each some
 * time after it was asked for and some time before the machine is told, so
 * that a crash can fall on either side of it, and (disk.crash_after) into its
 * middle.
 */
#include "sim/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

#define DISK_JOB_US     1500u
#define DISK_TELL_US    200u
#define RECOVERY_OPS    8u
#define MEASURED_CHUNKS 4 /* As long as so many. */
#define AWAY_MIN_US     (20 * MS_US)
#define AWAY_US         (200 * MS_US)
#define OWNER_US        (100000 * SECOND_US) /* Faults keep them away for long. */

/* --- the disk ------------------------------------------------------------ */

static time_us some_time(struct world *world, uint64_t most_us)
{
    if (world->options->ideal)
        return 0;
    return (time_us)rng_below(&world->disk_rng, most_us + 1);
}

static void start_job(struct world *world)
{
    struct sim_coordinator *coordinator = &world->coordinator;

    if (coordinator->disk_busy || coordinator->job_count == 0)
        return;
    coordinator->disk_busy = true;
    world_push(world, (struct happening){.at = world->now +
                                               some_time(world, DISK_JOB_US),
                                         .kind = HAPPEN_DISK,
                                         .node = NODE_COORDINATOR,
                                         .life = coordinator->process.life});
}

static struct disk_job *job_at(struct sim_coordinator *coordinator,
                               uint32_t index)
{
    return &coordinator->jobs[(coordinator->job_first + index) %
                              coordinator->job_capacity];
}

static void grow_jobs(struct sim_coordinator *coordinator)
{
    const uint32_t capacity = 2 * coordinator->job_capacity + 8;
    struct disk_job *jobs = mem_new(capacity, sizeof *jobs);

    CHECK(jobs != NULL);
    for (uint32_t i = 0; i < coordinator->job_count; i++)
        jobs[i] = *job_at(coordinator, i);
    mem_free(coordinator->jobs);
    coordinator->jobs = jobs;
    coordinator->job_first = 0;
    coordinator->job_capacity = capacity;
}

/* Records of the journal are the disk's as soon as it is asked. */
static void copy_records(struct disk_job *job, const struct action *action)
{
    if (job->capacity < action->size) {
        job->bytes = mem_grow(job->bytes, 0, action->size, 1, &job->capacity);
        CHECK(job->bytes != NULL);
    }
    if (action->size > 0) /* An empty write only syncs. */
        memcpy(job->bytes, action->bytes, action->size);
}

static void add_job(struct world *world, const struct action *action)
{
    struct sim_coordinator *coordinator = &world->coordinator;
    struct disk_job *job;

    if (coordinator->job_count == coordinator->job_capacity)
        grow_jobs(coordinator);
    job = job_at(coordinator, coordinator->job_count++);
    job->lent = NULL;
    if (action->kind == ACTION_CHECKPOINT)
        job->lent = action->bytes;
    else
        copy_records(job, action);
    job->size = action->size;
    job->sync = action->sync;
    job->step = action->step;
    start_job(world);
}

static void do_job(struct world *world)
{
    struct sim_coordinator *coordinator = &world->coordinator;
    const struct disk_job *job = &coordinator->jobs[coordinator->job_first];
    struct disk *disk = &coordinator->disk.disk;
    /* Faults are addressed by operations of the disk: as many of each save. */
    struct saved last = {0};

    if (job->lent != NULL)
        coordinator->job_err = store_save(disk, job->lent, job->size, &last);
    else
        coordinator->job_err =
            store_append(disk, job->bytes, job->size, job->sync);
    if (coordinator->disk.dead) {
        world_note(world, NODE_COORDINATOR, '!', "crash inside a disk job");
        sim_coordinator_crash(world, coordinator->power, coordinator->away_us);
        return;
    }
    coordinator->disk_failed |= coordinator->job_err != ERR_OK;
    if (job->lent != NULL && coordinator->job_err == ERR_OK)
        checker_checkpointed(&world->checker, job->step);
    world_push(world, (struct happening){.at = world->now +
                                               some_time(world, DISK_TELL_US),
                                         .kind = HAPPEN_DISK_DONE,
                                         .node = NODE_COORDINATOR,
                                         .life = coordinator->process.life});
}

/* --- what the machine asks for ------------------------------------------- */

static void keep_point(struct world *world, const struct trace *trace)
{
    struct sim_result *result = world->result;
    const struct sim_options *options = world->options;
    const double t_s = (double)(world->now - world->first_step_at) / 1e6;

    result->loss = trace->value;
    if (options->commit != NULL) {
        const struct sim_step step = {
            .t_s = t_s,
            .step = world->checker.committed,
            .loss = trace->value,
            .error = trace->a == EXACT_APPROX ? truth_error(world) : 0,
            .weights = trainer_weights(&world->coordinator.machine.trainer),
        };

        options->commit(options->commit_context, &step);
    }
    if (!world->options->series)
        return;
    if (result->series_count == world->series_capacity) {
        result->series =
            mem_grow(result->series, result->series_count,
                     (size_t)result->series_count + 1, sizeof *result->series,
                     &world->series_capacity);
        CHECK(result->series != NULL);
    }
    result->series[result->series_count++] = (struct sim_point){
        .t_s = t_s, .step = world->checker.committed, .loss = trace->value};
}

static void show_trace(struct world *world, const struct trace *trace)
{
    world_mix(world, (uint64_t)trace->kind << 32 ^ trace->key.step ^
                         trace->key.view << 16);
    world_mix(world, trace->key.weights);
    if (world_tracing(world))
        world_note(world, NODE_COORDINATOR, '*',
                   "%s %s view %" PRIu64 " step %u attempt %u a %" PRIu64
                   " b %" PRIu64,
                   trace_name(trace->kind), trace->name, trace->key.view,
                   trace->key.step, trace->key.attempt, trace->a, trace->b);
    if (world->options->watch != NULL)
        world->options->watch(world->options->watch_context, trace);
    if (world->coordinator.tray.telling && trace->link >= 0)
        sim_tray_show(world, (uint32_t)trace->link);
    checker_trace(&world->checker, trace, world->msg, world->msg_conn,
                  world->msg_poisoned);
    if (trace->kind == TRACE_ROUND) {
        if (!world->stepped)
            world->first_step_at = world->now;
        world->stepped = true;
        truth_opened(world);
        faults_step_opened(world, trace->key.step);
    }
    if (trace->kind == TRACE_SWITCH && world->options->switched != NULL) {
        char text[TRACE_TEXT];

        world->options->switched(world->options->switched_context,
                                 trace_switch_text(trace, text));
    }
    if (trace->kind == TRACE_BANNED && world->result->banned_step == UINT32_MAX)
        world->result->banned_step = trace->key.step;
    if (trace->kind == TRACE_COMMIT) {
        if (trace->a == EXACT_APPROX)
            truth_check(world);
        world->last_commit_at = world->now;
        keep_point(world, trace);
    }
}

/* As the supervisor does: answer by answer. */
static void on_trace(struct world *world, const struct trace *trace)
{
    const struct member *members = world->coordinator.machine.members;

    if (trace->kind != TRACE_SUM) {
        show_trace(world, trace);
        return;
    }
    for (uint64_t i = 0; i < trace->a; i++) {
        const struct trace_answer *answer = &trace->answers[i];
        const struct trace tally = trace_tally(
            trace, answer, answer->link < 0 ? "" : members[answer->link].name);

        show_trace(world, &tally);
    }
}

/* Blocks of coded data are always shipped. */
static bool shares(const struct world *world)
{
    return world->options->shared && !code_spec_products(&world->options->code);
}

static void ship(struct world *world, uint32_t conn,
                 const struct action *action)
{
    const struct dataset *data = world->options->problem->data;

    if (shares(world))
        checker_violate(&world->checker, "shared data is shipped");
    if (world->options->own_data)
        checker_violate(&world->checker, "workers' own data is shipped");
    if (world->options->home_count > 0)
        checker_violate(&world->checker, "HOME-1: private data is shipped");
    for (uint32_t chunk = action->first; chunk < action->end; chunk++) {
        struct msg msg = {.kind = MSG_DATA, .leaf = action->leaf};

        dataset_chunk_encode(data, chunk, world->chunk_bytes);
        msg.data.chunk = chunk;
        msg.data.bytes = world->chunk_bytes;
        msg.data.size = dataset_chunk_bytes(data, chunk);
        network_send(world, conn, TO_WORKER, &msg, SPOIL_NOT);
    }
}

static void finish(struct world *world, const struct action *action)
{
    struct sim_coordinator *coordinator = &world->coordinator;

    world_note(world, NODE_COORDINATOR, '.', "finished: %s",
               action->reason == NULL ? "" : action->reason);
    /* Told of a broken disk, or asked to stop, it may end; whoever runs it
     * resumes. */
    if ((action->err == ERR_IO && coordinator->disk_failed) ||
        (action->err == ERR_CANCELLED && coordinator->stopping)) {
        coordinator->gave_up = true;
        return;
    }
    coordinator->done = true;
    world->over = true;
    if (action->err != ERR_OK)
        checker_violate(&world->checker, "CHECK-5: the run failed: %s",
                        action->reason == NULL ? err_text(action->err)
                                               : action->reason);
}

/* Computed at once, told when that would be done. */
static void judge(struct world *world, const struct action *action)
{
    struct sim_coordinator *coordinator = &world->coordinator;
    const struct computation *asked = &action->computation;

    coordinator->judge_err = sim_compute_judge(world, asked);
    world_push(world, (struct happening){.at = world->now +
                                               world->options->chunk_us *
                                                   (asked->end - asked->first),
                                         .kind = HAPPEN_JUDGED,
                                         .node = NODE_COORDINATOR,
                                         .life = coordinator->process.life});
}

/* Likewise, in the time of a few chunks. */
static void measure(struct world *world)
{
    struct sim_coordinator *coordinator = &world->coordinator;
    const struct held_out *held_out = &world->options->held_out;

    CHECK(held_out->loss(held_out->context,
                         trainer_weights(&coordinator->machine.trainer),
                         &coordinator->held_out_loss) == ERR_OK);
    world_push(world, (struct happening){.at = world->now +
                                               MEASURED_CHUNKS *
                                                   world->options->chunk_us,
                                         .kind = HAPPEN_MEASURED,
                                         .node = NODE_COORDINATOR,
                                         .life = coordinator->process.life});
}

/* The address of a peer is its number here, its key the life it is in. */
static void introduce(struct world *world, struct msg_fetch *fetch)
{
    const uint32_t conn = world->coordinator.listener.link_conn[fetch->source];
    uint32_t worker;

    if (conn == CONN_NONE)
        return; /* It broke: there is nobody to dial. */
    worker = world->conns[conn].lower;
    (void)snprintf(fetch->host, sizeof fetch->host, "%u", worker);
    memcpy(fetch->key, &world->workers[worker].process.life,
           sizeof world->workers[worker].process.life);
}

static void obey_link(struct world *world, const struct action *action)
{
    struct sim_coordinator *coordinator = &world->coordinator;
    const uint32_t link = action->link;
    uint32_t conn;

    CHECK(link < coordinator->listener.links);
    conn = coordinator->listener.link_conn[link];
    if (conn == CONN_NONE)
        return; /* It broke and the machine has not been told yet. */
    if (action->kind == ACTION_CLOSE) {
        network_close_end(world, conn, TO_COORDINATOR);
    } else if (action->kind == ACTION_SHIP &&
               coordinator->machine.options.job.products) {
        sim_block_ship(world, conn, link, action->first, action->end);
    } else if (action->kind == ACTION_SHIP) {
        ship(world, conn, action);
    } else {
        struct msg msg = action->msg;

        if (msg.kind == MSG_ROUND) {
            checker_round_sent(&world->checker, &msg.round.key,
                               &coordinator->disk);
            resized_round(world, &msg.round);
        }
        if (msg.kind == MSG_FETCH && msg.fetch.peer != 0)
            introduce(world, &msg.fetch);
        network_send(world, conn, TO_WORKER, &msg, SPOIL_NOT);
    }
}

static void obey(struct world *world, const struct action *action)
{
    switch (action->kind) {
    case ACTION_SEND:
    case ACTION_CLOSE:
    case ACTION_SHIP:
        obey_link(world, action);
        break;
    case ACTION_TIMER:
        world_set_timer(world, NODE_COORDINATOR, action->at);
        break;
    case ACTION_TRACE:
        on_trace(world, &action->trace);
        break;
    case ACTION_JOURNAL:
    case ACTION_CHECKPOINT:
        add_job(world, action);
        break;
    case ACTION_FINISH:
        finish(world, action);
        break;
    case ACTION_JUDGE:
        judge(world, action);
        break;
    case ACTION_MEASURE:
        measure(world);
        break;
    case ACTION_CONNECT:
    case ACTION_OPEN:
    case ACTION_STORE:
    case ACTION_COMPUTE:
    case ACTION_CANCEL:
    case ACTION_RECALL:
    case ACTION_FETCH:
    case ACTION_SERVE:
        CHECK(!"an action of a worker");
    }
}

/* It ended in good order.  "The state is saved" includes power cuts. */
static void go_away(struct world *world)
{
    struct sim_coordinator *coordinator = &world->coordinator;
    const bool saved = coordinator->stopping && !coordinator->disk_failed &&
                       world->checker.committed > 0;

    if (saved)
        checker_checkpointed(&world->checker, world->checker.committed);
    sim_coordinator_crash(world, false, AWAY_US);
    if (saved)
        disk_model_drop_unsynced(&coordinator->disk);
}

static void tell(struct world *world, struct event event)
{
    struct sim_coordinator *coordinator = &world->coordinator;

    event.now = event.kind == EVENT_TALLIES ? event.arrivals[0].at : world->now;
    coordinator_step(&coordinator->machine, &event, &world->actions);
    for (uint32_t i = 0; i < world->actions.count; i++)
        obey(world, &world->actions.list[i]);
    if (coordinator->done)
        world->result->stats = coordinator->machine.stats;
    if (coordinator->gave_up)
        go_away(world);
}

static void empty_tray(struct world *world)
{
    struct sim_tray *tray = &world->coordinator.tray;
    const struct msg *msg = world->msg;
    const uint32_t conn = world->msg_conn;
    const bool poisoned = world->msg_poisoned;

    if (tray->count == 0)
        return;
    tray->telling = true;
    tell(world, (struct event){.kind = EVENT_TALLIES,
                               .arrivals = tray->arrivals,
                               .arrival_count = tray->count});
    tray->telling = false;
    tray->count = 0;
    world->msg = msg;
    world->msg_conn = conn;
    world->msg_poisoned = poisoned;
}

/* Nothing overtakes what is on the tray. */
static void step(struct world *world, struct event event)
{
    empty_tray(world);
    if (world->coordinator.process.running && !world->coordinator.done)
        tell(world, event);
}

/* --- lives --------------------------------------------------------------- */

/* A crash during recovery, too, must do no harm. */
static void maybe_crash_again(struct world *world)
{
    struct sim_coordinator *coordinator = &world->coordinator;

    if (!world->options->faults || world->mending || coordinator->lives == 1 ||
        !rng_chance(&world->disk_rng, 0.1))
        return;
    coordinator->disk.crash_after =
        (uint32_t)rng_below(&world->disk_rng, RECOVERY_OPS);
    coordinator->power = rng_chance(&world->disk_rng, 0.5);
    coordinator->away_us =
        AWAY_MIN_US + (time_us)rng_below(&world->disk_rng, AWAY_US);
}

/* What was on its way to the last life may reach this one. */
static void maybe_replay(struct world *world)
{
    if (world->options->faults && !world->mending &&
        rng_chance(&world->disk_rng, 0.5))
        network_replay(world);
}

static enum err wake(struct world *world, struct why *why)
{
    struct sim_coordinator *coordinator = &world->coordinator;
    struct recovery recovery = {0};
    enum err err = store_recover(&coordinator->disk.disk, &recovery, why);

    if (err != ERR_OK)
        return err;
    checker_recovered(&world->checker, &recovery);
    resized_recovered(world, &recovery);
    world->truth.worst = 0;
    err = coordinator_init(&coordinator->machine, &coordinator->options,
                           recovery.found ? &recovery : NULL, why);
    recovery_close(&recovery);
    return err;
}

static void end_life(struct world *world, bool power)
{
    struct sim_coordinator *coordinator = &world->coordinator;

    process_end(world, &coordinator->process);
    coordinator->process.unplugged = power;
    coordinator->job_count = 0;
    coordinator->disk_busy = false;
    coordinator->tray.count = 0;
    for (uint32_t link = 0; link < coordinator->listener.links; link++) {
        const uint32_t conn = coordinator->listener.link_conn[link];

        if (conn == CONN_NONE)
            continue;
        if (power)
            network_drop_end(world, conn, TO_COORDINATOR);
        else
            network_close_end(world, conn, TO_COORDINATOR);
    }
    if (power)
        disk_model_cut_power(&coordinator->disk, &world->disk_rng);
}

void sim_coordinator_crash(struct world *world, bool power, time_us away_us)
{
    struct sim_coordinator *coordinator = &world->coordinator;

    world_note(world, NODE_COORDINATOR, '!', "%s",
               power ? "power cut" : "killed");
    coordinator_close(&coordinator->machine);
    end_life(world, power);
    world_start_later(world, NODE_COORDINATOR, away_us);
}

void sim_coordinator_start(struct world *world)
{
    struct sim_coordinator *coordinator = &world->coordinator;
    struct why why = {{0}};
    enum err err;

    process_begin(&coordinator->process);
    coordinator->lives++;
    coordinator->disk_failed = coordinator->gave_up = false;
    coordinator->stopping = false;
    disk_model_revive(&coordinator->disk);
    maybe_crash_again(world);
    maybe_replay(world);
    world_note(world, NODE_COORDINATOR, '+', "starts, life %u",
               coordinator->lives);
    err = wake(world, &why);
    if (err != ERR_OK && coordinator->disk.dead) {
        world_note(world, NODE_COORDINATOR, '!', "crash during recovery");
        end_life(world, coordinator->power);
        world_start_later(world, NODE_COORDINATOR, coordinator->away_us);
    } else if (err != ERR_OK) {
        checker_violate(&world->checker, "CHECK-4: no recovery: %s", why.text);
        end_life(world, false);
        world->over = true;
    } else {
        /* What is left of the countdown falls on the first jobs. */
        step(world, (struct event){.kind = EVENT_START});
    }
}

/* --- what happens to it -------------------------------------------------- */

static void on_packet(struct world *world, const struct happening *happening)
{
    const struct conn *conn = &world->conns[happening->conn];
    const uint32_t link = conn->link;
    struct msg msg;

    if (!network_arrives(world, happening))
        return;
    world->msg = network_decode(&world->upper, happening->packet, &msg);
    if (world->msg == NULL) {
        checker_violate(&world->checker, "wire: a message did not decode");
        return;
    }
    world->msg_conn = happening->conn;
    world->msg_poisoned = happening->packet->poisoned;
    if (!sim_tray_put(world, link)) {
        empty_tray(world); /* Which may have closed the connection. */
        if (world->conns[happening->conn].open[TO_COORDINATOR])
            step(world, (struct event){
                            .kind = EVENT_MESSAGE, .link = link, .msg = &msg});
    } else if (sim_tray_due(world)) {
        empty_tray(world);
    }
    world->msg = NULL;
    world->msg_conn = CONN_NONE;
}

static void on_link_down(struct world *world, const struct happening *happening)
{
    const uint32_t link = world->conns[happening->conn].link;

    empty_tray(world); /* It answered before it went. */
    if (!world->conns[happening->conn].open[TO_COORDINATOR])
        return;
    network_drop_end(world, happening->conn, TO_COORDINATOR);
    step(world, (struct event){.kind = EVENT_LINK_DOWN, .link = link});
}

static void on_disk_done(struct world *world)
{
    struct sim_coordinator *coordinator = &world->coordinator;
    const struct disk_job *job = &coordinator->jobs[coordinator->job_first];
    const struct event event = {.kind = job->lent != NULL ? EVENT_CHECKPOINTED
                                                          : EVENT_JOURNALED,
                                .err = coordinator->job_err,
                                .step = job->step};

    coordinator->job_first =
        (coordinator->job_first + 1) % coordinator->job_capacity;
    coordinator->job_count--;
    coordinator->disk_busy = false;
    start_job(world);
    step(world, event);
}

/* Who asks when nobody is there gets no answer, and lets it be. */
static void on_size(struct world *world, uint32_t number)
{
    struct sim_coordinator *coordinator = &world->coordinator;
    uint32_t from;

    if (!coordinator->process.running || coordinator->done)
        return;
    empty_tray(world);
    if (!coordinator->process.running || coordinator->done ||
        coordinator_resizes(&coordinator->machine, &from, NULL) != ERR_OK)
        return;
    world_note(world, NODE_COORDINATOR, '%', "size %g after step %u",
               world->options->resize[number].size, from);
    resized_asked(world, number, from);
    tell(world, (struct event){.kind = EVENT_SIZE,
                               .size = world->options->resize[number].size});
}

void sim_coordinator_on(struct world *world, const struct happening *happening)
{
    struct process *process = &world->coordinator.process;
    const bool of_life =
        happening->kind == HAPPEN_TIMER || happening->kind == HAPPEN_DISK ||
        happening->kind == HAPPEN_DISK_DONE ||
        happening->kind == HAPPEN_JUDGED ||
        happening->kind == HAPPEN_MEASURED || happening->kind == HAPPEN_STOP;

    if (of_life && (!process->running || happening->life != process->life))
        return;
    if (happening->kind == HAPPEN_TIMER) {
        if (world_timer_due(world, NODE_COORDINATOR))
            step(world, (struct event){.kind = EVENT_TIME});
    } else if (happening->kind == HAPPEN_PACKET) {
        on_packet(world, happening);
    } else if (happening->kind == HAPPEN_LINK_DOWN) {
        on_link_down(world, happening);
    } else if (happening->kind == HAPPEN_STOP) {
        world->coordinator.stopping = true;
        step(world, (struct event){.kind = EVENT_STOP});
    } else if (happening->kind == HAPPEN_SIZE) {
        on_size(world, happening->number);
    } else if (happening->kind == HAPPEN_JUDGED) {
        step(world, (struct event){.kind = EVENT_JUDGED,
                                   .err = world->coordinator.judge_err});
    } else if (happening->kind == HAPPEN_MEASURED) {
        step(world, (struct event){.kind = EVENT_MEASURED,
                                   .loss = world->coordinator.held_out_loss});
    } else if (happening->kind == HAPPEN_DISK) {
        do_job(world);
    } else {
        CHECK(happening->kind == HAPPEN_DISK_DONE);
        on_disk_done(world);
    }
}

/* --- set-up -------------------------------------------------------------- */

/* The oracle's bounds, which are no state of its loop. */
static enum err exponents(struct scale *self, const struct evaluation *what,
                          int16_t *exponent)
{
    return oracle_scale(((struct sim_scale *)self)->oracle, what, exponent);
}

static enum err make_scale(struct world *world)
{
    static const struct scale_ops ops = {.exponents = exponents};
    const struct oracle *oracle = &world->oracle;

    world->coordinator.scale = (struct sim_scale){{.ops = &ops}, oracle};
    if (oracle->net.model != NULL)
        return networked_follow(oracle->net.model, oracle->chunks,
                                &world->coordinator.follow);
    return oracle->followed.on
               ? follow_init(&world->coordinator.follow, oracle->followed.dims,
                             oracle->chunks)
               : ERR_OK;
}

static void fill_options(struct world *world)
{
    const struct sim_options *from = world->options;
    const struct oracle *oracle = &world->oracle;
    struct coordinator_options *to = &world->coordinator.options;

    *to = (struct coordinator_options){
        .job = {.id = rng_at(from->seed, 1, 1) | 1,
                .rows = from->rows,
                .chunk_rows = from->chunk_rows,
                .coded_cols = oracle->dims,
                .dims = oracle->dims,
                .chunks = oracle->chunks,
                .data = world->data_digest,
                .beat_us = from->ideal ? 0 : from->beat_us,
                .dead_us = from->dead_us,
                .pulse_us = from->watch != NULL ? SECOND_US : 0,
                .stints = from->watch != NULL},
        .vectors = 1,
        .length = oracle->dims,
        .narrow = from->net != NULL,
        .config = hash_bytes(&from->seed, sizeof from->seed),
        .arithmetic = world->arithmetic,
        .code = from->code,
        .adapt = from->adapt,
        .worst = from->worst,
        .drill = from->drill,
        .slots = from->slots,
        .links_max = world->coordinator.listener.links,
        .leaves_max = world->coordinator.leaves,
        .optim = from->optim,
        .scale = from->follow || from->net != NULL
                     ? &world->coordinator.follow.scale
                     : &world->coordinator.scale.scale,
        .largest = bounds_largest(&oracle->bounds),
        .slopes = oracle_slopes,
        .bends = oracle_bends,
        .slopes_context = &world->oracle,
        .own_data = from->own_data ? "bring the data" : NULL,
        .delay = from->delay,
        .suspect_us = from->suspect_us,
        .resend_us = from->resend_us,
        .gather_us = SECOND_US,
        .ledger.checkpoint_steps = from->checkpoint_steps,
        .ledger.checkpoint_us = 2 * SECOND_US,
        .ledger.sync = from->sync,
        .verify = from->verify,
        .audit = from->audit,
        .audit_seed = rng_at(from->seed, 2, 1),
        .homes = from->homes,
        .home_count = from->home_count,
        .owner_us = OWNER_US,
    };
    to->job.owned = from->home_count > 0;
    to->peers = from->peers;
    if (from->problem != NULL) {
        to->job.rows = from->problem->data->rows;
        to->job.chunk_rows = from->problem->data->chunk_rows;
        to->job.coded_cols = from->problem->data->cols;
        to->job.brief = sim_compute_brief(world, world->brief);
        to->vectors = problem_outputs(from->problem);
        to->length = from->problem->data->cols;
        to->job.keyed = !to->job.owned && !from->own_data;
        to->job.scattered = sampler_reach(&from->optim.sampler,
                                          dataset_chunks(from->problem->data));
        to->chunk_digests = world->chunk_digests;
        to->place = shares(world) ? "shared" : NULL;
    }
    if (code_spec_sampled(&from->code)) {
        to->job.sampled = to->job.chunks;
        to->job.chunks *= 2;
    }
    if (from->follow) {
        to->vectors = 1;
        to->length = oracle->followed.dims;
    }
    if (from->net != NULL) {
        to->vectors = 1;
        to->length = (uint32_t)from->net->neural.parameters;
    }
}

/* What the chunks are, and room for one; false if out of memory. */
static bool digest_chunks(struct world *world)
{
    const struct dataset *data;

    if (world->options->problem == NULL)
        return true;
    data = world->options->problem->data;
    world->chunk_bytes = mem_new(dataset_chunk_bytes_max(data), 1);
    world->chunk_digests =
        mem_new(dataset_chunks(data), sizeof *world->chunk_digests);
    if (world->chunk_bytes == NULL || world->chunk_digests == NULL)
        return false;
    for (uint32_t i = 0; i < dataset_chunks(data); i++) {
        dataset_chunk_encode(data, i, world->chunk_bytes);
        world->chunk_digests[i] =
            hash_bytes(world->chunk_bytes, dataset_chunk_bytes(data, i));
    }
    return true;
}

enum err sim_coordinator_init(struct world *world, struct why *why)
{
    struct sim_coordinator *coordinator = &world->coordinator;

    /* Room for half-open connections beside the living ones. */
    coordinator->listener.links = 2 * world->workers_max + 4;
    if (coordinator->listener.links > COORDINATOR_LINKS_MAX)
        coordinator->listener.links = COORDINATOR_LINKS_MAX;
    if (world->relay_count > 0)
        coordinator->leaves = coordinator->listener.links;
    if (network_listener(&coordinator->listener, coordinator->listener.links) !=
        ERR_OK)
        return why_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    if (!digest_chunks(world) || sim_tray_init(world) != ERR_OK ||
        make_scale(world) != ERR_OK)
        return why_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    disk_model_init(&coordinator->disk);
    fill_options(world);
    return ERR_OK;
}

void sim_coordinator_close(struct world *world)
{
    struct sim_coordinator *coordinator = &world->coordinator;

    if (coordinator->process.running) {
        coordinator_close(&coordinator->machine);
        process_end(world, &coordinator->process);
    }
    mem_free(coordinator->process.held);
    for (uint32_t i = 0; i < coordinator->job_capacity; i++)
        mem_free(coordinator->jobs[i].bytes);
    mem_free(coordinator->jobs);
    mem_free(coordinator->listener.link_conn);
    follow_close(&coordinator->follow);
    sim_tray_close(world);
    disk_model_close(&coordinator->disk);
}
