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
#include "core/run/failure.h"

#define TELL_US (500 * MS_US) /* Who is back sooner was not missed. */

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
    struct trainer_options trainer;
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
                       .state_from = PEER_NO_SEAT,
                       .busy_at = TIME_NEVER,
                       .lacking_since = TIME_NEVER};
    own = &p->seats[0];
    *own = (struct peer_seat){.link = PEER_NO_LINK,
                              .dialled = PEER_NO_LINK,
                              .incarnation = options->incarnation,
                              .first = options->first,
                              .end = options->end};
    memcpy(own->name, options->name, NAME_SIZE);
    memcpy(own->place, options->place, PEER_PLACE);
    pulse_init(&p->pulse);
    p->pulse.tracing = options->stints;
    p->key.job = digest_short(&options->config);
    p->share.room = options->stepped;
    trainer = options->trainer;
    trainer.shares = options->stepped.memory != NULL && options->share > 0;
    err = trainer_init(&p->trainer, &trainer);
    if (err != ERR_OK)
        return err;
    p->state = mem_new(trainer_state_bytes(&p->trainer), 1);
    p->anchor = mem_new(trainer_state_bytes(&p->trainer), 1);
    p->sums = mem_new(p->trainer.sum_dims, sizeof *p->sums);
    p->away = mem_new(options->home_count, sizeof *p->away);
    if (p->state == NULL || p->anchor == NULL || p->sums == NULL ||
        p->away == NULL)
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
    mem_free(peer->away);
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
    owed_send(p, link, kind);
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
                                     .leaves = true,
                                     .stops = p->spreads};
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
        peer_end(p, actions, ERR_RANGE, FAILURE_DIVERGED);
        return;
    }
    p->phase = PEER_LINGERING;
    for (uint32_t i = 1; i < p->seat_count; i++)
        if (p->seats[i].link != PEER_NO_LINK)
            peer_send(p, actions, p->seats[i].link, MSG_PARTING)
                ->parting.model = true;
}

/* --- between two rounds --------------------------------------------------- */

/* Is somebody in the view who has these rows? */
static bool is_home(const struct peer *p, const struct home *home)
{
    for (uint32_t i = 0; i < p->view.count; i++) {
        const struct peer_seat *seat = &p->seats[p->view.seat[i]];

        if (seat->first <= home->first && home->end <= seat->end)
            return true;
    }
    return false;
}

/* Its owner by name, as it was met last; "": it never was. */
static const char *owner_of(const struct peer *p, const struct home *home)
{
    const char *name = "";

    for (uint32_t i = 0; i < p->seat_count; i++)
        if (p->seats[i].first == home->first && p->seats[i].end == home->end)
            name = p->seats[i].name;
    return name;
}

static uint64_t first_row(const struct peer *p, uint32_t home)
{
    uint64_t row = 0;

    for (uint32_t h = 0; h < home; h++)
        row += p->options.homes[h].rows;
    return row;
}

static void tell_home(struct peer *p, uint32_t home, enum trace_kind kind,
                      struct actions *actions)
{
    struct trace *trace = peer_trace(p, actions, kind);

    trace->a = first_row(p, home);
    trace->b = p->options.homes[home].rows;
    trace->value = (double)p->options.owner_us / (double)SECOND_US;
    (void)snprintf(trace->name, sizeof trace->name, "%s",
                   owner_of(p, &p->options.homes[home]));
}

void peer_welcome_home(struct peer *p, struct actions *actions)
{
    for (uint32_t h = 0; h < p->options.home_count; h++) {
        if (!p->away[h] || !is_home(p, &p->options.homes[h]))
            continue;
        tell_home(p, h, TRACE_HOME, actions);
        p->away[h] = false;
    }
}

static void miss(struct peer *p, struct actions *actions)
{
    for (uint32_t h = 0; h < p->options.home_count; h++) {
        if (p->away[h] || is_home(p, &p->options.homes[h]))
            continue;
        tell_home(p, h, TRACE_AWAY, actions);
        p->away[h] = true;
    }
}

/* Nobody here has some rows: there is no step without them. */
static void lack(struct peer *p)
{
    p->phase = PEER_LACKING;
    if (p->lacking_since == TIME_NEVER)
        p->lacking_since = p->now;
}

