/*
 * predict.c - `muster predict`: what a model says of rows, and how often it is
 * right where they have labels it knows.
 *
 *     model text --> weights in the data's columns --> scores --> labels
 *                                                        '--> metrics
 *
 * Labels are kept as read: rows to be judged may have none (a 0 by habit), or
 * others than the model was taught.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/pages/page.h"
#include "cli/show/metrics_show.h"
#include "data/source.h"
#include "data/span.h"
#include "learn/input.h"
#include "learn/rows.h"
#include "learn/save.h"
#include "math/kernel/softmax.h"
#include "model/metrics.h"
#include "os/file/file.h"
#include "os/file/input.h"
#include "os/file/output.h"

#define BLOCK_ROWS   256u /* Probabilities worked out at a time. */
#define MODEL_BEGINS "solver_type "

struct predict {
    struct cli *cli;
    struct model_file model;
    struct dataset data;
    bool loaded;
    double *scores;      /* outputs a row, row after row. */
    double *probability; /* The same, if wanted. */
    struct metrics metrics;
    uint32_t known; /* Rows whose label the model knows. */
    bool csv, probabilities;
};

static bool ends_with(const char *text, const char *end)
{
    const size_t size = strlen(text);
    const size_t tail = strlen(end);

    return size >= tail && strcmp(text + size - tail, end) == 0;
}

static enum err take_options(struct predict *predict, struct why *why)
{
    const struct options *options = &predict->cli->options;
    const char *out = option_text(options, OPT_PREDICTIONS);
    const char *style = option_text(options, OPT_STYLE);

    if (option_text(options, OPT_MODEL_FILE) == NULL)
        return why_set(why, ERR_SHAPE,
                       "which model? muster predict DATA MODEL [OUT]");
    predict->csv = style != NULL ? strcmp(style, "csv") == 0
                                 : out != NULL && ends_with(out, ".csv");
    predict->probabilities = option_flag(options, OPT_PROBABILITY);
    return ERR_OK;
}

static void note(void *context, const char *sentence)
{
    say_note(context, "muster: %s", sentence);
}

/* A model that knows no columns takes tables by place, the label last. */
static enum err know_columns(const struct model_file *model,
                             struct encoder *stand_in, struct why *why)
{
    struct schema schema = {0};
    enum err err;

    if (model->encoder.column != NULL)
        return ERR_OK;
    err = schema_plain(&schema, model->features);
    if (err == ERR_OK)
        err = encoder_plain(stand_in, &schema);
    stand_in->indexed = model->encoder.indexed;
    stand_in->from_zero = model->encoder.from_zero;
    return err == ERR_OK ? err : why_set(why, err, "%s", err_text(err));
}

/* Rows of LIBSVM text have a first field whether it means anything or not. */
static void forget_labels(struct dataset *data)
{
    for (uint32_t i = 0; i < data->rows; i++)
        data->y[i] = nan("");
}

static enum err load_rows(struct predict *predict, struct why *why)
{
    const uint32_t cols = model_file_weights(&predict->model);
    struct source_options source = input_options(&predict->cli->options.recipe);
    struct encoder stand_in = {0};
    enum err err;

    source.spec = option_text(&predict->cli->options, OPT_DATA);
    source.cols_min = cols;
    source.cols_max = cols;
    source.intercept = predict->model.intercept;
    source.regression = true;
    source.unlabelled = true;
    source.encoder = &predict->model.encoder;
    err = know_columns(&predict->model, &stand_in, why);
    if (err != ERR_OK)
        return err;
    if (predict->model.encoder.column == NULL)
        source.encoder = &stand_in;
    if (source.storage == NULL && predict->model.encoder.wide)
        source.storage = storage_name(STORAGE_F64);
    source.note = note;
    source.note_context = predict->cli;
    err = source_load(&source, &predict->data, NULL, NULL, why);
    encoder_close(&stand_in);
    predict->loaded = err == ERR_OK;
    if (err == ERR_OK && source.label != NULL &&
        strcmp(source.label, LABEL_NONE) == 0)
        forget_labels(&predict->data);
    if (err == ERR_OK && predict->data.cols != cols)
        return why_set(why, ERR_SHAPE, "%.200s has %u columns, the model %u",
                       source.spec, predict->data.cols, cols);
    return err;
}

