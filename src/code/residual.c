/*
 * residual.c - classes of pieces, filled up by fractions of pieces, then dealt
 * in whole ones.
 */
#include "code/residual.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

#define NOBODY    UINT32_MAX
#define PASSES    12u
#define NEAR      1e-3 /* Of the bound, or of the pass before: good enough. */
#define STEPS_MAX 100u

/* Pieces that the same members may do and that lack as many answers. */
struct lot {
    struct blockset who; /* By their places among the members. */
    uint32_t need, size;
    uint32_t count; /* Of `who`. */
    uint32_t piece; /* Where its own begin in room->piece ... */
    uint32_t share; /* ... and its members' shares in room->share. */
    double level;   /* When those end who have neither nothing nor all. */
};

/* One member's part of a lot. */
struct share {
    uint32_t member;
    uint32_t whole; /* In whole pieces. */
    double part;    /* Before they were made whole. */
};

struct rank {
    double key;
    uint32_t share;
};

struct residual_room {
    uint32_t members_max, pieces_max, slots, words;
    const struct residual_task *task;
    uint32_t *slot;   /* slots: 1 + lot, found by hash. */
    uint32_t *lot_of; /* pieces: its lot, or NOBODY. */
    struct lot *lots; /* pieces */
    uint32_t lot_count;
    uint32_t *order;     /* pieces: lots, the one with least choice first. */
    uint32_t *piece;     /* pieces, by lot. */
    struct share *share; /* members x pieces, by lot. */
    struct rank *rank;   /* members */
    uint32_t *member_of; /* BLOCKS_MAX: who holds the block, or NOBODY. */
    struct blockset all; /* Members who have every piece. */
    bool partial;        /* Others have only some. */
    double *speed;       /* members */
    double *finish;      /* members */
    double *carry;       /* members: parts less whole pieces so far; then whole
                            pieces. */
    uint64_t *takes;     /* members x words: the plan, bit by bit. */
};

static uint32_t slots_for(uint32_t pieces)
{
    uint32_t slots = 2;

    while (slots < 2 * pieces)
        slots *= 2;
    return slots;
}

static enum err room_fill(struct residual_room *room)
{
    const size_t pieces = room->pieces_max;
    const size_t members = room->members_max;

    room->slots = slots_for(room->pieces_max);
    room->words = (room->pieces_max + 63) / 64;
    room->slot = mem_new(room->slots, sizeof *room->slot);
    room->lot_of = mem_new(pieces, sizeof *room->lot_of);
    room->lots = mem_new(pieces, sizeof *room->lots);
    room->order = mem_new(pieces, sizeof *room->order);
    room->piece = mem_new(pieces, sizeof *room->piece);
    room->share = mem_new(members * pieces, sizeof *room->share);
    room->rank = mem_new(members, sizeof *room->rank);
    room->member_of = mem_new(BLOCKS_MAX, sizeof *room->member_of);
    room->speed = mem_new(members, sizeof *room->speed);
    room->finish = mem_new(members, sizeof *room->finish);
    room->carry = mem_new(members, sizeof *room->carry);
    room->takes = mem_new(members * room->words, sizeof *room->takes);
    if (room->slot == NULL || room->lot_of == NULL || room->lots == NULL ||
        room->order == NULL || room->piece == NULL || room->share == NULL ||
        room->rank == NULL || room->member_of == NULL || room->speed == NULL ||
        room->finish == NULL || room->carry == NULL || room->takes == NULL)
        return ERR_NOMEM;
    return ERR_OK;
}

enum err residual_init(struct residual *residual, uint32_t members,
                       uint32_t pieces)
{
    enum err err = ERR_NOMEM;

    CHECK(members <= BLOCKS_MAX && pieces <= ARC_PIECES_MAX);
    *residual = (struct residual){0};
    residual->first = mem_new((size_t)members + 1, sizeof *residual->first);
    residual->list = mem_new((size_t)members * pieces, sizeof *residual->list);
    residual->room = mem_new(1, sizeof *residual->room);
    if (residual->first != NULL && residual->list != NULL &&
        residual->room != NULL) {
        residual->room->members_max = members;
        residual->room->pieces_max = pieces;
        err = room_fill(residual->room);
    }
    if (err != ERR_OK)
        residual_close(residual);
    return err;
}

void residual_close(struct residual *residual)
{
    struct residual_room *room = residual->room;

    if (room != NULL) {
        mem_free(room->slot);
        mem_free(room->lot_of);
        mem_free(room->lots);
        mem_free(room->order);
        mem_free(room->piece);
        mem_free(room->share);
        mem_free(room->rank);
        mem_free(room->member_of);
        mem_free(room->speed);
        mem_free(room->finish);
        mem_free(room->carry);
        mem_free(room->takes);
    }
    mem_free(room);
    mem_free(residual->first);
    mem_free(residual->list);
    *residual = (struct residual){0};
}

