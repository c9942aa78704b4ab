/*
 * turns.c - members take turns: shares by speed, and sets that decode well.
 *
 * Shares are whole numbers of ticks, 2^32 to the piece, so that members of the
 * same speed stay equal to the last bit and come in the order of their slots.
 */
#include "code/turns.h"

#include <stdlib.h>

#include "base/check.h"
#include "code/erasure.h"

#define TICK      (INT64_C(1) << 32)
#define TRIES_MAX 64u /* Of other members, for one piece. */

struct turn {
    int64_t gained, share;
    double speed;
    uint32_t block;
};

struct table {
    const struct erasure *erasure;
    struct turn turns[BLOCKS_MAX];
    uint32_t count;
};

/* All end at the same time but those who do every piece: share = speed tau, 1
 * at most, L in all. */
static void set_shares(struct table *table)
{
    const uint32_t parts = table->erasure->parts;
    bool more = true;

    while (more) {
        double speeds = 0;
        uint32_t whole = 0;

        for (uint32_t i = 0; i < table->count; i++) {
            whole += table->turns[i].share == TICK;
            speeds += table->turns[i].share == TICK ? 0 : table->turns[i].speed;
        }
        more = false;
        for (uint32_t i = 0; i < table->count && whole < parts; i++) {
            struct turn *turn = &table->turns[i];
            const double share = (parts - whole) * (turn->speed / speeds);

            if (turn->share == TICK)
                continue;
            more = more || share >= 1;
            turn->share = share >= 1 ? TICK : (int64_t)(share * (double)TICK);
        }
    }
}

/* Who has gained most, and of those the lowest slot. */
static int by_turn(const void *a, const void *b)
{
    const struct turn *x = a;
    const struct turn *y = b;

    if (x->gained != y->gained)
        return x->gained < y->gained ? 1 : -1;
    return (x->block > y->block) - (x->block < y->block);
}

static double rcond_of(const struct table *table, const struct blockset *blocks)
{
    const struct erasure_set *set;

    return erasure_find(table->erasure, blocks, &set) == ERR_OK ? set->rcond
                                                                : 0;
}

static void swap(struct table *table, uint32_t i, uint32_t k)
{
    const struct turn kept = table->turns[i];

    table->turns[i] = table->turns[k];
    table->turns[k] = kept;
}

static struct blockset first_of(const struct table *table)
{
    struct blockset blocks = {0};

    for (uint32_t i = 0; i < table->erasure->parts; i++)
        blockset_add(&blocks, table->turns[i].block);
    return blocks;
}

/* The first L decode badly: one of them, of those who have gained least first,
 * gives way to one of the others.  Returns the best set that was seen, and its
 * members are the first L. */
static double mend(struct table *table, double rcond, struct blockset *blocks)
{
    const uint32_t parts = table->erasure->parts;
    double best = rcond_of(table, blocks);
    uint32_t out = 0;
    uint32_t in = 0;
    uint32_t tries = 0;

    for (uint32_t i = parts; i-- > 0;) {
        for (uint32_t k = parts;
             k < table->count && best < rcond && tries < TRIES_MAX; k++) {
            struct blockset other;
            double seen;

            tries++;
            swap(table, i, k);
            other = first_of(table);
            swap(table, i, k);
            seen = rcond_of(table, &other);
            if (seen > best) {
                best = seen;
                *blocks = other;
                out = i;
                in = k;
            }
        }
    }
    swap(table, out, in);
    return best;
}

static enum err deal_piece(struct table *table, double rcond,
                           struct blockset *set)
{
    for (uint32_t i = 0; i < table->count; i++)
        table->turns[i].gained += table->turns[i].share;
    qsort(table->turns, table->count, sizeof *table->turns, by_turn);
    *set = first_of(table);
    if (rcond_of(table, set) < rcond && !(mend(table, rcond, set) > 0))
        return ERR_UNDECODABLE;
    for (uint32_t i = 0; i < table->erasure->parts; i++)
        table->turns[i].gained -= TICK;
    return ERR_OK;
}

enum err turns_deal(const struct erasure *erasure,
                    const struct arc_member *members, uint32_t count,
                    const bool *over, uint32_t pieces, double rcond,
                    struct blockset *sets)
{
    struct table table = {.erasure = erasure, .count = count};
    enum err err = ERR_OK;

    CHECK(count <= BLOCKS_MAX);
    if (count < erasure->parts)
        return ERR_UNDECODABLE;
    for (uint32_t i = 0; i < count; i++) {
        CHECK(members[i].speed > 0);
        table.turns[i] =
            (struct turn){.speed = members[i].speed, .block = members[i].block};
    }
    set_shares(&table);
    for (uint32_t piece = 0; piece < pieces && err == ERR_OK; piece++) {
        sets[piece] = (struct blockset){0};
        if (!over[piece])
            err = deal_piece(&table, rcond, &sets[piece]);
    }
    return err;
}
