/*
 * worker.c - the workers' processes: core/worker/worker.h, computing in virtual
 * time.
 *
 * A piece takes chunks * chunk_us * slow and is computed at its end, unless it
 * has been called off by then.  Workers that are not resident keep their own
 * copy of the data they were sent and compute on that; some keep it on a disk
 * that outlives them, of which one chunk in eight goes bad.  What they fetch
 * from each other comes if the other has it, or gets it in time, and neither is
 * dead, frozen or cut off; one chunk in forty is not what it should be.
 */
#include "sim/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/product.h"

#define RETRY_US     (20 * MS_US)
#define RETRY_MAX_US (500 * MS_US)
#define MEND_US      (300 * MS_US)
#define RECALL_US    (100)
#define FETCH_US     (50)
#define STREAM_KEEPS 41u
#define STREAM_BAD   42u
#define PEER_US      (300)        /* For a chunk of a peer. */
#define PEER_LOOK_US (50 * MS_US) /* It lacks the chunk: it looks again, */
#define PEER_LOOKS   40u          /* ... so often. */
#define STREAM_WRONG (UINT64_C(43) << 32)
#define STREAM_PLACE (UINT64_C(44) << 32)
#define IN_PLACE     1u /* What an inbox is called. */

/* --- computing ----------------------------------------------------------- */

/* How often the rows are gone through; a product is half of a gradient. */
static double passes(const struct world *world, const struct computation *asked)
{
    if (evaluation_is_product(asked->what.kind))
        return .5;
    return asked->what.kind == EVALUATE_LOCAL
               ? local_steps(&world->options->optim.local, asked->step)
               : 1;
}

/* Of a whole product: that of the chunks of its block. */
static time_us duration(const struct sim_worker *worker,
                        const struct computation *asked, time_us chunk_us)
{
    struct block_shape shape;

    if (job_is_sample(&worker->machine.job, asked->first))
        return (time_us)((double)(chunk_us * (asked->end - asked->first)) *
                         asked->size);
    if (!evaluation_is_product(asked->what.kind))
        return chunk_us * (asked->end - asked->first);
    shape = product_shape(&worker->machine.job, asked->share.parts);
    return chunk_us * block_chunks(&shape) * computation_numbers(asked) /
           block_range(&shape, asked->what.kind);
}

/* Private rows of others are nowhere near. */
static void check_home(struct world *world, uint32_t index,
                       const struct computation *asked)
{
    const struct sim_options *options = world->options;
    const struct home *home;

    if (options->home_count == 0)
        return;
    home = &options->homes[index % options->home_count];
    if (asked->first < home->first || asked->end > home->end)
        checker_violate(&world->checker,
                        "HOME-1: a worker computes chunk %u, which is another "
                        "owner's",
                        asked->first);
}

static void compute(struct world *world, uint32_t index,
                    const struct action *action)
{
    struct sim_worker *worker = &world->workers[index];
    struct sim_computation *computation = &worker->computation;
    const struct computation *asked = &action->computation;
    const time_us chunk_us = (time_us)((double)world->options->chunk_us *
                                       worker->slow * passes(world, asked));

    CHECK(!computation->active);
    check_home(world, index, asked);
    sim_compute_begin(world, worker, asked);
    *computation = (struct sim_computation){
        .active = true,
        .number = computation->number + 1,
        .began_at = world->now,
        .chunk_us = chunk_us,
        .ends_at = world->now + duration(worker, asked, chunk_us),
        .in_place = action->kept != 0,
        .asked = *asked,
    };
    world_push(world, (struct happening){.at = computation->ends_at,
                                         .kind = HAPPEN_COMPUTED,
                                         .node = index,
                                         .life = worker->process.life,
                                         .number = computation->number});
}

/* Looks at CANCEL come between chunks: the one at hand is finished first. */
static void call_off(struct world *world, uint32_t index)
{
    struct sim_worker *worker = &world->workers[index];
    struct sim_computation *computation = &worker->computation;
    time_us at = world->now;

    CHECK(computation->active);
    if (computation->chunk_us > 0) {
        const time_us spent = world->now - computation->began_at;
        const time_us chunks =
            (spent + computation->chunk_us - 1) / computation->chunk_us;

        at = computation->began_at + chunks * computation->chunk_us;
    }
    computation->cancelled = true;
    computation->ends_at = at;
    computation->number++;
    world_push(world, (struct happening){.at = at,
                                         .kind = HAPPEN_COMPUTED,
                                         .node = index,
                                         .life = worker->process.life,
                                         .number = computation->number});
}

