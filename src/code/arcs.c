/*
 * arcs.c - arcs on a circle of pieces, by the wrap-around and the cyclic rule.
 *
 * Lengths are counted in ticks, 2^32 to the piece, so that sums are exact: an
 * arc of the whole circle begins and ends at the same rounded piece, and the
 * last arc ends where the L-th turn does.  Not the lengths are rounded to
 * pieces but the places where arcs meet.
 */
#include "code/arcs.h"

#include <math.h>

#include "base/check.h"

#define TICK      (UINT64_C(1) << 32)
#define HALF_TICK (TICK / 2)
#define HALVINGS  200u

struct circle {
    const struct arc_member *members;
    uint32_t count;
    uint32_t pieces;
    uint32_t partial; /* The first so many of `order` lack pieces. */
    uint32_t order[BLOCKS_MAX];
    uint64_t length[BLOCKS_MAX]; /* In ticks, of order[i]. */
};

static bool is_whole(const struct circle *circle, uint32_t member)
{
    return circle->members[member].ready >= circle->pieces;
}

/* Those who lack pieces come first, the one that lacks most before all: each
 * begins where the one before it ends. */
static void set_order(struct circle *circle)
{
    uint32_t whole;

    circle->partial = 0;
    for (uint32_t i = 0; i < circle->count; i++) {
        uint32_t at = circle->partial;

        if (is_whole(circle, i))
            continue;
        for (; at > 0 && circle->members[circle->order[at - 1]].ready >
                             circle->members[i].ready;
             at--)
            circle->order[at] = circle->order[at - 1];
        circle->order[at] = i;
        circle->partial++;
    }
    whole = circle->partial;
    for (uint32_t i = 0; i < circle->count; i++) {
        if (is_whole(circle, i))
            circle->order[whole++] = i;
    }
}

/* What member order[i] does by time `tau`, if its arc begins at `at`. */
static uint64_t length_at(const struct circle *circle, uint32_t i, double tau,
                          uint64_t at)
{
    const struct arc_member *member = &circle->members[circle->order[i]];
    const uint64_t end =
        i < circle->partial ? member->ready * TICK : circle->pieces * TICK;
    const uint64_t most = i >= circle->partial ? end : end > at ? end - at : 0;
    const double does = member->speed * tau;

    if (!(does < circle->pieces))
        return most;
    return does * (double)TICK < (double)most ? (uint64_t)(does * (double)TICK)
                                              : most;
}

/* The sum grows with tau, also where the room of one depends on how far the one
 * before it came: the place where each ends does. */
static uint64_t reach(struct circle *circle, double tau)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < circle->count; i++) {
        circle->length[i] = length_at(circle, i, tau, at);
        at += circle->length[i];
    }
    return at;
}

/* The least time by which all come to `turns` turns. */
static void fill(struct circle *circle, uint64_t turns)
{
    const uint64_t all = turns * circle->pieces * TICK;
    double slowest = HUGE_VAL;
    double low = 0;
    double high;
    uint64_t spare;

    for (uint32_t i = 0; i < circle->count; i++)
        slowest = fmin(slowest, circle->members[i].speed);
    high = 2 * circle->pieces / slowest; /* All have done all by half of it. */
    for (uint32_t i = 0; i < HALVINGS; i++) {
        const double middle = low + (high - low) / 2;

        if (!(middle > low && middle < high))
            break;
        if (reach(circle, middle) >= all)
            high = middle;
        else
            low = middle;
    }
    spare = reach(circle, high) - all;
    for (uint32_t i = circle->count; i-- > circle->partial && spare > 0;) {
        const uint64_t cut =
            spare < circle->length[i] ? spare : circle->length[i];

        circle->length[i] -= cut;
        spare -= cut;
    }
    CHECK(spare == 0);
}

static void lay_wrap(struct circle *circle, uint32_t parts, struct arc *arcs)
{
    uint64_t at = 0;

    fill(circle, parts);
    for (uint32_t i = 0; i < circle->count; i++) {
        const uint64_t begin = (at + HALF_TICK) / TICK;

        at += circle->length[i];
        arcs[circle->order[i]] = (struct arc){
            .begin = (uint32_t)(begin % circle->pieces),
            .count = (uint32_t)((at + HALF_TICK) / TICK - begin),
        };
    }
}

static void lay_cyclic(const struct circle *circle, uint32_t parts,
                       struct arc *arcs)
{
    const uint64_t n = circle->count - circle->partial;

    for (uint32_t i = 0; i < circle->count; i++) {
        const uint64_t cut = i - circle->partial;
        const uint64_t begin = (2 * cut * circle->pieces + n) / (2 * n);
        const uint64_t end = (2 * (cut + parts) * circle->pieces + n) / (2 * n);

        arcs[circle->order[i]] = (struct arc){0};
        if (i >= circle->partial)
            arcs[circle->order[i]] = (struct arc){
                .begin = (uint32_t)(begin % circle->pieces),
                .count = (uint32_t)(end - begin),
            };
    }
}

enum err arcs_lay(enum arc_rule rule, const struct arc_member *members,
                  uint32_t count, uint32_t parts, uint32_t pieces,
                  struct arc *arcs)
{
    struct circle circle = {
        .members = members, .count = count, .pieces = pieces};

    CHECK(count <= BLOCKS_MAX && pieces > 0 && pieces <= ARC_PIECES_MAX);
    for (uint32_t i = 0; i < count; i++)
        CHECK(members[i].speed > 0 && isfinite(2 * pieces / members[i].speed));
    set_order(&circle);
    if (parts == 0 || count - circle.partial < parts)
        return ERR_UNDECODABLE;
    if (rule == ARC_CYCLIC)
        lay_cyclic(&circle, parts, arcs);
    else
        lay_wrap(&circle, parts, arcs);
    return ERR_OK;
}

void arcs_set(const struct arc_member *members, const struct arc *arcs,
              uint32_t count, uint32_t pieces, uint32_t piece,
              struct blockset *set)
{
    *set = (struct blockset){0};
    for (uint32_t i = 0; i < count; i++) {
        if (arc_has(arcs[i], pieces, piece))
            blockset_add(set, members[i].block);
    }
}

uint32_t arcs_turn(const struct arc *arcs, uint32_t count, uint32_t pieces,
                   uint32_t piece)
{
    uint32_t next = pieces;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t end = (arcs[i].begin + arcs[i].count) % pieces;

        if (arcs[i].begin > piece && arcs[i].begin < next)
            next = arcs[i].begin;
        if (end > piece && end < next)
            next = end;
    }
    return next;
}
