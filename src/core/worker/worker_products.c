/*
 * worker_products.c - pieces of a product, several at a time.
 *
 * An answer is a message, and two processes are woken for it.  Where pieces are
 * quick that is most of the work: those that follow each other in the queue are
 * then computed together and answered by one ROW.  How many follows from what
 * the last computation of the kind took, injected delays with it: JOIN_US at
 * most, so that little is undelivered when the worker is killed, and one piece
 * at least.
 */
#include "base/check.h"
#include "core/worker/worker_parts.h"

#define JOIN_US (20 * MS_US)

static uint32_t numbers_of(const struct item *item)
{
    return item->end - item->first;
}

uint32_t worker_products_numbers(const struct worker *worker)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < worker->joined; i++)
        sum += numbers_of(&worker->queue[worker->at + i].item);
    return sum;
}

/* May the piece be computed with the `before` numbers of those before it?  Who
 * asks for overlapping pieces gets them one by one: all have room together only
 * if they are a block's at most. */
static bool joins(const struct worker *worker, const struct worker_item *next,
                  uint32_t before)
{
    const double each_us = worker->product_us[worker->kind];
    const uint32_t sum = before + numbers_of(&next->item);

    return each_us > 0 && !worker->singly && !next->dropped &&
           worker_pieces_has_data(worker, next) &&
           sum <= block_range(&worker->shape, worker->kind) &&
           each_us * sum <= (double)JOIN_US;
}

static void join(struct worker *worker)
{
    const uint32_t left = worker->queue_count - worker->at;

    worker->joined = 1;
    while (worker->joined < left && worker->joined < SEGMENTS_MAX &&
           joins(worker, &worker->queue[worker->at + worker->joined],
                 worker_products_numbers(worker)))
        worker->joined++;
    for (uint32_t i = 0; i < worker->joined; i++) {
        const struct item *item = &worker->queue[worker->at + i].item;

        worker->spans[i] =
            (struct block_span){.first = item->first, .end = item->end};
    }
}

/* A ROW of this very step still points at the numbers of the last pieces. */
void worker_products_start(struct worker *worker, struct actions *actions)
{
    const struct item *item = &worker->queue[worker->at].item;
    struct action *action = actions_add(actions, ACTION_COMPUTE);
    double *const before = worker->row;

    join(worker);
    worker->row = worker->gradient;
    worker->gradient = before;
    action->kept = worker->kept;
    action->computation = (struct computation){
        .what = {.kind = worker->kind, .w = worker->w},
        .first = item->first,
        .end = item->end,
        .spans = worker->spans,
        .span_count = worker->joined,
        .share = worker_share(worker),
        .step = worker->key.step,
        .vector = worker->row,
    };
    worker->in_use = worker->live;
    worker->computing = true;
    pulse_compute(&worker->pulse, worker->now, worker->key.step, item->id);
}

/* So long took a number, held answers with it. */
void worker_products_took(struct worker *worker, double us)
{
    worker->product_us[worker->kind] =
        (us < 1 ? 1 : us) / worker_products_numbers(worker);
}

void worker_products_send(struct worker *worker, struct actions *actions)
{
    struct msg_row *row = &worker_send(actions, MSG_ROW)->row;

    for (uint32_t i = 0; i < worker->joined; i++)
        worker->answered[i] = worker->queue[worker->at + i].item.id;
    row->key = worker->key;
    row->count = worker->joined;
    row->pieces = worker->answered;
    row->compute_us = worker->compute_us;
    row->dims = worker->kind == EVALUATE_COMBINE
                    ? block_out(&worker->shape, worker->kind)
                    : worker_products_numbers(worker);
    row->row = worker->row;
    worker->row[row->dims] = 0; /* A product has no loss. */
}
