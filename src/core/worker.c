#include "core/worker.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/bugs.h"
#include "core/product.h"
#include "core/worker_parts.h"

#define LEAVE_RESEND_US (200 * MS_US)
#define LEAVE_WAIT_US   (2 * SECOND_US)
#define HELLO_RESEND_US (500 * MS_US)
#define NEED_RESEND_US  (200 * MS_US)
#define QUEUE_MIN       16u
#define RTT_WEIGHT      (1.0 / 8)
#define RTT_PATIENCE    8 /* Round trips of silence: the coordinator is gone. */

/* --- helpers ------------------------------------------------------------- */

struct msg *worker_send(struct actions *actions, enum msg_kind kind)
{
    struct action *action = actions_add(actions, ACTION_SEND);

    action->msg.kind = kind;
    return &action->msg;
}

static struct msg *send(struct actions *actions, enum msg_kind kind)
{
    return worker_send(actions, kind);
}

static void finish(struct worker *worker, struct actions *actions, enum err err,
                   const char *reason)
{
    struct action *action = actions_add(actions, ACTION_FINISH);

    action->err = err;
    action->reason = reason;
    worker->phase = WORKER_DONE;
}

static time_us sooner(time_us a, time_us b)
{
    return a < b ? a : b;
}

void worker_init(struct worker *worker, const struct worker_options *options)
{
    CHECK(options->name[0] != '\0');
    CHECK(options->retry_us > 0);
    *worker = (struct worker){
        .options = *options,
        .phase = WORKER_DIALLING,
        .retry_us = options->retry_us,
        .dial_at = TIME_NEVER,
    };
    pulse_init(&worker->pulse);
}

void worker_close(struct worker *worker)
{
    worker_data_close(worker);
    tally_close(&worker->tally);
    tally_close(&worker->sent);
    mem_free(worker->row);
    mem_free(worker->gradient);
    mem_free(worker->queue);
    mem_free(worker->block_items);
    for (int i = 0; i < 2; i++) {
        mem_free(worker->weights[i]);
        mem_free(worker->direction[i]);
        mem_free(worker->exponent[i]);
    }
    *worker = (struct worker){0};
}

/* --- the round ----------------------------------------------------------- */

/* Forget the round.  What is being computed is called off; its buffer comes
 * back with EVENT_COMPUTED. */
static void round_end(struct worker *worker, struct actions *actions)
{
    if (worker->computing && !worker->cancelling) {
        worker->cancelling = true;
        pulse_cancel(&worker->pulse, worker->now);
        (void)actions_add(actions, ACTION_CANCEL);
    }
    pulse_release(&worker->pulse, worker->now);
    worker->in_round = false;
    worker->holding = false;
    worker->queue_count = 0;
    worker->at = 0;
}

static uint32_t queued(const struct worker *worker)
{
    uint32_t count = 0;

    for (uint32_t i = worker->at; i < worker->queue_count; i++)
        count += !worker->queue[i].dropped;
    return count;
}

static struct worker_item *find(struct worker *worker, uint32_t id)
{
    for (uint32_t i = worker->at; i < worker->queue_count; i++) {
        if (worker->queue[i].item.id == id)
            return &worker->queue[i];
    }
    return NULL;
}

static bool item_fits(const struct worker *worker, const struct item *item)
{
    return item->first < item->end && item->end <= worker->job.chunks;
}

static bool is_coded(const struct worker *worker, const struct item *item)
{
    return worker->coded && item->coefficient != 0;
}

/* A piece already queued is not queued twice, but one that was answered is:
 * if the coordinator asks again, the answer was lost.  Not so pieces of a row:
 * they are taken only at its beginning (`row`), or they would be in it twice.
 */
static void enqueue(struct worker *worker, const struct item *items,
                    uint32_t count, bool row)
{
    for (uint32_t i = 0; i < count; i++) {
        struct worker_item *known = find(worker, items[i].id);

        if (!item_fits(worker, &items[i]) ||
            (!row && is_coded(worker, &items[i])))
            continue;
        if (known != NULL) {
            known->dropped = false;
            continue;
        }
        if (worker->queue_count == worker->queue_capacity && worker->at > 0) {
            worker->queue_count -= worker->at;
            memmove(worker->queue, worker->queue + worker->at,
                    worker->queue_count * sizeof *worker->queue);
            worker->at = 0;
        }
        if (worker->queue_count == worker->queue_capacity)
            return; /* More pieces than chunks: nothing sane asks for it. */
        worker->queue[worker->queue_count++] = (struct worker_item){
            .item = items[i], .coded = is_coded(worker, &items[i])};
        worker->coded_left += is_coded(worker, &items[i]);
    }
}

