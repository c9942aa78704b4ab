/*
 * peer.c - events, phases and the end of a ring's peer.
 */
#include "core/ring/peer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/ring/peer_parts.h"

static enum err init_own(struct peer *p, const struct slice_room *room)
{
    const uint32_t dims = p->trainer.sum_dims;

    p->own_seal = room->seal;
    return room->seal != NULL
               ? tally_init_at(&p->own, dims, p->options.chunks, room->sum)
               : tally_init(&p->own, dims, p->options.chunks);
}

enum err peer_init(struct peer *peer, const struct peer_options *options)
{
    struct peer *p = peer;
    struct peer_seat *own;
    enum err err;

    CHECK(options->name[0] != '\0' && options->chunks > 0);
    CHECK(options->first <= options->end && options->end <= options->chunks);
    CHECK(options->segment > 0 && options->segment % PACK_BLOCK == 0);
    CHECK(options->state_segment > 0 && options->least > 0);
    *p = (struct peer){.options = *options,
                       .seat_count = 1,
                       .contact_link = PEER_NO_LINK,
                       .contact_retry_us = options->retry_us,
                       .state_from = PEER_NO_SEAT};
    own = &p->seats[0];
    *own = (struct peer_seat){.link = PEER_NO_LINK,
                              .dialled = PEER_NO_LINK,
                              .incarnation = options->incarnation,
                              .first = options->first,
                              .end = options->end};
    memcpy(own->name, options->name, NAME_SIZE);
    memcpy(own->place, options->place, PEER_PLACE);
    p->key.job = digest_short(&options->config);
    err = trainer_init(&p->trainer, &options->trainer);
    if (err != ERR_OK)
        return err;
    p->state = mem_new(trainer_state_bytes(&p->trainer), 1);
    p->anchor = mem_new(trainer_state_bytes(&p->trainer), 1);
    p->sums = mem_new(p->trainer.sum_dims, sizeof *p->sums);
    if (p->state == NULL || p->anchor == NULL || p->sums == NULL)
        return ERR_NOMEM;
    err = init_own(p, &options->rooms[0]);
    if (err == ERR_OK)
        err = exchange_init(&p->here, p->trainer.sum_dims, options->segment,
                            &options->rooms[1]);
    if (err == ERR_OK)
        err = exchange_init(&p->early, p->trainer.sum_dims, options->segment,
                            &options->rooms[2]);
    p->own.pool = p->here.total.pool = p->early.total.pool =
        options->trainer.pool;
    return err;
}

enum err peer_resume(struct peer *peer, const struct recovery *recovery,
                     struct why *why)
{
    const enum err err = trainer_resume(&peer->trainer, recovery,
                                        &peer->options.config, true, why);

    if (err == ERR_OK)
        peer->highest = peer->journaled = recovery->journal.view;
    return err;
}

void peer_close(struct peer *peer)
{
    trainer_close(&peer->trainer);
    if (peer->own_seal != NULL)
        peer->own.sum = NULL; /* It was lent. */
    tally_close(&peer->own);
    exchange_close(&peer->here);
    exchange_close(&peer->early);
    mem_free(peer->state);
    mem_free(peer->anchor);
    mem_free(peer->sums);
    *peer = (struct peer){0};
}

uint64_t peer_position(const struct peer *peer)
{
    const struct trainer *t = &peer->trainer;
    const bool measured = t->optim.step > 0 && t->early.step == t->optim.step;

    return 2 * t->optim.evaluations + measured;
}

uint32_t peer_members(const struct peer *peer)
{
    return peer->installed ? peer->view.count : 0;
}

struct msg *peer_send(struct peer *p, struct actions *actions, uint32_t link,
                      enum msg_kind kind)
{
    struct action *action = actions_add(actions, ACTION_SEND);

    CHECK(p->phase != PEER_DONE && link != PEER_NO_LINK);
    action->link = link;
    action->msg.kind = kind;
    return &action->msg;
}

struct trace *peer_trace(struct peer *p, struct actions *actions,
                         enum trace_kind kind)
{
    struct trace *trace = &actions_add(actions, ACTION_TRACE)->trace;

