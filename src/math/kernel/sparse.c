/*
 * sparse.c - sparse rows into tallies.
 *
 * A block of rows is read twice while it is in L2: scores, then, once their
 * slopes are known, the sums.  There is no vector of a chunk: each row goes to
 * the tally at once, which is exact and needs no second look at the columns.
 * A chunk that turns out not to fit half-way is taken back out by adding the
 * same with the other sign: integers leave no trace.
 */
#include "math/kernel/sparse.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "math/compiler.h"
#include "math/exact/grid.h"
#include "math/kernel/dense.h"
#include "math/kernel/sparse_row.h"

enum {
    /* Rows.  Scores read one array at random, sums write another: the longer
     * each has the cache for itself, the better. */
    BLOCK = 256,
    AHEAD = 64, /* Entries between the prefetch of a weight and its use. */
    ENTRIES_AHEAD = 180, /* The same of columns and values. */
    LINE = 16,           /* Columns, or values, of a cache line. */
};

enum err sparse_round_init(struct sparse_round *round, uint32_t cols)
{
    struct sparse_round made = {0};

    made.q = mem_new(cols, 2 * sizeof *made.q);
    if (made.q == NULL)
        return ERR_NOMEM;
    *round = made;
    return ERR_OK;
}

void sparse_round_close(struct sparse_round *round)
{
    mem_free(round->q);
    *round = (struct sparse_round){0};
}

/* The largest k with |w_j| 2^k < 2^30 for all j. */
static enum err weight_exponent(const double *w, uint32_t cols, int *k)
{
    double largest = 0.0;
    int power = 0;

    for (uint32_t j = 0; j < cols; j++) {
        if (!isfinite(w[j]))
            return ERR_RANGE;
        largest = fmax(largest, fabs(w[j]));
    }
    if (largest == 0.0) {
        *k = 0;
        return ERR_OK;
    }
    (void)frexp(largest, &power);
    *k = SPARSE_WEIGHT_BITS - power;
    if (*k > GRID_EXPONENT_MAX)
        *k = GRID_EXPONENT_MAX;
    return ERR_OK;
}

/* Every `step`th of q. */
static enum err quantise(const double *w, uint32_t cols, size_t step,
                         int32_t *q, double *unit)
{
    const int32_t top = (INT32_C(1) << SPARSE_WEIGHT_BITS) - 1;
    double scale;
    int k = 0;
    const enum err err = weight_exponent(w, cols, &k);

    if (err != ERR_OK)
        return err;
    scale = power_of_two(k);
    for (uint32_t j = 0; j < cols; j++) {
        const int32_t rounded = (int32_t)lrint(w[j] * scale);

        q[step * j] = rounded > top ? top : rounded < -top ? -top : rounded;
    }
    *unit = power_of_two(-k);
    return ERR_OK;
}

enum err sparse_round_prepare(struct sparse_round *round,
                              const struct evaluation *what, uint32_t cols)
{
    const bool hessvec = what->kind == EVALUATE_HESSVEC;
    enum err err =
        quantise(what->w, cols, hessvec ? 2 : 1, round->q, &round->unit);

    if (err == ERR_OK && hessvec)
        err = quantise(what->v, cols, 2, round->q + 1, &round->unit_v);
    return err;
}

/* Work on one chunk. */
struct job {
    const struct dense_ops *ops;
    struct loss loss;
    const struct sparse_rows *in;
    const struct evaluation *what;
    const struct sparse_round *round;
    sparse_row_adder add_row; /* Csr. */
    int least;                /* Exponent, csr. */
    double scale;             /* Index. */
    int64_t *sum;
};

struct block {
    double z[BLOCK]; /* Scores, then residuals. */
    double t[BLOCK];
    double y[BLOCK]; /* Labels and weights of the chunk's last rows. */
    double weight[BLOCK];
    double loss[BLOCK];
    uint32_t first;
    uint32_t rows;
};

/* Sums of quantised weights have no order: two chains for speed. */
INLINE double index_score(const uint32_t *column, const uint32_t *end,
                          const int32_t *q, double unit)
{
    int64_t chain[2] = {0};

    for (; end - column >= 8; column += 8) {
        UNROLL
        for (int k = 0; k < 8; k++)
            chain[k % 2] += q[column[k]];
    }
    for (; column < end; column++)
        chain[0] += q[*column];
    return (double)(chain[0] + chain[1]) * unit;
}

/* Both scores of a HESSVEC, from twice as many cache lines.  `ahead`, a
 * constant: there are AHEAD more entries, whose weights may be fetched. */
INLINE void index_scores(const uint32_t *column, const uint32_t *end,
                         const struct sparse_round *round, bool ahead,
                         double *z, double *t)
{
    const int32_t *const q = round->q;
    int64_t of_w = 0;
    int64_t of_v = 0;

    UNROLL
    for (; column < end; column++) {
        const int32_t *const at = &q[2 * (size_t)*column];

        if (ahead)
            __builtin_prefetch(&q[2 * (size_t)column[AHEAD]], 0, 3);
        of_w += at[0];
        of_v += at[1];
    }
    *z = (double)of_w * round->unit;
    *t = (double)of_v * round->unit_v;
}

