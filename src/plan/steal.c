/*
 * steal.c - steps of the schedule `steal`, where work moves: the coordinator's
 * half (steal_worker.c has the other) and the heap of events between the two.
 *
 * The rules are the coordinator's (core/star/balance.c) and the worker's
 * (core/worker/worker_pieces.c) with all that concerns messages, faults and
 * gradients left out.  Messages still are events of no length, in the order in
 * which the two would send them: at equal times the order decides who steals
 * what.
 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "plan/steal_parts.h"

/* As in core/star/balance.c and core/star/coordinator.c. */
#define BACKLOG_MAX 1u
#define LIVE_MAX    2u
#define TICK_US     (10 * MS_US)
#define QUEUE_SPARE 16u

/* --- events -------------------------------------------------------------- */

static bool before(const struct steal_event *a, const struct steal_event *b)
{
    return a->at != b->at ? a->at < b->at : a->sequence < b->sequence;
}

void steal_push(struct steal *steal, struct steal_event event)
{
    size_t at = steal->count;

    if (steal->count == steal->capacity) {
        struct steal_event *grown =
            mem_grow(steal->heap, steal->count, steal->count + 1, sizeof *grown,
                     &steal->capacity);

        if (grown == NULL) {
            steal->failed = true;
            return;
        }
        steal->heap = grown;
    }
    event.sequence = steal->sequence++;
    steal->count++;
    while (at > 0 && before(&event, &steal->heap[(at - 1) / 2])) {
        steal->heap[at] = steal->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    steal->heap[at] = event;
}

static struct steal_event pop(struct steal *steal)
{
    const struct steal_event first = steal->heap[0];
    const struct steal_event last = steal->heap[--steal->count];
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= steal->count)
            break;
        child += child + 1 < steal->count &&
                 before(&steal->heap[child + 1], &steal->heap[child]);
        if (!before(&steal->heap[child], &last))
            break;
        steal->heap[at] = steal->heap[child];
        at = child;
    }
    steal->heap[at] = last;
    return first;
}

void steal_send(struct steal *steal, enum event_kind kind, uint32_t slot,
                uint32_t piece)
{
    const uint32_t round =
        kind == ON_TALLY ? steal->thieves[slot].round : steal->round;

    steal_push(steal, (struct steal_event){.at = steal->now,
                                           .kind = kind,
                                           .slot = slot,
                                           .piece = piece,
                                           .number = round});
}

static struct timer *timer_of(struct steal *steal, uint32_t slot)
{
    return slot == COORDINATOR ? &steal->tick : &steal->thieves[slot].timer;
}

void steal_set_timer(struct steal *steal, uint32_t slot, time_us at)
{
    struct timer *timer = timer_of(steal, slot);

    timer->at = at;
    if (at == TIME_NEVER || at >= timer->due)
        return;
    timer->due = at;
    steal_push(steal,
               (struct steal_event){.at = at, .kind = ON_TIMER, .slot = slot});
}

bool steal_timer_rings(struct steal *steal, uint32_t slot)
{
    struct timer *timer = timer_of(steal, slot);

    if (timer->due <= steal->now)
        timer->due = TIME_NEVER;
    if (timer->at <= steal->now) {
        timer->at = TIME_NEVER;
        return true;
    }
    steal_set_timer(steal, slot, timer->at);
    return false;
}

/* --- the coordinator ----------------------------------------------------- */

static bool assigned(const struct steal_piece *piece, uint32_t slot)
{
    for (uint32_t i = 0; i < piece->count; i++) {
        if (piece->assignee[i] == slot)
            return true;
    }
    return false;
}

static void assign(struct steal *steal, uint32_t id, uint32_t slot)
{
    struct steal_piece *piece = &steal->pieces[id];

    CHECK(piece->count < ASSIGNEES_MAX);
    piece->assignee[piece->count++] = slot;
    steal->thieves[slot].outstanding++;
}