struct block_share worker_share(const struct worker *worker)
{
    return (struct block_share){.block = worker->block,
                                .parts = worker->what.parts,
                                .count = worker->block_count,
                                .items = worker->block_items};
}

/* All pieces of a product are one block, and one computation. */
static void start_product(struct worker *worker, struct actions *actions)
{
    const uint32_t first = block_strip_first(&worker->what, worker->kind);
    const uint32_t end = block_strip_end(&worker->what, worker->kind);
    struct action *action;

    if (!chunkset_has_range(&worker->held, first, end)) {
        worker_data_need(worker, first, end, actions);
        return;
    }
    action = actions_add(actions, ACTION_COMPUTE);
    action->end = block_chunks(&worker->what);
    action->what = (struct evaluation){.kind = worker->kind, .w = worker->w};
    action->kept = worker->kept;
    action->vector = worker->row;
    action->share = worker_share(worker);
    action->step = worker->key.step;
    worker->in_use = worker->live;
    worker->computing = true;
    pulse_compute(&worker->pulse, worker->now, worker->key.step,
                  worker->queue[worker->at].item.id);
}

static void start_compute(struct worker *worker, const struct item *item,
                          struct actions *actions)
{
    struct action *action = actions_add(actions, ACTION_COMPUTE);
    const struct tally before = worker->tally;

    /* A TALLY of this very step still points at the sums of the last piece. */
    worker->tally = worker->sent;
    worker->sent = before;
    worker->tally.dims = worker->sum_dims;
    tally_blank(&worker->tally);
    action->first = item->first;
    action->end = item->end;
    action->what = (struct evaluation){
        .kind = worker->kind,
        .w = worker->w,
        .v = worker->kind == EVALUATE_HESSVEC ? worker->v : NULL,
    };
    action->round = worker->key.weights;
    action->kept = worker->kept;
    action->exponent = worker->e;
    action->tally = &worker->tally;
    action->vector = worker->gradient;
    action->step = worker->key.step;
    worker->in_use = worker->live;
    worker->computing = true;
    pulse_compute(&worker->pulse, worker->now, worker->key.step, item->id);
}

static bool has_data(const struct worker *worker,
                     const struct worker_item *item)
{
    return chunkset_has_range(&worker->held, item->item.first, item->item.end);
}

/* Begin with a piece whose data has come.  Not so pieces of a row, whose order
 * is that of its additions. */
static void bring_forward(struct worker *worker)
{
    struct worker_item *next = &worker->queue[worker->at];
    uint32_t i = worker->at;

    if (next->coded)
        return;
    while (i < worker->queue_count &&
           (worker->queue[i].dropped || worker->queue[i].coded ||
            !has_data(worker, &worker->queue[i])))
        i++;
    if (i > worker->at && i < worker->queue_count) {
        const struct worker_item found = worker->queue[i];

        memmove(next + 1, next, (i - worker->at) * sizeof *next);
        *next = found;
    }
}

static void start_next(struct worker *worker, struct actions *actions)
{
    if (!worker->in_round || worker->computing || worker->holding)
        return;
    while (worker->at < worker->queue_count &&
           worker->queue[worker->at].dropped)
        worker->at++;
    if (worker->at == worker->queue_count)
        return;
    if (evaluation_is_product(worker->kind)) {
        start_product(worker, actions);
        return;
    }
    bring_forward(worker);
    if (!has_data(worker, &worker->queue[worker->at])) {
        worker_data_need(worker, worker->queue[worker->at].item.first,
                         worker->queue[worker->at].item.end, actions);
        return;
    }
    start_compute(worker, &worker->queue[worker->at].item, actions);
}

static void send_tally(struct worker *worker, const struct item *item,
                       struct actions *actions)
{
    struct msg_tally *tally = &send(actions, MSG_TALLY)->tally;

    tally->key = worker->key;
    tally->piece = item->id;
    tally->first = item->first;
    tally->end = item->end;
    tally->compute_us = worker->compute_us;
    tally->dims = worker->tally.dims;
    tally->sum = worker->sum;
    tally->loss = worker->tally.loss;
}

static void send_row(struct worker *worker, struct actions *actions)
{
    struct msg_row *row = &send(actions, MSG_ROW)->row;

    row->key = worker->key;
    row->compute_us = worker->compute_us;
    row->dims = worker->sum_dims;
    row->row = worker->row;
}

/* Coded rounds: row += coefficient * gradient of the piece, in the order of
 * the pieces.  Each piece's gradient is exact; only these few operations
 * round. */
