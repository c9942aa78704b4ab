/*
 * bounds.c - how large a coordinate of the gradient can get, proved.
 *
 * With u = 2^-53 the unit roundoff and n operations the computed sum of
 * non-negative terms is within a factor 1 +- n u of the true one.  No sum here
 * or in the kernel has more than 2^30 terms (rows of a chunk) or 2^24 + 8
 * (columns), so each of the factors
 *     |x_i| computed, U_j and V_j of a chunk computed, z_i computed,
 *     r_i computed from z_i, g_j of a chunk computed
 * errs by less than 2^-22, and SLACK = 1 + 2^-18 covers all of them together.
 * It is applied twice: to each chunk's part of U and V (then rounded up to an
 * integer, so that the sum over chunks has neither rounding nor order) and to
 * the final bound, where it also leaves room, 2^44 units (2^39 in profile csr,
 * whose sums have fewer bits), for the half unit by which each of at most
 * CHUNKS_MAX chunks, or of 2^30 sparse rows, is rounded in a tally.  The same
 * holds for h and x . v in place of r and z: a second derivative is at most c
 * but for three roundings.  Softmax: p_k <= 1 holds with rounding too
 * (softmax.h); sum_l p_l t_l has at most 2^10 terms.
 *
 * Sparse rows go into U and V one by one, each rounded up.  The index profile
 * quantises weights: it adds to |z_i| at most nnz_i 2^-30 max|w|, which with
 * nnz_i = |x_i|^2 <= 2^24 is at most 2^-18 |x_i||w|: SLACK once more, on |w|.
 * (Not softmax's: it reads such rows as csr ones whose values are 1.)
 *
 * Underflow: fp32 products cannot underflow in binary64, products with y or w
 * can, by less than 2^-1074 each; TINY added to every bound covers 2^50 of
 * them.  Squares of fp64 values can, too: of at most 2^24 + 8 columns |x_i|
 * then lacks less than 2^-520 (NORM_LOST), and V_j less than 2^-520 M_j.  V_j
 * below 2^-900 may lack more than its share, and is not used.  A
 * column of zeros has M_j = 0 exactly and a gradient of 0 exactly.
 * Overflow: beyond HUGE_BOUND the bound is refused, for then z itself might
 * overflow although the bound does not.  No partial sum of z is above |x_i||w|,
 * nor above zeta; the lesser counts.
 *
 * zeta of quantised weights: each errs by less than 2^-30 max|w|, a row has at
 * most |x_i|^2 of them, and zeta is at least max|w|.
 */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "math/compiler.h"
#include "math/exact/grid.h"
#include "math/kernel/survey.h"
#include "math/vec.h"
#include "model/linear/problem.h"

#define SLACK      (1 + 0x1p-18)
#define TINY       0x1p-1022
#define HUGE_BOUND 0x1p960
/* Squares of less, summed up, would lose bits or be 0. */
#define VALUE_LEAST      1e-140
#define LEAST_V          0x1p-900
#define INDEX_BITS_LEAST 30
#define NORM_LOST        0x1p-520 /* What |x_i| may lack by underflow. */

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

void bounds_close(struct bounds *bounds)
{
    mem_free(bounds->u);
    mem_free(bounds->v);
    mem_free(bounds->m);
    mem_free(bounds->x_max);
    *bounds = (struct bounds){0};
}

/* One thread's share: maxima from the first pass, then integer sums. */
struct part {
    double *x_max;                    /* Per column. */
    double y_max, x_norm, weight_max; /* Largest |y_i|, |x_i|, weight. */
    float *room;                      /* Dense: a few rows as floats. */
    double *chunk;                    /* Dense: u, v, m of the chunk at hand. */
    int64_t *sum;                     /* U, V, M. */
};

struct measure {
    const struct dataset *data;
    enum isa isa; /* Any: they agree to the bit. */
    bool numbers; /* Labels have a size; those that name classes count 1. */
    struct part *parts; /* One per thread. */
    uint32_t threads;
    uint32_t first; /* Chunk; items of the pool count from there. */
    int16_t *scale; /* Of U, V, M. */
};

static double weight_of(const double *weight, uint32_t row)
{
    return weight != NULL ? weight[row] : 1;
}

