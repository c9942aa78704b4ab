/*
 * slices.c - parts of a tally come in, totals go out.
 */
#include "core/ring/slices.h"

#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "base/mem.h"

enum err exchange_init(struct exchange *x, uint32_t dims_max, uint32_t segment,
                       const struct slice_room *room)
{
    *x = (struct exchange){.segments_max = dims_max / segment + 1,
                           .seal = room->seal};
    x->in = mem_new(x->segments_max, sizeof *x->in);
    if (x->in == NULL)
        return ERR_NOMEM;
    return room->seal != NULL ? tally_init_at(&x->total, dims_max, 1, room->sum)
                              : tally_init(&x->total, dims_max, 1);
}

void exchange_close(struct exchange *x)
{
    mem_free(x->in);
    if (x->seal != NULL)
        x->total.sum = NULL; /* It was lent. */
    tally_close(&x->total);
    *x = (struct exchange){0};
}

void exchange_blank(struct exchange *x)
{
    x->open = false;
    x->parts = x->ended = x->added = 0;
    x->flags = 0;
    x->settled = 0;
    memset(x->part, 0, sizeof x->part);
    memset(x->of, 0, sizeof x->of);
    memset(x->in, 0, x->segments_max * sizeof *x->in);
    memset(x->got, 0, sizeof x->got);
    x->total.loss = 0;
}

/* --- who adds up what ----------------------------------------------------- */

bool slice_whole(const struct slice_shape *shape)
{
    return shape->dims <= shape->small || shape->ranks == 1;
}

/* On whole blocks of the packing, so that no slice packs worse than another, or
 * of an optimiser's walk. */
