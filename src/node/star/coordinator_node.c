/*
 * coordinator_node.c - events in, actions out.
 *
 * Nothing in os/net/link calls back from inside a call (LINK-1), so a step's
 * actions are carried out to the end before the next event; only what the
 * actions themselves answer at once (JOURNALED) is kept in a short queue.
 */
#include "node/star/coordinator_node.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/link/greeting.h"
#include "node/host/answer.h"
#include "node/host/farewell.h"
#include "node/host/keeper.h"
#include "node/host/reject_log.h"
#include "node/host/result_file.h"
#include "node/host/session.h"
#include "node/host/strips.h"
#include "node/host/trace_pipe.h"
#include "node/star/judge.h"
#include "node/star/peer_keys.h"
#include "node/star/standing.h"
#include "node/star/status.h"
#include "node/star/tray.h"
#include "node/star/why_slow.h"
#include "os/clock.h"
#include "os/log.h"
#include "os/net/link.h"
#include "os/run/listener.h"
#include "os/run/loop.h"
#include "os/run/threads.h"
#include "os/run/wait.h"
#include "wire/codec.h"
#include "wire/roll_codec.h"

#define ACTIONS_FIRST 256u
#define SPARE_MEMORY  (2u << 20)
#define FINISH_US     (500 * MS_US)
#define POOL_DIMS     4096u /* Fewer are added up by one thread sooner. */
#define POOL_THREADS  8u
#define POOL_SPARE    2u /* Processors for its disk, trace and the rest. */
#define POOL_LONG     (1u << 19) /* Workers sleep while more are added up. */
/* How long its threads stay awake.  With long vectors the workers are woken
 * then and find their processors taken: 3.0 ms a step instead of 2.8. */
#define POOL_AWAKE_US      300
#define POOL_AWAKE_LONG_US 50
#define ROLL_SCHEMA_BYTES  (512u + ROLL_LABELS_MAX * 8u)

struct node {
    const struct coordinator_node_options *options;
    struct coordinator core;
    struct actions actions;
    struct loop *loop;
    struct timer *timer; /* The core's. */
    struct alerts *alerts;
    struct link_hub *hub;
    struct trace_writer traces;
    struct session **sessions; /* By the core's link; NULL = free. */
    struct session *relays;    /* Those of relays. */
    bool in_bundle;            /* More of it is to come before we answer. */
    bool strips;               /* There are strips to be shipped ... */
    uint64_t strip_passes;     /* ... as were some before. */
    struct codec_room room;
    struct posting posting;
    struct pool *pool;     /* For long vectors; NULL: none. */
    uint32_t *berth_index; /* Of the last session of each berth. */
    struct listener *bell; /* NULL: no notes. */
    struct tray tray;
    struct envelope envelope;
    size_t message_max;
    size_t sum_max; /* The same, of a relay. */
    time_us now;    /* Of the event at hand, ... */
    uint32_t step;  /* ... and of the round that it came in. */

    struct keeper keeper;  /* Journal and checkpoints. */
    time_us checkpoint_at; /* When the last one was begun. */

    struct judge_thread *judge; /* NULL: nothing is compared. */
    struct task *measure; /* Of held-out rows; its thread owns these two: */
    double held_out_loss;
    enum err measure_err;
    struct reject_log rejects;
    struct standing standing;

    bool finished;
    struct farewell farewell;
    enum err err; /* No result could be written. */
    struct why *why;
};

static void feed(struct node *node, const struct event *event);
static void tell(struct node *node, const struct event *event);
static void step(struct node *node, const struct event *event);

/* Sessions. */

static void relay_forget(struct node *node, const struct session *session)
{
    for (struct session **at = &node->relays; *at != NULL; at = &(*at)->next) {
        if (*at == session) {
            *at = session->next;
            return;
        }
    }
}

static void session_drop(struct node *node, struct session *session)
{
    session_flush(session);
    relay_forget(node, session);
    if (session->index != SESSION_NO_INDEX)
        node->sessions[session->index] = NULL;
    link_set_user(session->link, NULL);
    link_close(session->link);
    session_free(session);
}

/* The peer broke a rule or we cannot serve it: as if its socket had failed. */
static void session_break(struct node *node, struct session *session)
{
    const uint32_t index = session->index;
    const struct event event = {.kind = EVENT_LINK_DOWN, .link = index};

    session_drop(node, session);
    if (index != SESSION_NO_INDEX)
        feed(node, &event);
}

static uint32_t free_index(const struct node *node)
{
    const uint32_t most = node->options->core.links_max;

    for (uint32_t i = 0; i < most; i++) {
        if (node->sessions[i] == NULL)
            return i;
    }
    return SESSION_NO_INDEX;
}

/* Both sides are told: the peer by its REJECT, whoever reads our log here;
 * once, where one machine comes with the same from ever other ports, as whoever
 * starts its dead again would have it. */
