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
#include "node/host/farewell.h"
#include "os/clock.h"
#include "os/net/link.h"
#include "os/random.h"
#include "os/run/loop.h"
#include "os/run/thread.h"
#include "wire/sum_codec.h"

#define RETRY_US     (10 * MS_US)
#define RETRY_MAX_US (500 * MS_US)
#define ACTIONS_MAX  16u
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
    struct link_hub *hub;
    struct link *link;
    bool up;
    struct sum_member core;
    struct sum_actions actions;
    uint8_t *envelope;
    size_t envelope_capacity;
    struct farewell farewell;
    struct flag cancel, leave;

    struct gate gate; /* Guards all below. */
    bool joined, over;
    enum err over_err;
    struct why over_why;
    bool asked, given, answered; /* The call; given: the loop has it. */
    struct call call;
    char who[SUM_SEATS_MAX * NAME_SIZE];
};

static void feed(struct group *group, struct sum_event event);

/* --- the link ------------------------------------------------------------ */

static void on_up(void *context, struct link *link)
{
    struct group *group = context;

    CHECK(link == group->link);
    group->up = true;
    feed(group, (struct sum_event){.kind = SUM_EVENT_UP});
}

static void drop_link(struct group *group)
{
    if (group->link != NULL)
        link_close(group->link);
    group->link = NULL;
    group->up = false;
}

static void on_message(void *context, struct link *link, enum plane plane,
                       const uint8_t *data, size_t size)
{
    struct group *group = context;
    struct sum_msg msg;

    if (link != group->link)
        return;
    if (sum_codec_decode(data, size, &msg) != ERR_OK ||
        sum_is_bulk(msg.kind) != (plane == PLANE_BULK)) {
        drop_link(group);
        feed(group, (struct sum_event){.kind = SUM_EVENT_DOWN});
        return;
    }
    feed(group, (struct sum_event){.kind = SUM_EVENT_MESSAGE, .msg = &msg});
    if (msg.kind == SUM_WELCOME && group->link == link)
        link_trust(link, sum_codec_message_max(msg.size_max));
}

static void finish(struct group *group, enum err err, const char *reason);

static void on_down(void *context, struct link *link, enum link_end how,
                    const char *why)
{
    struct group *group = context;

    if (link != group->link)
        return;
    group->link = NULL;
    group->up = false;
    if (how == LINK_REFUSED) {
        finish(group, ERR_DENIED, why);
        return;
    }
    feed(group, (struct sum_event){.kind = SUM_EVENT_DOWN});
}

static const struct link_events link_events = {
    .up = on_up, .message = on_message, .down = on_down};

static void send(struct group *group, const struct sum_msg *msg)
{
    const size_t bound = sum_codec_bound(msg);

    if (bound > group->envelope_capacity) {
        uint8_t *grown =
            mem_grow(group->envelope, 0, bound, 1, &group->envelope_capacity);

        if (grown == NULL) {
            finish(group, ERR_NOMEM, "not enough memory to send the vector");
            return;
        }
        group->envelope = grown;
    }
    if (group->up)
        link_send(group->link,
                  sum_is_bulk(msg->kind) ? PLANE_BULK : PLANE_CONTROL,
                  group->envelope, sum_codec_encode(msg, group->envelope));
}

/* --- what the user waits for --------------------------------------------- */

static void copy_who(struct group *group, const struct sum_msg *msg)
{
    const size_t most = sizeof group->who - 1;
    const size_t size = msg->who_size < most ? msg->who_size : most;

    memcpy(group->who, msg->who, size);
    group->who[size] = '\0';
}

static void answer(struct group *group, const struct sum_action *action)
{
    struct call *call = &group->call;

    gate_lock(&group->gate);
    call->err = action->err;
    call->info.included = action->included;
    (void)snprintf(call->why.text, sizeof call->why.text, "%s", action->reason);
    if (action->err == ERR_OK) {
        call->info.call = action->msg.call;
        call->info.contributed = action->msg.contributed;
        call->info.members = action->msg.members;
        copy_who(group, &action->msg);
        if (action->msg.size > 0)
            memcpy(call->values, action->msg.bytes, action->msg.size);
    }
    group->answered = true;
    gate_signal(&group->gate);
    gate_unlock(&group->gate);
}

