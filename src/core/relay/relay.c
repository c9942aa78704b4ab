/*
 * relay.c - the machine itself: greetings, links, time and who says what.
 */
#include "core/relay/relay.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/link/greeting.h"
#include "core/relay/relay_parts.h"

#define HELLO_RESEND_US (500 * MS_US)
#define GREET_US        (2 * SECOND_US)
#define PATIENCE_US     (2 * SECOND_US) /* Then leaves may look elsewhere. */

/* --- set-up -------------------------------------------------------------- */

enum err relay_init(struct relay *relay, const struct relay_options *options)
{
    CHECK(options->retry_us > 0);
    CHECK(options->leaves_max <= RELAY_LEAVES_MAX);
    *relay = (struct relay){
        .options = *options,
        .phase = RELAY_DIALLING,
        .retry_us = options->retry_us,
        .dial_at = TIME_NEVER,
        .unanswered_at = TIME_NEVER,
        .hold_until = TIME_NEVER,
    };
    relay->links = mem_new(options->links_max, sizeof *relay->links);
    relay->leaves = mem_new(options->leaves_max, sizeof *relay->leaves);
    relay->hellos = mem_new(options->leaves_max, sizeof *relay->hellos);
    if (relay->links != NULL && relay->leaves != NULL &&
        relay->hellos != NULL &&
        vigil_init(&relay->vigil, options->leaves_max, options->links_max) ==
            ERR_OK)
        return ERR_OK;
    relay_close(relay);
    return ERR_NOMEM;
}

void relay_close(struct relay *relay)
{
    mem_free(relay->links);
    mem_free(relay->leaves);
    mem_free(relay->hellos);
    vigil_close(&relay->vigil);
    mem_free(relay->weights);
    mem_free(relay->direction);
    mem_free(relay->exponent);
    mem_free(relay->mapped);
    chunkset_close(&relay->passed);
    chunkset_close(&relay->seen);
    chunkset_close(&relay->alone);
    for (int i = 0; i < 2; i++) {
        tally_close(&relay->held[i]);
        mem_free(relay->answers[i]);
    }
    *relay = (struct relay){0};
}

static enum err job_room(struct relay *relay, const struct job *job)
{
    enum err err = chunkset_init(&relay->passed, job->chunks);

    if (err == ERR_OK)
        err = chunkset_init(&relay->alone, job->chunks);
    if (err == ERR_OK)
        err = chunkset_init(&relay->seen, job->chunks);
    for (int i = 0; i < 2 && err == ERR_OK; i++) {
        err = tally_init(&relay->held[i], job->sum_dims, job->chunks);
        relay->answers[i] = mem_new(ANSWERS_MAX, sizeof **relay->answers);
        if (relay->answers[i] == NULL)
            err = ERR_NOMEM;
    }
    relay->weights = mem_new(job->dims, sizeof *relay->weights);
    relay->direction = mem_new(job->dims, sizeof *relay->direction);
    relay->exponent =
        mem_new((size_t)job->sum_dims + 1, sizeof *relay->exponent);
    relay->mapped = mem_new(ANSWERS_MAX, sizeof *relay->mapped);
    if (relay->weights == NULL || relay->direction == NULL ||
        relay->exponent == NULL || relay->mapped == NULL)
        return ERR_NOMEM;
    return err;
}

static void finish(struct relay *relay, struct actions *actions, enum err err,
                   const char *reason)
{
    struct action *action = actions_add(actions, ACTION_FINISH);

    action->err = err;
    action->reason = reason;
    relay->phase = RELAY_DONE;
}

/* --- from above ---------------------------------------------------------- */

/* It went meanwhile; or the word of that was lost, and whoever counts on it
 * would wait for ever: we beat for all whom we do not call silent. */
static void say_gone(const struct msg *order, struct actions *actions)
{
    if (order->kind == MSG_TASK || order->kind == MSG_WORK)
        (void)relay_send(actions, RELAY_PARENT, order->leaf, MSG_GONE);
}

static void on_leaf_order(struct relay *relay, const struct msg *msg,
                          struct actions *actions)
{
    struct relay_leaf *leaf = relay_leaf_numbered(relay, msg->leaf);