static void log_refusal(struct node *node, const struct session *session,
                        const char *reason)
{
    const char *const address = link_address(session->link);
    const char *const port = strrchr(address, ':');
    char text[NET_TEXT_SIZE + REASON_SIZE + 32], what[sizeof text];

    (void)snprintf(text, sizeof text, "%s was turned away: %s", address,
                   reason);
    (void)snprintf(what, sizeof what, "%.*s: %s",
                   port == NULL ? 0 : (int)(port - address), address, reason);
    reject_log_once(&node->rejects, clock_now_us(), what, text);
}

static void reject(struct node *node, struct session *session,
                   const char *reason)
{
    struct msg msg = {.kind = MSG_REJECT};

    log_refusal(node, session, reason);
    (void)snprintf(msg.reject.reason, sizeof msg.reject.reason, "%s", reason);
    (void)!session_send(session, &node->posting, &node->envelope, &msg);
    session_drop(node, session);
}

/* Is it a worker that shares the board?  Whoever had the berth before is gone,
 * or dialled anew: what its old link still says of answers there is void. */
static void find_berth(struct node *node, struct session *session,
                       uint64_t incarnation)
{
    struct board *board = node->posting.board;
    const uint32_t berth = board != NULL && incarnation != 0
                               ? board_berth_find(board, incarnation)
                               : BOARD_NONE;

    if (berth == BOARD_NONE)
        return;
    for (uint32_t i = 0; i < node->options->core.links_max; i++) {
        if (node->sessions[i] != NULL && node->sessions[i]->berth == berth)
            node->sessions[i]->berth = BOARD_NONE;
    }
    board_berth_reset(board, berth);
    session->berth = berth;
    node->berth_index[berth] = session->index;
}

static void hello(struct node *node, struct session *session,
                  const struct msg *msg)
{
    const uint32_t index = free_index(node);
    struct event event = {.kind = EVENT_MESSAGE, .msg = msg};

    if (!link_may_be(session->link, msg->hello.name)) {
        reject(node, session, "the token is another worker's; use its name");
        return;
    }
    if (index == SESSION_NO_INDEX ||
        session_open(session, index, job_shards(&node->core.options.job)) !=
            ERR_OK) {
        reject(node, session,
               "the coordinator has no room for one more worker");
        return;
    }
    node->sessions[index] = session;
    find_berth(node, session, msg->hello.incarnation);
    link_trust(session->link, node->message_max);
    event.link = index;
    feed(node, &event);
}

/* It brings workers, and vouches for each with its own token. */
static void relay(struct node *node, struct session *session,
                  const struct msg *msg)
{
    const uint32_t index = free_index(node);
    struct event event = {.kind = EVENT_MESSAGE, .link = index, .msg = msg};

    if (!link_may_be(session->link, TOKEN_CLUSTER)) {
        reject(node, session, "a relay needs the cluster token");
        return;
    }
    if (index == SESSION_NO_INDEX || session_bundle(session) != ERR_OK ||
        session_open(session, index, job_shards(&node->core.options.job)) !=
            ERR_OK) {
        reject(node, session, "the coordinator has no room for one more relay");
        return;
    }
    node->sessions[index] = session;
    session->next = node->relays;
    node->relays = session;
    link_trust(session->link, node->sum_max);
    feed(node, &event);
}

static time_us deaf(void *context, uint32_t link)
{
    const struct node *node = context;
    const uint32_t via = node->core.members[link].via;
    const struct session *session = node->sessions[via > 0 ? via - 1 : link];

    return session == NULL ? 0 : link_deaf_us(session->link);
}

/* Once it is in the journal, or why it is not. */
static json_t *resize(struct node *node, double size, bool allowed)
{
    const struct event event = {.kind = EVENT_SIZE, .size = size};
    struct why why = {{0}};
    uint32_t step;

    if (!allowed)
        return answer_not_allowed("change");
    if (node->options->core.passing) /* Others are compared with it. */
        return json_pack("{s:s}", "error",
                         "this is one training of a search, and all of them "
                         "have the size that was asked for");
    if (coordinator_resizes(&node->core, &step, &why) != ERR_OK)
        return json_pack("{s:s}", "error", why.text);
    feed(node, &event);
    if (node->core.trainer.ledger.broken)
        return json_pack("{s:s}", "error",
                         "the journal cannot be written, and a change must be "
                         "durable before it is used");
    return json_pack("{s:f, s:I}", "size", size, "step", (json_int_t)step);
}

static void answer(struct node *node, struct session *session,
                   const struct msg_ask *ask)
{
    static char text[STATUS_SIZE];
    const struct event event = {.kind = EVENT_STOP};
    const bool stop = ask->what == ASK_STOP;
    const bool allowed = link_may_be(session->link, TOKEN_CLUSTER);
    struct msg msg = {.kind = MSG_STATUS, .status = {.text = text}};
    json_t *said;

    if (stop)
        said = answer_stop(allowed, node->core.trainer.optim.step);
    else if (ask->what == ASK_SIZE)
        said = resize(node, ask->size, allowed);
    else if (ask->what == ASK_WHY)
        said =
            why_slow_json(&node->core, clock_now_us(), deaf, node, sizeof text);
    else
        said = status_json(&node->core, clock_now_us(), sizeof text);
    msg.status.size = answer_write(said, text, sizeof text);
    if (stop && allowed)
        feed(node, &event);
    (void)!session_send(session, &node->posting, &node->envelope, &msg);
    session_drop(node, session);
}

