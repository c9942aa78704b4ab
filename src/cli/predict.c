/*
 * predict.c - `muster predict`: what a model says of rows, shown.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/ending.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/pages/page.h"
#include "cli/show/confusion_show.h"
#include "cli/show/metrics_show.h"
#include "data/rows/labels.h"
#include "data/source.h"
#include "data/span.h"
#include "data/text/sniff.h"
#include "learn/card/json.h"
#include "learn/predict.h"
#include "learn/recipe/input.h"
#include "learn/save.h"
#include "math/kernel/softmax.h"
#include "os/file/file.h"
#include "os/file/input.h"
#include "os/file/output.h"

struct predict {
    struct cli *cli;
    struct model_file model;
    struct prediction made;
    struct confusion confusion; /* If it was asked for. */
    uint32_t top;               /* Labels of a row; 0: the one said. */
    bool csv, array, probabilities;
    uint32_t shown[SOFTMAX_CLASSES_MAX]; /* Classes, as columns have them. */
};

static enum err take_options(struct predict *predict, struct why *why)
{
    const struct options *options = &predict->cli->options;
    const char *out = option_text(options, OPT_PREDICTIONS);
    const char *style = option_text(options, OPT_STYLE);

    if (option_text(options, OPT_MODEL_FILE) == NULL)
        return why_set(why, ERR_SHAPE,
                       "which model? muster predict DATA MODEL [OUT]");
    predict->array = out != NULL && ending_is(out, strlen(out), ".npy");
    if (predict->array && style != NULL)
        return why_set(why, ERR_SHAPE,
                       "%.200s holds numbers, and --style is of text; leave it "
                       "out, or choose another name",
                       out);
    predict->csv = style != NULL
                       ? strcmp(style, "csv") == 0
                       : out != NULL && ending_is(out, strlen(out), ".csv");
    predict->probabilities = option_flag(options, OPT_PROBABILITY);
    if (option_text(options, OPT_TOP) != NULL)
        predict->top = (uint32_t)option_count(options, OPT_TOP);
    if (predict->top > 0 && predict->probabilities)
        return why_set(why, ERR_SHAPE,
                       "--top has the probabilities of its labels, "
                       "--probability those of all: choose one");
    return ERR_OK;
}

static void note(void *context, const char *sentence)
{
    say_note(context, "muster: %s", sentence);
}

/* Classes as they are shown.  A table or array has them as scikit-learn's
 * classes_, in ascending order, whatever the model; lines are LIBLINEAR's, in
 * the order of the model file: of two, what a positive score says first. */
static void order_classes(struct predict *predict)
{
    const struct model_file *model = &predict->model;

    for (uint32_t k = 0; k < model->classes; k++) {
        uint32_t at = k;

        if (!predict->csv && !predict->array) {
            predict->shown[k] =
                model->outputs == 1 ? model->classes - 1 - k : k;
            continue;
        }
        for (; at > 0 && model->label[predict->shown[at - 1]] > model->label[k];
             at--)
            predict->shown[at] = predict->shown[at - 1];
        predict->shown[at] = k;
    }
}

static enum err judge_rows(struct predict *predict, struct why *why)
{
    struct source_options source = input_options(&predict->cli->options.recipe);
    enum err err;

    source.spec = option_text(&predict->cli->options, OPT_DATA);
    source.note = note;
    source.note_context = predict->cli;
    predict->made.model = &predict->model;
    order_classes(predict);
    err = predict_score(&predict->made, &source, why);
    if (err == ERR_OK && (predict->probabilities || predict->top > 0))
        err = predict_probabilities(&predict->made, why);
    if (predict->top > predict->model.classes)
        predict->top = predict->model.classes;
    if (err == ERR_OK)
        err = predict_measure(&predict->made, why);
    if (err == ERR_OK && option_flag(&predict->cli->options, OPT_CONFUSION))
        err = confusion_count(&predict->confusion, &predict->made, why);
    return err;
}

/* A label as the training table had it, behind `prefix`; in tables with quotes
 * about both if need be. */
static void put_label(const struct predict *predict, const char *prefix,
                      double label, struct page *page)
{
    const char *word = model_file_word(&predict->model, label);
    /* Lines of a label alone need no marks, unless it is more than one. */
    const bool columns =
        predict->csv || predict->probabilities || predict->top > 0;
    const bool quoted =
        word != NULL && strpbrk(word, columns ? ",\" \r\n" : "\r\n") != NULL;

    if (word == NULL) {
        char number[LABEL_TEXT_SIZE];

        if (predict->model.classes > 0)
            page_put(page, "%s%s", prefix, label_write(label, number));
        else
            page_put(page, "%s%.17g", prefix, label);
        return;
    }
    page_put(page, "%s%s", quoted ? "\"" : "", prefix);
    for (; *word != '\0'; word++)
        page_put(page, "%s%c", quoted && *word == '"' ? "\"" : "", *word);
    page_put(page, "%s", quoted ? "\"" : "");
}