static const struct arc_member *member_at(const struct residual_room *room,
                                          uint32_t member)
{
    return &room->task->members[member];
}

/* Who may do the piece; returns how many answers it lacks. */
static uint32_t look_at(const struct residual_room *room, uint32_t piece,
                        struct blockset *who)
{
    const struct residual_task *task = room->task;
    struct blockset had = task->done[piece];
    uint32_t have;

    blockset_unite(&had, &task->doing[piece]);
    have = blockset_count(&had);
    if (have >= task->cover)
        return 0;
    *who = room->all;
    for (uint32_t i = 0; i < task->count && room->partial; i++) {
        if (member_at(room, i)->ready > piece)
            blockset_add(who, i);
    }
    for (uint32_t block = blockset_next(&had, 0); block < BLOCKS_MAX;
         block = blockset_next(&had, block + 1)) {
        if (room->member_of[block] != NOBODY)
            blockset_remove(who, room->member_of[block]);
    }
    return task->cover - have;
}

static uint32_t hash_of(const struct blockset *who, uint32_t need)
{
    uint64_t hash = need;

    for (uint32_t i = 0; i < BLOCKSET_WORDS; i++)
        hash = (hash ^ who->word[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32);
}

static uint32_t find_lot(struct residual_room *room, const struct blockset *who,
                         uint32_t need)
{
    uint32_t at = hash_of(who, need) & (room->slots - 1);
    struct lot *lot;

    for (; room->slot[at] != 0; at = (at + 1) & (room->slots - 1)) {
        lot = &room->lots[room->slot[at] - 1];
        if (lot->need == need && blockset_equal(&lot->who, who))
            return room->slot[at] - 1;
    }
    room->lots[room->lot_count] =
        (struct lot){.who = *who, .need = need, .count = blockset_count(who)};
    room->slot[at] = ++room->lot_count;
    return room->lot_count - 1;
}

/* Sort the pieces into lots; returns the most members that one lacks. */
static uint32_t set_lots(struct residual_room *room)
{
    uint32_t lacking = 0;

    memset(room->slot, 0, room->slots * sizeof *room->slot);
    room->lot_count = 0;
    for (uint32_t piece = 0; piece < room->task->pieces; piece++) {
        struct blockset who;
        uint32_t need = look_at(room, piece, &who);
        const uint32_t may = need > 0 ? blockset_count(&who) : 0;

        if (need > may) {
            lacking = need - may > lacking ? need - may : lacking;
            need = may;
        }
        room->lot_of[piece] = need > 0 ? find_lot(room, &who, need) : NOBODY;
        if (need > 0)
            room->lots[room->lot_of[piece]].size++;
    }
    return lacking;
}

static void list_lot(struct residual_room *room, struct lot *lot)
{
    uint32_t at = lot->share;

    for (uint32_t i = blockset_next(&lot->who, 0); i < BLOCKS_MAX;
         i = blockset_next(&lot->who, i + 1))
        room->share[at++] = (struct share){.member = i};
}

/* Lots are numbered by their first piece. */
static void list_lots(struct residual_room *room)
{
    uint32_t piece = 0;
    uint32_t share = 0;

    for (uint32_t l = 0; l < room->lot_count; l++) {
        struct lot *lot = &room->lots[l];

        lot->piece = piece;
        lot->share = share;
        piece += lot->size;
        share += lot->count;
        list_lot(room, lot);
        lot->size = 0; /* Counted again below. */
    }
    for (uint32_t p = 0; p < room->task->pieces; p++) {
        struct lot *lot;

        if (room->lot_of[p] == NOBODY)
            continue;
        lot = &room->lots[room->lot_of[p]];
        room->piece[lot->piece + lot->size++] = p;
    }
}

/* By slack, a counting sort. */
static void order_lots(struct residual_room *room)
{
    uint32_t at = 0;
    uint32_t next = 0;

    while (at < room->lot_count) {
        const uint32_t slack = next;

        next = NOBODY;
        for (uint32_t l = 0; l < room->lot_count; l++) {
            const uint32_t own = room->lots[l].count - room->lots[l].need;

            if (own == slack)
                room->order[at++] = l;
            else if (own > slack && own < next)
                next = own;
        }
    }
}

/* The time by which members who begin at their `finish` have done `total`
 * pieces, none more than `most`: a line of pieces, by Newton's method between
 * bounds.  `guess` is where to begin. */
static double level_of(const struct residual_room *room,
                       const struct share *share, uint32_t count, double most,
                       double total, double guess)
{
    double low = 0;
    double high = HUGE_VAL;
    double level = guess;

    for (uint32_t step = 0; step < STEPS_MAX; step++) {
        double sum = 0;
        double slope = 0;

        for (uint32_t k = 0; k < count; k++) {
            const double speed = room->speed[share[k].member];
            const double does = speed * (level - room->finish[share[k].member]);

            slope += does > 0 && does < most ? speed : 0;
            sum += does <= 0 ? 0 : does < most ? does : most;
        }
        if (fabs(sum - total) <= 1e-7 * total)
            break;
        if (sum < total)
            low = level;
        else
            high = level;
        level = slope > 0 ? level + (total - sum) / slope : 0;
        if (!(level > low && level < high)) /* Flat there, or too far. */
            level = high < HUGE_VAL ? low + (high - low) / 2 : 2 * low + 1e-9;
    }
    return level;
}

/* Give the lot's pieces, in fractions, on top of what its members have. */
static void fill_lot(struct residual_room *room, struct lot *lot)
{
    struct share *share = room->share + lot->share;
    const double size = lot->size;

    if (lot->need < lot->count)
        lot->level = level_of(room, share, lot->count, size, lot->need * size,
                              lot->level);
    for (uint32_t k = 0; k < lot->count; k++) {
        const double speed = room->speed[share[k].member];
        double *finish = &room->finish[share[k].member];

        share[k].part = size;
        if (lot->need < lot->count)
            share[k].part = speed * (lot->level - *finish);
        share[k].part = share[k].part > 0 ? share[k].part : 0;
        share[k].part = share[k].part < size ? share[k].part : size;
        *finish += share[k].part / speed;
    }
}

static void take_back(struct residual_room *room, const struct lot *lot)
{
    const struct share *share = room->share + lot->share;

    for (uint32_t k = 0; k < lot->count; k++)
        room->finish[share[k].member] -=
            share[k].part / room->speed[share[k].member];
}

/* Of those who are given something, the last. */
static uint32_t last_of(const struct residual_room *room)
{
    uint32_t last = NOBODY;

    for (uint32_t i = 0; i < room->task->count; i++) {
        if (room->finish[i] > member_at(room, i)->free_s &&
            (last == NOBODY || room->finish[i] > room->finish[last]))
            last = i;
    }
    return last;
}

static double set_bound(struct residual_room *room)
{
    double total = 0;

    for (uint32_t l = 0; l < room->lot_count; l++)
        total += (double)room->lots[l].need * room->lots[l].size;
    for (uint32_t i = 0; i < room->task->count; i++)
        room->share[i].member = i; /* Lent: the lots' are listed later. */
    return total > 0 ? level_of(room, room->share, room->task->count,
                                room->task->pieces, total, 0)
                     : 0;
}

static void fill_lots(struct residual_room *room, double bound)
{
    double before = HUGE_VAL;

    for (uint32_t pass = 0; pass < PASSES && room->lot_count > 0; pass++) {
        uint32_t last;
        double end;

        for (uint32_t l = 0; l < room->lot_count; l++) {
            struct lot *lot = &room->lots[room->order[l]];

            if (pass > 0 && lot->need == lot->count)
                continue;
            if (pass > 0)
                take_back(room, lot);
            else
                lot->level = bound;
            fill_lot(room, lot);
        }
        last = last_of(room);
        end = room->finish[last];
        /* Whole pieces lose what is gained below a quarter of one. */
        if (end - bound <= NEAR * bound + .25 / room->speed[last] ||
            end >= before * (1 - NEAR))
            return;
        before = end;
    }
}

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
            member_at(room, i)->free_s + room->carry[i] / room->speed[i];
}