/* An owner of private data that comes later, or again: its place is known. */
static void answer_offer(struct node *node, struct session *session,
                         const uint8_t *data, size_t size)
{
    const struct parts *parts = node->options->parts;
    uint8_t bytes[ROLL_SCHEMA_BYTES];
    struct roll_msg msg;
    struct roll_msg back = {.kind = ROLL_NO};
    const char *no = NULL;
    uint32_t home = 0;

    if (roll_codec_decode(data, size, &msg) != ERR_OK || msg.kind != ROLL_OFFER)
        no = "it sent what is no message";
    else if (!link_may_be(session->link, msg.offer.name))
        no = "the token is another worker's; use its name";
    else if (parts == NULL)
        no = "this run sends its rows to its workers; leave out "
             "--data-private to join it";
    else if ((home = parts_find(parts, &msg.offer.part)) == parts->count)
        no = "this run has begun, with other files; wait for the next, or "
             "raise the number that --owners has there";
    if (no == NULL) {
        back.kind = ROLL_SCHEMA;
        back.schema = parts_schema(parts, home, true);
    } else {
        log_refusal(node, session, no);
        (void)snprintf(back.no.reason, sizeof back.no.reason, "%s", no);
    }
    link_send(session->link, PLANE_CONTROL, bytes,
              roll_codec_encode(&back, bytes));
    session_drop(node, session);
}

static void first_message(struct node *node, struct session *session,
                          const struct msg *msg)
{
    if (greeting_foreign(msg) != NULL) /* Its name was not read. */
        reject(node, session, greeting_foreign(msg));
    else if (msg->kind == MSG_HELLO)
        hello(node, session, msg);
    else if (msg->kind == MSG_RELAY)
        relay(node, session, msg);
    else if (msg->kind == MSG_ASK)
        answer(node, session, &msg->ask);
    else
        session_drop(node, session);
}

/* What the links report. */

static void on_up(void *context, struct link *link)
{
    struct node *node = context;
    struct session *session = session_new(link);

    if (session == NULL || node->finished) {
        if (session != NULL)
            session_free(session);
        link_close(link);
        return;
    }
    link_set_user(link, session);
}

static void no_message(struct node *node, struct session *session)
{
    log_refusal(node, session, "it sent what is no message");
    session_break(node, session);
}

/* Tell the core what is on the tray; before anything else is. */
static void empty_tray(struct node *node)
{
    const struct event event = {.kind = EVENT_TALLIES,
                                .arrivals = node->tray.arrivals,
                                .arrival_count = node->tray.count};

    if (node->tray.count == 0)
        return;
    tell(node, &event);
    tray_clear(&node->tray, node->posting.board);
}

/* A TALLY whose sums lie on the board; the core reads each of them once. */
static void on_posted(struct node *node, struct session *session,
                      const uint8_t *data, size_t size)
{
    struct tray_item item = {.berth = session->berth};
    const enum err err = posting_tally(&node->posting, item.berth, &node->room,
                                       data, size, &item.msg, &item.where);

    if (err == ERR_FORMAT)
        no_message(node, session);
    if (err != ERR_OK || node->finished)
        return;
    tray_put(&node->tray, session->index, clock_now_us(), &item);
    if (tray_due(&node->tray, coordinator_awaits(&node->core)))
        empty_tray(node);
}

/* Those that are there are told together; those that are not are waited for
 * only where that pays. */
static void notes_taken(struct node *node)
{
    if (!node->tray.waits)
        empty_tray(node);
}

/* A note that nobody claims is of a life that is over. */
static bool take_note(struct node *node, uint32_t berth)
{
    uint8_t note[BOARD_NOTE_BYTES];
    const size_t size =
        board_note_take(node->posting.board, berth, BOARD_COORDINATOR, note);
    const uint32_t index = node->berth_index[berth];
    struct session *session;

    if (size == 0)
        return false;
    if (tray_blocks(&node->tray, berth))
        empty_tray(node);
    session = index != SESSION_NO_INDEX ? node->sessions[index] : NULL;
    if (session == NULL || session->berth != berth)
        return true;
    if (codec_is_posted(note, size))
        on_posted(node, session, note, size);
    else
        no_message(node, session);
    return true;
}

/* As many as there can be: a worker that leaves more, and more, has rung. */
static void take_all(struct node *node, uint32_t berth)
{
    for (uint32_t i = 0; i < BOARD_NOTES && take_note(node, berth); i++)
        continue;
}

static void take_notes(void *context)
{
    struct node *node = context;
    struct board *board = node->posting.board;

    for (uint32_t i = 0; i < board_shape(board)->berths; i++)
        take_all(node, i);
    notes_taken(node);
}