static enum err carry_out(struct world *world, struct sim_worker *worker)
{
    struct computation asked = worker->computation.asked;
    const bool cancelled = worker->computation.cancelled;
    enum err err = ERR_OK;

    /* What was called off leaves a part of the sum behind; what is none is not
     * begun. */
    if (cancelled)
        asked.end = asked.first + 1;
    if (!cancelled || (!evaluation_is_product(asked.what.kind) &&
                       asked.what.kind != EVALUATE_LOCAL))
        err = sim_compute(world, worker, &asked);
    sim_compute_end(world, worker);
    return cancelled ? ERR_CANCELLED : err;
}

/* --- what the machine asks for ------------------------------------------- */

static void open_job(struct world *world, struct sim_worker *worker)
{
    struct dataset_shape shape;

    if (worker->resident || worker->machine.job.products)
        return;
    shape = dataset_shape(world->options->problem->data);
    if (!worker->has_data)
        CHECK(dataset_init_shape(&worker->data, &shape) == ERR_OK);
    if (!worker->has_data)
        CHECK(chunkset_init(&worker->disk, dataset_chunks(&worker->data)) ==
              ERR_OK);
    worker->has_data = true;
}

static void store(struct world *world, uint32_t index,
                  const struct action *action)
{
    struct sim_worker *worker = &world->workers[index];
    const struct msg_data *data = &action->msg.data;

    if (action->share.block != 0) {
        sim_compute_store(world, worker, &action->share, data);
        return;
    }
    CHECK(worker->has_data);
    if (dataset_chunk_decode(&worker->data, data->chunk, data->bytes,
                             data->size) != ERR_OK)
        checker_violate(&world->checker, "worker cannot read chunk %u",
                        data->chunk);
    if (worker->keeps)
        chunkset_add(&worker->disk, data->chunk);
}

static void later(struct world *world, uint32_t index, time_us after_us,
                  enum happening_kind kind, uint32_t number)
{
    world_push(world,
               (struct happening){.at = world->now + after_us,
                                  .kind = kind,
                                  .node = index,
                                  .life = world->workers[index].process.life,
                                  .number = number});
}

/* In the life it was in when it was named; NODE_NOBODY if that is over. */
static uint32_t peer_index(const struct world *world,
                           const struct msg_fetch *msg)
{
    const uint32_t index = (uint32_t)strtoul(msg->host, NULL, 10);
    uint64_t life;

    memcpy(&life, msg->key, sizeof life);
    if (msg->host[0] == '\0' || index >= world->workers_max ||
        world->workers[index].process.life != life)
        return NODE_NOBODY;
    return index;
}

/* From a peer, which may be nobody. */
static void fetch_peer(struct world *world, uint32_t index,
                       const struct action *action)
{
    const struct msg_fetch *msg = &action->msg.fetch;
    const struct sim_worker *worker = &world->workers[index];

    for (uint32_t chunk = action->first; chunk < action->end; chunk++)
        world_push(world,
                   (struct happening){
                       .at = world->now + PEER_US * (chunk - action->first + 1),
                       .kind = HAPPEN_PEERED,
                       .node = index,
                       .life = worker->process.life,
                       .conn = peer_index(world, msg),
                       .number = chunk,
                       .peer = msg->peer});
}

static void fetch(struct world *world, uint32_t index,
                  const struct action *action)
{
    if (action->msg.fetch.peer != 0) {
        fetch_peer(world, index, action);
        return;
    }
    for (uint32_t chunk = action->first; chunk < action->end; chunk++)
        later(world, index, FETCH_US * (chunk - action->first + 1),
              HAPPEN_FETCHED, chunk);
}

static enum spoil spoil_of(const struct sim_worker *worker,
                           const struct msg *msg)
{
    if (worker->poison)
        return SPOIL_POISON;
    if (!worker->lies || msg->kind != MSG_TALLY ||
        (worker->lie_piece != 0 && msg->tally.piece + 1 != worker->lie_piece))
        return SPOIL_NOT;
    return worker->lie_every == 0 || (msg->tally.key.step + msg->tally.piece) %
                                             worker->lie_every ==
                                         0
               ? SPOIL_LIE
               : SPOIL_NOT;
}

