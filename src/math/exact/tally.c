/*
 * tally.c - rounding to the grid, once per chunk, and integer sums.
 *
 * Sums are kept modulo 2^64 (2^128 for the loss), which no order can change
 * either: with a proved bound they never wrap, and a peer that sends more
 * than its bound is caught by tally_in_bound, not by undefined behaviour.
 */
#include "math/exact/tally.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"
#include "math/exact/grid.h"
#include "math/exact/tally_loops.h"
#include "math/vec.h"

#define EXPONENT_MAX  GRID_EXPONENT_MAX
#define LOSS_LIMIT    0x1p110
#define TAKE_BLOCK    1024u
#define MANY_BLOCK    256u  /* Coordinates of several sums at a time. */
#define JOIN_LEAST    1024u /* Of a slice: ... */
#define CONVERT_LEAST 2048u
#define DIGEST_NAME   "muster tally 1"

static_assert(TALLY_LOSS_BITS == 110, "LOSS_LIMIT is 2^110");
static_assert(DBL_MANT_DIG == 53, "grid arithmetic is IEEE binary64");
static_assert(FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 16,
              "wider temporaries would round twice (16: only _Float16 is)");

__extension__ typedef unsigned __int128 loss_word;

enum err tally_init_at(struct tally *tally, uint32_t dims, uint32_t chunk_count,
                       int64_t *sum)
{
    struct tally made = {.dims = dims};
    const enum err err = chunkset_init(&made.chunks, chunk_count);

    made.sum = sum;
    if (err == ERR_OK)
        *tally = made;
    return err;
}

enum err tally_init(struct tally *tally, uint32_t dims, uint32_t chunk_count)
{
    int64_t *const sum = mem_new(dims, sizeof *sum);
    const enum err err =
        sum != NULL ? tally_init_at(tally, dims, chunk_count, sum) : ERR_NOMEM;

    if (err != ERR_OK)
        mem_free(sum);
    return err;
}

void tally_close(struct tally *tally)
{
    chunkset_close(&tally->chunks);
    mem_free(tally->sum);
    *tally = (struct tally){0};
}

void tally_clear(struct tally *tally)
{
    chunkset_clear(&tally->chunks);
    memset(tally->sum, 0, tally->dims * sizeof *tally->sum);
    tally->loss = 0;
    tally->variance = 0;
    tally->blank = false;
}

void tally_blank(struct tally *tally)
{
    chunkset_clear(&tally->chunks);
    tally->loss = 0;
    tally->variance = 0;
    tally->blank = true;
}

void tally_fill(struct tally *tally)
{
    if (tally->blank)
        memset(tally->sum, 0, tally->dims * sizeof *tally->sum);
    tally->blank = false;
}

static const struct tally_ops *const variants[ISAS] =
    ISA_TABLE(&tally_portable, &tally_portable, &tally_avx512);

const struct tally_ops *tally_ops_of(enum isa isa)
{
    return isa_row(variants, isa);
}

static const struct tally_ops *best(void)
{
    return variants[isa_best()];
}

static int16_t exponent_for(double bound, int limit)
{
    uint64_t bits;
    int power;

    CHECK(isfinite(bound));
    CHECK(bound >= 0.0);
    if (bound == 0.0)
        return 0;
    /* bound = m 2^power with m in [1/2, 1): m 2^limit is the answer's value.  A
     * denormal's field is 0: its power is too low to matter. */
    memcpy(&bits, &bound, sizeof bits);
    power = (int)(bits >> 52 & TALLY_FIELD) - (TALLY_BIAS - 1);
    if (limit - power > EXPONENT_MAX)
        return EXPONENT_MAX;
    return (int16_t)(limit - power);
}

int16_t tally_exponent(double bound)
{
    return exponent_for(bound, TALLY_BITS);
}

int16_t tally_loss_exponent(double bound)
{
    return exponent_for(bound, TALLY_LOSS_BITS);
}

bool tally_put(struct tally *tally, uint32_t first, uint32_t count,
               const double *gradient, const int16_t *exponent)
{
    const struct tally_ops *const ops = best();
    int64_t *const sum = tally->sum + first;

    exponent += first;
    if (tally->blank)
        return ops->set(gradient, exponent, sum, count);
    if (!ops->fits(gradient, exponent, count))
        return false;
    ops->add(gradient, exponent, sum, count);
    return true;
}

