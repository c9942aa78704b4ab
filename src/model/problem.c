/*
 * problem.c - chunk gradients into tallies, and the default rate.
 */
#include "model/problem.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "math/softmax.h"
#include "math/vec.h"
#include "model/pairs.h"

enum {
    RATE_CHUNKS = 16,     /* Chunks looked at for the default rate. */
    RATE_ITERATIONS = 40, /* Of power iteration, at most. */
};
enum {
    WIDE_BLOCK = 1024,   /* Columns whose sums stay in the first cache. */
    WIDE_STRIDE = 1024,  /* Rows from here on are wide if there are few, ... */
    WIDE_FEW = 4,        /* ... no more than this; ... */
    WIDE_ANY = 1u << 15, /* ... from here on, always. */
};
#define RATE_MARGIN 1.1
#define RATE_CHANGE 1e-3 /* Relative; stop when the estimate moves less. */
#define RATE_SEED   UINT64_C(0x7261746531)

static size_t up_to_line(size_t bytes)
{
    return (bytes + MEM_LINE - 1) / MEM_LINE * MEM_LINE;
}

struct problem problem_of(const struct dataset *data, enum model_kind kind,
                          enum isa isa)
{
    const struct model_ops *const model = model_ops(kind);

    return (struct problem){.data = data,
                            .model = model,
                            .isa = isa,
                            .outputs = model->classes ? data->classes : 1};
}

uint32_t problem_outputs(const struct problem *problem)
{
    return problem->outputs > 0 ? problem->outputs : 1;
}

uint32_t problem_dims(const struct problem *problem)
{
    return problem->data->stride * problem_outputs(problem);
}

struct digest problem_hash(const struct problem *problem, const double *w)
{
    return hash_vectors(w, problem_outputs(problem), problem->data->stride,
                        problem->data->cols);
}

bool problem_has_hessian(const struct problem *problem)
{
    return !dataset_is_sparse(problem->data) && problem_outputs(problem) == 1 &&
           problem->data->stride <= PROBLEM_HESSIAN_DIMS;
}

bool problem_quantises(const struct problem *problem)
{
    return problem->data->storage == STORAGE_INDEX && !problem->model->classes;
}

enum err problem_round_init(struct problem_round *round,
                            const struct problem *problem)
{
    *round = (struct problem_round){{0}};
    if (!problem_quantises(problem))
        return ERR_OK;
    return sparse_round_init(&round->sparse, problem->data->cols);
}

void problem_round_close(struct problem_round *round)
{
    sparse_round_close(&round->sparse);
}

enum err problem_round_prepare(struct problem_round *round,
                               const struct problem *problem,
                               const struct evaluation *what)
{
    if (!problem_quantises(problem))
        return ERR_OK;
    return sparse_round_prepare(&round->sparse, what, problem->data->cols);
}

/* Dense scratch: the sums of the chunk, then the kernel's own. */
static size_t sums_bytes(const struct problem *problem)
{
    const uint32_t stride = problem->data->stride;
    const size_t entries = problem_has_hessian(problem)
                               ? (size_t)stride * (stride + 1) / 2
                               : problem_dims(problem);

    return up_to_line(entries * sizeof(double));
}

static bool counts_pairs(const struct problem *problem,
                         enum evaluation_kind kind)
{
    return kind == EVALUATE_HESSIAN && problem->data->storage == STORAGE_BIT &&
           problem_has_hessian(problem) &&
           problem->data->chunk_rows <= PAIRS_ROWS;
}

bool problem_stores(const struct problem *problem, enum evaluation_kind kind)
{
    return !dataset_is_sparse(problem->data) && !counts_pairs(problem, kind);
}

