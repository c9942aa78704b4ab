/*
 * relay_node.c - events in, actions out.
 *
 * The room for messages depends on the job, which the first WELCOME tells;
 * until then nobody below is trusted with more than a greeting.
 */
#include "node/relay/relay_node.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/link/greeting.h"
#include "core/relay/relay.h"
#include "node/host/farewell.h"
#include "node/host/session.h"
#include "node/host/ways.h"
#include "os/clock.h"
#include "os/log.h"
#include "os/net/link.h"
#include "os/run/loop.h"
#include "wire/codec.h"

#define ACTIONS_FIRST 64u
#define LINKS_SPARE   16u
#define RETRY_US      (10 * MS_US)
#define RETRY_MAX_US  (500 * MS_US)
#define BEATS_US      (100 * MS_US) /* Beats wait for the next WATCH. */
#define FINISH_US     SECOND_US
#define DATA_HIGH     (64u << 20) /* Queued for one worker: stop reading. */
#define DATA_LOW      (8u << 20)

struct node {
    const struct relay_node_options *options;
    struct relay core;
    struct actions actions;
    struct loop *loop;
    struct timer *timer;
    struct timer *beats;
    struct alerts *alerts;
    struct link_hub *hub;
    struct session *parent;    /* NULL: none, or not up yet. */
    struct link *dialled;      /* The link upwards; NULL: none. */
    struct session **children; /* By the core's link; NULL = free. */
    uint32_t links_max;
    struct codec_room room;
    struct posting posting; /* No board: to encode a round once. */
    struct envelope envelope;
    size_t message_max; /* 0: the job is not known. */
    uint32_t way;       /* Index of the address in use. */
    bool urgent;        /* More than beats waits to go up. */
    bool beats_set;
    bool held; /* The parent's bulk is not read. */
    bool in_bundle;

    bool finished;
    enum err err;
    struct why *why;
    struct farewell farewell;
};

static void feed(struct node *node, const struct event *event);

static void finish(struct node *node, enum err err, const char *reason)
{
    if (node->finished)
        return;
    node->finished = true;
    node->err = err == ERR_OK ? ERR_OK : why_set(node->why, err, "%s", reason);
}

/* Sessions. */

static void child_drop(struct node *node, struct session *child)
{
    session_flush(child);
    node->children[child->index] = NULL;
    link_set_user(child->link, NULL);
    link_close(child->link);
    session_free(child);
}

static void child_break(struct node *node, struct session *child)
{
    const struct event event = {.kind = EVENT_LINK_DOWN, .link = child->index};

    child_drop(node, child);
    feed(node, &event);
}

static void other_way(struct node *node)
{
    node->way = (node->way + 1) % node->options->address_count;
}

static void parent_drop(struct node *node)
{
    if (node->parent != NULL) {
        session_flush(node->parent);
        session_free(node->parent);
    }
    if (node->dialled != NULL)
        link_close(node->dialled);
    node->parent = NULL;
    node->dialled = NULL;
    node->held = false;
}

static uint32_t free_index(const struct node *node)
{
    for (uint32_t i = 0; i < node->links_max; i++) {
        if (node->children[i] == NULL)
            return i;
    }
    return SESSION_NO_INDEX;
}

static void child_up(struct node *node, struct link *link)
{
    const uint32_t index = free_index(node);
    struct session *child =
        index == SESSION_NO_INDEX || node->finished ? NULL : session_new(link);

    if (child == NULL) {
        link_close(link);
        return;
    }
    child->index = index;
    node->children[index] = child;
    link_set_user(link, child);
}

static void on_up(void *context, struct link *link)
{
    struct node *node = context;
    const struct event event = {.kind = EVENT_LINK_UP, .link = RELAY_PARENT};

    if (link != node->dialled) {
        child_up(node, link);
        return;
    }
    node->parent = session_new(link);
    if (node->parent == NULL)
        finish(node, ERR_NOMEM, "out of memory");
    feed(node, &event);
}

/* A relay vouches for many.  Another release is only told that it is one. */
static bool may_enter(const struct link *link, const struct msg *msg)
{
    return greeting_foreign(msg) != NULL ||
           link_may_be(link, msg->kind == MSG_HELLO ? msg->hello.name
                                                    : TOKEN_CLUSTER);
}

static void trust(const struct node *node, const struct session *child)
{
    if (node->message_max > 0)
        link_trust(child->link, node->message_max);
}