static void add_to_row(struct worker *worker, const struct item *item)
{
    const uint32_t dims = worker->tally.dims;

    if (worker->kind != EVALUATE_LOCAL) { /* Else it is there already. */
        (void)tally_gradient(&worker->tally, worker->e, worker->gradient);
        worker->gradient[dims] = tally_loss_value(&worker->tally);
    }
    for (uint32_t j = 0; j <= dims; j++)
        worker->row[j] += item->coefficient * worker->gradient[j];
}

/* The piece at hand is computed and any delay is over: answer it. */
static void deliver(struct worker *worker, struct actions *actions)
{
    const struct worker_item *done = &worker->queue[worker->at];
    const bool row = done->coded && --worker->coded_left == 0;

    pulse_release(&worker->pulse, worker->now);
    worker->holding = false;
    if (!done->coded)
        send_tally(worker, &done->item, actions);
    else if (row && !worker->coded_failed)
        send_row(worker, actions);
    if (!done->coded || row)
        worker->compute_us = 0;
    worker->at++;
    start_next(worker, actions);
}

/* Injected slowness: the additive delay once per round before the first send,
 * the proportional one for every piece. */
static time_us delay_of(struct worker *worker, int64_t compute_us)
{
    double delay_us = worker->delay_factor * (double)compute_us;
    const bool sends =
        !worker->queue[worker->at].coded || worker->coded_left == 1;

    if (!worker->delayed && sends) {
        delay_us += worker->delay_s * 1e6;
        worker->delayed = true;
    }
    return delay_us < 1 ? 0 : (time_us)delay_us;
}

/* What is left of the queue is the last piece of the row. */
static void end_product(struct worker *worker)
{
    worker->row[worker->sum_dims] = 0; /* A product has no loss. */
    worker->coded_left = 1;
    worker->at = worker->queue_count - 1;
}

static void refuse(struct worker *worker, struct actions *actions)
{
    struct msg_refuse *msg = &send(actions, MSG_REFUSE)->refuse;

    if (evaluation_is_product(worker->kind))
        end_product(worker);
    msg->key = worker->key;
    msg->piece = worker->queue[worker->at].item.id;
    if (worker->queue[worker->at].coded) {
        worker->coded_failed = true;
        worker->coded_left--;
    }
    worker->at++;
    start_next(worker, actions);
}

static uint32_t computed_chunks(const struct worker *worker)
{
    const struct item *item;

    if (worker->cancelling || worker->at >= worker->queue_count)
        return 0;
    if (evaluation_is_product(worker->kind))
        return block_chunks(&worker->what);
    item = &worker->queue[worker->at].item;
    return item->end - item->first;
}

static bool busy(const struct worker *worker)
{
    return worker->in_round && worker->at < worker->queue_count;
}

static void on_computed(struct worker *worker, const struct event *event,
                        struct actions *actions)
{
    const struct item *item;
    time_us delay_us;

    CHECK(worker->computing);
    worker->computing = false;
    pulse_computed(&worker->pulse, worker->now, computed_chunks(worker));
    if (worker->cancelling) {
        worker->cancelling = false;
        if (!BUG(BUG_OLD_COMPUTE) || !busy(worker)) {
            start_next(worker, actions);
            return;
        }
    }
    CHECK(worker->in_round);
    item = &worker->queue[worker->at].item;
    worker->sum = event->sum != NULL ? event->sum : worker->tally.sum;
    if (event->sum == NULL && worker->kind != EVALUATE_LOCAL)
        tally_fill(&worker->tally); /* If nothing was added. */
    if (event->err == ERR_STALE) {
        round_end(worker, actions); /* Its weights are gone: it is over. */
        return;
    }
    if (event->err != ERR_OK && !BUG(BUG_OLD_COMPUTE)) {
        refuse(worker, actions);
        return;
    }
    worker->compute_us += event->compute_us;
    if (evaluation_is_product(worker->kind)) {
        end_product(worker);
        worker->chunks_done += block_chunks(&worker->what);
    } else {
        worker->chunks_done += item->end - item->first;
        if (worker->queue[worker->at].coded)
            add_to_row(worker, item);
    }
    delay_us = worker->leaving ? 0 : delay_of(worker, event->compute_us);
    if (delay_us == 0) {
        deliver(worker, actions);
        return;
    }
    worker->holding = true;
    pulse_hold(&worker->pulse, worker->now);
    worker->release_at = worker->now + delay_us;
}

/* The round is about this block: what is held of another is of no use.  One
 * that has the rows can make any. */
static void turn_to_block(struct worker *worker, const struct msg_round *msg)
{
    const uint64_t block = product_block(msg->parts, msg->items, msg->count);

    worker->what = product_shape(&worker->job, msg->parts);
    if (block == worker->block)
        return;
    worker->block = block;
    worker->block_count = msg->count;
    memcpy(worker->block_items, msg->items, msg->count * sizeof *msg->items);
    if (!worker->options.resident)
        chunkset_clear(&worker->held);
}