size_t problem_scratch_bytes(const struct problem *problem)
{
    const uint32_t stride = problem->data->stride;
    const bool sparse = dataset_is_sparse(problem->data);
    const uint32_t outputs = problem_outputs(problem);
    size_t bytes = kernel_scratch_bytes(stride);

    if (sparse)
        return problem->model->classes ? softmax_sparse_scratch_bytes(outputs)
                                       : sizeof(struct sparse_desk);
    if (problem->model->classes)
        return sums_bytes(problem) + softmax_scratch_bytes(stride, outputs);
    if (problem_has_hessian(problem) &&
        bytes < kernel_hessian_scratch_bytes(stride))
        bytes = kernel_hessian_scratch_bytes(stride);
    if (counts_pairs(problem, EVALUATE_HESSIAN) &&
        bytes < pairs_scratch_bytes(stride))
        bytes = pairs_scratch_bytes(stride);
    return sums_bytes(problem) + up_to_line(bytes);
}

/* Rows whose doubles no cache holds from their scores to their sums, or so few
 * that the second reading finds them there: their sums are made, rounded and
 * added a block of columns at a time, and no vector lies in between.  Speed
 * only: the bits are the same. */
static bool is_wide(const struct dense_rows *rows)
{
    return rows->stride >= WIDE_STRIDE &&
           (rows->rows <= WIDE_FEW || rows->stride >= WIDE_ANY) &&
           rows->rows <= rows->stride / 2;
}

bool problem_has_vector(const struct problem *problem,
                        enum evaluation_kind kind)
{
    const struct dataset *data = problem->data;
    const struct dense_rows chunk = {.stride = data->stride,
                                     .rows = data->chunk_rows};

    if (dataset_is_sparse(data))
        return problem_quantises(problem);
    return kind != EVALUATE_GRADIENT || problem_outputs(problem) > 1 ||
           !is_wide(&chunk);
}

static void block_columns(const struct problem *problem,
                          const struct dense_rows *rows, const double *r,
                          uint32_t first, double *g, uint32_t *count)
{
    const uint32_t left = rows->stride - first;

    *count = left < WIDE_BLOCK ? left : WIDE_BLOCK;
    kernel_columns(problem->isa, rows, r, first, *count, g);
}

static enum err add_columns(const struct problem *problem,
                            const struct dense_rows *rows, const double *r,
                            const int16_t *exponent, struct tally *tally)
{
    double g[WIDE_BLOCK];
    uint32_t count;
    uint32_t first = 0;

    for (; first < rows->stride; first += count) {
        block_columns(problem, rows, r, first, g, &count);
        if (!tally_put(tally, first, count, g, exponent))
            break;
    }
    if (first == rows->stride)
        return ERR_OK;
    /* Refused whole: what was added is computed again and taken back. */
    for (uint32_t at = 0; at < first; at += count) {
        block_columns(problem, rows, r, at, g, &count);
        tally_take_back(tally, at, count, g, exponent);
    }
    return ERR_RANGE;
}

static enum err add_wide(const struct problem *problem,
                         const struct dense_rows *rows, const double *w,
                         uint32_t chunk, const int16_t *exponent,
                         double *scratch, struct tally *tally)
{
    double *const z = scratch;
    double *const losses = scratch + rows->rows;
    double loss = 0;
    enum err err;

    if (chunkset_has(&tally->chunks, chunk))
        return ERR_OVERLAP;
    kernel_scores(problem->isa, rows, w, z);
    kernel_slopes(problem->isa, problem->model->loss, false, z, rows->y,
                  rows->weight, losses, rows->rows);
    for (uint32_t i = 0; i < rows->rows; i++)
        loss += losses[i];
    if (!tally_loss_fits(tally, loss))
        return ERR_RANGE;
    err = add_columns(problem, rows, z, exponent, tally);
    if (err == ERR_OK)
        tally_mark(tally, chunk, loss);
    return err;
}

static enum err add_dense(const struct problem *problem,
                          const struct evaluation *what, uint32_t chunk,
                          const int16_t *exponent, void *scratch,
                          struct tally *tally)
{
    const struct dense_rows rows = dataset_chunk(problem->data, chunk);
    const enum loss kind = problem->model->loss;
    void *const rest = (char *)scratch + sums_bytes(problem);
    double *const sums = scratch;
    double loss = 0;