static void on_single(struct node *node, struct link *link, enum plane plane,
                      const uint8_t *data, size_t size)
{
    struct session *session = link_user(link);
    struct msg msg;
    struct event event = {.kind = EVENT_MESSAGE, .msg = &msg};

    if (session != NULL && session->berth != BOARD_NONE)
        take_all(node, session->berth); /* They were left before. */
    empty_tray(node);
    session = link_user(link);
    if (session == NULL)
        return;
    if (plane == PLANE_BULK && codec_is_posted(data, size)) {
        on_posted(node, session, data, size);
        notes_taken(node);
        return;
    }
    if (plane == PLANE_CONTROL && session->index == SESSION_NO_INDEX &&
        roll_codec_is(data, size)) {
        answer_offer(node, session, data, size);
        return;
    }
    if (codec_decode(data, size, &node->room, &msg) != ERR_OK ||
        msg_is_bulk(msg.kind) != (plane == PLANE_BULK)) {
        no_message(node, session);
        return;
    }
    if (session->index == SESSION_NO_INDEX) {
        first_message(node, session, &msg);
        return;
    }
    if (msg.kind == MSG_GONE)
        session_forget(session, msg.leaf);
    if (msg.kind == MSG_SERVING)
        msg.serving.local = link_local(session->link);
    event.link = session->index;
    if (msg.kind == MSG_BEAT || msg.kind == MSG_NEED)
        event.backlog = session_backlog(session);
    feed(node, &event);
}

static void flush_relays(struct node *node)
{
    for (struct session *at = node->relays; at != NULL; at = at->next)
        session_flush(at);
}

static void on_message(void *context, struct link *link, enum plane plane,
                       const uint8_t *data, size_t size)
{
    struct node *node = context;
    const struct session *session = link_user(link);
    const uint8_t *message;
    size_t at = 0, message_size;

    if (session == NULL || session->bundles == NULL || !bundle_is(data, size)) {
        on_single(node, link, plane, data, size);
        return;
    }
    node->in_bundle = true;
    while (bundle_next(data, size, &at, &message, &message_size))
        on_single(node, link, plane, message, message_size);
    node->in_bundle = false;
    if (at == 0 && link_user(link) != NULL)
        session_break(node, link_user(link));
    flush_relays(node);
}

static void on_down(void *context, struct link *link, enum link_end how,
                    const char *why)
{
    struct node *node = context;
    struct session *session = link_user(link);
    struct event event = {.kind = EVENT_LINK_DOWN};

    (void)how;
    (void)why;
    if (session == NULL)
        return;
    event.link = session->index;
    if (session->index != SESSION_NO_INDEX)
        node->sessions[session->index] = NULL;
    relay_forget(node, session);
    session_free(session);
    if (event.link != SESSION_NO_INDEX)
        feed(node, &event);
}

/* Of all workers together. */
static void ship_strips(struct node *node)
{
    struct session *failed = NULL;

    node->strips = false;
    if (node->options->data == NULL)
        return;
    while (strips_pump(node->sessions, node->options->core.links_max,
                       node->options->data, &node->core, &node->strip_passes,
                       &failed) != ERR_OK)
        session_drop(node, failed); /* It will dial again. */
}

static void on_drained(void *context, struct link *link)
{
    struct node *node = context;
    struct session *session = link_user(link);

    if (session != NULL && node->core.options.job.products)
        ship_strips(node);
    else if (session != NULL && session_pump(session, &node->envelope,
                                             node->options->data) != ERR_OK)
        session_break(node, session);
}

static void on_refused(void *context, const char *why)
{
    struct node *node = context;

    reject_log_add(&node->rejects, clock_now_us(), why);
}

static const struct link_events link_events = {
    .up = on_up,
    .message = on_message,
    .down = on_down,
    .drained = on_drained,
    .refused = on_refused,
};

/* Actions. */

static struct session *session_of(struct node *node, uint32_t index)
{
    CHECK(index < node->options->core.links_max);
    return node->sessions[index];
}

/* One that lacks a key, which the core does not know. */
static enum err send_key(struct node *node, struct session *session,
                         const struct action *action)
{
    struct msg msg = action->msg;
    enum err err;

    if (msg.kind == MSG_SERVE)
        peer_keys_serve(session, &msg.serve);
    else
        peer_keys_introduce(session_of(node, msg.fetch.source),
                            node->core.members[action->link].name, &msg.fetch);
    err = session_send(session, &node->posting, &node->envelope, &msg);
    token_wipe(&msg, sizeof msg);
    return err;
}

static bool has_key(const struct msg *msg)
{
    return msg->kind == MSG_SERVE ||
           (msg->kind == MSG_FETCH && msg->fetch.peer != 0);
}

