/*
 * sum_view.c - how a view is replaced by its successor (SUM-1, SUM-2, SUM-3).
 */
#include <stdio.h>
#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "core/sum/sum_parts.h"

#define RETRY_US  (300 * MS_US) /* An attempt comes to nothing; by seats. */
#define FREEZE_US (600 * MS_US) /* Another's attempt does. */
#define RANKS     8u            /* Bits of a seat in a ballot. */
/* Numbers of views, calls and ballots do not go back.  Who has the token and
 * counts one up to its end would end the group; by so much at a time, more than
 * any member can miss before it gives up, that takes it months. */
#define JUMP (UINT64_C(1) << 26)
#define LAST (UINT64_C(1) << 62) /* Of whom a guest hears first. */

static bool is_quorum(const struct sum_view *view, uint64_t seats)
{
    const uint32_t twice = 2 * sum_count(seats & sum_all(view));

    if (BUG(BUG_SUM_MINORITY))
        return twice > 0;
    return twice > view->count || (twice == view->count && (seats & 1) != 0);
}

/* The oldest that we can talk to. */
static uint32_t chair(const struct sum_member *member)
{
    return (uint32_t)__builtin_ctzll(sum_linked(member));
}

static bool has_guest(const struct sum_member *member)
{
    for (uint32_t i = 0; i < SUM_LINKS; i++) {
        if (member->links[i].met && member->links[i].wants)
            return true;
    }
    return false;
}

static bool is_impatient(const struct sum_member *member)
{
    return member->given && !member->doubt && member->pending &&
           member->now >= member->impatient_at;
}

bool sum_restless(const struct sum_member *member)
{
    return member->in &&
           (member->frozen || (member->broken && !BUG(BUG_SUM_DEAF)) ||
            member->leaving || has_guest(member) ||
            member->traffic[(member->committed + 1) & 1].odd ||
            (member->given && (member->doubt || member->withdraw != ERR_OK)) ||
            (is_impatient(member) && !member->closed));
}

/* --- what is proposed ---------------------------------------------------- */

/* Those who answered, stay, and can all talk to each other; of two who cannot
 * the older. */
static uint64_t choose_members(const struct sum_member *member)
{
    uint64_t chosen = 0;

    for (uint32_t i = 0; i < member->view.count; i++) {
        const struct sum_state *state = &member->states[i];
        bool fits = (member->answered & sum_bit(i)) != 0 && !state->leaving &&
                    (state->links & chosen) == chosen;

        for (uint32_t k = 0; k < i; k++)
            fits = fits && ((chosen & sum_bit(k)) == 0 ||
                            (member->states[k].links & sum_bit(i)) != 0);
        if (fits)
            chosen |= sum_bit(i);
    }
    return chosen;
}

/* SUM-2: what all who answered have. */
static uint64_t count_committed(const struct sum_member *member)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < member->view.count; i++) {
        const struct sum_state *state = &member->states[i];
        const uint64_t reach = state->committed + state->holds;

        if ((member->answered & sum_bit(i)) == 0)
            continue;
        if (BUG(BUG_SUM_PESSIMIST))
            least = least < state->committed ? least : state->committed;
        else
            least = least < reach ? least : reach;
    }
    if (BUG(BUG_SUM_OPTIMIST)) {
        least = 0;
        for (uint32_t i = 0; i < member->view.count; i++) {
            const struct sum_state *state = &member->states[i];

            if ((member->answered & sum_bit(i)) != 0 &&
                state->committed + state->holds > least)
                least = state->committed + state->holds;
        }
    }
    return least;
}

/* Who of the new members gave for the call, and whether that is to be all. */
struct givers {
    uint64_t given, waited; /* Seats of the new view. */
    bool impatient;
    struct sum_shape shape;
};

static struct givers count_givers(const struct sum_member *member,
                                  uint64_t chosen, uint64_t call)
{
    const uint64_t old =
        member->view.call == call ? member->view.set : UINT64_MAX;
    struct givers givers = {0};
    uint32_t seat = 0;

    for (uint32_t i = 0; i < member->view.count; i++) {
        const struct sum_state *state = &member->states[i];

        if ((chosen & sum_bit(i)) == 0)
            continue;
        if ((old & sum_bit(i)) != 0)
            givers.waited |= sum_bit(seat);
        if (state->given == call &&
            (givers.shape.type == 0 ||
             sum_same_shape(&givers.shape, &state->shape))) {
            givers.shape = state->shape;
            givers.given |= sum_bit(seat);
            givers.impatient = givers.impatient || state->impatient;
        }
        seat++;
    }
    return givers;
}

