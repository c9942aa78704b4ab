/*
 * peer_council.c - views: PROPOSE, REPORT, STATE.
 *
 *     take up (halt) -> report -> all reports in: install
 *                                   | behind: take the state of who is ahead
 *                                   v
 *                                 begin: anchor, journal, next round
 *
 * RING-1  Slices and reports count in the view whose key they carry, and in no
 *         other.
 * RING-5  Who is behind takes the state of who is ahead, never the other way
 *         round; equal positions have equal states.
 */
#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "base/quick.h"
#include "core/ring/peer_parts.h"

/* --- what should be ------------------------------------------------------- */

static void what_is_known(const struct peer *p, struct ring_heard *seats)
{
    for (uint32_t i = 0; i < p->seat_count; i++) {
        const struct peer_seat *seat = &p->seats[i];

        seats[i] = (struct ring_heard){.name = seat->name,
                                       .hears = seat->hears,
                                       .view = seat->view,
                                       .members = seat->members,
                                       .started = seat->members != 0};
        /* Who is in this peer's view has taken it up, or is about to; but once
         * a link broke it may be another life of that name. */
        if ((p->view.members >> i & 1) == 0 || p->broken ||
            ring_name_order(&seat->view, &p->view.name) >= 0)
            continue;
        seats[i].view = p->view.name;
        seats[i].members = p->view.members;
        seats[i].started = true;
    }
    seats[0].hears = links_heard(p);
    seats[0].view = p->view.name;
    seats[0].members = p->view.members;
    seats[0].started = p->view.members != 0;
}

/* Only the first view of all waits for `least`. */
static bool may_begin(const struct peer *p, const struct ring_heard *seats,
                      uint64_t chosen)
{
    for (uint32_t i = 0; i < p->seat_count; i++)
        if ((chosen >> i & 1) != 0 && seats[i].started)
            return true;
    return ring_count(chosen) >= p->options.least &&
           (p->met || p->options.contact[0] == '\0');
}

/* Will this peer never be in that view?  It is none of its members; or the
 * proposer is not heard here, or has said since that it is in that view: links
 * keep their order, so that its proposal came before, and was none for this
 * peer. */
static bool is_lost(const struct peer *p, const struct ring_name *view,
                    uint64_t members)
{
    const uint32_t proposer = links_find(p, view->proposer);

    if ((members & SEAT(0)) == 0)
        return true;
    if (ring_name_order(view, &p->parked) <= 0)
        return false;
    return proposer == PEER_NO_SEAT || proposer == 0 ||
           p->seats[proposer].link == PEER_NO_LINK ||
           ring_name_order(&p->seats[proposer].view, view) >= 0;
}

/* Is the view over, by what its members have said?  One has not taken it up, or
 * calls it over, or has gone on to another one without this peer. */
static bool is_over(const struct peer *p)
{
    const struct ring_name *own = &p->view.name;

    for (uint32_t i = 1; i < p->seat_count; i++) {
        const struct peer_seat *seat = &p->seats[i];
        const int order = ring_name_order(&seat->view, own);

        if ((p->view.members >> i & 1) == 0 || !seat->told)
            continue;
        if (ring_name_order(&seat->refused, own) == 0 ||
            (order == 0 && seat->broken) ||
            (order > 0 && is_lost(p, &seat->view, seat->members)))
            return true;
    }
    return false;
}

/* Those to propose; 0: all is as it should be, or somebody else's to say. */
static uint64_t wanted(const struct peer *p)
{
    struct ring_heard seats[PEERS_MAX];
    const uint64_t heard = links_heard(p);
    uint64_t chosen;

    what_is_known(p, seats);
    if (!council_leads(seats, p->seat_count, heard))
        return 0;
    chosen = council_choose(seats, p->seat_count, heard);
    if (chosen == p->view.members && !p->broken)
        return 0;
    return may_begin(p, seats, chosen) ? chosen : 0;
}

/* Nothing is under way that a newcomer could not wait for. */
static bool is_idle(const struct peer *p)
{
    return p->phase == PEER_GATHERING || p->phase == PEER_LACKING ||
           p->phase == PEER_LINGERING;
}

/* --- taking up ------------------------------------------------------------ */

