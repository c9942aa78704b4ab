/*
 * coordinator.c - the coordinator's frame: set-up, resumption from disk,
 * dispatch of events to the files that own them, the next time to be woken, and
 * the invariants that are checked after every step.
 */
#include "core/star/coordinator.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "code/preset.h"
#include "code/rules.h"
#include "core/star/coordinator_parts.h"
#include "math/blocks.h"

#define TICK_US  (10 * MS_US)
#define WATCH_US (50 * MS_US)

/* --- shared by the parts ------------------------------------------------- */

struct msg *coordinator_send(const struct coordinator *c,
                             struct actions *actions, uint32_t link,
                             enum msg_kind kind)
{
    const struct member *member = &c->members[link];
    struct action *action = actions_add(actions, ACTION_SEND);

    action->link = member->via > 0 ? member->via - 1 : link;
    action->msg.leaf = member->leaf;
    action->msg.kind = kind;
    return &action->msg;
}

void coordinator_hang_up(const struct coordinator *c, struct actions *actions,
                         uint32_t link)
{
    if (c->members[link].via > 0)
        (void)coordinator_send(c, actions, link, MSG_GONE);
    else
        actions_add(actions, ACTION_CLOSE)->link = link;
}

struct trace *coordinator_trace(struct coordinator *c, struct actions *actions,
                                enum trace_kind kind, uint32_t link)
{
    struct trace *trace = &actions_add(actions, ACTION_TRACE)->trace;

    trace->now = c->now;
    trace->kind = kind;
    trace->key = c->key;
    trace->link = link == LINK_NONE ? -1 : (int32_t)link;
    if (link != LINK_NONE && !c->members[link].relay) /* Workers only. */
        memcpy(trace->name, c->members[link].name, NAME_SIZE);
    return trace;
}

void coordinator_fail(struct coordinator *c, struct actions *actions,
                      enum err err, const char *format, ...)
{
    struct action *action;
    va_list args;

    if (c->phase == COORDINATOR_FAILED)
        return;
    if (err != ERR_STALE) /* INV-6 */
        trainer_write_receipt(&c->trainer, actions);
    va_start(args, format);
    (void)vsnprintf(c->reason, sizeof c->reason, format, args);
    va_end(args);
    c->phase = COORDINATOR_FAILED;
    (void)coordinator_trace(c, actions, TRACE_FAILED, LINK_NONE);
    /* A coordinator that was replaced has no right to send workers home. */
    for (uint32_t link = 0; err != ERR_STALE && link < c->members_max; link++) {
        struct msg *bye;

        if (!member_here(c, link))
            continue;
        bye = coordinator_send(c, actions, link, MSG_BYE);
        memcpy(bye->bye.reason, c->reason, sizeof bye->bye.reason);
    }
    if (err != ERR_STALE)
        leaves_bye(c, false, c->reason, actions);
    action = actions_add(actions, ACTION_FINISH);
    action->err = err;
    action->reason = c->reason;
}

/* --- init ---------------------------------------------------------------- */

static enum err make_members(struct coordinator *c)
{
    const uint32_t blocks = c->options.code.blocks;
    const uint32_t links = c->members_max;
    const uint32_t slots = blocks > links ? blocks : links;

    c->members = mem_new(links, sizeof *c->members);
    c->present = mem_new(links, sizeof *c->present);
    c->answerer = mem_new(c->options.leaves_max > 0 ? ANSWERS_MAX : 0,
                          sizeof *c->answerer);
    c->merged =
        mem_new(c->options.leaves_max > 0 ? ANSWERS_MAX : 0, sizeof *c->merged);
    c->slot_link = mem_new(slots, sizeof *c->slot_link);
    c->slot_in = mem_new(slots, sizeof *c->slot_in);
    c->slot_todo = mem_new(slots, sizeof *c->slot_todo);
    c->slot_alive = mem_new(slots, sizeof *c->slot_alive);
    c->ages.age = mem_new(slots, sizeof *c->ages.age);
    c->ages.early = mem_new(slots, sizeof *c->ages.early);
    c->decode = mem_new(slots, sizeof *c->decode);
    if (c->members == NULL || c->present == NULL || c->answerer == NULL ||
        c->merged == NULL || c->slot_link == NULL || c->slot_in == NULL ||
        c->slot_todo == NULL || c->slot_alive == NULL || c->ages.age == NULL ||
        c->ages.early == NULL || c->decode == NULL)
        return ERR_NOMEM;
    for (uint32_t link = 0; link < links; link++) {
        const enum err err =
            chunkset_init(&c->members[link].held, job_shards(&c->options.job));

        if (err != ERR_OK)
            return err;
        if (shipping_room(&c->members[link], &c->options.job) != ERR_OK)
            return ERR_NOMEM;
    }
    for (uint32_t slot = 0; slot < slots; slot++)
        c->slot_link[slot] = LINK_NONE;
    return refusals_init(c);
}

