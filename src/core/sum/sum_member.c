/*
 * sum_member.c - one call at a time, over a link that may break.
 *
 * A link that breaks is dialled again, and a vector the host may not have got
 * is given again: the host knows this life and counts it once.
 */
#include <string.h>

#include "base/check.h"
#include "core/link/greeting.h"
#include "core/sum/sum.h"

#define HELLO_RESEND_US (500 * MS_US)
#define LEAVE_WAIT_US   SECOND_US
#define GRACE_US        (200 * MS_US) /* For the host to close in time. */

void sum_member_init(struct sum_member *member,
                     const struct sum_member_options *options)
{
    CHECK(options->name[0] != '\0');
    CHECK(options->retry_us > 0);
    *member = (struct sum_member){
        .options = *options,
        .retry_us = options->retry_us,
        .dial_at = TIME_NEVER,
        .deadline_at = TIME_NEVER,
    };
}

static struct sum_msg *send(struct sum_actions *actions, enum sum_kind kind)
{
    struct sum_action *action = sum_actions_add(actions, SUM_ACTION_SEND);

    action->msg.kind = kind;
    return &action->msg;
}

/* The user's call is over. */
static struct sum_action *answer(struct sum_member *member, enum err err,
                                 int included, struct sum_actions *actions)
{
    struct sum_action *action = sum_actions_add(actions, SUM_ACTION_RESULT);

    CHECK(member->pending);
    member->pending = false;
    member->doubt = included < 0;
    member->withdraw = ERR_OK;
    member->deadline_at = TIME_NEVER;
    action->err = err;
    action->included = included;
    return action;
}

static void finish(struct sum_member *member, enum err err, const char *reason,
                   struct sum_actions *actions)
{
    struct sum_action *action;

    if (member->pending)
        answer(member, err == ERR_OK ? ERR_CLOSED : err, member->sent ? -1 : 0,
               actions)
            ->reason = reason;
    action = sum_actions_add(actions, SUM_ACTION_FINISH);
    action->err = err;
    action->reason = reason;
    member->phase = SUM_DONE;
}

static void dial(struct sum_member *member, struct sum_actions *actions)
{
    if (member->now - member->lost_at >= member->options.give_up_us) {
        finish(member, ERR_CLOSED, "the host cannot be reached", actions);
        return;
    }
    member->dial_at = TIME_NEVER;
    (void)sum_actions_add(actions, SUM_ACTION_CONNECT);
}

static void redial(struct sum_member *member, struct sum_actions *actions)
{
    const time_us doubled = member->retry_us * 2;

    if (member->phase == SUM_LEAVING) {
        finish(member, ERR_OK, "left", actions);
        return;
    }
    if (member->phase == SUM_IN)
        member->lost_at = member->now;
    member->phase = SUM_DIALLING;
    member->dial_at = member->now + member->retry_us;
    member->retry_us = doubled < member->options.retry_max_us
                           ? doubled
                           : member->options.retry_max_us;
    if (member->pending && member->withdraw != ERR_OK)
        (void)answer(member, member->withdraw, -1, actions);
}

static void say_hello(struct sum_member *member, struct sum_actions *actions)
{
    struct sum_msg *msg = send(actions, SUM_HELLO);

    msg->version = SUM_VERSION;
    memcpy(msg->name, member->options.name, NAME_SIZE);
    msg->incarnation = member->options.incarnation;
    msg->group = member->group;
    member->hello_at = member->now + HELLO_RESEND_US;
}

static void give(struct sum_member *member, struct sum_actions *actions)
{
    struct sum_msg *msg = send(actions, SUM_GIVE);

    msg->call = member->call;
    msg->shape = member->shape;
    msg->patience_us = member->patience_us;
    msg->serial = member->serial;
    msg->bytes = member->bytes;
    msg->size = member->size;
    member->again = member->sent;
    member->sent = true;
}