    if (leaf == NULL) {
        say_gone(msg, actions);
        return;
    }
    if (msg->kind == MSG_TASK) {
        relay_task(relay, leaf, msg, actions);
        return;
    }
    if (msg->kind == MSG_GONE) {
        relay_leaf_dismiss(relay, leaf, actions);
        return;
    }
    if (msg->kind == MSG_WORK)
        relay_work(relay, leaf, &msg->work);
    if (msg->kind == MSG_DROP)
        relay_drop(relay, leaf, &msg->drop, actions);
    if (msg->kind == MSG_CANCEL)
        relay_cancel(relay, &msg->cancel);
    relay_pass(actions, msg, leaf->link, leaf->sub);
    if (msg->kind == MSG_BYE || msg->kind == MSG_REJECT)
        relay_leaf_free(relay, leaf,
                        actions); /* After it the driver hangs up. */
}

static void say_hello(const struct relay *relay, const struct relay_leaf *leaf,
                      struct actions *actions)
{
    relay_send(actions, RELAY_PARENT, leaf->number, MSG_HELLO)->hello =
        relay->hellos[relay_leaf_index(relay, leaf)];
}

static void on_welcome(struct relay *relay, const struct job *job,
                       struct actions *actions)
{
    if (relay->phase != RELAY_GREETING)
        return;
    if (relay->open &&
        (job->id != relay->job.id || job->dims != relay->job.dims ||
         job->chunks != relay->job.chunks)) {
        finish(relay, actions, ERR_MISMATCH,
               "the coordinator now runs another job; start the relay again");
        return;
    }
    if (!relay->open && job_room(relay, job) != ERR_OK) {
        finish(relay, actions, ERR_NOMEM,
               "not enough memory for the model and its tallies");
        return;
    }
    relay->job = job_kept(job, relay->brief);
    if (!relay->open)
        actions_add(actions, ACTION_OPEN)->job = &relay->job;
    relay->open = true;
    relay->phase = RELAY_SERVING;
    relay->retry_us = relay->options.retry_us;
    vigil_begin(&relay->vigil, job, relay->now);
    for (uint32_t i = 0; i < relay->options.links_max; i++) {
        if (relay->links[i].relay)
            relay_send(actions, i, 0, MSG_WELCOME)->welcome = *job;
    }
    for (uint32_t i = 0; i < relay->options.leaves_max; i++) {
        if (relay->leaves[i].number != 0)
            say_hello(relay, &relay->leaves[i], actions);
    }
}

static void on_order(struct relay *relay, const struct msg *msg,
                     struct actions *actions)
{
    relay->unanswered_at = TIME_NEVER;
    if (msg->leaf != 0) {
        on_leaf_order(relay, msg, actions);
        return;
    }
    switch ((int)msg->kind) {
    case MSG_WELCOME:
        on_welcome(relay, &msg->welcome, actions);
        break;
    case MSG_ROUND:
        if (relay->phase == RELAY_SERVING)
            relay_cast(relay, &msg->round, actions);
        break;
    case MSG_CANCEL:
        relay_cancel_all(relay, msg, actions);
        break;
    case MSG_ALONE:
        relay_alone(relay, msg, actions);
        break;
    case MSG_ECHO:
        vigil_echo(&relay->vigil, &msg->echo, relay->now);
        break;
    case MSG_REJECT:
        memcpy(relay->reason, msg->reject.reason, sizeof relay->reason);
        finish(relay, actions, ERR_DENIED, relay->reason);
        break;
    case MSG_BYE:
        for (uint32_t i = 0; i < relay->options.links_max; i++) {
            if (relay->links[i].relay)
                relay_pass(actions, msg, i, 0);
        }
        memcpy(relay->reason, msg->bye.reason, sizeof relay->reason);
        finish(relay, actions,
               msg->bye.more && relay->options.stays ? ERR_STALE : ERR_OK,
               relay->reason);
        break;
    default:
        break; /* The others are not for a relay. */
    }
}

/* --- from below ---------------------------------------------------------- */

static void reject(struct actions *actions, uint32_t link, uint32_t leaf,
                   const char *reason)
{
    struct msg_reject *msg =
        &relay_send(actions, link, leaf, MSG_REJECT)->reject;

    (void)snprintf(msg->reason, sizeof msg->reason, "%s", reason);
}

