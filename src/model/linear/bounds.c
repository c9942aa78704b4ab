/*
 * bounds.c - how large a coordinate of the gradient can get, proved.
 *
 * With u = 2^-53 the unit roundoff and n operations the computed sum of
 * non-negative terms is within a factor 1 +- n u of the true one.  No sum here
 * or in the kernel has more than 2^30 terms (rows of a chunk) or 2^24 + 8
 * (columns), so each of the factors
 *     |x_i| computed, U_j and V_j of a chunk computed, z_i computed,
 *     r_i computed from z_i, g_j of a chunk computed
 * errs by less than 2^-22, and BOUNDS_SLACK = 1 + 2^-18 covers all of them
 * together. It is applied twice: to each chunk's part of U and V (then rounded
 * up to an integer, so that the sum over chunks has neither rounding nor order)
 * and to the final bound, where it also leaves room, 2^44 units (2^39 in
 * profile csr, whose sums have fewer bits), for the half unit by which each of
 * at most CHUNKS_MAX chunks, or of 2^30 sparse rows, is rounded in a tally. The
 * same holds for h and x . v in place of r and z: a second derivative is at
 * most c but for three roundings.  Softmax: p_k <= 1 holds with rounding too
 * (softmax.h); sum_l p_l t_l has at most 2^10 terms.
 *
 * Sparse rows go into U and V one by one, each rounded up.  The index profile
 * quantises weights: it adds to |z_i| at most nnz_i 2^-30 max|w|, which with
 * nnz_i = |x_i|^2 <= 2^24 is at most 2^-18 |x_i||w|: BOUNDS_SLACK once more, on
 * |w|. (Not softmax's: it reads such rows as csr ones whose values are 1.)
 *
 * Underflow: fp32 products cannot underflow in binary64, products with y or w
 * can, by less than 2^-1074 each; TINY added to every bound covers 2^50 of
 * them.  Squares of fp64 values can, too: of at most 2^24 + 8 columns |x_i|
 * then lacks less than 2^-520 (NORM_LOST), and V_j less than 2^-520 M_j.  V_j
 * below 2^-900 may lack more than its share, and is not used.  A
 * column of zeros has M_j = 0 exactly and a gradient of 0 exactly.
 * Overflow: beyond BOUNDS_HUGE the bound is refused, for then z itself might
 * overflow although the bound does not.  No partial sum of z is above |x_i||w|,
 * nor above zeta; the lesser counts.
 *
 * zeta of quantised weights: each errs by less than 2^-30 max|w|, a row has at
 * most |x_i|^2 of them, and zeta is at least max|w|.
 */
#include "model/linear/bounds.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "math/compiler.h"
#include "math/exact/grid.h"
#include "math/vec.h"

#define TINY 0x1p-1022
/* Squares of less, summed up, would lose bits or be 0. */
#define VALUE_LEAST      1e-140
#define INDEX_BITS_LEAST 30

enum err bounds_init(struct bounds *bounds, uint32_t dims)
{
    struct bounds made = {.dims = dims};

    made.u = mem_new(dims, sizeof *made.u);
    made.v = mem_new(dims, sizeof *made.v);
    made.m = mem_new(dims, sizeof *made.m);
    made.x_max = mem_new(dims, sizeof *made.x_max);
    if (made.u == NULL || made.v == NULL || made.m == NULL ||
        made.x_max == NULL) {
        bounds_close(&made);
        return ERR_NOMEM;
    }
    *bounds = made;
    return ERR_OK;
}

double bounds_largest(const struct bounds *bounds)
{
    return vec_largest(bounds->x_max, bounds->dims);
}

void bounds_close(struct bounds *bounds)
{
    mem_free(bounds->u);
    mem_free(bounds->v);
    mem_free(bounds->m);
    mem_free(bounds->x_max);
    *bounds = (struct bounds){0};
}

/* fmax, but inline: neither is NaN. */
static double larger(double a, double b)
{
    return b > a ? b : a;
}

/* What a vector can make of the rows. */
struct reach {
    double norm;  /* |w|. */
    double score; /* At least every |x_i . w|. */
};

/* |w| without underflow or overflow on the way: scaled by the largest
 * coordinate. */
static double weight_norm(const double *w, uint32_t count)
{
    const double largest = vec_largest(w, count);
    double sum = 0;

    if (!(largest < HUGE_VAL)) /* Or NaN. */
        return HUGE_VAL;
    if (largest == 0)
        return 0;
    for (uint32_t j = 0; j < count; j++) {
        const double share = w[j] / largest;

        sum += share * share;
    }
    return largest * sqrt(sum);
}

/* At least |w|, without its root mean square: for where nothing depends on it
 * but whether it is huge. */
