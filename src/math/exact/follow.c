/*
 * follow.c - adaptive fixed-point scaling for sums without a proved bound.  The
 * exponents of the next evaluation are a function of the sums of the last ones,
 * so that every machine that replays a run has the same scales.
 */
#include "math/exact/follow.h"

#include <math.h>
#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "base/mem.h"
#include "math/exact/grid.h"
#include "math/exact/tally.h"
#include "math/vec.h"

#define HEADROOM        4  /* Bits above the sum of sizes. */
#define SMALL_SHARE     20 /* Bits below the largest sum that p still follows. */
#define FALL_MOST       10      /* Bits between two evaluations. */
#define BITS_FIRST      24      /* Of each sum, before anything was seen. */
#define ROUNDING        0x1p-40 /* Of sums, relative, at most. */
#define POWER_START     40
#define POWER_MAX       1000 /* 2^16 chunks of that have a finite sum. */
#define POWER_MIN       (-900)
#define CLIMB           20
#define REPETITIONS_MAX 100u /* From 2^1000 to 2^-900 in strides of 2^10. */

static uint32_t width_of(uint32_t dims)
{
    return (dims + FOLLOW_BLOCKS_MAX - 1) / FOLLOW_BLOCKS_MAX;
}

static uint32_t blocks_of(uint32_t dims)
{
    const uint32_t width = width_of(dims);

    return width == 0 ? 0 : (dims + width - 1) / width;
}

uint32_t follow_dims(uint32_t dims)
{
    return dims + blocks_of(dims) + 1;
}

/* Bits of a chunk such that no sum of all of them reaches 2^limit. */
static int bits_below(int limit, uint32_t chunks)
{
    for (uint32_t covered = 1; covered < chunks; covered *= 2)
        limit--;
    return limit;
}

int follow_bits(int bits, uint32_t chunks)
{
    const int most = bits_below(TALLY_BITS, chunks);

    return bits < most ? bits : most;
}

/* Of a chunk's loss, likewise. */
static int loss_bits(uint32_t chunks)
{
    return bits_below(TALLY_LOSS_BITS, chunks);
}

static int16_t *power_of(const struct follow *follow, enum evaluation_kind kind)
{
    CHECK(kind == EVALUATE_GRADIENT || kind == EVALUATE_HESSVEC);
    return follow->power[kind == EVALUATE_HESSVEC];
}

/* Those of the blocks, and the loss's. */
static uint32_t powers(const struct follow *follow)
{
    return follow->blocks + 1;
}

/* The evaluation at hand is over. */
static void settle(struct follow *follow)
{
    for (uint32_t i = 0; i < FOLLOW_KINDS; i++)
        memcpy(follow->settled[i], follow->power[i],
               powers(follow) * sizeof *follow->power[i]);
    follow->refusals = 0;
    follow->repetitions = 0;
}

static void set_all(const struct follow *follow, int16_t *power, int16_t value)
{
    for (uint32_t b = 0; b < powers(follow); b++)
        power[b] = value;
}

static struct follow *follow_of(struct scale *self)
{
    return (struct follow *)self; /* Its first member. */
}

#define EXPONENTS_LEAST 16384u /* Of a slice. */

struct spreading {
    const struct follow *follow;
    const double *w;
    int16_t *exponent;
    bool finite[SLICES_MAX];
};

/* To coordinates [first, end) that of their block. */
static void spread_slice(void *context, uint32_t slice, uint32_t first,
                         uint32_t end)
{
    struct spreading *const to = context;
    const struct follow *const follow = to->follow;
    uint32_t b = 0;

    to->finite[slice] = vec_finite(to->w + first, end - first);
    for (uint32_t j = first; j < end; b++) {
        for (; j < end && j < follow->end[b]; j++)
            to->exponent[j] = to->exponent[follow->dims + b];
    }
}

static enum err exponents(struct scale *self, const struct evaluation *what,
                          int16_t *exponent)
{
    const struct follow *follow = follow_of(self);
    const uint32_t dims = follow->dims + powers(follow);
    const int16_t *power = power_of(follow, what->kind);
    struct spreading to = {.follow = follow, .w = what->w};
    uint32_t slices;

    if (!vec_finite(what->w + follow->dims, powers(follow)))
        return ERR_RANGE;
    for (uint32_t b = 0; b < powers(follow); b++)
        exponent[follow->dims + b] = (int16_t)(follow->bits - power[b]);
    to.exponent = exponent;
    slices = pool_slices(self->pool, follow->dims, EXPONENTS_LEAST,
                         spread_slice, &to);
    for (uint32_t i = 0; i < slices; i++) {
        if (!to.finite[i])
            return ERR_RANGE;
    }
    exponent[dims] =
        (int16_t)(loss_bits(follow->chunks) - power[follow->blocks]);
    return ERR_OK;
}

/* The largest |value| of a block; NaN if there is one. */
static double largest(const double *values, uint32_t count)
{
    double most = 0;
    bool broken = false;

    for (uint32_t j = 0; j < count; j++) {
        const double size = fabs(values[j]);

        broken |= isnan(size);
        most = size > most ? size : most;
    }
    return broken ? (double)NAN : most;
}