/* The owner who was away first is as good as any. */
static void give_up_waiting(struct peer *p, struct actions *actions)
{
    uint32_t h = 0;
    const char *name;

    while (h < p->options.home_count && !p->away[h])
        h++;
    if (h == p->options.home_count) {
        peer_end(p, actions, ERR_CLOSED, "nobody has chunk %u", p->view.gap);
        return;
    }
    name = owner_of(p, &p->options.homes[h]);
    peer_end(p, actions, ERR_CLOSED,
             "the owner of rows %llu to %llu (%s) has been away for %.0f s",
             (unsigned long long)first_row(p, h),
             (unsigned long long)first_row(p, h) + p->options.homes[h].rows - 1,
             name[0] == '\0' ? "never seen" : name,
             (double)p->options.owner_us / (double)SECOND_US);
}

static void wait_for_owners(struct peer *p, struct actions *actions)
{
    const time_us waited = p->now - p->lacking_since;

    if (waited >= TELL_US)
        miss(p, actions);
    if (p->options.owner_us > 0 && waited >= p->options.owner_us)
        give_up_waiting(p, actions);
}

/* All of a machine have one disk, and one state at the same step: where they
 * step it for each other they save it in turn, so that the newest is no older
 * than if all did.  Nobody's is older than `checkpoint_us`, which is everyone's
 * own, or than all turns; who was in another view, or busy, is still behind and
 * saves then. */
bool peer_saves(const struct peer *p)
{
    const struct ledger *const ledger = &p->trainer.ledger;
    const uint32_t step = p->trainer.optim.step;
    const uint32_t every = ledger->options.checkpoint_steps;

    if (!trainer_checkpoint_due(&p->trainer, p->now))
        return false;
    return !p->together || ledger->options.sync ||
           p->now - ledger->checkpoint_at >= ledger->options.checkpoint_us ||
           (step - ledger->checkpoint_step) / p->view.count >= every ||
           step / every % p->view.count == p->view.self;
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
        !ledger_waits(&p->trainer.ledger) && peer_saves(p)) {
        const struct checkpoint head = peer_head(p);

        trainer_checkpoint(&p->trainer, &head, p->now, actions);
    }
    if (council_between(p, actions))
        return;
    if (p->view.gap < p->options.chunks) {
        lack(p);
        return;
    }
    p->lacking_since = TIME_NEVER;
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
    p->asked |= parting->stops;
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
    if (msg->kind != MSG_BEAT && msg->kind != MSG_PULSE) {
        p->seats[seat].received++;
        owed_moved(p, seat);
    }
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
    case MSG_PULSE:
        pulse_take(p, seat, &msg->pulse);
        break;
    case MSG_BEAT:
        owed_take(p, seat, &msg->beat);
        break;
    default:
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
    if (now - p->now >= p->options.dead_us / 2)
        owed_forgive(p, now);
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
    case EVENT_MOVED:
        if (links_seat(p, event->link) != PEER_NO_SEAT)
            owed_moved(p, links_seat(p, event->link));
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

/* Slices, beats and pulses change nothing that a view depends on. */
static bool concerns_council(const struct event *event)
{
    if (event->kind == EVENT_MOVED)
        return false;
    return event->kind != EVENT_MESSAGE ||
           (event->msg->kind != MSG_SLICE && event->msg->kind != MSG_BEAT &&
            event->msg->kind != MSG_PULSE);
}

void peer_step(struct peer *peer, const struct event *event,
               struct actions *actions)
{
    struct peer *p = peer;
    const uint64_t beats = p->beats;

    CHECK(p->phase != PEER_DONE);
    notice_absence(p, event->now);
    pulse_before(p, event);
    if (p->options.trainer.kept)
        trainer_turn(&p->trainer);
    if (p->phase == PEER_ENDING) {
        handle_ending(p, event, actions);
        return;
    }
    handle(p, event, actions);
    if (p->phase < PEER_ENDING)
        links_tend(p, actions);
    if (p->phase < PEER_ENDING && p->beats != beats && owed_tend(p, actions)) {
        p->spreads = !p->leaving;
        end_stopped(p, actions);
    }
    if (p->phase < PEER_ENDING && (concerns_council(event) || p->broken))
        council_tend(p, actions);
    if (p->phase < PEER_ENDING && is_waiting(p) &&
        (p->asked || p->stopping || p->leaving)) {
        /* No part of a step will carry the wish to the others. */
        p->spreads = p->phase == PEER_LACKING && !p->leaving;
        end_stopped(p, actions);
    }
    if (p->phase == PEER_LACKING)
        wait_for_owners(p, actions);
    if (p->phase == PEER_LINGERING && (all_done(p) || p->asked))
        peer_end(p, actions, ERR_OK, "done");
    if (p->phase >= PEER_ENDING)
        return;
    links_tell(p, actions);
    pulse_after(p, p->beats != beats, actions);
    actions_add(actions, ACTION_TIMER)->at = links_due(p);
}