/* One at a time: the next one has to have a link to this one. */
static void let_in(struct sum_member *member, struct givers *givers,
                   struct sum_view *view)
{
    for (uint32_t i = 0; i < SUM_LINKS; i++) {
        const struct sum_link *link = &member->links[i];

        if (!link->met || !link->wants)
            continue;
        view->seats[view->count] = link->who;
        if (givers->given == 0 || link->call == view->call)
            givers->waited |= sum_bit(view->count);
        view->count++;
        return;
    }
}

static void build(struct sum_member *member)
{
    const uint64_t chosen = choose_members(member);
    struct sum_view *view = &member->proposal;
    struct givers givers;

    *view = member->view;
    view->number++;
    view->call = count_committed(member) + 1;
    view->count = 0;
    for (uint32_t i = 0; i < member->view.count; i++) {
        if ((chosen & sum_bit(i)) != 0)
            view->seats[view->count++] = member->view.seats[i];
    }
    givers = count_givers(member, chosen, view->call);
    if (view->count < view->members_max)
        let_in(member, &givers, view);
    view->shape = givers.shape;
    view->closed = givers.impatient && sum_count(givers.given) >= view->least;
    view->set = view->closed ? givers.given : givers.waited;
    if (sum_count(view->set) < view->least)
        view->set = sum_all(view);
}

/* --- the chair's side ---------------------------------------------------- */

static struct sum_state own_state(const struct sum_member *member)
{
    return (struct sum_state){
        .committed = member->committed,
        .holds = member->holds,
        .leaving = member->leaving,
        .given = member->given && member->pending && !member->doubt &&
                         member->withdraw == ERR_OK
                     ? member->committed + 1
                     : 0,
        .shape = member->shape,
        .impatient = is_impatient(member),
        .links = sum_linked(member),
        .accepted = member->accepted,
    };
}

static void agree(struct sum_member *member, uint32_t seat,
                  struct sum_actions *actions)
{
    member->agreed |= sum_bit(seat);
    if (is_quorum(&member->view, member->agreed)) {
        const struct sum_view chosen = member->proposal;

        sum_install(member, &chosen, actions);
    }
}

static void accept(struct sum_member *member, uint64_t ballot,
                   const struct sum_view *view)
{
    member->promised = member->accepted = ballot;
    member->frozen = true;
    member->next = *view;
}

/* Everybody whom we can talk to has answered, and that is enough of them. */
void sum_look_again(struct sum_member *member, struct sum_actions *actions)
{
    const uint64_t linked = sum_linked(member);
    struct sum_msg msg;

    if (!member->in || member->ballot == 0 || member->proposing ||
        (member->answered & linked) != linked ||
        !is_quorum(&member->view, member->answered))
        return;
    if (member->best == 0 || BUG(BUG_SUM_FORGET))
        build(member);
    member->proposing = true;
    msg = sum_words(member, SUM_PROPOSE);
    msg.ballot = member->ballot;
    msg.view = &member->proposal;
    sum_tell_all(member, &msg, actions);
    accept(member, member->ballot, &member->proposal);
    agree(member, member->me, actions);
}

static void note_state(struct sum_member *member, uint32_t seat,
                       const struct sum_state *state,
                       const struct sum_view *accepted)
{
    member->answered |= sum_bit(seat);
    member->states[seat] = *state;
    if (state->accepted > member->best && accepted != NULL) {
        member->best = state->accepted;
        member->proposal = *accepted;
    }
}

static void begin(struct sum_member *member, struct sum_actions *actions)
{
    const uint64_t seen = member->ballot_seen > member->promised
                              ? member->ballot_seen
                              : member->promised;
    struct sum_msg msg;
    struct sum_state state;

    member->ballot = ((seen >> RANKS) + 1) << RANKS | member->me;
    member->promised = member->ballot;
    member->frozen = true;
    member->proposing = false;
    member->answered = member->agreed = member->best = 0;
    member->retry_at = member->now + RETRY_US * (1 + member->me);
    state = own_state(member);
    note_state(member, member->me, &state, &member->next);
    msg = sum_words(member, SUM_COLLECT);
    msg.ballot = member->ballot;
    sum_tell_all(member, &msg, actions);
    sum_look_again(member, actions);
}

static void ask_chair(const struct sum_member *member,
                      struct sum_actions *actions)
{
    const struct sum_msg msg = sum_words(member, SUM_REQUEST);

    *sum_send(actions, member->roads[chair(member)], SUM_REQUEST) = msg;
}

void sum_press(struct sum_member *member, struct sum_actions *actions)
{
    if (member->now < member->ask_at || !sum_restless(member))
        return;
    member->ask_at = member->now + SUM_ASK_US;
    if (chair(member) == member->me) {
        if (member->ballot == 0)
            begin(member, actions);
        return;
    }
    ask_chair(member, actions);
}

void sum_retry(struct sum_member *member, struct sum_actions *actions)
{
    if (!member->in || member->ballot == 0 || member->now < member->retry_at)
        return;
    member->ballot = 0;
    if (chair(member) == member->me)
        begin(member, actions);
}

