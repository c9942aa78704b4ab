/*
 * worker_node.c - events in, actions out, and the compute thread.
 */
#include "node/worker/worker_node.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/flag.h"
#include "base/mem.h"
#include "core/worker/worker.h"
#include "eval/registry.h"
#include "math/exact/follow.h"
#include "node/arithmetic.h"
#include "node/host/farewell.h"
#include "node/host/outbox.h"
#include "node/host/posting.h"
#include "node/host/preempt.h"
#include "node/host/self.h"
#include "node/host/ways.h"
#include "node/worker/in_loop.h"
#include "node/worker/peer_server.h"
#include "os/clock.h"
#include "os/log.h"
#include "os/net/link.h"
#include "os/random.h"
#include "os/run/listener.h"
#include "os/run/loop.h"
#include "os/run/process.h"
#include "os/run/threads.h"
#include "wire/codec.h"

#define ACTIONS_FIRST 32u
#define RETRY_US      (10 * MS_US)
#define RETRY_MAX_US  (500 * MS_US)
#define FINISH_US     SECOND_US
#define INBOX         UINT64_MAX /* `kept` of a round that lies there. */

struct node {
    const struct worker_node_options *options;
    struct worker core;
    struct actions actions;
    struct loop *loop;
    struct timer *timer;
    struct alerts *alerts;
    struct preempt *preempt; /* NULL: no notice is looked for. */
    struct link_hub *hub;
    struct link *link; /* NULL: none. */
    struct codec_room room;
    struct envelope envelope;
    size_t message_max;
    /* The round that is computed from, as it came: its weights are read there,
     * and no other is read from the link before that is over. */
    uint8_t *inbox;          /* message_max bytes; NULL: none came yet. */
    struct codec_room kept;  /* Of its exponents. */
    struct round_key coming; /* The link waits for `inbox` with this. */
    bool awaited;            /* ... if it does. */
    struct outbox outbox;

    struct dataset own;         /* Shipped rows. */
    struct supply *supply;      /* Of rows that are not; NULL: resident. */
    bool recalled;              /* The core is to be told what is near, ... */
    struct peer_server *server; /* For peers; NULL: none. */
    bool serving;               /* ... and that they reach us ... */
    uint16_t port;              /* ... here. */
    const struct dataset *data; /* `own`, or the resident rows. */
    struct pool *pool;
    struct evaluator *evaluator; /* NULL: the job is not known yet. */
    struct task *task; /* Its thread owns the fields below while busy. */
    struct computation work;
    struct tally lent; /* work.tally, where its sums go to the board at once, or
                          to the outbox; */
    struct tally *core_tally; /* ... instead of those of the core's own. */
    bool stalled;     /* The piece waits until there is room in the outbox. */
    bool called_off;  /* ... and was called off meanwhile. */
    uint64_t reading; /* The round on the board that it reads, or INBOX; 0: the
                         core's own. */
    bool lie;         /* --chaos lie: what is computed is made wrong. */
    enum err compute_err;
    int64_t compute_us;
    struct in_loop in_loop;
    bool due;        /* A piece is to be computed here and now. */
    int64_t here_us; /* So long such pieces have taken since the start. */
    struct flag cancel;

    struct self self;
    uint32_t sent_step;

    bool up;    /* The link is. */
    bool posts; /* The coordinator at its other end uses our board. */
    struct listener *bell; /* NULL: no notes. */
    bool let_in;           /* ... and has brought a WELCOME. */
    bool known;      /* There is a coordinator, or it was said that none is. */
    uint32_t way;    /* Index of the address in use. */
    uint32_t spoils; /* How often one sent what is no message. */
    bool open;       /* The job is known, and what is needed for it is made. */
    bool finished;   /* Only last words are still to be sent. */
    bool hurried;    /* It was told to leave: nothing more is written. */
    bool said_why;   /* ... why it is still here. */
    enum err err;
    struct why *why;
    struct farewell farewell;
};

static void feed(struct node *node, const struct event *event);

static void finish(struct node *node, enum err err, const char *reason)
{
    if (node->finished)
        return;
    node->finished = true;
    node->err = err == ERR_OK ? ERR_OK : why_set(node->why, err, "%s", reason);
}

/* The link. */

static void on_up(void *context, struct link *link)
{
    struct node *node = context;
    const struct event event = {.kind = EVENT_LINK_UP};

    CHECK(link == node->link);
    node->up = true;
    feed(node, &event);
}

static void do_close(struct node *node)
{
    if (node->link != NULL)
        link_close(node->link);
    node->link = NULL;
    node->up = false;
    node->posts = false;
    node->awaited = false;
    outbox_abandon(&node->outbox);
}

