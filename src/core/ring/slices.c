/*
 * slices.c - parts of a tally come in, totals go out.
 */
#include "core/ring/slices.h"

#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "base/mem.h"

#define SOME_SUMS (16 * PACK_BLOCK)

enum err exchange_init(struct exchange *x, uint32_t dims_max, uint32_t segment)
{
    *x = (struct exchange){.segments_max = dims_max / segment + 1};
    x->in = mem_new(x->segments_max, sizeof *x->in);
    if (x->in == NULL)
        return ERR_NOMEM;
    return tally_init(&x->total, dims_max, 1);
}

void exchange_close(struct exchange *x)
{
    mem_free(x->in);
    tally_close(&x->total);
    *x = (struct exchange){0};
}

void exchange_blank(struct exchange *x)
{
    x->open = false;
    x->parts = x->ended = 0;
    x->flags = 0;
    memset(x->in, 0, x->segments_max * sizeof *x->in);
    memset(x->got, 0, sizeof x->got);
    x->total.loss = 0;
}

/* --- who adds up what ----------------------------------------------------- */

bool slice_whole(const struct slice_shape *shape)
{
    return shape->dims <= shape->small || shape->ranks == 1;
}

/* On whole blocks of the packing, so that no slice packs worse than another. */
static uint32_t cut(const struct slice_shape *shape, uint32_t rank)
{
    const uint64_t at = (uint64_t)shape->dims * rank / shape->ranks;

    return rank == shape->ranks ? shape->dims
                                : (uint32_t)(at - at % PACK_BLOCK);
}

struct slice_range slice_of(const struct slice_shape *shape, uint32_t rank)
{
    if (slice_whole(shape))
        return (struct slice_range){0, shape->dims};
    return (struct slice_range){cut(shape, rank), cut(shape, rank + 1)};
}

uint32_t exchange_segments(const struct slice_shape *shape)
{
    const struct slice_range own = slice_of(shape, shape->self);
    const uint32_t count = own.end - own.at;

    return count == 0 ? 1 : (count + shape->segment - 1) / shape->segment;
}

/* Of the slice of `rank`. */
static struct slice_range segment_of(const struct slice_shape *shape,
                                     uint32_t rank, uint32_t number)
{
    const struct slice_range slice = slice_of(shape, rank);
    const uint32_t at = slice.at + number * shape->segment;
    const uint32_t end = at + shape->segment;

    return (struct slice_range){at, end < slice.end ? end : slice.end};
}

struct slice_range exchange_segment(const struct slice_shape *shape,
                                    uint32_t number)
{
    return segment_of(shape, shape->self, number);
}

static uint64_t all_ranks(const struct slice_shape *shape)
{
    return shape->ranks == 64 ? UINT64_MAX : (UINT64_C(1) << shape->ranks) - 1;
}

bool exchange_ready(const struct exchange *x, const struct slice_shape *shape,
                    uint32_t number)
{
    return x->in[number] == all_ranks(shape);
}

bool exchange_complete(const struct exchange *x,
                       const struct slice_shape *shape)
{
    if (x->ended != all_ranks(shape))
        return false;
    for (uint32_t rank = 0; rank < shape->ranks && !slice_whole(shape);
         rank++) {
        const struct slice_range slice = slice_of(shape, rank);

        if (rank != shape->self && x->got[rank] <= slice.end - slice.at)
            return false; /* One more than its coordinates: it has ended. */
    }
    return true;
}

/* --- adding --------------------------------------------------------------- */

/* To what is there, or, if nothing is, instead of it.  False: out of bound. */
static bool add(int64_t *to, const int64_t *from, uint32_t count, bool first)
{
    const int64_t bound = INT64_C(1) << TALLY_BITS;
    bool good = true;

    for (uint32_t j = 0; j < count; j++) {
        const int64_t had = first ? 0 : to[j];
        int64_t sum;

        good &= from[j] > -bound && from[j] < bound &&
                !__builtin_add_overflow(had, from[j], &sum) && sum > -bound &&
                sum < bound;
        if (!good)
            return false;
        to[j] = sum;
    }
    return true;
}

static bool add_packed(int64_t *to, const struct packed *packed, bool first)
{
    struct unpacking unpacking = unpack_begin(packed);
    int64_t some[SOME_SUMS];

    for (size_t at = 0; at < packed->count; at += SOME_SUMS) {
        const size_t left = packed->count - at;
        const size_t n = left < SOME_SUMS ? left : SOME_SUMS;

        if (!unpack_next(&unpacking, n, some) ||
            !add(to + at, some, (uint32_t)n, first))
            return false;
    }
    return true;
}

static bool add_message(struct exchange *x, const struct msg_slice *msg,
                        bool first)
{
    int64_t *const to = x->total.sum + msg->at;

    return msg->sum != NULL ? add(to, msg->sum, msg->count, first)
                            : add_packed(to, &msg->packed, first);
}

/* The zeros that nobody wrote. */
static void clear_untouched(struct exchange *x, const struct slice_shape *shape,
                            uint32_t number)
{
    const struct slice_range segment = exchange_segment(shape, number);

    if (x->in[number] == 0)
        memset(x->total.sum + segment.at, 0,
               (segment.end - segment.at) * sizeof *x->total.sum);
}

/* --- parts ---------------------------------------------------------------- */

static bool take_loss(struct exchange *x, tally_loss loss)
{
    if (!tally_loss_in_bound(loss) ||
        !tally_loss_in_bound(x->total.loss + loss))
        return false;
    x->total.loss += loss;
    return true;
}