/* Vectors that stay where they are need no copy. */
static void take_vectors(struct worker *worker, const struct msg_round *msg)
{
    const uint32_t live = worker->live;

    worker->kept = msg->kept;
    worker->w = msg->kept != 0 ? msg->weights : worker->weights[live];
    worker->v = msg->kept != 0 ? msg->direction : worker->direction[live];
    if (msg->kept != 0)
        return;
    if (!BUG(BUG_OLD_WEIGHTS) || msg->key.step == 0)
        memcpy(worker->weights[live], msg->weights,
               msg->dims * sizeof *msg->weights);
    if (msg->kind == EVALUATE_HESSVEC)
        memcpy(worker->direction[live], msg->direction,
               msg->dims * sizeof *msg->direction);
}

/* Exponents change rarely, and the key names them. */
static void take_scale(struct worker *worker, const struct msg_round *msg)
{
    const uint32_t live = worker->live;
    const uint32_t count = evaluation_dims(msg->kind, msg->dims);

    worker->kept_scale = msg->kept_scale;
    worker->e = msg->kept_scale ? msg->exponent : worker->exponent[live];
    if (msg->kept_scale)
        return;
    if (worker->scaled[live] == count && worker->scale[live] == msg->key.scale)
        return;
    memcpy(worker->exponent[live], msg->exponent,
           count * sizeof *msg->exponent);
    worker->scaled[live] = count;
    worker->scale[live] = msg->key.scale;
}

static void round_open(struct worker *worker, const struct msg_round *msg,
                       struct actions *actions)
{
    const uint32_t dims = msg->dims;
    uint32_t sum_dims = evaluation_dims(msg->kind, dims);

    round_end(worker, actions);
    if (evaluation_is_product(msg->kind)) {
        turn_to_block(worker, msg);
        sum_dims = block_out(&worker->what, msg->kind);
    }
    /* A compute that was called off may still be reading its weights. */
    worker->live = worker->computing ? 1 - worker->in_use : worker->live;
    take_vectors(worker, msg);
    take_scale(worker, msg);
    worker->kind = msg->kind;
    worker->sum_dims = sum_dims;
    worker->in_round = true;
    worker->key = msg->key;
    worker->coded = msg->coded;
    worker->coded_failed = false;
    worker->coded_left = 0;
    worker->delay_s = msg->delay_s;
    worker->delay_factor = msg->delay_factor;
    worker->delayed = false;
    worker->compute_us = 0;
    worker->need_at = worker->now + NEED_RESEND_US;
    /* A product that was called off may still be writing to it. */
    if (msg->coded && !evaluation_is_product(msg->kind))
        memset(worker->row, 0, (sum_dims + 1) * sizeof *worker->row);
}

/* WORK-1: obey no view lower than one obeyed before; WORK-2: no round that was
 * called off.  Both can arrive late, from a coordinator that has been replaced
 * or over the slower connection. */
static bool round_is_current(const struct worker *worker,
                             const struct round_key *key)
{
    return worker->open && key->job == worker->job.id &&
           key->view >= worker->view_seen && key_order(key, &worker->over) > 0;
}

static bool asks_row(const struct msg_round *msg)
{
    for (uint32_t i = 0; i < msg->count; i++) {
        if (msg->coded && msg->items[i].coefficient != 0)
            return true;
    }
    return false;
}

/* A product with a block of this job: parts that there are, each at most once
 * and where it belongs. */
static bool product_fits(const struct worker *worker,
                         const struct msg_round *msg)
{
    const struct job *job = &worker->job;
    const struct block_shape shape = product_shape(job, msg->parts);

    if (!job->products || !msg->coded || msg->parts == 0 ||
        msg->parts > job->chunks || msg->count == 0 ||
        msg->count > msg->parts || msg->dims != block_in(&shape, msg->kind))
        return false;
    for (uint32_t i = 0; i < msg->count; i++) {
        const struct item *item = &msg->items[i];

        if (item->id >= msg->parts || item->coefficient == 0 ||
            (i > 0 && item->id <= msg->items[i - 1].id) ||
            item->first >= item->end || item->end > job->chunks ||
            item->end - item->first > block_chunks(&shape))
            return false;
    }
    return true;
}

/* One that has room here, and is part of the job. */
static bool round_fits(const struct worker *worker, const struct msg_round *msg)
{
    if (worker->job.products || evaluation_is_product(msg->kind))
        return evaluation_is_product(msg->kind) && product_fits(worker, msg);
    if (msg->kind == EVALUATE_LOCAL &&
        (worker->job.local.every == 0 || !msg->coded))
        return false;
    return msg->dims == worker->job.dims &&
           evaluation_dims(msg->kind, msg->dims) <= worker->job.sum_dims;
}

