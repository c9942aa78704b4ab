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
 * them.  A column of zeros has V_j = 0 exactly and a gradient of 0 exactly.
 * Overflow: beyond HUGE_BOUND the bound is refused, for then z itself might
 * overflow although the bound does not.
 */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "math/grid.h"
#include "math/survey.h"
#include "math/vec.h"
#include "model/problem.h"

#define SLACK      (1 + 0x1p-18)
#define TINY       0x1p-1022
#define HUGE_BOUND 0x1p960

enum err bounds_init(struct bounds *bounds, uint32_t dims)
{
    struct bounds made = {.dims = dims};

    made.u = mem_new(dims, sizeof *made.u);
    made.v = mem_new(dims, sizeof *made.v);
    if (made.u == NULL || made.v == NULL) {
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
    *bounds = (struct bounds){0};
}

/* One thread's share: maxima from the first pass, then integer sums. */
struct part {
    double *x_max;                    /* Per column. */
    double y_max, x_norm, weight_max; /* Largest |y_i|, |x_i|, weight. */
    float *room;                      /* Dense: a few rows as floats. */
    double *u, *v;                    /* Dense: of the chunk at hand. */
    int64_t *u_sum, *v_sum;
};

struct measure {
    const struct dataset *data;
    enum isa isa; /* Any: they agree to the bit. */
    bool numbers; /* Labels have a size; those that name classes count 1. */
    struct part *parts; /* One per thread. */
    uint32_t threads;
    uint32_t first; /* Chunk; items of the pool count from there. */
    int16_t *u_exponent, *v_exponent;
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
    const double scaled = ceil(value * SLACK * power_of_two(exponent));

    CHECK(scaled < 0x1p63);
    return (int64_t)scaled;
}

/* Second pass: sum_i s_i |x_ij||y_i| and sum_i s_i |x_ij||x_i| of one chunk. */
static void add_chunk(void *context, uint32_t thread, uint32_t item)
{
    const struct measure *const measure = context;
    struct part *const part = &measure->parts[thread];
    struct dense_rows rows =
        dataset_chunk(measure->data, measure->first + item);

    memset(part->u, 0, rows.stride * sizeof *part->u);
    memset(part->v, 0, rows.stride * sizeof *part->v);
    if (!measure->numbers)
        rows.y = NULL;
    survey_sums(measure->isa, &rows, part->room, part->u, part->v);
    for (uint32_t j = 0; j < rows.stride; j++) {
        part->u_sum[j] += round_up(part->u[j], measure->u_exponent[j]);
        part->v_sum[j] += round_up(part->v[j], measure->v_exponent[j]);
    }
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

            *x_max = fmax(*x_max, fabs((double)entry(&rows, k)));
        }
        part->x_norm = fmax(part->x_norm, sparse_norm(&rows, i));
        find_label_maxima(part, label_size(measure, rows.y[i]),
                          weight_of(rows.weight, i));
    }
}

/* Each entry is rounded up by itself: a vector per chunk would cost more than
 * the chunk. */
static void add_sparse_chunk(void *context, uint32_t thread, uint32_t item)
{
    const struct measure *const measure = context;
    struct part *const part = &measure->parts[thread];
    const struct sparse_rows rows =
        dataset_sparse_chunk(measure->data, measure->first + item);

    for (uint32_t i = 0; i < rows.rows; i++) {
        const double weight = weight_of(rows.weight, i);
        const double label = label_size(measure, rows.y[i]) * weight;
        const double norm = sparse_norm(&rows, i) * weight;

        for (uint64_t k = rows.begin[i]; k < rows.begin[i + 1]; k++) {
            const uint32_t j = rows.column[k];
            const double x = fabs((double)entry(&rows, k));

            part->u_sum[j] += round_up(x * label, measure->u_exponent[j]);
            part->v_sum[j] += round_up(x * norm, measure->v_exponent[j]);
        }
    }
}

static void measure_close(struct measure *measure)
{
    for (uint32_t t = 0; measure->parts != NULL && t < measure->threads; t++) {
        struct part *const part = &measure->parts[t];

        mem_free(part->x_max);
        mem_free(part->room);
        mem_free(part->u);
        mem_free(part->v);
        mem_free(part->u_sum);
        mem_free(part->v_sum);
    }
    mem_free(measure->parts);
    mem_free(measure->u_exponent);
    mem_free(measure->v_exponent);
}

static bool part_init(struct part *part, uint32_t dims, bool sparse)
{
    const uint32_t dense = sparse ? 0 : dims;

    part->x_max = mem_new(dims, sizeof *part->x_max);
    part->room = mem_new((size_t)SURVEY_BLOCK * dense, sizeof *part->room);
    part->u = mem_new(dense, sizeof *part->u);
    part->v = mem_new(dense, sizeof *part->v);
    part->u_sum = mem_new(dims, sizeof *part->u_sum);
    part->v_sum = mem_new(dims, sizeof *part->v_sum);
    return part->x_max != NULL && part->room != NULL && part->u != NULL &&
           part->v != NULL && part->u_sum != NULL && part->v_sum != NULL;
}

