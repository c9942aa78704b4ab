/*
 * worker_pieces.c - a worker's pieces, from the queue to the answer.
 *
 * One is computed at a time, and maybe held for an injected delay.  Each is
 * answered with a tally; those of a coded round are added to one row, which is
 * sent after the last.
 */
#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "core/worker/worker_parts.h"

uint32_t worker_pieces_left(const struct worker *worker)
{
    uint32_t count = 0;

    for (uint32_t i = worker->at; i < worker->queue_count; i++)
        count += !worker->queue[i].dropped;
    return count;
}

/* One that waits for a computation that was called off counts as begun. */
uint32_t worker_pieces_begun(const struct worker *worker)
{
    if (!worker->computing && !worker->holding)
        return 0;
    return worker->cancelling ? 1 : worker->joined;
}

struct worker_item *worker_pieces_find(struct worker *worker, uint32_t id)
{
    for (uint32_t i = worker->at; i < worker->queue_count; i++) {
        if (worker->queue[i].item.id == id)
            return &worker->queue[i];
    }
    return NULL;
}

/* Chunks, or of a product a range of its numbers. */
static bool item_fits(const struct worker *worker, const struct item *item)
{
    const uint32_t most = evaluation_is_product(worker->kind)
                              ? block_range(&worker->shape, worker->kind)
                              : worker->job.chunks;

    return item->first < item->end && item->end <= most;
}

static bool is_coded(const struct worker *worker, const struct item *item)
{
    return worker->coded && item->coefficient != 0;
}

/* A piece already queued is not queued twice, but one that was answered is:
 * if the coordinator asks again, the answer was lost.  Not so pieces of a row:
 * they are taken only at its beginning (`row`), or they would be in it twice.
 */
void worker_pieces_add(struct worker *worker, const struct item *items,
                       uint32_t count, bool row)
{
    for (uint32_t i = 0; i < count; i++) {
        struct worker_item *known = worker_pieces_find(worker, items[i].id);

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
                                .parts = worker->shape.parts,
                                .copies = worker->shape.copies,
                                .count = worker->block_count,
                                .terms = worker->block_terms};
}

static void start_compute(struct worker *worker, const struct item *item,
                          struct actions *actions)
{
    struct action *action = actions_add(actions, ACTION_COMPUTE);
    const struct tally before = worker->tally;
    const uint32_t old = BUG(BUG_OLD_BATCH) && worker->key.step > 0 &&
                         worker->kind == EVALUATE_GRADIENT;

    /* A TALLY of this very step still points at the sums of the last piece. */
    worker->tally = worker->sent;
    worker->sent = before;
    worker->tally.dims = worker->sum_dims;
    tally_blank(&worker->tally);
    action->kept = worker->kept;
    action->computation = (struct computation){
        .what = {.kind = worker->kind,
                 .w = worker->w,
                 .v = worker->kind == EVALUATE_HESSVEC ? worker->v : NULL,
                 .soft = worker->soft},
        .first = item->first,
        .end = item->end,
        .step = worker->key.step - old,
        .size = worker->size,
        .name = worker->key.weights,
        .exponent = worker->e,
        .tally = &worker->tally,
        .vector = worker->gradient,
    };
    worker->joined = 1;
    worker->in_use = worker->live;
    worker->computing = true;
    pulse_compute(&worker->pulse, worker->now, worker->key.step, item->id);
}

static struct shards needs_of(const struct worker *worker,
                              const struct item *item)
{
    struct block_strips strips;

    if (!evaluation_is_product(worker->kind))
        return job_needs(&worker->job, item->first, item->end);
    strips =
        block_strips_of(&worker->shape, worker->kind, item->first, item->end);
    return (struct shards){strips.first, strips.end};
}

bool worker_pieces_has_data(const struct worker *worker,
                            const struct worker_item *item)
{
    const struct shards needs = needs_of(worker, &item->item);

    return chunkset_has_range(&worker->held, needs.first, needs.end);
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
            !worker_pieces_has_data(worker, &worker->queue[i])))
        i++;
    if (i > worker->at && i < worker->queue_count) {
        const struct worker_item found = worker->queue[i];

        memmove(next + 1, next, (i - worker->at) * sizeof *next);
        *next = found;
    }
}

void worker_pieces_next(struct worker *worker, struct actions *actions)
{
    const struct item *item;

    if (!worker->in_round || worker->computing || worker->holding)
        return;
    while (worker->at < worker->queue_count &&
           worker->queue[worker->at].dropped)
        worker->at++;
    if (worker->at == worker->queue_count)
        return;
    bring_forward(worker);
    item = &worker->queue[worker->at].item;
    if (!worker_pieces_has_data(worker, &worker->queue[worker->at])) {
        const struct shards needs = needs_of(worker, item);

        worker_data_need(worker, needs.first, needs.end, actions);
    } else if (evaluation_is_product(worker->kind)) {
        worker_products_start(worker, actions);
    } else {
        start_compute(worker, item, actions);
    }
}

static void send_tally(struct worker *worker, const struct item *item,
                       struct actions *actions)
{
    struct msg_tally *tally = &worker_send(actions, MSG_TALLY)->tally;

    tally->key = worker->key;
    tally->piece = item->id;
    tally->first = item->first;
    tally->end = item->end;
    tally->compute_us = worker->compute_us;
    tally->variance = worker->tally.variance;
    tally->dims = worker->tally.dims;
    tally->sum = worker->sum;
    tally->loss = worker->tally.loss;
}