    CHECK(tally->dims <= evaluation_dims(what->kind, rows.stride));
    if (what->kind == EVALUATE_GRADIENT && tally->dims == rows.stride &&
        is_wide(&rows))
        return add_wide(problem, &rows, what->w, chunk, exponent, sums, tally);
    switch (what->kind) {
    case EVALUATE_GRADIENT:
        kernel_gradient(problem->isa, kind, &rows, what->w, sums, &loss, rest);
        break;
    case EVALUATE_HESSVEC:
        kernel_hessvec(problem->isa, kind, &rows, what->w, what->v, sums, rest);
        break;
    case EVALUATE_HESSIAN:
        kernel_hessian(problem->isa, kind, &rows, what->w, sums, rest);
        break;
    case EVALUATE_LOCAL:
    case EVALUATE_SCORES:
    case EVALUATE_BACK:
        CHECK(!"no sum over rows");
    }
    return tally_add_chunk(tally, chunk, sums, loss, exponent);
}

static enum err add_softmax(const struct problem *problem,
                            const struct evaluation *what, uint32_t chunk,
                            const int16_t *exponent, void *scratch,
                            struct tally *tally)
{
    const struct dense_rows rows = dataset_chunk(problem->data, chunk);
    void *const rest = (char *)scratch + sums_bytes(problem);
    double *const sums = scratch;
    double loss = 0;

    CHECK(what->kind != EVALUATE_HESSIAN);
    CHECK(tally->dims <= problem_dims(problem));
    if (what->kind == EVALUATE_GRADIENT)
        softmax_gradient(problem->isa, problem->outputs, &rows, what->w, sums,
                         &loss, rest);
    else
        softmax_hessvec(problem->isa, problem->outputs, &rows, what->w, what->v,
                        sums, rest);
    return tally_add_chunk(tally, chunk, sums, loss, exponent);
}

static enum err add_classes(const struct problem *problem,
                            const struct evaluation *what, uint32_t chunk,
                            const int16_t *exponent, void *scratch,
                            struct tally *tally)
{
    struct sparse_rows rows;

    if (!dataset_is_sparse(problem->data))
        return add_softmax(problem, what, chunk, exponent, scratch, tally);
    rows = dataset_sparse_chunk(problem->data, chunk);
    return softmax_add_sparse(problem->outputs, problem->data->stride, &rows,
                              what, exponent, chunk, tally, scratch);
}

enum err problem_add(const struct problem *problem,
                     const struct problem_round *round,
                     const struct evaluation *what, uint32_t chunk,
                     const int16_t *exponent, void *scratch,
                     struct tally *tally)
{
    struct sparse_rows rows;

    if (problem->model->classes)
        return add_classes(problem, what, chunk, exponent, scratch, tally);
    if (!dataset_is_sparse(problem->data))
        return add_dense(problem, what, chunk, exponent, scratch, tally);
    rows = dataset_sparse_chunk(problem->data, chunk);
    return sparse_add_chunk(problem->isa, problem->model->loss, &rows, what,
                            &round->sparse, exponent, chunk, scratch, tally);
}

void problem_settle(const struct problem *problem, void *scratch,
                    struct tally *tally)
{
    if (dataset_is_sparse(problem->data) && !problem->model->classes)
        sparse_settle(scratch, tally);
}

uint32_t problem_batch(const struct problem *problem, enum evaluation_kind kind)
{
    return counts_pairs(problem, kind) ? PAIRS_ROWS / problem->data->chunk_rows
                                       : 1;
}

