/*
 * predict.c - rows scored by a model: the part of `muster predict` and of
 * muster_predict that is the same.
 */
#include "learn/predict.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "learn/family/inputs.h"
#include "learn/rows.h"
#include "math/kernel/kernel.h"
#include "math/kernel/softmax.h"
#include "model/net/scores.h"
#include "os/run/threads.h"

#define BLOCK_ROWS 256u /* Probabilities worked out at a time. */

enum err predict_columns(const struct model_file *model,
                         struct encoder *stand_in, struct why *why)
{
    struct schema schema = {0};
    enum err err;

    if (model->encoder.kind == ENCODER_TABLE)
        return ERR_OK;
    err = schema_plain(&schema, model->features);
    if (err == ERR_OK)
        err = encoder_plain(stand_in, &schema);
    stand_in->from_zero = model->encoder.from_zero;
    stand_in->wide = model->encoder.wide;
    stand_in->byte = model->encoder.byte;
    return err == ERR_OK ? err : why_set(why, err, "%s", err_text(err));
}

/* Rows of LIBSVM text have a first field whether it means anything or not. */
static void forget_labels(struct dataset *data)
{
    for (uint32_t i = 0; i < data->rows; i++)
        data->y[i] = nan("");
}

static enum err load_rows(struct prediction *prediction,
                          struct source_options *source, struct why *why)
{
    const struct model_file *const model = prediction->model;
    const uint32_t cols = model_file_weights(model);
    struct encoder stand_in = {0};
    struct encoder encoder = model->encoder; /* Fitted, so only read. */
    enum err err = predict_columns(model, &stand_in, why);

    source->cols_min = cols;
    source->cols_max = cols;
    source->intercept = model->intercept;
    if (model->net != NULL)
        source->taken = inputs_image(model->net);
    source->regression = true;
    source->unlabelled = true;
    source->encoder = encoder.kind == ENCODER_TABLE ? &encoder : &stand_in;
    if (source->storage == NULL && encoder.wide)
        source->storage = storage_name(STORAGE_F64);
    if (err == ERR_OK)
        err = source_load(source, &prediction->data, NULL, NULL, why);
    encoder_close(&stand_in);
    source->encoder = NULL;
    prediction->loaded = err == ERR_OK;
    if (err == ERR_OK && source->label != NULL &&
        strcmp(source->label, LABEL_NONE) == 0)
        forget_labels(&prediction->data);
    if (err == ERR_OK && prediction->data.cols != cols)
        return why_set(why, ERR_SHAPE, "%.200s has %u columns, the model %u",
                       source->spec != NULL ? source->spec : "the data",
                       prediction->data.cols, cols);
    if (err == ERR_OK && model->net != NULL &&
        inputs_check(model->net, model->encoder.byte, &prediction->data, why) !=
            ERR_OK)
        return why_in(why, ERR_MISMATCH, "%.200s",
                      source->spec != NULL ? source->spec : "the rows");
    return err;
}

/* With all processors; the same numbers with one. */
static enum err score_network(struct prediction *prediction, struct why *why)
{
    const struct model_file *model = prediction->model;
    struct dataset data = prediction->data;
    struct pool *threads = NULL;
    enum err err = ERR_NOMEM;

    data.weight = NULL; /* Every row is asked about. */
    prediction->scores =
        mem_new((size_t)model->outputs * data.rows, sizeof(double));
    if (threads_new(threads_available(), &threads) != ERR_OK)
        threads = NULL;
    if (prediction->scores != NULL)
        err = neural_model_scores(model->net, &data, isa_best(),
                                  threads != NULL ? threads : pool_serial(),
                                  prediction->scores, why);
    threads_free(threads);
    return err == ERR_NOMEM ? why_set(why, err, "out of memory") : err;
}

static enum err score(struct prediction *prediction, struct why *why)
{
    const struct dataset *data = &prediction->data;
    const struct model_file *model = prediction->model;
    const struct problem problem = {.data = data,
                                    .model = model_ops(model->kind),
                                    .isa = isa_best(),
                                    .outputs = model->outputs};
    double *inside =
        mem_new((size_t)model->outputs * data->stride, sizeof *inside);
    enum err err = ERR_NOMEM;

