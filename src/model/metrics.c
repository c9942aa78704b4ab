/*
 * metrics.c - how good the scores are.
 *
 * Counts and ranks are integers and losses come from the exact kernel, added
 * row after row, so metrics too are the same on every machine.
 */
#include "model/metrics.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "math/kernel/softmax.h"

enum {
    BLOCK_ROWS = 256, /* Losses worked out at a time. */
    DIGIT_BITS = 8,   /* Of scores that are sorted. */
    DIGITS = 1 << DIGIT_BITS,
    SORT_FEW = 24, /* No more rows are sorted by comparing them. */
};

static const char *const names[METRICS] = {
    [METRIC_ACCURACY] = "accuracy",
    [METRIC_AUC] = "auc",
    [METRIC_F1] = "f1",
    [METRIC_PRECISION] = "precision",
    [METRIC_RECALL] = "recall",
    [METRIC_LOGLOSS] = "logloss",
    [METRIC_MSE] = "mse",
    [METRIC_R2] = "r2",
};

const char *metric_name(enum metric metric)
{
    CHECK((unsigned)metric < METRICS);
    return names[metric];
}

enum err metric_parse(const char *name, enum metric *metric)
{
    for (unsigned i = 0; i < METRICS; i++) {
        if (strcmp(name, names[i]) == 0) {
            *metric = (enum metric)i;
            return ERR_OK;
        }
    }
    return ERR_UNKNOWN;
}

double metric_value(const struct metrics *metrics, enum metric metric)
{
    const double values[METRICS] = {
        [METRIC_ACCURACY] = metrics->accuracy,
        [METRIC_AUC] = metrics->auc,
        [METRIC_F1] = metrics->f1,
        [METRIC_PRECISION] = metrics->precision,
        [METRIC_RECALL] = metrics->recall,
        [METRIC_LOGLOSS] = metrics->logloss,
        [METRIC_MSE] = metrics->mse,
        [METRIC_R2] = metrics->r2,
    };

    CHECK((unsigned)metric < METRICS);
    return values[metric];
}

bool metric_rises(enum metric metric)
{
    return metric != METRIC_LOGLOSS && metric != METRIC_MSE;
}

struct metrics metrics_none(void)
{
    const double none = nan("");

    return (struct metrics){none, none, none, none, none,
                            none, none, none, none};
}

/* Ordered as the scores are, -0 just before 0. */
static uint64_t key_of(const struct scored *row)
{
    uint64_t bits;

    memcpy(&bits, &row->score, sizeof bits);
    return bits >> 63 == 0 ? bits | UINT64_C(1) << 63 : ~bits;
}

static void sort_few(struct scored *rows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct scored row = rows[i];
        size_t at = i;

        for (; at > 0 && rows[at - 1].score > row.score; at--)
            rows[at] = rows[at - 1];
        rows[at] = row;
    }
}

/* Rows that agree in all digits before the one at `shift`, by that one:
 * [end[d - 1], end[d]) are then those whose digit is d.  In place, since rows
 * may be many: each is moved once, to where its digit belongs. */
static void deal_digit(struct scored *rows, size_t count, unsigned shift,
                       size_t end[DIGITS])
{
    size_t at[DIGITS];
    size_t before = 0;

    memset(end, 0, DIGITS * sizeof *end);
    for (size_t i = 0; i < count; i++)
        end[key_of(&rows[i]) >> shift & (DIGITS - 1)]++;
    for (size_t digit = 0; digit < DIGITS; digit++) {
        at[digit] = before;
        before += end[digit];
        end[digit] = before;
    }
    for (size_t digit = 0; digit < DIGITS; digit++) {
        while (at[digit] < end[digit]) {
            struct scored row = rows[at[digit]];
            size_t is = key_of(&row) >> shift & (DIGITS - 1);

            while (is != digit) {
                const struct scored next = rows[at[is]];

                rows[at[is]++] = row;
                row = next;
                is = key_of(&row) >> shift & (DIGITS - 1);
            }
            rows[at[digit]++] = row;
        }
    }
}

