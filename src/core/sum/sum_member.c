/*
 * sum_member.c - a member's links, its user, and the time.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "core/sum/sum_parts.h"

#define SPONSOR          "?" /* Nobody's name. */
#define LEAVE_WAIT_US    SECOND_US
#define GRACE_US         (200 * MS_US) /* For the others to close in time. */
#define WITHDRAW_WAIT_US (2 * SECOND_US)

struct sum_action *sum_act(struct sum_actions *actions,
                           enum sum_action_kind kind)
{
    struct sum_action *action;

    CHECK(actions->count < actions->capacity);
    action = &actions->list[actions->count++];
    *action = (struct sum_action){.kind = kind, .reason = ""};
    return action;
}

struct sum_msg *sum_send(struct sum_actions *actions, uint32_t link,
                         enum sum_kind kind)
{
    struct sum_action *action = sum_act(actions, SUM_ACTION_SEND);

    action->link = link;
    action->msg.kind = kind;
    return &action->msg;
}

struct sum_msg sum_words(const struct sum_member *member, enum sum_kind kind)
{
    return (struct sum_msg){.kind = kind,
                            .number = member->view.number,
                            .call = member->committed + 1};
}

void sum_tell_all(const struct sum_member *member, const struct sum_msg *msg,
                  struct sum_actions *actions)
{
    for (uint32_t i = 0; i < member->view.count; i++) {
        if (i != member->me && member->roads[i] != SUM_NOBODY)
            *sum_send(actions, member->roads[i], msg->kind) = *msg;
    }
}

void sum_member_init(struct sum_member *member,
                     const struct sum_options *options)
{
    CHECK(options->self.name[0] != '\0');
    CHECK(options->retry_us > 0 && options->beat_us > 0);
    CHECK(!options->first ||
          (options->group != 0 && options->least > 0 &&
           options->members_max > 0 && options->members_max <= SUM_SEATS));
    memset(member, 0, sizeof *member);
    member->options = *options;
    member->me = SUM_NOBODY;
    member->retry_us = options->retry_us;
    member->impatient_at = member->deadline_at = TIME_NEVER;
    member->leave_until = member->withdraw_until = TIME_NEVER;
    memset(member->roads, 0xff, sizeof member->roads);
}

void sum_member_place(struct sum_member *member, const char *place)
{
    struct sum_seat *self = &member->options.self;

    CHECK(strlen(place) < SUM_PLACE);
    memcpy(self->place, place, strlen(place) + 1);
    if (member->in)
        member->view.seats[member->me] = *self;
}

/* --- links --------------------------------------------------------------- */

bool sum_same_life(const struct sum_seat *a, const struct sum_seat *b)
{
    return a->incarnation == b->incarnation && strcmp(a->name, b->name) == 0;
}

uint32_t sum_seat_of(const struct sum_member *member, uint32_t link)
{
    for (uint32_t i = 0; i < member->view.count; i++) {
        if (member->roads[i] == link)
            return i;
    }
    return SUM_NOBODY;
}

uint64_t sum_linked(const struct sum_member *member)
{
    uint64_t seats = member->me != SUM_NOBODY ? sum_bit(member->me) : 0;

    for (uint32_t i = 0; i < member->view.count; i++) {
        if (member->roads[i] != SUM_NOBODY)
            seats |= sum_bit(i);
    }
    return seats;
}

static uint32_t find_link(const struct sum_member *member,
                          const struct sum_seat *who, bool met)
{
    for (uint32_t i = 0; i < SUM_LINKS; i++) {
        if (member->links[i].used && (member->links[i].met || !met) &&
            sum_same_life(&member->links[i].who, who))
            return i;
    }
    return SUM_NOBODY;
}

void sum_map_roads(struct sum_member *member)
{
    for (uint32_t i = 0; i < member->view.count; i++)
        member->roads[i] =
            i == member->me ? SUM_NOBODY
                            : find_link(member, &member->view.seats[i], true);
}

