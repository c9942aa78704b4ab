/*
 * worker_data.c - the chunks a worker holds, can fetch, and lacks.
 *
 *     HELLO (keeps) -> WELCOME -> CHUNKS -> RECALL .. RECALLED -> HAVE
 *                          '------- not keyed, or known: -------> HAVE
 *     DATA -> STORE, held          FETCH -> fetch .. FETCHED, held
 *
 * What cannot be fetched after all is no longer near, and asked for (NEED),
 * naming the peer that should have given it.  Peers come here in turn:
 *
 *     SERVE -> serve .. SERVING
 *
 * Of coded data a worker holds strips of one block instead.  Blocks change with
 * the code: they are sent with DATA and asked for with NEED, never kept, near
 * or fetched.
 */
#include <string.h>

#include "base/bugs.h"
#include "base/mem.h"
#include "core/worker/worker_parts.h"

enum err worker_data_room(struct worker *worker, const struct job *job)
{
    enum err err = chunkset_init(&worker->held, job_shards(job));

    if (err == ERR_OK)
        err = chunkset_init(&worker->near, job_shards(job));
    if (err == ERR_OK)
        err = chunkset_init(&worker->fetching, job_shards(job));
    worker->bits = mem_new(2 * msg_have_bytes(job_shards(job)), 1);
    return err == ERR_OK && worker->bits == NULL ? ERR_NOMEM : err;
}

void worker_data_close(struct worker *worker)
{
    chunkset_close(&worker->held);
    chunkset_close(&worker->near);
    chunkset_close(&worker->fetching);
    mem_free(worker->bits);
}

bool worker_data_keeps(struct worker *worker)
{
    worker->counted_on = !worker->options.resident && !worker->options.owns &&
                         !worker->job.products &&
                         (worker->options.keeps || worker->held.members > 0);
    return worker->counted_on;
}

static void put_bits(const struct chunkset *set, uint8_t *bits)
{
    memset(bits, 0, msg_have_bytes(set->count));
    for (uint32_t chunk = chunkset_next(set, 0); chunk < set->count;
         chunk = chunkset_next(set, chunk + 1))
        bits[chunk / 8] |= (uint8_t)(1u << chunk % 8);
}

static void say_have(struct worker *worker, struct actions *actions)
{
    const uint32_t count = job_shards(&worker->job);
    struct msg_have *have = &worker_send(actions, MSG_HAVE)->have;

    put_bits(&worker->held, worker->bits);
    put_bits(&worker->near, worker->bits + msg_have_bytes(count));
    have->count = count;
    have->held = worker->bits;
    have->near = worker->bits + msg_have_bytes(count);
}

/* Has HAVE been promised, and is it known?  What is near is so only after
 * CHUNKS. */
static bool may_count(const struct worker *worker)
{
    return worker->open && worker->counted_on && !worker->job.products &&
           (!worker->job.keyed || worker->recalled);
}

void worker_data_welcomed(struct worker *worker, struct actions *actions)
{
    if (may_count(worker))
        say_have(worker, actions);
}

void worker_data_chunks(struct worker *worker, const struct msg *msg,
                        struct actions *actions)
{
    if (!worker->open || worker->options.resident || worker->options.owns ||
        worker->job.products || msg->chunks.count != job_shards(&worker->job))
        return;
    if (worker->recalled && worker->counted_on)
        say_have(worker, actions);
    if (worker->recalled || worker->recalling)
        return;
    worker->recalling = true;
    actions_add(actions, ACTION_RECALL)->msg = *msg;
}

void worker_data_recalled(struct worker *worker, const struct chunkset *near,
                          const struct chunkset *held, struct actions *actions)
{
    if (!worker->recalling)
        return;
    worker->recalling = false;
    worker->recalled = true;
    chunkset_copy(&worker->near, near);
    for (uint32_t chunk = held == NULL ? near->count : chunkset_next(held, 0);
         chunk < near->count; chunk = chunkset_next(held, chunk + 1))
        chunkset_add(&worker->held, chunk);
    if (worker->phase == WORKER_SERVING &&
        (worker->counted_on || near->members > 0))
        say_have(worker, actions);
}