static enum err score(struct predict *predict, struct why *why)
{
    const struct dataset *data = &predict->data;
    const struct model_file *model = &predict->model;
    const struct problem problem = {.data = data,
                                    .model = model_ops(model->kind),
                                    .isa = isa_best(),
                                    .outputs = model->outputs};
    double *inside =
        mem_new((size_t)model->outputs * data->stride, sizeof *inside);
    enum err err = ERR_NOMEM;

    predict->scores =
        mem_new((size_t)model->outputs * data->rows, sizeof(double));
    if (inside != NULL && predict->scores != NULL) {
        for (uint32_t k = 0; k < model->outputs; k++)
            rows_weights_in(data, model->w + (size_t)k * data->cols,
                            inside + (size_t)k * data->stride);
        err = metrics_scores(&problem, inside, predict->scores);
    }
    mem_free(inside);
    if (err == ERR_RANGE)
        return why_set(why, err,
                       "a score is not finite: the data's values or the "
                       "model's weights are too large");
    return err == ERR_OK ? err : why_set(why, err, "out of memory");
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

        kernel_slopes(isa_best(), LOSS_LOGISTIC, false, p + first, y, NULL,
                      NULL, left < BLOCK_ROWS ? (uint32_t)left : BLOCK_ROWS);
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

static enum err make_probabilities(struct predict *predict, struct why *why)
{
    const enum model_kind kind = predict->model.kind;
    const uint32_t outputs = predict->model.outputs;
    const size_t count = (size_t)outputs * predict->data.rows;
    double *p;

    if (!predict->probabilities)
        return ERR_OK;
    if (kind != MODEL_LOGISTIC && kind != MODEL_SOFTMAX)
        return why_set(why, ERR_SHAPE,
                       "--probability needs a logistic or softmax model; this "
                       "one is %s",
                       model_ops(kind)->name);
    p = mem_new(count, sizeof *p);
    if (p == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    predict->probability = p;
    if (kind == MODEL_SOFTMAX)
        memcpy(p, predict->scores, count * sizeof *p);
    else
        squash(predict->scores, p, count);
    for (size_t at = 0; at < count && outputs > 1; at += outputs) {
        if (kind == MODEL_SOFTMAX)
            (void)softmax_probabilities(outputs, p + at);
        else
            share(p + at, outputs);
    }
    return ERR_OK;
}

/* The label said of a row; of regression the value itself. */
static double said(const struct predict *predict, uint32_t row)
{
    const struct model_file *model = &predict->model;
    const double *z = predict->scores + (size_t)row * model->outputs;

    if (model->kind == MODEL_LINEAR)
        return z[0];
    if (model->outputs == 1)
        return model->label[z[0] > 0];
    return model->label[softmax_best(model->outputs, z)];
}

/* What the metrics call a label: -1 or +1, the number of its class, of
 * regression the label itself.  False if the model does not know it. */
static bool truth_of(const struct model_file *model, double label, double *y)
{
    uint32_t k = 0;

    *y = label;
    if (model->classes == 0)
        return !isnan(label);
    while (k < model->classes && model->label[k] != label)
        k++;
    *y = model->outputs > 1 ? (double)k : (k == 1 ? 1 : -1);
    return k < model->classes;
}

/* Rows of labels that the model does not know weigh 0. */
static enum err measure_known(struct predict *predict)
{
    const struct model_file *model = &predict->model;
    const struct dataset *data = &predict->data;
    double *y = mem_new(data->rows, sizeof *y);
    double *weight = mem_new(data->rows, sizeof *weight);
    const struct scored_rows rows = {.z = predict->scores,
                                     .y = y,
                                     .weight = weight,
                                     .rows = data->rows,
                                     .outputs = model->outputs};
    enum err err = y == NULL || weight == NULL ? ERR_NOMEM : ERR_OK;

    for (uint32_t row = 0; err == ERR_OK && row < data->rows; row++) {
        const bool known = truth_of(model, data->y[row], &y[row]);

        weight[row] = known ? 1 : 0;
        predict->known += known;
    }
    if (err == ERR_OK && predict->known > 0)
        err = metrics_of_scores(&predict->metrics, model_ops(model->kind),
                                isa_best(), &rows);
    mem_free(y);
    mem_free(weight);
    return err;
}

static enum err measure(struct predict *predict, struct why *why)
{
    enum err err;