/* To refuse one coded piece is to refuse the row. */
static uint32_t refused_piece(const struct worker *machine)
{
    uint32_t at = 0;

    while (at + 1 < machine->queue_count && !machine->queue[at].coded)
        at++;
    return machine->queue[at].item.id;
}

/* A rogue's word on what it has just computed. */
static struct msg refusal_of(const struct sim_worker *worker,
                             const struct msg *msg)
{
    struct msg refusal = {.kind = MSG_REFUSE};
    const bool row = msg->kind == MSG_ROW;

    refusal.refuse.key = row ? msg->row.key : msg->tally.key;
    refusal.refuse.piece =
        row ? refused_piece(&worker->machine) : msg->tally.piece;
    return refusal;
}

static void say(struct world *world, uint32_t index, const struct msg *msg)
{
    struct sim_worker *worker = &world->workers[index];
    struct msg refusal;

    if (worker->refuses && (msg->kind == MSG_TALLY || msg->kind == MSG_ROW)) {
        refusal = refusal_of(worker, msg);
        msg = &refusal;
    }
    if (worker->caller.conn == CONN_NONE ||
        !world->conns[worker->caller.conn].open[TO_WORKER])
        return; /* It broke and the machine has not been told yet. */
    if (msg->kind == MSG_TALLY)
        checker_answer(&world->checker, worker->machine.options.name,
                       &msg->tally.key, &worker->view_answered);
    if (msg->kind == MSG_ROW)
        checker_answer(&world->checker, worker->machine.options.name,
                       &msg->row.key, &worker->view_answered);
    network_send(world, worker->caller.conn, TO_COORDINATOR, msg,
                 spoil_of(worker, msg));
}

static void hang_up(struct world *world, struct sim_worker *worker)
{
    const uint32_t conn = worker->caller.conn;

    worker->caller.conn = CONN_NONE;
    if (conn != CONN_NONE)
        network_close_end(world, conn, TO_WORKER);
}

static void obey(struct world *world, uint32_t index,
                 const struct action *action, bool *ended)
{
    struct sim_worker *worker = &world->workers[index];

    switch (action->kind) {
    case ACTION_SEND:
        say(world, index, &action->msg);
        break;
    case ACTION_CLOSE:
        hang_up(world, worker);
        break;
    case ACTION_TIMER:
        world_set_timer(world, index, action->at);
        break;
    case ACTION_CONNECT:
        network_dial(world, index, sim_relay_for(world, index));
        break;
    case ACTION_OPEN:
        open_job(world, worker);
        break;
    case ACTION_STORE:
        store(world, index, action);
        break;
    case ACTION_COMPUTE:
        compute(world, index, action);
        break;
    case ACTION_CANCEL:
        call_off(world, index);
        break;
    case ACTION_FINISH:
        world_note(world, index, '-', "ends: %s",
                   action->reason == NULL ? "" : action->reason);
        *ended = true;
        worker->rejected += action->err == ERR_DENIED;
        break;
    case ACTION_TRACE:
        break;
    case ACTION_RECALL:
        later(world, index, RECALL_US, HAPPEN_RECALLED, 0);
        break;
    case ACTION_FETCH:
        fetch(world, index, action);
        break;
    case ACTION_SERVE:
        later(world, index, RECALL_US, HAPPEN_SERVING, 0);
        break;
    case ACTION_SHIP:
    case ACTION_JOURNAL:
    case ACTION_CHECKPOINT:
    case ACTION_JUDGE:
    case ACTION_MEASURE:
        CHECK(!"an action of the coordinator");
    }
}

/* --- lives --------------------------------------------------------------- */

static void end_life(struct world *world, uint32_t index)
{
    struct sim_worker *worker = &world->workers[index];

    worker->computation.active = false;
    worker->inbox.full_until = 0;
    worker_close(&worker->machine);
    sim_evaluator_close(&worker->evaluator);
    process_end(world, &worker->process);
    if (world->mending)
        world_start_later(world, index, MEND_US);
}

static void step(struct world *world, uint32_t index, struct event event)
{
    struct sim_worker *worker = &world->workers[index];
    bool ended = false;
    bool left;

    event.now = world->now;
    worker_step(&worker->machine, &event, &world->actions);
    for (uint32_t i = 0; i < world->actions.count; i++)
        obey(world, index, &world->actions.list[i], &ended);
    if (!ended)
        return;
    left = worker->machine.leaving;
    hang_up(world, worker);
    end_life(world, index);
    if (!left) /* Sent home: whoever runs it starts it again. */
        world_start_later(world, index, MEND_US);
}