static bool is_again(const struct worker *worker, const struct round_key *key)
{
    return worker->in_round && key_equal(key, &worker->key);
}

static bool obeys(const struct worker *worker, const struct round_key *key)
{
    if (worker->phase != WORKER_SERVING || worker->leaving ||
        !round_is_current(worker, key))
        return false;
    return !worker->in_round || is_again(worker, key) ||
           key_order(key, &worker->key) >= 0;
}

/* The round gives way to the one that is arriving, as it would to the whole
 * message.  What is being computed is finished if it is of the same round, or
 * if that message will not be obeyed. */
static void on_coming(struct worker *worker, const struct round_key *key,
                      struct actions *actions)
{
    if (!worker->in_round || !worker->kept_scale ||
        (worker->computing && (is_again(worker, key) || !obeys(worker, key))))
        return;
    round_end(worker, actions);
}

static void on_round(struct worker *worker, const struct msg_round *msg,
                     struct actions *actions)
{
    const bool again = is_again(worker, &msg->key);
    bool anew;

    if (!obeys(worker, &msg->key) || !round_fits(worker, msg))
        return;
    /* A coded row asked for again is computed again whole, or not at all. */
    anew = !again || (asks_row(msg) && msg->assignment > worker->assignment &&
                      worker->coded_left == 0);
    if (anew)
        round_open(worker, msg, actions);
    worker->view_seen = msg->key.view;
    if (msg->assignment > worker->assignment)
        worker->assignment = msg->assignment;
    enqueue(worker, msg->items, msg->count, anew);
    start_next(worker, actions);
}

static void on_work(struct worker *worker, const struct msg_work *msg,
                    struct actions *actions)
{
    if (!worker->in_round || worker->leaving ||
        !key_equal(&msg->key, &worker->key))
        return;
    if (msg->assignment > worker->assignment)
        worker->assignment = msg->assignment;
    enqueue(worker, msg->items, msg->count, false);
    start_next(worker, actions);
}

/* Pieces another worker has taken over.  One that is being computed goes on:
 * the first answer counts. */
static void on_drop(struct worker *worker, const struct msg_work *msg)
{
    if (!worker->in_round || !key_equal(&msg->key, &worker->key))
        return;
    for (uint32_t i = 0; i < msg->count; i++) {
        struct worker_item *item = find(worker, msg->items[i].id);
        const bool begun = item == &worker->queue[worker->at] &&
                           (worker->computing || worker->holding);

        if (item != NULL && !begun)
            item->dropped = true;
    }
}

static void on_cancel(struct worker *worker, const struct msg_cancel *msg,
                      struct actions *actions)
{
    if (!worker->open || msg->key.job != worker->job.id)
        return;
    if (key_order(&msg->key, &worker->over) > 0)
        worker->over = msg->key;
    if (worker->in_round && key_order(&worker->key, &worker->over) <= 0)
        round_end(worker, actions);
}

/* --- the job ------------------------------------------------------------- */

static enum err job_room(struct worker *worker, const struct job *job)
{
    enum err err = worker_data_room(worker, job);

    if (err == ERR_OK)
        err = tally_init(&worker->tally, job->sum_dims, job->chunks);
    if (err == ERR_OK)
        err = tally_init(&worker->sent, job->sum_dims, job->chunks);
    if (err != ERR_OK)
        return err;
    worker->queue_capacity = job->chunks + QUEUE_MIN;
    worker->queue = mem_new(worker->queue_capacity, sizeof *worker->queue);
    worker->block_items =
        mem_new(job->products ? job->chunks : 0, sizeof *worker->block_items);
    worker->row = mem_new((size_t)job->sum_dims + 1, sizeof *worker->row);
    worker->gradient =
        mem_new((size_t)job->sum_dims + 1, sizeof *worker->gradient);
    for (int i = 0; i < 2; i++) {
        worker->weights[i] = mem_new(job->products ? job->sum_dims : job->dims,
                                     sizeof **worker->weights);
        worker->direction[i] = mem_new(job->dims, sizeof **worker->direction);
        worker->exponent[i] = mem_new(job->sum_dims, sizeof **worker->exponent);
        if (worker->weights[i] == NULL || worker->direction[i] == NULL ||
            worker->exponent[i] == NULL)
            return ERR_NOMEM;
    }
    if (worker->queue == NULL || worker->row == NULL ||
        worker->gradient == NULL || worker->block_items == NULL)
        return ERR_NOMEM;
    return ERR_OK;
}