    predict->metrics = metrics_none();
    err = measure_known(predict);
    return err == ERR_OK ? err : why_set(why, err, "%s", err_text(err));
}

/* In the model file's order: of two, what a positive score says first. */
static uint32_t shown_class(const struct model_file *model, uint32_t index)
{
    return model->outputs == 1 ? model->classes - 1 - index : index;
}

static double shown_probability(const struct predict *predict, uint32_t row,
                                uint32_t index)
{
    const uint32_t outputs = predict->model.outputs;
    const double *p = predict->probability + (size_t)row * outputs;

    if (outputs == 1)
        return index == 0 ? p[0] : 1 - p[0];
    return p[index];
}

/* A label as the training table had it, behind `prefix`; in tables with quotes
 * about both if need be. */
static void put_label(const struct predict *predict, const char *prefix,
                      double label, struct page *page)
{
    const char *word = model_file_word(&predict->model, label);
    /* Lines of a label alone need no marks, unless it is more than one. */
    const bool columns = predict->csv || predict->probabilities;
    const bool quoted =
        word != NULL && strpbrk(word, columns ? ",\" \r\n" : "\r\n") != NULL;

    if (word == NULL) {
        page_put(page, "%s%.17g", prefix, label);
        return;
    }
    page_put(page, "%s%s", quoted ? "\"" : "", prefix);
    for (; *word != '\0'; word++)
        page_put(page, "%s%c", quoted && *word == '"' ? "\"" : "", *word);
    page_put(page, "%s", quoted ? "\"" : "");
}

static void put_head(const struct predict *predict, struct page *page)
{
    const struct model_file *model = &predict->model;

    if (!predict->csv && !predict->probabilities)
        return;
    page_put(page, "%s",
             !predict->csv                 ? "labels"
             : model->kind == MODEL_LINEAR ? "value"
                                           : "label");
    for (uint32_t k = 0;
         predict->csv && model->classes > 0 && k < model->outputs; k++) {
        page_put(page, model->outputs == 1 ? ",score" : ",");
        if (model->outputs > 1)
            put_label(predict, "score_", model->label[k], page);
    }
    for (uint32_t k = 0; predict->probabilities && k < model->classes; k++) {
        page_put(page, predict->csv ? "," : " ");
        put_label(predict, predict->csv ? "p_" : "",
                  model->label[shown_class(model, k)], page);
    }
    page_put(page, "\n");
}

static void put_row(const struct predict *predict, uint32_t row,
                    struct page *page)
{
    const struct model_file *model = &predict->model;
    const double *z = predict->scores + (size_t)row * model->outputs;

    put_label(predict, "", said(predict, row), page);
    for (uint32_t k = 0;
         predict->csv && model->classes > 0 && k < model->outputs; k++)
        page_put(page, ",%.17g", z[k]);
    for (uint32_t k = 0; predict->probabilities && k < model->classes; k++)
        page_put(page, predict->csv ? ",%.17g" : " %.10g",
                 shown_probability(predict, row, k));
    page_put(page, "\n");
}

static void show_json(const struct predict *predict, const char *out)
{
    json_t *object = json_pack("{s:I, s:I, s:o, s:o}", "rows",
                               (json_int_t)predict->data.rows, "known",
                               (json_int_t)predict->known, "metrics",
                               metrics_object(&predict->metrics), "predictions",
                               out != NULL ? json_string(out) : json_array());
    json_t *list = json_object_get(object, "predictions");

    for (uint32_t row = 0; out == NULL && row < predict->data.rows; row++) {
        const double label = said(predict, row);
        const char *word = model_file_word(&predict->model, label);

        (void)json_array_append_new(list, word != NULL ? json_string(word)
                                                       : json_number(label));
    }
    say_json(object);
}

static enum metric first_metric(const struct predict *predict)
{
    const char *name = option_text(&predict->cli->options, OPT_METRIC);
    enum metric metric = METRIC_ACCURACY;

