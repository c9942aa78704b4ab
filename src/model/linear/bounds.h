/*
 * bounds.h - how large a coordinate of a sum can get, proved from the sizes of
 * the rows: what the fixed-point scale of a round follows from (TALLY-4).
 *
 *   sizes.c    sizes of rows, measured once for a job
 *   bounds.c   from them and the weights at hand to exponents, with the proof
 */
#ifndef MODEL_LINEAR_BOUNDS_H
#define MODEL_LINEAR_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "math/evaluation.h"
#include "model/linear/problem.h"

/* Of the proof: a factor that covers all roundings, and where it ends. */
#define BOUNDS_SLACK (1 + 0x1p-18)
#define BOUNDS_HUGE  0x1p960

/* Per-column bound vectors U, V and M; `dims` is the data's stride. */
struct bounds {
    uint32_t dims;
    double *u, *v, *m;
    double *x_max;
    double label, norm, weight; /* Largest |y_i|, |x_i| and s_i. */
};

MUST_CHECK enum err bounds_init(struct bounds *bounds, uint32_t dims);
void bounds_close(struct bounds *bounds);
/* Of the problem's data.  Same bits for any thread count: integer tallies,
 * rounded up.  ERR_RANGE if labels or weights are too large to bound
 * anything. */
MUST_CHECK enum err bounds_measure(struct bounds *bounds,
                                   const struct problem *problem,
                                   struct pool *pool);
/* The same, and can anything be trained on such data?  Says why not. */
MUST_CHECK enum err bounds_measure_all(struct bounds *bounds,
                                       const struct problem *problem,
                                       struct pool *pool, struct why *why);
/* Of its chunks [first, end) alone, all that need be present. */
MUST_CHECK enum err bounds_measure_part(struct bounds *bounds,
                                        const struct problem *problem,
                                        uint32_t first, uint32_t end,
                                        struct pool *pool);
/* The same of rows that are on several machines, in three steps: sizes of each
 * part, the scales that follow from all of them, and sums on these scales.
 * Sums of parts add up to those of the whole, so that the bounds are the very
 * bits that one machine with all rows would find. */
struct bounds_sizes {
    uint32_t dims;              /* The data's stride. */
    double *x_max;              /* Per column. */
    double label, norm, weight; /* As in struct bounds. */
};

MUST_CHECK enum err bounds_sizes_init(struct bounds_sizes *sizes,
                                      uint32_t dims);
void bounds_sizes_close(struct bounds_sizes *sizes);
MUST_CHECK enum err bounds_sizes_measure(struct bounds_sizes *sizes,
                                         const struct problem *problem,
                                         struct pool *pool);
void bounds_sizes_join(struct bounds_sizes *into,
                       const struct bounds_sizes *from);
/* U, V and M, dims of each, one after the other. */
#define BOUNDS_SUMS 3u
/* Of `rows` rows in all.  ERR_RANGE as bounds_measure. */
MUST_CHECK enum err bounds_scales(const struct bounds_sizes *sizes,
                                  uint64_t rows, int16_t *scale);
MUST_CHECK enum err bounds_sums(const struct problem *problem,
                                const int16_t *scale, struct pool *pool,
                                int64_t *sum);
void bounds_settle(struct bounds *bounds, const struct bounds_sizes *sizes,
                   const int16_t *scale, const int64_t *sum);

/* evaluation_exponents for a round of `what`.  ERR_RANGE if |w| or |v| is not
 * finite, or so large that a score or the loss might not be. */
MUST_CHECK enum err bounds_exponents(const struct bounds *bounds,
                                     const struct problem *problem,
                                     const struct evaluation *what,
                                     int16_t *exponent);

/* The same for one round after the other: `exponent` and `memo`, zero at first,
 * are as the last call left them, and what cannot have changed is kept. */
struct bounds_memo {
    bool known;
    double label, norm, zeta; /* What the exponents come from. */
};

MUST_CHECK enum err bounds_exponents_again(const struct bounds *bounds,
                                           const struct problem *problem,
                                           const struct evaluation *what,
                                           struct bounds_memo *memo,
                                           int16_t *exponent);

#endif /* MODEL_LINEAR_BOUNDS_H */