static void other_way(struct node *node)
{
    node->way = (node->way + 1) % node->options->address_count;
}

/* What came is no message.  Of several addresses, those of relays and the
 * coordinator behind them, another is tried, but not for ever. */
static void spoilt(struct node *node)
{
    const uint32_t ways = node->options->address_count;
    const struct event down = {.kind = EVENT_LINK_DOWN};

    if (ways < 2 || node->spoils++ >= 2 * ways || node->link == NULL) {
        finish(node, ERR_FORMAT, "the coordinator sent what is no message");
        feed(node, NULL);
        return;
    }
    log_line("%s sent what is no message; trying another address",
             link_address(node->link));
    do_close(node);
    other_way(node);
    feed(node, &down);
}

/* A ROUND whose vectors lie on the board.  Answers may go there too. */
static void on_posted(struct node *node, const uint8_t *data, size_t size)
{
    struct msg msg;
    const struct event event = {.kind = EVENT_MESSAGE, .msg = &msg};
    const enum err err =
        node->options->board != NULL
            ? answer_round(node->options->board, &node->room, data, size, &msg)
            : ERR_FORMAT;

    if (err == ERR_STALE)
        return;
    node->posts = true;
    if (err != ERR_OK)
        spoilt(node);
    else
        feed(node, &event);
}

/* A ROUND is arriving: it is put where the last one lies, once nobody computes
 * from that. */
static bool inbox_used(const struct node *node)
{
    return worker_stays(&node->core) && node->reading == INBOX;
}

static bool make_room(struct node *node)
{
    const struct event event = {.kind = EVENT_COMING, .key = &node->coming};

    node->awaited = false;
    feed(node, &event);
    node->awaited = inbox_used(node);
    return !node->awaited;
}

/* With the first that comes this way: to most local workers none does. */
static bool has_inbox(struct node *node)
{
    const struct job *job = &node->core.job;

    if (node->inbox != NULL)
        return true;
    if (codec_room_init(&node->kept, job->dims, job->sum_dims,
                        job_items_max(job)) == ERR_OK)
        node->inbox = mem_new(node->message_max, 1);
    if (node->inbox == NULL)
        codec_room_close(&node->kept);
    return node->inbox != NULL;
}

static enum link_room on_room(void *context, struct link *link,
                              const uint8_t *begin, size_t size, uint8_t **room,
                              size_t *capacity)
{
    struct node *node = context;

    if (link != node->link || !node->open ||
        !codec_peek_round(begin, size, &node->coming) || !has_inbox(node))
        return LINK_ROOM_OWN;
    if (!make_room(node))
        return LINK_ROOM_LATER;
    *room = node->inbox;
    *capacity = node->message_max;
    return LINK_ROOM_GIVEN;
}

static void give_room(struct node *node)
{
    if (node->awaited && !inbox_used(node) && make_room(node) &&
        node->link != NULL)
        link_give(node->link, node->inbox);
}

static enum err decode(struct node *node, const uint8_t *data, size_t size,
                       struct msg *msg)
{
    enum err err;

    if (data != node->inbox)
        return codec_decode(data, size, &node->room, msg);
    err = codec_decode_here(node->inbox, size, &node->kept, msg);
    if (err == ERR_OK && msg->kind == MSG_ROUND) {
        msg->round.kept = INBOX;
        msg->round.kept_scale = true;
    }
    return err;
}

/* A note from the coordinator; before its WELCOME there is nobody to read it.
 */
static void on_order(struct node *node, const uint8_t *note, size_t size)
{
    struct msg msg;
    const struct event event = {.kind = EVENT_MESSAGE, .msg = &msg};

    if (decode(node, note, size, &msg) != ERR_OK || msg.leaf != 0 ||
        !msg_is_order(msg.kind))
        spoilt(node);
    else
        feed(node, &event);
}

/* All there are: what was left first is seen first. */
static void take_notes(struct node *node)
{
    struct board *board = node->options->board;
    const uint32_t berth = node->options->berth;
    uint8_t note[BOARD_NOTE_BYTES];

    while (node->bell != NULL && node->open && node->let_in) {
        const size_t size = board_note_take(board, berth, BOARD_WORKER, note);

        if (size == 0)
            return;
        if (codec_is_posted(note, size))
            on_posted(node, note, size);
        else
            on_order(node, note, size);
    }
}

static void on_bell(void *context)
{
    take_notes(context);
}