static double label_size(const struct measure *measure, double y)
{
    return measure->numbers ? fabs(y) : 1;
}

static void find_label_maxima(struct part *part, double label, double weight)
{
    /* fmax is a call because it must mind NaN; there is none here. */
    part->y_max = label > part->y_max ? label : part->y_max;
    part->weight_max = weight > part->weight_max ? weight : part->weight_max;
}

/* First pass: maxima, which have no order either. */
static void find_maxima(void *context, uint32_t thread, uint32_t item)
{
    const struct measure *const measure = context;
    struct part *const part = &measure->parts[thread];
    const struct dense_rows rows =
        dataset_chunk(measure->data, measure->first + item);

    const double norm =
        survey_maxima(measure->isa, &rows, part->room, part->x_max);

    part->x_norm = fmax(part->x_norm, norm);
    for (uint32_t i = 0; i < rows.rows; i++)
        find_label_maxima(part, label_size(measure, rows.y[i]),
                          weight_of(rows.weight, i));
}

/* The integer at or above value * 2^exponent. */
static int64_t round_up(double value, int16_t exponent)
{
    const double scaled = value * SLACK * power_of_two(exponent);
    int64_t whole;

    CHECK(scaled < 0x1p63);
    whole = (int64_t)scaled; /* Not ceil, which is a call for each entry. */
    return whole + ((double)whole < scaled);
}

/* Second pass: sum_i s_i |x_ij||y_i|, sum_i s_i |x_ij||x_i| and
 * sum_i s_i |x_ij| of one chunk. */
static void add_chunk(void *context, uint32_t thread, uint32_t item)
{
    const struct measure *const measure = context;
    struct part *const part = &measure->parts[thread];
    struct dense_rows rows =
        dataset_chunk(measure->data, measure->first + item);

    const size_t stride = rows.stride;

    memset(part->chunk, 0, BOUNDS_SUMS * stride * sizeof *part->chunk);
    if (!measure->numbers)
        rows.y = NULL;
    survey_sums(measure->isa, &rows, part->room, part->chunk,
                part->chunk + stride, part->chunk + 2 * stride);
    for (size_t j = 0; j < BOUNDS_SUMS * stride; j++)
        part->sum[j] += round_up(part->chunk[j], measure->scale[j]);
}

static float entry(const struct sparse_rows *rows, uint64_t at)
{
    return rows->value != NULL ? rows->value[at] : 1;
}

static double sparse_norm(const struct sparse_rows *rows, uint32_t row)
{
    double sum = 0;

    for (uint64_t k = rows->begin[row]; k < rows->begin[row + 1]; k++) {
        const double x = (double)entry(rows, k);

        sum += x * x;
    }
    return sqrt(sum);
}

static void find_sparse_maxima(void *context, uint32_t thread, uint32_t item)
{
    const struct measure *const measure = context;
    struct part *const part = &measure->parts[thread];
    const struct sparse_rows rows =
        dataset_sparse_chunk(measure->data, measure->first + item);

    for (uint32_t i = 0; i < rows.rows; i++) {
        for (uint64_t k = rows.begin[i]; k < rows.begin[i + 1]; k++) {
            double *const x_max = &part->x_max[rows.column[k]];
            const double x = fabs((double)entry(&rows, k));

            *x_max = x > *x_max ? x : *x_max; /* As in find_label_maxima. */
        }
        part->x_norm = fmax(part->x_norm, sparse_norm(&rows, i));
        find_label_maxima(part, label_size(measure, rows.y[i]),
                          weight_of(rows.weight, i));
    }
}

/* Labels of classes have size 1: their u is m, to the bit. */
static void take_over_m(int64_t *sum, size_t stride)
{
    memcpy(sum, sum + 2 * stride, stride * sizeof *sum);
}

/* Each entry is rounded up by itself: a vector per chunk would cost more than
 * the chunk. */