static enum err make_vectors(struct coordinator *c)
{
    const struct job *job = &c->options.job;
    enum err err = tally_init(&c->tally, job->sum_dims, job->chunks);

    if (err == ERR_OK)
        err = tally_init(&c->arrived, job->sum_dims, job->chunks);
    if (err != ERR_OK)
        return err;
    c->tally.pool = c->options.pool;
    c->products.scores = mem_new(job->products ? block_pad(job->rows) : 0,
                                 sizeof *c->products.scores);
    c->gradient = mem_new((size_t)job->sum_dims + 1, sizeof *c->gradient);
    return c->products.scores == NULL || c->gradient == NULL ? ERR_NOMEM
                                                             : lines_room(c);
}

bool coordinator_promises_bits(const struct coordinator *c)
{
    return code_spec_bitwise(&c->options.code) &&
           !(c->options.adapt && c->options.worst == EXACT_APPROX);
}

/* Go on with the code of the last view: it was chosen for these workers. */
static void resume_code(struct coordinator *c,
                        const struct journal_summary *journal)
{
    const struct preset_options options = {.name = journal->code,
                                           .stragglers = journal->stragglers,
                                           .collect = journal->k,
                                           .workers = journal->planned,
                                           .seed = c->options.code.seed};
    struct code_spec spec;

    if (!c->options.adapt || journal->planned == 0 ||
        (strcmp(journal->code, c->options.code.name) == 0 &&
         journal->stragglers == c->options.code.stragglers) ||
        preset_spec(&options, &spec, NULL) != ERR_OK)
        return;
    c->recoding.wanted = spec;
    c->recoding.wanted_slots = journal->planned;
}

static enum err resume(struct coordinator *c, const struct recovery *recovery,
                       struct why *why)
{
    const struct journal_summary *journal = &recovery->journal;
    const enum err err =
        trainer_resume(&c->trainer, recovery, &c->options.config,
                       coordinator_promises_bits(c), why);

    if (err != ERR_OK)
        return err;
    c->options.job.id = journal->job;
    c->view = journal->view;
    resume_code(c, journal);
    /* Those of the last view will be back; the dead will not. */
    if (journal->members > 0 && journal->members < c->gather.workers)
        c->gather.workers = journal->members;
    return ERR_OK;
}

/* Of coded data vectors of all rows travel, too, which may be fewer than the
 * weights. */
static uint32_t sums_min(const struct job *job, bool products)
{
    const uint32_t rows = block_pad(job->rows);

    if (!products)
        return 0;
    return rows > job->dims ? rows : job->dims;
}

static enum err make_trainer(struct coordinator *c)
{
    struct coordinator_options *const o = &c->options;
    const bool products = code_spec_products(&o->code);
    const struct trainer_options options = {
        .optim = o->optim,
        .scale = o->scale,
        .pool = o->pool,
        .mirror = o->mirror,
        .dims = optim_dims(&o->optim, o->job.dims),
        .vectors = o->vectors,
        .length = o->length,
        .sums_min = sums_min(&o->job, products),
        .kept = true,
        .ledger = o->ledger};
    const enum err err = trainer_init(&c->trainer, &options);

    o->job.sum_dims = c->trainer.sum_dims;
    o->job.products = products;
    CHECK(products || o->optim.kind != OPTIM_COLUMNS);
    o->job.copies = products ? o->code.copies : 0;
    if (products && o->optim.kind == OPTIM_COLUMNS)
        o->job.copies = 1; /* Who asks for scores alone needs no way back. */
    if (!products)
        return err;
    CHECK(o->slopes != NULL && !o->adapt);
    CHECK(o->bends != NULL || o->optim.kind != OPTIM_NEWTON);
    CHECK(o->vectors == 1 && o->job.coded_cols > 0);
    CHECK(o->job.chunks <= CHUNKS_MAX / 2);
    CHECK(o->place == NULL);
    o->job.keyed = false; /* Blocks are sent, not chunks. */
    return err;
}