/* By score, from the first digit to the last: at most eight times as deep. */
static void sort_digits(struct scored *rows, size_t count, unsigned shift)
{
    size_t end[DIGITS];
    size_t first = 0;

    if (count <= SORT_FEW) {
        sort_few(rows, count);
        return;
    }
    deal_digit(rows, count, shift, end);
    for (size_t digit = 0; shift > 0 && digit < DIGITS; digit++) {
        sort_digits(rows + first, end[digit] - first, shift - DIGIT_BITS);
        first = end[digit];
    }
}

/* Rows from `at` on with one score, by class; the first that has another. */
static size_t take_tied(const struct scored *rows, size_t count, size_t at,
                        uint64_t tied[2])
{
    const double score = rows[at].score;

    tied[0] = 0;
    tied[1] = 0;
    for (; at < count && rows[at].score == score; at++)
        tied[rows[at].positive]++;
    return at;
}

double metrics_auc(struct scored *rows, size_t count)
{
    uint64_t seen[2] = {0}; /* Negatives, positives. */
    uint64_t tied[2];
    uint64_t twice_wins = 0; /* A tie is half a win. */

    sort_digits(rows, count, 64 - DIGIT_BITS);
    for (size_t at = 0; at < count;) {
        at = take_tied(rows, count, at, tied);
        twice_wins += tied[1] * (2 * seen[0] + tied[0]);
        seen[0] += tied[0];
        seen[1] += tied[1];
    }
    if (seen[0] == 0 || seen[1] == 0)
        return nan("");
    return (double)twice_wins / (2 * (double)seen[1] * (double)seen[0]);
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (double)part / (double)whole;
}

/* A score of exactly 0 says -1, as in LIBLINEAR. */
static void measure_classes(struct metrics *metrics, const struct scored *rows,
                            size_t count)
{
    uint64_t hits[2][2] = {{0}}; /* [truth][prediction]. */
    uint64_t said, were;

    for (size_t i = 0; i < count; i++)
        hits[rows[i].positive][rows[i].score > 0]++;
    said = hits[0][1] + hits[1][1];
    were = hits[1][0] + hits[1][1];
    metrics->accuracy = ratio(hits[0][0] + hits[1][1], count);
    metrics->precision = ratio(hits[1][1], said);
    metrics->recall = ratio(hits[1][1], were);
    metrics->f1 = ratio(2 * hits[1][1], said + were);
}

static void score_sparse(const struct problem *problem, const double *w,
                         uint32_t chunk, double *z)
{
    const struct sparse_rows in = dataset_sparse_chunk(problem->data, chunk);

    if (problem_outputs(problem) == 1)
        sparse_scores(&in, w, z);
    else
        softmax_sparse_scores(problem->outputs, problem->data->stride, &in, w,
                              z);
}

static void score_dense(const struct problem *problem, const double *w,
                        uint32_t chunk, double *z, void *scratch)
{
    const struct dense_rows in = dataset_chunk(problem->data, chunk);

    if (problem_outputs(problem) == 1)
        kernel_scores(problem->isa, &in, w, z);
    else
        softmax_scores(problem->isa, problem->outputs, &in, w, z, scratch);
}

struct scoring {
    const struct problem *problem;
    const double *w;
    double *z;
    uint8_t *scratch; /* `room` bytes for each thread. */
    size_t room;
};

static void score_chunk(void *context, uint32_t thread, uint32_t chunk)
{
    const struct scoring *const scoring = context;
    const struct dataset *const data = scoring->problem->data;
    double *const out = scoring->z + (size_t)dataset_first_row(data, chunk) *
                                         problem_outputs(scoring->problem);

    if (dataset_is_sparse(data))
        score_sparse(scoring->problem, scoring->w, chunk, out);
    else
        score_dense(scoring->problem, scoring->w, chunk, out,
                    scoring->scratch + thread * scoring->room);
}