static void do_send(struct node *node, const struct action *action)
{
    struct session *session = session_of(node, action->link);
    const enum msg_kind kind = action->msg.kind;
    enum err err;

    if (session == NULL)
        return;
    if (kind == MSG_REJECT)
        log_refusal(node, session, action->msg.reject.reason);
    err = has_key(&action->msg) ? send_key(node, session, action)
                                : session_send(session, &node->posting,
                                               &node->envelope, &action->msg);
    /* After a last word the link is of no use; what is queued is still sent.
     * Without memory it is of no use either: the worker will dial again. */
    if (err != ERR_OK ||
        (action->msg.leaf == 0 && (kind == MSG_REJECT || kind == MSG_BYE)))
        session_drop(node, session);
}

static void do_ship(struct node *node, const struct action *action)
{
    struct session *session = session_of(node, action->link);

    if (session == NULL)
        return;
    if (node->options->data == NULL) {
        session_drop(node, session); /* It said that it has everything. */
        return;
    }
    node->strips = node->core.options.job.products;
    if (session_ship(session, action->leaf, action->first, action->end) !=
            ERR_OK ||
        (!node->strips &&
         session_pump(session, &node->envelope, node->options->data) != ERR_OK))
        session_drop(node, session); /* It will dial again. */
}

static void do_close(struct node *node, const struct action *action)
{
    struct session *session = session_of(node, action->link);

    if (session != NULL)
        session_drop(node, session);
}

/* Whoever reads the log should not have to ask who was shut out, and why. */
static void log_trust(const struct trace *trace)
{
    const char *text = trace->a < POISON_KINDS
                           ? poison_text((enum poison_kind)trace->a)
                           : "broken";

    if (trace->kind == TRACE_BANNED)
        log_line("step %u: %s is quarantined: three broken answers, the last "
                 "%s",
                 trace->key.step, trace->name, text);
    else if (trace->kind == TRACE_POISON && trace->b <= STRIKES_MAX)
        log_line("step %u: an answer of %s was dropped: %s (strike %llu of "
                 "%u)",
                 trace->key.step, trace->name, text,
                 (unsigned long long)trace->b, STRIKES_MAX);
}

/* Only time is lost, but somebody has a firewall or a broken memory. */
static void log_peer(const struct trace *trace)
{
    if (trace->kind != TRACE_PEER)
        return;
    if (trace->b != 0)
        log_line("step %u: %s gave %s wrong bytes of chunk %llu; nobody is "
                 "sent to it for chunks any more",
                 trace->key.step, trace->name, trace->fetcher,
                 (unsigned long long)trace->a);
    else
        log_line("step %u: %s could not get chunk %llu from %s; it is sent "
                 "from here",
                 trace->key.step, trace->fetcher, (unsigned long long)trace->a,
                 trace->name);
}

/* A step that waits for somebody should say for whom. */
static void log_owner(const struct trace *trace)
{
    const unsigned long long first = trace->a;
    const unsigned long long last = trace->a + trace->b - 1;

    if (trace->kind == TRACE_AWAY)
        log_line(trace->value > 0
                     ? "step %u: the owner of rows %llu to %llu (%s) is away; "
                       "the step waits for it, %.0f s at most"
                     : "step %u: the owner of rows %llu to %llu (%s) is away; "
                       "the steps go on without these rows",
                 trace->key.step, first, last,
                 trace->name[0] != '\0' ? trace->name : "not seen yet",
                 trace->value);
    else if (trace->kind == TRACE_HOME)
        log_line("step %u: the owner of rows %llu to %llu (%s) is back",
                 trace->key.step, first, last, trace->name);
}

/* A run whose folder nobody knows cannot be joined: the supervisor says whether
 * somebody may come all the same. */
static void log_short(const struct node *node, const struct trace *trace)
{
    const char *const here = trace->a == 1 ? "machine is" : "machines are";

    if (trace->kind == TRACE_SHORT)
        log_line(
            "step %u: %llu %s here%s and %llu %s needed; the step waits"
            "%s%.200s",
            trace->key.step, (unsigned long long)trace->a, here,
            trace->value > 0 ? ", whose blocks together decode too badly," : "",
            (unsigned long long)trace->b, trace->b == 1 ? "is" : "are",
            node->options->scratch ? "" : " for more to join: muster join ",
            node->options->scratch ? "" : node->options->folder);
    else if (trace->kind == TRACE_ENOUGH)
        log_line("step %u: %llu %s here; it goes on", trace->key.step,
                 (unsigned long long)trace->a, here);
}

static void do_trace(struct node *node, const struct trace *trace)
{
    log_trust(trace);
    log_peer(trace);
    log_owner(trace);
    log_short(node, trace);
    trace_writer_add(&node->traces, trace);
}

/* A step at which the supervisor kills or starts somebody does not open before
 * it has: `kill:w1@13` means step 13, however quick the steps are. */
static void wait_for_chaos(struct node *node, const struct trace *trace)
{
    const struct chaos *chaos = node->options->chaos;

    if (chaos == NULL || trace->kind != TRACE_ROUND ||
        !chaos_acts(chaos, trace->key.step))
        return;
    if (trace_writer_drain(&node->traces))
        wait_take(node->options->pass_fd);
}

/* Whoever would start the next life knows of a stop before anybody is sent home
 * or told that it was heard: a kill in between does not undo it. */
