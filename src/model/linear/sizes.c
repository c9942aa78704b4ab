/*
 * sizes.c - how large rows are: U, V and M of the proof in bounds.c.
 *
 * Two passes of all threads.  The first finds maxima, which fix a scale; the
 * second sums up integers on it, each rounded up.  Neither has an order, so the
 * bounds are the same bits for any number of threads, and for rows that lie on
 * several machines.
 */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "math/exact/grid.h"
#include "math/kernel/survey.h"
#include "model/linear/bounds.h"

#define LEAST_V   0x1p-900
#define NORM_LOST 0x1p-520 /* What |x_i| may lack by underflow. */

/* One thread's share: maxima from the first pass, then integer sums. */
struct gauge {
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
    struct gauge *gauges; /* One per thread. */
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

static void find_label_maxima(struct gauge *gauge, double label, double weight)
{
    /* fmax is a call because it must mind NaN; there is none here. */
    gauge->y_max = label > gauge->y_max ? label : gauge->y_max;
    gauge->weight_max = weight > gauge->weight_max ? weight : gauge->weight_max;
}

/* First pass: maxima, which have no order either. */
static void find_maxima(void *context, uint32_t thread, uint32_t item)
{
    const struct measure *const measure = context;
    struct gauge *const gauge = &measure->gauges[thread];
    const struct dense_rows rows =
        dataset_chunk(measure->data, measure->first + item);

    const double norm =
        survey_maxima(measure->isa, &rows, gauge->room, gauge->x_max);

    gauge->x_norm = fmax(gauge->x_norm, norm);
    for (uint32_t i = 0; i < rows.rows; i++)
        find_label_maxima(gauge, label_size(measure, rows.y[i]),
                          weight_of(rows.weight, i));
}

/* The integer at or above value * 2^exponent. */
static int64_t round_up(double value, int16_t exponent)
{
    const double scaled = value * BOUNDS_SLACK * power_of_two(exponent);
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
    struct gauge *const gauge = &measure->gauges[thread];
    struct dense_rows rows =
        dataset_chunk(measure->data, measure->first + item);

    const size_t stride = rows.stride;

    memset(gauge->chunk, 0, BOUNDS_SUMS * stride * sizeof *gauge->chunk);
    if (!measure->numbers)
        rows.y = NULL;
    survey_sums(measure->isa, &rows, gauge->room, gauge->chunk,
                gauge->chunk + stride, gauge->chunk + 2 * stride);
    for (size_t j = 0; j < BOUNDS_SUMS * stride; j++)
        gauge->sum[j] += round_up(gauge->chunk[j], measure->scale[j]);
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
    struct gauge *const gauge = &measure->gauges[thread];
    const struct sparse_rows rows =
        dataset_sparse_chunk(measure->data, measure->first + item);

    for (uint32_t i = 0; i < rows.rows; i++) {
        for (uint64_t k = rows.begin[i]; k < rows.begin[i + 1]; k++) {
            double *const x_max = &gauge->x_max[rows.column[k]];
            const double x = fabs((double)entry(&rows, k));

            *x_max = x > *x_max ? x : *x_max; /* As in find_label_maxima. */
        }
        gauge->x_norm = fmax(gauge->x_norm, sparse_norm(&rows, i));
        find_label_maxima(gauge, label_size(measure, rows.y[i]),
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
    int64_t *const sum = measure->gauges[thread].sum;

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
    for (uint32_t t = 0; measure->gauges != NULL && t < measure->threads; t++) {
        struct gauge *const gauge = &measure->gauges[t];

        mem_free(gauge->x_max);
        mem_free(gauge->room);
        mem_free(gauge->chunk);
        mem_free(gauge->sum);
    }
    mem_free(measure->gauges);
    mem_free(measure->scale);
}

static bool part_init(struct gauge *gauge, uint32_t dims, bool sparse)
{
    const size_t dense = sparse ? 0 : dims;

    gauge->x_max = mem_new(dims, sizeof *gauge->x_max);
    gauge->room = mem_new(SURVEY_BLOCK * dense, sizeof *gauge->room);
    gauge->chunk = mem_new(BOUNDS_SUMS * dense, sizeof *gauge->chunk);
    gauge->sum = mem_new(BOUNDS_SUMS * (size_t)dims, sizeof *gauge->sum);
    return gauge->x_max != NULL && gauge->room != NULL &&
           gauge->chunk != NULL && gauge->sum != NULL;
}

static enum err measure_init(struct measure *measure, uint32_t dims)
{
    const bool sparse = dataset_is_sparse(measure->data);
    bool ok;

    measure->gauges = mem_new(measure->threads, sizeof *measure->gauges);
    measure->scale =
        mem_new(BOUNDS_SUMS * (size_t)dims, sizeof *measure->scale);
    ok = measure->gauges != NULL && measure->scale != NULL;
    for (uint32_t t = 0; ok && t < measure->threads; t++)
        ok = part_init(&measure->gauges[t], dims, sparse);
    return ok ? ERR_OK : ERR_NOMEM;
}

static void join_maxima(struct measure *measure)
{
    struct gauge *const all = &measure->gauges[0];

    for (uint32_t t = 1; t < measure->threads; t++) {
        const struct gauge *const gauge = &measure->gauges[t];

        for (uint32_t j = 0; j < measure->data->stride; j++)
            all->x_max[j] = fmax(all->x_max[j], gauge->x_max[j]);
        all->x_norm = fmax(all->x_norm, gauge->x_norm);
        find_label_maxima(all, gauge->y_max, gauge->weight_max);
    }
}

/* Scales from the crude bound rows * max * max, which no sum exceeds.  One bit
 * is left for BOUNDS_SLACK and the rounding up of each chunk or sparse row. */
enum err bounds_scales(const struct bounds_sizes *sizes, uint64_t rows,
                       int16_t *scale)
{
    const double factor[BOUNDS_SUMS] = {sizes->label, sizes->norm, 1};

    for (uint32_t j = 0; j < sizes->dims; j++) {
        const double each = 2 * (double)rows * sizes->x_max[j] * sizes->weight;

        for (size_t q = 0; q < BOUNDS_SUMS; q++) {
            if (!(each * factor[q] < BOUNDS_HUGE))
                return ERR_RANGE;
            scale[q * sizes->dims + j] = tally_exponent(each * factor[q]);
        }
    }
    return ERR_OK;
}

static struct bounds_sizes sizes_of(const struct measure *measure)
{
    const struct gauge *const all = &measure->gauges[0];

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
            sum[j] += measure->gauges[t].sum[j];
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
        /* The conversion may round down by 2^-53: bounds_exponents'
         * BOUNDS_SLACK. */
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
