/*
 * peer_round.c - one question: compute own chunks, exchange slices, feed.
 *
 * Everybody feeds the same total to the same state, so everybody hears the same
 * answer (again, more, stepped) and opens the same next round.  Whoever has
 * finished a round may be one ahead of whoever has not, never two: it lacks
 * their parts.  What comes early waits in the second exchange.
 */
#include <math.h>
#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "base/quick.h"
#include "core/ring/peer_parts.h"
#include "core/run/failure.h"

static struct slice_shape shape_of(const struct peer *p, uint32_t dims)
{
    return (struct slice_shape){.dims = dims,
                                .ranks = p->view.count,
                                .self = p->view.self,
                                .small = p->options.small,
                                .segment = p->options.segment,
                                .share = p->options.share};
}

static uint32_t dims_of(const struct peer *p)
{
    return evaluation_dims(p->trainer.what.kind, p->trainer.options.dims);
}

/* Coordinates of the round at hand that members may step for each other; 0: its
 * slices are too short, or a coordinate depends on others. */
static uint32_t shared_of(const struct peer *p)
{
    const uint32_t dims = dims_of(p);

    return p->share.room.memory != NULL &&
                   dims / p->view.count >= p->options.share
               ? trainer_shared(&p->trainer)
               : 0;
}

/* --- what goes out -------------------------------------------------------- */

static struct msg_slice *send_slice(struct peer *p, uint32_t rank,
                                    struct actions *actions)
{
    const uint32_t seat = p->view.seat[rank];
    struct msg_slice *out;

    if (p->seats[seat].link == PEER_NO_LINK)
        return NULL; /* The view is broken. */
    out = &peer_send(p, actions, p->seats[seat].link, MSG_SLICE)->slice;
    p->stats.slices++;
    out->key = p->key;
    out->dims = dims_of(p);
    return out;
}

static void send_part(struct peer *p, uint32_t rank, struct slice_range range,
                      uint8_t flags, struct actions *actions)
{
    struct msg_slice *out = send_slice(p, rank, actions);

    if (out == NULL)
        return;
    out->flags = flags;
    out->first = p->first;
    out->end = p->end;
    out->at = range.at;
    out->count = range.end - range.at;
    out->loss = (flags & (SLICE_TOOBIG | SLICE_RANGE)) == 0 ? p->own.loss : 0;
    out->sum = p->own.sum + range.at;
    /* Of what goes whole nobody says that it has added it up. */
    if (p->own_seal != NULL && range.end > range.at &&
        dims_of(p) > p->options.small) {
        out->seal = p->own_seal;
        out->number = seal_number(p->own_seal);
    }
    p->stats.coordinates += out->count;
}

/* To each what it adds up; who has nothing to say says so in one message. */
static void send_parts(struct peer *p, bool sums, uint8_t flags,
                       struct actions *actions)
{
    struct slice_shape shape = shape_of(p, dims_of(p));

    for (uint32_t rank = 0; rank < p->view.count; rank++) {
        if (rank == p->view.self)
            continue;
        shape.self = rank;
        for (uint32_t i = 0; i < (sums ? exchange_segments(&shape) : 1); i++) {
            const struct slice_range segment = exchange_segment(&shape, i);

            send_part(p, rank, sums ? segment : (struct slice_range){0, 0},
                      flags, actions);
        }
    }
}

static void send_total(struct peer *p, struct slice_range range,
                       struct actions *actions)
{
    for (uint32_t rank = 0; rank < p->view.count; rank++) {
        struct msg_slice *out;

        if (rank == p->view.self ||
            (out = send_slice(p, rank, actions)) == NULL)
            continue;
        out->total = true;
        out->flags = p->here.flags;
        out->end = p->options.chunks;
        out->at = range.at;
        out->count = range.end - range.at;
        out->sum = p->here.total.sum + range.at;
        if (p->here.of[p->view.self].stepped != NULL) {
            out->sum = NULL;
            out->stepped = p->share.room.memory;
            out->seal = p->share.room.seal;
            out->number = seal_number(p->share.room.seal);
        } else if (p->here.seal != NULL && range.end > range.at) {
            out->seal = p->here.seal;
            out->number = seal_number(p->here.seal);
        }
        p->stats.coordinates += out->count;
    }
}

