/*
 * group.c - a member of a group: its thread, and the user's side of it.
 *
 * Fields under the gate are the user's until `asked`, then the loop's until
 * `answered`.
 */
#include "node/group/group.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/flag.h"
#include "base/mem.h"
#include "core/sum/sum.h"
#include "node/group/roads.h"
#include "node/group/vectors.h"
#include "node/host/farewell.h"
#include "node/host/room.h"
#include "os/clock.h"
#include "os/random.h"
#include "os/run/loop.h"
#include "os/run/thread.h"

#define BEAT_US      (200 * MS_US)
#define DEAD_US      (3 * SECOND_US)
#define RETRY_US     (10 * MS_US)
#define RETRY_MAX_US (500 * MS_US)
#define FINISH_US    SECOND_US

struct call {
    enum exact_type type;
    void *values;
    uint64_t count;
    time_us patience_us;
    struct group_info info;
    enum err err;
    struct why why;
};

struct group {
    struct group_options options;
    struct thread *thread;
    struct loop *loop;
    struct timer *timer;
    struct bell *bell;
    struct net_listener listener;
    struct roads roads;
    bool nowhere[SUM_LINKS]; /* Dialled at what is no address. */
    struct vectors vectors;
    const void
        *own; /* The vector of the call at hand, the loop's; else NULL. */
    struct vector *arrived; /* Of the message at hand; else NULL. */
    struct sum_member core;
    struct sum_actions actions;
    struct farewell farewell;
    struct flag cancel, leave;
    char place[SUM_PLACE];     /* Where others dial us; "": not known yet. */
    char shown[NET_TEXT_SIZE]; /* The user's, from before he is in. */

    struct gate gate; /* Guards all below. */
    bool joined, over;
    enum err over_err;
    struct why over_why;
    uint64_t size_max;
    bool asked, given, answered; /* The call; given: the loop has it. */
    struct call call;
    char who[sizeof(((struct sum_last *)0)->who)];
};

/* --- what the user waits for --------------------------------------------- */

static void finish(struct group *group, enum err err, const char *reason);

/* The user's vector is about to be his again. */
static void give_back(struct group *group, bool over)
{
    const bool lent = group->own != NULL;

    group->own = NULL;
    if (!lent || vectors_settle(&group->vectors, over))
        return;
    finish(group, ERR_NOMEM, "not enough memory to send the vector");
}

static void answer(struct group *group, const struct sum_action *action)
{
    const struct sum_last *last = &group->core.last;
    struct call *call = &group->call;

    give_back(group, action->err == ERR_OK);
    if (farewell_begun(&group->farewell))
        return;
    gate_lock(&group->gate);
    call->err = action->err;
    call->info.included = action->included;
    (void)snprintf(call->why.text, sizeof call->why.text, "%s", action->reason);
    if (action->err == ERR_OK) {
        call->info.call = action->call;
        call->info.contributed = last->contributed;
        call->info.members = last->members;
        memcpy(group->who, last->who, sizeof group->who);
        vectors_total(&group->vectors, action->call, call->values);
    }
    group->answered = true;
    gate_signal(&group->gate);
    gate_unlock(&group->gate);
}

/* Nobody will be answered any more; whoever waits is told. */
static void finish(struct group *group, enum err err, const char *reason)
{
    bool begun;

    give_back(group, true); /* Which may have come here, too. */
    begun = farewell_begun(&group->farewell);
    if (!begun) { /* Links may read the user's vector until they are gone. */
        link_hub_stop_listening(group->roads.hub);
        roads_drop_all(&group->roads);
    }
    gate_lock(&group->gate);
    if (!group->over) {
        group->over = true;
        group->over_err = err;
        (void)snprintf(group->over_why.text, sizeof group->over_why.text, "%s",
                       reason);
    }
    if (group->asked && !group->answered) {
        group->call.err = err == ERR_OK ? ERR_CLOSED : err;
        group->call.why = group->over_why;
        group->call.info.included = group->given ? -1 : 0;
        group->answered = true;
    }
    gate_signal(&group->gate);
    gate_unlock(&group->gate);
    if (begun)
        return;
    timer_at(group->timer, TIME_NEVER);
    farewell_begin(&group->farewell, group->roads.hub, NULL, FINISH_US);
}

