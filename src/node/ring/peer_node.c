/*
 * peer_node.c - events in, actions out.
 *
 * Nothing calls back from inside a call, so a step's actions are carried out to
 * the end before the next event; what the actions themselves answer at once
 * (JOURNALED, a dial without memory, a short computation) is told after them.
 */
#include "node/ring/peer_node.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "math/exact/pack.h"
#include "node/arithmetic.h"
#include "node/host/answer.h"
#include "node/host/farewell.h"
#include "node/host/keeper.h"
#include "node/host/result_file.h"
#include "node/host/self.h"
#include "node/host/trace_pipe.h"
#include "node/ring/compute.h"
#include "node/ring/lending.h"
#include "node/ring/mesh.h"
#include "node/ring/peer_say.h"
#include "node/ring/peer_status.h"
#include "node/ring/welcome.h"
#include "os/clock.h"
#include "os/log.h"
#include "os/random.h"
#include "os/run/loop.h"
#include "os/run/threads.h"
#include "os/run/wait.h"
#include "wire/codec.h"

#define ACTIONS_FIRST 256u
#define FINISH_US     (500 * MS_US)
#define TELL_US       (10 * SECOND_US)
#define POOL_DIMS     16384u /* Fewer are added up by one thread sooner. */
#define POOL_THREADS  8u
#define POOL_AWAKE_US 50    /* Then the compute thread wants the processor. */
#define HEAD_BYTES    4096u /* Of a message, beside its vector. */

struct node {
    const struct peer_node_options *options;
    struct peer core;
    struct actions actions;
    struct loop *loop;
    struct timer *timer;
    struct timer *gathering; /* The patience of a beginning. */
    struct alerts *alerts;
    struct mesh *mesh;
    struct compute *compute;
    struct pool *pool; /* For long vectors; NULL: none. */
    struct keeper keeper;
    struct trace_writer traces;
    struct self self;
    struct task *measure; /* Of held-out rows; its thread owns these two: */
    double held_out_loss;
    enum err measure_err;

    struct welcome *welcome; /* Of those who come without data. */
    uint32_t contact;        /* The next to be dialled. */
    uint64_t undialled;      /* Dials that could not begin: seats to be told
                                of. */
    time_us tell_at;         /* Nobody answered where it dials: people are
                                told then; TIME_NEVER: they were. */
    bool asked;              /* Somebody wants it to stop, ... */
    bool stopped;            /* ... and the machine was told. */
    bool finished;
    struct farewell farewell;
    enum err err; /* No result could be written. */
    struct why *why;
};

static void feed(struct node *node, const struct event *event);

/* --- what comes in -------------------------------------------------------- */

static void on_up(void *context, uint32_t number)
{
    const struct event event = {.kind = EVENT_LINK_UP, .link = number};

    feed(context, &event);
}

static void on_down(void *context, uint32_t number)
{
    const struct event event = {.kind = EVENT_LINK_DOWN, .link = number};

    feed(context, &event);
}

static void on_message(void *context, uint32_t number, const struct msg *msg)
{
    const struct event event = {
        .kind = EVENT_MESSAGE, .link = number, .msg = msg};

    feed(context, &event);
}

static void stop(struct node *node)
{
    const bool told = node->stopped;

    node->stopped = true;
    if (!told)
        feed(node, &(struct event){.kind = EVENT_STOP});
}

static size_t on_ask(void *context, const struct msg_ask *ask, bool allowed,
                     char *text, size_t capacity)
{
    struct node *node = context;
    json_t *said = peer_answer(&node->core, node->mesh, ask->what, allowed,
                               clock_now_us(), capacity);

    if (ask->what == ASK_STOP && allowed) { /* Once it has its answer. */
        node->asked = true;
        timer_at(node->timer, clock_now_us());
    }
    return answer_write(said, text, capacity);
}

static const char *on_hello(void *context, const struct msg_hello *hello,
                            struct msg_terms *terms)
{
    struct node *node = context;

    return welcome_answer(node->welcome, &node->core, hello, terms);
}

/* Only who never was in a ring has nowhere else to go. */
static void on_refused(void *context, uint32_t number, const char *why)
{
    struct node *node = context;

    if (number != PEER_DIALLED || node->core.met)
        return;
    node->err = why_set(node->why, ERR_DENIED, "%s", why);
    node->finished = true;
}

