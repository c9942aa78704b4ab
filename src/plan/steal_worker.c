/*
 * steal_worker.c - the worker's half of a replayed step under `steal`: a queue
 * of pieces, computed one at a time, delayed, dropped or called off, as
 * core/worker/worker_pieces.c does it.
 */
#include <string.h>

#include "base/check.h"
#include "plan/steal_parts.h"

static void start_next(struct replay *replay, uint32_t slot)
{
    struct steal *steal = replay->steal;
    struct thief *thief = &steal->thieves[slot];
    time_us takes;

    if (!thief->in_round || thief->computing || thief->holding)
        return;
    while (thief->at < thief->count && thief->queue[thief->at].dropped)
        thief->at++;
    if (thief->at == thief->count)
        return;
    takes = replay->chunk_us *
            piece_chunks(replay->code, thief->queue[thief->at].piece);
    thief->computing = true;
    thief->number++;
    thief->began = steal->now;
    steal_push(steal, (struct steal_event){.at = steal->now + takes,
                                           .kind = ON_COMPUTED,
                                           .slot = slot,
                                           .number = thief->number});
}

static void deliver(struct replay *replay, uint32_t slot)
{
    struct thief *thief = &replay->steal->thieves[slot];

    thief->holding = false;
    steal_send(replay->steal, ON_TALLY, slot, thief->queue[thief->at].piece);
    thief->at++;
    start_next(replay, slot);
}

static void on_computed(struct replay *replay, const struct steal_event *event)
{
    struct steal *steal = replay->steal;
    struct thief *thief = &steal->thieves[event->slot];
    const time_us spent = steal->now - thief->began;
    time_us hold;

    if (!thief->computing || event->number != thief->number)
        return;
    thief->computing = false;
    if (replay->chunk_us > 0)
        steal->chunks_done += (uint64_t)(spent / replay->chunk_us);
    replay->slots[event->slot].computed_us = steal->now - steal->opened_at;
    if (thief->cancelling) {
        thief->cancelling = false;
        replay->slots[event->slot].began_us = steal->now - steal->opened_at;
        start_next(replay, event->slot);
        return;
    }
    if (replay->chunk_us == 0)
        steal->chunks_done +=
            piece_chunks(replay->code, thief->queue[thief->at].piece);
    hold =
        replay_hold(replay, &thief->draw,
                    piece_chunks(replay->code, thief->queue[thief->at].piece),
                    spent, !thief->delayed);
    thief->delayed = true;
    if (hold == 0) {
        deliver(replay, event->slot);
        return;
    }
    thief->holding = true;
    thief->release = steal->now + hold;
}

static struct queued *find(struct thief *thief, uint32_t piece)
{
    for (uint32_t i = thief->at; i < thief->count; i++) {
        if (thief->queue[i].piece == piece)
            return &thief->queue[i];
    }
    return NULL;
}

static void enqueue(const struct steal *steal, struct thief *thief,
                    uint32_t piece)
{
    struct queued *known = find(thief, piece);

    if (known != NULL) {
        known->dropped = false;
        return;
    }
    if (thief->count == steal->queue_capacity && thief->at > 0) {
        thief->count -= thief->at;
        memmove(thief->queue, thief->queue + thief->at,
                thief->count * sizeof *thief->queue);
        thief->at = 0;
    }
    CHECK(thief->count < steal->queue_capacity);
    thief->queue[thief->count++] = (struct queued){.piece = piece};
}

static void on_cancel(struct replay *replay, uint32_t slot)
{
    struct steal *steal = replay->steal;
    struct thief *thief = &steal->thieves[slot];

    if (thief->computing && !thief->cancelling) {
        thief->cancelling = true;
        thief->number++;
        steal_push(steal, (struct steal_event){
                              .at = replay_called_off(thief->began, steal->now,
                                                      replay->chunk_us),
                              .kind = ON_COMPUTED,
                              .slot = slot,
                              .number = thief->number});
    }
    thief->holding = false;
    thief->in_round = false;
    thief->count = thief->at = 0;
}

/* CANCEL and the ROUND behind it. */
static void on_round(struct replay *replay, const struct steal_event *event,
                     const struct delay_draw *draw)
{
    struct steal *steal = replay->steal;
    const uint32_t slot = event->slot;
    struct thief *thief = &steal->thieves[slot];

    on_cancel(replay, slot);
    thief->delayed = false;
    thief->in_round = true;
    thief->round = event->number;
    thief->draw = *draw;
    for (uint32_t i = replay->work_first[slot];
         i < replay->work_first[slot + 1]; i++)
        enqueue(steal, thief, replay->work[i]);
    replay->slots[slot] = (struct replay_slot){.answered_us = -1};
    start_next(replay, slot);
}

static void on_drop(struct steal *steal, const struct steal_event *event)
{
    struct thief *thief = &steal->thieves[event->slot];
    struct queued *queued = find(thief, event->piece);
    const bool begun = queued == &thief->queue[thief->at] &&
                       (thief->computing || thief->holding);

    if (queued != NULL && !begun)
        queued->dropped = true;
}

/* Everything that happens to a worker ends with its timer. */
void steal_on_worker(struct replay *replay, const struct steal_event *event,
                     const struct delay_draw *draws)
{
    struct steal *steal = replay->steal;
    struct thief *thief = &steal->thieves[event->slot];
    const bool current = thief->in_round && event->number == thief->round;

    if (event->kind == ON_TIMER && !steal_timer_rings(steal, event->slot))
        return;
    if (event->kind == ON_CANCEL)
        on_cancel(replay, event->slot);
    else if (event->kind == ON_ROUND)
        on_round(replay, event, &draws[event->slot]);
    else if (event->kind == ON_JOIN) {
        on_round(replay, event, &draws[event->slot]);
        enqueue(steal, thief, event->piece);
        start_next(replay, event->slot);
    } else if (event->kind == ON_COMPUTED)
        on_computed(replay, event);
    else if (event->kind == ON_WORK && current) {
        enqueue(steal, thief, event->piece);
        start_next(replay, event->slot);
    } else if (event->kind == ON_DROP && current)
        on_drop(steal, event);
    else if (event->kind == ON_TIMER && thief->holding &&
             steal->now >= thief->release)
        deliver(replay, event->slot);
    steal_set_timer(steal, event->slot,
                    thief->holding ? thief->release : TIME_NEVER);
}
