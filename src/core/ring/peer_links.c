/*
 * peer_links.c - who is there: dialling, MEET, ROSTER, BEAT, silence.
 *
 * Seats are given up to newcomers alone, and only those of who is gone or was
 * never met: bits of sets stand for them.  A seat with a link has been greeted
 * on it.  Of two links between the same two processes the one that is in use
 * stays; of two that were dialled at once that of the higher name, on both
 * sides.
 */
#include <stdio.h>
#include <string.h>

#include "base/bugs.h"
#include "core/ring/peer_parts.h"

#define CONTACT_BEATS 4 /* So many pass before others are dialled, too. */

uint32_t links_seat(const struct peer *p, uint32_t link)
{
    for (uint32_t i = 1; i < p->seat_count; i++)
        if (p->seats[i].link == link)
            return i;
    return PEER_NO_SEAT;
}

uint32_t links_find(const struct peer *p, const char *name)
{
    for (uint32_t i = 0; i < p->seat_count; i++)
        if (strcmp(p->seats[i].name, name) == 0)
            return i;
    return PEER_NO_SEAT;
}

/* The higher name dials at once; the other one when nothing has come of it: the
 * higher may have begun anew, and not know whom it knew. */
static time_us first_dial(const struct peer *p, const struct peer_seat *seat)
{
    return p->now + (strcmp(p->options.name, seat->name) > 0
                         ? p->options.retry_us
                         : p->options.dead_us);
}

static void take_seat(struct peer *p, uint32_t index, const char *name)
{
    struct peer_seat *seat = &p->seats[index];

    *seat = (struct peer_seat){.link = PEER_NO_LINK,
                               .dialled = PEER_NO_LINK,
                               .retry_us = p->options.retry_us};
    (void)snprintf(seat->name, sizeof seat->name, "%s", name);
    seat->dial_at = first_dial(p, seat);
    p->roster_due = true;
}

/* PEER_NO_SEAT: there is no room. */
static uint32_t find_or_add(struct peer *p, const char *name)
{
    const uint32_t found = links_find(p, name);

    if (found != PEER_NO_SEAT || p->seat_count == PEERS_MAX)
        return found;
    take_seat(p, p->seat_count, name);
    return p->seat_count++;
}

static bool is_heard_of(const struct peer *p, uint32_t index)
{
    for (uint32_t i = 1; i < p->seat_count; i++)
        if (p->seats[i].link != PEER_NO_LINK &&
            (p->seats[i].hears >> index & 1) != 0)
            return true;
    return false;
}

/* The seat of one who went, or of a name that is only told of: whoever is at
 * the door is more than that. */
static bool may_replace(const struct peer *p, uint32_t index)
{
    const struct peer_seat *seat = &p->seats[index];
    const uint64_t members = p->view.members | p->parked_members;

    return seat->link == PEER_NO_LINK && seat->dialled == PEER_NO_LINK &&
           (members >> index & 1) == 0 && !seat->banned &&
           (seat->incarnation == 0 || !is_heard_of(p, index));
}

/* For one that is here. */
static uint32_t find_or_replace(struct peer *p, const char *name)
{
    const uint32_t found = find_or_add(p, name);

    for (uint32_t i = 1; i < p->seat_count && found == PEER_NO_SEAT; i++) {
        if (!may_replace(p, i))
            continue;
        for (uint32_t k = 0; k < p->seat_count; k++) {
            p->seats[k].hears &= ~SEAT(i);
            p->seats[k].members &= ~SEAT(i);
        }
        p->last_members &= ~SEAT(i);
        p->left_out &= ~SEAT(i);
        if (p->accused == i)
            p->accused = 0;
        take_seat(p, i, name);
        return i;
    }
    return found;
}

uint64_t links_heard(const struct peer *p)
{
    uint64_t heard = SEAT(0);

    for (uint32_t i = 1; i < p->seat_count; i++)
        if (p->seats[i].link != PEER_NO_LINK && p->seats[i].told)
            heard |= SEAT(i);
    return heard;
}

/* --- the end of a link ---------------------------------------------------- */

static void forget(struct peer *p, uint32_t index)
{
    struct peer_seat *seat = &p->seats[index];

    seat->link = PEER_NO_LINK;
    seat->told = false;
    seat->hears = seat->members = 0;
    seat->report_view = 0;
    seat->dial_at = first_dial(p, seat);
    seat->busy = false;
    p->roster_due = true;
    if ((p->view.members >> index & 1) != 0)
        p->broken = true; /* RING-2: not all that was sent will come. */
    if ((p->parked_members >> index & 1) != 0)
        p->parked_torn = true;
}