    trace->now = p->now;
    trace->kind = kind;
    trace->link = -1;
    trace->key = p->key;
    trace->key.view = p->view.name.number;
    return trace;
}

struct checkpoint peer_head(const struct peer *p)
{
    return (struct checkpoint){
        .job = p->key.job, .config = p->options.config, .view = p->journaled};
}

/* --- the end -------------------------------------------------------------- */

static void finish(struct peer *p, struct actions *actions)
{
    struct action *action;

    for (uint32_t i = 1; i < p->seat_count; i++)
        if (p->seats[i].link != PEER_NO_LINK)
            peer_send(p, actions, p->seats[i].link, MSG_PARTING)->parting =
                (struct msg_parting){.model = p->ending == ERR_OK,
                                     .leaves = true};
    (void)peer_trace(p, actions,
                     p->ending == ERR_OK ? TRACE_DONE : TRACE_FAILED);
    action = actions_add(actions, ACTION_FINISH);
    action->err = p->ending;
    action->reason = p->reason;
    p->phase = PEER_DONE;
}

/* The state is saved, if there is where; a driver that still computes is
 * waited for. */
static void try_finish(struct peer *p, struct actions *actions)
{
    struct ledger *ledger = &p->trainer.ledger;
    const bool between = trainer_at_boundary(&p->trainer);

    if (p->computing || p->measuring)
        return;
    if (!p->options.trainer.kept || ledger->broken) {
        finish(p, actions);
        return;
    }
    if (ledger_waits(ledger) || ledger->checkpoint_busy)
        return;
    if (between && !p->trainer.optim.diverged &&
        ledger->checkpoint_step != p->trainer.optim.step) {
        const struct checkpoint head = peer_head(p);

        trainer_checkpoint(&p->trainer, &head, p->now, actions);
        if (ledger_waits(ledger))
            trainer_sync(&p->trainer, actions);
        return;
    }
    finish(p, actions);
}

void peer_end(struct peer *p, struct actions *actions, enum err err,
              const char *format, ...)
{
    va_list list;

    if (p->phase == PEER_ENDING || p->phase == PEER_DONE)
        return;
    va_start(list, format);
    (void)vsnprintf(p->reason, sizeof p->reason, format, list);
    va_end(list);
    p->ending = err;
    p->phase = PEER_ENDING;
    if (p->computing && !p->cancelled) {
        (void)actions_add(actions, ACTION_CANCEL);
        p->cancelled = true;
    }
    try_finish(p, actions);
}

static void end_stopped(struct peer *p, struct actions *actions)
{
    peer_end(p, actions, ERR_CANCELLED, "%s at step %u",
             p->leaving ? "left" : "stopped", p->trainer.optim.step);
}

/* All whom this peer hears have the model? */
static bool all_done(const struct peer *p)
{
    for (uint32_t i = 1; i < p->seat_count; i++)
        if (p->seats[i].link != PEER_NO_LINK && !p->seats[i].done)
            return false;
    return true;
}

/* Others may need the state of this one: with private rows nobody else could
 * make it again. */
static void linger(struct peer *p, struct actions *actions)
{
    if (p->trainer.optim.diverged) {
        peer_end(p, actions, ERR_RANGE, "the training diverged");
        return;
    }
    p->phase = PEER_LINGERING;
    for (uint32_t i = 1; i < p->seat_count; i++)
        if (p->seats[i].link != PEER_NO_LINK)
            peer_send(p, actions, p->seats[i].link, MSG_PARTING)
                ->parting.model = true;
}

/* --- between two rounds --------------------------------------------------- */

static void lack(struct peer *p, uint32_t chunk, struct actions *actions)
{
    struct trace *trace = peer_trace(p, actions, TRACE_AWAY);

    p->phase = PEER_LACKING;
    trace->a = chunk;
    trace->value = 1;
    for (uint32_t i = 1; i < p->seat_count; i++)
        if (p->seats[i].first <= chunk && chunk < p->seats[i].end)
            memcpy(trace->name, p->seats[i].name, NAME_SIZE);
}

