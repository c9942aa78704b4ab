/*
 * worker_round.c - which round a worker obeys, and what it takes from it.
 *
 * Rounds come late, twice, and from coordinators that have been replaced.  One
 * that is obeyed ends the one before; its pieces go to worker_pieces.c.
 */
#include <string.h>

#include "base/bugs.h"
#include "core/product.h"
#include "core/worker/worker_parts.h"

void worker_round_end(struct worker *worker, struct actions *actions)
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

/* The round is about this block: what is held of another is of no use.  One
 * that has the rows can make any. */
static void turn_to_block(struct worker *worker, const struct msg_round *msg)
{
    const uint64_t block =
        product_block(msg->parts, msg->terms, msg->term_count);

    worker->shape = product_shape(&worker->job, msg->parts);
    if (block == worker->block)
        return;
    worker->block = block;
    worker->block_count = msg->term_count;
    for (uint32_t i = 0; i < msg->term_count; i++)
        worker->block_terms[i] = product_term(&msg->terms[i]);
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
    const uint32_t count = evaluation_exponents(msg->kind, msg->dims);

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

    worker_round_end(worker, actions);
    if (evaluation_is_product(msg->kind)) {
        turn_to_block(worker, msg);
        sum_dims = block_out(&worker->shape, msg->kind);
    }
    /* A compute that was called off may still be reading its weights. */
    worker->live = worker->computing ? 1 - worker->in_use : worker->live;
    take_vectors(worker, msg);
    take_scale(worker, msg);
    worker->kind = msg->kind;
    worker->soft = msg->soft;
    worker->size = msg->size;
    worker->sum_dims = sum_dims;
    worker->in_round = true;
    /* The same round again, read in place: what it lacks was promised before.
     */
    if (!key_equal(&msg->key, &worker->key))
        worker->need_at = worker->now + NEED_RESEND_US;
    worker->key = msg->key;
    worker->coded = msg->coded;
    worker->coded_failed = false;
    worker->coded_left = 0;
    worker->singly = false;
    worker->delay_s = msg->delay_s;
    worker->delay_factor = msg->delay_factor;
    worker->delay_share_s = msg->delay_share_s;
    worker->delayed = false;
    worker->compute_us = 0;
    if (msg->coded)
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

    if (!job->products || msg->coded || msg->parts == 0 ||
        msg->parts > job->chunks || msg->term_count == 0 ||
        msg->term_count > msg->parts ||
        (msg->kind == EVALUATE_BACK && job->copies < 2) ||
        msg->dims != block_in(&shape, msg->kind))
        return false;
    for (uint32_t i = 0; i < msg->term_count; i++) {
        const struct item *item = &msg->terms[i];

        if (item->id >= msg->parts || item->coefficient == 0 ||
            (i > 0 && item->id <= msg->terms[i - 1].id) ||
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
    if (msg->kind == EVALUATE_LOCAL && !msg->coded)
        return false;
    if ((msg->size > 0) != (worker->job.sampled > 0))
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

bool worker_stays(const struct worker *worker)
{
    return worker->computing || worker->holding;
}

/* The round gives way to the one that is arriving, as it would to the whole
 * message.  What is being computed, or held, is finished if it is of the same
 * round, or if that message will not be obeyed.  Not so if it was called off:
 * it is of an older round, and keeps nothing of this one from being
 * overwritten. */
void worker_coming(struct worker *worker, const struct round_key *key,
                   struct actions *actions)
{
    if (!worker->in_round || !worker->kept_scale ||
        (worker_stays(worker) && !worker->cancelling &&
         (is_again(worker, key) || !obeys(worker, key))))
        return;
    worker_round_end(worker, actions);
}

void worker_round(struct worker *worker, const struct msg_round *msg,
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
    worker_pieces_add(worker, msg->items, msg->count, anew);
    worker_pieces_next(worker, actions);
}

void worker_work(struct worker *worker, const struct msg_work *msg,
                 struct actions *actions)
{
    if (!worker->in_round || worker->leaving ||
        !key_equal(&msg->key, &worker->key))
        return;
    if (msg->assignment > worker->assignment)
        worker->assignment = msg->assignment;
    worker_pieces_add(worker, msg->items, msg->count, false);
    worker_pieces_next(worker, actions);
}

static bool is_begun(const struct worker *worker,
                     const struct worker_item *item)
{
    const struct worker_item *first = worker->queue + worker->at;

    return item >= first && item < first + worker_pieces_begun(worker);
}

/* Pieces another worker has taken over.  One that is being computed goes on:
 * the first answer counts. */
void worker_drop(struct worker *worker, const struct msg_work *msg)
{
    if (!worker->in_round || !key_equal(&msg->key, &worker->key))
        return;
    for (uint32_t i = 0; i < msg->count; i++) {
        struct worker_item *item = worker_pieces_find(worker, msg->items[i].id);

        if (item != NULL && !is_begun(worker, item))
            item->dropped = true;
    }
}

void worker_cancel(struct worker *worker, const struct msg_cancel *msg,
                   struct actions *actions)
{
    if (!worker->open || msg->key.job != worker->job.id)
        return;
    if (key_order(&msg->key, &worker->over) > 0)
        worker->over = msg->key;
    if (worker->in_round && key_order(&worker->key, &worker->over) <= 0)
        worker_round_end(worker, actions);
}