static void pass_on_stop(struct node *node, const struct trace *trace)
{
    if (trace->kind == TRACE_STOP)
        (void)trace_writer_drain(&node->traces);
}

/* What the coordinator itself did for `step`, since `began`. */
static void own_stint(struct node *node, enum stint_kind kind, uint32_t step,
                      time_us began)
{
    const struct trace trace = {
        .now = began,
        .kind = TRACE_STINT,
        .link = -1,
        .key = node->core.key,
        .stint = {.kind = kind,
                  .step = step,
                  .began = began,
                  .took_us = clock_now_us() - began},
    };

    if (node->options->core.job.stints)
        do_trace(node, &trace);
}

static void do_journal(struct node *node, const struct action *action)
{
    const time_us began = clock_now_us();

    keeper_journal(&node->keeper, action);
    own_stint(node, STINT_JOURNAL, node->step, began);
}

static void checkpoint_saved(void *context)
{
    struct node *node = context;
    const struct event event = {.kind = EVENT_CHECKPOINTED,
                                .err = node->keeper.err,
                                .step = node->keeper.step};

    own_stint(node, STINT_CHECKPOINT, node->keeper.step, node->checkpoint_at);
    feed(node, &event);
}

static void do_checkpoint(struct node *node, const struct action *action)
{
    node->checkpoint_at = clock_now_us();
    keeper_checkpoint(&node->keeper, action);
}