static void add_sparse_chunk(void *context, uint32_t thread, uint32_t item)
{
    const struct measure *const measure = context;
    const struct sparse_rows rows =
        dataset_sparse_chunk(measure->data, measure->first + item);
    const size_t stride = measure->data->stride;
    const int16_t *const scale = measure->scale;
    int64_t *const sum = measure->parts[thread].sum;

    for (uint32_t i = 0; i < rows.rows; i++) {
        const double weight = weight_of(rows.weight, i);
        const double label = label_size(measure, rows.y[i]) * weight;
        const double norm = sparse_norm(&rows, i) * weight;

        for (uint64_t k = rows.begin[i]; k < rows.begin[i + 1]; k++) {
            const double x = fabs((double)entry(&rows, k));
            const size_t u = rows.column[k];
            const size_t v = u + stride;
            const size_t m = v + stride;

            if (measure->numbers)
                sum[u] += round_up(x * label, scale[u]);
            sum[v] += round_up(x * norm, scale[v]);
            sum[m] += round_up(x * weight, scale[m]);
        }
    }
}

static void measure_close(struct measure *measure)
{
    for (uint32_t t = 0; measure->parts != NULL && t < measure->threads; t++) {
        struct part *const part = &measure->parts[t];

        mem_free(part->x_max);
        mem_free(part->room);
        mem_free(part->chunk);
        mem_free(part->sum);
    }
    mem_free(measure->parts);
    mem_free(measure->scale);
}

static bool part_init(struct part *part, uint32_t dims, bool sparse)
{
    const size_t dense = sparse ? 0 : dims;

    part->x_max = mem_new(dims, sizeof *part->x_max);
    part->room = mem_new(SURVEY_BLOCK * dense, sizeof *part->room);
    part->chunk = mem_new(BOUNDS_SUMS * dense, sizeof *part->chunk);
    part->sum = mem_new(BOUNDS_SUMS * (size_t)dims, sizeof *part->sum);
    return part->x_max != NULL && part->room != NULL && part->chunk != NULL &&
           part->sum != NULL;
}

static enum err measure_init(struct measure *measure, uint32_t dims)
{
    const bool sparse = dataset_is_sparse(measure->data);
    bool ok;

    measure->parts = mem_new(measure->threads, sizeof *measure->parts);
    measure->scale =
        mem_new(BOUNDS_SUMS * (size_t)dims, sizeof *measure->scale);
    ok = measure->parts != NULL && measure->scale != NULL;
    for (uint32_t t = 0; ok && t < measure->threads; t++)
        ok = part_init(&measure->parts[t], dims, sparse);
    return ok ? ERR_OK : ERR_NOMEM;
}

static void join_maxima(struct measure *measure)
{
    struct part *const all = &measure->parts[0];

    for (uint32_t t = 1; t < measure->threads; t++) {
        const struct part *const part = &measure->parts[t];

        for (uint32_t j = 0; j < measure->data->stride; j++)
            all->x_max[j] = fmax(all->x_max[j], part->x_max[j]);
        all->x_norm = fmax(all->x_norm, part->x_norm);
        find_label_maxima(all, part->y_max, part->weight_max);
    }
}

/* Scales from the crude bound rows * max * max, which no sum exceeds.  One bit
 * is left for SLACK and the rounding up of each chunk or sparse row. */
enum err bounds_scales(const struct bounds_sizes *sizes, uint64_t rows,
                       int16_t *scale)
{
    const double factor[BOUNDS_SUMS] = {sizes->label, sizes->norm, 1};

    for (uint32_t j = 0; j < sizes->dims; j++) {
        const double each = 2 * (double)rows * sizes->x_max[j] * sizes->weight;

        for (size_t q = 0; q < BOUNDS_SUMS; q++) {
            if (!(each * factor[q] < HUGE_BOUND))
                return ERR_RANGE;
            scale[q * sizes->dims + j] = tally_exponent(each * factor[q]);
        }
    }
    return ERR_OK;
}

static struct bounds_sizes sizes_of(const struct measure *measure)
{
    const struct part *const all = &measure->parts[0];

    return (struct bounds_sizes){.dims = measure->data->stride,
                                 .x_max = all->x_max,
                                 .label = all->y_max,
                                 .norm = all->x_norm,
                                 .weight = all->weight_max};
}

static void sum_parts(const struct measure *measure, int64_t *sum)
{
    for (size_t j = 0; j < BOUNDS_SUMS * (size_t)measure->data->stride; j++) {
        sum[j] = 0;
        for (uint32_t t = 0; t < measure->threads; t++)
            sum[j] += measure->parts[t].sum[j];
    }
}