void peer_next(struct peer *p, struct actions *actions)
{
    const bool boundary = trainer_at_boundary(&p->trainer);

    p->phase = PEER_COMMITTING;
    if (trainer_due(&p->trainer)) {
        if (!p->measuring)
            (void)actions_add(actions, ACTION_MEASURE);
        p->measuring = true;
        return;
    }
    if (trainer_done(&p->trainer)) {
        if (!council_between(p, actions))
            linger(p, actions);
        return;
    }
    if ((p->stopping && boundary) || p->leaving) {
        end_stopped(p, actions);
        return;
    }
    if (p->options.trainer.kept && boundary &&
        !ledger_waits(&p->trainer.ledger) &&
        trainer_checkpoint_due(&p->trainer, p->now)) {
        const struct checkpoint head = peer_head(p);

        trainer_checkpoint(&p->trainer, &head, p->now, actions);
    }
    if (council_between(p, actions))
        return;
    if (p->view.gap < p->options.chunks)
        lack(p, p->view.gap, actions);
    else
        peer_round_open(p, actions);
}

static void on_measured(struct peer *p, const struct event *event,
                        struct actions *actions)
{
    struct trace *trace;

    CHECK(p->measuring);
    p->measuring = false;
    if (event->err != ERR_OK) {
        peer_end(p, actions, event->err,
                 "step %u: the held-out rows cannot be measured: %s",
                 p->trainer.optim.step, err_text(event->err));
        return;
    }
    trainer_measured(&p->trainer, event->loss);
    trace = peer_trace(p, actions, TRACE_PASS);
    trace->key.step = p->trainer.optim.step;
    trace->a = p->trainer.early.best_step;
    trace->value = event->loss;
    if (p->options.trainer.kept &&
        trainer_commit_pass(&p->trainer, p->key.job, p->journaled, false,
                            actions) == RECEIPT_CONTRADICTS) {
        peer_end(p, actions, ERR_MISMATCH,
                 "step %u, computed again, gives another loss of the held-out "
                 "rows than the journal says: this machine or its disk is "
                 "faulty",
                 p->trainer.optim.step);
        return;
    }
    if (p->phase == PEER_HALTING)
        council_halted(p, actions);
    else if (p->phase == PEER_COMMITTING)
        peer_next(p, actions);
}

/* --- events --------------------------------------------------------------- */

static void on_start(struct peer *p, struct actions *actions)
{
    const struct record record = {.kind = RECORD_JOB,
                                  .job = p->key.job,
                                  .step = p->trainer.optim.step,
                                  .slots = p->options.least,
                                  .weights = p->options.config,
                                  .code = "ring"};

    trainer_start(&p->trainer, p->now);
    if (p->options.trainer.kept && !p->trainer.ledger.resumed)
        trainer_journal(&p->trainer, &record, false, actions);
    links_start(p, actions);
}

static void on_parting(struct peer *p, uint32_t seat,
                       const struct msg_parting *parting,
                       struct actions *actions)
{
    p->seats[seat].done = true;
    if (parting->leaves)
        links_drop(p, seat, actions);
}

static void on_message(struct peer *p, uint32_t link, const struct msg *msg,
                       struct actions *actions)
{
    const uint32_t seat = links_seat(p, link);

    if (msg->kind == MSG_MEET) {
        links_meet(p, link, &msg->meet, actions);
        return;
    }
    if (msg->kind == MSG_REJECT) {
        links_reject(p, link, msg->reject.reason, actions);
        return;
    }
    if (seat == PEER_NO_SEAT) { /* Greet first. */
        actions_add(actions, ACTION_CLOSE)->link = link;
        links_down(p, link);
        return;
    }
    p->seats[seat].heard_at = p->now;
    switch ((int)msg->kind) {
    case MSG_ROSTER:
        links_roster(p, seat, &msg->roster, actions);
        break;
    case MSG_PROPOSE:
        council_propose(p, seat, &msg->propose, actions);
        break;
    case MSG_REPORT:
        council_report(p, seat, &msg->report, actions);
        break;
    case MSG_STATE:
        council_state(p, seat, &msg->state, actions);
        break;
    case MSG_SLICE:
        peer_round_slice(p, seat, &msg->slice, actions);
        break;
    case MSG_PARTING:
        on_parting(p, seat, &msg->parting, actions);
        break;
    default: /* BEAT. */
        break;
    }
}

