/*
 * group_host.c - the host of a group: links, the vectors of a call, their sum.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/sum/sum.h"
#include "node/group/group.h"
#include "node/host/farewell.h"
#include "node/host/room.h"
#include "os/clock.h"
#include "os/net/link.h"
#include "os/random.h"
#include "os/run/loop.h"
#include "os/run/thread.h"
#include "wire/sum_codec.h"

#define BEAT_US     (50 * MS_US)
#define DEAD_US     (3 * SECOND_US)
#define AWAY_US     (30 * SECOND_US) /* For the host to add up. */
#define LINKS_SPARE 16u
#define NO_LINK     UINT32_MAX
/* The last sum is lost to a member that is slow to read it, and with it the
 * whole group: it may take as long as one that is still alive may be silent. */
#define FINISH_US DEAD_US

struct session {
    struct link *link;
    uint32_t index; /* NO_LINK: has not said HELLO. */
};

struct vector {
    uint8_t *bytes;
    size_t size, capacity;
};

struct group_host {
    struct group_host_options options;
    struct net_listener listener;
    char address[NET_TEXT_SIZE];
    struct thread *thread;
    struct loop *loop;
    struct timer *timer;
    struct bell *bell; /* Rung once: the end. */
    struct link_hub *hub;
    struct session **sessions;
    uint32_t links;
    struct sum_host core;
    struct sum_actions actions;
    struct vector *kept; /* By seat. */
    struct vector total, envelope;
    struct vector incoming, sum; /* Room for what is about to be kept and
                                    added: a step cannot fail. */
    const void **rows;
    double *column;
    struct farewell farewell;
};

static bool vector_fit(struct vector *vector, size_t size)
{
    uint8_t *grown;

    if (size > vector->capacity) {
        grown = mem_grow(vector->bytes, 0, size, 1, &vector->capacity);
        if (grown == NULL)
            return false;
        vector->bytes = grown;
    }
    vector->size = size;
    return true;
}

static void vector_close(struct vector *vector)
{
    mem_free(vector->bytes);
    *vector = (struct vector){0};
}

/* --- actions ------------------------------------------------------------- */

static void session_end(struct group_host *host, struct session *session)
{
    if (session->index != NO_LINK)
        host->sessions[session->index] = NULL;
    link_set_user(session->link, NULL);
    link_close(session->link);
    mem_free(session);
}

static void send(struct group_host *host, struct session *session,
                 struct sum_msg *msg)
{
    if (msg->kind == SUM_TOTAL) {
        msg->bytes = host->total.bytes;
        msg->size = host->total.size;
    }
    if (!vector_fit(&host->envelope, sum_codec_bound(msg))) {
        session_end(host, session); /* It will dial again. */
        return;
    }
    link_send(
        session->link, sum_is_bulk(msg->kind) ? PLANE_BULK : PLANE_CONTROL,
        host->envelope.bytes, sum_codec_encode(msg, host->envelope.bytes));
    if (msg->kind == SUM_REJECT || msg->kind == SUM_BYE)
        session_end(host, session);
}

static bool make_room(struct group_host *host, const struct sum_msg *msg)
{
    return msg->kind != SUM_GIVE || (vector_fit(&host->incoming, msg->size) &&
                                     vector_fit(&host->sum, msg->size));
}

static void swap(struct vector *a, struct vector *b)
{
    const struct vector kept = *a;

    *a = *b;
    *b = kept;
}

static void keep(struct group_host *host, uint32_t seat,
                 const struct sum_msg *msg)
{
    CHECK(msg != NULL); /* Only a message has something to keep. */
    CHECK(host->incoming.size == msg->size);
    if (msg->size > 0)
        memcpy(host->incoming.bytes, msg->bytes, msg->size);
    swap(&host->incoming, &host->kept[seat]);
}

static void add_up(struct group_host *host)
{
    const enum exact_type type = (enum exact_type)host->core.last_shape.type;
    const size_t count = host->core.last_shape.count;
    uint32_t rows = 0;

    /* There is: every vector of the call passed through make_room. */
    CHECK(vector_fit(&host->sum, count * exact_size(type)));
    for (uint32_t i = 0; i < host->options.seats; i++) {
        if (host->core.seats[i].was_in)
            host->rows[rows++] = host->kept[i].bytes;
    }
    exact_sum(isa_best(), type, host->rows, rows, count, host->column,
              host->sum.bytes);
    swap(&host->sum, &host->total);
}