/* --- everybody's side ---------------------------------------------------- */

static void send_view(const struct sum_member *member, uint32_t link,
                      struct sum_actions *actions)
{
    sum_send(actions, link, SUM_VIEW)->view = &member->view;
}

static void send_state(const struct sum_member *member, uint32_t link,
                       struct sum_actions *actions)
{
    struct sum_msg *msg = sum_send(actions, link, SUM_STATE);

    *msg = sum_words(member, SUM_STATE);
    msg->ballot = member->promised;
    msg->state = own_state(member);
    msg->view = member->accepted != 0 ? &member->next : NULL;
}

static void on_collect(struct sum_member *member, uint32_t link,
                       const struct sum_msg *msg, struct sum_actions *actions)
{
    if (msg->ballot > member->promised) {
        member->promised = msg->ballot;
        member->frozen = true;
        member->ballot = 0; /* Ours is lower. */
        member->ask_at = member->now + FREEZE_US;
    }
    send_state(member, link, actions);
}

static void on_propose(struct sum_member *member, uint32_t link,
                       const struct sum_msg *msg, struct sum_actions *actions)
{
    struct sum_msg *reply;

    if (msg->ballot < member->promised ||
        msg->view->number != member->view.number + 1)
        return;
    if (msg->ballot > member->promised)
        member->ballot = 0;
    accept(member, msg->ballot, msg->view);
    member->ask_at = member->now + FREEZE_US;
    reply = sum_send(actions, link, SUM_ACCEPT);
    *reply = sum_words(member, SUM_ACCEPT);
    reply->ballot = msg->ballot;
}

static void on_answer(struct sum_member *member, uint32_t seat,
                      const struct sum_msg *msg, struct sum_actions *actions)
{
    if (msg->ballot > member->ballot_seen)
        member->ballot_seen = msg->ballot;
    if (member->ballot == 0 || msg->ballot != member->ballot ||
        member->proposing != (msg->kind == SUM_ACCEPT))
        return;
    if (msg->kind == SUM_ACCEPT) {
        agree(member, seat, actions);
    } else {
        note_state(member, seat, &msg->state, msg->view);
        sum_look_again(member, actions);
    }
}

static void on_join(struct sum_member *member, uint32_t link,
                    const struct sum_msg *msg, struct sum_actions *actions)
{
    struct sum_link *guest = &member->links[link];
    const char *reason = NULL;

    if (member->me != 0)
        return; /* He asks again, when he knows who is the oldest. */
    if (member->view.count >= member->view.members_max)
        reason = "the group is full";
    for (uint32_t i = 0; i < member->view.count; i++) {
        if (strcmp(member->view.seats[i].name, guest->who.name) == 0 &&
            (i == member->me || member->roads[i] != SUM_NOBODY))
            reason = "a member of that name is there already";
    }
    if (reason != NULL) {
        sum_send(actions, link, SUM_REJECT)->reason = reason;
        sum_drop(member, link, actions);
        return;
    }
    guest->wants = true;
    guest->call = msg->call;
    member->ask_at = member->frozen ? member->ask_at : member->now;
}

static void on_request(struct sum_member *member, struct sum_actions *actions)
{
    if (chair(member) != member->me)
        ask_chair(member, actions); /* He has no link to it. */
    else if (member->ballot == 0)
        begin(member, actions);
}

/* --- a new view ---------------------------------------------------------- */

/* What became of our call, as the new view tells. */
static void settle_call(struct sum_member *member, const struct sum_view *view,
                        struct sum_actions *actions)
{
    const uint64_t done = view->call - 1;
    const bool next = view->number == member->view.number + 1;

    if (done == member->committed + 1 && member->holds && next) {
        sum_commit(member, actions);
    } else if (done > member->committed) {
        /* We were not asked: it went on without us (SUM-3), or with our vector
         * but not with us. */
        const int in = !member->given || member->doubt ? 0 : next ? 1 : -1;

        member->committed = done;
        member->last.call = 0;
        if (member->pending && member->joined) {
            sum_answer(member, ERR_STALE, in, actions)->reason =
                "the others are further, and went on without this member";
            member->told = done;
        }
    }
    if (member->pending && member->withdraw != ERR_OK)
        (void)sum_answer(member, member->withdraw, 0, actions);
}

static const char *type_name(uint32_t type)
{
    return type == 1 ? "doubles" : type == 2 ? "floats" : "64-bit integers";
}

