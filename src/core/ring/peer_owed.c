/*
 * peer_owed.c - who is there, but nothing comes of what it owes.
 *
 * Beats have a connection of their own: they come while all else that a peer
 * sends may stay on its way, or is never sent.  So a beat also says how many
 * messages went by the other connection, and whether its sender works:
 *
 *     it has sent more than came, and no byte of it moves     its link stands
 *     all that was sent came, nobody works, and it owes       it stands
 *     it says that it works, far longer than anything took    it stands, too
 *
 * RING-11  Whom nothing comes from is as one that is silent: its link is
 *          dropped, and the view is over.  It is let in again later, and each
 *          time that it stands again later still, and waited for longer.
 *
 * Who waits for what it knows to be on its way works, too: so of several that
 * wait for each other only the one at the road that stands is dropped, by who
 * is at its other end.
 */
#include "base/bugs.h"
#include "core/ring/peer_parts.h"

#define STANDS_DEADS   2  /* Silences that a link may stand, ... */
#define WORKS_DEADS    32 /* ... and that one may say that it works, ... */
#define WORKS_FACTOR   16 /* ... or so many times as long as anything took. */
#define STOP_FACTOR    4  /* Who is to stop waits for less. */
#define TOTAL_FACTOR   4  /* What a total waits for is seen by others only. */
#define PATIENCE_TWICE 2u /* So often patience doubles, ... */
#define SHUNNED_TWICE  5u /* ... and the time for which one is not let in. */
#define FORGIVEN       8  /* So many of that time later it is forgotten. */

void owed_begin(struct peer *p, uint32_t seat)
{
    struct peer_seat *const at = &p->seats[seat];

    at->sent = at->received = at->claimed = 0;
    at->busy = false;
    at->moved_at = at->level_at = p->now;
}

void owed_send(struct peer *p, uint32_t link, enum msg_kind kind)
{
    const uint32_t seat = links_seat(p, link);

    if (seat != PEER_NO_SEAT && kind != MSG_MEET && msg_is_bulk(kind))
        p->seats[seat].sent++;
}

void owed_moved(struct peer *p, uint32_t seat)
{
    p->seats[seat].moved_at = p->now;
    if ((p->view.members >> seat & 1) != 0)
        p->still_at = p->now;
}

static bool is_behind(const struct peer_seat *seat)
{
    return seat->link != PEER_NO_LINK && seat->received < seat->claimed;
}

void owed_take(struct peer *p, uint32_t seat, const struct msg_beat *beat)
{
    struct peer_seat *const at = &p->seats[seat];

    if (!is_behind(at))
        at->level_at = p->now;
    at->claimed = beat->assignment;
    /* Who has sent nothing owes nothing, or is of a program that does not
     * count. */
    at->busy = (beat->queued & BEAT_BUSY) != 0 || beat->assignment == 0;
    p->asked |= (beat->queued & BEAT_STOPS) != 0;
}

void owed_forgive(struct peer *p, time_us now)
{
    for (uint32_t i = 1; i < p->seat_count; i++)
        p->seats[i].moved_at = p->seats[i].level_at = now;
    p->still_at = p->ready_at = now;
}

/* --- who waits, and for whom ---------------------------------------------- */

static bool works(const struct peer *p)
{
    return p->computing || p->measuring || p->waits_disk ||
           p->phase == PEER_HALTING || p->phase == PEER_COMMITTING;
}

/* Does a member work, or is something of its on its way? */
static bool view_works(const struct peer *p, bool roads_only)
{
    for (uint32_t i = 0; i < p->view.count; i++) {
        const struct peer_seat *const seat = &p->seats[p->view.seat[i]];

        if (p->view.seat[i] != 0 &&
            (is_behind(seat) || (seat->busy && !roads_only)))
            return true;
    }
    return false;
}

uint32_t owed_flags(const struct peer *p)
{
    const bool busy = works(p) || view_works(p, true);

    return (busy ? BEAT_BUSY : 0) | (p->asked || p->stopping ? BEAT_STOPS : 0);
}

static uint64_t silent_reports(const struct peer *p)
{
    uint64_t owing = 0;

    for (uint32_t i = 0; i < p->view.count; i++)
        if (p->seats[p->view.seat[i]].report_view != p->view.key)
            owing |= SEAT(p->view.seat[i]);
    return owing;
}

/* Seats that this peer waits for, and for nothing else. */
static uint64_t owing(const struct peer *p, bool *totals)
{
    uint64_t seats = 0;

    *totals = false;
    if (works(p))
        return 0;
    if (p->phase == PEER_ROUND)
        seats = peer_round_owing(p, totals);
    else if (p->phase == PEER_REPORTING)
        seats = silent_reports(p);
    else if (p->phase == PEER_TAKING && p->state_from != PEER_NO_SEAT)
        seats = SEAT(p->state_from);
    return seats & ~SEAT(0);
}

/* --- for how long --------------------------------------------------------- */

static time_us later(time_us a, time_us b)
{
    return a > b ? a : b;
}