static bool is_unfit(const struct peer *p)
{
    return (p->here.flags & (SLICE_TOOBIG | SLICE_RANGE)) != 0;
}

/* RING-9: what was not read in time is as a message that did not come. */
static void blame(struct peer *p, const struct slice_blame *blame,
                  struct actions *actions)
{
    for (uint32_t rank = 0; rank < p->view.count; rank++) {
        const uint32_t seat = p->view.seat[rank];

        if (p->seats[seat].link == PEER_NO_LINK)
            continue; /* Blamed before: the segment is asked for again. */
        if ((blame->gone >> rank & 1) != 0)
            links_drop(p, seat, actions);
        else if ((blame->bad >> rank & 1) != 0)
            links_ban(p, seat, actions);
    }
}

/* RING-10.  False: it was not stepped, and is to be added up; or, with *blame,
 * it was read too late. */
static bool step_own(struct peer *p, const struct slice_shape *shape,
                     struct slice_blame *blame)
{
    const struct lent own = {.stepped = p->share.room.memory};
    const uint32_t shared = shared_of(p);
    struct slice_parts parts;
    bool sure;
    uint64_t bad;

    *blame = (struct slice_blame){0, 0};
    if (shared == 0 || !exchange_lent(&p->here, shape, &parts))
        return false;
    bad = share_step(&p->share, &p->trainer, shape, p->view.key, shared, &parts,
                     &sure);
    return sure && exchange_stepped(&p->here, shape, &parts, bad, &own, blame);
}

/* The next segment, if it is ready.  False: *blame says why. */
static bool settle(struct peer *p, const struct slice_shape *shape,
                   struct slice_blame *blame)
{
    if (step_own(p, shape, blame))
        return true;
    return (blame->gone | blame->bad) == 0 &&
           exchange_settle(&p->here, shape, blame);
}

/* Segments of own slice that are complete, in order; if something does not fit
 * its sums are of no use to anybody.  False: the view is broken. */
static bool send_totals(struct peer *p, struct actions *actions)
{
    const struct slice_shape shape = shape_of(p, dims_of(p));
    const uint32_t segments = exchange_segments(&shape);
    struct slice_blame found;

    while (p->told < segments && exchange_ready(&p->here, &shape, p->told)) {
        const struct slice_range segment = exchange_segment(&shape, p->told);
        const bool fits = !is_unfit(p);

        if (fits && p->here.settled <= p->told && !settle(p, &shape, &found)) {
            blame(p, &found, actions);
            return false;
        }
        if (!slice_whole(&shape))
            send_total(p, fits ? segment : (struct slice_range){0, 0}, actions);
        p->told = fits ? p->told + 1 : segments;
    }
    return true;
}

uint64_t peer_round_owing(const struct peer *p, bool *totals)
{
    const struct slice_shape shape = shape_of(p, dims_of(p));
    uint64_t parts = 0, rest = 0;

    for (uint32_t rank = 0; rank < p->view.count; rank++) {
        if (rank == p->view.self)
            continue;
        if ((p->here.ended >> rank & 1) == 0)
            parts |= SEAT(p->view.seat[rank]);
        if (!exchange_has_total(&p->here, &shape, rank))
            rest |= SEAT(p->view.seat[rank]);
    }
    *totals = parts == 0;
    return parts != 0 ? parts : rest;
}

/* --- what comes in -------------------------------------------------------- */

static void end_round(struct peer *p, struct actions *actions);

static void try_feed(struct peer *p, struct actions *actions)
{
    const struct slice_shape shape = shape_of(p, dims_of(p));

    if (send_totals(p, actions) && p->phase == PEER_ROUND &&
        exchange_complete(&p->here, &shape)) {
        p->phase = PEER_COMMITTING;
        end_round(p, actions);
    }
}

static bool same_round(const struct round_key *a, const struct round_key *b)
{
    return a->step == b->step && a->round == b->round &&
           (a->attempt == b->attempt || BUG(BUG_RING_ATTEMPT));
}