static void on_welcome(struct sum_member *member, const struct sum_msg *msg,
                       struct sum_actions *actions)
{
    if (member->phase != SUM_GREETING)
        return;
    member->phase = SUM_IN;
    member->retry_us = member->options.retry_us;
    member->beat_us = msg->beat_us;
    member->dead_us = msg->dead_us;
    member->beat_at = member->now;
    if (member->group == 0) {
        member->group = msg->group;
        member->call = msg->call;
        member->fresh = true;
        member->size_max = msg->size_max;
        (void)sum_actions_add(actions, SUM_ACTION_JOINED);
    }
    if (member->pending)
        give(member, actions);
}

static void on_give(struct sum_member *member, const struct sum_event *event,
                    struct sum_actions *actions)
{
    CHECK(!member->pending);
    member->pending = true;
    member->sent = member->doubt;
    member->serial++;
    member->shape = event->shape;
    member->bytes = event->bytes;
    member->size = event->size;
    member->patience_us = event->patience_us;
    if (member->phase == SUM_DONE || member->phase == SUM_LEAVING) {
        answer(member, ERR_CLOSED, 0, actions)->reason = "the group is over";
        return;
    }
    if (event->patience_us > 0)
        member->deadline_at = member->now + event->patience_us + GRACE_US;
    if (member->phase == SUM_IN)
        give(member, actions);
}

/* Without an answer nobody knows whether it was in time. */
static void withdraw(struct sum_member *member, enum err why,
                     struct sum_actions *actions)
{
    if (!member->pending || member->withdraw != ERR_OK)
        return;
    if (!member->sent || member->phase != SUM_IN) {
        (void)answer(member, why, member->sent ? -1 : 0, actions);
        return;
    }
    member->withdraw = why;
    member->deadline_at = TIME_NEVER;
    send(actions, SUM_WITHDRAW)->call = member->call;
}

static void on_total(struct sum_member *member, const struct sum_msg *msg,
                     struct sum_actions *actions)
{
    struct sum_action *action;
    const bool in = msg->serial == member->serial;
    int included = in;

    if (!member->pending || (msg->call != member->call && !in))
        return;
    /* A first vector may have been called in by an earlier call than this
     * member knows of, and the total of that one been lost. */
    if (!in && member->again && member->fresh)
        included = -1;
    member->fresh = false;
    member->call = msg->call + 1;
    if (msg->shape.type != member->shape.type ||
        msg->shape.count != member->shape.count) {
        answer(member, ERR_SHAPE, 0, actions)->reason =
            "the others' vectors were of another size or type";
        return;
    }
    action = answer(member, ERR_OK, included, actions);
    action->msg = *msg;
}

static void on_other_answer(struct sum_member *member,
                            const struct sum_msg *msg,
                            struct sum_actions *actions)
{
    if (!member->pending || msg->call != member->call)
        return;
    if (msg->kind == SUM_MISSED) {
        member->call = msg->next;
        answer(member, ERR_STALE, member->again ? -1 : 0, actions)->reason =
            "the others are further by more than a call";
    } else if (msg->kind == SUM_REFUSE) {
        memcpy(member->reason, msg->reason, sizeof member->reason);
        answer(member, ERR_SHAPE, 0, actions)->reason = member->reason;
    } else if (member->withdraw != ERR_OK) {
        (void)answer(member, member->withdraw, 0, actions);
    }
}

static void on_message(struct sum_member *member, const struct sum_msg *msg,
                       struct sum_actions *actions)
{
    member->heard_at = member->now;
    switch (msg->kind) {
    case SUM_WELCOME:
        on_welcome(member, msg, actions);
        break;
    case SUM_TOTAL:
        on_total(member, msg, actions);
        break;
    case SUM_MISSED:
    case SUM_REFUSE:
    case SUM_WITHDRAWN:
        on_other_answer(member, msg, actions);
        break;
    case SUM_REJECT:
        memcpy(member->reason, msg->reason, sizeof member->reason);
        finish(member, ERR_DENIED, member->reason, actions);
        break;
    case SUM_BYE:
        memcpy(member->reason, msg->reason, sizeof member->reason);
        finish(member, member->phase == SUM_LEAVING ? ERR_OK : ERR_CLOSED,
               member->reason, actions);
        break;
    case SUM_HELLO:
    case SUM_BEAT:
    case SUM_ECHO:
    case SUM_GIVE:
    case SUM_WITHDRAW:
    case SUM_LEAVE:
        break; /* Not for a member; of ECHO it is enough that it came. */
    }
}