/* The first word of a child decides what it is. */
static bool greeted(struct node *node, struct session *child,
                    const struct msg *msg)
{
    if (child->greeted)
        return true;
    if (msg->leaf != 0 || (msg->kind != MSG_HELLO && msg->kind != MSG_RELAY) ||
        !may_enter(child->link, msg) ||
        (msg->kind == MSG_RELAY && session_bundle(child) != ERR_OK)) {
        log_line("%s is no worker of ours; dropped", link_address(child->link));
        child_break(node, child);
        return false;
    }
    child->greeted = true;
    trust(node, child);
    return true;
}

static void on_single(struct node *node, struct link *link, enum plane plane,
                      const uint8_t *data, size_t size)
{
    struct session *child = link_user(link);
    const bool above = link == node->dialled;
    struct msg msg;
    struct event event = {
        .kind = EVENT_MESSAGE, .link = RELAY_PARENT, .msg = &msg};
    const bool good = codec_decode(data, size, &node->room, &msg) == ERR_OK &&
                      msg_is_bulk(msg.kind) == (plane == PLANE_BULK);

    if (!above && child == NULL)
        return;
    if (!good && above) {
        finish(node, ERR_FORMAT, "the coordinator sent what is no message");
        feed(node, NULL);
        return;
    }
    if (!good) {
        log_line("%s sent what is no message; dropped", link_address(link));
        child_break(node, child);
        return;
    }
    if (!above) {
        if (!greeted(node, child, &msg))
            return;
        event.link = child->index;
    }
    feed(node, &event);
}

/* Whether bundles may come is known from what the peer said it is. */
static bool bundles(const struct node *node, const struct link *link)
{
    const struct session *child = link_user(link);

    return link == node->dialled || (child != NULL && child->bundles != NULL);
}

static void flush_children(struct node *node)
{
    for (uint32_t i = 0; i < node->links_max; i++) {
        if (node->children[i] != NULL)
            session_flush(node->children[i]);
    }
}

static void flush(struct node *node)
{
    if (node->in_bundle)
        return;
    flush_children(node);
    if (node->parent == NULL)
        return;
    if (node->urgent) {
        session_flush(node->parent);
    } else if (!node->beats_set && node->parent->bundles != NULL &&
               node->parent->bundles[PLANE_CONTROL].size > 0) {
        node->beats_set = true;
        timer_at(node->beats, clock_now_us() + BEATS_US);
    }
    node->urgent = false;
}

static void on_message(void *context, struct link *link, enum plane plane,
                       const uint8_t *data, size_t size)
{
    struct node *node = context;
    const uint8_t *message;
    size_t at = 0, message_size;

    if (!bundle_is(data, size) || !bundles(node, link)) {
        on_single(node, link, plane, data, size);
        return;
    }
    node->in_bundle = true;
    while (bundle_next(data, size, &at, &message, &message_size))
        on_single(node, link, plane, message, message_size);
    node->in_bundle = false;
    if (at == 0)
        on_single(node, link, plane, data, 0); /* No bundle, no message. */
    flush(node);
}

static void on_down(void *context, struct link *link, enum link_end how,
                    const char *why)
{
    struct node *node = context;
    struct session *child = link_user(link);
    struct event event = {.kind = EVENT_LINK_DOWN, .link = RELAY_PARENT};

    if (link == node->dialled) {
        if (node->parent != NULL)
            session_free(node->parent);
        node->parent = NULL;
        node->dialled = NULL;
        node->held = false;
        if (how == LINK_REFUSED)
            finish(node, ERR_DENIED, why);
        else if (ways_over(node->options->folder))
            finish(node, ERR_CLOSED, WAYS_OVER);
        if (node->core.phase != RELAY_SERVING)
            other_way(node);
        feed(node, &event);
        return;
    }
    if (child == NULL)
        return;
    event.link = child->index;
    node->children[child->index] = NULL;
    session_free(child);
    feed(node, &event);
}

static void on_drained(void *context, struct link *link)
{
    struct node *node = context;

    (void)link;
    if (!node->held || node->dialled == NULL)
        return;
    for (uint32_t i = 0; i < node->links_max; i++) {
        if (node->children[i] != NULL &&
            link_queued(node->children[i]->link, PLANE_BULK) > DATA_LOW)
            return;
    }
    node->held = false;
    link_hold(node->dialled, false);
}