/* RING-1, and that all are about the same weights and scale. */
static bool same_question(const struct round_key *a, const struct round_key *b)
{
    struct round_key key = *a;

    if (BUG(BUG_RING_STALE_VIEW))
        key.view = b->view;
    if (BUG(BUG_RING_ATTEMPT))
        key.attempt = b->attempt, key.scale = b->scale;
    return key_equal(&key, b);
}

static uint32_t rank_of(const struct peer *p, uint32_t seat)
{
    for (uint32_t i = 0; i < p->view.count; i++)
        if (p->view.seat[i] == seat)
            return i;
    return PEER_NO_SEAT;
}

void peer_round_slice(struct peer *p, uint32_t seat,
                      const struct msg_slice *msg, struct actions *actions)
{
    const uint32_t rank = rank_of(p, seat);
    const bool now = p->phase == PEER_ROUND && same_round(&msg->key, &p->key);
    struct exchange *x = now ? &p->here : &p->early;
    const struct slice_shape shape = shape_of(p, msg->dims);
    struct slice_range done;
    enum slice_fate fate;

    if (rank == PEER_NO_SEAT || msg->key.job != p->key.job ||
        (msg->key.view != p->view.key && !BUG(BUG_RING_STALE_VIEW)) ||
        p->phase == PEER_HALTING || p->phase == PEER_GATHERING) {
        p->stats.stale++;
        return;
    }
    if (!now && BUG(BUG_RING_EARLY))
        return;
    if ((now && !same_question(&msg->key, &p->key)) ||
        (x->open &&
         (msg->dims != x->dims || !same_question(&msg->key, &x->key)))) {
        doubt_accuse(p, seat, &msg->key);
        doubt_raise(p, actions);
        return;
    }
    if (msg->dims == 0 || msg->dims > p->trainer.sum_dims ||
        (now && msg->dims != dims_of(p)))
        fate = SLICE_BAD;
    else
        fate = exchange_take(x, &shape, &p->view, rank, msg, &done);
    /* While others are still at it. */
    if (now && fate == SLICE_COUNTED && msg->stepped != NULL &&
        shared_of(p) > 0)
        share_take(&p->share, &p->trainer, &p->here, &shape, shared_of(p),
                   rank);
    if (fate == SLICE_BAD)
        links_ban(p, seat, actions);
    else if (now && fate == SLICE_COUNTED)
        try_feed(p, actions);
}

/* --- a round -------------------------------------------------------------- */

static void name_round(struct peer *p, struct actions *actions)
{
    struct trainer *t = &p->trainer;
    const uint32_t count = evaluation_exponents(t->what.kind, t->options.dims);
    struct pool *pool = t->options.pool;

    p->key.view = p->view.key;
    p->key.step = t->optim.step;
    p->key.round = t->optim.round;
    if (!t->options.scale->same || p->key.scale == 0)
        p->key.scale =
            quick_long(pool, t->exponent, count * sizeof *t->exponent, 0);
    p->key.weights = evaluation_name(&t->what, t->options.dims, pool);
    if (BUG(BUG_RING_CHAIN) && t->options.kept)
        p->key.weights ^= digest_short(&t->ledger.chain);
    if (p->key.round > 0 || p->key.attempt > 0)
        return;
    p->past[p->key.step % PEER_PAST].step = p->key.step;
    p->past[p->key.step % PEER_PAST].name = p->key.weights;
    doubt_settle(p, p->key.step, p->key.weights, actions);
}

/* Own chunks are computed, or there are none. */
static void give(struct peer *p, bool sums, uint8_t flags,
                 struct actions *actions)
{
    const struct slice_shape shape = shape_of(p, dims_of(p));

    if (p->asked || p->stopping)
        flags |= SLICE_STOP;
    exchange_give(&p->here, &shape, &p->key, sums ? &p->own : NULL, flags);
    send_parts(p, sums, flags, actions);
    try_feed(p, actions);
}

static void compute(struct peer *p, struct actions *actions)
{
    struct action *action;

    if (p->own_seal != NULL)
        seal_break(p->own_seal);
    p->own.dims = dims_of(p);
    tally_blank(&p->own);
    p->own.loss = 0;
    if (p->first == p->end) {
        give(p, false, 0, actions);
        return;
    }
    action = actions_add(actions, ACTION_COMPUTE);
    action->computation = (struct computation){.what = p->trainer.what,
                                               .first = p->first,
                                               .end = p->end,
                                               .step = p->trainer.optim.step,
                                               .name = p->key.weights,
                                               .exponent = p->trainer.exponent,
                                               .tally = &p->own};
    p->computing = true;
}