void tally_take_back(struct tally *tally, uint32_t first, uint32_t count,
                     const double *gradient, const int16_t *exponent)
{
    int64_t *const sum = tally->sum + first;

    for (uint32_t j = 0; !tally->blank && j < count; j++) {
        const double v = gradient[j] * power_of_two(exponent[first + j]);

        sum[j] = (int64_t)((uint64_t)sum[j] - (uint64_t)llrint(v));
    }
}

/* NaN does not fit either. */
bool tally_loss_fits(const struct tally *tally, const int16_t *exponent,
                     double loss)
{
    return fabs(loss * power_of_two(exponent[tally->dims])) < LOSS_LIMIT;
}

/* Exact but for the one rounding to an integer, half to even. */
void tally_mark(struct tally *tally, const int16_t *exponent, uint32_t chunk,
                double loss)
{
    const double units = rint(loss * power_of_two(exponent[tally->dims]));

    tally->loss =
        (tally_loss)((loss_word)tally->loss + (loss_word)(tally_loss)units);
    chunkset_add(&tally->chunks, chunk);
    tally->blank = false;
}

enum err tally_add_chunk(struct tally *tally, uint32_t chunk,
                         const double *gradient, double loss,
                         const int16_t *exponent)
{
    CHECK(chunk < tally->chunks.count);
    if (chunkset_has(&tally->chunks, chunk))
        return ERR_OVERLAP;
    if (!tally_loss_fits(tally, exponent, loss) ||
        !tally_put(tally, 0, tally->dims, gradient, exponent))
        return ERR_RANGE;
    tally_mark(tally, exponent, chunk, loss);
    return ERR_OK;
}

static void add_marks(struct tally *into, const struct tally *from)
{
    into->loss = (tally_loss)((loss_word)into->loss + (loss_word)from->loss);
    chunkset_unite(&into->chunks, &from->chunks);
    into->blank = false;
}

enum err tally_merge(struct tally *into, const struct tally *from)
{
    CHECK(into->dims == from->dims);
    CHECK(into->chunks.count == from->chunks.count);
    if (!chunkset_disjoint(&into->chunks, &from->chunks))
        return ERR_OVERLAP;
    if (from->blank)
        return ERR_OK;
    if (into->blank)
        memcpy(into->sum, from->sum, into->dims * sizeof *into->sum);
    else
        best()->sum(from->sum, into->sum, into->dims);
    add_marks(into, from);
    return ERR_OK;
}

bool tally_loss_in_bound(tally_loss loss)
{
    const tally_loss limit = (tally_loss)1 << TALLY_LOSS_BITS;

    return loss > -limit && loss < limit;
}

bool tally_claim_in_bound(const int64_t *sum, uint32_t dims, tally_loss loss)
{
    return best()->within(sum, dims) && tally_loss_in_bound(loss);
}

bool tally_in_bound(const struct tally *tally)
{
    CHECK(!tally->blank);
    return tally_claim_in_bound(tally->sum, tally->dims, tally->loss);
}

/* Block by block, so that what is looked at is what was copied, and is still
 * in the first cache. */
bool tally_take(struct tally *tally, const int64_t *sum)
{
    const struct tally_ops *const ops = best();
    bool good = true;

    for (uint32_t j = 0; j < tally->dims; j += TAKE_BLOCK) {
        const uint32_t left = tally->dims - j;
        const uint32_t count = left < TAKE_BLOCK ? left : TAKE_BLOCK;

        memcpy(tally->sum + j, sum + j, count * sizeof *sum);
        good &= ops->within(tally->sum + j, count);
    }
    tally->blank = false;
    return good && tally_loss_in_bound(tally->loss);
}

/* Sums joined by slices.  `bad`: a bit for each that is not within its bound.
 */
struct joining {
    const struct tally_ops *ops;
    const int64_t *old; /* NULL: none. */
    const int64_t *const *sums;
    uint32_t count;
    int64_t *out;
    const struct tally_decoding *decoding; /* NULL: to `out` instead. */
    uint64_t bad[SLICES_MAX];
    bool good[SLICES_MAX]; /* What was decoded is. */
};

static void join_slice(void *context, uint32_t slice, uint32_t first,
                       uint32_t end)
{
    struct joining *joining = context;
    const int64_t *sums[TALLY_CLAIMS_MAX];

    for (uint32_t i = 0; i < joining->count; i++)
        sums[i] = joining->sums[i] + first;
    joining->bad[slice] = tally_join_many(
        joining->ops, joining->old == NULL ? NULL : joining->old + first, sums,
        joining->count, joining->out + first, end - first);
}