/* What the driver reads must not change under it. */
void council_halt(struct peer *p, struct actions *actions)
{
    p->phase = PEER_HALTING;
    if (p->computing && !p->cancelled) {
        (void)actions_add(actions, ACTION_CANCEL);
        p->cancelled = true;
    }
    council_halted(p, actions);
}

/* What each can compute its MEET said. */
static void split(struct peer *p)
{
    struct ring_view *view = &p->view;

    for (uint32_t i = 0; i < view->count; i++) {
        const struct peer_seat *seat = &p->seats[view->seat[i]];

        view->first[i] = seat->first;
        view->end[i] = seat->end;
    }
    view->gap =
        ring_split(view->first, view->end, view->count, p->options.chunks);
}

static void take_up(struct peer *p, const struct ring_name *name,
                    uint64_t members, struct actions *actions)
{
    struct ring_heard seats[PEERS_MAX];

    if (p->installed)
        p->last_members = p->view.members;
    what_is_known(p, seats);
    p->view = (struct ring_view){.name = *name, .members = members};
    ring_view_order(&p->view, seats, p->seat_count);
    split(p);
    if (name->number > p->highest)
        p->highest = name->number;
    p->broken = p->installed = p->begun = p->waiting = false;
    p->parked = (struct ring_name){0};
    p->roster_due = true;
    p->waits_disk = false;
    p->state_from = PEER_NO_SEAT;
    p->state_got = 0;
    exchange_blank(&p->here);
    exchange_blank(&p->early);
    council_halt(p, actions);
}

static void propose(struct peer *p, uint64_t chosen, struct actions *actions)
{
    struct ring_name name = {.number = p->highest + 1,
                             .incarnation = p->options.incarnation};
    struct ring_view *view = &p->view;
    struct msg_propose out = {.number = name.number,
                              .incarnation = name.incarnation,
                              .position = peer_position(p),
                              .count = ring_count(chosen),
                              .members = p->proposed};
    struct ring_heard seats[PEERS_MAX];
    struct ring_view next = {.members = chosen};

    memcpy(name.proposer, p->options.name, NAME_SIZE);
    what_is_known(p, seats);
    ring_view_order(&next, seats, p->seat_count);
    for (uint32_t i = 0; i < next.count; i++) {
        memset(&p->proposed[i], 0, sizeof p->proposed[i]);
        memcpy(p->proposed[i].name, p->seats[next.seat[i]].name, NAME_SIZE);
    }
    for (uint32_t i = 0; i < next.count; i++)
        if (next.seat[i] != 0)
            peer_send(p, actions, p->seats[next.seat[i]].link, MSG_PROPOSE)
                ->propose = out;
    take_up(p, &name, chosen, actions);
    CHECK(view->count == next.count);
}

/* Nothing is lost of the round at hand if it waits for the end of it. */
static bool only_adds(const struct peer *p, uint64_t members)
{
    return p->view.members != 0 && !p->broken &&
           (members & p->view.members) == p->view.members;
}

static void take_up_parked(struct peer *p, struct actions *actions)
{
    const struct ring_name name = p->parked;
    const bool torn = p->parked_torn;

    take_up(p, &name, p->parked_members, actions);
    if (torn) /* RING-2: reports to it were lost. */
        p->broken = p->roster_due = true;
}

void council_tend(struct peer *p, struct actions *actions)
{
    uint64_t chosen;

    if (!p->broken && is_over(p))
        p->broken = p->roster_due = true;
    if (p->parked.number != 0 && p->broken) {
        take_up_parked(p, actions);
        return;
    }
    chosen = wanted(p);
    p->waiting = chosen != 0 && !is_idle(p) && only_adds(p, chosen);
    if (chosen != 0 && !p->waiting)
        propose(p, chosen, actions);
}

bool council_between(struct peer *p, struct actions *actions)
{
    uint64_t chosen;

    if (p->parked.number != 0 && peer_position(p) >= p->parked_position) {
        take_up_parked(p, actions);
        return true;
    }
    chosen = p->waiting ? wanted(p) : 0;
    if (chosen == 0)
        return false;
    propose(p, chosen, actions);
    return true;
}

/* The seats that it names; 0: not all of them are heard here. */
static uint64_t proposed_seats(const struct peer *p,
                               const struct msg_propose *propose)
{
    uint64_t members = 0;

    for (uint32_t i = 0; i < propose->count; i++) {
        const uint32_t at = links_find(p, propose->members[i].name);

        if (at == PEER_NO_SEAT || (at > 0 && p->seats[at].link == PEER_NO_LINK))
            return 0;
        members |= SEAT(at);
    }
    return members;
}