enum err coordinator_init(struct coordinator *coordinator,
                          const struct coordinator_options *options,
                          const struct recovery *recovery, struct why *why)
{
    struct coordinator *c = coordinator;
    enum err err;

    CHECK(options->slots > 0 &&
          options->slots <= options->links_max + options->leaves_max);
    CHECK(options->links_max <= COORDINATOR_LINKS_MAX);
    CHECK(options->leaves_max <= COORDINATOR_LINKS_MAX);
    CHECK(options->job.dims > 0 && options->job.chunks > 0);
    CHECK(options->vectors > 0);
    CHECK(options->job.dims % options->vectors == 0);
    err =
        rules_check_code(&options->code, optim_name(options->optim.kind), why);
    if (err != ERR_OK)
        return err;
    *c = (struct coordinator){.options = *options,
                              .members_max = options->links_max +
                                             options->leaves_max +
                                             options->home_count,
                              .gather.workers = options->slots,
                              .recoding.wanted = options->code,
                              .recoding.wanted_slots = options->slots};
    err = make_trainer(c);
    if (err == ERR_OK)
        err = make_members(c);
    if (err == ERR_OK)
        err = make_vectors(c);
    if (err == ERR_OK)
        err = homes_room(c);
    if (err == ERR_OK)
        err = peers_room(c);
    if (err == ERR_OK && options->adapt)
        err = adapt_init(&c->recoding.adapt, options->job.chunks,
                         options->worst, options->drill);
    if (err == ERR_OK)
        err = sizes_room(c, recovery);
    if (err == ERR_OK && recovery != NULL && recovery->found)
        err = resume(c, recovery, why);
    if (err == ERR_NOMEM)
        (void)why_set(why, err, "not enough memory for the coordinator");
    if (err != ERR_OK)
        coordinator_close(c);
    return err;
}

static void free_retired(struct coordinator *c)
{
    while (c->items.retired_count > 0)
        mem_free(c->items.retired[--c->items.retired_count]);
}

void coordinator_close(struct coordinator *coordinator)
{
    struct coordinator *c = coordinator;

    for (uint32_t i = 0; c->members != NULL && i < c->members_max; i++) {
        chunkset_close(&c->members[i].held);
        chunkset_close(&c->members[i].near);
    }
    free_retired(c);
    verify_close(c);
    refusals_close(c);
    homes_close(c);
    peers_close(c);
    sizes_close(c);
    code_close(&c->code);
    adapt_close(&c->recoding.adapt);
    trainer_close(&c->trainer);
    tally_close(&c->tally);
    tally_close(&c->arrived);
    mem_free(c->members);
    mem_free(c->present);
    mem_free(c->answerer);
    mem_free(c->merged);
    mem_free(c->slot_link);
    mem_free(c->slot_in);
    mem_free(c->slot_todo);
    mem_free(c->slot_alive);
    mem_free(c->ages.age);
    mem_free(c->ages.early);
    mem_free(c->decode);
    mem_free(c->products.scores);
    lines_close(c);
    segments_close(c);
    mem_free(c->gradient);
    mem_free(c->pieces);
    mem_free(c->assignees);
    mem_free(c->piece_in);
    mem_free(c->ids);
    mem_free(c->items.list);
    mem_free(c->coded);
    *c = (struct coordinator){0};
}

/* --- step ---------------------------------------------------------------- */

/* The first record of a run, or a note that an approximate one goes back to
 * its checkpoint. */
static void on_start(struct coordinator *c, struct actions *actions)
{
    struct record record = {
        .kind = c->trainer.ledger.resumed ? RECORD_ROLLBACK : RECORD_JOB,
        .job = c->options.job.id,
        .view = c->view,
        .step = c->trainer.optim.step,
        .slots = c->options.slots,
        .weights = c->options.config,
    };

    trainer_start(&c->trainer, c->now);
    c->gather.until = c->now + c->options.gather_us;
    memcpy(record.code, c->options.code.name, sizeof record.code);
    if (c->trainer.ledger.rollback) {
        c->stats.rollbacks++;
        coordinator_trace(c, actions, TRACE_ROLLBACK, LINK_NONE)->key.step =
            c->trainer.optim.step;
    }
    if (!c->trainer.ledger.resumed || c->trainer.ledger.rollback)
        trainer_journal(&c->trainer, &record, true, actions);
    else if (trainer_done(&c->trainer))
        commit_advance(c, actions); /* Killed as it said goodbye: nobody will
                                       come any more, and nobody needs to. */
    else
        view_gather(c, actions);
}