/* The link is gone. */
static void forget(struct sum_member *member, uint32_t link,
                   struct sum_actions *actions)
{
    const uint32_t seat = sum_seat_of(member, link);
    const time_us doubled = 2 * member->retry_us;

    member->redial_at = member->now + member->retry_us;
    member->retry_us = time_sooner(doubled, member->options.retry_max_us);
    member->links[link] = (struct sum_link){0};
    sum_map_roads(member);
    if (seat == SUM_NOBODY || !member->in)
        return;
    if (!member->broken && !member->frozen)
        member->ask_at = member->now;
    member->broken = true;
    sum_look_again(member, actions);
}

void sum_drop(struct sum_member *member, uint32_t link,
              struct sum_actions *actions)
{
    sum_act(actions, SUM_ACTION_CLOSE)->link = link;
    forget(member, link, actions);
}

static void say_hello(const struct sum_member *member, uint32_t link,
                      struct sum_actions *actions)
{
    struct sum_msg *msg = sum_send(actions, link, SUM_HELLO);

    msg->version = SUM_VERSION;
    msg->who = member->options.self;
    msg->group = member->view.group;
}

static void connect(struct sum_member *member, const struct sum_seat *who,
                    struct sum_actions *actions)
{
    for (uint32_t i = SUM_ACCEPTED; i < SUM_LINKS; i++) {
        struct sum_action *action;

        if (member->links[i].used)
            continue;
        member->links[i] = (struct sum_link){
            .used = true, .who = *who, .heard_at = member->now};
        action = sum_act(actions, SUM_ACTION_CONNECT);
        action->link = i;
        action->place = member->links[i].who.place;
        return;
    }
}

static bool knows_somebody(const struct sum_member *member)
{
    for (uint32_t i = 0; i < SUM_LINKS; i++) {
        if (member->links[i].met)
            return true;
    }
    return false;
}

/* Who is in dials those who are older, a guest and who is cut off for long
 * everybody; and a guest whom it was told to begin with, as long as it knows
 * nobody. */
static void dial(struct sum_member *member, struct sum_actions *actions)
{
    /* Of those who went on without it nobody dials who was the oldest. */
    const bool lost = member->now - member->well_at >= member->options.dead_us;
    const uint32_t end = member->in && !lost ? member->me : member->view.count;
    bool missing = false;

    for (uint32_t i = 0; i < member->view.count; i++) {
        if (i == member->me ||
            find_link(member, &member->view.seats[i], true) != SUM_NOBODY)
            continue;
        missing = true;
        if (i < end &&
            find_link(member, &member->view.seats[i], false) == SUM_NOBODY)
            connect(member, &member->view.seats[i], actions);
    }
    if (!member->in && !knows_somebody(member)) {
        struct sum_seat sponsor = {.name = SPONSOR};

        missing = true;
        memcpy(sponsor.place, member->options.sponsor, SUM_PLACE);
        if (sponsor.place[0] != '\0' &&
            find_link(member, &sponsor, false) == SUM_NOBODY)
            connect(member, &sponsor, actions);
    }
    member->redial_at = missing ? member->now + member->retry_us : TIME_NEVER;
}

static bool may_ask_in(const struct sum_member *member)
{
    return !member->in && member->view.count > 0 &&
           sum_linked(member) == sum_all(&member->view);
}

/* A guest that has links to all asks to be let in. */
static void ask_in(struct sum_member *member, struct sum_actions *actions)
{
    struct sum_msg msg = sum_words(member, SUM_JOIN);

    if (!may_ask_in(member) || member->now < member->ask_at)
        return;
    msg.call = member->joined && member->pending ? member->committed + 1 : 0;
    *sum_send(actions, member->roads[0], SUM_JOIN) = msg;
    member->ask_at = member->now + SUM_ASK_US;
}