static void deal_lots(struct residual_room *room)
{
    memset(room->carry, 0, room->task->count * sizeof *room->carry);
    for (uint32_t l = 0; l < room->lot_count; l++)
        deal_lot(room, &room->lots[room->order[l]]);
    set_finishes(room);
}

/* The member's place among the lot's shares, or NOBODY. */
static uint32_t share_of(const struct lot *lot, uint32_t member)
{
    uint32_t before = 0;

    if (!blockset_has(&lot->who, member))
        return NOBODY;
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
    uint32_t from = NOBODY;
    uint32_t to = NOBODY;

    for (uint32_t l = 0; l < room->lot_count; l++) {
        const struct lot *lot = &room->lots[l];
        const uint32_t own = share_of(lot, member);

        if (own == NOBODY || room->share[lot->share + own].whole == 0)
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
    if (from == NOBODY)
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
        const uint32_t last = last_of(room);

        if (last == NOBODY || !relieve(room, last))
            return;
    }
}

static uint64_t *takes_of(const struct residual_room *room, uint32_t member)
{
    return room->takes + (size_t)member * room->words;
}

static bool takes(const struct residual_room *room, uint32_t member,
                  uint32_t piece)
{
    return takes_of(room, member)[piece / 64] >> piece % 64 & 1;
}