static void joined(struct group *group)
{
    gate_lock(&group->gate);
    group->joined = true;
    group->size_max = group->core.view.size_max;
    group->roads.room_max = group->core.view.size_max;
    gate_signal(&group->gate);
    gate_unlock(&group->gate);
}

/* --- steps --------------------------------------------------------------- */

static void send(struct group *group, const struct sum_action *action)
{
    struct blob *piece = NULL;
    size_t size = 0;

    if (action->msg.kind == SUM_SLICE || action->msg.kind == SUM_PART) {
        piece = vectors_cut(&group->vectors, action, group->own, &size);
        if (piece == NULL) {
            finish(group, ERR_NOMEM, "not enough memory to send the vector");
            return;
        }
    }
    roads_send(&group->roads, action->link, &action->msg, piece, size);
}

static void connect(struct group *group, const struct sum_action *action)
{
    const enum err err = roads_dial(&group->roads, action->link, action->place);

    if (err == ERR_NOMEM)
        finish(group, ERR_NOMEM, "not enough memory to connect");
    else if (err != ERR_OK)
        group->nowhere[action->link] = true; /* No place: told later. */
}

static void keep(struct group *group, const struct sum_action *action)
{
    const bool kept =
        action->kind == SUM_ACTION_ADD
            ? vectors_add(&group->vectors, action)
            : vectors_keep(&group->vectors, action, group->own, group->arrived);

    if (!kept)
        finish(group, ERR_NOMEM, "not enough memory for the vectors");
}

static void carry_out(struct group *group, const struct sum_action *action)
{
    switch (action->kind) {
    case SUM_ACTION_SEND:
        send(group, action);
        return;
    case SUM_ACTION_CLOSE:
        roads_drop(&group->roads, action->link);
        return;
    case SUM_ACTION_TIMER:
        timer_at(group->timer, action->at);
        return;
    case SUM_ACTION_CONNECT:
        connect(group, action);
        return;
    case SUM_ACTION_KEEP:
    case SUM_ACTION_ADD:
        keep(group, action);
        return;
    case SUM_ACTION_JOINED:
        joined(group);
        return;
    case SUM_ACTION_RESULT:
        answer(group, action);
        return;
    case SUM_ACTION_FINISH:
        finish(group, action->err, action->reason);
        return;
    }
}

static void feed(struct group *group, struct sum_event event)
{
    if (farewell_begun(&group->farewell))
        return;
    event.now = clock_now_us();
    sum_member_step(&group->core, &event, &group->actions);
    for (uint32_t i = 0;
         i < group->actions.count && !farewell_begun(&group->farewell); i++)
        carry_out(group, &group->actions.list[i]);
}

static void on_time(void *context)
{
    struct group *group = context;

    for (uint32_t i = 0; i < SUM_LINKS; i++) {
        if (!group->nowhere[i])
            continue;
        group->nowhere[i] = false;
        feed(group, (struct sum_event){.kind = SUM_EVENT_DOWN, .link = i});
    }
    feed(group, (struct sum_event){.kind = SUM_EVENT_TIME});
}

/* --- where others find us ------------------------------------------------ */