/* Nobody to work for: whoever is there are peers. */
static void found_ring(struct node *node)
{
    if (node->options->ring != NULL)
        *node->options->ring = true;
    finish(node, ERR_UNSUPPORTED,
           "this is a ring, whose peers all have the rows; what is joined with "
           "rows or a function of one's own has a coordinator");
}

static void on_message(void *context, struct link *link, enum plane plane,
                       const uint8_t *data, size_t size)
{
    struct node *node = context;
    struct msg msg;
    struct event event = {.kind = EVENT_MESSAGE, .msg = &msg};

    take_notes(node); /* They were left before. */
    if (link != node->link)
        return;
    if (plane == PLANE_BULK && codec_is_posted(data, size)) {
        on_posted(node, data, size);
        return;
    }
    if (decode(node, data, size, &msg) != ERR_OK || msg.leaf != 0 ||
        msg_is_bulk(msg.kind) != (plane == PLANE_BULK)) {
        spoilt(node);
        return;
    }
    if (msg.kind == MSG_TERMS)
        found_ring(node);
    node->let_in = node->let_in || msg.kind == MSG_WELCOME;
    node->known = node->known || node->let_in;
    feed(node, &event);
    /* Bulk is read only now, so that no ROUND overtakes its WELCOME. */
    if (msg.kind == MSG_WELCOME && node->open && node->link == link) {
        link_trust(link, node->message_max);
        take_notes(node);
    }
}

/* Once, and only to those who came by themselves: a mistyped address would
 * otherwise look like a coordinator that is late. */
static void say_unreached(struct node *node, const char *why)
{
    if (!node->known && node->options->give_up_us != TIME_NEVER)
        log_note("%s; trying again for %d s", why,
                 (int)(node->options->give_up_us / SECOND_US));
    node->known = true;
}

static void on_down(void *context, struct link *link, enum link_end how,
                    const char *why)
{
    struct node *node = context;
    const struct event event = {.kind = EVENT_LINK_DOWN};

    if (link != node->link)
        return;
    node->link = NULL;
    node->up = false;
    node->posts = false;
    node->awaited = false;
    if (how == LINK_REFUSED)
        finish(node, ERR_DENIED, why);
    else if (ways_over(node->options->folder))
        finish(node, ERR_CLOSED, WAYS_OVER);
    else
        say_unreached(node, why);
    if (!node->let_in)
        other_way(node);
    feed(node, &event);
}

/* An answer is on its way out until the kernel has taken it. */
static void note_sent(struct node *node, const struct msg *msg)
{
    node->sent_step =
        msg->kind == MSG_ROW ? msg->row.key.step : msg->tally.key.step;
    self_unsent(&node->self, true, clock_now_us());
}

static void resume_compute(struct node *node);

static void note_drained(struct node *node, const struct link *link)
{
    const time_us since = node->self.unsent_since;
    const time_us now = clock_now_us();

    if (link != node->link || since == TIME_NEVER ||
        link_queued(link, PLANE_BULK) > 0)
        return;
    self_unsent(&node->self, false, now);
    pulse_add(&node->core.pulse, STINT_SEND, since, now, node->sent_step);
}

static void on_drained(void *context, struct link *link)
{
    note_drained(context, link);
    resume_compute(context);
}

static const struct link_events link_events = {.up = on_up,
                                               .message = on_message,
                                               .room = on_room,
                                               .down = on_down,
                                               .drained = on_drained};

static void do_connect(struct node *node)
{
    CHECK(node->link == NULL);
    node->let_in = false;
    if (link_dial(node->hub, &node->options->addresses[node->way],
                  &node->link) != ERR_OK)
        finish(node, ERR_NOMEM, "out of memory");
}

/* As a note, if it can be. */
static bool leave(struct node *node)
{
    return node->posts && node->bell != NULL &&
           envelope_leave(&node->envelope, node->options->board,
                          node->options->berth, BOARD_COORDINATOR, false);
}

/* Small ones the kernel takes at once; of others on_drained tells. */
static void send_filled(struct node *node, const struct msg *msg)
{
    const bool bulk = msg_is_bulk(msg->kind);

    if (bulk)
        note_sent(node, msg);
    if (!leave(node))
        envelope_send(&node->envelope, node->link,
                      bulk ? PLANE_BULK : PLANE_CONTROL);
    if (bulk)
        note_drained(node, node->link);
}

static bool fill(struct node *node, const struct msg *msg)
{
    if (outbox_owns(&node->outbox, msg))
        return outbox_fill(&node->outbox, &node->envelope, msg);
    if (node->posts)
        return answer_fill(node->options->board, node->options->berth,
                           &node->envelope, msg);
    return envelope_fill(&node->envelope, msg);
}