static void note_ended(struct exchange *x, const struct slice_shape *shape,
                       uint32_t rank)
{
    for (uint32_t i = 0; i < exchange_segments(shape); i++)
        if ((x->in[i] >> rank & 1) == 0)
            return;
    x->ended |= UINT64_C(1) << rank;
}

/* A part without sums: all segments of it are in. */
static enum slice_fate
take_empty(struct exchange *x, const struct slice_shape *shape, uint32_t rank)
{
    const uint64_t bit = UINT64_C(1) << rank;

    if ((x->parts & bit) != 0)
        return SLICE_TWICE;
    for (uint32_t i = 0; i < exchange_segments(shape); i++) {
        clear_untouched(x, shape, i);
        x->in[i] |= bit;
    }
    return SLICE_COUNTED;
}

static enum slice_fate take_segment(struct exchange *x,
                                    const struct slice_shape *shape,
                                    uint32_t rank, const struct msg_slice *msg,
                                    struct slice_range *done)
{
    const uint32_t from = slice_of(shape, shape->self).at;
    const uint32_t number =
        msg->at < from ? UINT32_MAX : (msg->at - from) / shape->segment;
    const uint64_t bit = UINT64_C(1) << rank;
    struct slice_range segment;

    if (number >= exchange_segments(shape))
        return SLICE_BAD;
    segment = exchange_segment(shape, number);
    if (segment.at != msg->at || segment.end - segment.at != msg->count)
        return SLICE_BAD;
    if ((x->in[number] & bit) != 0)
        return SLICE_TWICE;
    if (!add_message(x, msg, x->in[number] == 0))
        return SLICE_BAD;
    x->in[number] |= bit;
    *done = segment;
    return SLICE_COUNTED;
}

static enum slice_fate take_part(struct exchange *x,
                                 const struct slice_shape *shape,
                                 const struct ring_view *view, uint32_t rank,
                                 const struct msg_slice *msg,
                                 struct slice_range *done)
{
    const uint64_t bit = UINT64_C(1) << rank;
    enum slice_fate fate;

    /* RING-3: these chunks and no others are the sender's in this view. */
    if (msg->first != view->first[rank] || msg->end != view->end[rank])
        return SLICE_BAD;
    fate = msg->count == 0 ? take_empty(x, shape, rank)
                           : take_segment(x, shape, rank, msg, done);
    if (fate != SLICE_COUNTED)
        return fate;
    if ((x->parts & bit) == 0 && !BUG(BUG_RING_LOSS) &&
        !take_loss(x, msg->loss))
        return SLICE_BAD;
    x->parts |= bit;
    if (!BUG(BUG_RING_REFUSAL))
        x->flags |= msg->flags;
    note_ended(x, shape, rank);
    return SLICE_COUNTED;
}

/* Links keep order: totals of a slice come one segment after the other.  What
 * is counted is one more than the coordinates once it has ended. */
static enum slice_fate take_total(struct exchange *x,
                                  const struct slice_shape *shape,
                                  uint32_t rank, const struct msg_slice *msg)
{
    const struct slice_range slice = slice_of(shape, rank);
    const uint32_t count = slice.end - slice.at;

    if (slice_whole(shape))
        return SLICE_BAD;
    if (x->got[rank] > count)
        return SLICE_TWICE;
    if (msg->count > 0 &&
        (msg->at != slice.at + x->got[rank] ||
         msg->count > count - x->got[rank] || !add_message(x, msg, true)))
        return SLICE_BAD;
    if (!BUG(BUG_RING_REFUSAL))
        x->flags |= msg->flags;
    x->got[rank] += msg->count;
    if (msg->count == 0 || x->got[rank] == count)
        x->got[rank] = count + 1;
    return SLICE_COUNTED;
}

enum slice_fate exchange_take(struct exchange *x,
                              const struct slice_shape *shape,
                              const struct ring_view *view, uint32_t rank,
                              const struct msg_slice *msg,
                              struct slice_range *done)
{
    CHECK(rank < shape->ranks && rank != shape->self);
    *done = (struct slice_range){0, 0};
    if (msg->dims != shape->dims || msg->dims > x->total.dims ||
        (uint64_t)msg->at + msg->count > msg->dims)
        return SLICE_BAD;
    if (!x->open) {
        x->open = true;
        x->key = msg->key;
        x->dims = msg->dims;
    }
    return msg->total ? take_total(x, shape, rank, msg)
                      : take_part(x, shape, view, rank, msg, done);
}

/* Own sums are in bound; that all together are tally_gradient finds out. */
void exchange_give(struct exchange *x, const struct slice_shape *shape,
                   const struct round_key *key, const struct tally *own,
                   uint8_t flags)
{
    const uint64_t bit = UINT64_C(1) << shape->self;

    CHECK((x->parts & bit) == 0);
    x->open = true;
    x->key = *key;
    x->dims = shape->dims;
    x->flags |= flags;
    for (uint32_t i = 0; i < exchange_segments(shape); i++) {
        const struct slice_range segment = exchange_segment(shape, i);

        clear_untouched(x, shape, i);
        for (uint32_t j = segment.at; own != NULL && j < segment.end; j++)
            x->total.sum[j] =
                (int64_t)((uint64_t)x->total.sum[j] + (uint64_t)own->sum[j]);
        x->in[i] |= bit;
    }
    if (own != NULL)
        x->total.loss += own->loss;
    x->parts |= bit;
    x->ended |= bit;
}