static void on_member_message(struct coordinator *c, uint32_t link,
                              const struct msg *msg, struct actions *actions)
{
    switch (msg->kind) {
    case MSG_BEAT:
        roster_beat(c, link, &msg->beat, actions);
        break;
    case MSG_PULSE:
        roster_pulse(c, link, &msg->pulse, actions);
        break;
    case MSG_TALLY:
        answers_tally(c, link, &msg->tally, actions);
        break;
    case MSG_ROW:
        answers_row(c, link, &msg->row, actions);
        break;
    case MSG_REFUSE:
        answers_refuse(c, link, &msg->refuse, actions);
        break;
    case MSG_NEED:
        work_need(c, link, &msg->need, actions);
        break;
    case MSG_HAVE:
        shipping_have(c, link, &msg->have, actions);
        break;
    case MSG_SERVING:
        peers_serving(c, link, &msg->serving, actions);
        break;
    case MSG_MEET:
    case MSG_ROSTER:
    case MSG_PROPOSE:
    case MSG_REPORT:
    case MSG_STATE:
    case MSG_SLICE:
    case MSG_PARTING:
    case MSG_TERMS:
    case MSG_RELAY:
    case MSG_TASK:
    case MSG_ALONE:
    case MSG_SUM:
    case MSG_GONE:
    case MSG_HELLO:
    case MSG_WELCOME:
    case MSG_REJECT:
    case MSG_ECHO:
    case MSG_DATA:
    case MSG_ROUND:
    case MSG_WORK:
    case MSG_DROP:
    case MSG_CANCEL:
    case MSG_LEAVE:
    case MSG_BYE:
    case MSG_ASK:
    case MSG_STATUS:
    case MSG_CHUNKS:
    case MSG_FETCH:
    case MSG_WATCH:
    case MSG_SERVE:
        break; /* Not for a coordinator, or handled before. */
    }
}

static void on_link_down(struct coordinator *c, uint32_t link,
                         struct actions *actions)
{
    if (c->members[link].relay) {
        leaves_down(c, link, actions);
        return;
    }
    if (!member_here(c, link))
        return;
    roster_remove(c, link, TRACE_DIED, actions);
    balance_round(c, actions);
}

/* From a relay, of itself. */
static void on_relay_message(struct coordinator *c, uint32_t link,
                             const struct msg *msg, struct actions *actions)
{
    if (msg->kind == MSG_RELAY) {
        leaves_relay(c, link, &msg->relay, actions);
    } else if (msg->kind == MSG_SUM) {
        roster_relay_heard(c, link);
        answers_sum(c, link, &msg->sum, actions);
    } else if (msg->kind == MSG_WATCH) {
        roster_relay_watch(c, link, &msg->watch, actions);
    }
}

static void on_message(struct coordinator *c, uint32_t link,
                       const struct msg *msg, struct actions *actions)
{
    if (msg->leaf != 0)
        link = leaves_find(c, link, msg, actions);
    if (link == LINK_NONE)
        return;
    if (msg->kind == MSG_RELAY || c->members[link].relay) {
        on_relay_message(c, link, msg, actions);
        return;
    }
    if (msg->kind == MSG_GONE) {
        on_link_down(c, link, actions);
        return;
    }
    if (msg->kind == MSG_HELLO) {
        roster_hello(c, link, &msg->hello, actions);
        return;
    }
    if (msg->kind == MSG_LEAVE) {
        roster_leave(c, link, actions);
        return;
    }
    if (!member_here(c, link))
        return; /* It was declared dead; it will say HELLO again. */
    c->members[link].heard_at = c->now;
    on_member_message(c, link, msg, actions);
    /* Whom it waited for may be late; messages put off the next tick. */
    if (c->phase == COORDINATOR_GATHERING)
        view_gather(c, actions);
}

/* Each at the time it came: reports and the choice of code see no difference
 * to answers that were told at once. */
static void on_tallies(struct coordinator *c, const struct event *event,
                       struct actions *actions)
{
    const uint64_t added =
        together_add(c, event->arrivals, event->arrival_count);

    for (uint32_t i = 0; i < event->arrival_count; i++) {
        const struct arrival *arrival = &event->arrivals[i];

        CHECK(arrival->link < c->options.links_max);
        CHECK(arrival->at >= c->now);
        c->now = arrival->at;
        c->ahead = (added >> i & 1) != 0;
        on_message(c, arrival->link, arrival->msg, actions);
        c->ahead = false;
    }
}

static void on_time(struct coordinator *c, struct actions *actions)
{
    c->looked_at = c->now;
    roster_watch(c, actions);
    homes_watch(c, actions);
    if (c->phase == COORDINATOR_GATHERING)
        view_gather(c, actions);
    else if (c->phase == COORDINATOR_ROUND)
        balance_round(c, actions);
    if (c->phase == COORDINATOR_ROUND)
        round_deadline(c, actions);
}