static void judged(void *context)
{
    struct node *node = context;
    const struct event event = {.kind = EVENT_JUDGED,
                                .err = judge_err(node->judge)};

    feed(node, &event);
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

static void hand_over(struct node *node, const struct run_result *result)
{
    bool on_disk = false;

    if (node->options->core.passing &&
        result_write(NULL, node->options->spare_fd, result, &on_disk,
                     node->why) == ERR_OK)
        return;
    node->err = result_write(node->options->folder, node->options->spare_fd,
                             result, &on_disk, node->why);
    if (node->err == ERR_OK && !on_disk)
        log_line("%s; the result is handed over in memory", node->why->text);
}

static void do_finish(struct node *node, const struct action *action)
{
    uint32_t count;
    const double *const model = trainer_model(&node->core.trainer, &count);
    struct run_result result = {
        .err = action->err,
        .steps = node->core.trainer.optim.step,
        .saved = node->core.trainer.ledger.saved_step,
        .outcome = trainer_outcome(&node->core.trainer),
        .evaluations = node->core.trainer.optim.evaluations,
        .stats = node->core.stats,
        .dims = count,
    };

    result.stats.strip_passes = node->strip_passes;
    result.weights = mem_new(result.dims, sizeof *result.weights);
    if (result.weights == NULL) {
        node->err = why_set(node->why, ERR_NOMEM, "out of memory at the end");
    } else {
        memcpy(result.weights, model, count * sizeof *result.weights);
        (void)snprintf(result.reason, sizeof result.reason, "%s",
                       action->reason);
        hand_over(node, &result);
        mem_free(result.weights);
    }
    node->finished = true;
}

static void carry_out(struct node *node, const struct action *action)
{
    switch (action->kind) {
    case ACTION_SEND:
        do_send(node, action);
        return;
    case ACTION_CLOSE:
        do_close(node, action);
        return;
    case ACTION_TIMER:
        timer_at(node->timer, action->at);
        return;
    case ACTION_TRACE:
        do_trace(node, &action->trace);
        wait_for_chaos(node, &action->trace);
        pass_on_stop(node, &action->trace);
        return;
    case ACTION_SHIP:
        do_ship(node, action);
        return;
    case ACTION_JOURNAL:
        do_journal(node, action);
        return;
    case ACTION_CHECKPOINT:
        do_checkpoint(node, action);
        return;
    case ACTION_FINISH:
        do_finish(node, action);
        return;
    case ACTION_JUDGE:
        judge_start(node->judge, action);
        return;
    case ACTION_MEASURE:
        task_start(node->measure);
        return;
    case ACTION_CONNECT:
    case ACTION_OPEN:
    case ACTION_STORE:
    case ACTION_COMPUTE:
    case ACTION_CANCEL:
    case ACTION_RECALL:
    case ACTION_FETCH:
    case ACTION_SERVE:
        break;
    }
    CHECK(!"an action of a worker");
}

/* How long the last words may take: on a road with stalls as long as a few of
 * them, for a process that is gone cannot send again what was lost. */
static time_us last_words_us(const struct node *node)
{
    double stall_us = 0;

    for (uint32_t i = 0; i < node->options->core.links_max; i++) {
        const struct member *member = &node->core.members[i];

        if (node->sessions[i] != NULL && member->gaps.stall_us[0] > stall_us)
            stall_us = member->gaps.stall_us[0];
    }
    return FINISH_US + (time_us)(3 * stall_us);
}

/* Let the last words out, but not for ever. */
static void begin_end(struct node *node)
{
    const time_us patience = last_words_us(node);

    link_hub_stop_listening(node->hub);
    for (uint32_t i = 0; i < node->options->core.links_max; i++) {
        if (node->sessions[i] != NULL)
            session_drop(node, node->sessions[i]);
    }
    timer_at(node->timer, TIME_NEVER);
    farewell_begin(&node->farewell, node->hub, node->traces.outlet, patience);
}

/* Did this step of the machine end a round?  Its decoding, the optimiser and
 * the next round's scale are most of it then. */
static bool commits(const struct actions *actions)
{
    for (uint32_t i = 0; i < actions->count; i++) {
        if (actions->list[i].kind == ACTION_TRACE &&
            actions->list[i].trace.kind == TRACE_COMMIT)
            return true;
    }
    return false;
}

static void step(struct node *node, const struct event *event)
{
    struct event timed = *event;

    node->now = clock_now_us();
    node->step = node->core.key.step;
    timed.now =
        event->kind == EVENT_TALLIES ? event->arrivals[0].at : node->now;
    coordinator_step(&node->core, &timed, &node->actions);
    if (commits(&node->actions))
        own_stint(node, STINT_COMMIT, node->step, node->now);
    for (uint32_t i = 0; i < node->actions.count; i++)
        carry_out(node, &node->actions.list[i]);
    if (node->strips)
        ship_strips(node);
}

static void tell(struct node *node, const struct event *event)
{
    struct event done = {.kind = EVENT_JOURNALED};

    if (node->finished)
        return;
    step(node, event);
    while (!node->finished && keeper_journaled(&node->keeper, &done.err))
        step(node, &done);
    trace_writer_look(&node->traces, node->now, node->finished);
    if (!node->in_bundle)
        flush_relays(node);
    if (node->finished)
        begin_end(node);
}

static void feed(struct node *node, const struct event *event)
{
    empty_tray(node);
    tell(node, event);
}

static void on_time(void *context)
{
    struct node *node = context;
    const struct event event = {.kind = EVENT_TIME};
    char text[STANDING_TEXT];

    listener_look(node->bell);
    feed(node, &event);
    if (standing_look(&node->standing, &node->core, node->now, text) != NULL)
        log_line("%s", text);
}

static void on_alert(void *context)
{
    const struct event event = {.kind = EVENT_STOP};

    feed(context, &event);
}

/* Set-up. */

/* While the coordinator adds and steps its local workers wait, awake, on
 * processors of their own: those that are left are its, if there are some. With
 * long vectors they sleep, and all but one are. */
static enum err open_pool(struct node *node)
{
    const struct board *board = node->options->board;
    const uint32_t workers = board != NULL ? board_shape(board)->workers : 0;
    const uint32_t most = threads_available();
    const uint32_t dims = node->options->core.job.dims;
    const uint32_t busy = workers + POOL_SPARE;
    const uint32_t left = most > busy ? most - busy : 0;
    const uint32_t wanted = dims < POOL_LONG ? POOL_THREADS : 2 * POOL_THREADS;
    const uint32_t threads = dims < POOL_LONG ? left : most - 1;

    if (board == NULL || left < 2 || dims < POOL_DIMS)
        return ERR_OK;
    return threads_new_spinning(
        threads < wanted ? threads : wanted,
        dims < POOL_LONG ? POOL_AWAKE_US : POOL_AWAKE_LONG_US, &node->pool);
}

/* A change of the samples' size is in the journal alone: from one that was cut
 * before it nobody can tell that there was one, so what holds now is told. */
static void tell_size(const struct coordinator *core,
                      const struct recovery *recovery)
{
    const struct size_change *const next = coordinator_next_size(core);
    const double size = coordinator_size(core);
    char later[64] = "";

    if (!recovery->found || size == 0)
        return;
    if (next != NULL)
        (void)snprintf(later, sizeof later, ", %g%% after step %u",
                       100 * next->size, next->step);
    log_line("resumed with samples of size %g%%%s%s", 100 * size, later,
             recovery->lost.text[0] != '\0'
                 ? ": a change that `muster set` made where the journal is "
                   "damaged is lost; ask for it again"
                 : "");
}

static enum err open_core(struct node *node, struct why *why)
{
    const struct coordinator_node_options *options = node->options;
    struct coordinator_options core = options->core;
    struct recovery recovery = {0};
    enum err err = keeper_open(&node->keeper, options->folder, &recovery, why);

    if (err == ERR_OK)
        err = open_pool(node);
    core.pool = node->pool;
    core.mirror = posting_mirror(&node->posting);
    node->posting.pool = node->pool;
    if (err == ERR_OK)
        err = coordinator_init(&node->core, &core, &recovery, why);
    if (err == ERR_OK)
        tell_size(&node->core, &recovery);
    recovery_close(&recovery);
    return err == ERR_OK ? err : why_in(why, err, "%s", options->folder);
}

static enum err berth_room(struct node *node)
{
    const struct board *board = node->posting.board;
    const uint32_t berths = board != NULL ? board_shape(board)->berths : 0;

    node->berth_index = mem_new(berths, sizeof *node->berth_index);
    if (node->berth_index == NULL)
        return ERR_NOMEM;
    for (uint32_t i = 0; i < berths; i++)
        node->berth_index[i] = SESSION_NO_INDEX;
    node->tray.waits = node->pool != NULL || berths >= threads_available();
    return ERR_OK;
}

static enum err make_room(struct node *node)
{
    const struct coordinator_options *core = &node->core.options;
    enum err err = actions_init(&node->actions, ACTIONS_FIRST);

    if (err == ERR_OK)
        err =
            codec_room_init(&node->room, core->job.dims, core->job.sum_dims, 0);
    if (err == ERR_OK)
        err = codec_room_answers(&node->room, ANSWERS_MAX);
    node->room.packed = true;
    node->message_max =
        codec_message_max(core->job.dims, core->job.sum_dims, 0, 0);
    node->sum_max = codec_sum_max(core->job.sum_dims, ANSWERS_MAX);
    if (node->sum_max < node->message_max)
        node->sum_max = node->message_max;
    node->sessions = mem_new(core->links_max, sizeof *node->sessions);
    if (err == ERR_OK && node->sessions == NULL)
        err = ERR_NOMEM;
    return err == ERR_OK ? berth_room(node) : err;
}

/* Whoever knocks is let in only once there is memory for it; if there is none
 * from the beginning a run would wait for its workers, and they for it. */
static enum err spare_memory(void)
{
    void *spare = mem_new(1, SPARE_MEMORY);
    const bool enough = spare != NULL;

    mem_free(spare);
    return enough ? ERR_OK : ERR_NOMEM;
}

static enum err open_judge(struct node *node)
{
    const struct coordinator_node_options *options = node->options;
    const struct coordinator_options *core = &node->core.options;
    const struct shelf shelf = {.data = options->data, .isa = options->isa};

    if (!core->verify && !(core->audit > 0))
        return ERR_OK;
    return judge_new(node->loop, &shelf, &core->job, judged, node,
                     &node->judge);
}

static enum err open_loop(struct node *node)
{
    const struct coordinator_node_options *options = node->options;
    const struct link_options links = {
        .token = options->token, .events = &link_events, .context = node};
    struct link_options with_loop = links;
    enum err err = loop_new(&node->loop);

    with_loop.loop = node->loop;
    if (err == ERR_OK)
        err = timer_new(node->loop, on_time, node, &node->timer);
    if (err == ERR_OK)
        err = farewell_open(&node->farewell, node->loop);
    if (err == ERR_OK)
        err = alerts_new(node->loop, false, on_alert, node, &node->alerts);
    if (err == ERR_OK)
        err = keeper_start(&node->keeper, node->loop, checkpoint_saved, node);
    if (err == ERR_OK)
        err = trace_writer_open(&node->traces, node->loop, options->trace_fd,
                                options->chaos != NULL);
    if (err == ERR_OK)
        err = open_judge(node);
    if (err == ERR_OK && options->held_out.loss != NULL)
        err = task_new(node->loop, measure, measured, node, &node->measure);
    if (err == ERR_OK)
        err = listener_new(node->loop, node->posting.board, 0,
                           BOARD_COORDINATOR, take_notes, node, &node->bell);
    if (err == ERR_OK)
        err = link_hub_new(&with_loop, &node->hub);
    if (err == ERR_OK)
        err = link_hub_listen(node->hub, options->listen_fd);
    return err;
}

static void node_close(struct node *node)
{
    reject_log_end(&node->rejects);
    for (uint32_t i = 0;
         node->sessions != NULL && i < node->options->core.links_max; i++) {
        if (node->sessions[i] != NULL)
            session_drop(node, node->sessions[i]);
    }
    keeper_close(&node->keeper);
    listener_free(node->bell);
    judge_free(node->judge);
    task_free(node->measure);
    link_hub_free(node->hub);
    trace_writer_close(&node->traces);
    alerts_free(node->alerts);
    timer_free(node->timer);
    farewell_close(&node->farewell);
    loop_free(node->loop);
    coordinator_close(&node->core);
    threads_free(node->pool);
    actions_close(&node->actions);
    codec_room_close(&node->room);
    envelope_close(&node->envelope);
    posting_close(&node->posting);
    mem_free(node->sessions);
    mem_free(node->berth_index);
}

enum err coordinator_node_run(const struct coordinator_node_options *options,
                              struct why *why)
{
    const struct event start = {.kind = EVENT_START};
    struct node node = {
        .options = options, .posting = {.board = options->board}, .why = why};
    enum err err = open_core(&node, why);

    if (err == ERR_OK)
        err = make_room(&node);
    if (err == ERR_OK)
        err = open_loop(&node);
    if (err == ERR_OK)
        err = spare_memory();
    if (err == ERR_OK) {
        feed(&node, &start);
        loop_run(node.loop);
        err = node.err;
    }
    if (err == ERR_NOMEM)
        (void)why_set(why, err,
                      "not enough memory or threads for the coordinator "
                      "(ulimit -v, ulimit -u)");
    node_close(&node);
    return err;
}