void worker_data_arrived(struct worker *worker, const struct msg *msg,
                         struct actions *actions)
{
    const uint32_t chunk = msg->data.chunk;
    struct action *action;

    if (!worker->open || worker->options.owns ||
        chunk >= job_shards(&worker->job) || msg->data.block != worker->block)
        return;
    /* More is on its way, probably. */
    worker->need_at = worker->now + NEED_RESEND_US;
    if (chunkset_has(&worker->held, chunk))
        return;
    action = actions_add(actions, ACTION_STORE);
    action->msg = *msg;
    action->share = worker_share(worker);
    chunkset_add(&worker->held, chunk);
}

void worker_data_fetch(struct worker *worker, const struct msg_fetch *msg,
                       struct actions *actions)
{
    uint32_t first = msg->first;
    uint32_t end;

    if (!worker->open || !worker->recalled ||
        msg->end > job_shards(&worker->job))
        return;
    for (; first < msg->end; first = end) {
        struct action *action;

        end = first + 1;
        if (chunkset_has(&worker->held, first) ||
            chunkset_has(&worker->fetching, first))
            continue;
        while (end < msg->end && !chunkset_has(&worker->held, end) &&
               !chunkset_has(&worker->fetching, end))
            end++;
        chunkset_add_range(&worker->fetching, first, end);
        action = actions_add(actions, ACTION_FETCH);
        action->msg = (struct msg){.kind = MSG_FETCH, .fetch = *msg};
        action->first = first;
        action->end = end;
    }
}

static void ask(struct worker *worker, const struct msg_need *need,
                struct actions *actions)
{
    if (may_count(worker))
        say_have(worker, actions);
    worker_send(actions, MSG_NEED)->need = *need;
}

/* Those of [first, end) that did not come by another way meanwhile. */
static void ask_again(struct worker *worker, const struct event *event,
                      struct actions *actions)
{
    struct msg_need need = {.peer = event->peer,
                            .wrong =
                                event->peer != 0 && event->err == ERR_MISMATCH};

    if (worker->phase != WORKER_SERVING || worker->leaving)
        return;
    for (need.first = event->chunk; need.first < event->end;
         need.first = need.end) {
        need.end = need.first + 1;
        if (chunkset_has(&worker->held, need.first))
            continue;
        while (need.end < event->end && !chunkset_has(&worker->held, need.end))
            need.end++;
        ask(worker, &need, actions);
    }
}

void worker_data_fetched(struct worker *worker, const struct event *event,
                         struct actions *actions)
{
    for (uint32_t chunk = event->chunk; chunk < event->end; chunk++) {
        chunkset_remove(&worker->fetching, chunk);
        if (event->err == ERR_OK || BUG(BUG_FETCH_HELD))
            chunkset_add(&worker->held, chunk);
        else
            chunkset_remove(&worker->near, chunk);
    }
    if (event->err == ERR_OK)
        worker->need_at = worker->now + NEED_RESEND_US;
    else
        ask_again(worker, event, actions);
}

void worker_data_serve(const struct worker *worker, const struct msg *msg,
                       struct actions *actions)
{
    if (worker->open && worker->job.keyed && !worker->options.resident &&
        !worker->options.owns)
        actions_add(actions, ACTION_SERVE)->msg = *msg;
}

void worker_data_serving(const struct worker *worker, uint16_t port,
                         struct actions *actions)
{
    if (worker->phase == WORKER_SERVING && !worker->leaving)
        worker_send(actions, MSG_SERVING)->serving.port = port;
}

void worker_data_need(struct worker *worker, uint32_t first, uint32_t end,
                      struct actions *actions)
{
    if (worker->now < worker->need_at)
        return;
    while (first < end && (chunkset_has(&worker->held, first) ||
                           chunkset_has(&worker->fetching, first)))
        first++;
    while (end > first && (chunkset_has(&worker->held, end - 1) ||
                           chunkset_has(&worker->fetching, end - 1)))
        end--;
    worker->need_at = worker->now + NEED_RESEND_US;
    if (first < end)
        ask(worker, &(struct msg_need){.first = first, .end = end}, actions);
}