/* All coded pieces of the round. */
static void send_row(struct worker *worker, struct actions *actions)
{
    struct msg_row *row = &worker_send(actions, MSG_ROW)->row;

    row->key = worker->key;
    row->count = 0;
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
        worker->gradient[dims] = tally_loss_value(&worker->tally, worker->e);
    }
    for (uint32_t j = 0; j <= dims; j++)
        worker->row[j] += item->coefficient * worker->gradient[j];
}

void worker_pieces_deliver(struct worker *worker, struct actions *actions)
{
    const struct worker_item *done = &worker->queue[worker->at];
    const bool row = done->coded && --worker->coded_left == 0;

    pulse_release(&worker->pulse, worker->now);
    worker->holding = false;
    if (evaluation_is_product(worker->kind))
        worker_products_send(worker, actions);
    else if (!done->coded)
        send_tally(worker, &done->item, actions);
    else if (row && !worker->coded_failed)
        send_row(worker, actions);
    if (!done->coded || row)
        worker->compute_us = 0;
    worker->at += worker->joined;
    worker_pieces_next(worker, actions);
}

/* What was computed last, of all that is computed in a step: two rounds where
 * it is products with blocks. */
static double share_of(const struct worker *worker)
{
    const struct item *item = &worker->queue[worker->at].item;

    if (!evaluation_is_product(worker->kind))
        return (double)(item->end - item->first) /
               job_data_chunks(&worker->job) *
               (job_is_sample(&worker->job, item->first) ? worker->size : 1);
    return (double)worker_products_numbers(worker) /
           block_range(&worker->shape, worker->kind) *
           block_chunks(&worker->shape) / worker->job.chunks / 2;
}

/* Injected slowness: the additive delay once per round before the first send,
 * the proportional ones for every piece. */
static time_us delay_of(struct worker *worker, int64_t compute_us)
{
    double delay_us = worker->delay_factor * (double)compute_us +
                      worker->delay_share_s * 1e6 * share_of(worker);
    const bool sends =
        !worker->queue[worker->at].coded || worker->coded_left == 1;

    if (evaluation_is_product(worker->kind))
        worker_products_took(worker, (double)compute_us + delay_us);
    if (!worker->delayed && sends) {
        delay_us += worker->delay_s * 1e6;
        worker->delayed = true;
    }
    return delay_us < 1 ? 0 : (time_us)delay_us;
}

static void refuse(struct worker *worker, struct actions *actions)
{
    struct msg_refuse *msg = &worker_send(actions, MSG_REFUSE)->refuse;

    msg->key = worker->key;
    msg->piece = worker->queue[worker->at].item.id;
    if (worker->queue[worker->at].coded) {
        worker->coded_failed = true;
        worker->coded_left--;
    }
    worker->at++;
    worker_pieces_next(worker, actions);
}

/* Which of several it was is seen when they are computed one by one. */
static void fail(struct worker *worker, struct actions *actions)
{
    if (worker->joined == 1) {
        refuse(worker, actions);
        return;
    }
    worker->singly = true;
    worker_pieces_next(worker, actions);
}

/* Of the piece, as shards that it reads where it is a product. */
static uint32_t chunks_of(const struct worker *worker, const struct item *item)
{
    const struct shards needs = needs_of(worker, item);

    return evaluation_is_product(worker->kind) ? needs.end - needs.first
                                               : item->end - item->first;
}

static uint32_t computed_chunks(const struct worker *worker)
{
    uint32_t chunks = 0;

    if (worker->cancelling || worker->at >= worker->queue_count)
        return 0;
    for (uint32_t i = 0; i < worker->joined; i++)
        chunks += chunks_of(worker, &worker->queue[worker->at + i].item);
    return chunks;
}

bool worker_busy(const struct worker *worker)
{
    return worker->in_round && worker->at < worker->queue_count;
}

void worker_pieces_computed(struct worker *worker, const struct event *event,
                            struct actions *actions)
{
    const struct item *item;
    time_us delay_us;

    CHECK(worker->computing);
    worker->computing = false;
    pulse_computed(&worker->pulse, worker->now, computed_chunks(worker));
    if (worker->cancelling) {
        worker->cancelling = false;
        if (!BUG(BUG_OLD_COMPUTE) || !worker_busy(worker) ||
            worker->at + worker->joined > worker->queue_count) {
            worker_pieces_next(worker, actions);
            return;
        }
    }
    CHECK(worker->in_round);
    item = &worker->queue[worker->at].item;
    worker->sum = event->sum != NULL ? event->sum : worker->tally.sum;
    if (event->sum == NULL && worker->kind != EVALUATE_LOCAL &&
        !evaluation_is_product(worker->kind))
        tally_fill(&worker->tally); /* If nothing was added. */
    if (event->err == ERR_STALE) {
        worker_round_end(worker,
                         actions); /* Its weights are gone: it is over. */
        return;
    }
    if (event->err == ERR_NOMEM) { /* That says nothing about the numbers. */
        worker_finish(worker, actions, ERR_NOMEM,
                      "not enough memory to compute a piece of this job; free "
                      "some, or give this machine fewer workers");
        return;
    }
    if (event->err != ERR_OK && !BUG(BUG_OLD_COMPUTE)) {
        fail(worker, actions);
        return;
    }
    worker->compute_us += event->compute_us;
    worker->chunks_done += computed_chunks(worker);
    if (worker->queue[worker->at].coded)
        add_to_row(worker, item);
    delay_us = worker->leaving ? 0 : delay_of(worker, event->compute_us);
    if (delay_us == 0) {
        worker_pieces_deliver(worker, actions);
        return;
    }
    worker->holding = true;
    pulse_hold(&worker->pulse, worker->now);
    worker->release_at = worker->now + delay_us;
}