static void do_send(struct node *node, const struct msg *msg)
{
    if (!fill(node, msg))
        finish(node, ERR_NOMEM, "out of memory");
    else if (node->up)
        send_filled(node, msg);
}

/* The job. */

/* Within every bound: only one who computes the piece too can tell. */
static void tell_lie(struct tally *tally)
{
    tally->sum[0] = tally->sum[0] / 2 + (INT64_C(1) << 40);
}

static void compute_work(void *context)
{
    struct node *node = context;
    const time_us began = clock_now_us();

    node->compute_err =
        evaluator_run(node->evaluator, &node->work, &node->cancel);
    if (node->lie && node->work.tally != NULL)
        tell_lie(node->work.tally);
    node->compute_us = clock_now_us() - began;
}

static void note_speed(struct node *node)
{
    in_loop_note(&node->in_loop, &node->work, node->compute_err,
                 node->compute_us);
}

/* Of a large model a worker has three vectors: the weights, sums that are
 * computed and sums that are sent.  Where there is a fourth, or a chunk that is
 * as large, the next are computed when the last have been sent. */
static uint32_t boxes(const struct node *node)
{
    const bool more =
        node->work.what.kind == EVALUATE_HESSVEC ||
        node->evaluator->shard_max > OUTBOX_SHORT_BYTES ||
        evaluator_has_vector(node->evaluator, node->work.what.kind);

    return more && node->lent.dims * sizeof *node->lent.sum > OUTBOX_SHORT_BYTES
               ? 1
               : OUTBOXES;
}

/* Sums straight to the board or the outbox, unless they end up in a row.  False
 * if there is no room in the outbox yet. */
static bool lend_sums(struct node *node)
{
    int64_t *sum = NULL;

    node->core_tally = NULL;
    if (node->core.coded || node->work.tally == NULL)
        return true;
    node->lent = *node->work.tally;
    if (node->posts)
        sum = answer_open(node->options->board, node->options->berth,
                          node->lent.dims);
    else if (!outbox_open(&node->outbox, boxes(node), &sum))
        finish(node, ERR_NOMEM, "out of memory");
    if (sum == NULL)
        return node->posts || node->finished;
    node->core_tally = node->work.tally;
    node->lent.sum = sum;
    node->work.tally = &node->lent;
    return true;
}

/* What has been computed, for the core. */
static struct event computed(struct node *node)
{
    struct event event = {.kind = EVENT_COMPUTED,
                          .err = node->compute_err,
                          .compute_us = node->compute_us};

    if (node->core_tally != NULL) {
        event.sum = node->lent.sum;
        node->lent.sum = node->core_tally->sum;
        *node->core_tally = node->lent;
        node->core_tally = NULL;
    }
    if (node->reading != 0 && node->reading != INBOX &&
        !board_round_holds(node->options->board, node->reading)) {
        event.err = ERR_STALE;
        evaluator_forget(node->evaluator);
    }
    return event;
}

static void compute_done(void *context)
{
    struct node *node = context;
    const struct event event = computed(node);

    listener_expect(node->bell, true);
    evaluator_end(node->evaluator);
    if (node->compute_err == ERR_CLOSED)
        finish(node, ERR_CANCELLED, "the function said stop");
    note_speed(node);
    feed(node, &event);
}

static void start_compute(struct node *node)
{
    const bool idle = node->posts && node->core.queue_count == 1;

    node->due = in_loop_takes(&node->in_loop, &node->work, idle) &&
                node->evaluator->ops->anywhere;
    if (!node->due)
        task_start(node->task);
    listener_expect(node->bell, node->due);
}

static void resume_compute(struct node *node)
{
    if (!node->stalled || node->finished)
        return;
    node->stalled = !lend_sums(node);
    if (!node->stalled && !node->finished)
        start_compute(node);
    feed(node, NULL);
}

static void do_compute(struct node *node, const struct action *action)
{
    if (evaluator_begin(node->evaluator, &action->computation) != ERR_OK) {
        finish(node, ERR_NOMEM, "not enough memory for this job's coded data");
        return;
    }
    node->work = action->computation;
    node->lie =
        node->options->chaos != NULL &&
        chaos_lies(node->options->chaos, node->options->name, node->work.step);
    node->reading = action->kept;
    flag_lower(&node->cancel);
    node->stalled = !lend_sums(node);
    if (!node->stalled && !node->finished)
        start_compute(node);
}

static void do_cancel(struct node *node)
{
    flag_raise(&node->cancel);
    in_loop_cancelled(&node->in_loop);
    node->called_off = node->stalled;
    node->due = node->due || node->stalled;
    node->stalled = false;
}