static void on_refused(void *context, const char *why)
{
    (void)context;
    log_line("%s", why);
}

static const struct link_events link_events = {
    .up = on_up,
    .message = on_message,
    .down = on_down,
    .drained = on_drained,
    .refused = on_refused,
};

/* Actions. */

static void send_up(struct node *node, const struct msg *msg)
{
    if (node->parent == NULL)
        return;
    if (msg->kind != MSG_BEAT && msg->kind != MSG_PULSE)
        node->urgent = true;
    if (session_send(node->parent, &node->posting, &node->envelope, msg) !=
        ERR_OK)
        finish(node, ERR_NOMEM, "out of memory");
}

static void send_down(struct node *node, const struct action *action)
{
    struct session *child = node->children[action->link];
    const struct msg *msg = &action->msg;

    if (child == NULL)
        return;
    if (session_send(child, &node->posting, &node->envelope, msg) != ERR_OK) {
        finish(node, ERR_NOMEM, "out of memory");
        return;
    }
    if (msg->leaf == 0 && (msg->kind == MSG_BYE || msg->kind == MSG_REJECT)) {
        child_drop(node, child);
    } else if (msg->kind == MSG_DATA && node->dialled != NULL &&
               link_queued(child->link, PLANE_BULK) > DATA_HIGH) {
        node->held = true;
        link_hold(node->dialled, true);
    }
}

static void do_close(struct node *node, uint32_t link)
{
    if (link == RELAY_PARENT) {
        parent_drop(node);
        other_way(node); /* Whoever is silent may be out of reach. */
    } else if (node->children[link] != NULL) {
        child_drop(node, node->children[link]);
    }
}

static void do_connect(struct node *node)
{
    CHECK(node->dialled == NULL);
    if (link_dial(node->hub, &node->options->addresses[node->way],
                  &node->dialled) != ERR_OK)
        finish(node, ERR_NOMEM, "out of memory");
}

static void do_open(struct node *node, const struct job *job)
{
    struct codec_room room = {0};
    enum err err =
        codec_room_init(&room, job->dims, job->sum_dims, job_items_max(job));
    const size_t sum_max = codec_sum_max(job->sum_dims, ANSWERS_MAX);

    if (err == ERR_OK)
        err = codec_room_answers(&room, ANSWERS_MAX);
    if (err != ERR_OK) {
        codec_room_close(&room);
        finish(node, err, "not enough memory for this job");
        return;
    }
    codec_room_close(&node->room);
    node->room = room;
    node->message_max = codec_message_max(
        job->dims, job->sum_dims, job_list_max(job), (size_t)job->shard_max);
    if (node->message_max < sum_max)
        node->message_max = sum_max;
    for (uint32_t i = 0; i < node->links_max; i++) {
        if (node->children[i] != NULL && node->children[i]->greeted)
            trust(node, node->children[i]);
    }
}

static void carry_out(struct node *node, const struct action *action)
{
    switch ((int)action->kind) {
    case ACTION_SEND:
        if (action->link == RELAY_PARENT)
            send_up(node, &action->msg);
        else
            send_down(node, action);
        return;
    case ACTION_CLOSE:
        do_close(node, action->link);
        return;
    case ACTION_TIMER:
        timer_at(node->timer, action->at);
        return;
    case ACTION_CONNECT:
        do_connect(node);
        return;
    case ACTION_OPEN:
        do_open(node, action->job);
        return;
    case ACTION_FINISH:
        finish(node, action->err, action->reason);
        return;
    default:
        CHECK(!"not an action of a relay");
    }
}

/* Let the last words out, but not for ever. */
static void begin_end(struct node *node)
{
    link_hub_stop_listening(node->hub);
    for (uint32_t i = 0; i < node->links_max; i++)
        do_close(node, i);
    parent_drop(node);
    timer_at(node->timer, TIME_NEVER);
    timer_at(node->beats, TIME_NEVER);
    farewell_begin(&node->farewell, node->hub, NULL, FINISH_US);
}

/* Let in.  Bulk is read, and bundles are sent, only from now on: no ROUND
 * overtakes its WELCOME, and we have said what we are. */
