/*
 * tally.h - a set of chunks and the integer sum of their gradients.
 *
 * Integer sums have no rounding and no order:
 *
 *     tally(A) + tally(B) = tally(A u B)     for disjoint A, B
 *
 * the same bits, whoever added what to what.  Invariants (TALLY-n) in
 * docs/protocol.md; this file enforces TALLY-1 (merge only disjoint sets) and
 * TALLY-4 (a chunk that does not fit its scale is refused alone, never judged
 * on the running sum).
 *
 * Coordinate j of a gradient is written as round(g_j * 2^exponent[j]).  The
 * exponents come from a proved bound A_j >= sum |g_j| with
 * A_j * 2^exponent[j] < 2^62, so no sum of chunks can overflow.  The loss is
 * one more coordinate, exponent[dims], of 110 bits: of a squared loss bound and
 * value may be far apart, and a line search compares values.
 */
#ifndef MATH_TALLY_H
#define MATH_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/chunkset.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/pool.h"
#include "math/exact/pack.h"

#define TALLY_BITS 62 /* |any sum| < 2^62 by TALLY-4. */
/* |any sum of losses| < 2^110: 2^16 pieces that each say so, some of them
 * lying, do not wrap 128 bits. */
#define TALLY_LOSS_BITS 110

__extension__ typedef __int128 tally_loss;

struct tally {
    uint32_t dims;
    struct chunkset chunks;
    int64_t *sum; /* dims of them. */
    tally_loss loss;
    double variance; /* Of a sample that stands for its chunks; else 0. */
    bool blank; /* Nothing is in, and `sum` is anything: it stands for zeros
                   that were not worth writing. */
    struct pool *pool; /* Borrowed; for passes over the sums of another; NULL:
                          none. */
};

MUST_CHECK enum err tally_init(struct tally *tally, uint32_t dims,
                               uint32_t chunk_count);
/* The same with sums that lie elsewhere: who lends them takes them back (sum =
 * NULL) before tally_close. */
MUST_CHECK enum err tally_init_at(struct tally *tally, uint32_t dims,
                                  uint32_t chunk_count, int64_t *sum);
void tally_close(struct tally *tally); /* Zeroed memory is safe to close. */
void tally_clear(struct tally *tally);
/* The same without touching the sums: what comes first is stored, not added. */
void tally_blank(struct tally *tally);
/* Sums that stand for zeros become zeros: before anyone reads them, or adds to
 * them but through the functions here. */
void tally_fill(struct tally *tally);

/* The largest e with bound * 2^e < 2^62, clamped so that 2^e and 2^-e are
 * normal; 0 for a zero bound.  bound must be finite and not negative. */
int16_t tally_exponent(double bound);
/* The same for the loss: bound * 2^e < 2^110. */
int16_t tally_loss_exponent(double bound);

/* Add one chunk's gradient.  ERR_RANGE if a coordinate or the loss is NaN,
 * infinite or does not fit: the tally is then unchanged (refused whole).
 * ERR_OVERLAP if the chunk is in already. */
MUST_CHECK enum err tally_add_chunk(struct tally *tally, uint32_t chunk,
                                    const double *gradient, double loss,
                                    const int16_t *exponent);

/* The two halves of it, for kernels that add to `sum` themselves: whether the
 * loss fits, and the end, once everything is known to fit. */
bool tally_loss_fits(const struct tally *tally, const int16_t *exponent,
                     double loss);
void tally_mark(struct tally *tally, const int16_t *exponent, uint32_t chunk,
                double loss);

/* The middle of it for some coordinates, those from `first` on: false if they
 * do not fit, none is added then.  If later ones of the chunk do not, those
 * before are taken back, with the very same numbers.  `exponent` is that of
 * coordinate 0. */
MUST_CHECK bool tally_put(struct tally *tally, uint32_t first, uint32_t count,
                          const double *gradient, const int16_t *exponent);
void tally_take_back(struct tally *tally, uint32_t first, uint32_t count,
                     const double *gradient, const int16_t *exponent);

/* TALLY-1: ERR_OVERLAP unless disjoint; `into` is then unchanged. */
MUST_CHECK enum err tally_merge(struct tally *into, const struct tally *from);