enum err metrics_scores(const struct problem *problem, struct pool *pool,
                        const double *w, double *z)
{
    const struct dataset *const data = problem->data;
    const uint32_t outputs = problem_outputs(problem);
    struct scoring scoring = {.problem = problem, .w = w, .z = z};

    CHECK(chunkset_full(&data->present));
    if (!dataset_is_sparse(data))
        scoring.room = softmax_scratch_bytes(data->stride, outputs);
    scoring.scratch = mem_new(scoring.room, pool->threads);
    if (scoring.scratch == NULL)
        return ERR_NOMEM;
    pool->run(pool, score_chunk, &scoring, dataset_chunks(data));
    mem_free(scoring.scratch);
    for (size_t i = 0; i < (size_t)data->rows * outputs; i++) {
        if (!isfinite(z[i]))
            return ERR_RANGE;
    }
    return ERR_OK;
}

static bool is_in(const struct scored_rows *in, size_t row)
{
    return in->weight == NULL || in->weight[row] > 0;
}

/* Sum of the losses of the rows that are in. */
static double loss_sum(enum isa isa, struct loss loss,
                       const struct scored_rows *in)
{
    double z[BLOCK_ROWS];
    double losses[BLOCK_ROWS];
    double total = 0;

    for (size_t first = 0; first < in->rows; first += BLOCK_ROWS) {
        const size_t left = in->rows - first;
        const uint32_t rows =
            left < BLOCK_ROWS ? (uint32_t)left : (uint32_t)BLOCK_ROWS;

        memcpy(z, in->z + first, rows * sizeof *z);
        kernel_slopes(isa, loss, false, z, in->y + first, NULL, losses, rows);
        for (uint32_t i = 0; i < rows; i++)
            total += is_in(in, first + i) ? losses[i] : 0;
    }
    return total;
}

/* The larger of two labels: how far it is ahead, and whether it is the truth.
 */
static struct scored scored_of(const struct scored_rows *in, size_t row)
{
    const double *z;

    if (in->outputs != 2)
        return (struct scored){in->z[row], in->y[row] > 0};
    z = in->z + 2 * row;
    return in->falling ? (struct scored){z[0] - z[1], in->y[row] == 0}
                       : (struct scored){z[1] - z[0], in->y[row] > 0};
}

/* NULL: no memory. */
static struct scored *rank(const struct scored_rows *in, size_t count)
{
    struct scored *const rows = mem_new(count, sizeof *rows);
    size_t at = 0;

    for (size_t i = 0; rows != NULL && i < in->rows; i++) {
        if (is_in(in, i))
            rows[at++] = scored_of(in, i);
    }
    CHECK(rows == NULL || at == count);
    return rows;
}

static enum err measure_ranks(struct metrics *metrics,
                              const struct scored_rows *in, size_t count)
{
    struct scored *const rows = rank(in, count);

    if (rows == NULL)
        return ERR_NOMEM;
    measure_classes(metrics, rows, count);
    metrics->auc = metrics_auc(rows, count);
    mem_free(rows);
    return ERR_OK;
}

/* Rows of one class. */
struct class_counts {
    uint64_t hits, said, were;
};

static void average_classes(struct metrics *metrics,
                            const struct class_counts *counts, uint32_t classes,
                            size_t count)
{
    uint64_t hits = 0;
    double seen = 0, precision = 0, recall = 0, f1 = 0;

    for (uint32_t k = 0; k < classes; k++) {
        const struct class_counts *const c = &counts[k];

        hits += c->hits;
        seen += c->said + c->were > 0;
        precision += ratio(c->hits, c->said);
        recall += ratio(c->hits, c->were);
        f1 += ratio(2 * c->hits, c->said + c->were);
    }
    metrics->accuracy = ratio(hits, count);
    metrics->precision = precision / seen;
    metrics->recall = recall / seen;
    metrics->f1 = f1 / seen;
}

