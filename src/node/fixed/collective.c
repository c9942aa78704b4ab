/*
 * collective.c - the collective of one, and what is made of sums: one outcome
 * for all ranks, and bytes of rank 0 for all.
 */
#include "node/fixed/collective.h"

#include <string.h>

#include "base/check.h"

#define RANK_BITS   32
#define SHARE_WORDS 4096u /* Of a stack that may be small. */

static uint32_t first(void *context)
{
    (void)context;
    return 0;
}

static uint32_t one(void *context)
{
    (void)context;
    return 1;
}

struct collective collective_alone(void)
{
    static const struct collective_ops ops = {.rank = first, .size = one};

    return (struct collective){&ops, NULL};
}

uint32_t collective_rank(const struct collective *ranks)
{
    return ranks->ops->rank(ranks->context);
}

uint32_t collective_size(const struct collective *ranks)
{
    return ranks->ops->size(ranks->context);
}

static enum err sum(const struct collective *ranks, int64_t *sums, size_t count)
{
    return collective_size(ranks) == 1
               ? ERR_OK
               : ranks->ops->sum(ranks->context, sums, count);
}

/* Of those who stand, the lowest stays: bit by bit, from the highest, whoever
 * has a 0 there sends those away who have a 1. */
static enum err elect(const struct collective *ranks, bool *stands)
{
    const uint32_t rank = collective_rank(ranks);
    enum err err = ERR_OK;

    for (int bit = RANK_BITS - 1; bit >= 0 && err == ERR_OK; bit--) {
        const bool high = (rank >> bit & 1) != 0;
        int64_t low = *stands && !high;

        if ((collective_size(ranks) - 1) >> bit == 0)
            continue; /* Nobody has a 1. */
        err = sum(ranks, &low, 1);
        *stands = *stands && (low == 0 || !high);
    }
    return err;
}

/* What the one who speaks has, in all: number, error, sentence. */
static enum err tell(const struct collective *ranks, bool speaks, enum err *err,
                     struct why *why)
{
    int64_t words[2 + WHY_SIZE / sizeof(int64_t)] = {0};
    enum err summed;

    if (speaks) {
        words[0] = collective_rank(ranks);
        words[1] = *err;
        if (why != NULL)
            memcpy(words + 2, why->text, WHY_SIZE);
    }
    summed = sum(ranks, words, sizeof words / sizeof *words);
    if (summed != ERR_OK)
        return summed;
    *err = (enum err)words[1];
    if (why == NULL)
        return ERR_OK;
    memcpy(why->text, words + 2, WHY_SIZE);
    if (words[0] > 0 && why->text[0] != '\0')
        (void)why_in(why, *err, "rank %u", (uint32_t)words[0]);
    return ERR_OK;
}

enum err collective_agree(const struct collective *ranks, enum err err,
                          struct why *why)
{
    int64_t troubled = err != ERR_OK;
    bool speaks = err != ERR_OK;
    enum err summed;

    if (collective_size(ranks) == 1)
        return err;
    summed = sum(ranks, &troubled, 1);
    if (summed == ERR_OK && troubled == 0)
        return ERR_OK;
    if (summed == ERR_OK)
        summed = elect(ranks, &speaks);
    if (summed == ERR_OK)
        summed = tell(ranks, speaks, &err, why);
    CHECK(summed != ERR_OK || err != ERR_OK);
    return summed == ERR_OK ? err
                            : why_set(why, summed, "another rank is gone");
}

enum err collective_share(const struct collective *ranks, void *bytes,
                          size_t size)
{
    const bool has = collective_rank(ranks) == 0;
    uint8_t *const to = bytes;
    enum err err = ERR_OK;

    for (size_t at = 0; at < size && err == ERR_OK;) {
        int64_t block[SHARE_WORDS] = {0};
        const size_t left = size - at;
        const size_t some = left < sizeof block ? left : sizeof block;

        if (has)
            memcpy(block, to + at, some);
        err = sum(ranks, block, (some + sizeof *block - 1) / sizeof *block);
        if (err == ERR_OK)
            memcpy(to + at, block, some);
        at += some;
    }
    return err;
}
