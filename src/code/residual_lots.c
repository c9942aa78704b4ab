/*
 * residual_lots.c - pieces that the same members may do and that lack as many
 * answers, found by hash.
 */
#include <string.h>

#include "code/residual_room.h"

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
        if (residual_member(room, i)->ready > piece)
            blockset_add(who, i);
    }
    for (uint32_t block = blockset_next(&had, 0); block < BLOCKS_MAX;
         block = blockset_next(&had, block + 1)) {
        if (room->member_of[block] != RESIDUAL_NOBODY)
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

uint32_t residual_sort(struct residual_room *room)
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
        room->lot_of[piece] =
            need > 0 ? find_lot(room, &who, need) : RESIDUAL_NOBODY;
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

        if (room->lot_of[p] == RESIDUAL_NOBODY)
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

        next = UINT32_MAX;
        for (uint32_t l = 0; l < room->lot_count; l++) {
            const uint32_t own = room->lots[l].count - room->lots[l].need;

            if (own == slack)
                room->order[at++] = l;
            else if (own > slack && own < next)
                next = own;
        }
    }
}

void residual_list(struct residual_room *room)
{
    list_lots(room);
    order_lots(room);
}