static bool is_any(const char *host)
{
    return strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

static void be_at(struct group *group, const char *host)
{
    struct net_address at = group->listener.bound;
    char text[NET_TEXT_SIZE];

    memcpy(at.host, host, strlen(host) + 1);
    if (strlen(net_text(&at, text)) >= SUM_PLACE)
        return;
    memcpy(group->place, text, strlen(text) + 1);
    if (group->core.options.self.name[0] != '\0')
        sum_member_place(&group->core, group->place);
}

static enum err listen_at(struct group *group, const struct net_address *at,
                          struct why *why)
{
    enum err err = net_listen(at, false, &group->listener, why);

    if (err == ERR_OK)
        err = link_hub_listen(group->roads.hub, group->listener.fd);
    if (err == ERR_OK)
        (void)net_text(&group->listener.bound, group->shown);
    if (err == ERR_OK && !is_any(group->listener.bound.host))
        be_at(group, group->listener.bound.host);
    return err;
}

/* Our end of the first link says by which address we are found. */
static void on_met(void *context, const char *own_host)
{
    struct group *group = context;

    if (group->place[0] == '\0')
        be_at(group, own_host);
}

static void on_up(void *context, uint32_t number, const char *own_host)
{
    struct group *group = context;
    struct net_address at = {.port = 0};
    struct why why = {{0}};

    memcpy(at.host, own_host, strlen(own_host) + 1);
    if (group->listener.fd < 0 && listen_at(group, &at, &why) != ERR_OK) {
        finish(group, ERR_IO, why.text);
        return;
    }
    on_met(group, own_host);
    feed(group, (struct sum_event){.kind = SUM_EVENT_UP, .link = number});
}

/* --- what links report ---------------------------------------------------- */

static void on_down(void *context, uint32_t number)
{
    feed(context, (struct sum_event){.kind = SUM_EVENT_DOWN, .link = number});
}

static void on_message(void *context, uint32_t number,
                       const struct sum_msg *msg, struct vector *arrived)
{
    struct group *group = context;

    group->arrived = arrived;
    feed(group, (struct sum_event){
                    .kind = SUM_EVENT_MESSAGE, .link = number, .msg = msg});
    group->arrived = NULL;
}

static void on_refused(void *context, const char *why)
{
    struct group *group = context;

    if (!group->core.joined)
        finish(group, ERR_DENIED, why);
}

static const struct roads_events roads_events = {.up = on_up,
                                                 .down = on_down,
                                                 .met = on_met,
                                                 .message = on_message,
                                                 .refused = on_refused};

/* --- the user's bell ------------------------------------------------------ */

/* A call the loop has not seen yet; its fields are the loop's from now on.  The
 * wish to cancel is read under the same lock, so that it is of the call at
 * hand: begin_call lowers what was meant for an earlier one. */
static bool take_call(struct group *group, struct sum_event *event,
                      bool *cancel)
{
    const struct call *call = &group->call;
    bool taken;

    gate_lock(&group->gate);
    taken = group->asked && !group->given && !group->answered;
    group->given = group->given || taken;
    if (taken)
        group->own = call->values;
    *cancel = group->asked && !group->answered && flag_raised(&group->cancel);
    if (*cancel)
        flag_lower(&group->cancel);
    gate_unlock(&group->gate);
    if (!taken)
        return false;
    *event = (struct sum_event){
        .kind = SUM_EVENT_GIVE,
        .shape = {(uint32_t)call->type, call->count},
        .patience_us = call->patience_us,
    };
    return true;
}

static void on_bell(void *context)
{
    struct group *group = context;
    struct sum_event give;
    bool cancel;

    if (take_call(group, &give, &cancel))
        feed(group, give);
    if (cancel)
        feed(group, (struct sum_event){.kind = SUM_EVENT_CANCEL});
    if (flag_raised(&group->leave)) {
        flag_lower(&group->leave);
        feed(group, (struct sum_event){.kind = SUM_EVENT_END});
    }
}

static void member_main(void *context)
{
    struct group *group = context;

    feed(group, (struct sum_event){.kind = SUM_EVENT_START});
    loop_run(group->loop);
}

/* --- life ---------------------------------------------------------------- */

static void make_core(struct group *group)
{
    const struct group_options *o = &group->options;
    struct sum_options core = {
        .first = o->join == NULL,
        .group = random_u64() | 1,
        .least = o->least,
        .members_max = o->members_max,
        .size_max = o->size_max,
        .beat_us = BEAT_US,
        .dead_us = DEAD_US,
        .retry_us = RETRY_US,
        .retry_max_us = RETRY_MAX_US,
        .give_up_us = o->give_up_us,
    };
    char text[NET_TEXT_SIZE];

    memcpy(core.self.name, o->name, NAME_SIZE);
    memcpy(core.self.place, group->place, SUM_PLACE);
    core.self.incarnation = random_u64();
    if (o->join != NULL)
        (void)snprintf(core.sponsor, sizeof core.sponsor, "%.*s",
                       (int)SUM_PLACE - 1, net_text(o->join, text));
    sum_member_init(&group->core, &core);
}

/* There must be room for the fewest, and should be for all. */
static enum err have_files(const struct group_options *options, struct why *why)
{
    const struct room_wish all = {.who = "a group", .links = SUM_SEATS};
    const struct room_wish few = {
        .who = "a group", .links = options->least > 0 ? options->least : 1};
    uint64_t before;

    if (room_make(&all, &before, NULL) == ERR_OK)
        return ERR_OK;
    return room_make(&few, &before, why);
}

static enum err make_all(struct group *group, struct why *why)
{
    const struct group_options *o = &group->options;
    struct net_address at;
    enum err err = have_files(o, why);

    group->actions.capacity = SUM_ACTIONS;
    group->actions.list = mem_new(SUM_ACTIONS, sizeof *group->actions.list);
    if (err == ERR_OK && group->actions.list == NULL)
        err = ERR_NOMEM;
    if (err == ERR_OK)
        err = loop_new(&group->loop);
    if (err == ERR_OK)
        err = timer_new(group->loop, on_time, group, &group->timer);
    if (err == ERR_OK)
        err = farewell_open(&group->farewell, group->loop);
    if (err == ERR_OK)
        err = bell_new(group->loop, on_bell, group, &group->bell);
    if (err == ERR_OK)
        err = roads_open(&group->roads, group->loop, o->token, o->plain,
                         &roads_events, group);
    if (err != ERR_OK || (o->listen == NULL && o->join != NULL))
        return err;
    err = net_parse(o->listen != NULL ? o->listen : "", &at, why);
    return err == ERR_OK ? listen_at(group, &at, why) : err;
}

static void group_free(struct group *group)
{
    roads_close(&group->roads);
    timer_free(group->timer);
    farewell_close(&group->farewell);
    bell_free(group->bell);
    loop_free(group->loop);
    net_close(&group->listener);
    vectors_close(&group->vectors);
    mem_free(group->actions.list);
    gate_close(&group->gate);
    mem_free(group);
}

static enum err wait_joined(struct group *group, struct why *why)
{
    enum err err = ERR_OK;

    gate_lock(&group->gate);
    while (!group->joined && !group->over)
        gate_wait(&group->gate);
    if (!group->joined)
        err = why_set(why,
                      group->over_err == ERR_OK ? ERR_CLOSED : group->over_err,
                      "%s", group->over_why.text);
    gate_unlock(&group->gate);
    return err;
}

enum err group_open(const struct group_options *options, struct group **group,
                    struct why *why)
{
    struct group *made = mem_new(1, sizeof *made);
    enum err err;

    if (made == NULL)
        return ERR_NOMEM;
    made->options = *options;
    made->listener.fd = -1;
    gate_init(&made->gate);
    err = make_all(made, why);
    if (err == ERR_OK) {
        make_core(made);
        err = thread_start(member_main, made, &made->thread);
    }
    if (err != ERR_OK) {
        group_free(made);
        return err;
    }
    err = wait_joined(made, why);
    if (err == ERR_OK)
        *group = made;
    else
        group_leave(made);
    return err;
}

const char *group_address(const struct group *group)
{
    return group->shown;
}

/* The gate is locked. */
static enum err begin_call(struct group *group, struct why *why)
{
    if (group->asked)
        return why_set(why, ERR_EXISTS,
                       "another thread is in a call of this group");
    if (group->over)
        return why_set(why,
                       group->over_err == ERR_OK ? ERR_CLOSED : group->over_err,
                       "%s", group->over_why.text);
    if (group->call.count * exact_size(group->call.type) > group->size_max)
        return why_set(why, ERR_SHAPE,
                       "a vector of %llu numbers is larger than the group "
                       "allows (%llu bytes)",
                       (unsigned long long)group->call.count,
                       (unsigned long long)group->size_max);
    group->asked = true;
    group->given = group->answered = false;
    flag_lower(&group->cancel);
    return ERR_OK;
}

enum err group_sum(struct group *group, enum exact_type type, void *values,
                   uint64_t count, time_us patience_us, struct group_info *info,
                   struct why *why)
{
    const struct call call = {.type = type,
                              .values = values,
                              .count = count,
                              .patience_us = patience_us};
    enum err err;

    gate_lock(&group->gate);
    if (!group->asked)
        group->call = call;
    err = begin_call(group, why);
    *info = (struct group_info){.who = ""};
    if (err == ERR_OK) {
        bell_ring(group->bell);
        while (!group->answered)
            gate_wait(&group->gate);
        group->asked = false;
        *info = group->call.info;
        info->who = group->call.err == ERR_OK ? group->who : "";
        err = group->call.err;
        if (err != ERR_OK && why != NULL)
            *why = group->call.why;
    }
    gate_unlock(&group->gate);
    return err;
}

void group_cancel(struct group *group)
{
    flag_raise(&group->cancel);
    bell_ring(group->bell);
}

void group_leave(struct group *group)
{
    if (group == NULL)
        return;
    flag_raise(&group->leave);
    bell_ring(group->bell);
    thread_join(group->thread);
    group_free(group);
}