/* Rows of the job before that may be this one's, too; do_recall sees whether
 * they are. */
static bool take_leftover(struct node *node, const struct dataset_shape *shape)
{
    struct leftover *const left = node->options->leftover;

    if (left == NULL)
        return false;
    if (left->digests == NULL || !node->core.job.keyed ||
        !dataset_has_shape(&left->data, shape)) {
        leftover_close(left);
        return false;
    }
    node->own = left->data;
    left->data = (struct dataset){0};
    if (shape->folded)
        dataset_leave_out(&node->own, shape->without);
    return true;
}

/* The rows that are here, or room for those that come. */
static enum err open_data(struct node *node, const struct brief *brief)
{
    const struct worker_node_options *const options = node->options;
    const struct evaluator_ops *const ops = evaluator_named(brief);
    struct dataset_shape shape;
    enum err err;

    node->data =
        options->owned != NULL ? &options->owned->data : options->resident;
    if (ops == NULL || ops->shape == NULL || node->data != NULL ||
        options->user != NULL)
        return ERR_OK;
    err = ops->shape(brief, &shape);
    if (err == ERR_OK && !take_leftover(node, &shape))
        err = dataset_init_shape(&node->own, &shape);
    node->data = &node->own;
    return err;
}

static enum err open_evaluator(struct node *node, const struct brief *brief)
{
    const struct worker_node_options *const options = node->options;
    const struct owned *const owned = options->owned;
    struct shelf shelf = {
        .data = node->data,
        .part = owned != NULL,
        .user = options->user,
        .isa = options->isa,
    };
    enum err err = threads_new(options->threads, &node->pool);

    if (owned != NULL) {
        shelf.first = owned->first;
        shelf.first_row = owned->first_row;
        shelf.chunks = owned->chunks;
    }
    if (err == ERR_OK)
        err = evaluator_open(brief, &shelf, node->pool, &node->evaluator);
    return err;
}

/* A coordinator may describe only what its numbers add up to. */
static enum err check_job(const struct node *node, const struct job *job)
{
    const struct evaluator *const evaluator = node->evaluator;
    const bool multiplies = evaluator->ops->store != NULL;

    if (job->products != multiplies || job->dims != evaluator->dims ||
        job->sum_dims < evaluator->sums || job->chunks != evaluator->chunks ||
        job->scattered != evaluator->scattered)
        return ERR_SHAPE;
    return !multiplies || (block_pad(job->coded_cols) == evaluator->dims &&
                           block_pad(job->rows) == evaluator->sums)
               ? ERR_OK
               : ERR_SHAPE;
}

static enum err open_job(struct node *node, const struct job *job)
{
    enum err err = job->owned == (node->options->owned != NULL)
                       ? open_data(node, &job->brief)
                       : ERR_SHAPE;

    if (err == ERR_OK)
        err = open_evaluator(node, &job->brief);
    if (err == ERR_OK)
        err = check_job(node, job);
    if (err == ERR_OK)
        err =
            task_new(node->loop, compute_work, compute_done, node, &node->task);
    return err;
}

/* For messages of this job. */
static enum err open_room(struct node *node, const struct job *job)
{
    struct codec_room room = {0};
    enum err err =
        codec_room_init(&room, job->dims, job->sum_dims, job_items_max(job));

    if (err != ERR_OK)
        return err;
    codec_room_close(&node->room);
    node->room = room;
    node->message_max =
        codec_message_max(job->dims, job->sum_dims, job_list_max(job),
                          node->evaluator->shard_max);
    outbox_init(&node->outbox, job->sum_dims);
    return ERR_OK;
}

static void show(const struct node *node, bool begins)
{
    const struct worker_watch *const watch = &node->options->watch;
    const struct worker *const core = &node->core;
    const struct worker_news news = {
        .begins = begins,
        .kind = node->open ? node->evaluator->ops->name : "",
        .rows = core->job.rows,
        .chunks = core->job.chunks,
        .steps = core->key.job != 0 ? core->key.step + 1 : 0,
        .chunks_done = core->chunks_done,
        .now = clock_now_us(),
    };

    if (watch->see != NULL && node->open)
        watch->see(watch->context, &news);
}

static void do_open(struct node *node, const struct job *job)
{
    enum err err = open_job(node, job);

    if (err == ERR_OK)
        err = open_room(node, job);
    node->open = err == ERR_OK;
    if (err != ERR_OK)
        finish(node, err,
               err == ERR_SHAPE || err == ERR_FORMAT || err == ERR_UNKNOWN
                   ? "the coordinator describes a job that cannot be"
                   : "not enough memory for this job's data");
    else
        show(node, true);
}