static void fail(struct peer *p, enum trainer_next next,
                 struct actions *actions)
{
    struct why why = {0};
    const enum err err = failure_of(&p->trainer, next, &why);

    peer_end(p, actions, err, "%s", why.text);
}

void peer_round_open(struct peer *p, struct actions *actions)
{
    const enum trainer_next next = trainer_ask(&p->trainer);
    struct slice_shape shape;
    struct exchange early;

    if (next == TRAINER_DIVERGED) {
        fail(p, next, actions);
        return;
    }
    if (next == TRAINER_DONE) {
        peer_next(p, actions);
        return;
    }
    name_round(p, actions);
    if (p->phase >= PEER_ENDING)
        return; /* It was wrong once too often. */
    early = p->early;
    p->early = p->here;
    p->here = early;
    exchange_blank(&p->early);
    if (p->here.open &&
        (p->here.dims != dims_of(p) || !same_question(&p->here.key, &p->key))) {
        doubt_raise(p, actions);
        return;
    }
    shape = shape_of(p, dims_of(p));
    share_open(&p->share, &p->trainer, &shape, p->view.key, shared_of(p));
    p->phase = PEER_ROUND;
    p->opened_at = p->now;
    p->told = 0;
    p->first = p->view.first[p->view.self];
    p->end = p->view.end[p->view.self];
    peer_trace(p, actions, TRACE_ROUND)->a = p->view.count;
    compute(p, actions);
}

void peer_round_computed(struct peer *p, const struct event *event,
                         struct actions *actions)
{
    uint8_t flags = 0;

    CHECK(p->computing);
    p->computing = false;
    if (p->cancelled) {
        p->cancelled = false;
        council_halted(p, actions);
        return;
    }
    switch ((int)event->err) {
    case ERR_OK:
        tally_fill(&p->own);
        break;
    case ERR_TOOBIG:
        flags = SLICE_TOOBIG;
        break;
    case ERR_RANGE:
        flags = SLICE_RANGE;
        break;
    case ERR_CLOSED: /* The user's function said stop. */
        p->stopping = true;
        peer_end(p, actions, ERR_CANCELLED, "stopped by the function");
        return;
    default:
        peer_end(p, actions, event->err, "step %u cannot be computed: %s",
                 p->trainer.optim.step, err_text(event->err));
        return;
    }
    give(p, flags == 0, flags, actions);
}

/* --- the total ------------------------------------------------------------ */

/* What is not finite need not be tried on all scales. */
static enum trainer_next refuse(struct peer *p)
{
    enum trainer_next next = trainer_refuse(&p->trainer);

    while ((p->here.flags & SLICE_RANGE) != 0 && next == TRAINER_AGAIN)
        next = trainer_refuse(&p->trainer);
    return next;
}

/* The total as numbers, if nothing of it has changed while it was read. */
static bool decode(struct peer *p, bool *good, struct actions *actions)
{
    const struct slice_shape shape = shape_of(p, dims_of(p));
    struct slice_blame found = {0, 0};

    if (exchange_steppers(&p->here, &shape) == 0)
        *good = exchange_decode(&p->here, &shape, p->trainer.exponent, p->sums);
    else if (shared_of(p) > 0)
        *good = share_gather(&p->share, &p->trainer, &p->here, &shape,
                             shared_of(p), p->sums);
    else
        found.bad = exchange_steppers(&p->here, &shape); /* Nobody asked. */
    found.gone = exchange_gone(&p->here, &shape);
    blame(p, &found, actions);
    return (found.gone | found.bad) == 0;
}

static enum trainer_next feed(struct peer *p, bool good)
{
    const struct slice_shape shape = shape_of(p, dims_of(p));
    const uint64_t steppers = exchange_steppers(&p->here, &shape);
    struct total total = {.sums = p->sums,
                          .exactness = EXACT_BITWISE,
                          .rescale = 1,
                          .answered = p->view.count,
                          .chunks = p->options.chunks,
                          .attempts = p->key.attempt,
                          .gathered = steppers != 0};
    const struct tally sum = {.dims = dims_of(p), .loss = p->here.total.loss};