static const struct mesh_events mesh_events = {.up = on_up,
                                               .down = on_down,
                                               .message = on_message,
                                               .ask = on_ask,
                                               .hello = on_hello,
                                               .refused = on_refused};

/* Once, when it is time to. */
static void say_unreached(struct node *node, time_us now)
{
    if (node->tell_at == TIME_NEVER || now < node->tell_at)
        return;
    node->tell_at = TIME_NEVER;
    peer_say_unreached(&node->core, node->options);
}

static void on_time(void *context)
{
    struct node *node = context;
    struct event moved = {.kind = EVENT_MOVED};

    if (node->asked)
        stop(node);
    while (mesh_moved(node->mesh, &moved.link))
        feed(node, &moved);
    feed(node, &(struct event){.kind = EVENT_TIME});
    say_unreached(node, clock_now_us());
}

/* Some of those who should be there are not, or nobody is where others were:
 * it begins with those who are, alone if need be. */
static void on_gathered(void *context)
{
    struct node *node = context;

    if (node->core.started)
        return;
    node->core.options.least = 1;
    node->core.met = true;
    feed(node, &(struct event){.kind = EVENT_TIME});
}

static void on_alert(void *context)
{
    struct node *node = context;
    const struct event event = {.kind = EVENT_LEAVE};

    if (alerts_asked(node->alerts))
        stop(node);
    else
        feed(node, &event);
}

/* --- traces --------------------------------------------------------------- */

/* A step at which the supervisor kills or starts somebody does not open before
 * it has. */
static void wait_for_chaos(struct node *node, const struct trace *trace)
{
    const struct chaos *chaos = node->options->chaos;

    if (chaos == NULL || trace->kind != TRACE_ROUND ||
        !chaos_acts(chaos, trace->key.step))
        return;
    if (trace_writer_drain(&node->traces))
        wait_take(node->options->pass_fd);
}

static void do_trace(struct node *node, const struct trace *trace)
{
    peer_say_trace(trace);
    trace_writer_add(&node->traces, trace);
    wait_for_chaos(node, trace);
}

/* For those who watch: what this peer has computed. */
static void trace_own(struct node *node, const struct computed *computed)
{
    struct trace trace = {
        .now = clock_now_us(),
        .kind = TRACE_TALLY,
        .link = -1,
        .key = node->core.key,
        .b = computed->chunks,
        .answer = {.compute_us = computed->took_us, .delay_factor = 1}};

    memcpy(trace.name, node->core.options.name, NAME_SIZE);
    trace_writer_add(&node->traces, &trace);
}

/* --- computing ------------------------------------------------------------ */

static struct event computed(struct node *node)
{
    const struct computed result = compute_result(node->compute);

    if (result.err == ERR_OK)
        trace_own(node, &result);
    return (struct event){.kind = EVENT_COMPUTED,
                          .err = result.err,
                          .compute_us = result.took_us};
}

static void compute_done(void *context)
{
    const struct event event = computed(context);

    mesh_expect(((struct node *)context)->mesh, true);
    feed(context, &event);
}

/* The core changes no weight before it is told. */
static void measure(void *context)
{
    struct node *node = context;
    const struct held_out *held_out = &node->options->held_out;

    node->measure_err =
        held_out->loss(held_out->context, trainer_weights(&node->core.trainer),
                       &node->held_out_loss);
}

static void measured(void *context)
{
    struct node *node = context;
    const struct event event = {.kind = EVENT_MEASURED,
                                .loss = node->held_out_loss,
                                .err = node->measure_err};

    feed(node, &event);
}

static void checkpoint_saved(void *context)
{
    struct node *node = context;
    const struct event event = {.kind = EVENT_CHECKPOINTED,
                                .err = node->keeper.err,
                                .step = node->keeper.step};

    feed(node, &event);
}

/* --- actions -------------------------------------------------------------- */

static void give_up(struct node *node, const char *reason)
{
    node->err = why_set(node->why, ERR_NOMEM, "%s", reason);
    node->finished = true;
}

/* Whom a peer dials that has no link: one after the other. */
static bool choose_place(struct node *node, const struct action *action,
                         struct net_address *address)
{
    const struct peer_node_options *options = node->options;