static void do_store_strip(struct node *node, const struct action *action)
{
    const struct msg_data *msg = &action->msg.data;
    const enum err err = evaluator_store(node->evaluator, &action->share,
                                         msg->chunk, msg->bytes, msg->size);

    if (err == ERR_NOMEM)
        finish(node, err, "not enough memory for this job's coded data");
    else if (err != ERR_OK)
        finish(node, err, "the coordinator sent a broken strip of data");
}

/* On our disk, and for peers. */
static void keep_chunk(struct node *node, uint32_t chunk)
{
    supply_keep(node->supply, chunk);
    peer_server_stored(node->server);
}

static void do_store(struct node *node, const struct action *action)
{
    const struct msg_data *msg = &action->msg.data;

    if (action->share.block != 0) {
        do_store_strip(node, action);
        return;
    }
    if (node->data != &node->own)
        return; /* All rows are here. */
    if (dataset_chunk_decode(&node->own, msg->chunk, msg->bytes, msg->size) !=
        ERR_OK)
        finish(node, ERR_FORMAT, "the coordinator sent a broken chunk of data");
    else
        keep_chunk(node, msg->chunk);
}

static void do_recall(struct node *node, const struct msg_chunks *chunks)
{
    struct why why = {0};
    const enum err err =
        supply_learn(node->supply, &node->core.job, chunks, &why);

    if (err != ERR_OK)
        finish(node, err, why.text[0] != '\0' ? why.text : err_text(err));
    else if (node->own.present.members > 0)
        supply_keeps(node->supply, node->options->leftover, &node->own.present);
    node->recalled = err == ERR_OK;
}

/* A damaged chunk on our own disk is asked for, and so is what a peer did not
 * give; a shared file that is not what it should be is nobody's to mend but the
 * user's. */
static void on_fetched(void *context, const struct fetched *fetched)
{
    struct node *node = context;
    const struct event event = {.kind = EVENT_FETCHED,
                                .err = fetched->err,
                                .chunk = fetched->first,
                                .end = fetched->end,
                                .peer = fetched->peer};

    if (fetched->err == ERR_OK &&
        !chunkset_has(&node->own.present, fetched->first) &&
        dataset_chunk_decode(&node->own, fetched->first, fetched->bytes,
                             fetched->size) != ERR_OK)
        finish(node, ERR_FORMAT, "a chunk of data is broken");
    if (fetched->why != NULL)
        finish(node, fetched->err, fetched->why);
    if (fetched->err == ERR_OK && fetched->peer != 0)
        keep_chunk(node, fetched->first);
    else if (fetched->err == ERR_OK)
        peer_server_stored(node->server);
    feed(node, &event);
}

static void do_fetch(struct node *node, const struct action *action)
{
    if (action->msg.fetch.peer == 0)
        supply_want(node->supply, action->first, action->end);
    else if (supply_want_peer(node->supply, &action->msg.fetch, action->first,
                              action->end) != ERR_OK)
        finish(node, ERR_NOMEM, "out of memory");
}

/* Where the coordinator sees us from: --interface holds for peers, too.  If
 * that cannot be, we only fetch. */
static void do_serve(struct node *node, const struct msg_serve *msg)
{
    char host[NET_HOST_SIZE];
    struct why why = {0};

    if (node->options->supply.alone || node->server == NULL || !node->up ||
        !link_own_host(node->link, host))
        return;
    node->serving = true;
    node->port = 0;
    if (peer_server_open(node->server, host, msg->key, &node->port, &why) !=
        ERR_OK)
        log_line("other workers cannot fetch from this one: %s", why.text);
}

static void carry_out(struct node *node, const struct action *action)
{
    switch (action->kind) {
    case ACTION_SEND:
        do_send(node, &action->msg);
        return;
    case ACTION_CLOSE:
        do_close(node);
        other_way(node); /* Whoever is silent may be out of reach. */
        return;
    case ACTION_TIMER:
        node->self.due = action->at;
        timer_at(node->timer, action->at);
        return;
    case ACTION_TRACE:
        return;
    case ACTION_CONNECT:
        do_connect(node);
        return;
    case ACTION_OPEN:
        do_open(node, action->job);
        return;
    case ACTION_STORE:
        do_store(node, action);
        return;
    case ACTION_COMPUTE:
        do_compute(node, action);
        return;
    case ACTION_CANCEL:
        do_cancel(node);
        return;
    case ACTION_FINISH:
        finish(node, action->err, action->reason);
        return;
    case ACTION_RECALL:
        do_recall(node, &action->msg.chunks);
        return;
    case ACTION_FETCH:
        do_fetch(node, action);
        return;
    case ACTION_SERVE:
        do_serve(node, &action->msg.serve);
        return;
    case ACTION_SHIP:
    case ACTION_JOURNAL:
    case ACTION_CHECKPOINT:
    case ACTION_JUDGE:
    case ACTION_MEASURE:
        break;
    }
    CHECK(!"an action of the coordinator");
}