void links_drop(struct peer *p, uint32_t seat, struct actions *actions)
{
    actions_add(actions, ACTION_CLOSE)->link = p->seats[seat].link;
    forget(p, seat);
}

void links_tell_gone(struct peer *p, uint32_t seat, struct actions *actions)
{
    const bool died = !p->seats[seat].done;
    struct trace *trace =
        peer_trace(p, actions, died ? TRACE_DIED : TRACE_LEFT);

    trace->a = 1; /* This one; the view at hand may leave out who comes in. */
    for (uint32_t i = 1; i < p->seat_count; i++)
        trace->a += p->seats[i].link != PEER_NO_LINK && i != seat;
    memcpy(trace->name, p->seats[seat].name, NAME_SIZE);
    p->stats.died += died ? 1 : 0;
    p->left_out &= ~SEAT(seat);
}

void links_ban(struct peer *p, uint32_t seat, struct actions *actions)
{
    memcpy(peer_trace(p, actions, TRACE_BANNED)->name, p->seats[seat].name,
           NAME_SIZE);
    p->seats[seat].banned = true;
    links_drop(p, seat, actions);
}

/* It failed, or nobody answered there: when to dial again, and twice as long
 * the next time. */
static time_us back_off(const struct peer *p, time_us *retry_us)
{
    const time_us at = p->now + *retry_us;

    *retry_us = time_sooner(2 * *retry_us, p->options.retry_max_us);
    return at;
}

static void dial_later(struct peer *p, struct peer_seat *seat)
{
    seat->dialled = PEER_NO_LINK;
    seat->dial_at = back_off(p, &seat->retry_us);
}

static void contact_later(struct peer *p)
{
    p->contact_link = PEER_NO_LINK;
    p->contact_at = back_off(p, &p->contact_retry_us);
}

void links_down(struct peer *p, uint32_t link)
{
    const uint32_t index = links_seat(p, link);

    if (link == p->contact_link)
        contact_later(p);
    for (uint32_t i = 1; i < p->seat_count; i++)
        if (p->seats[i].dialled == link)
            dial_later(p, &p->seats[i]);
    if (index != PEER_NO_SEAT)
        forget(p, index);
}

/* --- greeting ------------------------------------------------------------- */

static void send_meet(struct peer *p, uint32_t link, struct actions *actions)
{
    struct msg_meet *meet = &peer_send(p, actions, link, MSG_MEET)->meet;

    *meet = (struct msg_meet){.version = MSG_VERSION,
                              .incarnation = p->options.incarnation,
                              .config = p->options.config,
                              .given = p->options.given,
                              .arithmetic = p->options.arithmetic,
                              .first = p->options.first,
                              .end = p->options.end};
    memcpy(meet->name, p->options.name, NAME_SIZE);
    memcpy(meet->place, p->options.place, PEER_PLACE);
}

void links_up(struct peer *p, uint32_t link, struct actions *actions)
{
    send_meet(p, link, actions);
}

static void turn_away(struct peer *p, uint32_t link, const char *why,
                      struct actions *actions)
{
    struct msg *msg = peer_send(p, actions, link, MSG_REJECT);

    (void)snprintf(msg->reject.reason, sizeof msg->reject.reason, "%s", why);
    actions_add(actions, ACTION_CLOSE)->link = link;
    links_down(p, link);
}

/* Of private rows each peer has one home's, or none. */
static bool has_home(const struct peer *p, const struct msg_meet *meet)
{
    for (uint32_t h = 0; h < p->options.home_count; h++)
        if (p->options.homes[h].first == meet->first &&
            p->options.homes[h].end == meet->end)
            return true;
    return p->options.home_count == 0 || meet->first == meet->end;
}

static const char *objection(const struct peer *p, const struct msg_meet *meet)
{
    const uint32_t chunks = p->options.chunks;

    if (meet->version != MSG_VERSION)
        return "another release of muster: peers of a ring run the same one";
    /* First: options choose the arithmetic, too. */
    if (!digest_equal(&meet->given, &p->options.given))
        return "another training: its data or options are not those of this "
               "ring";
    if (!digest_equal(&meet->arithmetic, &p->options.arithmetic))
        return "its arithmetic gives other bits than that of this ring";
    /* After all else: arithmetic is in it, too. */
    if (!digest_equal(&meet->config, &p->options.config))
        return "other sizes or bounds of the owners' rows than this ring has: "
               "the `parts` file in its folder is not the one it was given";
    if (meet->first > meet->end || meet->end > chunks || !has_home(p, meet))
        return "it says that it has chunks that there are none of";
    if (strcmp(meet->name, p->options.name) == 0)
        return "this peer has the same name; choose another";
    return NULL;
}