static double norm_above(const struct evaluation *what, uint32_t count,
                         struct pool *pool)
{
    const double largest = what->known.largest > 0
                               ? what->known.largest
                               : vec_largest_of(pool, what->w, count);

    return largest * sqrt((double)count) * BOUNDS_SLACK;
}

/* sum_k xmax_k |w_k|, of the output where that is largest. */
static double weighted_maxima(const struct bounds *bounds, const double *w,
                              uint32_t outputs)
{
    double most = 0;

    for (uint32_t k = 0; k < outputs; k++, w += bounds->dims) {
        double lane[KERNEL_LANES] = {0};
        double sum = 0;

        for (uint32_t j = 0; j < bounds->dims; j += KERNEL_LANES) {
            UNROLL
            for (uint32_t l = 0; l < KERNEL_LANES; l++)
                lane[l] += bounds->x_max[j + l] * fabs(w[j + l]);
        }
        for (uint32_t l = 0; l < KERNEL_LANES; l++)
            sum += lane[l];
        most = larger(most, sum);
    }
    return most;
}

/* |w| and zeta, with room for weights that are quantised. */
static struct reach reach_of(const struct bounds *bounds,
                             const struct problem *problem, const double *w)
{
    const double norm = weight_norm(w, problem_dims(problem));
    const double zeta = weighted_maxima(bounds, w, problem_outputs(problem));

    if (!(norm < HUGE_VAL)) /* Some weight may not be a number. */
        return (struct reach){HUGE_VAL, HUGE_VAL};
    if (!problem_quantises(problem))
        return (struct reach){norm, zeta + TINY};
    return (struct reach){norm * BOUNDS_SLACK,
                          zeta * (1 + bounds->norm * bounds->norm * 0x1p-30) +
                              TINY};
}

/* What the bounds of a round depend on besides the data. */
struct factors {
    double label; /* Factor of U. */
    double norm;  /* Factor of V, */
    double zeta;  /* and of M: the lesser counts. */
    bool squares; /* DIAGONAL: xmax_j is one more factor of M_j. */
    double score; /* No |x_i . w| is above. */
};

/* Neither is NaN, or it is the first. */
static double lesser(double a, double b)
{
    return a < b ? a : b;
}

/* The bound on column j; HUGE_VAL if it might overflow. */
static double column_bound(const struct bounds *bounds,
                           const struct factors *factors, uint32_t j)
{
    const double each = factors->squares ? bounds->x_max[j] : 1;
    const double bound = factors->label * bounds->u[j] +
                         lesser(factors->norm * bounds->v[j],
                                factors->zeta * each * bounds->m[j]);

    if (bounds->m[j] == 0)
        return 0;
    return bound < BOUNDS_HUGE ? bound * BOUNDS_SLACK + TINY : HUGE_VAL;
}

/* At weights that need only be no overflow. */
static struct factors plain_factors(const struct bounds *bounds,
                                    const struct problem *problem,
                                    const struct evaluation *what,
                                    struct pool *pool)
{
    const double norm =
        norm_above(what, problem_dims(problem), pool) * BOUNDS_SLACK;

    return (struct factors){.label = problem->model->bound_label,
                            .score = bounds->norm * norm};
}

/* At the trial of a line: as far as its ends allow. */
static struct factors line_factors(const struct bounds *bounds,
                                   const struct problem *problem,
                                   const struct evaluation *what)
{
    const double c = problem->model->bound_score;
    const double step = fabs(what->step);
    const struct reach way = reach_of(bounds, problem, what->v);
    struct reach reach = reach_of(bounds, problem, what->w);

    reach.norm += step * way.norm;
    reach.score += step * way.score;
    return (struct factors){.label = problem->model->bound_label,
                            .norm = c * reach.norm,
                            .zeta = c * reach.score,
                            .score =
                                lesser(bounds->norm * reach.norm, reach.score)};
}

/* Factors of U, V and M for what is asked. */
static struct factors factors_of(const struct bounds *bounds,
                                 const struct problem *problem,
                                 const struct evaluation *what,
                                 struct pool *pool)
{
    const struct model_ops *const model = problem->model;
    const double c = model->curvature;
    struct factors factors = plain_factors(bounds, problem, what, pool);
    struct reach reach;

    switch (what->kind) {
    case EVALUATE_GRADIENT:
    case EVALUATE_SCORES:
    case EVALUATE_BACK:
    case EVALUATE_COMBINE:
    case EVALUATE_LOCAL: /* No tally: only whether w is within bounds. */
        if (model->bound_score == 0)
            return factors;
        reach = reach_of(bounds, problem, what->w);
        factors.norm = model->bound_score * reach.norm;
        factors.zeta = model->bound_score * reach.score;
        factors.score = lesser(bounds->norm * reach.norm, reach.score);
        return factors;
    case EVALUATE_HESSVEC:
        reach = reach_of(bounds, problem, what->v);
        factors.label = 0;
        factors.norm = c * reach.norm;
        factors.zeta = c * reach.score;
        return factors;
    case EVALUATE_LINE:
        return line_factors(bounds, problem, what);
    case EVALUATE_DIAGONAL:
    case EVALUATE_HESSIAN: /* Whose diagonal is its largest. */
        break;
    }
    return (struct factors){0, c, c, true, factors.score};
}