/* The one place where a worker allocates: once, when it learns its job. */
static void job_open(struct worker *worker, const struct job *job,
                     struct actions *actions)
{
    if (job_room(worker, job) != ERR_OK) {
        finish(worker, actions, ERR_NOMEM,
               "not enough memory for the model and its tallies");
        return;
    }
    worker->job = *job;
    worker->open = true;
    if (worker->options.resident)
        chunkset_fill(&worker->held);
    if (worker->options.owns)
        chunkset_add_range(&worker->held, worker->options.own_first,
                           worker->options.own_end);
    actions_add(actions, ACTION_OPEN)->job = &worker->job;
}

static void on_welcome(struct worker *worker, const struct job *job,
                       struct actions *actions)
{
    if (worker->phase != WORKER_GREETING)
        return;
    if (worker->open &&
        (job->id != worker->job.id || job->dims != worker->job.dims ||
         job->chunks != worker->job.chunks)) {
        finish(worker, actions, ERR_MISMATCH,
               "the coordinator now runs another job; join again");
        return;
    }
    if ((worker->options.resident || worker->options.owns) &&
        !digest_equal(&job->data, &worker->options.data)) {
        finish(worker, actions, ERR_MISMATCH,
               "the coordinator trains on other data");
        return;
    }
    if (worker->options.owns &&
        (!job->owned || worker->options.own_end > job->chunks)) {
        finish(worker, actions, ERR_MISMATCH,
               "the coordinator describes a job that cannot be");
        return;
    }
    worker->phase = WORKER_SERVING;
    worker->pulse.tracing = job->stints;
    if (!worker->open)
        job_open(worker, job, actions);
    worker->assignment = 0;
    worker->retry_us = worker->options.retry_us;
    worker->beat_at = worker->now;
    worker_data_welcomed(worker, actions);
}

/* --- the link ------------------------------------------------------------ */

static void say_hello(struct worker *worker, struct actions *actions)
{
    struct msg_hello *hello = &send(actions, MSG_HELLO)->hello;

    hello->version = MSG_VERSION;
    memcpy(hello->name, worker->options.name, NAME_SIZE);
    hello->incarnation = worker->options.incarnation;
    hello->pid = worker->options.pid;
    hello->arithmetic = worker->options.arithmetic;
    hello->resident = worker->options.resident;
    hello->data = worker->options.data;
    hello->job = worker->open ? worker->job.id : 0;
    hello->view_seen = worker->view_seen;
    hello->keeps = worker_data_keeps(worker);
    hello->owns = worker->options.owns;
    hello->part = worker->options.part;
    worker->hello_at = worker->now + HELLO_RESEND_US;
}

static void on_link_up(struct worker *worker, struct actions *actions)
{
    if (worker->phase != WORKER_DIALLING)
        return;
    worker->phase = WORKER_GREETING;
    worker->heard_at = worker->now;
    say_hello(worker, actions);
}

static void redial(struct worker *worker, struct actions *actions)
{
    round_end(worker, actions);
    worker->pulse.clock = (struct offset){0}; /* Maybe another machine's. */
    if (worker->leaving) {
        finish(worker, actions, ERR_OK, "left while the coordinator was away");
        return;
    }
    worker->phase = WORKER_DIALLING;
    worker->dial_at = worker->now + worker->retry_us;
    worker->retry_us =
        sooner(worker->retry_us * 2, worker->options.retry_max_us);
}

static void on_link_down(struct worker *worker, struct actions *actions)
{
    if (worker->phase == WORKER_DONE)
        return;
    if (worker->phase == WORKER_SERVING)
        worker->lost_at = worker->now;
    redial(worker, actions);
}

static void dial(struct worker *worker, struct actions *actions)
{
    if (worker->options.give_up_us != TIME_NEVER &&
        worker->now - worker->lost_at >= worker->options.give_up_us) {
        finish(worker, actions, ERR_TIMEOUT,
               "the coordinator cannot be reached");
        return;
    }
    worker->dial_at = TIME_NEVER;
    (void)actions_add(actions, ACTION_CONNECT);
}

static void beat(struct worker *worker, struct actions *actions)
{
    struct msg_beat *msg = &send(actions, MSG_BEAT)->beat;

    msg->sequence = ++worker->sequence;
    msg->sent_us = worker->now;
    msg->view = worker->in_round ? worker->key.view : 0;
    msg->step = worker->in_round ? worker->key.step : 0;
    msg->attempt = worker->in_round ? worker->key.attempt : 0;
    msg->assignment = worker->assignment;
    /* An answer that is on its way is not lost. */
    msg->queued = queued(worker) + worker->backlog;
    msg->chunks_done = worker->chunks_done;
    worker->beat_at = worker->now + worker->job.beat_us;
    worker->beaten = true;
}

