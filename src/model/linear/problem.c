/*
 * problem.c - chunk gradients into tallies.
 */
#include "model/linear/problem.h"

#include "base/check.h"
#include "base/mem.h"
#include "math/kernel/softmax.h"
#include "model/linear/diagonal.h"
#include "model/linear/pairs.h"
#include "model/linear/wide.h"

static size_t up_to_line(size_t bytes)
{
    return (bytes + MEM_LINE - 1) / MEM_LINE * MEM_LINE;
}

struct problem problem_soft(const struct problem *problem, uint32_t soft)
{
    struct problem made = *problem;

    CHECK(soft <= LOSS_SOFTS);
    if (soft > 0 && made.model->softened != NULL)
        made.model = &made.model->softened[soft - 1];
    return made;
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
    *round = (struct problem_round){0};
    if (!problem_quantises(problem))
        return ERR_OK;
    return sparse_round_init(&round->sparse, problem->data->cols);
}

void problem_round_close(struct problem_round *round)
{
    memo_close(&round->memo);
    sparse_round_close(&round->sparse);
}

enum err problem_round_prepare(struct problem_round *round,
                               const struct problem *problem,
                               const struct evaluation *what)
{
    if (problem->model->classes && what->kind == EVALUATE_HESSVEC &&
        !dataset_is_sparse(problem->data))
        memo_prepare(&round->memo, problem->data, problem->outputs, what->w);
    if (!problem_quantises(problem))
        return ERR_OK;
    return sparse_round_prepare(&round->sparse, what, problem->data->cols);
}

void problem_round_forget(struct problem_round *round)
{
    memo_close(&round->memo);
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

bool problem_has_vector(const struct problem *problem,
                        enum evaluation_kind kind)
{
    const struct dataset *data = problem->data;
    const struct dense_rows chunk = {.stride = data->stride,
                                     .rows = data->chunk_rows};

    if (dataset_is_sparse(data))
        return problem_quantises(problem);
    return kind == EVALUATE_HESSIAN || kind == EVALUATE_DIAGONAL ||
           problem_outputs(problem) > 1 || !wide_is(&chunk);
}

static enum err add_dense(const struct problem *problem,
                          const struct evaluation *what, uint32_t chunk,
                          const int16_t *exponent, void *scratch,
                          struct tally *tally)
{
    const struct dense_rows rows = dataset_chunk(problem->data, chunk);
    const struct loss loss = problem->model->loss;
    void *const rest = (char *)scratch + sums_bytes(problem);
    double *const sums = scratch;
    double loss_sum = 0;

    CHECK(tally->dims <= evaluation_dims(what->kind, rows.stride));
    if (what->kind != EVALUATE_HESSIAN && tally->dims == rows.stride &&
        wide_is(&rows))
        return wide_add(problem, &rows, what, chunk, exponent, sums, tally);
    switch (what->kind) {
    case EVALUATE_GRADIENT:
        kernel_gradient(problem->isa, loss, &rows, what->w, sums, &loss_sum,
                        rest);
        break;
    case EVALUATE_HESSVEC:
        kernel_hessvec(problem->isa, loss, &rows, what->w, what->v, sums, rest);
        break;
    case EVALUATE_HESSIAN:
        kernel_hessian(problem->isa, loss, &rows, what->w, sums, rest);
        break;
    case EVALUATE_LOCAL:
    case EVALUATE_SCORES:
    case EVALUATE_BACK:
    case EVALUATE_COMBINE:
    case EVALUATE_LINE:
    case EVALUATE_DIAGONAL: /* diagonal.h */
        CHECK(!"no sum over rows");
    }
    return tally_add_chunk(tally, chunk, sums, loss_sum, exponent);
}

static void softmax_product(const struct problem *problem,
                            const struct memo *memo,
                            const struct evaluation *what, uint32_t chunk,
                            double *sums, void *scratch)
{
    const struct dense_rows rows = dataset_chunk(problem->data, chunk);
    const struct softmax_memo kept = memo_chunk(memo, chunk);

    softmax_hessvec(problem->isa, problem->outputs, &rows, what->w, what->v,
                    &kept, sums, scratch);
    memo_fill(memo, chunk);
}

static enum err add_softmax(const struct problem *problem,
                            const struct memo *memo,
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
        softmax_product(problem, memo, what, chunk, sums, rest);
    return tally_add_chunk(tally, chunk, sums, loss, exponent);
}

static enum err add_classes(const struct problem *problem,
                            const struct memo *memo,
                            const struct evaluation *what, uint32_t chunk,
                            const int16_t *exponent, void *scratch,
                            struct tally *tally)
{
    struct sparse_rows rows;

    if (!dataset_is_sparse(problem->data))
        return add_softmax(problem, memo, what, chunk, exponent, scratch,
                           tally);
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
    const struct problem at = problem_soft(problem, what->soft);
    struct sparse_rows rows;

    if (what->kind == EVALUATE_DIAGONAL)
        return diagonal_add(&at, what->w, chunk, exponent, scratch,
                            dataset_is_sparse(problem->data)
                                ? NULL /* Theirs is shorter than that. */
                                : (char *)scratch + sums_bytes(problem),
                            tally);
    if (problem->model->classes)
        return add_classes(problem, &round->memo, what, chunk, exponent,
                           scratch, tally);
    if (!dataset_is_sparse(problem->data))
        return add_dense(&at, what, chunk, exponent, scratch, tally);
    rows = dataset_sparse_chunk(problem->data, chunk);
    return sparse_add_chunk(at.isa, at.model->loss, &rows, what, &round->sparse,
                            exponent, chunk, scratch, tally);
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
    const struct problem at = problem_soft(problem, what->soft);
    enum err err = ERR_OK;

    if (counts_pairs(problem, what->kind) &&
        pairs_add(&at, what->w, first, count, exponent, scratch,
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