/* |x_ij x_ik| <= |x_ij||x_i|, and |x_ij| xmax_k; and the other way. */
static double pair_bound(const struct bounds *bounds, double c, uint32_t j,
                         uint32_t k)
{
    const double least = lesser(lesser(bounds->v[j], bounds->v[k]),
                                lesser(bounds->x_max[k] * bounds->m[j],
                                       bounds->x_max[j] * bounds->m[k]));

    if (bounds->m[j] == 0 || bounds->m[k] == 0)
        return 0;
    return c * least * BOUNDS_SLACK + TINY;
}

/* Lower triangle. */
static void hessian_exponents(const struct bounds *bounds,
                              const struct factors *factors, int16_t *exponent)
{
    for (uint32_t j = 0; j < bounds->dims; j++) {
        for (uint32_t k = 0; k <= j; k++)
            *exponent++ =
                tally_exponent(pair_bound(bounds, factors->norm, j, k));
    }
}

/* Steps of the loss's exponent where residuals are bounded by themselves: 78
 * bits are left at least, and the scale of a round stays what it was. */
#define LOSS_STEP 32

/* The losses of all rows together, if no score is above `score`. */
static double loss_bound(const struct bounds *bounds,
                         const struct problem *problem, double score)
{
    const struct model_ops *const model = problem->model;
    const double root = (model->regression ? bounds->label : 1) + score;
    const double each = model->squared ? root * root : 2 * score + 32;

    return (double)problem->data->rows * bounds->weight * each * BOUNDS_SLACK +
           TINY;
}

/* Of the gradient's tally; the others have no loss, but for a line's trial.
 * ERR_RANGE as the rest. */
static enum err loss_exponent(const struct bounds *bounds,
                              const struct problem *problem,
                              const struct evaluation *what, double score,
                              int16_t *exponent)
{
    double bound;
    int e;

    *exponent = 0;
    if (what->kind != EVALUATE_GRADIENT && what->kind != EVALUATE_LINE)
        return ERR_OK;
    bound = loss_bound(bounds, problem, score);
    if (!(bound < BOUNDS_HUGE))
        return ERR_RANGE;
    e = tally_loss_exponent(bound);
    if (problem->model->bound_score == 0) /* Down to the next step. */
        e = (int)floor(e / (double)LOSS_STEP) * LOSS_STEP;
    *exponent = (int16_t)e;
    return ERR_OK;
}

/* Bits of the column with the fewest, of those that share an exponent. */
static int least_bits(const struct bounds *bounds)
{
    double most = 0;
    double least = HUGE_VAL;

    for (uint32_t j = 0; j < bounds->dims; j++) {
        most = larger(most, bounds->u[j]);
        if (bounds->u[j] > 0)
            least = lesser(least, bounds->u[j]);
    }
    return most > 0
               ? TALLY_BITS - (tally_exponent(least) - tally_exponent(most))
               : TALLY_BITS;
}

/* The largest value of a column so small that squares vanish, or 0. */
static double vanishing(const struct bounds *bounds)
{
    for (uint32_t j = 0; j < bounds->dims; j++) {
        if (bounds->x_max[j] > 0 && bounds->x_max[j] < VALUE_LEAST)
            return bounds->x_max[j];
    }
    return 0;
}

enum err bounds_measure_all(struct bounds *bounds,
                            const struct problem *problem, struct pool *pool,
                            struct why *why)
{
    const enum err err = bounds_measure(bounds, problem, pool);

    if (err == ERR_RANGE)
        return why_set(why, err,
                       "values, labels or weights are so large that their sums "
                       "might be no numbers: divide them by some power of 10");
    if (err != ERR_OK)
        return err;
    if (!(loss_bound(bounds, problem, 0) < BOUNDS_HUGE))
        return why_set(why, ERR_RANGE,
                       "a label of size %g is too large, the sum of squares "
                       "might be no number: divide the labels by some power "
                       "of 10",
                       bounds->label);
    if (vanishing(bounds) > 0)
        return why_set(why, ERR_RANGE,
                       "a column's values are at most %g, and their squares "
                       "would be 0: multiply it by some power of 10; in "
                       "tables --scale minmax does",
                       vanishing(bounds));
    if (problem_quantises(problem) && least_bits(bounds) < INDEX_BITS_LEAST)
        return why_set(why, ERR_RANGE,
                       "the weights of rows are so far apart that columns of "
                       "zeros and ones, which share a scale, would keep %d "
                       "bits; --storage csr gives each its own",
                       least_bits(bounds));
    return ERR_OK;
}