    if (action->link != PEER_DIALLED)
        return net_parse(action->place, address, NULL) == ERR_OK;
    *address = options->contacts[node->contact];
    node->contact = (node->contact + 1) % options->contact_count;
    return true;
}

static void do_connect(struct node *node, const struct action *action)
{
    struct net_address address;

    if (!choose_place(node, action, &address) ||
        mesh_dial(node->mesh, action->link, &address) != ERR_OK)
        node->undialled |= UINT64_C(1) << (action->link - PEER_DIALLED);
}

static void hand_over(struct node *node, const struct run_result *result)
{
    bool on_disk = false;

    node->err = result_write(node->options->folder, node->options->spare_fd,
                             result, &on_disk, node->why);
    if (node->err == ERR_OK && !on_disk)
        log_line("%s; the result is handed over in memory", node->why->text);
}

static void do_finish(struct node *node, const struct action *action)
{
    const struct trainer *trainer = &node->core.trainer;
    uint32_t count;
    const double *const model = trainer_model(trainer, &count);
    struct run_result result = {
        .err = action->err,
        .steps = trainer->optim.step,
        .saved = trainer->ledger.saved_step,
        .outcome = trainer_outcome(trainer),
        .evaluations = trainer->optim.evaluations,
        .stats = {.views = (uint32_t)node->core.stats.views,
                  .stale = node->core.stats.stale,
                  .rollbacks = (uint32_t)node->core.stats.doubts},
        .dims = count,
    };

    say_unreached(node, TIME_NEVER);
    result.weights = mem_new(count, sizeof *result.weights);
    if (result.weights == NULL) {
        give_up(node, "out of memory at the end");
        return;
    }
    memcpy(result.weights, model, count * sizeof *result.weights);
    (void)snprintf(result.reason, sizeof result.reason, "%s", action->reason);
    hand_over(node, &result);
    mem_free(result.weights);
    node->finished = true;
}

static void carry_out(struct node *node, const struct action *action)
{
    switch ((int)action->kind) {
    case ACTION_SEND:
        mesh_send(node->mesh, action->link, &action->msg);
        return;
    case ACTION_CLOSE:
        mesh_close(node->mesh, action->link);
        return;
    case ACTION_CONNECT:
        do_connect(node, action);
        return;
    case ACTION_TIMER:
        timer_at(node->timer, action->at);
        node->self.due = action->at;
        return;
    case ACTION_TRACE:
        do_trace(node, &action->trace);
        return;
    case ACTION_COMPUTE:
        if (compute_start(node->compute, &action->computation) != ERR_OK)
            give_up(node, "not enough memory to compute");
        mesh_expect(node->mesh, compute_due(node->compute));
        return;
    case ACTION_CANCEL:
        compute_cancel(node->compute);
        return;
    case ACTION_JOURNAL:
        keeper_journal(&node->keeper, action);
        return;
    case ACTION_CHECKPOINT:
        keeper_checkpoint(&node->keeper, action);
        return;
    case ACTION_MEASURE:
        task_start(node->measure);
        return;
    case ACTION_FINISH:
        do_finish(node, action);
        return;
    default:
        CHECK(!"an action of another machine");
    }
}

/* --- steps ---------------------------------------------------------------- */

/* After a stop messages may come before the alarm.  Vitals: for each pulse. */
static void look_at_self(struct node *node, time_us now)
{
    struct pulse *const pulse = &node->core.pulse;
    const uint32_t threads = node->options->threads;

    if (now > node->self.due)
        self_woken(&node->self, now);
    if (now < pulse->due_at || now < node->core.beat_at)
        return;
    self_vitals(&node->self, threads, mesh_unsent(node->mesh), now,
                &pulse->vitals);
    pulse->vitals.cpu_us += compute_here_us(node->compute) / threads;
}

static void step(struct node *node, const struct event *event)
{
    struct event timed = *event;

    timed.now = clock_now_us();
    look_at_self(node, timed.now);
    node->actions.count = 0;
    peer_step(&node->core, &timed, &node->actions);
    for (uint32_t i = 0; i < node->actions.count; i++) {
        i += mesh_send_slices(node->mesh, &node->actions, i);
        if (i < node->actions.count)
            carry_out(node, &node->actions.list[i]);
    }
    trace_writer_look(&node->traces, timed.now, node->finished);
}