/* Of two classes the larger label is what is looked for, as of one score. */
static enum err measure_two(struct metrics *metrics,
                            const struct scored_rows *in, size_t count,
                            const struct class_counts *larger)
{
    struct scored *const rows = rank(in, count);

    if (rows == NULL)
        return ERR_NOMEM;
    metrics->precision = ratio(larger->hits, larger->said);
    metrics->recall = ratio(larger->hits, larger->were);
    metrics->f1 = ratio(2 * larger->hits, larger->said + larger->were);
    metrics->auc = metrics_auc(rows, count);
    mem_free(rows);
    return ERR_OK;
}

static enum err measure_many(struct metrics *metrics,
                             const struct scored_rows *in, size_t count,
                             bool probabilities)
{
    struct class_counts *const counts = mem_new(in->outputs, sizeof *counts);
    double loss = 0;
    enum err err = ERR_OK;

    if (counts == NULL)
        return ERR_NOMEM;
    for (size_t i = 0; i < in->rows; i++) {
        const double *const z = in->z + i * in->outputs;
        const uint32_t said = softmax_best(in->outputs, z);
        uint32_t truth;

        if (!is_in(in, i))
            continue;
        truth = (uint32_t)in->y[i];
        CHECK(truth < in->outputs);
        counts[truth].were++;
        counts[said].said++;
        counts[said].hits += said == truth;
        if (probabilities)
            loss += softmax_loss(in->outputs, z, truth);
    }
    average_classes(metrics, counts, in->outputs, count);
    if (probabilities)
        metrics->loss = metrics->logloss = loss / (double)count;
    if (in->outputs == 2)
        err = measure_two(metrics, in, count, &counts[!in->falling]);
    mem_free(counts);
    return err;
}

/* Of the labels of the rows that are in, about their own mean. */
static double variance(const struct scored_rows *in, size_t count)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < in->rows; i++)
        sum += is_in(in, i) ? in->y[i] : 0;
    for (size_t i = 0; i < in->rows; i++) {
        const double off = in->y[i] - sum / (double)count;

        squares += is_in(in, i) ? off * off : 0;
    }
    return squares / (double)count;
}

/* NaN if labels are all the same: there is no share of nothing. */
static double share_told(double mse, double spread)
{
    return spread > 0 ? 1 - mse / spread : nan("");
}

static enum err measure_one(struct metrics *metrics,
                            const struct model_ops *model, enum isa isa,
                            const struct scored_rows *in, size_t count)
{
    metrics->loss = loss_sum(isa, model->loss, in) / (double)count;
    if (model->regression) {
        metrics->mse = metrics->loss;
        metrics->r2 = share_told(metrics->mse, variance(in, count));
        return ERR_OK;
    }
    if (model->probable)
        metrics->logloss = metrics->loss;
    return measure_ranks(metrics, in, count);
}

enum err metrics_of_scores(struct metrics *metrics,
                           const struct model_ops *model, enum isa isa,
                           const struct scored_rows *in)
{
    struct metrics made = metrics_none();
    size_t count = 0;
    enum err err = ERR_OK;

    for (size_t i = 0; i < in->rows; i++)
        count += is_in(in, i);
    if (count == 0)
        return ERR_SHAPE;
    if (in->outputs > 1)
        err = measure_many(&made, in, count, model->classes);
    else
        err = measure_one(&made, model, isa, in, count);
    if (err == ERR_OK)
        *metrics = made;
    return err;
}

enum err metrics_measure(struct metrics *metrics, const struct problem *problem,
                         const double *w)
{
    const struct dataset *const data = problem->data;
    const uint32_t outputs = problem_outputs(problem);
    double *const z = mem_new((size_t)data->rows * outputs, sizeof *z);
    const struct scored_rows in = {.z = z,
                                   .y = data->y,
                                   .weight = data->weight,
                                   .rows = data->rows,
                                   .outputs = outputs};
    enum err err = z == NULL ? ERR_NOMEM : ERR_OK;

    if (err == ERR_OK)
        err = metrics_scores(problem, pool_serial(), w, z);
    if (err == ERR_OK)
        err = metrics_of_scores(metrics, problem->model, problem->isa, &in);
    mem_free(z);
    return err;
}
