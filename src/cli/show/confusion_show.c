/*
 * confusion_show.c - a confusion matrix: the truth down, what was said across.
 */
#include "cli/show/confusion_show.h"

#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "data/rows/labels.h"
#include "data/span.h"

/* As short as a message would have it. */
static struct quote label_text(const struct model_file *model, uint32_t k)
{
    const char *word = model_file_word(model, model->label[k]);
    char number[LABEL_TEXT_SIZE];

    return quote_text(word != NULL ? word
                                   : label_write(model->label[k], number));
}

struct widths {
    int label, cell;
};

static int longer(int width, size_t length)
{
    return (size_t)width < length ? (int)length : width;
}

static struct widths measure(const struct confusion *confusion,
                             const struct model_file *model)
{
    const size_t cells = (size_t)confusion->classes * confusion->classes;
    struct widths widths = {(int)strlen("precision"), (int)strlen("1.0000")};
    uint64_t most = 0;
    char number[QUOTE_MAX];

    for (size_t i = 0; i < cells; i++)
        most = confusion->count[i] > most ? confusion->count[i] : most;
    widths.cell =
        longer(widths.cell, (size_t)snprintf(number, sizeof number, "%llu",
                                             (unsigned long long)most));
    for (uint32_t k = 0; k < confusion->classes; k++) {
        const size_t length = strlen(label_text(model, k).text);

        widths.cell = longer(widths.cell, length);
        widths.label = longer(widths.label, length);
    }
    return widths;
}

static void put_share(FILE *to, double share, int width)
{
    if (isnan(share))
        (void)fprintf(to, "  %*s", width, "-");
    else
        (void)fprintf(to, "  %*.4f", width, share);
}

void confusion_show(FILE *to, const struct confusion *confusion,
                    const struct model_file *model)
{
    const struct widths width = measure(confusion, model);
    const uint64_t *count = confusion->count;

    (void)fprintf(to, "confusion  the truth down, what was said across\n%*s",
                  width.label, "");
    for (uint32_t k = 0; k < confusion->classes; k++)
        (void)fprintf(to, "  %*s", width.cell, label_text(model, k).text);
    (void)fprintf(to, "  recall\n");
    for (uint32_t truth = 0; truth < confusion->classes; truth++) {
        (void)fprintf(to, "%-*s", width.label, label_text(model, truth).text);
        for (uint32_t k = 0; k < confusion->classes; k++)
            (void)fprintf(to, "  %*llu", width.cell,
                          (unsigned long long)*count++);
        put_share(to, confusion_recall(confusion, truth), 6);
        (void)fprintf(to, "\n");
    }
    (void)fprintf(to, "%-*s", width.label, "precision");
    for (uint32_t k = 0; k < confusion->classes; k++)
        put_share(to, confusion_precision(confusion, k), width.cell);
    (void)fprintf(to, "\n");
}

json_t *confusion_json(const struct confusion *confusion,
                       const struct model_file *model)
{
    const uint32_t classes = confusion->classes;
    json_t *labels = json_array(), *counts = json_array();
    json_t *recall = json_array(), *precision = json_array();

    for (uint32_t k = 0; k < classes; k++) {
        const char *word = model_file_word(model, model->label[k]);
        json_t *row = json_array();

        for (uint32_t said = 0; said < classes; said++)
            (void)json_array_append_new(
                row,
                json_integer(
                    (json_int_t)confusion->count[k * (size_t)classes + said]));
        (void)json_array_append_new(labels, word != NULL
                                                ? json_string(word)
                                                : json_number(model->label[k]));
        (void)json_array_append_new(counts, row);
        (void)json_array_append_new(
            recall, json_number(confusion_recall(confusion, k)));
        (void)json_array_append_new(
            precision, json_number(confusion_precision(confusion, k)));
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "labels", labels, "counts", counts,
                     "recall", recall, "precision", precision);
}