    p->together = (uint32_t)__builtin_popcountll(steppers) == p->view.count;
    total.loss = tally_loss_value(&sum, p->trainer.exponent);
    if (!good || !isfinite(total.loss))
        return TRAINER_RANGE;
    return trainer_feed(&p->trainer, &total);
}

static struct record receipt(struct peer *p)
{
    const struct total out = trainer_step_total(&p->trainer);

    return (struct record){.kind = RECORD_STEP,
                           .job = p->key.job,
                           .view = p->journaled,
                           .step = p->trainer.optim.step,
                           .attempt = out.attempts,
                           .slots = p->view.count,
                           .answered = out.answered,
                           .chunks = out.chunks,
                           .exactness = EXACT_BITWISE,
                           .scale = p->key.scale,
                           .rescale = 1,
                           .objective = p->trainer.optim.objective,
                           .code = "ring"};
}

/* STORE-2: a checkpoint follows, or the end. */
static bool is_urgent(const struct peer *p)
{
    return p->trainer.ledger.options.sync || p->stopping || p->leaving ||
           trainer_done(&p->trainer) || peer_saves(p);
}

static void commit(struct peer *p, struct actions *actions)
{
    struct record record = receipt(p);
    struct trace *trace = peer_trace(p, actions, TRACE_COMMIT);

    trace->key.step = p->trainer.optim.step;
    trace->a = EXACT_BITWISE;
    trace->b = p->options.chunks;
    trace->value = p->trainer.optim.objective;
    if (!p->options.trainer.kept) {
        peer_next(p, actions);
        return;
    }
    switch (
        trainer_commit(&p->trainer, &record, is_urgent(p), false, actions)) {
    case RECEIPT_PUT_OFF: /* None is: late was false. */
    case RECEIPT_WRITTEN:
        peer_next(p, actions);
        break;
    case RECEIPT_CONTRADICTS:
        peer_end(p, actions, ERR_MISMATCH,
                 "step %u, computed again, gives another model than the "
                 "journal says: this machine or its disk is faulty",
                 p->trainer.optim.step);
        break;
    case RECEIPT_WAITS:
        p->waits_disk = true;
        break;
    }
}

/* Data that do not fit a proved scale are broken: no other scale is tried. */
static void fail_stands(struct peer *p, struct actions *actions)
{
    peer_end(p, actions, ERR_RANGE,
             "step %u: a chunk gives a gradient that is not finite, or beyond "
             "its bound; look for huge values in the data or lower --lr",
             p->trainer.optim.step);
}

static void end_round(struct peer *p, struct actions *actions)
{
    const bool refused = is_unfit(p);
    bool good = false;
    enum trainer_next next;

    if (!refused && !decode(p, &good, actions)) {
        p->phase = PEER_ROUND; /* It will not end: the view is broken. */
        return;
    }
    if (p->now - p->opened_at > p->longest_us)
        p->longest_us = p->now - p->opened_at;
    p->stopping |= (p->here.flags & SLICE_STOP) != 0;
    next = refused ? refuse(p) : feed(p, good);
    if (BUG(BUG_RING_AGAIN) && next == TRAINER_STEPPED &&
        p->view.name.number % 4 == 2 && !trainer_done(&p->trainer) &&
        !trainer_due(&p->trainer) && trainer_ask(&p->trainer) == TRAINER_ASKS)
        next = feed(p, good);
    exchange_blank(&p->here);
    if (next == TRAINER_AGAIN) {
        p->key.attempt++;
        peer_next(p, actions);
        return;
    }
    p->key.attempt = 0;
    switch (next) {
    case TRAINER_MORE:
    case TRAINER_DONE:
        peer_next(p, actions);
        break;
    case TRAINER_STEPPED:
        commit(p, actions);
        break;
    case TRAINER_STANDS:
        fail_stands(p, actions);
        break;
    case TRAINER_DIVERGED:
    case TRAINER_RANGE:
    case TRAINER_NO_FUNCTION:
        fail(p, next, actions);
        break;
    case TRAINER_ASKS:
    case TRAINER_AGAIN:
        CHECK(!"no answer to an answer");
    }
}