/* V_j that underflowed says nothing: M_j does. */
static double settled_v(double v, double m)
{
    if (v < LEAST_V && m > 0)
        return HUGE_VAL;
    return v + m * NORM_LOST;
}

void bounds_settle(struct bounds *bounds, const struct bounds_sizes *sizes,
                   const int16_t *scale, const int64_t *sum)
{
    const size_t dims = bounds->dims;

    for (size_t j = 0; j < dims; j++) {
        /* The conversion may round down by 2^-53: bounds_exponents' SLACK. */
        bounds->u[j] = ldexp((double)sum[j], -scale[j]);
        bounds->m[j] = ldexp((double)sum[2 * dims + j], -scale[2 * dims + j]);
        bounds->v[j] = settled_v(ldexp((double)sum[dims + j], -scale[dims + j]),
                                 bounds->m[j]);
        bounds->x_max[j] = sizes->x_max[j];
    }
    bounds->label = sizes->label;
    bounds->norm = sizes->norm + NORM_LOST;
    bounds->weight = sizes->weight;
}

enum err bounds_measure(struct bounds *bounds, const struct problem *problem,
                        struct pool *pool)
{
    return bounds_measure_part(bounds, problem, 0,
                               dataset_chunks(problem->data), pool);
}

static struct measure measure_of(const struct problem *problem, uint32_t first,
                                 const struct pool *pool)
{
    return (struct measure){.data = problem->data,
                            .isa = isa_best(),
                            .numbers = !problem->model->classes,
                            .threads = pool->threads,
                            .first = first};
}

static void measure_maxima(struct measure *measure, uint32_t count,
                           struct pool *pool)
{
    pool->run(pool,
              dataset_is_sparse(measure->data) ? find_sparse_maxima
                                               : find_maxima,
              measure, count);
    join_maxima(measure);
}

/* After the scales are chosen. */
static void measure_sums(struct measure *measure, uint32_t count,
                         struct pool *pool, int64_t *sum)
{
    pool->run(pool,
              dataset_is_sparse(measure->data) ? add_sparse_chunk : add_chunk,
              measure, count);
    sum_parts(measure, sum);
    if (dataset_is_sparse(measure->data) && !measure->numbers)
        take_over_m(sum, measure->data->stride);
}

enum err bounds_measure_part(struct bounds *bounds,
                             const struct problem *problem, uint32_t first,
                             uint32_t end, struct pool *pool)
{
    const struct dataset *const data = problem->data;
    struct measure measure = measure_of(problem, first, pool);
    struct bounds_sizes sizes = {0};
    int64_t *sum = mem_new(BOUNDS_SUMS * (size_t)data->stride, sizeof *sum);
    enum err err;

    CHECK(bounds->dims == data->stride);
    CHECK(chunkset_has_range(&data->present, first, end));
    err = measure_init(&measure, data->stride);
    if (err == ERR_OK && sum == NULL)
        err = ERR_NOMEM;
    if (err == ERR_OK) {
        measure_maxima(&measure, end - first, pool);
        sizes = sizes_of(&measure);
        err = bounds_scales(&sizes, data->rows, measure.scale);
    }
    if (err == ERR_OK) {
        measure_sums(&measure, end - first, pool, sum);
        bounds_settle(bounds, &sizes, measure.scale, sum);
    }
    measure_close(&measure);
    mem_free(sum);
    return err;
}

enum err bounds_sizes_init(struct bounds_sizes *sizes, uint32_t dims)
{
    *sizes = (struct bounds_sizes){.dims = dims};
    sizes->x_max = mem_new(dims, sizeof *sizes->x_max);
    return sizes->x_max == NULL ? ERR_NOMEM : ERR_OK;
}

void bounds_sizes_close(struct bounds_sizes *sizes)
{
    mem_free(sizes->x_max);
    *sizes = (struct bounds_sizes){0};
}

enum err bounds_sizes_measure(struct bounds_sizes *sizes,
                              const struct problem *problem, struct pool *pool)
{
    struct measure measure = measure_of(problem, 0, pool);
    enum err err = measure_init(&measure, problem->data->stride);

    CHECK(sizes->dims == problem->data->stride);
    if (err == ERR_OK) {
        struct bounds_sizes found;

        measure_maxima(&measure, dataset_chunks(problem->data), pool);
        found = sizes_of(&measure);
        bounds_sizes_join(sizes, &found);
    }
    measure_close(&measure);
    return err;
}

