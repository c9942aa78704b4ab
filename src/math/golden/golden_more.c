/*
 * golden_more.c - known bits of everything but plain gradients.
 *
 * The problems are those of golden.c with sample weights, in every storage:
 * their values, cut to what it holds.  fp64 rows hold those of the fp32 rows
 * and must give the same sums.  Sparse rows are their non-zero ones.
 * Softmax regression has problems of its own (softmax_golden.c).
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "math/golden/golden_parts.h"
#include "math/kernel/sparse.h"

/* A Hessian of the narrow problems only: the wide one has 135,000 entries. */
#define HESSIAN_STRIDE 56u
#define HESSIAN_COUNT  (HESSIAN_STRIDE * (HESSIAN_STRIDE + 1) / 2)
/* Rows of scratch enough for a Hessian as well as for a wide gradient. */
#define SCRATCH_DOUBLES (HESSIAN_STRIDE * (HESSIAN_STRIDE + 64u))
#define EXPONENT        30 /* Of sparse tallies. */

static_assert(SCRATCH_DOUBLES >= 4 * GOLDEN_STRIDE_MAX, "a step of wide rows");

struct sparse_arrays {
    uint64_t begin[GOLDEN_ROWS_MAX + 1];
    uint32_t column[GOLDEN_CELLS_MAX];
    float value[GOLDEN_CELLS_MAX];
};

/* Too much for the stack of a host's thread. */
struct more {
    double scratch[SCRATCH_DOUBLES] __attribute__((aligned(64)));
    double hessian[HESSIAN_COUNT];
    struct sparse_arrays arrays;
    struct golden_problem problem;
    double weight[GOLDEN_ROWS_MAX];
    double v[GOLDEN_STRIDE_MAX];
    uint8_t narrow[GOLDEN_CELLS_MAX * sizeof(uint16_t)];
    double wide[GOLDEN_CELLS_MAX];
    const enum isa *isa;
    struct hasher hasher;
};

static void more_make(struct more *more, uint32_t index)
{
    struct dense_rows *const rows = &more->problem.rows;

    golden_problem_make(&more->problem, index);
    for (uint32_t i = 0; i < rows->rows; i++)
        more->weight[i] = 0.25 * (i % 7);
    for (uint32_t j = 0; j < rows->stride; j++)
        more->v[j] = ldexp(1.0 - 0.125 * (j % 15), (int)(j % 3));
    if (index % 2 == 1)
        rows->weight = more->weight;
}

/* The problem's values as narrow rows: cut, scaled to small integers, or only
 * whether they are positive; bytes are any bits of theirs. */
static void narrow_value(struct more *more, enum dense_storage storage,
                         uint32_t at)
{
    const float x = more->problem.x[at];
    uint32_t bits;
    uint16_t half;
    int power = 0;

    memcpy(&bits, &x, sizeof bits);
    switch (storage) {
    case DENSE_BF16:
        half = (uint16_t)(bits >> 16);
        memcpy(more->narrow + sizeof half * at, &half, sizeof half);
        break;
    case DENSE_I8:
        more->narrow[at] = (uint8_t)(int8_t)(frexp((double)x, &power) * 127.0);
        break;
    case DENSE_BIT:
        if (x > 0)
            more->narrow[at / 8] |= (uint8_t)(1u << at % 8);
        break;
    case DENSE_U8:
    case DENSE_PIXEL:
        more->narrow[at] = (uint8_t)(bits >> 13);
        break;
    case DENSE_F32:
    case DENSE_F64:
        break;
    }
}

static void add_gradient(struct more *more, struct loss loss,
                         const struct dense_rows *rows)
{
    double *const scratch = more->scratch;
    const double *const w = more->problem.w;
    double g[GOLDEN_STRIDE_MAX];
    double sum = 0.0;

    CHECK(kernel_scratch_bytes(rows->stride) <= sizeof more->scratch);
    if (more->isa != NULL)
        kernel_gradient(*more->isa, loss, rows, w, g, &sum, scratch);
    else
        kernel_gradient_ref(loss, rows, w, g, &sum);
    hasher_add_f64(&more->hasher, g, rows->stride);
    hasher_add_f64(&more->hasher, &sum, 1);
    if (more->isa != NULL)
        kernel_hessvec(*more->isa, loss, rows, w, more->v, g, scratch);
    else
        kernel_hessvec_ref(loss, rows, w, more->v, g);
    hasher_add_f64(&more->hasher, g, rows->stride);
}