/* Copy dims sums into the tally, whose chunks and loss are there already, and
 * say whether all is in bound.  Each sum is read once: they may lie where
 * someone else can still write. */
MUST_CHECK bool tally_take(struct tally *tally, const int64_t *sum);

/* tally_take and tally_merge in one: `from` has chunks, disjoint from those of
 * `into`, and loss; its sums lie at `sum`.  They are read once, and what lay in
 * from->sum is lost.  False if they are out of bound: `into` is unchanged. */
MUST_CHECK bool tally_absorb(struct tally *into, struct tally *from,
                             const int64_t *sum);

/* What somebody says is the tally of chunks [first, end): dims sums, and a
 * loss. */
struct tally_claim {
    const int64_t *sum;
    uint32_t first, end;
    tally_loss loss;
    bool good; /* Found by tally_absorb_many. */
};

#define TALLY_CLAIMS_MAX 64u

/* Sums that are complete with some claims, wanted as numbers (tally_gradient)
 * and not kept as sums. */
struct tally_decoding {
    const int16_t *exponent;
    double *gradient;
    bool done; /* Found: all claims were good, and so it was done. */
    bool good; /* ... and what tally_gradient returns. */
};

/* tally_absorb of several in one pass, so that `into` is read and written once:
 * those that are good count, the others are as if they had not been there.
 * Claims are disjoint from each other and from `into`.  What lay in the sums of
 * `room` is lost.  A claim that proves bad when some of it was added costs a
 * second pass over the others, not a look back at it: what its sums were may
 * not be known any more.
 * With `decoding` (NULL: none), if it is done, the sums of `into` are lost and
 * nothing more can be added: no sum is written that would be read once. */
void tally_absorb_many(struct tally *into, struct tally *room,
                       struct tally_claim *claims, uint32_t count,
                       struct tally_decoding *decoding);

/* tally_take and tally_absorb of sums that are packed still, dims of them; a
 * few at a time are unpacked and added.  False also if no writer packs like
 * that; then, too, `into` is as it was, and a tally that took them is not to be
 * used. */
MUST_CHECK bool tally_take_packed(struct tally *tally,
                                  const struct packed *packed);
MUST_CHECK bool tally_absorb_packed(struct tally *into,
                                    const struct tally *from,
                                    const struct packed *packed);

/* True if |sum_j| < 2^62 for all j and the loss is below 2^110: what proved
 * bounds guarantee, so that a peer that sends more is broken or lying (promise
 * P9). */
bool tally_in_bound(const struct tally *tally);
/* The same of what somebody says is a tally. */
bool tally_claim_in_bound(const int64_t *sum, uint32_t dims, tally_loss loss);
bool tally_loss_in_bound(tally_loss loss);

/* gradient[j] = sum_j * 2^-exponent[j], rounded once.  Returns tally_in_bound:
 * parts that are each in bound may come to more than all of them can; and that
 * all are finite, which only a bound next to the largest number could spoil. */
bool tally_gradient(const struct tally *tally, const int16_t *exponent,
                    double *gradient);
/* Sums of some coordinates that lie anywhere: the same, but for the loss. */
bool tally_numbers(const int64_t *sum, const int16_t *exponent, uint32_t count,
                   struct pool *pool, double *gradient);
/* out = all of `sums`, plus `out` itself unless `blank`.  Bit i of what is
 * returned: number i is out of bound, and `out` is of no use.  Each is read
 * once. */
uint64_t tally_add_up(const int64_t *const *sums, uint32_t number,
                      uint32_t count, bool blank, struct pool *pool,
                      int64_t *out);
/* out = the sums of a packing, or `sum`, plus `out` itself unless `blank`.
 * False: one of them, or of what they come to, is out of bound, or no writer
 * packs like that; `out` is then of no use. */
MUST_CHECK bool tally_add_packed(const struct packed *packed, bool blank,
                                 struct pool *pool, int64_t *out);
MUST_CHECK bool tally_add_in_bound(const int64_t *sum, uint32_t count,
                                   bool blank, int64_t *out);
double tally_loss_value(const struct tally *tally, const int16_t *exponent);

/* Chunk set, sums and loss, canonical bytes. */
struct digest tally_digest(const struct tally *tally);

#endif /* MATH_TALLY_H */
