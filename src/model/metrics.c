/*
 * metrics.c - how good the scores are.
 *
 * Counts and ranks are integers and losses come from the exact kernel, so
 * metrics too are the same on every machine.
 */
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "model/metrics.h"
#include "model/problem.h"

static int by_score(const void *a, const void *b)
{
    const double x = ((const struct scored *)a)->score;
    const double y = ((const struct scored *)b)->score;

    return (x > y) - (x < y);
}

double metrics_auc(struct scored *rows, size_t count)
{
    uint64_t positives = 0;
    uint64_t negatives = 0;
    uint64_t twice_wins = 0; /* A tie is half a win. */

    qsort(rows, count, sizeof *rows, by_score);
    for (size_t first = 0; first < count;) {
        uint64_t tied_positives = 0;
        uint64_t tied_negatives = 0;
        size_t end = first;

        for (; end < count && rows[end].score == rows[first].score; end++) {
            if (rows[end].positive)
                tied_positives++;
            else
                tied_negatives++;
        }
        twice_wins += tied_positives * (2 * negatives + tied_negatives);
        positives += tied_positives;
        negatives += tied_negatives;
        first = end;
    }
    if (positives == 0 || negatives == 0)
        return nan("");
    return (double)twice_wins / (2 * (double)positives * (double)negatives);
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

/* Scores of all rows; ERR_RANGE if one is not finite. */
static enum err score_rows(const struct problem *problem, const double *w,
                           double *z, struct scored *rows)
{
    const struct dataset *const data = problem->data;
    size_t at = 0;

    for (uint32_t chunk = 0; chunk < dataset_chunks(data); chunk++) {
        const struct dense_rows in = dataset_chunk(data, chunk);

        kernel_scores(problem->isa, &in, w, z);
        for (uint32_t i = 0; i < in.rows; i++, at++) {
            if (!isfinite(z[i]))
                return ERR_RANGE;
            rows[at] = (struct scored){z[i], in.y[i] > 0};
        }
    }
    return ERR_OK;
}

/* Mean loss, chunk after chunk. */
static double mean_loss(const struct problem *problem, const double *w,
                        double *g, void *scratch)
{
    const struct dataset *const data = problem->data;
    double total = 0;

    for (uint32_t chunk = 0; chunk < dataset_chunks(data); chunk++) {
        const struct dense_rows in = dataset_chunk(data, chunk);
        double loss = 0;

        kernel_gradient(problem->isa, problem->model->loss, &in, w, g, &loss,
                        scratch);
        total += loss;
    }
    return total / (double)data->rows;
}

struct buffers {
    double *z, *g;
    struct scored *rows;
    void *scratch;
};

static enum err measure(struct metrics *metrics, const struct problem *problem,
                        const double *w, const struct buffers *buffers)
{
    const size_t rows = problem->data->rows;
    const double none = nan("");
    struct metrics made = {none, none, none, none, none, none, none};
    const enum err err = score_rows(problem, w, buffers->z, buffers->rows);

    if (err != ERR_OK)
        return err;
    switch (problem->model->loss) {
    case LOSS_SQUARED:
        made.mse = mean_loss(problem, w, buffers->g, buffers->scratch);
        break;
    case LOSS_LOGISTIC:
        made.logloss = mean_loss(problem, w, buffers->g, buffers->scratch);
        break;
    case LOSS_SQUARED_HINGE:
        break;
    }
    if (problem->model->loss != LOSS_SQUARED) {
        measure_classes(&made, buffers->rows, rows);
        made.auc = metrics_auc(buffers->rows, rows);
    }
    *metrics = made;
    return ERR_OK;
}

enum err metrics_measure(struct metrics *metrics, const struct problem *problem,
                         const double *w)
{
    const struct dataset *const data = problem->data;
    struct buffers buffers = {
        .z = mem_new(data->chunk_rows, sizeof *buffers.z),
        .g = mem_new(data->stride, sizeof *buffers.g),
        .rows = mem_new(data->rows, sizeof *buffers.rows),
        .scratch = mem_new(kernel_scratch_bytes(data->stride), 1),
    };
    enum err err = ERR_NOMEM;

    CHECK(chunkset_full(&data->present));
    if (buffers.z != NULL && buffers.g != NULL && buffers.rows != NULL &&
        buffers.scratch != NULL)
        err = measure(metrics, problem, w, &buffers);
    mem_free(buffers.z);
    mem_free(buffers.g);
    mem_free(buffers.rows);
    mem_free(buffers.scratch);
    return err;
}