void bounds_sizes_join(struct bounds_sizes *into,
                       const struct bounds_sizes *from)
{
    CHECK(into->dims == from->dims);
    for (uint32_t j = 0; j < into->dims; j++)
        into->x_max[j] = fmax(into->x_max[j], from->x_max[j]);
    into->label = fmax(into->label, from->label);
    into->norm = fmax(into->norm, from->norm);
    into->weight = fmax(into->weight, from->weight);
}

enum err bounds_sums(const struct problem *problem, const int16_t *scale,
                     struct pool *pool, int64_t *sum)
{
    struct measure measure = measure_of(problem, 0, pool);
    const uint32_t dims = problem->data->stride;
    enum err err = measure_init(&measure, dims);

    if (err == ERR_OK) {
        memcpy(measure.scale, scale,
               BOUNDS_SUMS * (size_t)dims * sizeof *scale);
        measure_sums(&measure, dataset_chunks(problem->data), pool, sum);
    }
    measure_close(&measure);
    return err;
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
static double norm_above(const double *w, uint32_t count)
{
    return vec_largest(w, count) * sqrt((double)count) * SLACK;
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
    return (struct reach){norm * SLACK,
                          zeta * (1 + bounds->norm * bounds->norm * 0x1p-30) +
                              TINY};
}

/* What the bounds of a round depend on besides the data. */
struct scale {
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
                           const struct scale *scale, uint32_t j)
{
    const double each = scale->squares ? bounds->x_max[j] : 1;
    const double bound =
        scale->label * bounds->u[j] +
        lesser(scale->norm * bounds->v[j], scale->zeta * each * bounds->m[j]);

    if (bounds->m[j] == 0)
        return 0;
    return bound < HUGE_BOUND ? bound * SLACK + TINY : HUGE_VAL;
}

/* At weights that need only be no overflow. */
static struct scale plain_scale(const struct bounds *bounds,
                                const struct problem *problem,
                                const struct evaluation *what)
{
    const double norm = norm_above(what->w, problem_dims(problem)) * SLACK;

    return (struct scale){.label = problem->model->bound_label,
                          .score = bounds->norm * norm};
}

/* Factors of U, V and M for what is asked. */
static struct scale scale_of(const struct bounds *bounds,
                             const struct problem *problem,
                             const struct evaluation *what)
{
    const struct model_ops *const model = problem->model;
    const double c = model->curvature;
    struct scale scale = plain_scale(bounds, problem, what);
    struct reach reach;

    switch (what->kind) {
    case EVALUATE_GRADIENT:
    case EVALUATE_SCORES:
    case EVALUATE_BACK:
    case EVALUATE_LOCAL: /* No tally: only whether w is within bounds. */
        if (model->bound_score == 0)
            return scale;
        reach = reach_of(bounds, problem, what->w);
        scale.norm = model->bound_score * reach.norm;
        scale.zeta = model->bound_score * reach.score;
        scale.score = lesser(bounds->norm * reach.norm, reach.score);
        return scale;
    case EVALUATE_HESSVEC:
        reach = reach_of(bounds, problem, what->v);
        scale.label = 0;
        scale.norm = c * reach.norm;
        scale.zeta = c * reach.score;
        return scale;
    case EVALUATE_DIAGONAL:
    case EVALUATE_HESSIAN: /* Whose diagonal is its largest. */
        break;
    }
    return (struct scale){0, c, c, true, scale.score};
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
    return c * least * SLACK + TINY;
}

/* Lower triangle. */
static void hessian_exponents(const struct bounds *bounds,
                              const struct scale *scale, int16_t *exponent)
{
    for (uint32_t j = 0; j < bounds->dims; j++) {
        for (uint32_t k = 0; k <= j; k++)
            *exponent++ = tally_exponent(pair_bound(bounds, scale->norm, j, k));
    }
}

/* Steps of the loss's exponent where residuals are bounded by themselves: 78
 * bits are left at least, and the scale of a round stays what it was. */
#define LOSS_STEP 32

/* The losses of all rows together, if no score is above `score`. */
static double loss_bound(const struct bounds *bounds,
                         const struct problem *problem, double score)
{
    const enum loss kind = problem->model->loss;
    const double root = (kind == LOSS_SQUARED ? bounds->label : 1) + score;
    const double each =
        problem->model->bound_score != 0 ? root * root : 2 * score + 32;

    return (double)problem->data->rows * bounds->weight * each * SLACK + TINY;
}

/* Of the gradient's tally; the others have no loss.  ERR_RANGE as the rest. */
static enum err loss_exponent(const struct bounds *bounds,
                              const struct problem *problem,
                              const struct evaluation *what, double score,
                              int16_t *exponent)
{
    double bound;
    int e;

    *exponent = 0;
    if (what->kind != EVALUATE_GRADIENT)
        return ERR_OK;
    bound = loss_bound(bounds, problem, score);
    if (!(bound < HUGE_BOUND))
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
    if (!(loss_bound(bounds, problem, 0) < HUGE_BOUND))
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
                               const struct scale *scale, double largest,
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
        const double bound = column_bound(bounds, scale, j);

        exponent[j] =
            csr ? csr_exponent(bound, largest) : tally_exponent(bound);
    }
}