static void reject(struct sum_member *member, uint32_t link, const char *reason,
                   struct sum_actions *actions)
{
    sum_send(actions, link, SUM_REJECT)->reason = reason;
    sum_drop(member, link, actions);
}

static void on_hello(struct sum_member *member, uint32_t link,
                     const struct sum_msg *msg, struct sum_actions *actions)
{
    struct sum_link *entry = &member->links[link];
    const uint32_t old = find_link(member, &msg->who, true);

    if (entry->met)
        return; /* Said twice. */
    if (!entry->used)
        *entry = (struct sum_link){.used = true, .up = true};
    if (msg->version != SUM_VERSION) {
        reject(member, link, "the group is of another release of muster",
               actions);
        return;
    }
    if (msg->group != 0 && member->view.group != 0 &&
        msg->group != member->view.group) {
        reject(member, link, "another group is there now", actions);
        return;
    }
    if (sum_same_life(&msg->who, &member->options.self) ||
        (link >= SUM_ACCEPTED && strcmp(entry->who.name, SPONSOR) != 0 &&
         !sum_same_life(&msg->who, &entry->who))) {
        sum_drop(member, link, actions); /* We, or somebody else, is there. */
        return;
    }
    if (old != SUM_NOBODY)
        sum_drop(member, old, actions); /* He knows that it is broken. */
    entry->met = true;
    entry->who = msg->who;
    entry->heard_at = member->now;
    if (link < SUM_ACCEPTED)
        say_hello(member, link, actions);
    sum_map_roads(member);
    if (member->in)
        sum_send(actions, link, SUM_VIEW)->view = &member->view;
    else
        member->ask_at = member->now;
}

/* --- the user ------------------------------------------------------------ */

struct sum_action *sum_answer(struct sum_member *member, enum err err,
                              int included, struct sum_actions *actions)
{
    struct sum_action *action = sum_act(actions, SUM_ACTION_RESULT);

    CHECK(member->pending);
    member->pending = false;
    member->doubt = member->given;
    member->withdraw = ERR_OK;
    member->pressed = false;
    member->impatient_at = member->deadline_at = member->withdraw_until =
        TIME_NEVER;
    action->err = err;
    action->included = included;
    return action;
}

/* The total of the last call. */
void sum_answer_total(struct sum_member *member, int included,
                      struct sum_actions *actions)
{
    const bool same = sum_same_shape(&member->last.shape, &member->shape);
    struct sum_action *action =
        sum_answer(member, same ? ERR_OK : ERR_SHAPE, included, actions);

    CHECK(member->last.call == member->committed);
    member->told = member->committed;
    action->call = member->committed;
    action->shape = member->last.shape;
    if (!same)
        action->reason = "the others' vectors were of another size or type";
}

void sum_finish(struct sum_member *member, enum err err, const char *reason,
                struct sum_actions *actions)
{
    struct sum_action *action;

    if (member->over)
        return;
    if (member->pending)
        sum_answer(member, err == ERR_OK ? ERR_CLOSED : err,
                   member->given && !member->doubt ? -1 : 0, actions)
            ->reason = reason;
    action = sum_act(actions, SUM_ACTION_FINISH);
    action->err = err;
    action->reason = reason;
    member->over = true;
}

static void on_give(struct sum_member *member, const struct sum_event *event,
                    struct sum_actions *actions)
{
    CHECK(!member->pending);
    member->pending = true;
    member->shape = event->shape;
    if (member->over || member->leaving) {
        sum_answer(member, ERR_CLOSED, 0, actions)->reason =
            "the group is over";
    } else if (member->told < member->committed) {
        if (member->told + 1 == member->committed &&
            member->last.call == member->committed) {
            sum_answer_total(member, 0, actions);
            return;
        }
        member->told = member->committed;
        sum_answer(member, ERR_STALE, 0, actions)->reason =
            "the others are further by more than a call";
    } else {
        if (event->patience_us > 0) {
            member->impatient_at = member->now + event->patience_us;
            member->deadline_at = member->impatient_at + GRACE_US;
        }
        if (member->in && !member->frozen)
            sum_check_shape(member, actions);
        sum_try_give(member, actions);
    }
}