static void on_hello(struct relay *relay, uint32_t link, const struct msg *msg,
                     struct actions *actions)
{
    struct relay_leaf *leaf = relay_leaf_on(relay, link, msg->leaf);

    if (greeting_foreign(msg) != NULL) {
        reject(actions, link, msg->leaf, greeting_foreign(msg));
        return;
    }
    if (leaf == NULL)
        leaf = relay_leaf_new(relay, link, msg->leaf);
    if (leaf == NULL) {
        reject(actions, link, msg->leaf,
               "this relay has no room for one more worker");
        return;
    }
    relay->hellos[relay_leaf_index(relay, leaf)] = msg->hello;
    if (relay->phase == RELAY_SERVING)
        say_hello(relay, leaf, actions);
}

static void send_echo(const struct relay *relay, uint32_t link,
                      uint64_t sequence, int64_t sent_us,
                      struct actions *actions)
{
    struct msg_echo echo;

    if (vigil_answer(&relay->vigil, sequence, sent_us, relay->now, &echo))
        relay_send(actions, link, 0, MSG_ECHO)->echo = echo;
}

/* RELAY-5.  A relay between has answered it, and passed it on with reason. */
static void on_beat(struct relay *relay, const struct relay_leaf *leaf,
                    const struct msg *msg, struct actions *actions)
{
    bool passes = true;

    if (leaf->sub == 0) {
        send_echo(relay, leaf->link, msg->beat.sequence, msg->beat.sent_us,
                  actions);
        passes = vigil_beat(&relay->vigil, relay_leaf_index(relay, leaf),
                            &relay->job, &msg->beat, relay->now);
    }
    if (passes)
        relay_pass(actions, msg, RELAY_PARENT, leaf->number);
}

static void on_watch(struct relay *relay, uint32_t link,
                     const struct msg_watch *watch, struct actions *actions)
{
    send_echo(relay, link, watch->sequence, watch->sent_us, actions);
    if (!vigil_below(&relay->vigil, link, &relay->job, watch, relay->now))
        return;
    for (uint32_t i = 0; i < watch->count; i++) {
        const struct relay_leaf *leaf =
            relay_leaf_on(relay, link, watch->silent[i].leaf);

        if (leaf != NULL && leaf->sub != 0)
            vigil_silent(&relay->vigil, relay_leaf_index(relay, leaf),
                         watch->silent[i].silence_us, relay->now);
    }
}

/* Numbers for indices; whoever hears it should answer. */
static void send_watch(struct relay *relay, struct actions *actions)
{
    struct msg_watch watch;

    if (!vigil_watch(&relay->vigil, &relay->job, relay->now, &watch))
        return;
    for (uint32_t i = 0; i < watch.count; i++) {
        struct silent *silent = &relay->vigil.silent[i];

        silent->leaf = relay->leaves[silent->leaf].number;
    }
    relay_send(actions, RELAY_PARENT, 0, MSG_WATCH)->watch = watch;
    if (relay->unanswered_at == TIME_NEVER)
        relay->unanswered_at = relay->now;
}

static void on_report(struct relay *relay, struct relay_leaf *leaf,
                      const struct msg *msg, struct actions *actions)
{
    vigil_heard(&relay->vigil, relay_leaf_index(relay, leaf), relay->now);
    switch ((int)msg->kind) {
    case MSG_TALLY:
        relay_tally(relay, leaf, msg, actions);
        return;
    case MSG_BEAT:
        on_beat(relay, leaf, msg, actions);
        return;
    case MSG_GONE:
        relay_leaf_lost(relay, leaf, actions);
        return;
    case MSG_ROW:
        relay_leaf_owes(relay, leaf, 0);
        break;
    case MSG_REFUSE:
        relay_leaf_answered(relay, leaf);
        break;
    case MSG_LEAVE:
        relay_flush(relay, actions); /* Ahead of it, as far as that goes. */
        break;
    case MSG_NEED:
    case MSG_PULSE:
    case MSG_HAVE:
        break;
    default:
        return; /* Not a worker's to say. */
    }
    relay_pass(actions, msg, RELAY_PARENT, leaf->number);
    relay_flush_complete(relay, actions);
}