static void carry_out(struct group_host *host, struct sum_action *action,
                      const struct sum_event *event)
{
    struct session *session =
        action->kind == SUM_ACTION_SEND || action->kind == SUM_ACTION_CLOSE
            ? host->sessions[action->link]
            : NULL;

    switch (action->kind) {
    case SUM_ACTION_SEND:
        if (session != NULL)
            send(host, session, &action->msg);
        return;
    case SUM_ACTION_CLOSE:
        if (session != NULL)
            session_end(host, session);
        return;
    case SUM_ACTION_TIMER:
        timer_at(host->timer, action->at);
        return;
    case SUM_ACTION_KEEP:
        keep(host, action->seat, event->msg);
        return;
    case SUM_ACTION_DROP:
        vector_close(&host->kept[action->seat]);
        return;
    case SUM_ACTION_TOTAL:
        add_up(host);
        return;
    case SUM_ACTION_FINISH:
        return;
    case SUM_ACTION_CONNECT:
    case SUM_ACTION_JOINED:
    case SUM_ACTION_RESULT:
        break;
    }
    CHECK(!"an action of a member");
}

static void feed(struct group_host *host, struct sum_event event)
{
    event.now = clock_now_us();
    sum_host_step(&host->core, &event, &host->actions);
    for (uint32_t i = 0; i < host->actions.count; i++)
        carry_out(host, &host->actions.list[i], &event);
}

/* For the fewest there must be room, for the others there should. */
static enum err have_files(const struct group_host_options *options,
                           struct why *why)
{
    const struct room_wish all = {.who = "a group", .links = options->seats};
    const struct room_wish few = {.who = "a group", .links = options->least};
    uint64_t before;

    if (room_make(&all, &before, NULL) == ERR_OK)
        return ERR_OK;
    return room_make(&few, &before, why);
}

/* --- links --------------------------------------------------------------- */

static void on_up(void *context, struct link *link)
{
    struct session *session = mem_new(1, sizeof *session);

    (void)context;
    if (session == NULL) {
        link_close(link);
        return;
    }
    session->link = link;
    session->index = NO_LINK;
    link_set_user(link, session);
}

static uint32_t free_index(const struct group_host *host)
{
    for (uint32_t i = 0; i < host->links; i++) {
        if (host->sessions[i] == NULL)
            return i;
    }
    return NO_LINK;
}

/* False: it is no member, and its link is gone. */
static bool admit(struct group_host *host, struct session *session,
                  const struct sum_msg *msg)
{
    const uint32_t index = free_index(host);

    if (msg->kind != SUM_HELLO || index == NO_LINK ||
        !link_may_be(session->link, msg->name)) {
        struct sum_msg reject = {.kind = SUM_REJECT};

        (void)snprintf(reject.reason, sizeof reject.reason, "%s",
                       index == NO_LINK
                           ? "the group is full"
                           : "the token is another member's; use its name");
        send(host, session, &reject);
        return false;
    }
    session->index = index;
    host->sessions[index] = session;
    link_trust(session->link, sum_codec_message_max(host->options.size_max));
    return true;
}

static void on_message(void *context, struct link *link, enum plane plane,
                       const uint8_t *data, size_t size)
{
    struct group_host *host = context;
    struct session *session = link_user(link);
    struct sum_msg msg;

    if (session == NULL)
        return;
    if (sum_codec_decode(data, size, &msg) != ERR_OK ||
        sum_is_bulk(msg.kind) != (plane == PLANE_BULK) ||
        !make_room(host, &msg)) {
        const uint32_t index = session->index;

        session_end(host, session);
        if (index != NO_LINK)
            feed(host,
                 (struct sum_event){.kind = SUM_EVENT_DOWN, .link = index});
        return;
    }
    if (session->index == NO_LINK && !admit(host, session, &msg))
        return;
    feed(host, (struct sum_event){.kind = SUM_EVENT_MESSAGE,
                                  .link = session->index,
                                  .msg = &msg});
}

static void on_down(void *context, struct link *link, enum link_end how,
                    const char *why)
{
    struct group_host *host = context;
    struct session *session = link_user(link);
    uint32_t index;

    (void)how;
    (void)why;
    if (session == NULL)
        return;
    index = session->index;
    if (index != NO_LINK)
        host->sessions[index] = NULL;
    mem_free(session);
    if (index != NO_LINK)
        feed(host, (struct sum_event){.kind = SUM_EVENT_DOWN, .link = index});
}

static const struct link_events link_events = {
    .up = on_up, .message = on_message, .down = on_down};

static void on_time(void *context)
{
    feed(context, (struct sum_event){.kind = SUM_EVENT_TIME});
}

/* --- the thread ---------------------------------------------------------- */