/* The numbers that sums of some coordinates stand for.  True: all are in bound
 * and finite. */
static bool convert(const int64_t *sum, const int16_t *exponent, uint32_t count,
                    double *gradient)
{
    const bool good = best()->gradient(sum, exponent, count, gradient);

    /* While it is in the first cache. */
    return vec_finite(gradient, count) && good;
}

/* What is joined is decoded before it leaves the first cache. */
static void join_decode_slice(void *context, uint32_t slice, uint32_t first,
                              uint32_t end)
{
    struct joining *joining = context;
    const struct tally_decoding *const decoding = joining->decoding;
    const int64_t *sums[TALLY_CLAIMS_MAX];
    int64_t joined[MANY_BLOCK];
    uint64_t bad = 0;
    bool good = true;

    for (uint32_t at = first; at < end; at += MANY_BLOCK) {
        const uint32_t left = end - at;
        const uint32_t count = left < MANY_BLOCK ? left : MANY_BLOCK;

        for (uint32_t i = 0; i < joining->count; i++)
            sums[i] = joining->sums[i] + at;
        bad |= tally_join_many(joining->ops,
                               joining->old == NULL ? NULL : joining->old + at,
                               sums, joining->count, joined, count);
        good &= convert(joined, decoding->exponent + at, count,
                        decoding->gradient + at);
    }
    joining->bad[slice] = bad;
    joining->good[slice] = good;
}

static uint64_t join_all(const struct tally *into, const int64_t *const *sums,
                         uint32_t count, int64_t *out,
                         struct tally_decoding *decoding)
{
    struct joining joining = {.ops = best(),
                              .old = into->blank ? NULL : into->sum,
                              .sums = sums,
                              .count = count,
                              .decoding = decoding};
    uint64_t bad = 0;
    uint32_t slices;

    joining.out = out;
    slices = pool_slices(into->pool, into->dims, JOIN_LEAST,
                         decoding != NULL ? join_decode_slice : join_slice,
                         &joining);
    for (uint32_t i = 0; i < slices; i++) {
        bad |= joining.bad[i];
        if (decoding != NULL)
            decoding->good &= joining.good[i];
    }
    return bad;
}

/* Where the two are added up is where `from` would have been copied to: if all
 * is well the two change places, else nothing has happened. */
bool tally_absorb(struct tally *into, struct tally *from, const int64_t *sum)
{
    int64_t *const place = from->sum;

    CHECK(into->dims == from->dims);
    CHECK(chunkset_disjoint(&into->chunks, &from->chunks));
    if (!tally_loss_in_bound(from->loss) ||
        join_all(into, &sum, 1, place, NULL) != 0)
        return false;
    from->sum = into->sum;
    into->sum = place;
    add_marks(into, from);
    return true;
}

/* One after the other: whose are out of bound. */
static uint64_t join_each(const struct tally_ops *ops, const int64_t *old,
                          const int64_t *const *sums, uint32_t count,
                          int64_t *out, uint32_t dims)
{
    uint64_t bad = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (!ops->join(old, sums[i], out, dims))
            bad |= UINT64_C(1) << i;
        old = out;
    }
    return bad;
}

/* A block of `out` is in the first cache until all have been added to it.  If
 * all are in bound nobody asks which was not; else they are read anew, and what
 * is found then is what was added then. */
uint64_t tally_join_many(const struct tally_ops *ops, const int64_t *old,
                         const int64_t *const *sums, uint32_t count,
                         int64_t *out, uint32_t dims)
{
    const int64_t *at[TALLY_CLAIMS_MAX];
    uint64_t bad = 0;

    CHECK(count <= TALLY_CLAIMS_MAX);
    for (uint32_t j = 0; j < dims; j += MANY_BLOCK) {
        const uint32_t left = dims - j;
        const uint32_t some = left < MANY_BLOCK ? left : MANY_BLOCK;
        const int64_t *const so_far = old == NULL ? NULL : old + j;

        for (uint32_t i = 0; i < count; i++)
            at[i] = sums[i] + j;
        if (!ops->join_block(so_far, at, count, out + j, some))
            bad |= join_each(ops, so_far, at, count, out + j, some);
    }
    return bad;
}