    prediction->scores =
        mem_new((size_t)model->outputs * data->rows, sizeof(double));
    if (inside != NULL && prediction->scores != NULL) {
        for (uint32_t k = 0; k < model->outputs; k++)
            rows_weights_in(data, model->w + (size_t)k * data->cols,
                            inside + (size_t)k * data->stride);
        err =
            metrics_scores(&problem, pool_serial(), inside, prediction->scores);
    }
    mem_free(inside);
    if (err == ERR_RANGE)
        return why_set(why, err,
                       "a score is not finite: the data's values or the "
                       "model's weights are too large");
    return err == ERR_OK ? err : why_set(why, err, "out of memory");
}

enum err predict_score(struct prediction *prediction,
                       struct source_options *source, struct why *why)
{
    const enum err err = load_rows(prediction, source, why);

    if (err != ERR_OK)
        return err;
    return prediction->model->net != NULL ? score_network(prediction, why)
                                          : score(prediction, why);
}

/* 1 / (1 + exp(-z)) by the exact kernel: the slope of the logistic loss for a
 * label of -1. */
static void squash(const double *z, double *p, size_t count)
{
    double y[BLOCK_ROWS];

    for (uint32_t i = 0; i < BLOCK_ROWS; i++)
        y[i] = -1;
    memcpy(p, z, count * sizeof *p);
    for (size_t first = 0; first < count; first += BLOCK_ROWS) {
        const size_t left = count - first;

        kernel_slopes(isa_best(), loss_plain(LOSS_LOGISTIC), false, p + first,
                      y, NULL, NULL,
                      left < BLOCK_ROWS ? (uint32_t)left : BLOCK_ROWS);
    }
}

/* One against the rest, each by itself: made to add up, as LIBLINEAR. */
static void share(double *p, uint32_t outputs)
{
    double sum = 0;

    for (uint32_t k = 0; k < outputs; k++)
        sum += p[k];
    for (uint32_t k = 0; k < outputs; k++)
        p[k] /= sum;
}

enum err predict_probabilities(struct prediction *prediction, struct why *why)
{
    const struct model_ops *const model = model_ops(prediction->model->kind);
    const uint32_t outputs = prediction->model->outputs;
    const size_t count = (size_t)outputs * prediction->data.rows;
    double *p;

    if (!model->probable)
        return why_set(why, ERR_SHAPE,
                       "probabilities need a logistic or softmax model; this "
                       "one is %s",
                       model->name);
    p = mem_new(count, sizeof *p);
    if (p == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    prediction->probability = p;
    if (model->classes)
        memcpy(p, prediction->scores, count * sizeof *p);
    else
        squash(prediction->scores, p, count);
    for (size_t at = 0; at < count && outputs > 1; at += outputs) {
        if (model->classes)
            (void)softmax_probabilities(outputs, p + at);
        else
            share(p + at, outputs);
    }
    return ERR_OK;
}

uint32_t predict_class(const struct prediction *prediction, uint32_t row)
{
    const struct model_file *model = prediction->model;
    const double *z = prediction->scores + (size_t)row * model->outputs;

    return model->outputs == 1 ? z[0] > 0 : softmax_best(model->outputs, z);
}

double predict_label(const struct prediction *prediction, uint32_t row)
{
    const struct model_file *model = prediction->model;

    return model->classes == 0 ? prediction->scores[row]
                               : model->label[predict_class(prediction, row)];
}

double predict_probability(const struct prediction *prediction, uint32_t row,
                           uint32_t k)
{
    const uint32_t outputs = prediction->model->outputs;
    const double *p = prediction->probability + (size_t)row * outputs;

    if (outputs == 1)
        return k == 1 ? p[0] : 1 - p[0];
    return p[k];
}

static uint32_t class_of(const struct model_file *model, double label)
{
    uint32_t k = 0;

    while (k < model->classes && model->label[k] != label)
        k++;
    return k;
}

uint32_t predict_true_class(const struct prediction *prediction, uint32_t row)
{
    return class_of(prediction->model, prediction->data.y[row]);
}

/* Is class a likelier than b of this row, or as likely and before it? */
static bool before(const struct prediction *prediction, uint32_t row,
                   uint32_t a, uint32_t b)
{
    const double p = predict_probability(prediction, row, a);
    const double q = predict_probability(prediction, row, b);

    return p > q || (p == q && a < b);
}

/* By insertion: k is small. */
void predict_top(const struct prediction *prediction, uint32_t row, uint32_t k,
                 uint32_t *best)
{
    uint32_t count = 0;

    CHECK(k > 0 && k <= prediction->model->classes);
    for (uint32_t c = 0; c < prediction->model->classes; c++) {
        uint32_t at = count;

        while (at > 0 && before(prediction, row, c, best[at - 1]))
            at--;
        if (at == k)
            continue;
        if (count < k)
            count++;
        memmove(best + at + 1, best + at,
                (size_t)(count - 1 - at) * sizeof *best);
        best[at] = c;
    }
}

double predict_top_share(const struct prediction *prediction, uint32_t k)
{
    const uint32_t classes = prediction->model->classes;
    uint32_t known = 0, among = 0;

    for (uint32_t row = 0; row < prediction->data.rows; row++) {
        const uint32_t truth = predict_true_class(prediction, row);
        uint32_t ahead = 0;

        if (truth == classes)
            continue;
        for (uint32_t c = 0; c < classes; c++)
            ahead += c != truth && before(prediction, row, c, truth);
        known++;
        among += ahead < k;
    }
    return (double)among / (double)known;
}

/* What the metrics call a label: -1 or +1, the number of its class, of
 * regression the label itself.  False if the model does not know it. */
static bool truth_of(const struct model_file *model, double label, double *y)
{
    const uint32_t k = class_of(model, label);

    *y = label;
    if (model->classes == 0)
        return !isnan(label);
    *y = model->outputs > 1 ? (double)k : (k == 1 ? 1 : -1);
    return k < model->classes;
}

double predict_truth(const struct prediction *prediction, uint32_t row)
{
    const double label = prediction->data.y[row];
    double y;

    return truth_of(prediction->model, label, &y) ? label : nan("");
}

/* Rows of labels that the model does not know weigh 0. */
static enum err measure_known(struct prediction *prediction)
{
    const struct model_file *model = prediction->model;
    const struct dataset *data = &prediction->data;
    double *y = mem_new(data->rows, sizeof *y);
    double *weight = mem_new(data->rows, sizeof *weight);
    const struct scored_rows rows = {
        .z = prediction->scores,
        .y = y,
        .weight = weight,
        .rows = data->rows,
        .outputs = model->outputs,
        .falling = model->outputs == 2 && model->label[0] > model->label[1]};
    enum err err = y == NULL || weight == NULL ? ERR_NOMEM : ERR_OK;