static void on_bell(void *context)
{
    struct group_host *host = context;

    if (farewell_begun(&host->farewell))
        return;
    feed(host, (struct sum_event){.kind = SUM_EVENT_END});
    link_hub_stop_listening(host->hub);
    timer_at(host->timer, TIME_NEVER);
    farewell_begin(&host->farewell, host->hub, NULL, FINISH_US);
}

static void host_main(void *context)
{
    struct group_host *host = context;

    feed(host, (struct sum_event){.kind = SUM_EVENT_START});
    loop_run(host->loop);
}

static enum err make_core(struct group_host *host)
{
    const uint32_t seats = host->options.seats;
    const struct sum_host_options core = {
        .group = random_u64() | 1,
        .seats = seats,
        .least = host->options.least,
        .size_max = host->options.size_max,
        .beat_us = BEAT_US,
        .dead_us = DEAD_US,
        .host_dead_us = AWAY_US,
    };
    enum err err = sum_host_init(&host->core, &core);

    host->links = 2 * seats + LINKS_SPARE;
    host->actions.capacity = sum_actions_max(seats);
    host->actions.list =
        mem_new(host->actions.capacity, sizeof *host->actions.list);
    host->sessions = mem_new(host->links, sizeof *host->sessions);
    host->kept = mem_new(seats, sizeof *host->kept);
    host->rows = mem_new(seats, sizeof *host->rows);
    host->column = mem_new(seats, sizeof *host->column);
    if (err == ERR_OK &&
        (host->actions.list == NULL || host->sessions == NULL ||
         host->kept == NULL || host->rows == NULL || host->column == NULL))
        err = ERR_NOMEM;
    return err;
}

static enum err make_loop(struct group_host *host)
{
    struct link_options links = {
        .token = host->options.token, .events = &link_events, .context = host};
    enum err err = loop_new(&host->loop);

    links.loop = host->loop;
    if (err == ERR_OK)
        err = timer_new(host->loop, on_time, host, &host->timer);
    if (err == ERR_OK)
        err = farewell_open(&host->farewell, host->loop);
    if (err == ERR_OK)
        err = bell_new(host->loop, on_bell, host, &host->bell);
    if (err == ERR_OK)
        err = link_hub_new(&links, &host->hub);
    if (err == ERR_OK)
        err = link_hub_listen(host->hub, host->listener.fd);
    return err;
}

static void host_free(struct group_host *host)
{
    for (uint32_t i = 0; host->sessions != NULL && i < host->links; i++) {
        if (host->sessions[i] != NULL)
            session_end(host, host->sessions[i]);
    }
    link_hub_free(host->hub);
    timer_free(host->timer);
    farewell_close(&host->farewell);
    bell_free(host->bell);
    loop_free(host->loop);
    net_close(&host->listener);
    for (uint32_t i = 0; host->kept != NULL && i < host->options.seats; i++)
        vector_close(&host->kept[i]);
    vector_close(&host->total);
    vector_close(&host->envelope);
    vector_close(&host->incoming);
    vector_close(&host->sum);
    sum_host_close(&host->core);
    mem_free(host->actions.list);
    mem_free(host->sessions);
    mem_free(host->kept);
    mem_free(host->rows);
    mem_free(host->column);
    mem_free(host);
}

enum err group_host_open(const struct group_host_options *options,
                         struct group_host **host, struct why *why)
{
    struct group_host *made = mem_new(1, sizeof *made);
    struct net_address wanted;
    enum err err = ERR_OK;

    if (made == NULL)
        return ERR_NOMEM;
    made->options = *options;
    made->listener.fd = -1;
    err = have_files(options, why);
    if (err == ERR_OK)
        err = net_parse(options->listen != NULL ? options->listen : "", &wanted,
                        why);
    if (err == ERR_OK)
        err = net_listen(&wanted, options->near, &made->listener, why);
    if (err == ERR_OK)
        err = make_core(made);
    if (err == ERR_OK)
        err = make_loop(made);
    if (err == ERR_OK) {
        (void)net_text(&made->listener.bound, made->address);
        err = thread_start(host_main, made, &made->thread);
    }
    if (err == ERR_OK)
        *host = made;
    else
        host_free(made);
    return err;
}

const char *group_host_address(const struct group_host *host)
{
    return host->address;
}

const struct net_address *group_host_local(const struct group_host *host)
{
    return &host->listener.local;
}

void group_host_close(struct group_host *host)
{
    if (host == NULL)
        return;
    bell_ring(host->bell);
    thread_join(host->thread);
    host_free(host);
}