void sum_check_shape(struct sum_member *member, struct sum_actions *actions)
{
    const struct sum_shape *shape = &member->view.shape;

    if (!member->pending || shape->type == 0 ||
        (member->set & sum_bit(member->me)) == 0 ||
        member->view.call != member->committed + 1 ||
        sum_same_shape(shape, &member->shape))
        return;
    (void)snprintf(member->reason, sizeof member->reason,
                   "call %llu is of %llu %s, this member gives %llu %s",
                   (unsigned long long)member->view.call,
                   (unsigned long long)shape->count, type_name(shape->type),
                   (unsigned long long)member->shape.count,
                   type_name(member->shape.type));
    sum_answer(member, ERR_SHAPE, 0, actions)->reason = member->reason;
}

static uint32_t own_seat(const struct sum_member *member)
{
    for (uint32_t i = 0; i < member->view.count; i++) {
        if (sum_same_life(&member->view.seats[i], &member->options.self))
            return i;
    }
    return SUM_NOBODY;
}

static void spread(struct sum_member *member, struct sum_actions *actions)
{
    for (uint32_t i = 0; i < SUM_LINKS; i++) {
        member->links[i].wants = false; /* He has to ask anew. */
        if (member->links[i].met)
            send_view(member, i, actions);
    }
}

static void enter(struct sum_member *member, struct sum_actions *actions)
{
    member->set = member->view.set;
    member->closed = member->view.closed;
    member->committed = member->view.call - 1;
    member->broken = sum_linked(member) != sum_all(&member->view);
    member->ask_at = member->now + (member->broken ? 0 : SUM_ASK_US);
    if (!member->joined) {
        member->joined = true;
        member->told = member->committed;
        if ((member->set & sum_bit(member->me)) == 0)
            member->told++;
        (void)sum_act(actions, SUM_ACTION_JOINED);
    }
    sum_check_shape(member, actions);
    sum_try_give(member, actions);
}

void sum_install(struct sum_member *member, const struct sum_view *view,
                 struct sum_actions *actions)
{
    if (member->joined)
        settle_call(member, view, actions);
    member->view = *view;
    member->promised = member->accepted = member->ballot = 0;
    member->ballot_seen = 0;
    member->frozen = member->broken = false;
    sum_call_reset(member);
    member->me = own_seat(member);
    member->in = member->me != SUM_NOBODY;
    sum_map_roads(member);
    if (member->in || member->leaving)
        spread(member, actions);
    member->redial_at = member->now;
    member->retry_us = member->options.retry_us;
    if (member->in)
        enter(member, actions);
    else if (member->leaving)
        sum_finish(member, ERR_OK, "left", actions);
}

static bool is_far(uint64_t number, uint64_t from)
{
    return number > LAST || (number > from && number - from > JUMP);
}

/* SUM-5: in one view nobody is ahead by more than a call. */
static bool is_odd_state(const struct sum_member *member,
                         const struct sum_msg *msg)
{
    const uint64_t theirs = msg->state.committed;

    return msg->kind == SUM_STATE && member->in &&
           msg->number == member->view.number &&
           (theirs > LAST || theirs > member->committed + 1 ||
            theirs + 1 < member->committed);
}

/* Does it say a number that no member comes to? */
static bool is_absurd(const struct sum_member *member,
                      const struct sum_msg *msg)
{
    const bool guest = member->view.group == 0;
    const uint64_t view = guest ? LAST : member->view.number;
    const uint64_t call = guest ? LAST : member->committed;

    if (msg->view != NULL &&
        (is_far(msg->view->number, view) || is_far(msg->view->call, call)))
        return true;
    return is_far(msg->ballot >> RANKS, member->promised >> RANKS) ||
           is_odd_state(member, msg);
}

static void on_view(struct sum_member *member, const struct sum_msg *msg,
                    struct sum_actions *actions)
{
    const struct sum_view *view = msg->view;

    if (view->number <= member->view.number ||
        (member->view.group != 0 && view->group != member->view.group))
        return;
    sum_install(member, view, actions);
}

void sum_view_message(struct sum_member *member, uint32_t link,
                      const struct sum_msg *msg, struct sum_actions *actions)
{
    const uint32_t seat = sum_seat_of(member, link);

    if (is_absurd(member, msg)) {
        sum_drop(member, link, actions);
        return;
    }
    if (msg->kind == SUM_VIEW) {
        on_view(member, msg, actions);
        return;
    }
    if (!member->in)
        return;
    if (msg->number < member->view.number) {
        send_view(member, link, actions);
        return;
    }
    if (msg->number > member->view.number)
        return;
    if (msg->kind == SUM_JOIN && seat == SUM_NOBODY)
        on_join(member, link, msg, actions);
    if (seat == SUM_NOBODY)
        return;
    if (msg->kind == SUM_REQUEST)
        on_request(member, actions);
    else if (msg->kind == SUM_COLLECT)
        on_collect(member, link, msg, actions);
    else if (msg->kind == SUM_PROPOSE)
        on_propose(member, link, msg, actions);
    else if (msg->kind == SUM_STATE || msg->kind == SUM_ACCEPT)
        on_answer(member, seat, msg, actions);
}