/* The process was stopped, or the machine asleep: what the others said
 * meanwhile is still to be read. */
static void notice_absence(struct peer *p, time_us now)
{
    if (now - p->now >= p->options.dead_us / 2)
        for (uint32_t i = 1; i < p->seat_count; i++)
            p->seats[i].heard_at = now;
    p->now = now;
}

/* Nothing is under way that would end at a boundary. */
static bool is_waiting(const struct peer *p)
{
    return p->phase == PEER_GATHERING || p->phase == PEER_LACKING;
}

static void on_disk(struct peer *p, const struct event *event,
                    struct actions *actions)
{
    if (event->kind == EVENT_CHECKPOINTED)
        trainer_checkpointed(&p->trainer, event->step, event->err);
    else if (trainer_journaled(&p->trainer, event->err, actions))
        (void)peer_trace(p, actions, TRACE_ALARM);
    if (p->phase == PEER_ENDING) {
        try_finish(p, actions);
    } else if (p->waits_disk && !ledger_waits(&p->trainer.ledger)) {
        p->waits_disk = false;
        peer_next(p, actions);
    }
}

static void handle(struct peer *p, const struct event *event,
                   struct actions *actions)
{
    switch ((int)event->kind) {
    case EVENT_START:
        on_start(p, actions);
        break;
    case EVENT_LINK_UP:
        links_up(p, event->link, actions);
        break;
    case EVENT_LINK_DOWN:
        links_down(p, event->link);
        break;
    case EVENT_MESSAGE:
        on_message(p, event->link, event->msg, actions);
        break;
    case EVENT_COMPUTED:
        peer_round_computed(p, event, actions);
        break;
    case EVENT_JOURNALED:
    case EVENT_CHECKPOINTED:
        on_disk(p, event, actions);
        break;
    case EVENT_MEASURED:
        on_measured(p, event, actions);
        break;
    case EVENT_STOP:
        p->asked = true;
        break;
    case EVENT_LEAVE:
        p->leaving = true;
        break;
    default: /* TIME: all that is due is looked at after every event. */
        break;
    }
}

/* The last act only looks at what it waits for. */
static void handle_ending(struct peer *p, const struct event *event,
                          struct actions *actions)
{
    if (event->kind == EVENT_COMPUTED)
        p->computing = p->cancelled = false;
    if (event->kind == EVENT_MEASURED)
        p->measuring = false;
    if (event->kind == EVENT_LINK_DOWN)
        links_down(p, event->link);
    if (event->kind == EVENT_JOURNALED || event->kind == EVENT_CHECKPOINTED)
        on_disk(p, event, actions);
    if (p->phase == PEER_ENDING)
        try_finish(p, actions);
}

/* Slices and beats change nothing that a view depends on. */
static bool concerns_council(const struct event *event)
{
    return event->kind != EVENT_MESSAGE ||
           (event->msg->kind != MSG_SLICE && event->msg->kind != MSG_BEAT);
}

void peer_step(struct peer *peer, const struct event *event,
               struct actions *actions)
{
    struct peer *p = peer;

    CHECK(p->phase != PEER_DONE);
    notice_absence(p, event->now);
    if (p->options.trainer.kept)
        trainer_turn(&p->trainer);
    if (p->phase == PEER_ENDING) {
        handle_ending(p, event, actions);
        return;
    }
    handle(p, event, actions);
    if (p->phase < PEER_ENDING)
        links_tend(p, actions);
    if (p->phase < PEER_ENDING && (concerns_council(event) || p->broken))
        council_tend(p, actions);
    if (p->phase < PEER_ENDING && is_waiting(p) &&
        (p->asked || p->stopping || p->leaving))
        end_stopped(p, actions);
    if (p->phase == PEER_LINGERING && all_done(p))
        peer_end(p, actions, ERR_OK, "done");
    if (p->phase >= PEER_ENDING)
        return;
    links_tell(p, actions);
    actions_add(actions, ACTION_TIMER)->at = links_due(p);
}
