/*
 * worker.c - the worker's steps: each event and message to those it concerns
 * (worker_parts.h), and when it wants to be woken.
 */
#include "core/worker/worker.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/worker/worker_parts.h"

struct msg *worker_send(struct actions *actions, enum msg_kind kind)
{
    struct action *action = actions_add(actions, ACTION_SEND);

    action->msg.kind = kind;
    return &action->msg;
}

void worker_finish(struct worker *worker, struct actions *actions, enum err err,
                   const char *reason)
{
    struct action *action = actions_add(actions, ACTION_FINISH);

    action->err = err;
    action->reason = reason;
    worker->phase = WORKER_DONE;
}

void worker_init(struct worker *worker, const struct worker_options *options)
{
    CHECK(options->name[0] != '\0');
    CHECK(options->retry_us > 0);
    *worker = (struct worker){
        .options = *options,
        .phase = WORKER_DIALLING,
        .retry_us = options->retry_us,
        .dial_at = TIME_NEVER,
    };
    pulse_init(&worker->pulse);
}

void worker_close(struct worker *worker)
{
    worker_data_close(worker);
    tally_close(&worker->tally);
    tally_close(&worker->sent);
    mem_free(worker->row);
    mem_free(worker->gradient);
    mem_free(worker->spans);
    mem_free(worker->answered);
    mem_free(worker->queue);
    mem_free(worker->block_terms);
    for (int i = 0; i < 2; i++) {
        mem_free(worker->weights[i]);
        mem_free(worker->direction[i]);
        mem_free(worker->exponent[i]);
    }
    *worker = (struct worker){0};
}

/* --- time ---------------------------------------------------------------- */

static void on_time_serving(struct worker *worker, struct actions *actions)
{
    if (worker->holding && worker->now >= worker->release_at)
        worker_pieces_deliver(worker, actions);
    if (worker->in_round && !worker->computing && !worker->holding)
        worker_pieces_next(worker, actions);
    if (worker->job.beat_us > 0 && worker->now >= worker->beat_at)
        worker_link_beat(worker, actions);
    if (worker_link_silent(worker)) {
        (void)actions_add(actions, ACTION_CLOSE);
        worker->lost_at = worker->now;
        worker_link_redial(worker, actions);
    }
}

static void on_time(struct worker *worker, struct actions *actions)
{
    switch (worker->phase) {
    case WORKER_DIALLING:
        if (worker->now >= worker->dial_at)
            worker_link_dial(worker, actions);
        break;
    case WORKER_GREETING:
        if (worker->now >= worker->greet_until) {
            (void)actions_add(actions, ACTION_CLOSE);
            worker_link_redial(worker, actions);
        } else if (worker->now >= worker->hello_at) {
            worker_link_greet(worker, actions);
        }
        break;
    case WORKER_SERVING:
        on_time_serving(worker, actions);
        break;
    case WORKER_LEAVING:
        if (worker->now >= worker->leave_until)
            worker_finish(worker, actions, ERR_OK, "left without an answer");
        else if (worker->now >= worker->leave_at)
            worker_link_leave(worker, actions);
        break;
    case WORKER_DONE:
        break;
    }
}

static time_us next_time(const struct worker *worker)
{
    time_us next = TIME_NEVER;

    switch (worker->phase) {
    case WORKER_DIALLING:
        return worker->dial_at;
    case WORKER_GREETING:
        return time_sooner(worker->hello_at, worker->greet_until);
    case WORKER_LEAVING:
        return time_sooner(worker->leave_at, worker->leave_until);
    case WORKER_DONE:
        return TIME_NEVER;
    case WORKER_SERVING:
        break;
    }
    if (worker->job.beat_us > 0)
        next = worker->beat_at;
    if (worker->holding)
        next = time_sooner(next, worker->release_at);
    if (worker_busy(worker) && !worker->computing && !worker->holding)
        next = time_sooner(next, worker->need_at);
    return next;
}

/* --- step ---------------------------------------------------------------- */