/* The size of a block whose largest |value| is `most`, up to the grid. */
static bool measure(int bits, int16_t exponent, double most, double *size)
{
    /* 2^exponent of a huge value may overflow; that does not fit either. */
    const double units = ceil(most * power_of_two(exponent));

    *size = units * power_of_two(-exponent);
    return units < power_of_two(bits); /* NaN is not. */
}

bool follow_measure_loss(int bits, uint32_t chunks, int16_t exponent,
                         double loss, int64_t *units)
{
    double size;

    if (!measure(follow_bits(bits, chunks), exponent, fabs(loss), &size))
        return false;
    *units = llrint(size * power_of_two(exponent));
    return true;
}

bool follow_measure(uint32_t dims, uint32_t chunks, const int16_t *exponent,
                    double loss, double *values)
{
    const uint32_t width = width_of(dims);
    const uint32_t blocks = blocks_of(dims);
    const int bits = follow_bits(FOLLOW_BITS, chunks);

    for (uint32_t b = 0; b < blocks; b++) {
        const uint32_t first = b * width;
        const uint32_t count = dims - first < width ? dims - first : width;

        if (!measure(bits, exponent[dims + b], largest(values + first, count),
                     &values[dims + b]))
            return false;
    }
    return measure(bits, exponent[dims + blocks], fabs(loss),
                   &values[dims + blocks]);
}

/* p of a sum of sizes; those above 0 only.  Sizes that are all one step of the
 * grid, as in a first evaluation, have powers of two for sums, and a code of
 * class numeric gives these with errors of rounding on either side: both sides
 * have one p. */
static int16_t power_for(double sum)
{
    int power = 0;

    (void)frexp(sum * (1 - ROUNDING), &power); /* sum (1 - ...) < 2^power */
    power += HEADROOM;
    if (power > POWER_MAX)
        return POWER_MAX;
    return (int16_t)(power < POWER_MIN ? POWER_MIN : power);
}

static int16_t highest(const struct follow *follow, const int16_t *power)
{
    int16_t most = power[0];

    for (uint32_t b = 1; b < follow->blocks; b++)
        most = power[b] > most ? power[b] : most;
    return most;
}

static void give_up(struct follow *follow, enum evaluation_kind kind)
{
    set_all(follow, power_of(follow, kind), POWER_START);
    settle(follow);
}

static enum scale_verdict refused(struct scale *self, enum evaluation_kind kind)
{
    struct follow *follow = follow_of(self);
    int16_t *power = power_of(follow, kind);
    const int stride = CLIMB << follow->refusals;
    bool top = true;

    /* It was fitted to the sizes of this very point, and fits no more. */
    if (follow->repetitions > 0)
        return SCALE_NO_FUNCTION;
    for (uint32_t b = 0; b < powers(follow); b++)
        top = top && power[b] == POWER_MAX;
    if (top) {
        give_up(follow, kind);
        return SCALE_HOPELESS;
    }
    memcpy(follow->refused, power, powers(follow) * sizeof *power);
    for (uint32_t b = 0; b < powers(follow); b++) {
        const int raised = power[b] + stride;

        power[b] = (int16_t)(raised < POWER_MAX ? raised : POWER_MAX);
    }
    if (stride < POWER_MAX)
        follow->refusals++;
    return SCALE_AGAIN;
}

/* A refusal says that some block reached its limit: does some sum? */
static bool refusal_true(const struct follow *follow, const double *size)
{
    for (uint32_t b = 0; b < powers(follow); b++) {
        /* Within a grid step of the limit: sizes are rounded up. */
        if (size[b] > 0.5 * ldexp(1, follow->refused[b]))
            return true;
    }
    return false;
}

/* Was nothing seen before the evaluation at hand? */
static bool is_first(const struct follow *follow, enum evaluation_kind kind)
{
    const int16_t *settled = follow->settled[kind == EVALUATE_HESSVEC];

    for (uint32_t b = 0; b < powers(follow); b++) {
        if (settled[b] != POWER_START)
            return false;
    }
    return true;
}

/* p of the blocks by their sums of sizes.  Did these fall too far? */
static bool follow_sizes(const struct follow *follow, const double *size,
                         bool first, int16_t *power)
{
    const int16_t before = highest(follow, power);
    const double most = largest(size, follow->blocks);
    const double least = ldexp(most, -SMALL_SHARE);
    bool coarse = false;

    if (!(most > 0))
        return false;
    for (uint32_t b = 0; b < follow->blocks; b++) {
        const int16_t was = power[b];

        power[b] = power_for(fmax(size[b], least));
        coarse |=
            first && follow->bits - HEADROOM - (was - power[b]) < BITS_FIRST;
    }
    return coarse || before - highest(follow, power) > FALL_MOST;
}