void sim_worker_crash(struct world *world, uint32_t index, bool unplugged)
{
    struct sim_worker *worker = &world->workers[index];

    world_note(world, index, '!', "%s", unplugged ? "power cut" : "killed");
    if (!unplugged)
        hang_up(world, worker);
    else if (worker->caller.conn != CONN_NONE)
        network_drop_end(world, worker->caller.conn, TO_WORKER);
    worker->caller.conn = CONN_NONE;
    end_life(world, index);
    worker->process.unplugged = unplugged;
}

static void own_home(const struct home *home, struct worker_options *made)
{
    made->owns = true;
    made->part = home->part;
    made->own_first = home->first;
    made->own_end = home->end;
}

void sim_worker_start(struct world *world, uint32_t index)
{
    struct sim_worker *worker = &world->workers[index];
    const struct sim_options *options = world->options;
    struct worker_options made = {
        .pid = index + 1,
        .arithmetic = world->arithmetic,
        .retry_us = RETRY_US,
        .retry_max_us = RETRY_MAX_US,
        .give_up_us = TIME_NEVER,
    };

    if (!worker->exists) {
        worker->exists = true;
        worker->resident = options->problem == NULL ||
                           !rng_chance(&world->life_rng, options->shipped) ||
                           options->home_count > 0 || options->own_data;
        worker->keeps = !worker->resident &&
                        rng_at(options->seed, STREAM_KEEPS, index) % 1000 <
                            (uint64_t)(options->kept * 1000);
        worker->in_place = rng_at(options->seed, STREAM_PLACE, index) % 1000 <
                           (uint64_t)(options->in_place * 1000);
    }
    process_begin(&worker->process);
    worker->poison = false;
    worker->lies = false;
    worker->refuses = false;
    worker->slow = 1;
    worker->view_answered = 0;
    worker->caller.conn = CONN_NONE;
    if (worker->has_data)
        chunkset_clear(&worker->data.present);
    made.resident = worker->resident && options->home_count == 0;
    made.keeps = worker->keeps || options->shared;
    if (worker->resident)
        made.data = world->data_digest;
    if (options->home_count > 0)
        own_home(&options->homes[index % options->home_count], &made);
    made.incarnation = rng_next(&world->life_rng) | 1;
    if (worker->rejected == 0)
        (void)snprintf(made.name, sizeof made.name, "w%u", index);
    else
        (void)snprintf(made.name, sizeof made.name, "w%u-%u", index,
                       worker->rejected);
    worker_init(&worker->machine, &made);
    world_note(world, index, '+', "starts%s",
               worker->resident ? "" : " without data");
    step(world, index, (struct event){.kind = EVENT_START});
}

uint32_t sim_worker_spare(const struct world *world)
{
    for (uint32_t i = 0; i < world->workers_max; i++) {
        const struct sim_worker *worker = &world->workers[i];

        if (!worker->exists && !worker->process.has_life_to_come)
            return i;
    }
    return NODE_NOBODY;
}

void sim_workers_close(struct world *world)
{
    for (uint32_t i = 0; i < world->workers_max; i++) {
        struct sim_worker *worker = &world->workers[i];

        if (worker->process.running) {
            worker_close(&worker->machine);
            process_end(world, &worker->process);
        }
        mem_free(worker->process.held);
        if (worker->has_data)
            dataset_close(&worker->data);
        chunkset_close(&worker->disk);
        mem_free(worker->inbox.vectors);
        mem_free(worker->inbox.exponent);
        sim_evaluator_close(&worker->evaluator);
    }
    mem_free(world->workers);
    world->workers = NULL;
}

/* --- what happens to them ------------------------------------------------ */