void council_propose(struct peer *p, uint32_t seat,
                     const struct msg_propose *propose, struct actions *actions)
{
    const uint64_t members = proposed_seats(p, propose);
    struct ring_name name = {.number = propose->number,
                             .incarnation = propose->incarnation};

    memcpy(name.proposer, p->seats[seat].name, NAME_SIZE);
    if (propose->number >= PEER_VIEWS) {
        links_ban(p, seat, actions);
        return;
    }
    if (propose->number > p->highest)
        p->highest = propose->number;
    if (ring_name_order(&name, &p->view.name) <= 0 ||
        (members & SEAT(0)) == 0 || (members & SEAT(seat)) == 0) {
        p->roster_due = true; /* It should know that nothing comes of it. */
        p->refused = name;
        return;
    }
    /* A member that has finished this round has all totals of it, and so they
     * are on their way to this one as well. */
    if (p->phase == PEER_ROUND && p->installed && only_adds(p, members) &&
        (p->view.members >> seat & 1) != 0 &&
        ring_name_order(&p->seats[seat].view, &p->view.name) == 0 &&
        peer_position(p) < propose->position) {
        p->parked = name;
        p->parked_members = members;
        p->parked_torn = false;
        p->parked_position = propose->position;
        return;
    }
    take_up(p, &name, members, actions);
}

/* --- where everybody stands ----------------------------------------------- */

/* RING-6: encoded and decoded again, all stand at the beginning of the
 * evaluation at hand, whatever scales were tried for it since. */
static struct ring_stand make_stand(struct peer *p)
{
    struct writer out = writer_on(p->state, trainer_state_bytes(&p->trainer));
    struct pool *pool = p->options.trainer.pool;
    struct ring_stand stand = {.position = peer_position(p),
                               .step = p->trainer.optim.step,
                               .started = p->started,
                               .weights = doubt_past(p, p->trainer.optim.step),
                               .anchor_position = p->anchor_position,
                               .anchor = p->anchor_name};

    trainer_save(&p->trainer, &out);
    CHECK(out.ok);
    p->state_size = out.size;
    stand.state = quick_long(pool, p->state, p->state_size, 0);
    return stand;
}

void council_say(struct peer *p, const struct ring_stand *stand, bool doubt,
                 struct actions *actions)
{
    for (uint32_t i = 0; i < p->view.count; i++) {
        const uint32_t seat = p->view.seat[i];
        struct msg *msg;

        if (seat == 0 || p->seats[seat].link == PEER_NO_LINK)
            continue;
        msg = peer_send(p, actions, p->seats[seat].link, MSG_REPORT);
        msg->report = (struct msg_report){
            .view = p->view.key, .doubt = doubt, .stand = *stand};
    }
}

static void report(struct peer *p, struct actions *actions)
{
    const struct ring_stand stand = make_stand(p);

    CHECK(trainer_load(&p->trainer, p->state, p->state_size, NULL) == ERR_OK);
    p->key.attempt = 0;
    p->seats[0].stand = stand;
    p->seats[0].report_view = p->view.key;
    p->phase = PEER_REPORTING;
    council_say(p, &stand, false, actions);
}

/* --- beginning ------------------------------------------------------------ */

static void journal_view(struct peer *p, bool merges, struct actions *actions)
{
    struct record record = {.kind = RECORD_VIEW,
                            .job = p->key.job,
                            .view = p->journaled + 1,
                            .step = p->trainer.optim.step,
                            .slots = p->view.count,
                            .answered = p->view.count,
                            .planned = p->view.count,
                            .code = "ring"};

    if (!p->options.trainer.kept || p->trainer.ledger.broken)
        return;
    if (record.view < p->view.name.number)
        record.view = p->view.name.number;
    trainer_journal(&p->trainer, &record, false, actions);
    p->journaled = record.view;
    if (!merges)
        return;
    record.kind = RECORD_MERGE;
    record.weights = trainer_hash(&p->trainer);
    trainer_journal(&p->trainer, &record, false, actions);
}

/* Does somebody come back who was elsewhere meanwhile? */
static bool is_merge(const struct peer *p)
{
    for (uint32_t i = 0; i < p->view.count; i++) {
        const uint32_t seat = p->view.seat[i];

        if (seat != 0 && p->seats[seat].stand.started &&
            (p->last_members >> seat & 1) == 0)
            return p->last_members != 0;
    }
    return false;
}