static void add_hessian(struct more *more, struct loss loss,
                        const struct dense_rows *rows)
{
    double *const scratch = more->scratch;
    const double *const w = more->problem.w;
    double *const hessian = more->hessian;

    CHECK(kernel_hessian_scratch_bytes(rows->stride) <= sizeof more->scratch);
    if (more->isa != NULL)
        kernel_hessian(*more->isa, loss, rows, w, hessian, scratch);
    else
        kernel_hessian_ref(loss, rows, w, hessian);
    hasher_add_f64(&more->hasher, hessian,
                   (size_t)rows->stride * (rows->stride + 1) / 2);
}

static struct digest digest_of(struct more *more, struct loss loss,
                               const struct dense_rows *rows)
{
    const struct hasher all = more->hasher;
    struct digest digest;

    hasher_init(&more->hasher);
    add_gradient(more, loss, rows);
    digest = hasher_end(&more->hasher);
    more->hasher = all;
    return digest;
}

/* The profile's digest is of the forms that it began with: the sums of fp64
 * rows join it only if they are not those of fp32, and so spoil it. */
static void check_wide(struct more *more, struct loss loss)
{
    struct dense_rows rows = more->problem.rows;
    const struct digest narrow = digest_of(more, loss, &rows);
    struct digest wide;

    for (uint32_t at = 0; at < rows.rows * rows.stride; at++)
        more->wide[at] = (double)more->problem.x[at];
    rows.storage = DENSE_F64;
    rows.x = more->wide;
    wide = digest_of(more, loss, &rows);
    if (!digest_equal(&narrow, &wide))
        hasher_add(&more->hasher, wide.bytes, sizeof wide.bytes);
}

/* The same of bytes and fp64 rows of what they stand for. */
static void check_bytes(struct more *more, struct loss loss,
                        enum dense_storage storage)
{
    struct dense_rows rows = more->problem.rows;
    struct digest narrow;
    struct digest wide;

    for (uint32_t at = 0; at < rows.rows * rows.stride; at++) {
        narrow_value(more, storage, at);
        more->wide[at] = storage == DENSE_U8
                             ? (double)more->narrow[at]
                             : (double)dense_pixel(more->narrow[at]);
    }
    rows.storage = storage;
    rows.x = more->narrow;
    narrow = digest_of(more, loss, &rows);
    rows.storage = DENSE_F64;
    rows.x = more->wide;
    wide = digest_of(more, loss, &rows);
    if (!digest_equal(&narrow, &wide))
        hasher_add(&more->hasher, narrow.bytes, sizeof narrow.bytes);
}

static void add_dense(struct more *more)
{
    struct dense_rows rows = more->problem.rows;

    for (int l = 0; l < LOSSES; l++) {
        add_gradient(more, loss_samples[l], &rows);
        if (rows.stride <= HESSIAN_STRIDE)
            add_hessian(more, loss_samples[l], &rows);
    }
    rows.x = more->narrow;
    for (int storage = DENSE_BF16; storage <= DENSE_BIT; storage++) {
        rows.storage = (enum dense_storage)storage;
        memset(more->narrow, 0, sizeof more->narrow);
        for (uint32_t at = 0; at < rows.rows * rows.stride; at++)
            narrow_value(more, rows.storage, at);
        add_gradient(more, loss_plain(LOSS_SQUARED_HINGE), &rows);
    }
    check_wide(more, loss_plain(LOSS_LOGISTIC));
    check_bytes(more, loss_plain(LOSS_LOGISTIC), DENSE_U8);
    check_bytes(more, loss_plain(LOSS_LOGISTIC), DENSE_PIXEL);
}