static void welcomed(struct node *node)
{
    if (node->core.phase != RELAY_SERVING || node->parent == NULL ||
        link_trusted(node->dialled))
        return;
    link_trust(node->dialled, node->message_max);
    if (session_bundle(node->parent) != ERR_OK)
        finish(node, ERR_NOMEM, "out of memory");
}

/* NULL: only see whether it is over. */
static void feed(struct node *node, const struct event *event)
{
    struct event timed;

    if (farewell_begun(&node->farewell))
        return;
    if (!node->finished && event != NULL) {
        timed = *event;
        timed.now = clock_now_us();
        relay_step(&node->core, &timed, &node->actions);
        for (uint32_t i = 0; i < node->actions.count && !node->finished; i++)
            carry_out(node, &node->actions.list[i]);
        welcomed(node);
        flush(node);
    }
    if (node->finished)
        begin_end(node);
}

static void on_time(void *context)
{
    const struct event event = {.kind = EVENT_TIME, .link = RELAY_PARENT};

    feed(context, &event);
}

static void on_beats(void *context)
{
    struct node *node = context;

    node->beats_set = false;
    if (node->parent != NULL)
        session_flush(node->parent);
}

static void on_alert(void *context)
{
    const struct event event = {.kind = EVENT_LEAVE, .link = RELAY_PARENT};

    feed(context, &event);
}

/* Set-up. */

static enum err open_core(struct node *node)
{
    const struct relay_node_options *options = node->options;
    struct relay_options core = {
        .links_max = options->leaves_max + LINKS_SPARE,
        .leaves_max = options->leaves_max,
        .stays = options->stays,
        .retry_us = RETRY_US,
        .retry_max_us = RETRY_MAX_US,
        .give_up_us = options->give_up_us,
    };
    enum err err;

    memcpy(core.name, options->name, NAME_SIZE);
    err = relay_init(&node->core, &core);
    if (err == ERR_OK)
        err = actions_init(&node->actions, ACTIONS_FIRST);
    if (err == ERR_OK)
        err = codec_room_init(&node->room, 0, 0, 0);
    node->links_max = core.links_max;
    node->children = mem_new(node->links_max, sizeof *node->children);
    return err == ERR_OK && node->children == NULL ? ERR_NOMEM : err;
}

static enum err open_loop(struct node *node)
{
    struct link_options links = {
        .token = node->options->token,
        .events = &link_events,
        .context = node,
        .elsewhere = node->options->address_count > 1,
    };
    enum err err = loop_new(&node->loop);

    links.loop = node->loop;
    if (err == ERR_OK)
        err = timer_new(node->loop, on_time, node, &node->timer);
    if (err == ERR_OK)
        err = timer_new(node->loop, on_beats, node, &node->beats);
    if (err == ERR_OK)
        err = farewell_open(&node->farewell, node->loop);
    if (err == ERR_OK)
        err = alerts_new(node->loop, node->options->interrupt, on_alert, node,
                         &node->alerts);
    if (err == ERR_OK)
        err = link_hub_new(&links, &node->hub);
    if (err == ERR_OK)
        err = link_hub_listen(node->hub, node->options->listen_fd);
    return err;
}

static void node_close(struct node *node)
{
    for (uint32_t i = 0; node->children != NULL && i < node->links_max; i++) {
        if (node->children[i] != NULL)
            child_drop(node, node->children[i]);
    }
    parent_drop(node);
    link_hub_free(node->hub);
    alerts_free(node->alerts);
    timer_free(node->timer);
    timer_free(node->beats);
    farewell_close(&node->farewell);
    loop_free(node->loop);
    relay_close(&node->core);
    actions_close(&node->actions);
    codec_room_close(&node->room);
    envelope_close(&node->envelope);
    posting_close(&node->posting);
    mem_free(node->children);
}

enum err relay_node_run(const struct relay_node_options *options,
                        struct why *why)
{
    const struct event start = {.kind = EVENT_START, .link = RELAY_PARENT};
    struct node node = {.options = options, .why = why};
    enum err err;

    CHECK(options->address_count > 0 && codec_name_valid(options->name));
    err = open_core(&node);
    if (err == ERR_OK)
        err = open_loop(&node);
    if (err == ERR_OK) {
        feed(&node, &start);
        loop_run(node.loop);
        err = node.err;
    }
    if (err == ERR_NOMEM && why != NULL && why->text[0] == '\0')
        (void)why_set(why, err, "not enough memory for a relay");
    node_close(&node);
    return err;
}