static bool unassign(struct steal *steal, uint32_t id, uint32_t slot)
{
    struct steal_piece *piece = &steal->pieces[id];

    for (uint32_t i = 0; i < piece->count; i++) {
        if (piece->assignee[i] != slot)
            continue;
        piece->assignee[i] = piece->assignee[--piece->count];
        steal->thieves[slot].outstanding--;
        return true;
    }
    return false;
}

static bool worth_repeating(const struct steal *steal, uint32_t thief,
                            uint32_t victim)
{
    const struct thief *fast = &steal->thieves[thief];
    const time_us spent = steal->now - steal->opened_at;
    const time_us usual = spent / (fast->answered > 0 ? fast->answered : 1);

    return fast->outstanding == 0 &&
           steal->now - steal->thieves[victim].answered_at >= 2 * usual;
}

static bool gains(const struct steal *steal, uint32_t thief, uint32_t victim)
{
    const struct thief *to = &steal->thieves[thief];
    const struct thief *from = &steal->thieves[victim];

    return from->outstanding > to->outstanding + 1 ||
           to->answered > from->answered + 1;
}

static uint32_t worth(const struct steal *steal, uint32_t id, uint32_t thief)
{
    const struct steal_piece *piece = &steal->pieces[id];
    uint32_t victim;
    uint32_t backlog;

    if (piece->in || assigned(piece, thief) || piece->count >= LIVE_MAX)
        return 0;
    if (piece->count == 0)
        return UINT32_MAX;
    victim = piece->assignee[0];
    backlog = steal->thieves[victim].outstanding;
    if (backlog > 1 && piece->count == 1 && gains(steal, thief, victim))
        return backlog;
    return worth_repeating(steal, thief, victim) ? 1 : 0;
}

static bool steal_for(struct replay *replay, uint32_t slot)
{
    struct steal *steal = replay->steal;
    const struct group *group = &replay->code->groups[steal->group_of[slot]];
    uint32_t best = 0;
    uint32_t best_id = 0;

    if (steal->thieves[slot].outstanding > BACKLOG_MAX)
        return false;
    for (uint32_t id = group->piece_first; id < group->piece_end; id++) {
        const uint32_t value = worth(steal, id, slot);

        if (value > 0 && value >= best) {
            best = value;
            best_id = id;
        }
    }
    if (best == 0)
        return false;
    if (best > 1 && steal->pieces[best_id].count == 1) {
        const uint32_t victim = steal->pieces[best_id].assignee[0];

        steal_send(steal, ON_DROP, victim, best_id);
        CHECK(unassign(steal, best_id, victim));
    }
    assign(steal, best_id, slot);
    steal_send(steal, steal->thieves[slot].called ? ON_WORK : ON_JOIN, slot,
               best_id);
    steal->thieves[slot].called = true;
    return true;
}

static bool rebalance(struct replay *replay)
{
    bool moved = false;

    for (uint32_t slot = 0; slot < replay->code->slots; slot++)
        moved |= steal_for(replay, slot);
    return moved;
}

/* When will `thief` find the piece worth repeating?  With a answers since the
 * opening O and the victim's last at A: at t with t - A >= 2 (t - O) / a.  Up
 * to two answers that never changes.  Rounding makes it a little sooner. */
static time_us repeat_at(const struct steal *steal, uint32_t thief, uint32_t id)
{
    const struct steal_piece *piece = &steal->pieces[id];
    const struct thief *fast = &steal->thieves[thief];
    const time_us a = fast->answered;
    time_us last;

    if (piece->in || piece->count == 0 || piece->count >= LIVE_MAX || a <= 2 ||
        assigned(piece, thief))
        return TIME_NEVER;
    last = steal->thieves[piece->assignee[0]].answered_at - steal->opened_at;
    return steal->opened_at + last * a / (a - 2) - 2 * a;
}

/* Nothing was worth moving at this tick: the first tick at which something may
 * be, as a delay from now.  Waits of hours would be a million ticks. */
