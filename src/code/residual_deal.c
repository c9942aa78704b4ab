/*
 * residual_deal.c - whole pieces: every lot's are dealt so that the totals of
 * its members stay near those of the parts, then the last to be done is
 * relieved as long as somebody else is done earlier.
 */
#include <math.h>
#include <string.h>

#include "code/residual_room.h"

static bool ranks_before(struct rank a, struct rank b)
{
    return a.key < b.key || (a.key == b.key && a.share < b.share);
}

static void swap_ranks(struct rank *rank, uint32_t i, uint32_t j)
{
    const struct rank kept = rank[i];

    rank[i] = rank[j];
    rank[j] = kept;
}

/* The `want` least of the ranks come first. */
static void select_least(struct rank *rank, uint32_t count, uint32_t want)
{
    uint32_t low = 0;
    uint32_t high = count;

    while (high - low > 1 && want > low && want < high) {
        uint32_t pivot = low;

        swap_ranks(rank, low + (high - low) / 2, high - 1);
        for (uint32_t i = low; i + 1 < high; i++) {
            if (ranks_before(rank[i], rank[high - 1]))
                swap_ranks(rank, i, pivot++);
        }
        swap_ranks(rank, pivot, high - 1);
        if (pivot < want)
            low = pivot + 1;
        else
            high = pivot;
    }
}

/* Give (sign 1) or take (-1) one piece of each of `some` members: to whom it
 * makes least late, from whom it makes most early.  Returns how many could. */
static uint32_t adjust(struct residual_room *room, const struct lot *lot,
                       int sign, uint32_t some)
{
    struct share *share = room->share + lot->share;
    uint32_t count = 0;

    for (uint32_t k = 0; k < lot->count; k++) {
        const uint32_t i = share[k].member;
        const double late =
            share[k].whole + 0.5 * (1 + sign) - share[k].part - room->carry[i];

        if (sign > 0 ? share[k].whole == lot->size : share[k].whole == 0)
            continue;
        room->rank[count++] = (struct rank){
            .key = sign * (room->finish[i] + late / room->speed[i]),
            .share = k,
        };
    }
    some = some < count ? some : count;
    select_least(room->rank, count, some);
    for (uint32_t r = 0; r < some; r++)
        share[room->rank[r].share].whole += (uint32_t)sign;
    return some;
}

/* Whole pieces, such that every member's total stays near its parts'. */
static void deal_lot(struct residual_room *room, const struct lot *lot)
{
    struct share *share = room->share + lot->share;
    const uint64_t total = (uint64_t)lot->need * lot->size;
    uint64_t dealt = 0;

    for (uint32_t k = 0; k < lot->count; k++) {
        const double want =
            floor(share[k].part + room->carry[share[k].member] + 1e-4);

        share[k].whole = (uint32_t)fmin(fmax(want, 0), lot->size);
        dealt += share[k].whole;
    }
    while (dealt < total)
        dealt += adjust(room, lot, 1, (uint32_t)(total - dealt));
    while (dealt > total)
        dealt -= adjust(room, lot, -1, (uint32_t)(dealt - total));
    for (uint32_t k = 0; k < lot->count; k++)
        room->carry[share[k].member] += share[k].part - share[k].whole;
}

/* From whole pieces, without what rounding left of the parts. */
static void set_finishes(struct residual_room *room)
{
    memset(room->carry, 0, room->task->count * sizeof *room->carry);
    for (uint32_t l = 0; l < room->lot_count; l++) {
        const struct share *share = room->share + room->lots[l].share;

        for (uint32_t k = 0; k < room->lots[l].count; k++)
            room->carry[share[k].member] += share[k].whole;
    }
    for (uint32_t i = 0; i < room->task->count; i++)
        room->finish[i] =
            residual_member(room, i)->free_s + room->carry[i] / room->speed[i];
}

static void deal_lots(struct residual_room *room)
{
    memset(room->carry, 0, room->task->count * sizeof *room->carry);
    for (uint32_t l = 0; l < room->lot_count; l++)
        deal_lot(room, &room->lots[room->order[l]]);
    set_finishes(room);
}

/* The member's place among the lot's shares, or RESIDUAL_NOBODY. */
static uint32_t share_of(const struct lot *lot, uint32_t member)
{
    uint32_t before = 0;

    if (!blockset_has(&lot->who, member))
        return RESIDUAL_NOBODY;
    for (uint32_t i = 0; i < member / 64; i++)
        before += (uint32_t)__builtin_popcountll(lot->who.word[i]);
    return before +
           (uint32_t)__builtin_popcountll(lot->who.word[member / 64] &
                                          ((UINT64_C(1) << member % 64) - 1));
}

/* Hand one piece of the member to whoever is done with it first. */
static bool relieve(struct residual_room *room, uint32_t member)
{
    double best = room->finish[member];
    uint32_t from = RESIDUAL_NOBODY;
    uint32_t to = RESIDUAL_NOBODY;

    for (uint32_t l = 0; l < room->lot_count; l++) {
        const struct lot *lot = &room->lots[l];
        const uint32_t own = share_of(lot, member);

        if (own == RESIDUAL_NOBODY || room->share[lot->share + own].whole == 0)
            continue;
        for (uint32_t k = lot->share; k < lot->share + lot->count; k++) {
            const uint32_t i = room->share[k].member;
            const double ends = room->finish[i] + 1 / room->speed[i];

            if (room->share[k].whole < lot->size && ends < best) {
                best = ends;
                from = lot->share + own;
                to = k;
            }
        }
    }
    if (from == RESIDUAL_NOBODY)
        return false;
    room->share[from].whole--;
    room->share[to].whole++;
    room->finish[member] -= 1 / room->speed[member];
    room->finish[room->share[to].member] = best;
    return true;
}

/* As long as the last can be made earlier by one piece. */
static void relieve_last(struct residual_room *room)
{
    for (uint32_t move = 0; move < room->task->count; move++) {
        const uint32_t last = residual_last(room);

        if (last == RESIDUAL_NOBODY || !relieve(room, last))
            return;
    }
}

void residual_deal(struct residual_room *room)
{
    deal_lots(room);
    relieve_last(room);
}