/* What a joiner was sent is on its disk when it ends, so that the next run need
 * not send it again; unless it was told to go. */
static bool still_keeping(void *context, bool late)
{
    struct node *node = context;
    const uint32_t unkept = node->hurried ? 0 : supply_unkept(node->supply);

    if (late && unkept > 0 && !node->said_why) {
        log_note("%u chunks are being kept on disk for the next time; Ctrl-C "
                 "ends this at once",
                 unkept);
        node->said_why = true;
    }
    return unkept > 0;
}

static void begin_end(struct node *node)
{
    if (node->supply != NULL && node->err == ERR_OK) {
        supply_end(node->supply);
        farewell_await(&node->farewell, still_keeping, node);
    }
    do_close(node);
    flag_raise(&node->cancel);
    timer_at(node->timer, TIME_NEVER);
    farewell_begin(&node->farewell, node->hub, NULL, FINISH_US);
}

static void step(struct node *node, const struct event *event)
{
    struct event timed = *event;

    timed.now = clock_now_us();
    if (timed.kind == EVENT_TIME && node->up)
        timed.backlog = link_backlog(node->link, PLANE_BULK);
    worker_step(&node->core, &timed, &node->actions);
    for (uint32_t i = 0; i < node->actions.count && !node->finished; i++)
        carry_out(node, &node->actions.list[i]);
}

/* A quick piece; the loop is kept for QUICK_US or two (CALM_US), no more. */
static void compute_here(struct node *node)
{
    struct event event = {.kind = EVENT_COMPUTED, .err = ERR_CANCELLED};

    node->due = false;
    if (!node->called_off) {
        compute_work(node);
        note_speed(node);
        in_loop_kept(&node->in_loop, node->compute_us);
        node->here_us += node->compute_us;
        event = computed(node);
    }
    node->called_off = false;
    evaluator_end(node->evaluator);
    step(node, &event);
}

/* NULL: only see whether it is over. */
static void feed(struct node *node, const struct event *event)
{
    if (farewell_begun(&node->farewell))
        return;
    in_loop_looked(&node->in_loop);
    if (!node->finished && event != NULL)
        step(node, event);
    while (node->due && !node->finished)
        compute_here(node);
    if (node->recalled && !node->finished) {
        const struct event recalled = {.kind = EVENT_RECALLED,
                                       .near = supply_near(node->supply),
                                       .held = &node->own.present};

        node->recalled = false;
        feed(node, &recalled);
        return;
    }
    if (node->serving && !node->finished) {
        const struct event serving = {.kind = EVENT_SERVING,
                                      .port = node->port};

        node->serving = false;
        feed(node, &serving);
        return;
    }
    give_room(node);
    if (node->finished && !farewell_begun(&node->farewell))
        begin_end(node);
}

/* Just before each pulse that wants it: it takes some system calls. */
static void look_at_self(struct node *node)
{
    const time_us now = clock_now_us();
    const uint64_t unsent = node->up ? link_queued(node->link, PLANE_BULK) : 0;

    self_woken(&node->self, now);
    if (!node->open || node->core.job.pulse_us == 0 ||
        now + MS_US < node->core.pulse.due_at ||
        now + MS_US < node->core.beat_at)
        return;
    self_vitals(&node->self, node->options->threads, unsent, now,
                &node->core.pulse.vitals);
    /* What the loop's own thread computed is no other thread's time. */
    node->core.pulse.vitals.cpu_us += node->here_us / node->options->threads;
}

static void on_time(void *context)
{
    struct node *node = context;
    const struct event event = {.kind = EVENT_TIME};

    listener_look(node->bell);
    look_at_self(node);
    feed(node, &event);
    show(node, false);
}

static void on_alert(void *context)
{
    struct node *node = context;
    const struct event event = {.kind = EVENT_LEAVE};

    node->hurried = true;
    feed(node, &event);
}

/* Set-up. */