static uint32_t cut(const struct slice_shape *shape, uint32_t rank)
{
    const uint64_t at = (uint64_t)shape->dims * rank / shape->ranks;
    const bool shared =
        shape->share > 0 && shape->dims / shape->ranks >= shape->share;

    return rank == shape->ranks
               ? shape->dims
               : (uint32_t)(at - at % (shared ? SLICE_GRAIN : PACK_BLOCK));
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

/* Once it has ended what is counted is one more than its coordinates. */
bool exchange_has_total(const struct exchange *x,
                        const struct slice_shape *shape, uint32_t rank)
{
    const struct slice_range slice = slice_of(shape, rank);

    return slice_whole(shape) || x->got[rank] > slice.end - slice.at;
}

bool exchange_complete(const struct exchange *x,
                       const struct slice_shape *shape)
{
    if (x->ended != all_ranks(shape))
        return false;
    if ((x->flags & (SLICE_TOOBIG | SLICE_RANGE)) == 0 &&
        x->settled < exchange_segments(shape))
        return false;
    for (uint32_t rank = 0; rank < shape->ranks; rank++)
        if (rank != shape->self && !exchange_has_total(x, shape, rank))
            return false;
    return true;
}

/* --- adding --------------------------------------------------------------- */

/* To what is there, or, if nothing is, instead of it.  False: out of bound. */
static bool add_message(struct exchange *x, const struct msg_slice *msg,
                        bool first)
{
    int64_t *const to = x->total.sum + msg->at;

    return msg->sum != NULL
               ? tally_add_in_bound(msg->sum, msg->count, first, to)
               : tally_add_packed(&msg->packed, first, x->total.pool, to);
}

/* From here on others are told of what will be in it.  Who may still read what
 * was: nobody who will count (LENT SUMS). */
static void open(struct exchange *x, const struct round_key *key, uint32_t dims)
{
    if (x->open)
        return;
    if (x->seal != NULL)
        seal_break(x->seal);
    x->open = true;
    x->key = *key;
    x->dims = dims;
}

static bool is_lent(const struct lent *lent)
{
    return lent->sum != NULL || lent->stepped != NULL;
}

/* All segments of one vector are lent, or none; `some`: of those before was
 * taken what was not. */
static bool lend(struct lent *lent, const struct msg_slice *msg, bool some)
{
    const bool stepped = msg->stepped != NULL;
    const struct lent here = {.sum = stepped ? NULL : msg->sum - msg->at,
                              .stepped = msg->stepped,
                              .seal = msg->seal,
                              .number = msg->number};

    if (!is_lent(lent) && !some)
        *lent = here;
    return lent->sum == here.sum && lent->stepped == here.stepped &&
           lent->seal == here.seal && lent->number == here.number;
}

static bool holds(const struct lent *lent)
{
    return lent->seal == NULL || seal_holds(lent->seal, lent->number);
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

/* Is nothing of own slice's segment in the total yet? */
static bool is_blank(const struct exchange *x, uint32_t number)
{
    return (x->in[number] & x->added) == 0;
}

/* What says that there is something it does not send sums of, is believed. */
static bool does_not_fit(const struct msg_slice *msg)
{
    return (msg->flags & (SLICE_TOOBIG | SLICE_RANGE)) != 0;
}

/* A part without sums: all segments of it are in. */
static enum slice_fate take_empty(struct exchange *x,
                                  const struct slice_shape *shape,
                                  uint32_t rank, const struct msg_slice *msg)
{
    const uint64_t bit = UINT64_C(1) << rank;
    const struct slice_range own = slice_of(shape, shape->self);

    if (own.at < own.end && msg->first < msg->end && !does_not_fit(msg))
        return SLICE_BAD;
    if ((x->parts & bit) != 0)
        return SLICE_TWICE;
    for (uint32_t i = 0; i < exchange_segments(shape); i++)
        x->in[i] |= bit;
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
    if (msg->stepped != NULL)
        return SLICE_BAD; /* Only a total is. */
    if (msg->seal != NULL ? !lend(&x->part[rank], msg, (x->added & bit) != 0)
                          : x->part[rank].sum != NULL ||
                                !add_message(x, msg, is_blank(x, number)))
        return SLICE_BAD;
    if (msg->seal == NULL)
        x->added |= bit;
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
    fate = msg->count == 0 ? take_empty(x, shape, rank, msg)
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
    const bool lent = is_lent(&x->of[rank]);

    if (slice_whole(shape))
        return SLICE_BAD;
    if (x->got[rank] > count)
        return SLICE_TWICE;
    /* Without sums what lies there would be fed: those of another round. */
    if (msg->count == 0 && x->got[rank] < count && !does_not_fit(msg))
        return SLICE_BAD;
    if (msg->stepped != NULL && msg->count != count)
        return SLICE_BAD; /* It is one piece. */
    if (msg->count > 0 &&
        (msg->at != slice.at + x->got[rank] ||
         msg->count > count - x->got[rank] ||
         (msg->seal != NULL
              ? !lend(&x->of[rank], msg, x->got[rank] > 0 && !lent)
              : lent || !add_message(x, msg, true))))
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
    open(x, &msg->key, msg->dims);
    return msg->total ? take_total(x, shape, rank, msg)
                      : take_part(x, shape, view, rank, msg, done);
}

void exchange_give(struct exchange *x, const struct slice_shape *shape,
                   const struct round_key *key, const struct tally *own,
                   uint8_t flags)
{
    const uint64_t bit = UINT64_C(1) << shape->self;

    CHECK((x->parts & bit) == 0);
    open(x, key, shape->dims);
    x->flags |= flags;
    for (uint32_t i = 0; i < exchange_segments(shape); i++)
        x->in[i] |= bit;
    if (own != NULL) {
        x->part[shape->self].sum = own->sum;
        x->total.loss += own->loss;
    }
    x->parts |= bit;
    x->ended |= bit;
}

/* --- totals --------------------------------------------------------------- */

/* What was lent of a segment, onto what is there.  Own sums are in bound; that
 * all together are exchange_decode finds out. */
static uint64_t join(struct exchange *x, const struct slice_shape *shape,
                     struct slice_range range, bool blank)
{
    const int64_t *sums[PEERS_MAX];
    uint32_t ranks[PEERS_MAX];
    uint32_t count = 0;
    uint64_t bad, whose = 0;

    for (uint32_t rank = 0; rank < shape->ranks; rank++) {
        if (x->part[rank].sum == NULL)
            continue;
        ranks[count] = rank;
        sums[count++] = x->part[rank].sum + range.at;
    }
    if (count == 0 && blank)
        memset(x->total.sum + range.at, 0,
               (range.end - range.at) * sizeof *x->total.sum);
    if (count == 0)
        return 0;
    bad = tally_add_up(sums, count, range.end - range.at, blank, x->total.pool,
                       x->total.sum + range.at);
    for (uint32_t i = 0; i < count; i++)
        whose |= (bad >> i & 1) << ranks[i];
    return whose;
}

static uint64_t gone_of(const struct lent *lent, uint32_t ranks)
{
    uint64_t gone = 0;

    for (uint32_t rank = 0; rank < ranks; rank++)
        if (!holds(&lent[rank]) && !BUG(BUG_RING_UNSEALED))
            gone |= UINT64_C(1) << rank;
    return gone;
}

bool exchange_settle(struct exchange *x, const struct slice_shape *shape,
                     struct slice_blame *blame)
{
    const uint32_t number = x->settled;

    CHECK(exchange_ready(x, shape, number));
    *blame = (struct slice_blame){0, 0};
    if (shape->ranks == 1) { /* All that there is lies in own tally. */
        x->of[0] = x->part[0];
        x->settled = exchange_segments(shape);
        return true;
    }
    blame->bad =
        join(x, shape, exchange_segment(shape, number), is_blank(x, number));
    blame->gone = gone_of(x->part, shape->ranks);
    blame->bad &= ~blame->gone; /* Whoever wrote there meanwhile. */
    if ((blame->gone | blame->bad) != 0)
        return false; /* What was added up is nothing: it is never settled. */
    x->settled++;
    return true;
}

/* --- totals that were stepped --------------------------------------------- */

/* Who has no chunks lends nothing, and may be anywhere. */
bool exchange_lent(const struct exchange *x, const struct slice_shape *shape,
                   struct slice_parts *parts)
{
    CHECK(exchange_ready(x, shape, 0));
    parts->count = 0;
    if (slice_whole(shape) || exchange_segments(shape) > 1)
        return false;
    for (uint32_t rank = 0; rank < shape->ranks; rank++) {
        const struct lent *const part = &x->part[rank];

        if (rank != shape->self && (part->sum == NULL || part->seal == NULL))
            return false;
        if (part->sum == NULL)
            continue;
        parts->ranks[parts->count] = rank;
        parts->sums[parts->count++] = part->sum;
    }
    return parts->count > 0;
}

bool exchange_stepped(struct exchange *x, const struct slice_shape *shape,
                      const struct slice_parts *parts, uint64_t bad,
                      const struct lent *into, struct slice_blame *blame)
{
    *blame = (struct slice_blame){0, 0};
    for (uint32_t i = 0; i < parts->count; i++)
        blame->bad |= (bad >> i & 1) << parts->ranks[i];
    blame->gone = gone_of(x->part, shape->ranks);
    blame->bad &= ~blame->gone;
    if ((blame->gone | blame->bad) != 0)
        return false;
    x->of[shape->self] = *into;
    x->settled = exchange_segments(shape);
    return true;
}

uint64_t exchange_steppers(const struct exchange *x,
                           const struct slice_shape *shape)
{
    uint64_t who = 0;

    for (uint32_t rank = 0; rank < shape->ranks; rank++)
        if (x->of[rank].stepped != NULL)
            who |= UINT64_C(1) << rank;
    return who;
}

bool exchange_decode(const struct exchange *x, const struct slice_shape *shape,
                     const int16_t *exponent, double *gradient)
{
    const bool whole = slice_whole(shape);
    bool good = tally_loss_in_bound(x->total.loss);

    for (uint32_t rank = 0; rank < (whole ? 1 : shape->ranks); rank++) {
        const struct slice_range slice = slice_of(shape, rank);
        const int64_t *const sum =
            x->of[rank].sum != NULL ? x->of[rank].sum : x->total.sum;

        if (x->of[rank].stepped != NULL)
            continue;
        good &= tally_numbers(sum + slice.at, exponent + slice.at,
                              slice.end - slice.at, x->total.pool,
                              gradient + slice.at);
    }
    return good;
}

uint64_t exchange_gone(const struct exchange *x,
                       const struct slice_shape *shape)
{
    return gone_of(x->of, shape->ranks);
}