static void on_stop(struct coordinator *c, struct actions *actions)
{
    if (c->stopping.how == STOPPING_NOT) {
        c->stopping.how = STOPPING_AT_BOUNDARY;
        c->stopping.at = c->now;
    }
    (void)coordinator_trace(c, actions, TRACE_STOP, LINK_NONE);
}

/* A tick after the last event, so that what it moves is moved once.  Where
 * beats come all the time there would be none, and nobody would be suspected:
 * then so long after the last one. */
static time_us next_tick(const struct coordinator *c)
{
    /* In a round only thieves gain by it; others wait for an event. */
    const bool calm = c->phase == COORDINATOR_ROUND &&
                      c->recoding.wanted.schedule != SCHED_STEAL;
    const time_us tick = c->now + (calm ? WATCH_US : TICK_US);
    const time_us watch = c->looked_at + WATCH_US;

    if (c->options.job.beat_us == 0 || watch >= tick)
        return tick;
    return watch > c->now ? watch : c->now;
}

static time_us sooner(time_us a, time_us b)
{
    return a < b ? a : b;
}

static time_us next_time(const struct coordinator *c)
{
    const bool ticking = c->options.job.beat_us > 0 ||
                         c->recoding.wanted.schedule == SCHED_STEAL;

    if (c->phase == COORDINATOR_DONE || c->phase == COORDINATOR_FAILED)
        return TIME_NEVER;
    if (c->phase == COORDINATOR_GATHERING && !ticking)
        return c->gather.until > c->now ? c->gather.until : TIME_NEVER;
    return sooner(ticking ? next_tick(c) : TIME_NEVER,
                  sooner(commit_patience_ends(c),
                         sooner(round_deadline_at(c), deal_look_at(c))));
}

/* The numbered invariants of docs/protocol.md that one machine can see. */
static void coordinator_check(const struct coordinator *c)
{
    if (c->phase == COORDINATOR_ROUND) {
        CHECK(c->code_built);
        CHECK(c->pieces_in <= c->piece_count);       /* INV-1 */
        CHECK(c->slots_in <= c->code.slots);         /* INV-1 */
        CHECK(c->key.view == c->view);               /* INV-2 */
        CHECK(c->key.step == c->trainer.optim.step); /* INV-3 */
        CHECK(c->key.round == product_round(c));     /* INV-3 */
    }
    CHECK(c->phase != COORDINATOR_VIEWING ||
          ledger_waits(&c->trainer.ledger)); /* INV-4 */
    stale_check(c);
    trainer_check(&c->trainer);
}

static void dispatch(struct coordinator *c, const struct event *event,
                     struct actions *actions)
{
    switch (event->kind) {
    case EVENT_START:
        on_start(c, actions);
        break;
    case EVENT_TIME:
        on_time(c, actions);
        break;
    case EVENT_LINK_DOWN:
        CHECK(event->link < c->options.links_max);
        on_link_down(c, event->link, actions);
        break;
    case EVENT_MESSAGE:
        CHECK(event->link < c->options.links_max);
        on_message(c, event->link, event->msg, actions);
        break;
    case EVENT_TALLIES:
        on_tallies(c, event, actions);
        break;
    case EVENT_JOURNALED:
        commit_journaled(c, event->err, actions);
        break;
    case EVENT_CHECKPOINTED:
        commit_checkpointed(c, event->step, event->err, actions);
        break;
    case EVENT_STOP:
        on_stop(c, actions);
        break;
    case EVENT_SIZE:
        sizes_change(c, event->size, actions);
        break;
    case EVENT_JUDGED:
        verify_judged(c, event->err, actions);
        break;
    case EVENT_MEASURED:
        commit_measured(c, event->loss, event->err, actions);
        break;
    case EVENT_LINK_UP: /* HELLO says more. */
        break;
    case EVENT_COMPUTED:
    case EVENT_LEAVE:
    case EVENT_RECALLED:
    case EVENT_FETCHED:
    case EVENT_SERVING:
    case EVENT_COMING:
    case EVENT_MOVED:
        CHECK(!"an event of a worker");
    }
}

void coordinator_step(struct coordinator *coordinator,
                      const struct event *event, struct actions *actions)
{
    struct coordinator *c = coordinator;

    actions->count = 0;
    if (c->phase == COORDINATOR_DONE || c->phase == COORDINATOR_FAILED)
        return;
    CHECK(event->now >= c->now);
    c->now = event->now;
    c->backlog = event->backlog > 0;
    c->items.used = 0;
    trainer_turn(&c->trainer);
    free_retired(c);
    dispatch(c, event, actions);
    commit_abandon(c, actions);
    actions_add(actions, ACTION_TIMER)->at = next_time(c);
    coordinator_check(c);
}