static void on_message(struct worker *worker, const struct msg *msg,
                       struct actions *actions)
{
    worker->heard_at = worker->now;
    switch (msg->kind) {
    case MSG_WELCOME:
        worker_link_welcome(worker, &msg->welcome, actions);
        break;
    case MSG_REJECT:
        memcpy(worker->reason, msg->reject.reason, sizeof worker->reason);
        worker_finish(worker, actions, ERR_DENIED, worker->reason);
        break;
    case MSG_ROUND:
        worker_round(worker, &msg->round, actions);
        break;
    case MSG_WORK:
        worker_work(worker, &msg->work, actions);
        break;
    case MSG_DROP:
        worker_drop(worker, &msg->drop);
        break;
    case MSG_CANCEL:
        worker_cancel(worker, &msg->cancel, actions);
        break;
    case MSG_DATA:
        worker_data_arrived(worker, msg, actions);
        worker_pieces_next(worker, actions);
        break;
    case MSG_CHUNKS:
        worker_data_chunks(worker, msg, actions);
        break;
    case MSG_SERVE:
        worker_data_serve(worker, msg, actions);
        break;
    case MSG_FETCH:
        worker_data_fetch(worker, &msg->fetch, actions);
        break;
    case MSG_BYE:
        worker_round_end(worker, actions);
        memcpy(worker->reason, msg->bye.reason, sizeof worker->reason);
        worker_finish(worker, actions,
                      msg->bye.more && worker->options.stays ? ERR_STALE
                                                             : ERR_OK,
                      worker->reason);
        break;
    case MSG_ECHO: /* That it came is in heard_at. */
        worker_link_echo(worker, &msg->echo);
        offset_sample(&worker->pulse.clock, msg->echo.sent_us,
                      msg->echo.heard_us, worker->now, msg->echo.error_us);
        break;
    case MSG_HELLO:
    case MSG_BEAT:
    case MSG_NEED:
    case MSG_SERVING:
    case MSG_TALLY:
    case MSG_ROW:
    case MSG_REFUSE:
    case MSG_LEAVE:
    case MSG_ASK:
    case MSG_STATUS:
    case MSG_HAVE:
    case MSG_RELAY:
    case MSG_TASK:
    case MSG_ALONE:
    case MSG_SUM:
    case MSG_GONE:
    case MSG_PULSE:
    case MSG_WATCH:
    case MSG_MEET:
    case MSG_ROSTER:
    case MSG_PROPOSE:
    case MSG_REPORT:
    case MSG_STATE:
    case MSG_SLICE:
    case MSG_PARTING:
    case MSG_TERMS: /* Its driver's. */
        break;      /* The others are not for a worker. */
    }
}

static void worker_check(const struct worker *worker)
{
    CHECK(worker->at <= worker->queue_count);
    CHECK(!worker->cancelling || worker->computing);
    CHECK(!(worker->holding && worker->computing));
    CHECK(!worker->in_round || worker->open);
    CHECK(!worker->in_round || worker->key.view <= worker->view_seen);
}

void worker_step(struct worker *worker, const struct event *event,
                 struct actions *actions)
{
    actions->count = 0;
    if (worker->phase == WORKER_DONE) {
        if (event->kind == EVENT_COMPUTED)
            worker->computing = worker->cancelling = false;
        return;
    }
    CHECK(event->now >= worker->now);
    worker->now = event->now;
    worker->beaten = false;
    pulse_step(&worker->pulse);
    worker->backlog = event->backlog > 0;
    switch (event->kind) {
    case EVENT_START:
        worker->lost_at = worker->now;
        worker_link_dial(worker, actions);
        break;
    case EVENT_TIME:
        on_time(worker, actions);
        break;
    case EVENT_LINK_UP:
        worker_link_up(worker, actions);
        break;
    case EVENT_LINK_DOWN:
        worker_link_down(worker, actions);
        break;
    case EVENT_MESSAGE:
        on_message(worker, event->msg, actions);
        break;
    case EVENT_COMPUTED:
        worker_pieces_computed(worker, event, actions);
        break;
    case EVENT_LEAVE:
        worker_leave(worker, actions);
        break;
    case EVENT_RECALLED:
        worker_data_recalled(worker, event->near, event->held, actions);
        break;
    case EVENT_FETCHED:
        worker_data_fetched(worker, event, actions);
        worker_pieces_next(worker, actions);
        break;
    case EVENT_SERVING:
        worker_data_serving(worker, event->port, actions);
        break;
    case EVENT_COMING:
        worker_coming(worker, event->key, actions);
        break;
    case EVENT_TALLIES:
    case EVENT_JOURNALED:
    case EVENT_CHECKPOINTED:
    case EVENT_STOP:
    case EVENT_SIZE:
    case EVENT_JUDGED:
    case EVENT_MEASURED:
    case EVENT_MOVED:
        CHECK(!"an event of the coordinator");
    }
    if (worker->phase == WORKER_SERVING && worker->leaving &&
        !worker_busy(worker) && !worker->computing)
        worker_link_leave(worker, actions);
    worker_link_pulse(worker, actions);
    if (worker->phase != WORKER_DONE)
        actions_add(actions, ACTION_TIMER)->at = next_time(worker);
    worker_check(worker);
}