/* Everybody who is in has the state; this peer has it encoded, too. */
static void begin(struct peer *p, struct actions *actions)
{
    const bool merges = is_merge(p);

    p->begun = true;
    memcpy(p->anchor, p->state, p->state_size);
    p->anchor_size = p->state_size;
    p->anchor_position = peer_position(p);
    p->anchor_name =
        quick_long(p->options.trainer.pool, p->anchor, p->anchor_size, 0);
    p->stats.views++;
    p->stats.merges += merges;
    journal_view(p, merges, actions);
    peer_welcome_home(p, actions);
    peer_next(p, actions);
}

/* The seat whose state is everybody's: of those ahead the lowest rank. */
static uint32_t foremost(const struct peer *p)
{
    uint32_t best = p->view.seat[0];

    for (uint32_t i = 1; i < p->view.count; i++) {
        const uint32_t seat = p->view.seat[i];
        const uint64_t position = p->seats[seat].stand.position;
        const uint64_t most = p->seats[best].stand.position;

        if (BUG(BUG_RING_BEHIND) ? position < most : position > most)
            best = seat;
    }
    return best;
}

static void send_state(struct peer *p, uint32_t seat, struct actions *actions)
{
    size_t at = 0;

    p->stats.states++;
    do {
        const size_t left = p->state_size - at;
        const size_t count =
            left < p->options.state_segment ? left : p->options.state_segment;
        struct msg *msg = peer_send(p, actions, p->seats[seat].link, MSG_STATE);

        msg->state = (struct msg_state){.view = p->view.key,
                                        .size = p->state_size,
                                        .at = at,
                                        .bytes = p->state + at,
                                        .count = count};
        p->stats.state_bytes += count;
        at += count;
    } while (at < p->state_size);
}

/* Known to all members alike: what two report of the same position differs. */
static bool reports_differ(const struct peer *p)
{
    for (uint32_t i = 0; i < p->view.count; i++) {
        const struct ring_stand *a = &p->seats[p->view.seat[i]].stand;

        for (uint32_t j = 0; j < i; j++) {
            const struct ring_stand *b = &p->seats[p->view.seat[j]].stand;

            if (a->position == b->position && a->state != b->state)
                return true;
        }
    }
    return false;
}

/* ... and to this one alone: it came by there, and it was otherwise. */
static bool past_differs(const struct peer *p)
{
    for (uint32_t i = 0; i < p->view.count; i++) {
        const struct ring_stand *stand = &p->seats[p->view.seat[i]].stand;
        const uint64_t name = doubt_past(p, stand->step);

        if (name != 0 && stand->weights != 0 && name != stand->weights)
            return true;
    }
    return false;
}

static bool stands_equal(const struct peer *p, uint32_t seat, uint32_t other)
{
    const struct ring_stand *a = &p->seats[seat].stand;
    const struct ring_stand *b = &p->seats[other].stand;

    return a->position == b->position ||
           (BUG(BUG_RING_UNEQUAL) && a->step != b->step);
}

/* The state that came is none, or not the one that was announced; the trainer
 * may be anything, and own state was overwritten by what came. */
static void refuse_state(struct peer *p, struct actions *actions)
{
    const enum err err = doubt_return(p, p->anchor_size > 0, actions);

    links_ban(p, p->state_from, actions);
    p->phase = PEER_GATHERING; /* The view is broken. */
    if (err != ERR_OK)
        peer_end(p, actions, err, "no way back: %s", err_text(err));
}

static void take_state(struct peer *p, struct actions *actions)
{
    const struct peer_seat *from = &p->seats[p->state_from];
    const struct checkpoint head = peer_head(p);
    const uint64_t name =
        quick_long(p->options.trainer.pool, p->state, p->state_size, 0);

    if (!BUG(BUG_RING_NO_STATE) &&
        (name != from->stand.state ||
         trainer_take(&p->trainer, p->state, p->state_size, &head, actions) !=
             ERR_OK ||
         peer_position(p) != from->stand.position)) {
        refuse_state(p, actions);
        return;
    }
    memset(p->past, 0, sizeof p->past);
    begin(p, actions);
}