/* Of two links between the same processes: is this the one to keep? */
static bool dialled_by_higher(const struct peer *p, uint32_t seat,
                              uint32_t link)
{
    const bool mine = link >= PEER_DIALLED;

    return mine == (strcmp(p->options.name, p->seats[seat].name) > 0);
}

/* Shall the old link to that process stay?  Views may stand on one that both
 * use: whoever dialled a second one did not know whom it would find there, and
 * goes by what is said here.  Else both may have dialled at once, and go by
 * names; so does who dialled in any case, as the other side has chosen. */
static bool old_stays(const struct peer *p, uint32_t index, uint32_t link)
{
    const struct peer_seat *seat = &p->seats[index];
    const bool fresh = p->now - seat->heard_at < 2 * p->options.beat_us;

    if (link < PEER_DIALLED && fresh &&
        (seat->told || seat->link < PEER_DIALLED))
        return true;
    return dialled_by_higher(p, index, seat->link) &&
           !dialled_by_higher(p, index, link);
}

/* A new link to one that has one: true if the new one is closed. */
static bool resolve(struct peer *p, uint32_t index, uint32_t link,
                    uint64_t incarnation, struct actions *actions)
{
    const struct peer_seat *seat = &p->seats[index];
    const bool same = seat->incarnation == incarnation;
    bool old;

    if (seat->link == PEER_NO_LINK || seat->link == link)
        return false;
    if (same)
        old = old_stays(p, index, link);
    else /* NAME-1: one name, one living peer. */
        old = p->now - seat->heard_at < 2 * p->options.beat_us;
    if (old && same && link < PEER_DIALLED &&
        (seat->told || seat->link >= PEER_DIALLED)) {
        /* It has met this peer, and without a word it would go on looking for
         * its contact. */
        turn_away(p, link, "there is a link already", actions);
        return true;
    }
    if (old) {
        actions_add(actions, ACTION_CLOSE)->link = link;
        links_down(p, link);
        return true;
    }
    links_drop(p, index, actions);
    return false;
}

static void greet(struct peer *p, uint32_t index, uint32_t link,
                  const struct msg_meet *meet, struct actions *actions)
{
    struct peer_seat *seat = &p->seats[index];

    for (uint32_t i = 1; i < p->seat_count; i++)
        if (p->seats[i].dialled == link)
            dial_later(p, &p->seats[i]); /* Should it not be the one. */
    if (link == p->contact_link)
        p->contact_link = PEER_NO_LINK;
    if ((((p->view.members >> index & 1) != 0 && p->installed) ||
         (p->left_out >> index & 1) != 0) &&
        seat->incarnation != meet->incarnation)
        links_tell_gone(p, index, actions); /* Its next life came first. */
    if (seat->incarnation != meet->incarnation)
        seat->stalls = 0;
    seat->link = link;
    seat->incarnation = meet->incarnation;
    owed_begin(p, index);
    seat->heard_at = p->now;
    seat->retry_us = p->options.retry_us;
    seat->first = meet->first;
    seat->end = meet->end;
    seat->done = false;
    seat->told = false;
    seat->report_view = 0;
    if (meet->place[0] != '\0')
        memcpy(seat->place, meet->place, PEER_PLACE);
    p->contact_retry_us = p->options.retry_us;
    p->met = true;
    p->roster_due = true;
    if (link < PEER_DIALLED)
        send_meet(p, link, actions);
    if (p->phase == PEER_LINGERING)
        peer_send(p, actions, link, MSG_PARTING)->parting.model = true;
    memcpy(peer_trace(p, actions, TRACE_JOINED)->name, seat->name, NAME_SIZE);
}

void links_meet(struct peer *p, uint32_t link, const struct msg_meet *meet,
                struct actions *actions)
{
    const char *why = objection(p, meet);
    uint32_t seat = 0;

    p->reached = p->reached || link == p->contact_link;
    if (links_seat(p, link) != PEER_NO_SEAT)
        return; /* It has said so. */
    if (why == NULL)
        seat = find_or_replace(p, meet->name);
    if (why == NULL && seat == PEER_NO_SEAT)
        why = "the ring is full";
    if (why == NULL && p->seats[seat].banned)
        why = "it sent what cannot be, and was shut out";
    if (why == NULL && owed_shuns(p, seat, meet->incarnation))
        why = "what it sent did not come; it is let in again later";
    if (why != NULL)
        turn_away(p, link, why, actions);
    else if (!resolve(p, seat, link, meet->incarnation, actions))
        greet(p, seat, link, meet, actions);
}