/* What others may have is taken back by the view's end. */
static void withdraw(struct sum_member *member, enum err why,
                     struct sum_actions *actions)
{
    if (!member->pending || member->withdraw != ERR_OK)
        return;
    if (!member->given || member->doubt) {
        (void)sum_answer(member, why, 0, actions);
        return;
    }
    member->withdraw = why;
    member->deadline_at = TIME_NEVER;
    member->withdraw_until = member->now + WITHDRAW_WAIT_US;
    if (!member->frozen)
        member->ask_at = member->now;
}

static void on_end(struct sum_member *member, struct sum_actions *actions)
{
    if (!member->in || member->view.count == 1) {
        sum_finish(member, ERR_OK, "left", actions);
        return;
    }
    member->leaving = true;
    member->leave_until = member->now + LEAVE_WAIT_US;
    if (!member->frozen)
        member->ask_at = member->now;
}

/* --- time ---------------------------------------------------------------- */

/* Who was stopped itself, and now finds the others silent, has only not
 * looked. */
static void look_for_silent(struct sum_member *member, bool was_away,
                            struct sum_actions *actions)
{
    for (uint32_t i = 0; i < SUM_LINKS; i++) {
        struct sum_link *link = &member->links[i];

        if (!link->up)
            continue;
        if (was_away)
            link->heard_at = member->now;
        else if (member->now - link->heard_at >= member->options.dead_us)
            sum_drop(member, i, actions);
        if (link->met)
            (void)sum_send(actions, i, SUM_BEAT);
    }
}

static bool is_well(const struct sum_member *member)
{
    return member->in && !member->frozen && !member->broken;
}

/* Until when a call with a deadline is waited for.  While the view is being
 * replaced its successor may still close the call in time, unless those who are
 * asked are silent: after `dead_us` it is known whether they are. */
static time_us last_moment(const struct sum_member *member)
{
    if (member->deadline_at == TIME_NEVER)
        return TIME_NEVER;
    if (member->frozen)
        return member->deadline_at + member->options.dead_us;
    return member->given && member->closed ? TIME_NEVER : member->deadline_at;
}

/* There may be no successor for as long as somebody is stopped, and then
 * nobody to take the vector back: whether it is in is in doubt. */
static void time_out(struct sum_member *member, struct sum_actions *actions)
{
    if (member->frozen && member->pending && member->withdraw == ERR_OK)
        (void)sum_answer(member, ERR_TIMEOUT,
                         member->given && !member->doubt ? -1 : 0, actions);
    else
        withdraw(member, ERR_TIMEOUT, actions);
}

static void on_time(struct sum_member *member, struct sum_actions *actions)
{
    if (member->now >= member->beat_at) {
        look_for_silent(
            member, member->now - member->beat_at > member->options.dead_us / 2,
            actions);
        member->beat_at = member->now + member->options.beat_us;
    }
    if (member->now >= member->leave_until)
        sum_finish(member, ERR_OK, "left without an answer", actions);
    else if (!is_well(member) &&
             member->now - member->well_at >= member->options.give_up_us)
        sum_finish(member, ERR_CLOSED,
                   member->joined ? "the group is out of reach: more than half "
                                    "of its members cannot be talked to"
                                  : "no member of the group can be reached",
                   actions);
    if (member->over)
        return;
    if (member->now >= member->redial_at)
        dial(member, actions);
    sum_retry(member, actions);
    if (member->now >= member->impatient_at && !member->pressed) {
        member->pressed = true;
        if (!member->frozen)
            member->ask_at = member->now;
    }
    if (member->now >= last_moment(member))
        time_out(member, actions);
    if (member->now >= member->withdraw_until)
        (void)sum_answer(member, member->withdraw, -1, actions);
}

