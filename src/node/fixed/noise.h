/*
 * noise.h - the gradient noise scale (McCandlish et al., "An Empirical Model of
 * Large-Batch Training", 2018): how many rows a batch must have before their
 * mean gradient is more signal than noise,
 *
 *     tr(S) / |G|^2    S the covariance of one row's gradient, G the gradient
 *                      of the objective over all rows
 *
 * Batches of one pass are evaluated at the same weights: at b rows each, drawn
 * without replacement, their sample variance is tr(S) / b on average, however
 * many there are of N, and their mean's square |G|^2 + tr(S) (1 / (m b) - 1 /
 * N).  Two gradients of consecutive steps would have cost nothing, but the
 * step between them moves the second by rate x curvature x the first, which at
 * usual rates is as much as the noise.
 *
 * Steps to a loss.  A step along G that is as long as is best for batches of B
 * rows takes D / (1 + scale / B) off the objective, where D is what the best
 * one along the gradient of all rows takes, |G|^2 / (2 q) at a curvature of q
 * along it.  If D is the share p of what is left above the least objective, T
 * steps leave (1 - p / (1 + scale / B))^T of that, and since -1 / ln(1 - u) is
 * near 1 / u - 1/2,
 *
 *     T  is near  least (1 + critical / B),  critical = scale / (1 - p / 2)
 *
 * Of small steps (p near 0) the critical batch is the scale, as in the paper;
 * where all columns are alike one step would do (p = 1), and it is twice that.
 * What is left need not be known: if p is the same at two points, it is the
 * difference of D by that of the objective.
 *
 * The figures follow from data, options and weights: the same bits whoever
 * trained them.  Nothing that is trained depends on them.
 */
#ifndef NODE_FIXED_NOISE_H
#define NODE_FIXED_NOISE_H

#include "base/pool.h"
#include "eval/objective.h"

struct noise {
    uint32_t batches; /* Measured; 0: none, all else is 0. */
    double variance;  /* tr(S). */
    double square;    /* |G|^2, an estimate: may be below 0. */
    double scale;     /* Rows; HUGE_VAL where no signal is seen. */
    double objective; /* Of these batches. */
    double curvature; /* Along G, over a step at the run's rate. */
};

/* Of a pass: those that are measured, of at most 65,536 rows in all; 0: two are
 * more than that, or than there are. */
uint32_t noise_batches(const struct sampler *sampler);

/* At the weights w, or where training begins (NULL).  Of steps over all rows
 * there is none.  ERR_RANGE: not finite there.  ERR_NOMEM. */
MUST_CHECK enum err noise_measure(const struct objective_options *what,
                                  struct pool *pool, const double *w,
                                  struct noise *noise);

/* The share of what is left above the least objective that the best step along
 * G takes, 0 to 1: from two points of a way. */
double noise_share(const struct noise *start, const struct noise *end);
/* The batch that takes twice the fewest steps, and twice the fewest rows, on
 * the way from where the scale is `start` to where it is `end`: its mean over
 * the steps there if the gradient falls by the same factor in each, which is
 * the logarithmic mean, for steps that each take `share`. */
double noise_critical(double start, double end, double share);

#endif /* NODE_FIXED_NOISE_H */