/* Since when a link stands that is behind. */
static time_us stands_since(const struct peer_seat *seat)
{
    return later(seat->moved_at, seat->level_at);
}

/* As it looks with each beat: since when has nothing been done? */
static void look(struct peer *p, uint64_t wait)
{
    const uint64_t at = p->view.key ^ peer_position(p) << 8 ^
                        (uint64_t)p->key.attempt << 4 ^ (uint64_t)p->phase;

    if (works(p)) {
        if (p->busy_at == TIME_NEVER)
            p->busy_at = p->now;
        if (p->now - p->busy_at > p->longest_us)
            p->longest_us = p->now - p->busy_at;
    } else {
        p->busy_at = TIME_NEVER;
    }
    if (works(p) || p->looked_at != at)
        p->still_at = p->ready_at = p->now;
    if (wait == 0 || view_works(p, false))
        p->still_at = p->now;
    p->looked_at = at;
}

/* The time for which it was not let in, and FORGIVEN of these behind it. */
static bool forgiven(const struct peer *p, const struct peer_seat *seat)
{
    return p->now - seat->shun_at > (FORGIVEN + 1) * seat->shun_us;
}

static uint32_t doublings(const struct peer *p, const struct peer_seat *seat,
                          uint32_t most)
{
    if (forgiven(p, seat))
        return 0;
    return seat->stalls < most ? seat->stalls : most;
}

static time_us stands_us(const struct peer *p, const struct peer_seat *seat,
                         bool stops)
{
    return stops ? p->options.dead_us
                 : STANDS_DEADS * p->options.dead_us
                       << doublings(p, seat, PATIENCE_TWICE);
}

static time_us works_us(const struct peer *p, const struct peer_seat *seat,
                        bool totals, bool stops)
{
    const time_us deads =
        (stops ? STOP_FACTOR : WORKS_DEADS) * p->options.dead_us;
    const time_us took = (stops ? STOP_FACTOR : WORKS_FACTOR) * p->longest_us;

    return (later(deads, took) * (totals ? TOTAL_FACTOR : 1))
           << doublings(p, seat, stops ? 0 : PATIENCE_TWICE);
}

static bool is_stalled(const struct peer *p, uint32_t index, bool owes,
                       bool totals, bool stops)
{
    const struct peer_seat *const seat = &p->seats[index];
    const time_us stands = stands_us(p, seat, stops);
    const time_us since = later(seat->moved_at, p->ready_at);

    if (seat->link == PEER_NO_LINK || BUG(BUG_RING_OWED))
        return false;
    if (is_behind(seat) && p->now - stands_since(seat) >= stands)
        return true;
    return owes && (p->now - p->still_at >= stands ||
                    p->now - since >= works_us(p, seat, totals, stops));
}

/* Where rows are private nobody can go on without it: it may come back at once.
 */
static void shun(struct peer *p, uint32_t index, struct actions *actions)
{
    struct peer_seat *const seat = &p->seats[index];

    if (forgiven(p, seat))
        seat->stalls = 0;
    seat->stalls++;
    p->stats.stalls++;
    seat->shun_at = p->now;
    seat->shun_us = p->options.dead_us;
    if (p->options.home_count == 0)
        seat->shun_us <<=
            seat->stalls < SHUNNED_TWICE ? seat->stalls : SHUNNED_TWICE;
    links_drop(p, index, actions);
    if (seat->dial_at < seat->shun_at + seat->shun_us)
        seat->dial_at = seat->shun_at + seat->shun_us;
}

bool owed_shuns(const struct peer *p, uint32_t seat, uint64_t incarnation)
{
    const struct peer_seat *const at = &p->seats[seat];

    return at->stalls > 0 && at->incarnation == incarnation &&
           p->now < at->shun_at + at->shun_us;
}

bool owed_tend(struct peer *p, struct actions *actions)
{
    bool totals;
    const uint64_t wait = owing(p, &totals);
    const bool stops = wait != 0 && (p->asked || p->stopping || p->leaving);

    look(p, wait);
    for (uint32_t i = 1; i < p->seat_count; i++) {
        const bool member = (p->view.members >> i & 1) != 0;

        if (!is_stalled(p, i, (wait >> i & 1) != 0, totals, stops && member))
            continue;
        if (stops && member)
            return true;
        shun(p, i, actions);
    }
    return false;
}

time_us peer_owes_us(const struct peer *peer, uint32_t seat, time_us now,
                     bool *lost)
{
    const struct peer_seat *const at = &peer->seats[seat];
    bool totals;
    const bool owes = (owing(peer, &totals) >> seat & 1) != 0;

    *lost = is_behind(at);
    if (*lost)
        return now - stands_since(at);
    if (!owes)
        return 0;
    if (!at->busy)
        return now - peer->still_at;
    return now - later(at->moved_at, peer->ready_at) > 2 * peer->longest_us
               ? now - later(at->moved_at, peer->ready_at)
               : 0;
}