static void put_top_head(const struct predict *predict, struct page *page)
{
    if (!predict->csv) {
        page_put(page, "labels and probabilities, likeliest first\n");
        return;
    }
    page_put(page, "label,p");
    for (uint32_t i = 2; i <= predict->top; i++)
        page_put(page, ",label_%u,p_%u", i, i);
    page_put(page, "\n");
}

static void put_top(const struct predict *predict, uint32_t row,
                    struct page *page)
{
    uint32_t best[SOFTMAX_CLASSES_MAX];

    predict_top(&predict->made, row, predict->top, best);
    for (uint32_t i = 0; i < predict->top; i++) {
        page_put(page, "%s", i == 0 ? "" : predict->csv ? "," : " ");
        put_label(predict, "", predict->model.label[best[i]], page);
        page_put(page, predict->csv ? ",%.17g" : " %.10g",
                 predict_probability(&predict->made, row, best[i]));
    }
    page_put(page, "\n");
}

static void put_head(const struct predict *predict, struct page *page)
{
    const struct model_file *model = &predict->model;

    if (predict->top > 0) {
        put_top_head(predict, page);
        return;
    }
    if (!predict->csv && !predict->probabilities)
        return;
    page_put(page, "%s",
             !predict->csv                        ? "labels"
             : model_ops(model->kind)->regression ? "value"
                                                  : "label");
    for (uint32_t k = 0;
         predict->csv && model->classes > 0 && k < model->outputs; k++) {
        page_put(page, model->outputs == 1 ? ",score" : ",");
        if (model->outputs > 1)
            put_label(predict, "score_", model->label[predict->shown[k]], page);
    }
    for (uint32_t k = 0; predict->probabilities && k < model->classes; k++) {
        page_put(page, predict->csv ? "," : " ");
        put_label(predict, predict->csv ? "p_" : "",
                  model->label[predict->shown[k]], page);
    }
    page_put(page, "\n");
}

static void put_row(const struct predict *predict, uint32_t row,
                    struct page *page)
{
    const struct model_file *model = &predict->model;
    const double *z = predict->made.scores + (size_t)row * model->outputs;

    if (predict->top > 0) {
        put_top(predict, row, page);
        return;
    }
    put_label(predict, "", predict_label(&predict->made, row), page);
    for (uint32_t k = 0;
         predict->csv && model->classes > 0 && k < model->outputs; k++)
        page_put(page, ",%.17g", z[model->outputs > 1 ? predict->shown[k] : k]);
    for (uint32_t k = 0; predict->probabilities && k < model->classes; k++)
        page_put(page, predict->csv ? ",%.17g" : " %.10g",
                 predict_probability(&predict->made, row, predict->shown[k]));
    page_put(page, "\n");
}

static json_t *label_json(const struct model_file *model, double label)
{
    const char *word = model_file_word(model, label);

    return word != NULL ? json_string(word) : json_number(label);
}

static json_t *answer_json(const struct predict *predict, uint32_t row)
{
    uint32_t best[SOFTMAX_CLASSES_MAX];
    json_t *list;

    if (predict->top == 0)
        return label_json(&predict->model, predict_label(&predict->made, row));
    list = json_array();
    predict_top(&predict->made, row, predict->top, best);
    for (uint32_t i = 0; i < predict->top; i++)
        (void)json_array_append_new(
            list,
            json_pack(
                "{s:o, s:f}", "label",
                label_json(&predict->model, predict->model.label[best[i]]), "p",
                predict_probability(&predict->made, row, best[i])));
    return list;
}