/* Who has met nobody yet cannot go on; others try elsewhere. */
void links_reject(struct peer *p, uint32_t link, const char *reason,
                  struct actions *actions)
{
    const bool contact = link == p->contact_link;
    const bool fatal = !p->met && contact;

    p->reached = p->reached || contact;
    actions_add(actions, ACTION_CLOSE)->link = link;
    links_down(p, link);
    if (fatal)
        peer_end(p, actions, ERR_DENIED, "turned away: %s", reason);
}

/* --- rosters -------------------------------------------------------------- */

void links_roster(struct peer *p, uint32_t index,
                  const struct msg_roster *roster, struct actions *actions)
{
    uint64_t hears = SEAT(index);
    uint64_t members = 0;

    if (roster->view.number >= PEER_VIEWS) {
        links_ban(p, index, actions);
        return;
    }
    for (uint32_t i = 0; i < roster->count; i++) {
        const struct ring_known *known = &roster->known[i];
        const uint32_t at = find_or_add(p, known->name);

        if (at == PEER_NO_SEAT)
            continue;
        if (at > 0 && p->seats[at].place[0] == '\0')
            memcpy(p->seats[at].place, known->place, PEER_PLACE);
        if (known->heard && p->seats[at].link == PEER_NO_LINK)
            p->seats[at].done = false; /* It left, and is there again. */
        hears |= known->heard ? SEAT(at) : 0;
        members |= known->member ? SEAT(at) : 0;
    }
    p->seats[index].told = true;
    p->seats[index].hears = hears;
    p->seats[index].members = members;
    p->seats[index].view = roster->view;
    p->seats[index].broken = roster->broken;
    p->seats[index].refused = roster->refused;
    if (roster->view.number > p->highest)
        p->highest = roster->view.number;
}

void links_tell(struct peer *p, struct actions *actions)
{
    struct ring_known *known = p->known;

    for (uint32_t i = 1; p->left_out != 0 && i < p->seat_count; i++)
        if ((p->left_out >> i & 1) != 0 && p->seats[i].link == PEER_NO_LINK &&
            !trainer_done(&p->trainer))
            links_tell_gone(p, i, actions);
    if (!p->roster_due)
        return;
    for (uint32_t i = 0; i < p->seat_count; i++) {
        const struct peer_seat *seat = &p->seats[i];

        memset(&known[i], 0, sizeof known[i]);
        memcpy(known[i].name, seat->name, NAME_SIZE);
        memcpy(known[i].place, seat->place, PEER_PLACE);
        known[i].heard = i == 0 || seat->link != PEER_NO_LINK;
        known[i].member = (p->view.members >> i & 1) != 0;
    }
    for (uint32_t i = 1; i < p->seat_count; i++) {
        struct msg *msg;

        if (p->seats[i].link == PEER_NO_LINK)
            continue;
        msg = peer_send(p, actions, p->seats[i].link, MSG_ROSTER);
        msg->roster = (struct msg_roster){.view = p->view.name,
                                          .broken = p->broken,
                                          .refused = p->refused,
                                          .count = p->seat_count,
                                          .known = known};
    }
    p->roster_due = false;
}

/* --- what is due ---------------------------------------------------------- */

static bool is_linked(const struct peer *p)
{
    for (uint32_t i = 1; i < p->seat_count; i++)
        if (p->seats[i].link != PEER_NO_LINK)
            return true;
    return false;
}

/* When this seat may be dialled from here; TIME_NEVER: it may not.  It may be
 * the one that is dialled as contact right now, which tells soon; but where
 * packets are swallowed, nobody does. */
static time_us dial_time(const struct peer *p, uint32_t index)
{
    const struct peer_seat *seat = &p->seats[index];
    const time_us told = p->contact_at + CONTACT_BEATS * p->options.beat_us;

    if (seat->link != PEER_NO_LINK || seat->dialled != PEER_NO_LINK ||
        seat->place[0] == '\0' || seat->done || seat->banned)
        return TIME_NEVER;
    return p->contact_link != PEER_NO_LINK && told > seat->dial_at
               ? told
               : seat->dial_at;
}

/* Others may have come first, of whom its contact knows nothing. */
static bool may_contact(const struct peer *p)
{
    return p->options.contact[0] != '\0' && p->contact_link == PEER_NO_LINK &&
           !(p->reached && is_linked(p));
}