enum err problem_add_batch(const struct problem *problem,
                           const struct problem_round *round,
                           const struct evaluation *what, uint32_t first,
                           uint32_t count, const int16_t *exponent,
                           void *scratch, struct tally *tally)
{
    enum err err = ERR_OK;

    if (counts_pairs(problem, what->kind) &&
        pairs_add(problem, what->w, first, count, exponent, scratch,
                  (char *)scratch + sums_bytes(problem), tally))
        return ERR_OK;
    for (uint32_t i = 0; err == ERR_OK && i < count; i++)
        err = problem_add(problem, round, what, first + i, exponent, scratch,
                          tally);
    return err;
}

enum err problem_add_chunk(const struct problem *problem, const double *w,
                           uint32_t chunk, const int16_t *exponent,
                           void *scratch, struct tally *tally)
{
    const struct evaluation what = {.kind = EVALUATE_GRADIENT, .w = w};
    struct problem_round round;
    enum err err = problem_round_init(&round, problem);

    if (err == ERR_OK)
        err = problem_round_prepare(&round, problem, &what);
    if (err == ERR_OK)
        err = problem_add(problem, &round, &what, chunk, exponent, scratch,
                          tally);
    problem_settle(problem, scratch, tally);
    problem_round_close(&round);
    return err;
}

/* Buffers of the power iteration. */
struct power {
    double *v;    /* Unit vector. */
    double *hv;   /* X'X v / rows, over the chunks looked at. */
    double *g;    /* Of one chunk. */
    double *zero; /* Labels of 0 turn the squared loss's gradient into 2X'Xv;
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
        power->v[j] = rng_normal_at(RATE_SEED, j, 0);
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

/* hv += X'X v of the chunk, times 2. */
static void power_add_dense(const struct power *power,
                            const struct problem *problem, uint32_t chunk)
{
    struct dense_rows rows = dataset_chunk(problem->data, chunk);
    double loss;

    rows.y = power->zero;
    rows.weight = NULL;
    kernel_gradient(problem->isa, LOSS_SQUARED, &rows, power->v, power->g,
                    &loss, power->scratch);
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
        for (uint64_t k = rows.begin[i]; k < rows.begin[i + 1]; k++) {
            const double x = rows.value != NULL ? (double)rows.value[k] : 1.0;

            power->hv[rows.column[k]] += 2 * (x * z[i]);
        }
    }
}

/* hv = X'X v / rows over at most RATE_CHUNKS evenly spaced chunks. */
static void power_apply(const struct power *power,
                        const struct problem *problem)
{
    const uint32_t chunks = dataset_chunks(problem->data);
    const uint32_t taken = chunks < RATE_CHUNKS ? chunks : RATE_CHUNKS;
    const uint32_t stride = problem->data->stride;
    double rows_seen = 0;

    memset(power->hv, 0, stride * sizeof *power->hv);
    for (uint32_t k = 0; k < taken; k++) {
        const uint32_t chunk = (uint32_t)((uint64_t)k * chunks / taken);

        if (dataset_is_sparse(problem->data))
            power_add_sparse(power, problem, chunk);
        else
            power_add_dense(power, problem, chunk);
        rows_seen += (double)dataset_chunk_size(problem->data, chunk);
    }
    for (uint32_t j = 0; j < stride; j++)
        power->hv[j] /= 2 * rows_seen;
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

/* The largest eigenvalue of X'X / rows, from below. */
static double power_iterate(const struct power *power,
                            const struct problem *problem)
{
    const uint32_t stride = problem->data->stride;
    double lambda = 0;

    for (int i = 0; i < RATE_ITERATIONS; i++) {
        const double last = lambda;

        if (!normalise(power->v, stride))
            break;
        power_apply(power, problem);
        lambda = vec_norm(power->hv, stride);
        memcpy(power->v, power->hv, stride * sizeof *power->v);
        if (fabs(lambda - last) <= RATE_CHANGE * lambda)
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
        *rate = lipschitz > 0 ? 1 / (RATE_MARGIN * lipschitz) : 1;
    }
    power_close(&power);
    return err;
}