static enum err open_core(struct node *node, struct why *why)
{
    const struct worker_node_options *options = node->options;
    struct worker_options core = {
        .incarnation = random_u64(),
        .pid = process_own_pid(),
        .resident = options->resident != NULL || options->user != NULL,
        .keeps = options->resident == NULL && options->user == NULL &&
                 options->owned == NULL,
        .alone = options->supply.alone,
        .stays = options->leftover != NULL,
        .data = options->data,
        .retry_us = RETRY_US,
        .retry_max_us = RETRY_MAX_US,
        .give_up_us = options->give_up_us,
    };
    enum err err = arithmetic_check(options->isa, why);

    if (err != ERR_OK)
        return err;
    core.arithmetic = arithmetic_digest();
    if (options->owned != NULL) {
        core.owns = true;
        core.data = options->owned->job;
        core.part = options->owned->part;
        core.own_first = options->owned->first;
        core.own_end = options->owned->end;
    }
    memcpy(core.name, options->name, NAME_SIZE);
    if (options->board != NULL)
        board_berth_take(options->board, options->berth, core.incarnation);
    worker_init(&node->core, &core);
    err = actions_init(&node->actions, ACTIONS_FIRST);
    if (err == ERR_OK)
        err = codec_room_init(&node->room, 0, 0, 0);
    return err;
}

static enum err open_loop(struct node *node)
{
    struct link_options links = {
        .token = node->options->token,
        .source = node->options->source,
        .events = &link_events,
        .context = node,
        .elsewhere = node->options->address_count > 1,
    };
    enum err err = loop_new(&node->loop);

    links.loop = node->loop;
    if (err == ERR_OK)
        err = timer_new(node->loop, on_time, node, &node->timer);
    if (err == ERR_OK)
        err = farewell_open(&node->farewell, node->loop);
    if (err == ERR_OK)
        err = alerts_new(node->loop, node->options->interrupt, on_alert, node,
                         &node->alerts);
    if (err == ERR_OK)
        err = preempt_new(node->loop, &node->options->notice, on_alert, node,
                          &node->preempt);
    if (err == ERR_OK && node->options->resident == NULL &&
        node->options->user == NULL && node->options->owned == NULL)
        err = supply_new(node->loop, &node->options->supply, &node->own,
                         node->options->name, node->options->source, on_fetched,
                         node, &node->supply);
    if (err == ERR_OK && node->supply != NULL)
        err = peer_server_new(node->loop, &node->own,
                              node->options->supply.spoils, &node->server);
    if (err == ERR_OK)
        err =
            listener_new(node->loop, node->options->board, node->options->berth,
                         BOARD_WORKER, on_bell, node, &node->bell);
    if (err == ERR_OK)
        err = link_hub_new(&links, &node->hub);
    return err;
}

/* For the next job. */
static void leave_rows(struct node *node)
{
    struct leftover *const left = node->options->leftover;

    if (left == NULL || node->supply == NULL)
        return;
    leftover_close(left);
    supply_leave(node->supply, left);
    if (left->digests == NULL)
        return;
    left->data = node->own;
    node->own = (struct dataset){0};
}

static void node_close(struct node *node)
{
    flag_raise(&node->cancel);
    task_free(node->task);
    if (node->err == ERR_STALE)
        leave_rows(node);
    supply_free(node->supply);
    peer_server_free(node->server);
    evaluator_close(node->evaluator);
    threads_free(node->pool);
    listener_free(node->bell);
    link_hub_free(node->hub);
    alerts_free(node->alerts);
    preempt_free(node->preempt);
    timer_free(node->timer);
    farewell_close(&node->farewell);
    loop_free(node->loop);
    worker_close(&node->core);
    actions_close(&node->actions);
    codec_room_close(&node->room);
    codec_room_close(&node->kept);
    envelope_close(&node->envelope);
    outbox_close(&node->outbox);
    mem_free(node->inbox);
    dataset_close(&node->own);
}

enum err worker_node_run(const struct worker_node_options *options,
                         struct why *why)
{
    const struct event start = {.kind = EVENT_START};
    struct node node = {.options = options, .why = why};
    enum err err = open_core(&node, why);

    CHECK(options->threads > 0 && codec_name_valid(options->name));
    CHECK(options->address_count > 0);
    if (err == ERR_OK)
        err = open_loop(&node);
    if (err == ERR_OK) {
        self_init(&node.self, clock_now_us());
        feed(&node, &start);
        loop_run(node.loop);
        show(&node, false);
        err = node.err;
    }
    if (err == ERR_NOMEM && why != NULL && why->text[0] == '\0')
        (void)why_set(why, err, "not enough memory for a worker");
    node_close(&node);
    return err;
}