INLINE double value_at(const float *value, size_t at)
{
    return value != NULL ? (double)value[at] : 1.0;
}

/* The definition's four lanes. */
INLINE double csr_score(const uint32_t *column, const float *value,
                        size_t count, const double *w)
{
    double lane[4] = {0};
    size_t t = 0;

    for (; t + 4 <= count; t += 4) {
        UNROLL
        for (size_t k = 0; k < 4; k++)
            lane[k] += value_at(value, t + k) * w[column[t + k]];
    }
    for (; t < count; t++)
        lane[t % 4] += value_at(value, t) * w[column[t]];
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

/* Ask for entries of rows to come: every one of them leads to a place that
 * nobody else can foresee.  Straight on, for a loop would cost what it gains;
 * where rows are longer the processor sees for itself that they are read in
 * order. */
INLINE void fetch_entries(const struct sparse_rows *in, uint32_t row)
{
    const uint64_t at = in->begin[row] + ENTRIES_AHEAD;

    if (at + 3 * LINE > in->begin[in->rows])
        return;
    UNROLL
    for (uint64_t k = 0; k < 3; k++) {
        __builtin_prefetch(&in->column[at + k * LINE], 0, 3);
        if (in->value != NULL)
            __builtin_prefetch(&in->value[at + k * LINE], 0, 3);
    }
}

static void score_index(const struct job *job, struct block *block)
{
    const bool hessvec = job->what->kind == EVALUATE_HESSVEC;
    const struct sparse_round *const round = job->round;
    const struct sparse_rows *const in = job->in;
    const uint64_t last = in->begin[in->rows];

    for (uint32_t i = 0; i < block->rows; i++) {
        const uint32_t row = block->first + i;
        const uint32_t *const from = in->column + in->begin[row];
        const uint32_t *const to = in->column + in->begin[row + 1];

        fetch_entries(in, row);
        if (!hessvec)
            block->z[i] = index_score(from, to, round->q, round->unit);
        else if (last - in->begin[row + 1] >= AHEAD)
            index_scores(from, to, round, true, &block->z[i], &block->t[i]);
        else
            index_scores(from, to, round, false, &block->z[i], &block->t[i]);
    }
}

INLINE double csr_score_of(const struct sparse_rows *in, uint32_t row,
                           const double *w)
{
    const uint64_t *const at = in->begin + row;
    const uint32_t *const column = in->column + at[0];
    const float *const value = in->value != NULL ? in->value + at[0] : NULL;

    return csr_score(column, value, at[1] - at[0], w);
}

static void score_csr(const struct job *job, struct block *block)
{
    for (uint32_t i = 0; i < block->rows; i++) {
        fetch_entries(job->in, block->first + i);
        block->z[i] = csr_score_of(job->in, block->first + i, job->what->w);
    }
    if (job->what->kind != EVALUATE_HESSVEC)
        return;
    for (uint32_t i = 0; i < block->rows; i++)
        block->t[i] = csr_score_of(job->in, block->first + i, job->what->v);
}

/* Labels and weights are read up to a whole vector: copied only where the
 * chunk ends. */
static struct dense_slopes slopes_at(const struct sparse_rows *in,
                                     struct block *block)
{
    struct dense_slopes at = {
        .z = block->z,
        .y = in->y + block->first,
        .weight = in->weight != NULL ? in->weight + block->first : NULL,
        .r = block->z,
        .rows = block->rows,
    };

    if (block->rows == BLOCK)
        return at;
    memcpy(block->y, at.y, block->rows * sizeof *block->y);
    at.y = block->y;
    if (at.weight != NULL) {
        memcpy(block->weight, at.weight, block->rows * sizeof *block->weight);
        at.weight = block->weight;
    }
    return at;
}

/* Scores become residuals; returns the loss sum so far. */
static double slopes(const struct job *job, struct block *block,
                     double loss_sum)
{
    const bool hessvec = job->what->kind == EVALUATE_HESSVEC;
    struct dense_slopes at = slopes_at(job->in, block);

    at.loss = hessvec ? NULL : block->loss;
    job->ops->slopes(job->loss, hessvec, &at);
    for (uint32_t i = 0; hessvec && i < block->rows; i++)
        block->z[i] *= block->t[i];
    for (uint32_t i = 0; !hessvec && i < block->rows; i++)
        loss_sum += block->loss[i];
    return loss_sum;
}

static bool add_index(const struct job *job, const struct block *block)
{
    const struct sparse_rows *const in = job->in;
    bool fits = true;

    for (uint32_t i = 0; i < block->rows; i++) {
        const uint64_t *const at = in->begin + block->first + i;

        fits &= sparse_add_ones(in->column + at[0], in->column + at[1],
                                block->z[i] * job->scale, job->sum);
    }
    return fits;
}

static bool add_csr(const struct job *job, const struct block *block)
{
    const struct sparse_rows *const in = job->in;
    bool fits = true;

    for (uint32_t i = 0; i < block->rows; i++) {
        const uint64_t *const at = in->begin + block->first + i;
        const struct sparse_row row = {
            .column = in->column + at[0],
            .value = in->value + at[0],
            .count = at[1] - at[0],
            .after = in->begin[in->rows] - at[1],
            .r = block->z[i],
        };

        fits &= isfinite(row.r) != 0; /* Also if the row is empty. */
        fits &= job->add_row(&row, job->least, job->sum);
    }
    return fits;
}

/* The rows from `first` on, as many as a block holds; returns the loss sum so
 * far. */
static double fill_block(const struct job *job, uint32_t first, uint32_t end,
                         double loss_sum, struct block *block)
{
    block->first = first;
    block->rows = end - first < BLOCK ? end - first : BLOCK;
    if (job->in->value != NULL)
        score_csr(job, block);
    else
        score_index(job, block);
    return slopes(job, block, loss_sum);
}

/* Rows [0, end) of the chunk, a multiple of BLOCK or all.  Stops after the
 * block that does not fit and says in *done how far it came. */
static bool run(const struct job *job, uint32_t end, bool undo, uint32_t *done,
                double *loss_sum)
{
    const bool csr = job->in->value != NULL;
    struct block block;
    bool fits = true;

    memset(&block, 0, sizeof block);
    *loss_sum = 0.0;
    for (uint32_t i = 0; fits && i < end; i += BLOCK) {
        *loss_sum = fill_block(job, i, end, *loss_sum, &block);
        for (uint32_t k = 0; undo && k < block.rows; k++)
            block.z[k] = -block.z[k];
        fits = csr ? add_csr(job, &block) : add_index(job, &block);
        /* Taking back meets the same misfit, in the last block. */
        fits |= undo;
        *done = i + block.rows;
    }
    return fits;
}

/* Let the sums carry the exponents; the first chunk of a tally does it. */
static enum err carry_exponents(struct sparse_desk *desk,
                                const struct sparse_rows *in,
                                const int16_t *exponent,
                                const struct tally *tally)
{
    struct sparse_columns all = {
        .end = in->cols, .exponent = exponent, .sum = tally->sum};
    enum err err;

    if (in->value == NULL || desk->carries)
        return ERR_OK;
    err = sparse_least(exponent, in->cols, &all.least);
    if (err != ERR_OK)
        return err;
    sparse_columns_open(&all);
    *desk = (struct sparse_desk){true, all.least, in->cols};
    return ERR_OK;
}

void sparse_settle(struct sparse_desk *desk, struct tally *tally)
{
    const struct sparse_columns all = {.end = desk->cols, .sum = tally->sum};

    if (desk->carries)
        sparse_columns_settle(&all);
    desk->carries = false;
}

enum err sparse_add_chunk(enum isa isa, struct loss loss,
                          const struct sparse_rows *in,
                          const struct evaluation *what,
                          const struct sparse_round *round,
                          const int16_t *exponent, uint32_t chunk,
                          struct sparse_desk *desk, struct tally *tally)
{
    struct job job = {
        .ops = dense_ops_of(isa),
        .loss = loss,
        .in = in,
        .what = what,
        .round = round,
        .add_row = sparse_row_adder_of(isa),
        .scale = power_of_two(exponent[0]),
        .sum = tally->sum,
    };
    double loss_sum = 0.0;
    double unused;
    uint32_t done = 0;
    enum err err;

    CHECK(what->kind != EVALUATE_HESSIAN);
    CHECK(in->value != NULL || round != NULL);
    CHECK(tally->dims >= in->cols);
    CHECK(chunk < tally->chunks.count);
    if (chunkset_has(&tally->chunks, chunk))
        return ERR_OVERLAP;
    err = carry_exponents(desk, in, exponent, tally);
    if (err != ERR_OK)
        return err;
    job.least = desk->least;
    if (!run(&job, in->rows, false, &done, &loss_sum) ||
        !tally_loss_fits(tally, exponent, loss_sum)) {
        (void)run(&job, done, true, &done, &unused);
        return ERR_RANGE;
    }
    tally_mark(tally, exponent, chunk, loss_sum);
    return ERR_OK;
}

bool sparse_residuals(enum isa isa, struct loss loss,
                      const struct sparse_rows *in,
                      const struct evaluation *what,
                      const struct sparse_round *round, double *r,
                      double *loss_sum)
{
    const struct job job = {.ops = dense_ops_of(isa),
                            .loss = loss,
                            .in = in,
                            .what = what,
                            .round = round};
    struct block block;
    bool finite = true;

    memset(&block, 0, sizeof block);
    *loss_sum = 0.0;
    for (uint32_t i = 0; i < in->rows; i += BLOCK) {
        *loss_sum = fill_block(&job, i, in->rows, *loss_sum, &block);
        memcpy(r + i, block.z, block.rows * sizeof *r);
        for (uint32_t k = 0; k < block.rows; k++)
            finite &= isfinite(block.z[k]) != 0;
    }
    return finite;
}

void sparse_scores(const struct sparse_rows *in, const double *w, double *z)
{
    for (uint32_t i = 0; i < in->rows; i++) {
        fetch_entries(in, i);
        z[i] = csr_score_of(in, i, w);
    }
}