static enum err find_exponents(const struct bounds *bounds,
                               const struct problem *problem,
                               const struct evaluation *what,
                               const struct scale *scale, int16_t *exponent)
{
    const uint32_t outputs = problem_outputs(problem);
    double largest = 0;

    for (uint32_t j = 0; j < bounds->dims; j++)
        largest = larger(largest, column_bound(bounds, scale, j));
    if (!isfinite(largest))
        return ERR_RANGE;
    if (what->kind == EVALUATE_HESSIAN) {
        CHECK(problem_has_hessian(problem));
        hessian_exponents(bounds, scale, exponent);
        return ERR_OK;
    }
    gradient_exponents(bounds, problem, scale, largest, exponent);
    for (uint32_t k = 1; k < outputs; k++)
        memcpy(exponent + (size_t)k * bounds->dims, exponent,
               bounds->dims * sizeof *exponent);
    return ERR_OK;
}

/* Are they as the last call left them?  Where residuals are bounded by
 * themselves (logistic, hinge) nothing depends on w but whether a score might
 * overflow. */
static bool as_before(const struct bounds_memo *memo,
                      const struct evaluation *what, const struct scale *scale)
{
    return memo->known && what->kind == EVALUATE_GRADIENT &&
           memo->label == scale->label && memo->norm == scale->norm &&
           memo->zeta == scale->zeta;
}

static void remember(const struct evaluation *what, const struct scale *scale,
                     struct bounds_memo *memo)
{
    *memo = (struct bounds_memo){.known = what->kind == EVALUATE_GRADIENT,
                                 .label = scale->label,
                                 .norm = scale->norm,
                                 .zeta = scale->zeta};
}

enum err bounds_exponents_again(const struct bounds *bounds,
                                const struct problem *problem,
                                const struct evaluation *what,
                                struct bounds_memo *memo, int16_t *exponent)
{
    const struct problem at = problem_soft(problem, what->soft);
    const struct scale scale = scale_of(bounds, &at, what);
    enum err err = ERR_OK;

    /* One of the two may be huge, if the other is not. */
    if (!(scale.score < HUGE_BOUND &&
          lesser(scale.norm, scale.zeta) < HUGE_VAL))
        return ERR_RANGE;
    if (!as_before(memo, what, &scale)) {
        memo->known = false;
        err = find_exponents(bounds, problem, what, &scale, exponent);
        if (err == ERR_OK)
            remember(what, &scale, memo);
    }
    if (err != ERR_OK)
        return err;
    return loss_exponent(
        bounds, problem, what, scale.score,
        &exponent[evaluation_dims(what->kind, problem_dims(problem))]);
}

enum err bounds_exponents(const struct bounds *bounds,
                          const struct problem *problem,
                          const struct evaluation *what, int16_t *exponent)
{
    struct bounds_memo memo = {0};

    return bounds_exponents_again(bounds, problem, what, &memo, exponent);
}