/* Members of the view before this one that are not in it, nor here: a next life
 * that is here was told of when it came.  Who proposed may have seen a link
 * break that this peer still has: those are told of when theirs does.  Once
 * there is nothing to do whoever goes has the model. */
static void tell_gone(struct peer *p, struct actions *actions)
{
    const uint64_t gone = p->last_members & ~p->view.members;

    p->left_out &= ~p->view.members;
    for (uint32_t i = 1; i < p->seat_count && !trainer_done(&p->trainer); i++) {
        if ((gone >> i & 1) == 0)
            continue;
        if (p->seats[i].link == PEER_NO_LINK)
            links_tell_gone(p, i, actions);
        else if (p->seats[i].incarnation == p->seats[i].member)
            p->left_out |= SEAT(i);
    }
    for (uint32_t i = 1; i < p->seat_count; i++)
        if ((p->view.members >> i & 1) != 0)
            p->seats[i].member = p->seats[i].incarnation;
}

static void install(struct peer *p, struct actions *actions)
{
    const uint32_t best = foremost(p);
    const bool source = best == 0;

    p->installed = p->started = true;
    tell_gone(p, actions);
    if (reports_differ(p) || past_differs(p)) {
        doubt_raise(p, actions);
        return;
    }
    for (uint32_t i = 0; i < p->view.count && source; i++) {
        const uint32_t seat = p->view.seat[i];

        if (seat != 0 && !stands_equal(p, seat, best))
            send_state(p, seat, actions);
    }
    if (stands_equal(p, 0, best)) {
        begin(p, actions);
        return;
    }
    p->phase = PEER_TAKING;
    if (p->state_from != PEER_NO_SEAT && p->state_from != best) {
        links_ban(p, p->state_from, actions); /* Nobody's but its own. */
        return;
    }
    if (p->state_from == PEER_NO_SEAT)
        p->state_from = best;
    else if (p->state_got == p->state_size)
        take_state(p, actions);
}

static void try_install(struct peer *p, struct actions *actions)
{
    if (p->phase != PEER_REPORTING)
        return;
    for (uint32_t i = 0; i < p->view.count; i++)
        if (p->seats[p->view.seat[i]].report_view != p->view.key)
            return;
    install(p, actions);
}

void council_report(struct peer *p, uint32_t seat,
                    const struct msg_report *report, struct actions *actions)
{
    struct peer_seat *from = &p->seats[seat];

    if (report->doubt) {
        from->claim_step = report->stand.step;
        from->claim = report->stand.weights;
        if (report->view == p->view.key && report->view != p->doubt_view)
            doubt_raise(p, actions);
        return;
    }
    from->report_view = report->view;
    from->stand = report->stand;
    try_install(p, actions);
}

/* It has said so, and nobody in front of it: its state is wanted here.  Of
 * others it would overwrite the one that this peer has reported. */
static bool is_ahead(const struct peer *p, uint32_t seat)
{
    return p->seats[seat].report_view == p->view.key &&
           p->seats[seat].stand.position > p->seats[0].stand.position;
}

void council_state(struct peer *p, uint32_t seat, const struct msg_state *state,
                   struct actions *actions)
{
    if (state->view != p->view.key ||
        (p->phase != PEER_REPORTING && p->phase != PEER_TAKING) ||
        (p->state_from != PEER_NO_SEAT && p->state_from != seat))
        return;
    /* RING-2: what came before it may have been lost with another link. */
    if (p->broken)
        return;
    if (!is_ahead(p, seat) || state->size > trainer_state_bytes(&p->trainer) ||
        state->count > state->size || state->at > state->size - state->count ||
        state->at != (p->state_from == seat ? p->state_got : 0)) {
        links_ban(p, seat, actions);
        return;
    }
    p->state_from = seat;
    p->state_size = state->size;
    memcpy(p->state + state->at, state->bytes, state->count);
    p->state_got = state->at + state->count;
    if (p->phase == PEER_TAKING && p->state_got == p->state_size)
        take_state(p, actions);
}

/* --- the driver has stopped ------------------------------------------------
 */

void council_halted(struct peer *p, struct actions *actions)
{
    if (p->phase != PEER_HALTING || p->computing || p->measuring)
        return;
    if (p->back)
        doubt_go_back(p, actions);
    if (p->phase != PEER_HALTING)
        return;
    report(p, actions);
    try_install(p, actions);
}