/* Nobody will be answered any more; whoever waits is told. */
static void finish(struct group *group, enum err err, const char *reason)
{
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
    if (farewell_begun(&group->farewell))
        return;
    drop_link(group);
    timer_at(group->timer, TIME_NEVER);
    farewell_begin(&group->farewell, group->hub, NULL, FINISH_US);
}

static void joined(struct group *group)
{
    gate_lock(&group->gate);
    group->joined = true;
    gate_signal(&group->gate);
    gate_unlock(&group->gate);
}

/* --- steps --------------------------------------------------------------- */

static void carry_out(struct group *group, const struct sum_action *action)
{
    switch (action->kind) {
    case SUM_ACTION_SEND:
        send(group, &action->msg);
        return;
    case SUM_ACTION_CLOSE:
        drop_link(group);
        return;
    case SUM_ACTION_TIMER:
        timer_at(group->timer, action->at);
        return;
    case SUM_ACTION_CONNECT:
        if (link_dial(group->hub, &group->options.address, &group->link) !=
            ERR_OK)
            finish(group, ERR_NOMEM, "not enough memory to connect");
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
    case SUM_ACTION_KEEP:
    case SUM_ACTION_DROP:
    case SUM_ACTION_TOTAL:
        break;
    }
    CHECK(!"an action of a host");
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
    feed(context, (struct sum_event){.kind = SUM_EVENT_TIME});
}

/* A call the loop has not seen yet; its fields are the loop's from now on. */
static bool take_call(struct group *group, struct sum_event *event)
{
    const struct call *call = &group->call;
    bool taken;

    gate_lock(&group->gate);
    taken = group->asked && !group->given && !group->answered;
    group->given = group->given || taken;
    gate_unlock(&group->gate);
    if (!taken)
        return false;
    *event = (struct sum_event){
        .kind = SUM_EVENT_GIVE,
        .shape = {(uint32_t)call->type, call->count},
        .bytes = call->values,
        .size = call->count * exact_size(call->type),
        .patience_us = call->patience_us,
    };
    return true;
}

static void on_bell(void *context)
{
    struct group *group = context;
    struct sum_event give;

    if (take_call(group, &give))
        feed(group, give);
    if (flag_raised(&group->cancel)) {
        flag_lower(&group->cancel);
        feed(group, (struct sum_event){.kind = SUM_EVENT_CANCEL});
    }
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

static enum err make_all(struct group *group)
{
    struct link_options links = {.token = group->options.token,
                                 .events = &link_events,
                                 .context = group};
    struct sum_member_options core = {.incarnation = random_u64(),
                                      .retry_us = RETRY_US,
                                      .retry_max_us = RETRY_MAX_US,
                                      .give_up_us = group->options.give_up_us};
    enum err err = loop_new(&group->loop);

    memcpy(core.name, group->options.name, NAME_SIZE);
    sum_member_init(&group->core, &core);
    links.loop = group->loop;
    group->actions.capacity = ACTIONS_MAX;
    group->actions.list = mem_new(ACTIONS_MAX, sizeof *group->actions.list);
    if (err == ERR_OK && group->actions.list == NULL)
        err = ERR_NOMEM;
    if (err == ERR_OK)
        err = timer_new(group->loop, on_time, group, &group->timer);
    if (err == ERR_OK)
        err = farewell_open(&group->farewell, group->loop);
    if (err == ERR_OK)
        err = bell_new(group->loop, on_bell, group, &group->bell);
    if (err == ERR_OK)
        err = link_hub_new(&links, &group->hub);
    return err;
}

static void group_free(struct group *group)
{
    drop_link(group);
    link_hub_free(group->hub);
    timer_free(group->timer);
    farewell_close(&group->farewell);
    bell_free(group->bell);
    loop_free(group->loop);
    mem_free(group->actions.list);
    mem_free(group->envelope);
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

enum err group_join(const struct group_options *options, struct group **group,
                    struct why *why)
{
    struct group *made = mem_new(1, sizeof *made);
    enum err err;

    if (made == NULL)
        return ERR_NOMEM;
    made->options = *options;
    gate_init(&made->gate);
    err = make_all(made);
    if (err == ERR_OK)
        err = thread_start(member_main, made, &made->thread);
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
    if (group->call.count * exact_size(group->call.type) > group->core.size_max)
        return why_set(why, ERR_SHAPE,
                       "a vector of %llu numbers is larger than the host "
                       "allows (%llu bytes)",
                       (unsigned long long)group->call.count,
                       (unsigned long long)group->core.size_max);
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