/* One buffer: what arrives is written over what was there. */
static void put_in_place(struct sim_worker *worker, struct msg_round *round)
{
    const struct job *job = &worker->machine.job;
    const size_t dims = round->dims;
    struct inbox *inbox = &worker->inbox;

    if (inbox->vectors == NULL) {
        inbox->vectors = mem_new(2 * (size_t)job->dims, sizeof(double));
        inbox->exponent =
            mem_new((size_t)job->sum_dims + 1, sizeof *inbox->exponent);
        CHECK(inbox->vectors != NULL && inbox->exponent != NULL);
    }
    memcpy(inbox->vectors, round->weights, dims * sizeof(double));
    round->weights = inbox->vectors;
    if (round->direction != NULL) {
        memcpy(inbox->vectors + dims, round->direction, dims * sizeof(double));
        round->direction = inbox->vectors + dims;
    }
    memcpy(inbox->exponent, round->exponent,
           evaluation_exponents(round->kind, round->dims) *
               sizeof *inbox->exponent);
    round->exponent = inbox->exponent;
    round->kept = IN_PLACE;
    round->kept_scale = true;
}

/* A ROUND finds the inbox in use: it waits for that, and all bulk behind it. */
static bool must_wait(struct world *world, uint32_t index,
                      const struct msg *msg)
{
    struct sim_worker *worker = &world->workers[index];
    const struct sim_computation *computation = &worker->computation;
    time_us until;

    if (world->now < worker->inbox.full_until)
        return true;
    if (msg->kind != MSG_ROUND)
        return false;
    step(world, index,
         (struct event){.kind = EVENT_COMING, .key = &msg->round.key});
    if (!worker_stays(&worker->machine) || !computation->in_place)
        return false;
    until = worker->machine.holding ? worker->machine.release_at
                                    : computation->ends_at;
    worker->inbox.full_until = until > world->now ? until : world->now + 1;
    return true;
}

static void on_packet(struct world *world, const struct happening *happening)
{
    const uint32_t index = happening->node;
    struct sim_worker *worker = &world->workers[index];
    const bool open = worker->machine.open;
    struct msg msg;

    if (!network_arrives(world, happening))
        return;
    if (network_decode(open ? &world->room : &world->bare, happening->packet,
                       &msg) == NULL) {
        if (open)
            checker_violate(&world->checker, "wire: a message did not decode");
        return;
    }
    if (worker->in_place && open && !worker->machine.job.products &&
        msg_is_bulk(msg.kind)) {
        if (must_wait(world, index, &msg)) {
            network_put_off(world, happening, worker->inbox.full_until);
            return;
        }
        if (msg.kind == MSG_ROUND)
            put_in_place(worker, &msg.round);
    }
    step(world, index, (struct event){.kind = EVENT_MESSAGE, .msg = &msg});
}

static void on_link(struct world *world, const struct happening *happening)
{
    const uint32_t index = happening->node;
    struct sim_worker *worker = &world->workers[index];
    struct conn *conn = &world->conns[happening->conn];

    if (!worker->process.running || happening->life != worker->process.life ||
        worker->caller.conn != happening->conn)
        return;
    if (happening->kind == HAPPEN_LINK_DOWN)
        worker->caller.tries = worker->machine.phase == WORKER_SERVING
                                   ? 0
                                   : worker->caller.tries + 1;
    if (happening->kind == HAPPEN_LINK_UP) {
        conn->open[TO_WORKER] = true;
        step(world, index, (struct event){.kind = EVENT_LINK_UP});
    } else {
        conn->open[TO_WORKER] = false;
        worker->caller.conn = CONN_NONE;
        step(world, index, (struct event){.kind = EVENT_LINK_DOWN});
    }
}

static void on_recalled(struct world *world, uint32_t index)
{
    struct sim_worker *worker = &world->workers[index];

    if (world->options->shared)
        chunkset_fill(&worker->disk);
    step(world, index,
         (struct event){.kind = EVENT_RECALLED, .near = &worker->disk});
}

/* One chunk in eight of a worker's disk is bad, until it is sent again. */
static bool is_bad(const struct world *world, uint32_t index, uint32_t chunk)
{
    return !world->options->shared &&
           rng_at(world->options->seed, STREAM_BAD + index, chunk) % 8 == 0;
}

static void on_fetched(struct world *world, uint32_t index, uint32_t chunk)
{
    struct sim_worker *worker = &world->workers[index];
    const struct dataset *data = world->options->problem->data;
    struct event event = {
        .kind = EVENT_FETCHED, .chunk = chunk, .end = chunk + 1};

    if (is_bad(world, index, chunk)) {
        event.err = ERR_MISMATCH;
        chunkset_remove(&worker->disk, chunk);
    } else {
        dataset_chunk_encode(data, chunk, world->chunk_bytes);
        CHECK(dataset_chunk_decode(&worker->data, chunk, world->chunk_bytes,
                                   dataset_chunk_bytes(data, chunk)) == ERR_OK);
    }
    step(world, index, event);
}