/* Does the share go on with a run from the lot before? */
static bool goes_on(const struct residual_room *room, const struct lot *lot,
                    const struct share *share)
{
    const uint32_t piece = room->piece[lot->piece];

    return member_at(room, share->member)->next == piece ||
           (piece > 0 && takes(room, share->member, piece - 1));
}

/* From place `at` on and around; returns where it ends. */
static uint32_t lay_share(struct residual_room *room, const struct lot *lot,
                          const struct share *share, uint32_t at)
{
    const uint32_t *piece = room->piece + lot->piece;
    uint64_t *bits = takes_of(room, share->member);

    for (uint32_t c = 0; c < share->whole; c++) {
        bits[piece[at] / 64] |= UINT64_C(1) << piece[at] % 64;
        at = at + 1 < lot->size ? at + 1 : 0;
    }
    return at;
}

/* End to end around the pieces of the lot, runs that go on first. */
static void lay_lot(struct residual_room *room, const struct lot *lot)
{
    const struct share *share = room->share + lot->share;
    uint32_t at = 0;

    for (int late = 0; late < 2; late++) {
        for (uint32_t k = 0; k < lot->count; k++) {
            if (goes_on(room, lot, &share[k]) == !late)
                at = lay_share(room, lot, &share[k], at);
        }
    }
    CHECK(at == 0);
}

static uint32_t emit(const struct residual_room *room, uint32_t member,
                     uint32_t first, uint32_t end, uint32_t *list)
{
    uint32_t count = 0;

    for (uint32_t piece = first; piece < end; piece++) {
        const uint64_t left = takes_of(room, member)[piece / 64] >> piece % 64;

        piece =
            left == 0 ? piece | 63 : piece + (uint32_t)__builtin_ctzll(left);
        if (left != 0 && piece < end)
            list[count++] = piece;
    }
    return count;
}

static void lay_lots(struct residual *residual)
{
    struct residual_room *room = residual->room;
    const struct residual_task *task = room->task;
    uint32_t at = 0;

    memset(room->takes, 0,
           (size_t)task->count * room->words * sizeof *room->takes);
    for (uint32_t l = 0; l < room->lot_count; l++)
        lay_lot(room, &room->lots[l]);
    for (uint32_t i = 0; i < task->count; i++) {
        const uint32_t next = member_at(room, i)->next % task->pieces;

        residual->first[i] = at;
        at += emit(room, i, next, task->pieces, residual->list + at);
        at += emit(room, i, 0, next, residual->list + at);
    }
    residual->first[task->count] = at;
}

static void take_member(struct residual_room *room, uint32_t i)
{
    const struct arc_member *member = member_at(room, i);

    CHECK(member->block < BLOCKS_MAX);
    CHECK(room->member_of[member->block] == NOBODY);
    CHECK(member->speed > 0 && isfinite(room->task->pieces / member->speed));
    CHECK(member->free_s >= 0 && isfinite(member->free_s));
    room->member_of[member->block] = i;
    room->speed[i] = member->speed;
    room->finish[i] = member->free_s;
    if (member->ready >= room->task->pieces)
        blockset_add(&room->all, i);
    else
        room->partial = true;
}

static void take_task(struct residual_room *room,
                      const struct residual_task *task)
{
    CHECK(task->count <= room->members_max);
    CHECK(task->pieces > 0 && task->pieces <= room->pieces_max);
    room->task = task;
    room->all = (struct blockset){0};
    room->partial = false;
    for (uint32_t block = 0; block < BLOCKS_MAX; block++)
        room->member_of[block] = NOBODY;
    for (uint32_t i = 0; i < task->count; i++)
        take_member(room, i);
}

void residual_plan(struct residual *residual, const struct residual_task *task)
{
    struct residual_room *room = residual->room;

    take_task(room, task);
    residual->lacking = set_lots(room);
    residual->bound_s = set_bound(room);
    list_lots(room);
    order_lots(room);
    fill_lots(room, residual->bound_s);
    deal_lots(room);
    relieve_last(room);
    lay_lots(residual);
    residual->finish_s = 0;
    for (uint32_t i = 0; i < task->count; i++) {
        if (residual->first[i + 1] > residual->first[i])
            residual->finish_s = fmax(residual->finish_s, room->finish[i]);
    }
    room->task = NULL;
}