/* One pass over those that are still good; true if they all are after it. */
static bool join_good(const struct tally *into, int64_t *out,
                      struct tally_claim *claims, uint32_t count,
                      struct tally_decoding *decoding)
{
    const int64_t *sums[TALLY_CLAIMS_MAX] = {NULL};
    struct tally_claim *of[TALLY_CLAIMS_MAX];
    uint32_t good = 0;
    uint64_t bad;

    for (uint32_t i = 0; i < count; i++) {
        if (!claims[i].good)
            continue;
        sums[good] = claims[i].sum;
        of[good++] = &claims[i];
    }
    bad = join_all(into, sums, good, out, decoding);
    for (uint32_t i = 0; i < good; i++)
        of[i]->good = (bad >> i & 1) == 0;
    return bad == 0;
}

static bool any_good(const struct tally_claim *claims, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (claims[i].good)
            return true;
    }
    return false;
}

static void add_claim(struct tally *into, const struct tally_claim *claim)
{
    CHECK(chunkset_misses_range(&into->chunks, claim->first, claim->end));
    chunkset_add_range(&into->chunks, claim->first, claim->end);
    into->loss = (tally_loss)((loss_word)into->loss + (loss_word)claim->loss);
}

/* All at once, if none proves bad. */
static bool decode_many(const struct tally *into, struct tally_claim *claims,
                        uint32_t count, struct tally_decoding *decoding)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!claims[i].good)
            return false;
    }
    decoding->good = true;
    return join_good(into, NULL, claims, count, decoding);
}

/* As in tally_absorb the two change places at the end. */
void tally_absorb_many(struct tally *into, struct tally *room,
                       struct tally_claim *claims, uint32_t count,
                       struct tally_decoding *decoding)
{
    int64_t *const place = room->sum;
    bool decoded;

    CHECK(count <= TALLY_CLAIMS_MAX);
    CHECK(into->dims == room->dims);
    for (uint32_t i = 0; i < count; i++)
        claims[i].good = tally_loss_in_bound(claims[i].loss);
    decoded = decoding != NULL && decode_many(into, claims, count, decoding);
    if (!decoded) {
        do {
            if (!any_good(claims, count))
                return;
        } while (!join_good(into, place, claims, count, NULL));
        room->sum = into->sum;
        into->sum = place;
    }
    into->blank = false;
    for (uint32_t i = 0; i < count; i++) {
        if (claims[i].good)
            add_claim(into, &claims[i]);
    }
    if (decoding == NULL)
        return;
    decoding->done = decoded;
    decoding->good =
        decoded && decoding->good && tally_loss_in_bound(into->loss);
}

/* --- packed sums --------------------------------------------------------- */

/* Between packed and added they are in the first cache only. */
struct slice {
    uint32_t first, count;
    int64_t sum[TAKE_BLOCK];
};

static_assert(TAKE_BLOCK % PACK_BLOCK == 0, "unpack_next takes whole blocks");

static bool slice_next(struct slice *slice, struct unpacking *unpacking)
{
    slice->first += slice->count;
    slice->count =
        unpacking->left < TAKE_BLOCK ? (uint32_t)unpacking->left : TAKE_BLOCK;
    return unpack_next(unpacking, slice->count, slice->sum);
}

/* What was added from coordinate 0 up to `end`. */
static void take_out(struct tally *tally, const struct packed *packed,
                     uint32_t end)
{
    struct unpacking unpacking = unpack_begin(packed);
    struct slice slice;

    slice.first = 0;
    slice.count = 0;
    while (slice.first + slice.count < end) {
        CHECK(slice_next(&slice, &unpacking));
        for (uint32_t j = 0; j < slice.count; j++)
            slice.sum[j] = (int64_t)(0 - (uint64_t)slice.sum[j]);
        best()->sum(slice.sum, tally->sum + slice.first, slice.count);
    }
}

/* Adds them to the sums of the tally, or puts them there if it is blank.  False
 * if they are no good: nothing is added, and a blank tally is still blank. */
static bool put_in(struct tally *tally, const struct packed *packed)
{
    const struct tally_ops *const ops = best();
    struct unpacking unpacking = unpack_begin(packed);
    struct slice slice;

    slice.first = 0;
    slice.count = 0;
    while (unpacking.left > 0) {
        const bool unpacked = slice_next(&slice, &unpacking);
        int64_t *const sum = tally->sum + slice.first;

        if (unpacked &&
            ops->join(tally->blank ? NULL : sum, slice.sum, sum, slice.count))
            continue;
        if (!tally->blank)
            take_out(tally, packed, slice.first + (unpacked ? slice.count : 0));
        return false;
    }
    return true;
}

