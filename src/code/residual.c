/*
 * residual.c - fills the lots (residual.h) in fractions of pieces, as water
 * does joined basins: each lot raises those of its members who end first to one
 * level.  set_bound is the level if everybody could take any piece, which no
 * plan can beat.  residual_deal.c makes whole pieces of the fractions.
 */
#include "code/residual.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "code/residual_room.h"

#define PASSES    12u
#define NEAR      1e-3 /* Of the bound, or of the pass before: good enough. */
#define STEPS_MAX 100u

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

uint32_t residual_last(const struct residual_room *room)
{
    uint32_t last = RESIDUAL_NOBODY;

    for (uint32_t i = 0; i < room->task->count; i++) {
        if (room->finish[i] > residual_member(room, i)->free_s &&
            (last == RESIDUAL_NOBODY || room->finish[i] > room->finish[last]))
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
        last = residual_last(room);
        end = room->finish[last];
        /* Whole pieces lose what is gained below a quarter of one. */
        if (end - bound <= NEAR * bound + .25 / room->speed[last] ||
            end >= before * (1 - NEAR))
            return;
        before = end;
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

    return residual_member(room, share->member)->next == piece ||
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
        const uint32_t next = residual_member(room, i)->next % task->pieces;

        residual->first[i] = at;
        at += emit(room, i, next, task->pieces, residual->list + at);
        at += emit(room, i, 0, next, residual->list + at);
    }
    residual->first[task->count] = at;
}

static void take_member(struct residual_room *room, uint32_t i)
{
    const struct arc_member *member = residual_member(room, i);

    CHECK(member->block < BLOCKS_MAX);
    CHECK(room->member_of[member->block] == RESIDUAL_NOBODY);
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
        room->member_of[block] = RESIDUAL_NOBODY;
    for (uint32_t i = 0; i < task->count; i++)
        take_member(room, i);
}

void residual_plan(struct residual *residual, const struct residual_task *task)
{
    struct residual_room *room = residual->room;

    take_task(room, task);
    residual->lacking = residual_sort(room);
    residual->bound_s = set_bound(room);
    residual_list(room);
    fill_lots(room, residual->bound_s);
    residual_deal(room);
    lay_lots(residual);
    residual->finish_s = 0;
    for (uint32_t i = 0; i < task->count; i++) {
        if (residual->first[i + 1] > residual->first[i])
            residual->finish_s = fmax(residual->finish_s, room->finish[i]);
    }
    room->task = NULL;
}