/* The same of the loss, by its sum of sizes: its own may cancel to nothing. */
static bool follow_loss(double size, int16_t *power)
{
    const int16_t before = *power;

    if (size > 0)
        *power = power_for(size);
    return before - *power > FALL_MOST;
}

static enum scale_verdict stands(struct scale *self, enum evaluation_kind kind,
                                 double *sums)
{
    struct follow *follow = follow_of(self);
    double *size = sums + follow->dims;
    int16_t *power = power_of(follow, kind);
    bool fell;

    if (follow->refusals > 0 && !refusal_true(follow, size))
        return SCALE_NO_FUNCTION;
    fell = follow_sizes(follow, size, is_first(follow, kind), power);
    fell |= follow_loss(size[follow->blocks], &power[follow->blocks]);
    if (fell) {
        follow->refusals = 0;
        return ++follow->repetitions < REPETITIONS_MAX ? SCALE_AGAIN
                                                       : SCALE_NO_FUNCTION;
    }
    settle(follow);
    memset(size, 0, powers(follow) * sizeof *size);
    return SCALE_STANDS;
}

static size_t bytes(const struct scale *self)
{
    const struct follow *follow = (const struct follow *)self;

    return 4 + (size_t)FOLLOW_KINDS * powers(follow) * 2;
}

static void save(const struct scale *self, struct writer *out)
{
    const struct follow *follow = (const struct follow *)self;

    put_u32(out, follow->blocks);
    for (uint32_t i = 0; i < FOLLOW_KINDS; i++)
        for (uint32_t b = 0; b < powers(follow); b++)
            put_u16(out, (uint16_t)follow->settled[i][b]);
}

static enum err load(struct scale *self, struct reader *in)
{
    struct follow *follow = follow_of(self);

    if (get_u32(in) != follow->blocks)
        return ERR_FORMAT;
    for (uint32_t i = 0; i < FOLLOW_KINDS; i++) {
        for (uint32_t b = 0; b < powers(follow); b++) {
            const int16_t power = (int16_t)get_u16(in);

            if (!in->ok || power < POWER_MIN || power > POWER_MAX)
                return ERR_FORMAT;
            if (!BUG(BUG_FORGET_SCALE))
                follow->power[i][b] = power;
        }
    }
    settle(follow);
    return ERR_OK;
}

static void begin(struct scale *self)
{
    struct follow *follow = follow_of(self);

    for (uint32_t i = 0; i < FOLLOW_KINDS; i++)
        set_all(follow, follow->power[i], POWER_START);
    settle(follow);
}

/* All but where the blocks end. */
static enum err make(struct follow *follow, uint32_t dims, uint32_t blocks,
                     int bits, uint32_t chunks)
{
    static const struct scale_ops ops = {.exponents = exponents,
                                         .begin = begin,
                                         .stands = stands,
                                         .refused = refused,
                                         .bytes = bytes,
                                         .save = save,
                                         .load = load};
    struct follow made = {.scale = {.ops = &ops},
                          .dims = dims,
                          .chunks = chunks,
                          .bits = follow_bits(bits, chunks),
                          .blocks = blocks};

    CHECK(dims > 0 && chunks > 0 && chunks <= CHUNKS_MAX);
    made.end = mem_new(blocks, sizeof *made.end);
    made.refused = mem_new(powers(&made), sizeof *made.refused);
    for (uint32_t i = 0; i < FOLLOW_KINDS; i++) {
        made.power[i] = mem_new(powers(&made), sizeof *made.power[i]);
        made.settled[i] = mem_new(powers(&made), sizeof *made.settled[i]);
        if (made.end == NULL || made.refused == NULL || made.power[i] == NULL ||
            made.settled[i] == NULL) {
            follow_close(&made);
            return ERR_NOMEM;
        }
    }
    begin(&made.scale);
    *follow = made;
    return ERR_OK;
}

enum err follow_init(struct follow *follow, uint32_t dims, uint32_t chunks)
{
    const uint32_t width = width_of(dims);
    const uint32_t blocks = blocks_of(dims);
    const enum err err = make(follow, dims, blocks, FOLLOW_BITS, chunks);

    for (uint32_t b = 0; err == ERR_OK && b < blocks; b++)
        follow->end[b] = b + 1 < blocks ? (b + 1) * width : dims;
    return err;
}

enum err follow_init_blocks(struct follow *follow, const uint32_t *end,
                            uint32_t blocks, int bits, uint32_t chunks)
{
    enum err err;

    CHECK(blocks > 0 && blocks <= FOLLOW_BLOCKS_MAX && bits <= FOLLOW_BITS);
    err = make(follow, end[blocks - 1], blocks, bits, chunks);
    if (err == ERR_OK)
        memcpy(follow->end, end, blocks * sizeof *end);
    return err;
}

void follow_close(struct follow *follow)
{
    for (uint32_t i = 0; i < FOLLOW_KINDS; i++) {
        mem_free(follow->power[i]);
        mem_free(follow->settled[i]);
    }
    mem_free(follow->refused);
    mem_free(follow->end);
    *follow = (struct follow){0};
}