static time_us quiet_for(const struct replay *replay)
{
    const struct steal *steal = replay->steal;
    time_us next = TIME_NEVER;

    for (uint32_t slot = 0; slot < replay->code->slots; slot++) {
        const struct group *group =
            &replay->code->groups[steal->group_of[slot]];

        if (steal->thieves[slot].outstanding > 0)
            continue;
        for (uint32_t id = group->piece_first; id < group->piece_end; id++) {
            const time_us at = repeat_at(steal, slot, id);

            if (at < next)
                next = at;
        }
    }
    if (next == TIME_NEVER)
        return TIME_NEVER;
    next = next <= steal->now ? 0 : (next - steal->now) / TICK_US;
    return (next > 0 ? next : 1) * TICK_US;
}

static void count_slot(struct replay *replay, uint32_t slot)
{
    struct steal *steal = replay->steal;

    if (replay->todo[slot] == 0 || --replay->todo[slot] > 0)
        return;
    replay->slot_in[slot] = true;
    replay->slots[slot].answered_us = steal->now - steal->opened_at;
}

static uint32_t slots_in(const struct replay *replay)
{
    uint32_t count = 0;

    for (uint32_t slot = 0; slot < replay->code->slots; slot++)
        count += replay->slot_in[slot];
    return count;
}

static void on_tally(struct replay *replay, const struct steal_event *event)
{
    struct steal *steal = replay->steal;
    struct steal_piece *piece = &steal->pieces[event->piece];
    struct thief *thief = &steal->thieves[event->slot];

    if (event->number != steal->round)
        return;
    steal->answers++;
    if (!piece->in) {
        piece->in = true;
        replay->piece_in[event->piece] = true;
        steal->pieces_in++;
        steal->chunks_in += piece_chunks(replay->code, event->piece);
    }
    thief->answered++;
    thief->answered_at = steal->now;
    if (unassign(steal, event->piece, event->slot))
        count_slot(replay, event->slot);
    if (replay_enough(replay, steal->pieces_in, slots_in(replay), steal->late))
        steal->over = true;
    else
        (void)steal_for(replay, event->slot);
}

static time_us deadline_at(const struct replay *replay)
{
    const time_us after = replay_deadline(replay->code);

    return after == TIME_NEVER || replay->steal->late
               ? TIME_NEVER
               : replay->steal->opened_at + after;
}

static void on_deadline(struct replay *replay)
{
    struct steal *steal = replay->steal;

    if (steal->over || steal->now < deadline_at(replay))
        return;
    steal->late = true;
    steal->over =
        replay_enough(replay, steal->pieces_in, slots_in(replay), true);
}

/* The next tick, or the deadline before it. */
static void set_tick(struct replay *replay, time_us wait)
{
    struct steal *steal = replay->steal;
    const time_us deadline = deadline_at(replay);
    const time_us tick = wait == TIME_NEVER ? TIME_NEVER : steal->now + wait;

    steal_set_timer(steal, COORDINATOR, tick < deadline ? tick : deadline);
}

static void on_coordinator(struct replay *replay,
                           const struct steal_event *event)
{
    struct steal *steal = replay->steal;
    time_us wait = TICK_US;

    if (event->kind == ON_TALLY)
        on_tally(replay, event);
    else if (!steal_timer_rings(steal, COORDINATOR))
        return;
    else if (!rebalance(replay))
        wait = quiet_for(replay);
    on_deadline(replay);
    set_tick(replay, wait);
}

static void open_round(struct replay *replay)
{
    struct steal *steal = replay->steal;
    const struct code *code = replay->code;

    for (uint32_t slot = 0; slot < code->slots; slot++) {
        if (steal->thieves[slot].outstanding > 0)
            steal_send(steal, ON_CANCEL, slot, 0);
    }
    steal->round++;
    steal->opened_at = steal->now;
    steal->over = false;
    steal->late = false;
    steal->pieces_in = steal->chunks_in = steal->answers = 0;
    steal->chunks_done = 0;
    memset(replay->piece_in, 0, code->piece_count * sizeof *replay->piece_in);
    memset(steal->pieces, 0, code->piece_count * sizeof *steal->pieces);
    for (uint32_t slot = 0; slot < code->slots; slot++) {
        struct thief *thief = &steal->thieves[slot];

        replay->todo[slot] =
            replay->work_first[slot + 1] - replay->work_first[slot];
        replay->slot_in[slot] = replay->todo[slot] == 0;
        thief->outstanding = thief->answered = 0;
        thief->called = replay->todo[slot] > 0;
        thief->answered_at = steal->now;
        for (uint32_t i = replay->work_first[slot];
             i < replay->work_first[slot + 1]; i++)
            assign(steal, replay->work[i], slot);
        if (replay->todo[slot] > 0)
            steal_send(steal, ON_ROUND, slot, 0);
    }
    (void)rebalance(replay);
    set_tick(replay, TICK_US);
}