static bool is_cut(const struct world *world, const struct sim_worker *worker)
{
    return worker->caller.cut_until[TO_WORKER] > world->now ||
           worker->caller.cut_until[TO_COORDINATOR] > world->now;
}

/* Can the worker be spoken to by its peers? */
static bool answers(const struct world *world, const struct sim_worker *worker)
{
    return worker->process.running && !worker->process.frozen &&
           worker->has_data && !is_cut(world, worker);
}

static bool is_wrong(const struct world *world, uint32_t source, uint32_t chunk)
{
    return rng_at(world->options->seed, STREAM_WRONG + source, chunk) % 40 == 0;
}

static void take_chunk(struct world *world, struct sim_worker *worker,
                       uint32_t chunk)
{
    const struct dataset *data = world->options->problem->data;

    dataset_chunk_encode(data, chunk, world->chunk_bytes);
    CHECK(dataset_chunk_decode(&worker->data, chunk, world->chunk_bytes,
                               dataset_chunk_bytes(data, chunk)) == ERR_OK);
    if (worker->keeps)
        chunkset_add(&worker->disk, chunk);
}

/* The chunk comes, is waited for, or does not come. */
static void on_peered(struct world *world, const struct happening *happening)
{
    struct sim_worker *worker = &world->workers[happening->node];
    const struct sim_worker *source = happening->conn < world->workers_max
                                          ? &world->workers[happening->conn]
                                          : NULL;
    const uint32_t chunk = happening->number;
    struct event event = {.kind = EVENT_FETCHED,
                          .chunk = chunk,
                          .end = chunk + 1,
                          .peer = happening->peer};

    if (source == NULL || !answers(world, source) || is_cut(world, worker)) {
        event.err = ERR_CLOSED;
    } else if (!chunkset_has(&source->data.present, chunk)) {
        struct happening again = *happening;

        again.at = world->now + PEER_LOOK_US;
        again.looks++;
        event.err = ERR_TIMEOUT;
        if (again.looks <= PEER_LOOKS) {
            world_push(world, again);
            return;
        }
    } else if (is_wrong(world, happening->conn, chunk)) {
        event.err = ERR_MISMATCH;
    } else {
        take_chunk(world, worker, chunk);
    }
    step(world, happening->node, event);
}

static void on_computed(struct world *world, const struct happening *happening)
{
    struct sim_worker *worker = &world->workers[happening->node];
    struct sim_computation *computation = &worker->computation;
    struct event event = {.kind = EVENT_COMPUTED};

    if (!computation->active || happening->number != computation->number)
        return;
    event.err = carry_out(world, worker);
    event.compute_us = world->now - computation->began_at;
    computation->active = false;
    step(world, happening->node, event);
}

void sim_worker_on(struct world *world, const struct happening *happening)
{
    const uint32_t index = happening->node;
    struct sim_worker *worker = &world->workers[index];
    const bool alive =
        worker->process.running && happening->life == worker->process.life;

    if (happening->kind == HAPPEN_PACKET) {
        on_packet(world, happening);
    } else if (happening->kind == HAPPEN_LINK_UP ||
               happening->kind == HAPPEN_LINK_DOWN) {
        on_link(world, happening);
    } else if (!alive) {
        return;
    } else if (happening->kind == HAPPEN_TIMER) {
        if (world_timer_due(world, index))
            step(world, index, (struct event){.kind = EVENT_TIME});
    } else if (happening->kind == HAPPEN_COMPUTED) {
        on_computed(world, happening);
    } else if (happening->kind == HAPPEN_RECALLED) {
        on_recalled(world, index);
    } else if (happening->kind == HAPPEN_FETCHED) {
        on_fetched(world, index, happening->number);
    } else if (happening->kind == HAPPEN_PEERED) {
        on_peered(world, happening);
    } else if (happening->kind == HAPPEN_SERVING) {
        step(world, index, (struct event){.kind = EVENT_SERVING, .port = 1});
    } else {
        CHECK(happening->kind == HAPPEN_LEAVE);
        step(world, index, (struct event){.kind = EVENT_LEAVE});
    }
}
