/*
 * rate.c - the default rate, from the largest eigenvalue of the data.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "math/vec.h"
#include "model/linear/problem.h"

enum {
    CHUNKS = 16,     /* Looked at. */
    ITERATIONS = 40, /* Of power iteration, at most. */
};
#define MARGIN 1.1
#define CHANGE 1e-3 /* Relative; stop when the estimate moves less. */
#define SEED   UINT64_C(0x7261746531)

/* Buffers of the power iteration. */
struct power {
    double *v;    /* Unit vector. */
    double *hv;   /* X'SX v / rows, over the chunks looked at. */
    double *g;    /* Of one chunk. */
    double *zero; /* Labels of 0 turn the squared loss's gradient into 2X'SXv;
                     of sparse rows: the scores. */
    void *scratch;
};

static enum err power_init(struct power *power, const struct problem *problem)
{
    const uint32_t stride = problem->data->stride;

    power->v = mem_new(stride, sizeof *power->v);
    power->hv = mem_new(stride, sizeof *power->hv);
    power->g = mem_new(stride, sizeof *power->g);
    power->zero = mem_new(problem->data->rows < problem->data->chunk_rows
                              ? problem->data->rows
                              : problem->data->chunk_rows,
                          sizeof *power->zero);
    power->scratch = mem_new(kernel_scratch_bytes(stride), 1);
    if (power->v == NULL || power->hv == NULL || power->g == NULL ||
        power->zero == NULL || power->scratch == NULL)
        return ERR_NOMEM;
    for (uint32_t j = 0; j < problem->data->cols; j++)
        power->v[j] = rng_normal_at(SEED, j, 0);
    return ERR_OK;
}

static void power_close(struct power *power)
{
    mem_free(power->v);
    mem_free(power->hv);
    mem_free(power->g);
    mem_free(power->zero);
    mem_free(power->scratch);
}

/* hv += X'SX v of the chunk, times 2: S are the sample weights. */
static void power_add_dense(const struct power *power,
                            const struct problem *problem, uint32_t chunk)
{
    struct dense_rows rows = dataset_chunk(problem->data, chunk);
    double loss;

    rows.y = power->zero;
    kernel_gradient(problem->isa, loss_plain(LOSS_SQUARED), &rows, power->v,
                    power->g, &loss, power->scratch);
    for (uint32_t j = 0; j < rows.stride; j++)
        power->hv[j] += power->g[j];
}

static void power_add_sparse(const struct power *power,
                             const struct problem *problem, uint32_t chunk)
{
    const struct sparse_rows rows = dataset_sparse_chunk(problem->data, chunk);
    double *const z = power->zero;

    sparse_scores(&rows, power->v, z);
    for (uint32_t i = 0; i < rows.rows; i++) {
        const double weight = rows.weight != NULL ? rows.weight[i] : 1;

        for (uint64_t k = rows.begin[i]; k < rows.begin[i + 1]; k++) {
            const double x = rows.value != NULL ? (double)rows.value[k] : 1.0;

            power->hv[rows.column[k]] += 2 * (x * weight * z[i]);
        }
    }
}

/* Those that weigh nothing are no rows, as in the mean loss. */
static double rows_counted(const struct dataset *data, uint32_t chunk)
{
    const uint32_t first = dataset_first_row(data, chunk);
    const uint32_t count = dataset_chunk_size(data, chunk);
    double counted = 0;

    for (uint32_t i = 0; i < count; i++)
        counted += data->weight == NULL || data->weight[first + i] > 0;
    return counted;
}

/* hv = X'SX v / rows over at most CHUNKS evenly spaced chunks. */
static void power_apply(const struct power *power,
                        const struct problem *problem)
{
    const uint32_t chunks = dataset_chunks(problem->data);
    const uint32_t taken = chunks < CHUNKS ? chunks : CHUNKS;
    const uint32_t stride = problem->data->stride;
    double rows_seen = 0;

    memset(power->hv, 0, stride * sizeof *power->hv);
    for (uint32_t k = 0; k < taken; k++) {
        const uint32_t chunk = (uint32_t)((uint64_t)k * chunks / taken);

        if (dataset_is_sparse(problem->data))
            power_add_sparse(power, problem, chunk);
        else
            power_add_dense(power, problem, chunk);
        rows_seen += rows_counted(problem->data, chunk);
    }
    for (uint32_t j = 0; j < stride; j++)
        power->hv[j] /= rows_seen > 0 ? 2 * rows_seen : 1;
}

/* Scale v to length 1; false if it has none. */
static bool normalise(double *v, uint32_t count)
{
    const double norm = vec_norm(v, count);

    if (!(norm > 0))
        return false;
    for (uint32_t j = 0; j < count; j++)
        v[j] /= norm;
    return true;
}

/* The largest eigenvalue of X'SX / rows, from below. */
static double power_iterate(const struct power *power,
                            const struct problem *problem)
{
    const uint32_t stride = problem->data->stride;
    double lambda = 0;

    for (int i = 0; i < ITERATIONS; i++) {
        const double last = lambda;

        if (!normalise(power->v, stride))
            break;
        power_apply(power, problem);
        lambda = vec_norm(power->hv, stride);
        memcpy(power->v, power->hv, stride * sizeof *power->v);
        if (fabs(lambda - last) <= CHANGE * lambda)
            break;
    }
    return lambda;
}

enum err problem_default_rate(const struct problem *problem, double l2,
                              double *rate)
{
    struct power power = {0};
    const enum err err = power_init(&power, problem);

    if (err == ERR_OK) {
        const double lambda = power_iterate(&power, problem);
        const double lipschitz = problem->model->curvature * lambda + 2 * l2;

        /* Data of zeros and no penalty: any rate will do. */
        *rate = lipschitz > 0 ? 1 / (MARGIN * lipschitz) : 1;
    }
    power_close(&power);
    return err;
}