    for (uint32_t row = 0; err == ERR_OK && row < data->rows; row++) {
        const bool known = truth_of(model, data->y[row], &y[row]);

        weight[row] = known ? 1 : 0;
        prediction->known += known;
    }
    if (err == ERR_OK && prediction->known > 0)
        err = metrics_of_scores(&prediction->metrics, model_ops(model->kind),
                                isa_best(), &rows);
    mem_free(y);
    mem_free(weight);
    return err;
}

enum err predict_measure(struct prediction *prediction, struct why *why)
{
    enum err err;

    prediction->metrics = metrics_none();
    err = measure_known(prediction);
    return err == ERR_OK ? err : why_set(why, err, "%s", err_text(err));
}

void predict_close(struct prediction *prediction)
{
    mem_free(prediction->scores);
    mem_free(prediction->probability);
    if (prediction->loaded)
        dataset_close(&prediction->data);
    *prediction = (struct prediction){.model = prediction->model};
}

/* --- confusion ----------------------------------------------------------- */

enum err confusion_count(struct confusion *confusion,
                         const struct prediction *prediction, struct why *why)
{
    const uint32_t classes = prediction->model->classes;
    uint64_t *count;

    if (classes == 0)
        return why_set(why, ERR_SHAPE,
                       "--confusion needs a model of classes; this one says "
                       "numbers");
    count = mem_new((size_t)classes * classes, sizeof *count);
    if (count == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    for (uint32_t row = 0; row < prediction->data.rows; row++) {
        const uint32_t truth = predict_true_class(prediction, row);

        if (truth < classes)
            count[(size_t)truth * classes + predict_class(prediction, row)]++;
    }
    *confusion = (struct confusion){classes, count};
    return ERR_OK;
}

void confusion_close(struct confusion *confusion)
{
    mem_free(confusion->count);
    *confusion = (struct confusion){0};
}

/* Of `classes` counts that lie `step` apart the share of the one at `hit`. */
static double share_of(const uint64_t *count, uint32_t classes, size_t step,
                       uint32_t hit)
{
    uint64_t all = 0;

    for (uint32_t k = 0; k < classes; k++)
        all += count[k * step];
    return (double)count[hit * step] / (double)all;
}

double confusion_recall(const struct confusion *c, uint32_t label)
{
    return share_of(c->count + (size_t)label * c->classes, c->classes, 1,
                    label);
}

double confusion_precision(const struct confusion *c, uint32_t label)
{
    return share_of(c->count + label, c->classes, c->classes, label);
}