static uint32_t first_undialled(struct node *node)
{
    for (uint32_t seat = 0; seat < PEERS_MAX; seat++) {
        const uint64_t bit = UINT64_C(1) << seat;

        if ((node->undialled & bit) == 0)
            continue;
        node->undialled &= ~bit;
        return PEER_DIALLED + seat;
    }
    return PEER_NO_LINK;
}

/* What the last step's actions have answered; false: nothing more. */
static bool next_event(struct node *node, struct event *event)
{
    *event = (struct event){.kind = EVENT_JOURNALED};
    if (keeper_journaled(&node->keeper, &event->err))
        return true;
    event->kind = EVENT_LINK_DOWN;
    event->link = first_undialled(node);
    if (event->link != PEER_NO_LINK)
        return true;
    if (!compute_due(node->compute))
        return false;
    compute_here(node->compute);
    *event = computed(node);
    return true;
}

/* Let the last words out, but not for ever. */
static void begin_end(struct node *node)
{
    timer_at(node->timer, TIME_NEVER);
    timer_at(node->gathering, TIME_NEVER);
    farewell_begin(&node->farewell, mesh_end(node->mesh), node->traces.outlet,
                   FINISH_US);
}

static void feed(struct node *node, const struct event *event)
{
    struct event next = *event;

    if (farewell_begun(&node->farewell))
        return;
    compute_turn(node->compute);
    if (!node->finished) {
        do
            step(node, &next);
        while (!node->finished && next_event(node, &next));
    }
    if (node->finished)
        begin_end(node);
}

/* --- life ----------------------------------------------------------------- */

static bool lends(const struct node *node)
{
    return node->options->board != NULL && node->options->berth != BOARD_NONE;
}

/* Adding up, decoding and stepping are the loop's, and nobody computes then: a
 * peer's share of the processors may help. */
static enum err open_pool(struct node *node)
{
    const uint32_t share = threads_available() / node->options->peers;

    if (share < 2 || node->options->core.trainer.dims < POOL_DIMS)
        return ERR_OK;
    return threads_new_spinning(share < POOL_THREADS ? share : POOL_THREADS,
                                POOL_AWAKE_US, &node->pool);
}

static enum err open_core(struct node *node)
{
    const struct peer_node_options *options = node->options;
    struct peer_options core = options->core;
    struct recovery recovery = {0};
    enum err err = arithmetic_check(options->isa, node->why);

    core.incarnation = random_u64();
    if (lends(node)) {
        lending_rooms(options->board, options->berth, options->sum_dims,
                      core.rooms);
        core.stepped =
            lending_stepped(options->board, options->berth, options->sum_dims);
        board_berth_take(options->board, options->berth, core.incarnation);
    }
    core.contact[0] = '\0';
    if (options->contact_count > 0)
        (void)snprintf(core.contact, sizeof core.contact, "%u of them",
                       options->contact_count); /* choose_place has them. */
    err = err == ERR_OK ? open_pool(node) : err;
    core.trainer.pool = node->pool;
    if (err == ERR_OK)
        err = keeper_open(&node->keeper, options->folder, &recovery, node->why);
    if (err == ERR_OK)
        err = peer_init(&node->core, &core);
    if (err == ERR_OK && lends(node))
        CHECK(node->core.trainer.sum_dims == options->sum_dims);
    if (err == ERR_OK && recovery.found)
        err = peer_resume(&node->core, &recovery, node->why);
    recovery_close(&recovery);
    return err == ERR_OK ? actions_init(&node->actions, ACTIONS_FIRST) : err;
}

static enum err open_compute(struct node *node)
{
    const struct peer_node_options *options = node->options;
    const struct owned *const owned = options->owned;
    struct shelf shelf = {.data = options->data, .isa = options->isa};
    enum err err;

    if (owned != NULL)
        shelf = (struct shelf){.data = &owned->data,
                               .part = true,
                               .first = owned->first,
                               .first_row = owned->first_row,
                               .chunks = owned->chunks,
                               .isa = options->isa};
    err = compute_new(node->loop, options->brief, &shelf, options->threads,
                      compute_done, node, &node->compute);
    if (err == ERR_OK)
        CHECK(compute_chunks(node->compute) == options->core.chunks);
    return err;
}