static void on_relay(struct relay *relay, uint32_t link,
                     const struct msg_relay *msg, struct actions *actions)
{
    const char *no = greeting_version(msg->version);

    if (no != NULL) {
        reject(actions, link, 0, no);
        return;
    }
    if (relay->links[link].leaf != 0) /* It said HELLO before. */
        relay_leaf_lost(relay, &relay->leaves[relay->links[link].leaf - 1],
                        actions);
    relay->links[link].relay = true;
    vigil_road(&relay->vigil, link, &relay->job);
    if (relay->phase == RELAY_SERVING)
        relay_send(actions, link, 0, MSG_WELCOME)->welcome = relay->job;
}

static void on_child(struct relay *relay, uint32_t link, const struct msg *msg,
                     struct actions *actions)
{
    struct relay_leaf *leaf;

    if (msg->kind == MSG_RELAY && msg->leaf == 0) {
        on_relay(relay, link, &msg->relay, actions);
        return;
    }
    if ((msg->leaf != 0) != relay->links[link].relay && msg->kind != MSG_SUM &&
        msg->kind != MSG_WATCH)
        return; /* Only relays have leaves, and nothing else to say. */
    if (msg->kind == MSG_HELLO) {
        on_hello(relay, link, msg, actions);
        return;
    }
    if (relay->phase != RELAY_SERVING)
        return;
    if (msg->kind == MSG_SUM) {
        if (relay->links[link].relay && !relay_sum(relay, link, msg, actions)) {
            actions_add(actions, ACTION_CLOSE)->link = link;
            relay_link_lost(relay, link, actions);
        }
        return;
    }
    if (msg->kind == MSG_WATCH) {
        if (relay->links[link].relay)
            on_watch(relay, link, &msg->watch, actions);
        return;
    }
    leaf = relay_leaf_on(relay, link, msg->leaf);
    if (leaf != NULL)
        on_report(relay, leaf, msg, actions);
}

/* --- links --------------------------------------------------------------- */

/* RELAY-4.  The coordinator has counted the leaves as gone, or soon will. */
static void send_home(struct relay *relay, struct actions *actions)
{
    for (uint32_t link = 0; link < relay->options.links_max; link++) {
        actions_add(actions, ACTION_CLOSE)->link = link;
        relay->links[link] = (struct relay_link){0};
    }
    for (uint32_t i = 0; i < relay->options.leaves_max; i++) {
        if (relay->leaves[i].number != 0)
            vigil_leave(&relay->vigil, i);
        relay->leaves[i] = (struct relay_leaf){0};
    }
    relay->owed = 0;
    relay->in_round = false;
    relay->answer_count = 0;
    relay->hold_until = TIME_NEVER;
    relay->unanswered_at = TIME_NEVER;
}

static void redial(struct relay *relay, struct actions *actions)
{
    if (relay->phase == RELAY_SERVING) {
        relay->lost_at = relay->now;
        send_home(relay, actions);
    }
    vigil_end(&relay->vigil);
    relay->phase = RELAY_DIALLING;
    relay->dial_at = relay->now + relay->retry_us;
    relay->retry_us =
        time_sooner(relay->retry_us * 2, relay->options.retry_max_us);
}

static void dial(struct relay *relay, struct actions *actions)
{
    if (relay->options.give_up_us != TIME_NEVER &&
        relay->now - relay->lost_at >= relay->options.give_up_us) {
        finish(relay, actions, ERR_TIMEOUT,
               "the coordinator cannot be reached");
        return;
    }
    if (relay->now - relay->lost_at >= PATIENCE_US)
        send_home(relay, actions);
    relay->dial_at = TIME_NEVER;
    (void)actions_add(actions, ACTION_CONNECT);
}

static void say_relay(struct relay *relay, struct actions *actions)
{
    struct msg_relay *msg =
        &relay_send(actions, RELAY_PARENT, 0, MSG_RELAY)->relay;

    msg->version = MSG_VERSION;
    memcpy(msg->name, relay->options.name, NAME_SIZE);
    relay->hello_at = relay->now + HELLO_RESEND_US;
}