/* A number that no link has: whoever answered a dial may be another than was
 * meant, and that link stays. */
static uint32_t free_number(const struct peer *p)
{
    uint32_t number = PEER_DIALLED + 1;

    for (uint32_t i = 1; i < p->seat_count; i++)
        if (p->seats[i].link == number || p->seats[i].dialled == number) {
            number++;
            i = 0; /* Look again from the first. */
        }
    return number;
}

static void dial(struct peer *p, struct actions *actions)
{
    struct action *action;
    uint32_t number;

    if (may_contact(p) && p->now >= p->contact_at) {
        p->contact_link = PEER_DIALLED;
        p->contact_at = p->now;
        action = actions_add(actions, ACTION_CONNECT);
        action->link = p->contact_link;
        action->place = p->options.contact;
    }
    for (uint32_t i = 1; i < p->seat_count; i++) {
        if (p->now < dial_time(p, i))
            continue;
        number = free_number(p);
        if (number >= PEER_DIALLED + PEERS_MAX) {
            dial_later(p, &p->seats[i]); /* Others are dialled still. */
            continue;
        }
        p->seats[i].dialled = number;
        p->seats[i].dial_at = p->now;
        action = actions_add(actions, ACTION_CONNECT);
        action->link = p->seats[i].dialled;
        action->place = p->seats[i].place;
    }
}

/* Dialled, but nobody has said MEET. */
static void give_up_dials(struct peer *p, struct actions *actions)
{
    const time_us patience = p->options.dead_us;

    if (p->contact_link != PEER_NO_LINK && p->now - p->contact_at >= patience) {
        actions_add(actions, ACTION_CLOSE)->link = p->contact_link;
        contact_later(p);
    }
    for (uint32_t i = 1; i < p->seat_count; i++) {
        struct peer_seat *seat = &p->seats[i];

        if (seat->dialled == PEER_NO_LINK || p->now - seat->dial_at < patience)
            continue;
        actions_add(actions, ACTION_CLOSE)->link = seat->dialled;
        dial_later(p, seat);
    }
}

static void drop_silent(struct peer *p, struct actions *actions)
{
    for (uint32_t i = 1; i < p->seat_count; i++) {
        const struct peer_seat *seat = &p->seats[i];

        if (seat->link == PEER_NO_LINK ||
            p->now - seat->heard_at < p->options.dead_us || BUG(BUG_RING_DEAD))
            continue;
        /* Of a member the next view tells. */
        if ((p->view.members >> i & 1) == 0)
            memcpy(peer_trace(p, actions, TRACE_DIED)->name, seat->name,
                   NAME_SIZE);
        links_drop(p, i, actions);
    }
}

static void beat(struct peer *p, struct actions *actions)
{
    const uint32_t flags = owed_flags(p);

    if (p->now < p->beat_at)
        return;
    p->beat_at = p->now + p->options.beat_us;
    p->beats++;
    for (uint32_t i = 1; i < p->seat_count; i++) {
        struct msg *msg;

        if (p->seats[i].link == PEER_NO_LINK)
            continue;
        msg = peer_send(p, actions, p->seats[i].link, MSG_BEAT);
        msg->beat.sequence = p->beats;
        msg->beat.sent_us = p->now;
        msg->beat.view = p->view.name.number;
        msg->beat.step = p->trainer.optim.step;
        msg->beat.assignment = p->seats[i].sent;
        msg->beat.queued = flags;
    }
}

void links_start(struct peer *p, struct actions *actions)
{
    p->beat_at = p->contact_at = p->now;
    links_tend(p, actions);
}

void links_tend(struct peer *p, struct actions *actions)
{
    drop_silent(p, actions);
    give_up_dials(p, actions);
    dial(p, actions);
    beat(p, actions);
}

time_us links_due(const struct peer *p)
{
    const time_us dead = p->options.dead_us;
    time_us at = p->beat_at;

    if (may_contact(p))
        at = time_sooner(at, p->contact_at);
    if (p->contact_link != PEER_NO_LINK)
        at = time_sooner(at, p->contact_at + dead);
    for (uint32_t i = 1; i < p->seat_count; i++) {
        const struct peer_seat *seat = &p->seats[i];

        if (seat->link != PEER_NO_LINK)
            at = time_sooner(at, seat->heard_at + dead);
        else if (seat->dialled != PEER_NO_LINK)
            at = time_sooner(at, seat->dial_at + dead);
        else
            at = time_sooner(at, dial_time(p, i));
    }
    return at;
}