static time_us next_time(const struct sum_member *member)
{
    time_us at = time_sooner(member->beat_at, member->redial_at);

    at = time_sooner(at, member->leave_until);
    at = time_sooner(at, member->withdraw_until);
    if (member->ballot != 0)
        at = time_sooner(at, member->retry_at);
    if (member->impatient_at > member->now)
        at = time_sooner(at, member->impatient_at);
    at = time_sooner(at, last_moment(member));
    if (sum_restless(member) || may_ask_in(member))
        at = time_sooner(at, member->ask_at);
    return at > member->now ? at : member->now + 1;
}

/* --- step ---------------------------------------------------------------- */

static void on_start(struct sum_member *member, struct sum_actions *actions)
{
    const struct sum_options *options = &member->options;
    struct sum_view view = {.group = options->group,
                            .number = 1,
                            .least = options->least,
                            .members_max = options->members_max,
                            .size_max = options->size_max,
                            .call = 1,
                            .set = 1,
                            .count = 1};

    member->well_at = member->beat_at = member->now;
    view.seats[0] = options->self;
    if (options->first)
        sum_install(member, &view, actions);
    else
        dial(member, actions);
}

static void on_message(struct sum_member *member, uint32_t link,
                       const struct sum_msg *msg, struct sum_actions *actions)
{
    CHECK(link < SUM_LINKS);
    if (msg->kind == SUM_HELLO) {
        on_hello(member, link, msg, actions);
        return;
    }
    if (!member->links[link].used)
        return;
    member->links[link].heard_at = member->now;
    if (msg->kind == SUM_REJECT) {
        (void)snprintf(member->reason, sizeof member->reason, "%s",
                       msg->reason);
        if (!member->in)
            sum_finish(member, ERR_DENIED, member->reason, actions);
        else
            sum_drop(member, link, actions);
        return;
    }
    if (!member->links[link].met || msg->kind == SUM_BEAT)
        return;
    if (msg->kind == SUM_SLICE || msg->kind == SUM_PART ||
        msg->kind == SUM_HAVE)
        sum_call_message(member, sum_seat_of(member, link), msg, actions);
    else
        sum_view_message(member, link, msg, actions);
}

static void on_link(struct sum_member *member, const struct sum_event *event,
                    struct sum_actions *actions)
{
    struct sum_link *link = &member->links[event->link];

    CHECK(event->link < SUM_LINKS);
    if (!link->used)
        return;
    if (event->kind == SUM_EVENT_DOWN) {
        forget(member, event->link, actions);
        return;
    }
    link->up = true;
    link->heard_at = member->now;
    say_hello(member, event->link, actions);
}

static void happen(struct sum_member *member, const struct sum_event *event,
                   struct sum_actions *actions)
{
    switch (event->kind) {
    case SUM_EVENT_START:
        on_start(member, actions);
        break;
    case SUM_EVENT_TIME:
        on_time(member, actions);
        break;
    case SUM_EVENT_UP:
    case SUM_EVENT_DOWN:
        on_link(member, event, actions);
        break;
    case SUM_EVENT_MESSAGE:
        on_message(member, event->link, event->msg, actions);
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

void sum_member_step(struct sum_member *member, const struct sum_event *event,
                     struct sum_actions *actions)
{
    actions->count = 0;
    CHECK(event->now >= member->now);
    member->now = event->now;
    if (event->kind == SUM_EVENT_GIVE)
        on_give(member, event, actions);
    else if (!member->over)
        happen(member, event, actions);
    if (member->over)
        return;
    sum_press(member, actions);
    ask_in(member, actions);
    if (member->over)
        return;
    if (is_well(member))
        member->well_at = member->now;
    sum_act(actions, SUM_ACTION_TIMER)->at = next_time(member);
}