/* Profile csr: sums have SPARSE_CSR_BITS bits, exponents a limited span.  A
 * column of zeros takes the coarsest; one whose bound is less than 2^-63 of the
 * largest keeps the finest there is. */
static int16_t csr_exponent(double bound, double largest)
{
    const int fewer = TALLY_BITS - SPARSE_CSR_BITS;
    const int least = tally_exponent(largest) - fewer;
    const int most = least + SPARSE_EXPONENT_SPAN;
    const int own = tally_exponent(bound) - fewer;

    if (bound == 0)
        return (int16_t)least;
    return (int16_t)(own < most ? own : most);
}

/* What kind of rows it is decides once, not for every column. */
static void gradient_exponents(const struct bounds *bounds,
                               const struct problem *problem,
                               const struct factors *factors, double largest,
                               int16_t *exponent)
{
    const bool csr =
        problem->data->storage == STORAGE_CSR && !problem->model->classes;
    const int16_t all = tally_exponent(largest);

    if (problem_quantises(problem)) {
        for (uint32_t j = 0; j < bounds->dims; j++)
            exponent[j] = all;
        return;
    }
    for (uint32_t j = 0; j < bounds->dims; j++) {
        const double bound = column_bound(bounds, factors, j);

        exponent[j] =
            csr ? csr_exponent(bound, largest) : tally_exponent(bound);
    }
}

static enum err find_exponents(const struct bounds *bounds,
                               const struct problem *problem,
                               const struct evaluation *what,
                               const struct factors *factors, int16_t *exponent)
{
    const uint32_t outputs = problem_outputs(problem);
    double largest = 0;

    for (uint32_t j = 0; j < bounds->dims; j++)
        largest = larger(largest, column_bound(bounds, factors, j));
    if (!isfinite(largest))
        return ERR_RANGE;
    if (what->kind == EVALUATE_HESSIAN) {
        CHECK(problem_has_hessian(problem));
        hessian_exponents(bounds, factors, exponent);
        return ERR_OK;
    }
    gradient_exponents(bounds, problem, factors, largest, exponent);
    for (uint32_t k = 1; k < outputs; k++)
        memcpy(exponent + (size_t)k * bounds->dims, exponent,
               bounds->dims * sizeof *exponent);
    return ERR_OK;
}

/* Are they as the last call left them?  Where residuals are bounded by
 * themselves (logistic, hinge) nothing depends on w but whether a score might
 * overflow. */
static bool as_before(const struct bounds_memo *memo,
                      const struct evaluation *what,
                      const struct factors *factors)
{
    return memo->known && what->kind == EVALUATE_GRADIENT &&
           memo->label == factors->label && memo->norm == factors->norm &&
           memo->zeta == factors->zeta;
}

static void remember(const struct evaluation *what,
                     const struct factors *factors, struct bounds_memo *memo)
{
    *memo = (struct bounds_memo){.known = what->kind == EVALUATE_GRADIENT,
                                 .label = factors->label,
                                 .norm = factors->norm,
                                 .zeta = factors->zeta};
}

enum err bounds_exponents_again(const struct bounds *bounds,
                                const struct problem *problem,
                                const struct evaluation *what,
                                struct bounds_memo *memo, struct pool *pool,
                                int16_t *exponent)
{
    const struct problem at = problem_soft(problem, what->soft);
    const struct factors factors = factors_of(bounds, &at, what, pool);
    int16_t *const loss =
        &exponent[evaluation_dims(what->kind, problem_dims(problem))];
    const int16_t loss_before = *loss;
    enum err err = ERR_OK;

    /* One of the two may be huge, if the other is not. */
    if (!(factors.score < BOUNDS_HUGE &&
          lesser(factors.norm, factors.zeta) < HUGE_VAL))
        return ERR_RANGE;
    memo->same = as_before(memo, what, &factors);
    if (!memo->same) {
        memo->known = false;
        err = find_exponents(bounds, problem, what, &factors, exponent);
        if (err == ERR_OK)
            remember(what, &factors, memo);
    }
    if (err == ERR_OK)
        err = loss_exponent(bounds, problem, what, factors.score, loss);
    memo->known = memo->known && err == ERR_OK;
    memo->same = memo->same && err == ERR_OK && *loss == loss_before;
    return err;
}

enum err bounds_exponents(const struct bounds *bounds,
                          const struct problem *problem,
                          const struct evaluation *what, int16_t *exponent)
{
    struct bounds_memo memo = {0};

    return bounds_exponents_again(bounds, problem, what, &memo, NULL, exponent);
}