static enum err measure_init(struct measure *measure, uint32_t dims)
{
    const bool sparse = dataset_is_sparse(measure->data);
    bool ok;

    measure->parts = mem_new(measure->threads, sizeof *measure->parts);
    measure->u_exponent = mem_new(dims, sizeof *measure->u_exponent);
    measure->v_exponent = mem_new(dims, sizeof *measure->v_exponent);
    ok = measure->parts != NULL && measure->u_exponent != NULL &&
         measure->v_exponent != NULL;
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
                       int16_t *u, int16_t *v)
{
    for (uint32_t j = 0; j < sizes->dims; j++) {
        const double each = 2 * (double)rows * sizes->x_max[j] * sizes->weight;

        if (!(each * sizes->label < HUGE_BOUND &&
              each * sizes->norm < HUGE_BOUND))
            return ERR_RANGE;
        u[j] = tally_exponent(each * sizes->label);
        v[j] = tally_exponent(each * sizes->norm);
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

static void sum_parts(const struct measure *measure, int64_t *u, int64_t *v)
{
    for (uint32_t j = 0; j < measure->data->stride; j++) {
        u[j] = 0;
        v[j] = 0;
        for (uint32_t t = 0; t < measure->threads; t++) {
            u[j] += measure->parts[t].u_sum[j];
            v[j] += measure->parts[t].v_sum[j];
        }
    }
}

void bounds_settle(struct bounds *bounds, const struct bounds_sizes *sizes,
                   const int16_t *u, const int16_t *v, const int64_t *u_sum,
                   const int64_t *v_sum)
{
    for (uint32_t j = 0; j < bounds->dims; j++) {
        /* The conversion may round down by 2^-53: bounds_exponents' SLACK. */
        bounds->u[j] = ldexp((double)u_sum[j], -u[j]);
        bounds->v[j] = ldexp((double)v_sum[j], -v[j]);
    }
    bounds->label = sizes->label;
    bounds->norm = sizes->norm;
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
                         struct pool *pool, int64_t *u, int64_t *v)
{
    pool->run(pool,
              dataset_is_sparse(measure->data) ? add_sparse_chunk : add_chunk,
              measure, count);
    sum_parts(measure, u, v);
}

enum err bounds_measure_part(struct bounds *bounds,
                             const struct problem *problem, uint32_t first,
                             uint32_t end, struct pool *pool)
{
    const struct dataset *const data = problem->data;
    struct measure measure = measure_of(problem, first, pool);
    struct bounds_sizes sizes = {0};
    int64_t *u = mem_new(data->stride, sizeof *u);
    int64_t *v = mem_new(data->stride, sizeof *v);
    enum err err;

    CHECK(bounds->dims == data->stride);
    CHECK(chunkset_has_range(&data->present, first, end));
    err = measure_init(&measure, data->stride);
    if (err == ERR_OK && (u == NULL || v == NULL))
        err = ERR_NOMEM;
    if (err == ERR_OK) {
        measure_maxima(&measure, end - first, pool);
        sizes = sizes_of(&measure);
        err = bounds_scales(&sizes, data->rows, measure.u_exponent,
                            measure.v_exponent);
    }
    if (err == ERR_OK) {
        measure_sums(&measure, end - first, pool, u, v);
        bounds_settle(bounds, &sizes, measure.u_exponent, measure.v_exponent, u,
                      v);
    }
    measure_close(&measure);
    mem_free(u);
    mem_free(v);
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

enum err bounds_sums(const struct problem *problem, const int16_t *u,
                     const int16_t *v, struct pool *pool, int64_t *u_sum,
                     int64_t *v_sum)
{
    struct measure measure = measure_of(problem, 0, pool);
    const uint32_t dims = problem->data->stride;
    enum err err = measure_init(&measure, dims);

    if (err == ERR_OK) {
        memcpy(measure.u_exponent, u, dims * sizeof *u);
        memcpy(measure.v_exponent, v, dims * sizeof *v);
        measure_sums(&measure, dataset_chunks(problem->data), pool, u_sum,
                     v_sum);
    }
    measure_close(&measure);
    return err;
}

/* fmax, but inline: neither is NaN. */
static double larger(double a, double b)
{
    return b > a ? b : a;
}

/* |w| without underflow or overflow on the way: scaled by the largest
 * coordinate. */
static double weight_norm(const double *w, uint32_t count)
{
    double largest = 0;
    double sum = 0;

    if (!vec_finite(w, count))
        return HUGE_VAL;
    for (uint32_t j = 0; j < count; j++)
        largest = larger(largest, fabs(w[j]));
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

/* What the bounds of a round depend on besides the data. */
struct scale {
    double label; /* Factor of U. */
    double score; /* Factor of V. */
    double w;     /* |w|, if scores are computed at all. */
};

/* The bound on column j; HUGE_VAL if it, or a score, might overflow. */
static double column_bound(const struct bounds *bounds,
                           const struct scale *scale, uint32_t j)
{
    const double bound =
        scale->label * bounds->u[j] + scale->score * bounds->v[j];

    if (!(scale->w * bounds->v[j] < HUGE_BOUND && bound < HUGE_BOUND))
        return HUGE_VAL;
    return bounds->v[j] == 0 ? 0 : bound * SLACK + TINY;
}

/* Factors of U and V for what is asked. */
static struct scale scale_of(const struct problem *problem,
                             const struct evaluation *what, uint32_t dims)
{
    const struct model_ops *const model = problem->model;
    const double slack = problem_quantises(problem) ? SLACK : 1;
    const double w = weight_norm(what->w, dims) * slack;

    switch (what->kind) {
    case EVALUATE_GRADIENT:
    case EVALUATE_SCORES:
    case EVALUATE_BACK:
    case EVALUATE_LOCAL: /* No tally: only whether w is within bounds. */
        return (struct scale){model->bound_label, model->bound_score * w, w};
    case EVALUATE_HESSVEC:
        return (struct scale){
            0, model->curvature * weight_norm(what->v, dims) * slack, w};
    case EVALUATE_HESSIAN:
    case EVALUATE_DIAGONAL:
        break;
    }
    return (struct scale){0, model->curvature, w};
}

/* Lower triangle: the smaller bound of the two columns. */
static void hessian_exponents(const struct bounds *bounds,
                              const struct scale *scale, int16_t *exponent)
{
    for (uint32_t j = 0; j < bounds->dims; j++) {
        const double row = column_bound(bounds, scale, j);

        for (uint32_t k = 0; k <= j; k++)
            *exponent++ =
                tally_exponent(fmin(row, column_bound(bounds, scale, k)));
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
                              const struct evaluation *what, double w,
                              int16_t *exponent)
{
    double bound;
    int e;

    *exponent = 0;
    if (what->kind != EVALUATE_GRADIENT)
        return ERR_OK;
    bound = loss_bound(bounds, problem, bounds->norm * w);
    if (!(bound < HUGE_BOUND))
        return ERR_RANGE;
    e = tally_loss_exponent(bound);
    if (problem->model->bound_score == 0) /* Down to the next step. */
        e = (int)floor(e / (double)LOSS_STEP) * LOSS_STEP;
    *exponent = (int16_t)e;
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
           memo->label == scale->label && memo->score == scale->score &&
           scale->w * memo->v < HUGE_BOUND;
}

static void remember(const struct bounds *bounds, const struct evaluation *what,
                     const struct scale *scale, struct bounds_memo *memo)
{
    *memo = (struct bounds_memo){.known = what->kind == EVALUATE_GRADIENT,
                                 .label = scale->label,
                                 .score = scale->score};
    for (uint32_t j = 0; j < bounds->dims; j++)
        memo->v = larger(memo->v, bounds->v[j]);
}

/* The common case, found out with one look at w: residuals that are bounded by
 * themselves, at weights that are nowhere near an overflow. */
static bool plainly_as_before(const struct problem *problem,
                              const struct evaluation *what,
                              const struct bounds_memo *memo, double above)
{
    const struct scale scale = {.label = problem->model->bound_label,
                                .w = above};

    return problem->model->bound_score == 0 && above < HUGE_BOUND &&
           as_before(memo, what, &scale);
}

/* Those of the sums. */
static enum err sum_exponents(const struct bounds *bounds,
                              const struct problem *problem,
                              const struct evaluation *what,
                              struct bounds_memo *memo, double *w,
                              int16_t *exponent)
{
    struct scale scale;
    enum err err;

    if (problem->model->bound_score == 0) {
        *w = norm_above(what->w, problem_dims(problem)) * SLACK;
        if (plainly_as_before(problem, what, memo, *w))
            return ERR_OK;
    }
    scale = scale_of(problem, what, problem_dims(problem));
    if (problem->model->bound_score != 0)
        *w = scale.w;
    if (!(scale.w < HUGE_BOUND && scale.score < HUGE_BOUND))
        return ERR_RANGE;
    if (as_before(memo, what, &scale))
        return ERR_OK;
    memo->known = false;
    err = find_exponents(bounds, problem, what, &scale, exponent);
    if (err == ERR_OK)
        remember(bounds, what, &scale, memo);
    return err;
}

enum err bounds_exponents_again(const struct bounds *bounds,
                                const struct problem *problem,
                                const struct evaluation *what,
                                struct bounds_memo *memo, int16_t *exponent)
{
    double w = 0;
    const enum err err =
        sum_exponents(bounds, problem, what, memo, &w, exponent);

    if (err != ERR_OK)
        return err;
    return loss_exponent(
        bounds, problem, what, w,
        &exponent[evaluation_dims(what->kind, problem_dims(problem))]);
}

enum err bounds_exponents(const struct bounds *bounds,
                          const struct problem *problem,
                          const struct evaluation *what, int16_t *exponent)
{
    struct bounds_memo memo = {0};

    return bounds_exponents_again(bounds, problem, what, &memo, exponent);
}