    if (metric_parse(name != NULL ? name
                                  : model_ops(predict->model.kind)->metric,
                     &metric) != ERR_OK)
        metric = METRIC_ACCURACY;
    return metric;
}

static bool has_labels(const struct dataset *data)
{
    for (uint32_t row = 0; row < data->rows; row++)
        if (!isnan(data->y[row]))
            return true;
    return false;
}

/* Labels there are, but others than the model's. */
static void note_unmeasured(const struct predict *predict)
{
    const struct model_file *model = &predict->model;
    char list[LIST_SIZE] = "";
    char number[32];

    for (uint32_t k = 0; k < model->classes; k++) {
        const char *word = model_file_word(model, model->label[k]);

        (void)snprintf(number, sizeof number, "%.17g", model->label[k]);
        list_add(list, sizeof list,
                 word != NULL ? quote_text(word).text : number);
    }
    say_note(predict->cli,
             "muster: no row has a label that the model knows (%s), so there "
             "are no metrics",
             list);
}

/* To standard output where the predictions are not, else beside them. */
static void show_text(const struct predict *predict, const char *out)
{
    FILE *to = out != NULL ? stdout : stderr;
    const uint32_t strange = predict->data.rows - predict->known;
    char line[256];

    if (out == NULL && predict->cli->quiet)
        return;
    metrics_list(&predict->metrics, first_metric(predict), METRICS, line,
                 sizeof line);
    if (line[0] != '\0')
        (void)fprintf(to, "metrics    %s\n", line);
    if (out != NULL)
        (void)printf("written    %s, %u rows\n", out, predict->data.rows);
    if (predict->known == 0 && has_labels(&predict->data))
        note_unmeasured(predict);
    else if (strange > 0 && predict->known > 0)
        say_note(predict->cli,
                 "muster: %u of %u rows have labels that the model does not "
                 "know; the metrics leave them out",
                 strange, predict->data.rows);
}

static enum err write_out(const struct predict *predict, const char *out,
                          struct why *why)
{
    struct page page = {0};
    enum err err = ERR_OK;

    put_head(predict, &page);
    for (uint32_t row = 0; row < predict->data.rows; row++)
        put_row(predict, row, &page);
    if (page.failed)
        err = why_set(why, ERR_NOMEM, "out of memory");
    else if (out != NULL)
        err = output_save(out, page.data, page.size, why);
    else if (page.size > 0)
        (void)fwrite(page.data, 1, page.size, stdout);
    page_close(&page);
    return err;
}

static bool is_model(const char *path)
{
    char first[sizeof MODEL_BEGINS] = "";
    struct input input;
    size_t got = 0;
    bool same;

    if (input_is_stream(path) || input_open(&input, path, NULL) != ERR_OK)
        return false;
    same = input_read_at(&input, 0, first, sizeof first - 1, &got) == ERR_OK &&
           strcmp(first, MODEL_BEGINS) == 0;
    input_close(&input);
    return same;
}

/* LIBLINEAR's predict and ours name the data first. */
static enum err take_model(struct predict *predict, struct why *why)
{
    const struct options *options = &predict->cli->options;
    const char *data = option_text(options, OPT_DATA);
    const char *model = option_text(options, OPT_MODEL_FILE);

    if (is_model(data) && !is_model(model))
        return why_set(why, ERR_SHAPE,
                       "%.200s is the model; the data come first: muster "
                       "predict %.200s %.200s",
                       data, model, data);
    return model_load(model, &predict->model, why);
}

static enum err execute(struct predict *predict, struct why *why)
{
    const struct options *options = &predict->cli->options;
    const char *out = option_text(options, OPT_PREDICTIONS);
    enum err err = take_options(predict, why);

    if (err == ERR_OK)
        err = take_model(predict, why);
    if (err == ERR_OK)
        err = load_rows(predict, why);
    if (err == ERR_OK)
        err = score(predict, why);
    if (err == ERR_OK)
        err = make_probabilities(predict, why);
    if (err == ERR_OK)
        err = measure(predict, why);
    if (err == ERR_OK && (out != NULL || !predict->cli->json))
        err = write_out(predict, out, why);
    if (err == ERR_OK && predict->cli->json)
        show_json(predict, out);
    else if (err == ERR_OK)
        show_text(predict, out);
    return err;
}

int predict_command(struct cli *cli)
{
    struct predict predict = {.cli = cli};
    struct why why = {0};
    const enum err err = execute(&predict, &why);

    mem_free(predict.scores);
    mem_free(predict.probability);
    if (predict.loaded)
        dataset_close(&predict.data);
    model_file_close(&predict.model);
    return err == ERR_OK ? EXIT_DONE : say_why(cli, err, &why);
}