/* After a stall nobody is busy any more, and time begins anew. */
static void forget(struct replay *replay)
{
    struct steal *steal = replay->steal;

    steal->count = 0;
    steal->now = 0;
    steal->tick = (struct timer){TIME_NEVER, TIME_NEVER};
    for (uint32_t slot = 0; slot < replay->code->slots; slot++) {
        struct thief *thief = &steal->thieves[slot];
        struct queued *queue = thief->queue;

        *thief =
            (struct thief){.queue = queue, .timer = {TIME_NEVER, TIME_NEVER}};
    }
}

enum err steal_run(struct replay *replay, const struct delay_draw *draws,
                   struct replay_step *step)
{
    struct steal *steal = replay->steal;

    open_round(replay);
    while (!steal->over && !steal->failed) {
        const struct steal_event event = pop(steal);

        steal->now = event.at;
        if (event.slot == COORDINATOR || event.kind == ON_TALLY)
            on_coordinator(replay, &event);
        else
            steal_on_worker(replay, &event, draws);
    }
    if (steal->failed)
        return ERR_NOMEM;
    *step = (struct replay_step){
        .took_us = steal->now - steal->opened_at,
        .chunks_in = steal->chunks_in,
        .answers = steal->answers,
        .chunks_done = steal->chunks_done,
    };
    if (step->took_us > REPLAY_STALLED_US)
        forget(replay);
    return ERR_OK;
}

/* --- set-up -------------------------------------------------------------- */

void steal_free(struct steal *steal)
{
    if (steal == NULL)
        return;
    mem_free(steal->heap);
    mem_free(steal->thieves);
    mem_free(steal->queues);
    mem_free(steal->group_of);
    mem_free(steal->pieces);
    mem_free(steal);
}

/* A slot is asked for pieces of its group only. */
static uint32_t largest_group(const struct code *code)
{
    uint32_t most = 0;

    for (uint32_t q = 0; q < code->group_count; q++) {
        const struct group *group = &code->groups[q];

        if (group->piece_end - group->piece_first > most)
            most = group->piece_end - group->piece_first;
    }
    return most;
}

enum err steal_new(struct replay *replay)
{
    const struct code *code = replay->code;
    struct steal *steal = mem_new(1, sizeof *steal);

    if (steal == NULL)
        return ERR_NOMEM;
    replay->steal = steal;
    steal->queue_capacity = largest_group(code) + QUEUE_SPARE;
    steal->thieves = mem_new(code->slots, sizeof *steal->thieves);
    steal->queues = mem_new((size_t)code->slots * steal->queue_capacity,
                            sizeof *steal->queues);
    steal->group_of = mem_new(code->slots, sizeof *steal->group_of);
    steal->pieces = mem_new(code->piece_count, sizeof *steal->pieces);
    if (steal->thieves == NULL || steal->queues == NULL ||
        steal->group_of == NULL || steal->pieces == NULL)
        return ERR_NOMEM;
    for (uint32_t q = 0; q < code->group_count; q++)
        for (uint32_t i = code->groups[q].slot_first;
             i < code->groups[q].slot_end; i++)
            steal->group_of[i] = q;
    for (uint32_t slot = 0; slot < code->slots; slot++)
        steal->thieves[slot].queue =
            steal->queues + (size_t)slot * steal->queue_capacity;
    forget(replay);
    return ERR_OK;
}