/* The larger half of the problem's values. */
static struct sparse_rows sparse_make(const struct more *more, bool values,
                                      struct sparse_arrays *arrays)
{
    const struct dense_rows *const rows = &more->problem.rows;
    uint64_t at = 0;

    for (uint32_t i = 0; i < rows->rows; i++) {
        arrays->begin[i] = at;
        for (uint32_t j = 0; j < rows->stride; j++) {
            const float x = more->problem.x[i * rows->stride + j];

            if (x <= 0)
                continue;
            arrays->column[at] = j;
            arrays->value[at++] = x;
        }
    }
    arrays->begin[rows->rows] = at;
    return (struct sparse_rows){
        .begin = arrays->begin,
        .column = arrays->column,
        .value = values ? arrays->value : NULL,
        .y = rows->y,
        .weight = rows->weight,
        .rows = rows->rows,
        .cols = rows->stride,
    };
}

/* A tally without the heap. */
struct golden_tally {
    int64_t sum[GOLDEN_STRIDE_MAX];
    int16_t exponent[GOLDEN_STRIDE_MAX + 1];
    uint64_t words[1];
};

static enum err sparse_tally(const struct more *more,
                             const struct sparse_rows *rows,
                             const struct evaluation *what, struct loss loss,
                             const struct golden_tally *room,
                             struct tally *tally)
{
    int32_t q[2 * GOLDEN_STRIDE_MAX];
    struct sparse_round round = {.q = q};
    struct sparse_desk desk = {0};
    enum err err = ERR_OK;

    if (more->isa == NULL)
        return sparse_add_chunk_ref(loss, rows, what, room->exponent, 0, tally);
    if (rows->value == NULL)
        err = sparse_round_prepare(&round, what, rows->cols);
    if (err == ERR_OK)
        err = sparse_add_chunk(*more->isa, loss, rows, what, &round,
                               room->exponent, 0, &desk, tally);
    sparse_settle(&desk, tally);
    return err;
}

static void add_sparse(struct more *more, bool values)
{
    const struct sparse_rows rows = sparse_make(more, values, &more->arrays);

    for (int n = 0; n < 2 * LOSSES; n++) {
        const struct evaluation what = {
            .kind = n % 2 == 0 ? EVALUATE_GRADIENT : EVALUATE_HESSVEC,
            .w = more->problem.w,
            .v = more->v,
        };
        struct golden_tally room = {.words = {0}};
        struct tally tally = {
            .dims = rows.cols,
            .chunks = {.count = 1, .words = room.words},
            .sum = room.sum,
        };
        struct digest digest;

        for (uint32_t j = 0; j < rows.cols; j++)
            room.exponent[j] = (int16_t)(EXPONENT - (values ? j % 3 : 0));
        room.exponent[rows.cols] = GOLDEN_LOSS_EXPONENT;
        /* What does not fit leaves the tally empty: that too is hashed. */
        (void)sparse_tally(more, &rows, &what, loss_samples[n / 2], &room,
                           &tally);
        digest = tally_digest(&tally);
        hasher_add(&more->hasher, digest.bytes, sizeof digest.bytes);
    }
}

static struct digest digest_all(const enum isa *isa,
                                void (*add)(struct more *more))
{
    struct digest digest = {{0}};
    struct more *const more = mem_new(1, sizeof *more);

    if (more == NULL)
        return digest;
    more->isa = isa;
    hasher_init(&more->hasher);
    for (uint32_t i = 0; i < GOLDEN_PROBLEMS; i++) {
        more_make(more, i);
        add(more);
    }
    digest = hasher_end(&more->hasher);
    mem_free(more);
    return digest;
}

static void add_index(struct more *more)
{
    add_sparse(more, false);
}

static void add_csr(struct more *more)
{
    add_sparse(more, true);
}

struct digest golden_dense(const enum isa *isa)
{
    return digest_all(isa, add_dense);
}

struct digest golden_index(const enum isa *isa)
{
    return digest_all(isa, add_index);
}

struct digest golden_csr(const enum isa *isa)
{
    return digest_all(isa, add_csr);
}