/* Last in a step: the message points at stints that nobody may add to. */
static void send_pulse(struct worker *worker, struct actions *actions)
{
    if (worker->phase != WORKER_SERVING)
        return;
    if (!worker->computing && !worker->holding)
        pulse_idle(&worker->pulse, worker->now);
    if (pulse_due(&worker->pulse, &worker->job, worker->now, worker->beaten))
        pulse_fill(&worker->pulse, &worker->job, worker->now, worker->beaten,
                   &send(actions, MSG_PULSE)->pulse);
}

/* Nothing unsent is left: say goodbye.  Said again until BYE or patience ends.
 */
static void say_leave(struct worker *worker, struct actions *actions)
{
    if (worker->phase == WORKER_SERVING) {
        worker->phase = WORKER_LEAVING;
        worker->leave_until = worker->now + LEAVE_WAIT_US;
    }
    send(actions, MSG_LEAVE);
    worker->leave_at = worker->now + LEAVE_RESEND_US;
}

/* Leave in good order: the piece at hand is finished and sent (a delay is cut
 * short), the rest goes back to the coordinator with LEAVE. */
static void on_leave(struct worker *worker, struct actions *actions)
{
    if (worker->leaving || worker->phase == WORKER_DONE)
        return;
    worker->leaving = true;
    if (worker->phase != WORKER_SERVING) {
        finish(worker, actions, ERR_OK, "left before the job began");
        return;
    }
    if (worker->coded &&
        (worker->at == worker->queue_count || worker->queue[worker->at].coded))
        round_end(worker, actions); /* Part of a coded row is of no use. */
    if (worker->at < worker->queue_count)
        worker->queue_count =
            worker->at + (worker->computing || worker->holding ? 1 : 0);
    if (worker->holding)
        deliver(worker, actions);
}

/* --- time ---------------------------------------------------------------- */

static bool silent_too_long(const struct worker *worker)
{
    const time_us patient = (time_us)(RTT_PATIENCE * worker->rtt_us);
    const time_us limit =
        worker->job.dead_us > patient ? worker->job.dead_us : patient;

    return worker->job.beat_us > 0 && worker->job.dead_us > 0 &&
           worker->now - worker->heard_at >= limit;
}

static void on_time_serving(struct worker *worker, struct actions *actions)
{
    if (worker->holding && worker->now >= worker->release_at)
        deliver(worker, actions);
    if (worker->in_round && !worker->computing && !worker->holding)
        start_next(worker, actions);
    if (worker->job.beat_us > 0 && worker->now >= worker->beat_at)
        beat(worker, actions);
    if (silent_too_long(worker)) {
        (void)actions_add(actions, ACTION_CLOSE);
        worker->lost_at = worker->now;
        redial(worker, actions);
    }
}

static void on_time(struct worker *worker, struct actions *actions)
{
    switch (worker->phase) {
    case WORKER_DIALLING:
        if (worker->now >= worker->dial_at)
            dial(worker, actions);
        break;
    case WORKER_GREETING:
        if (worker->now >= worker->hello_at)
            say_hello(worker, actions);
        break;
    case WORKER_SERVING:
        on_time_serving(worker, actions);
        break;
    case WORKER_LEAVING:
        if (worker->now >= worker->leave_until)
            finish(worker, actions, ERR_OK, "left without an answer");
        else if (worker->now >= worker->leave_at)
            say_leave(worker, actions);
        break;
    case WORKER_DONE:
        break;
    }
}

static time_us next_time(const struct worker *worker)
{
    time_us next = TIME_NEVER;

    switch (worker->phase) {
    case WORKER_DIALLING:
        return worker->dial_at;
    case WORKER_GREETING:
        return worker->hello_at;
    case WORKER_LEAVING:
        return sooner(worker->leave_at, worker->leave_until);
    case WORKER_DONE:
        return TIME_NEVER;
    case WORKER_SERVING:
        break;
    }
    if (worker->job.beat_us > 0)
        next = worker->beat_at;
    if (worker->holding)
        next = sooner(next, worker->release_at);
    if (busy(worker) && !worker->computing && !worker->holding)
        next = sooner(next, worker->need_at);
    return next;
}

/* --- step ---------------------------------------------------------------- */

/* A road whose queues are full of our own bulk is slow, not cut. */
static void on_echo(struct worker *worker, const struct msg_echo *msg)
{
    const double rtt_us = (double)(worker->now - msg->sent_us);

    if (msg->sent_us <= worker->now && msg->sequence <= worker->sequence)
        worker->rtt_us += RTT_WEIGHT * (rtt_us - worker->rtt_us);
}

