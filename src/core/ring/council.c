/*
 * council.c - who leads, whom to propose, who computes what: pure functions.
 */
#include "core/ring/council.h"

#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "base/quick.h"

#define SEAT(i) (UINT64_C(1) << (i))

int ring_name_order(const struct ring_name *a, const struct ring_name *b)
{
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    if (a->number == 0)
        return 0;
    if (strcmp(a->proposer, b->proposer) != 0)
        return strcmp(a->proposer, b->proposer);
    if (a->incarnation != b->incarnation)
        return a->incarnation < b->incarnation ? -1 : 1;
    return 0;
}

uint32_t ring_count(uint64_t seats)
{
    uint32_t count = 0;

    for (; seats != 0; seats &= seats - 1)
        count++;
    return count;
}

/* Seat `other` and seat 0: does the newer of their views have both? */
static bool is_with(const struct ring_heard *seats, uint32_t other)
{
    const struct ring_heard *me = &seats[0];
    const struct ring_heard *you = &seats[other];
    const uint64_t both = SEAT(0) | SEAT(other);

    if (me->members == 0 || you->members == 0)
        return true;
    return ((ring_name_order(&me->view, &you->view) >= 0 ? me : you)->members &
            both) == both;
}

bool council_leads(const struct ring_heard *seats, uint32_t count,
                   uint64_t heard)
{
    for (uint32_t i = 1; i < count; i++) {
        if ((heard >> i & 1) == 0 || !is_with(seats, i))
            continue;
        if (seats[i].started != seats[0].started) {
            if (seats[i].started)
                return false;
            continue;
        }
        if (strcmp(seats[i].name, seats[0].name) < 0)
            return false;
    }
    return true;
}

/* Does everybody in `chosen` hear the seat, and it them? */
static bool fits(const struct ring_heard *seats, uint64_t chosen, uint32_t seat)
{
    if ((seats[seat].hears & chosen) != chosen)
        return false;
    for (uint32_t i = 0; i < PEERS_MAX; i++)
        if ((chosen >> i & 1) != 0 && (seats[i].hears >> seat & 1) == 0)
            return false;
    return true;
}

/* The lowest name of a set; there is one. */
static uint32_t lowest(const struct ring_heard *seats, uint64_t set)
{
    uint32_t best = PEERS_MAX;

    for (uint32_t i = 0; i < PEERS_MAX; i++)
        if ((set >> i & 1) != 0 &&
            (best == PEERS_MAX || strcmp(seats[i].name, seats[best].name) < 0))
            best = i;
    CHECK(best < PEERS_MAX);
    return best;
}

static uint64_t add_fitting(const struct ring_heard *seats, uint64_t chosen,
                            uint64_t from)
{
    while (from != 0) {
        const uint32_t seat = lowest(seats, from);

        from &= ~SEAT(seat);
        if (fits(seats, chosen, seat))
            chosen |= SEAT(seat);
    }
    return chosen;
}

uint64_t council_choose(const struct ring_heard *seats, uint32_t count,
                        uint64_t heard)
{
    uint64_t may = 0;
    uint64_t chosen;

    for (uint32_t i = 1; i < count; i++) {
        if ((heard >> i & 1) == 0)
            continue;
        if (is_with(seats, i) ||
            strcmp(seats[0].name, seats[i].view.proposer) < 0)
            may |= SEAT(i);
    }
    chosen = add_fitting(seats, SEAT(0), may & seats[0].members);
    return add_fitting(seats, chosen, may & ~seats[0].members & ~chosen);
}

void ring_view_order(struct ring_view *view, const struct ring_heard *seats,
                     uint32_t count)
{
    uint64_t left = view->members;
    uint64_t key = quick_u64(&view->name.number, sizeof view->name.number,
                             view->name.incarnation);

    CHECK((left & SEAT(0)) != 0);
    CHECK(count == PEERS_MAX || left < SEAT(count));
    key = quick_u64(view->name.proposer, strlen(view->name.proposer), key);
    view->count = 0;
    while (left != 0) {
        const uint32_t seat = lowest(seats, left);
        const char *name = seats[seat].name;

        left &= ~SEAT(seat);
        if (seat == 0)
            view->self = view->count;
        view->seat[view->count++] = seat;
        key = quick_u64(name, strlen(name) + 1, key);
    }
    view->key = key;
}

/* How far those get who have this chunk; `at`: nobody has it. */
static uint32_t furthest(const uint32_t *first, const uint32_t *end,
                         uint32_t count, uint32_t at)
{
    uint32_t most = at;

    for (uint32_t i = 0; i < count; i++)
        if (first[i] <= at && end[i] > most)
            most = end[i];
    return most;
}

/* Those who have all of it get even parts of it. */
static void deal(uint32_t *first, uint32_t *end, uint32_t count, uint32_t from,
                 uint32_t to, bool *dealt)
{
    const uint64_t chunks = to - from;
    uint32_t sharers = 0;
    uint32_t part = 0;

    for (uint32_t i = 0; i < count; i++)
        sharers += !dealt[i] && first[i] <= from && end[i] == to;
    CHECK(sharers > 0);
    for (uint32_t i = 0; i < count; i++) {
        if (dealt[i] || first[i] > from || end[i] != to)
            continue;
        first[i] = from + (uint32_t)(chunks * part / sharers);
        end[i] = from + (uint32_t)(chunks * (part + 1) / sharers);
        if (BUG(BUG_RING_OVERLAP) && end[i] < to)
            end[i]++;
        dealt[i] = true;
        part++;
    }
}

/* From chunk to chunk, always with those who get furthest: whatever can be
 * covered is, and each needs but one stretch for it. */
uint32_t ring_split(uint32_t *first, uint32_t *end, uint32_t count,
                    uint32_t chunks)
{
    uint32_t can_first[PEERS_MAX], can_end[PEERS_MAX];
    bool dealt[PEERS_MAX] = {false};
    uint32_t at = 0;

    CHECK(count <= PEERS_MAX);
    memcpy(can_first, first, count * sizeof *first);
    memcpy(can_end, end, count * sizeof *end);
    while (at < chunks) {
        const uint32_t to = furthest(can_first, can_end, count, at);

        if (to == at)
            break;
        deal(first, end, count, at, to, dealt);
        at = to;
    }
    for (uint32_t i = 0; i < count; i++)
        if (!dealt[i])
            first[i] = end[i] = 0; /* Others compute what it has. */
    return at;
}