static void on_link_up(struct relay *relay, uint32_t link,
                       struct actions *actions)
{
    if (link != RELAY_PARENT || relay->phase != RELAY_DIALLING)
        return;
    relay->phase = RELAY_GREETING;
    relay->greet_until = relay->now + GREET_US;
    say_relay(relay, actions);
}

static void on_link_down(struct relay *relay, uint32_t link,
                         struct actions *actions)
{
    if (link == RELAY_PARENT)
        redial(relay, actions);
    else
        relay_link_lost(relay, link, actions);
}

/* --- time ---------------------------------------------------------------- */

static time_us silent_at(const struct relay *relay)
{
    return relay->unanswered_at == TIME_NEVER
               ? TIME_NEVER
               : relay->unanswered_at + relay->job.dead_us;
}

static void on_time(struct relay *relay, struct actions *actions)
{
    if (relay->phase == RELAY_DIALLING && relay->now >= relay->dial_at) {
        dial(relay, actions);
        return;
    }
    if ((relay->phase == RELAY_GREETING && relay->now >= relay->greet_until) ||
        (relay->phase == RELAY_SERVING && relay->now >= silent_at(relay))) {
        actions_add(actions, ACTION_CLOSE)->link = RELAY_PARENT;
        redial(relay, actions);
        return;
    }
    if (relay->phase == RELAY_GREETING && relay->now >= relay->hello_at)
        say_relay(relay, actions);
    if (relay->phase == RELAY_SERVING && relay->now >= relay->hold_until)
        relay_flush(relay, actions);
    if (relay->phase == RELAY_SERVING && relay->now >= relay->vigil.due)
        send_watch(relay, actions);
}

static time_us next_time(const struct relay *relay)
{
    switch (relay->phase) {
    case RELAY_DIALLING:
        return relay->dial_at;
    case RELAY_GREETING:
        return time_sooner(relay->hello_at, relay->greet_until);
    case RELAY_SERVING:
        return time_sooner(time_sooner(relay->hold_until, silent_at(relay)),
                           relay->vigil.due);
    case RELAY_DONE:
        break;
    }
    return TIME_NEVER;
}

/* --- step ---------------------------------------------------------------- */

static void on_message(struct relay *relay, uint32_t link,
                       const struct msg *msg, struct actions *actions)
{
    if (link != RELAY_PARENT)
        on_child(relay, link, msg, actions);
    else if (relay->phase == RELAY_GREETING || relay->phase == RELAY_SERVING)
        on_order(relay, msg, actions);
}

static void relay_check(const struct relay *relay)
{
    CHECK(relay->phase != RELAY_SERVING || relay->open);
    CHECK(!relay->in_round || relay->open);
    CHECK(relay->answer_count == 0 || relay->hold_until != TIME_NEVER);
    CHECK(relay->answer_count <= ANSWERS_MAX);
}

void relay_step(struct relay *relay, const struct event *event,
                struct actions *actions)
{
    actions->count = 0;
    if (relay->phase == RELAY_DONE)
        return;
    CHECK(event->now >= relay->now);
    CHECK(event->link == RELAY_PARENT ||
          event->link < relay->options.links_max);
    relay->now = event->now;
    relay->flushed = false;
    switch ((int)event->kind) {
    case EVENT_START:
        relay->lost_at = relay->now;
        dial(relay, actions);
        break;
    case EVENT_TIME:
        on_time(relay, actions);
        break;
    case EVENT_LINK_UP:
        on_link_up(relay, event->link, actions);
        break;
    case EVENT_LINK_DOWN:
        on_link_down(relay, event->link, actions);
        break;
    case EVENT_MESSAGE:
        on_message(relay, event->link, event->msg, actions);
        break;
    case EVENT_LEAVE:
        if (relay->phase == RELAY_SERVING)
            relay_flush(relay, actions);
        finish(relay, actions, ERR_OK, "left");
        break;
    default:
        CHECK(!"not an event of a relay");
    }
    if (relay->phase != RELAY_DONE)
        actions_add(actions, ACTION_TIMER)->at = next_time(relay);
    relay_check(relay);
}