bool tally_take_packed(struct tally *tally, const struct packed *packed)
{
    const struct tally_ops *const ops = best();
    struct unpacking unpacking = unpack_begin(packed);
    bool good = true;

    CHECK(packed->count == tally->dims);
    for (uint32_t j = 0; good && j < tally->dims; j += TAKE_BLOCK) {
        const uint32_t left = tally->dims - j;
        const uint32_t count = left < TAKE_BLOCK ? left : TAKE_BLOCK;

        good = unpack_next(&unpacking, count, tally->sum + j) &&
               ops->within(tally->sum + j, count);
    }
    tally->blank = false;
    return good && tally_loss_in_bound(tally->loss);
}

bool tally_absorb_packed(struct tally *into, const struct tally *from,
                         const struct packed *packed)
{
    CHECK(into->sum != NULL);
    CHECK(packed->count == into->dims);
    CHECK(chunkset_disjoint(&into->chunks, &from->chunks));
    if (!tally_loss_in_bound(from->loss) || !put_in(into, packed))
        return false;
    add_marks(into, from);
    return true;
}

struct converting {
    const int64_t *sum;
    const int16_t *exponent;
    double *gradient;
    bool good[SLICES_MAX];
};

static void convert_slice(void *context, uint32_t slice, uint32_t first,
                          uint32_t end)
{
    struct converting *converting = context;
    bool good = true;

    for (uint32_t at = first; at < end; at += TAKE_BLOCK) {
        const uint32_t left = end - at;
        const uint32_t count = left < TAKE_BLOCK ? left : TAKE_BLOCK;

        good &= convert(converting->sum + at, converting->exponent + at, count,
                        converting->gradient + at);
    }
    converting->good[slice] = good;
}

bool tally_numbers(const int64_t *sum, const int16_t *exponent, uint32_t count,
                   struct pool *pool, double *gradient)
{
    struct converting converting = {.sum = sum, .exponent = exponent};
    bool good = true;
    uint32_t slices;

    converting.gradient = gradient;
    slices =
        pool_slices(pool, count, CONVERT_LEAST, convert_slice, &converting);
    for (uint32_t i = 0; i < slices; i++)
        good &= converting.good[i];
    return good;
}

bool tally_gradient(const struct tally *tally, const int16_t *exponent,
                    double *gradient)
{
    CHECK(!tally->blank);
    return tally_numbers(tally->sum, exponent, tally->dims, tally->pool,
                         gradient) &&
           tally_loss_in_bound(tally->loss);
}

/* If some are out of bound `out`, which is `old`, is added to twice; whose they
 * are is found all the same. */
uint64_t tally_add_up(const int64_t *const *sums, uint32_t number,
                      uint32_t count, bool blank, struct pool *pool,
                      int64_t *out)
{
    struct joining joining = {.ops = best(),
                              .old = blank ? NULL : out,
                              .sums = sums,
                              .count = number};
    uint64_t bad = 0;
    uint32_t slices;

    CHECK(number <= TALLY_CLAIMS_MAX);
    joining.out = out;
    slices = pool_slices(pool, count, JOIN_LEAST, join_slice, &joining);
    for (uint32_t i = 0; i < slices; i++)
        bad |= joining.bad[i];
    return bad;
}

double tally_loss_value(const struct tally *tally, const int16_t *exponent)
{
    return (double)tally->loss * power_of_two(-exponent[tally->dims]);
}

struct digest tally_digest(const struct tally *tally)
{
    const struct chunkset *chunks = &tally->chunks;
    const loss_word loss = (loss_word)tally->loss;
    uint8_t bytes[64];
    struct writer out = writer_on(bytes, sizeof bytes);
    struct hasher hasher;

    CHECK(!tally->blank);
    put_text(&out, DIGEST_NAME);
    put_u32(&out, tally->dims);
    put_u32(&out, chunks->count);
    put_u64(&out, (uint64_t)loss);
    put_u64(&out, (uint64_t)(loss >> 64));
    CHECK(out.ok);

    hasher_init(&hasher);
    hasher_add(&hasher, bytes, out.size);
    for (uint32_t i = 0; i < (chunks->count + 63) / 64; i++) {
        out = writer_on(bytes, sizeof bytes);
        put_u64(&out, chunks->words[i]);
        hasher_add(&hasher, bytes, out.size);
    }
    hasher_add_i64(&hasher, tally->sum, tally->dims);
    return hasher_end(&hasher);
}