static void on_end(struct sum_member *member, struct sum_actions *actions)
{
    if (member->phase != SUM_IN) {
        finish(member, ERR_OK, "left", actions);
        return;
    }
    (void)send(actions, SUM_LEAVE);
    member->phase = SUM_LEAVING;
    member->leave_until = member->now + LEAVE_WAIT_US;
}

static void on_time_in(struct sum_member *member, struct sum_actions *actions)
{
    if (member->now >= member->beat_at) {
        (void)send(actions, SUM_BEAT);
        member->beat_at = member->now + member->beat_us;
    }
    if (member->now - member->heard_at >= member->dead_us) {
        (void)sum_actions_add(actions, SUM_ACTION_CLOSE);
        redial(member, actions);
    }
}

static void on_time_greeting(struct sum_member *member,
                             struct sum_actions *actions)
{
    if (member->now >= member->greet_until) {
        (void)sum_actions_add(actions, SUM_ACTION_CLOSE);
        redial(member, actions);
    } else if (member->now >= member->hello_at) {
        say_hello(member, actions);
    }
}

static void on_time(struct sum_member *member, struct sum_actions *actions)
{
    if (member->phase == SUM_DIALLING && member->now >= member->dial_at)
        dial(member, actions);
    else if (member->phase == SUM_GREETING)
        on_time_greeting(member, actions);
    else if (member->phase == SUM_IN)
        on_time_in(member, actions);
    else if (member->phase == SUM_LEAVING && member->now >= member->leave_until)
        finish(member, ERR_OK, "left without an answer", actions);
    if (member->phase != SUM_DONE && member->now >= member->deadline_at)
        withdraw(member, ERR_TIMEOUT, actions);
}

static time_us next_time(const struct sum_member *member)
{
    switch (member->phase) {
    case SUM_DIALLING:
        return time_sooner(member->dial_at, member->deadline_at);
    case SUM_GREETING:
        return time_sooner(time_sooner(member->hello_at, member->greet_until),
                           member->deadline_at);
    case SUM_IN:
        return time_sooner(member->beat_at, member->deadline_at);
    case SUM_LEAVING:
        return member->leave_until;
    case SUM_DONE:
        break;
    }
    return TIME_NEVER;
}

static void on_up(struct sum_member *member, struct sum_actions *actions)
{
    if (member->phase != SUM_DIALLING)
        return;
    member->phase = SUM_GREETING;
    member->heard_at = member->now;
    member->greet_until = member->now + GREETING_US;
    say_hello(member, actions);
}

void sum_member_step(struct sum_member *member, const struct sum_event *event,
                     struct sum_actions *actions)
{
    actions->count = 0;
    CHECK(event->now >= member->now);
    member->now = event->now;
    if (event->kind == SUM_EVENT_GIVE) {
        on_give(member, event, actions);
    } else if (member->phase != SUM_DONE) {
        switch (event->kind) {
        case SUM_EVENT_START:
            member->lost_at = member->now;
            dial(member, actions);
            break;
        case SUM_EVENT_TIME:
            on_time(member, actions);
            break;
        case SUM_EVENT_UP:
            on_up(member, actions);
            break;
        case SUM_EVENT_DOWN:
            redial(member, actions);
            break;
        case SUM_EVENT_MESSAGE:
            on_message(member, event->msg, actions);
            break;
        case SUM_EVENT_CANCEL:
            withdraw(member, ERR_CANCELLED, actions);
            break;
        case SUM_EVENT_END:
            on_end(member, actions);
            break;
        case SUM_EVENT_GIVE:
            break;
        }
    }
    if (member->phase != SUM_DONE)
        sum_actions_add(actions, SUM_ACTION_TIMER)->at = next_time(member);
}