static size_t message_max(const struct peer_options *core, uint32_t dims,
                          uint32_t sum_dims)
{
    const size_t slice = pack_bound(core->segment) + HEAD_BYTES;
    const size_t state = core->state_segment + HEAD_BYTES;
    size_t most = codec_message_max(dims, sum_dims, 0, 0);

    most = slice > most ? slice : most;
    return state > most ? state : most;
}

static enum err open_mesh(struct node *node)
{
    const struct peer_node_options *options = node->options;
    const struct trainer *trainer = &node->core.trainer;
    const struct mesh_options mesh = {
        .loop = node->loop,
        .token = options->token,
        .source = options->source,
        .events = &mesh_events,
        .context = node,
        .listen_fd = options->listen_fd,
        .plain = options->plain,
        .board = lends(node) ? options->board : NULL,
        .berth = options->berth,
        .pool = node->pool,
        .parts = options->parts,
        .dims = trainer->options.dims,
        .sum_dims = trainer->sum_dims,
        .message_max = message_max(&options->core, trainer->options.dims,
                                   trainer->sum_dims),
    };

    return mesh_new(&mesh, &node->mesh);
}

static enum err open_loop(struct node *node)
{
    const struct peer_node_options *options = node->options;
    enum err err = loop_new(&node->loop);

    /* Private rows: there is nothing that could be served from. */
    CHECK(options->owned == NULL ||
          (options->data == NULL && options->papers->view.size == 0));
    if (err == ERR_OK)
        err = timer_new(node->loop, on_time, node, &node->timer);
    if (err == ERR_OK)
        err = timer_new(node->loop, on_gathered, node, &node->gathering);
    if (err == ERR_OK)
        err = farewell_open(&node->farewell, node->loop);
    if (err == ERR_OK)
        err = alerts_new(node->loop, false, on_alert, node, &node->alerts);
    if (err == ERR_OK)
        err = keeper_start(&node->keeper, node->loop, checkpoint_saved, node);
    if (err == ERR_OK)
        err = trace_writer_open(&node->traces, node->loop, options->trace_fd,
                                options->chaos != NULL);
    if (err == ERR_OK && options->held_out.loss != NULL)
        err = task_new(node->loop, measure, measured, node, &node->measure);
    if (err == ERR_OK)
        err = welcome_new(node->loop, options->papers, options->data,
                          options->serve_host, &node->welcome);
    if (err == ERR_OK)
        err = open_compute(node);
    return err == ERR_OK ? open_mesh(node) : err;
}

static void node_close(struct node *node)
{
    compute_free(node->compute);
    task_free(node->measure);
    mesh_free(node->mesh);
    welcome_free(node->welcome);
    keeper_close(&node->keeper);
    trace_writer_close(&node->traces);
    alerts_free(node->alerts);
    timer_free(node->timer);
    timer_free(node->gathering);
    farewell_close(&node->farewell);
    loop_free(node->loop);
    peer_close(&node->core);
    threads_free(node->pool);
    actions_close(&node->actions);
    mem_free(node);
}

/* How long those of --workers are waited for at the start.  Where rows are
 * private a step waits for their owners anyway, and says for whom; and a
 * training that is over has nothing to begin.  Only whom it was told to dial
 * may have something to say first: that it is not let in. */
static time_us patience(const struct node *node)
{
    const struct peer_node_options *const options = node->options;

    if (options->owned == NULL && !trainer_done(&node->core.trainer))
        return options->gather_us;
    return options->contact_count > 0 ? options->core.dead_us : 0;
}

enum err peer_node_run(const struct peer_node_options *options, struct why *why)
{
    const struct event start = {.kind = EVENT_START};
    struct node *node = mem_new(1, sizeof *node);
    enum err err;

    if (node == NULL)
        return ERR_NOMEM;
    node->options = options;
    node->why = why;
    err = open_core(node);
    if (err == ERR_OK)
        err = open_loop(node);
    if (err == ERR_OK) {
        timer_at(node->gathering, clock_now_us() + patience(node));
        node->tell_at = clock_now_us() + TELL_US;
        self_init(&node->self, clock_now_us());
        feed(node, &start);
        loop_run(node->loop);
        err = node->err;
    }
    if (err == ERR_NOMEM)
        (void)why_set(why, err,
                      "not enough memory or threads for a peer (ulimit -v, "
                      "ulimit -u)");
    node_close(node);
    return err;
}