static void show_json(const struct predict *predict, const char *out)
{
    json_t *object = json_pack(
        "{s:I, s:I, s:o, s:o}", "rows", (json_int_t)predict->made.data.rows,
        "known", (json_int_t)predict->made.known, "metrics",
        metrics_object(&predict->made.metrics), "predictions",
        out != NULL ? name_json(out) : json_array());
    json_t *list = json_object_get(object, "predictions");

    for (uint32_t row = 0; out == NULL && row < predict->made.data.rows; row++)
        (void)json_array_append_new(list, answer_json(predict, row));
    if (predict->top > 0)
        (void)json_object_set_new(
            object, "top_accuracy",
            json_number(predict_top_share(&predict->made, predict->top)));
    if (predict->confusion.count != NULL)
        (void)json_object_set_new(
            object, "confusion",
            confusion_json(&predict->confusion, &predict->model));
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

/* What was asked for and cannot be without labels. */
static void note_unlabelled(const struct predict *predict)
{
    const bool table = option_flag(&predict->cli->options, OPT_CONFUSION);

    if ((!table && predict->top == 0) || has_labels(&predict->made.data))
        return;
    say_note(predict->cli,
             "muster: the rows have no labels, so %s: --labels FILE has those "
             "of idx, npy and npz, --label COLUMN is the column of a table",
             table ? "there is no table for --confusion"
                   : "it is not told how often --top has the right one");
}

/* Labels there are, but others than the model's. */
static void note_unmeasured(const struct predict *predict)
{
    const struct model_file *model = &predict->model;
    char list[LIST_SIZE] = "";
    char number[LABEL_TEXT_SIZE];

    for (uint32_t k = 0; k < model->classes; k++) {
        const char *word = model_file_word(model, model->label[k]);

        list_add(list, sizeof list,
                 word != NULL ? quote_text(word).text
                              : label_write(model->label[k], number));
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
    const uint32_t strange = predict->made.data.rows - predict->made.known;
    char line[256];

    if (out == NULL && predict->cli->quiet)
        return;
    metrics_list(&predict->made.metrics, &predict->model.encoder.classes,
                 first_metric(predict), METRICS, line, sizeof line);
    if (line[0] != '\0')
        (void)fprintf(to, "metrics    %s\n", line);
    if (line[0] != '\0' && predict->top > 0)
        (void)fprintf(to, "top %-6u accuracy %.4g\n", predict->top,
                      predict_top_share(&predict->made, predict->top));
    if (line[0] != '\0' && predict->confusion.count != NULL)
        confusion_show(to, &predict->confusion, &predict->model);
    if (out != NULL) {
        say_name("written    ", out, ", ");
        (void)printf("%u rows\n", predict->made.data.rows);
    }
    if (predict->made.known == 0 && has_labels(&predict->made.data))
        note_unmeasured(predict);
    else if (strange > 0 && predict->made.known > 0)
        say_note(predict->cli,
                 "muster: %u of %u rows have labels that the model does not "
                 "know; the metrics leave them out",
                 strange, predict->made.data.rows);
}

static void put_number(struct page *page, double number)
{
    page_add(page, &number, sizeof number);
}

static void put_numbers(const struct predict *predict, uint32_t row,
                        struct page *page)
{
    const struct prediction *const made = &predict->made;
    uint32_t best[SOFTMAX_CLASSES_MAX];

    if (predict->top > 0)
        predict_top(made, row, predict->top, best);
    else
        put_number(page, predict_label(made, row));
    for (uint32_t i = 0; i < predict->top; i++) {
        put_number(page, predict->model.label[best[i]]);
        put_number(page, predict_probability(made, row, best[i]));
    }
    for (uint32_t k = 0; predict->probabilities && k < predict->model.classes;
         k++)
        put_number(page, predict_probability(made, row, predict->shown[k]));
}

/* An npy file: labels or values, or the columns of a table but for scores. */
static void put_array(const struct predict *predict, struct page *page)
{
    const uint32_t rows = predict->made.data.rows;
    const uint32_t columns =
        predict->top > 0
            ? 2 * predict->top
            : 1 + (predict->probabilities ? predict->model.classes : 0);
    char shape[32];

    if (columns == 1)
        (void)snprintf(shape, sizeof shape, "%u,", rows);
    else
        (void)snprintf(shape, sizeof shape, "%u, %u", rows, columns);
    page_npy_head(page, "<f8", shape, false);
    for (uint32_t row = 0; row < rows; row++)
        put_numbers(predict, row, page);
}

static void put_lines(const struct predict *predict, struct page *page)
{
    put_head(predict, page);
    for (uint32_t row = 0; row < predict->made.data.rows; row++)
        put_row(predict, row, page);
}

static enum err write_out(const struct predict *predict, const char *out,
                          struct why *why)
{
    struct page page = {0};
    enum err err = ERR_OK;

    if (predict->array)
        put_array(predict, &page);
    else
        put_lines(predict, &page);
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
    char first[SNIFF_MODEL_SIZE];
    struct input input;
    size_t got = 0;
    bool same;

    if (input_is_stream(path) || input_open(&input, path, NULL) != ERR_OK)
        return false;
    same = input_read_at(&input, 0, first, sizeof first, &got) == ERR_OK &&
           sniff_is_model(first, got);
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

static enum err check_array(const struct predict *predict, struct why *why)
{
    const struct model_file *const model = &predict->model;

    for (uint32_t k = 0; predict->array && k < model->classes; k++)
        if (model_file_word(model, model->label[k]) != NULL)
            return why_set(
                why, ERR_SHAPE,
                "%.200s holds numbers, and the model's labels are "
                "words; choose a name as out.csv or out.txt",
                option_text(&predict->cli->options, OPT_PREDICTIONS));
    return ERR_OK;
}

static enum err execute(struct predict *predict, struct why *why)
{
    const struct options *options = &predict->cli->options;
    const char *out = option_text(options, OPT_PREDICTIONS);
    enum err err = take_options(predict, why);

    if (err == ERR_OK)
        err = take_model(predict, why);
    if (err == ERR_OK)
        err = check_array(predict, why);
    if (err == ERR_OK)
        err = judge_rows(predict, why);
    if (err == ERR_OK && (out != NULL || !predict->cli->json))
        err = write_out(predict, out, why);
    if (err == ERR_OK)
        note_unlabelled(predict);
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

    confusion_close(&predict.confusion);
    predict_close(&predict.made);
    model_file_close(&predict.model);
    return err == ERR_OK ? EXIT_DONE : say_why(cli, err, &why);
}