static void on_message(struct worker *worker, const struct msg *msg,
                       struct actions *actions)
{
    worker->heard_at = worker->now;
    switch (msg->kind) {
    case MSG_WELCOME:
        on_welcome(worker, &msg->welcome, actions);
        break;
    case MSG_REJECT:
        memcpy(worker->reason, msg->reject.reason, sizeof worker->reason);
        finish(worker, actions, ERR_DENIED, worker->reason);
        break;
    case MSG_ROUND:
        on_round(worker, &msg->round, actions);
        break;
    case MSG_WORK:
        on_work(worker, &msg->work, actions);
        break;
    case MSG_DROP:
        on_drop(worker, &msg->drop);
        break;
    case MSG_CANCEL:
        on_cancel(worker, &msg->cancel, actions);
        break;
    case MSG_DATA:
        worker_data_arrived(worker, msg, actions);
        start_next(worker, actions);
        break;
    case MSG_CHUNKS:
        worker_data_chunks(worker, msg, actions);
        break;
    case MSG_SERVE:
        worker_data_serve(worker, msg, actions);
        break;
    case MSG_FETCH:
        worker_data_fetch(worker, &msg->fetch, actions);
        break;
    case MSG_BYE:
        round_end(worker, actions);
        memcpy(worker->reason, msg->bye.reason, sizeof worker->reason);
        finish(worker, actions, ERR_OK, worker->reason);
        break;
    case MSG_ECHO: /* That it came is in heard_at. */
        on_echo(worker, &msg->echo);
        offset_sample(&worker->pulse.clock, msg->echo.sent_us,
                      msg->echo.heard_us, worker->now, msg->echo.error_us);
        break;
    case MSG_HELLO:
    case MSG_BEAT:
    case MSG_NEED:
    case MSG_SERVING:
    case MSG_TALLY:
    case MSG_ROW:
    case MSG_REFUSE:
    case MSG_LEAVE:
    case MSG_ASK:
    case MSG_STATUS:
    case MSG_HAVE:
    case MSG_RELAY:
    case MSG_TASK:
    case MSG_ALONE:
    case MSG_SUM:
    case MSG_GONE:
    case MSG_PULSE:
    case MSG_WATCH:
        break; /* The others are not for a worker. */
    }
}

static void worker_check(const struct worker *worker)
{
    CHECK(worker->at <= worker->queue_count);
    CHECK(!worker->cancelling || worker->computing);
    CHECK(!(worker->holding && worker->computing));
    CHECK(!worker->in_round || worker->open);
    CHECK(!worker->in_round || worker->key.view <= worker->view_seen);
}

void worker_step(struct worker *worker, const struct event *event,
                 struct actions *actions)
{
    actions->count = 0;
    if (worker->phase == WORKER_DONE) {
        if (event->kind == EVENT_COMPUTED)
            worker->computing = worker->cancelling = false;
        return;
    }
    CHECK(event->now >= worker->now);
    worker->now = event->now;
    worker->beaten = false;
    pulse_step(&worker->pulse);
    worker->backlog = event->backlog > 0;
    switch (event->kind) {
    case EVENT_START:
        worker->lost_at = worker->now;
        dial(worker, actions);
        break;
    case EVENT_TIME:
        on_time(worker, actions);
        break;
    case EVENT_LINK_UP:
        on_link_up(worker, actions);
        break;
    case EVENT_LINK_DOWN:
        on_link_down(worker, actions);
        break;
    case EVENT_MESSAGE:
        on_message(worker, event->msg, actions);
        break;
    case EVENT_COMPUTED:
        on_computed(worker, event, actions);
        break;
    case EVENT_LEAVE:
        on_leave(worker, actions);
        break;
    case EVENT_RECALLED:
        worker_data_recalled(worker, event->near, actions);
        break;
    case EVENT_FETCHED:
        worker_data_fetched(worker, event, actions);
        start_next(worker, actions);
        break;
    case EVENT_SERVING:
        worker_data_serving(worker, event->port, actions);
        break;
    case EVENT_COMING:
        on_coming(worker, event->key, actions);
        break;
    case EVENT_TALLIES:
    case EVENT_JOURNALED:
    case EVENT_CHECKPOINTED:
    case EVENT_STOP:
    case EVENT_JUDGED:
    case EVENT_RECEIPT:
        CHECK(!"an event of the coordinator");
    }
    if (worker->phase == WORKER_SERVING && worker->leaving && !busy(worker) &&
        !worker->computing)
        say_leave(worker, actions);
    send_pulse(worker, actions);
    if (worker->phase != WORKER_DONE)
        actions_add(actions, ACTION_TIMER)->at = next_time(worker);
    worker_check(worker);
}
