/*
 * announce.c - the lines before a run: what was understood of data, labels and
 * model, so that a wrong guess is seen before it costs an hour.
 */
#include "cli/show/announce.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/show/goal.h"
#include "data/rows/labels.h"
#include "data/span.h"
#include "learn/classes.h"
#include "learn/family/family.h"
#include "learn/recipe/habit.h"
#include "learn/rows.h"

#define LABELS_SHOWN 5u
#define TEXT_SIZE    256u
#define WHOLE_MAX    100u /* More numbers are hardly names of classes. */

/* Which column of a table is the label. */
static void column_text(const struct schema *schema, char text[TEXT_SIZE])
{
    const char *name = schema->label_name;

    text[0] = '\0';
    if (schema->features == 0 || schema->label >= schema->table)
        return;
    if (name != NULL && name[0] != '\0')
        (void)snprintf(text, TEXT_SIZE, ", label \"%s\"",
                       quote((struct span){name, strlen(name)}).text);
    else
        (void)snprintf(text, TEXT_SIZE, ", label in column %u",
                       schema->label + 1);
}

/* "3 classes: a, b, c", or that labels are numbers. */
static void labels_text(const struct setup *setup, char text[TEXT_SIZE])
{
    char list[TEXT_SIZE - 32];

    if (model_ops(setup->model)->regression) {
        (void)snprintf(text, TEXT_SIZE, "labels are numbers");
        return;
    }
    classes_text(&setup->data, &setup->encoder.classes, LABELS_SHOWN, list,
                 sizeof list);
    (void)snprintf(text, TEXT_SIZE, "%u classes: %s", setup->data.classes,
                   list);
}

/* Labels that look like classes, but are many or far apart, or one of them is
 * rare. */
struct whole_labels {
    double label[WHOLE_MAX];
    uint32_t seen[WHOLE_MAX];
    uint32_t count;
    uint32_t common; /* Seen as often as classes are. */
    uint32_t rarest;
    uint32_t least, most; /* Where these two are. */
};

/* False: they do not look so. */
static bool count_labels(const struct dataset *data, struct whole_labels *all)
{
    for (uint32_t i = 0; i < data->rows; i++) {
        uint32_t k = 0;

        while (k < all->count && all->label[k] != data->y[i])
            k++;
        if (k == WHOLE_MAX || data->y[i] != floor(data->y[i]))
            return false;
        all->label[k] = data->y[i];
        all->count += k == all->count;
        all->seen[k]++;
    }
    for (uint32_t k = 0; k < all->count; k++) {
        all->common += all->seen[k] >= LABELS_SEEN_MIN;
        if (all->seen[k] < all->seen[all->rarest])
            all->rarest = k;
        if (all->label[k] < all->label[all->least])
            all->least = k;
        if (all->label[k] > all->label[all->most])
            all->most = k;
    }
    return 2 * all->common > all->count;
}

static bool is_spread(const struct whole_labels *all)
{
    return all->count <= LABELS_CLASSES_MAX &&
           labels_spread(all->label[all->least], all->label[all->most],
                         all->count);
}

static const char *model_reason(const struct cli *cli,
                                const struct setup *setup, char text[TEXT_SIZE])
{
    const enum origin origin = option_setting(&cli->options, OPT_MODEL)->origin;
    struct whole_labels all = {0};

    if (origin != ORIGIN_DEFAULT || option_given(&cli->options, OPT_SOLVER))
        return "as asked for";
    if (setup->data.classes == 2)
        return "two labels";
    if (setup->encoder.classes.categories > 0)
        return "labels are words";
    if (setup->data.y != NULL && model_ops(setup->model)->regression &&
        count_labels(&setup->data, &all) && is_spread(&all))
        return "whole labels that are far apart";
    (void)snprintf(text, TEXT_SIZE,
                   "%sat most %u whole labels, each seen %u times or more",
                   model_ops(setup->model)->classes ? "" : "not ",
                   LABELS_CLASSES_MAX, LABELS_SEEN_MIN);
    return text;
}

static const char *intercept_text(const struct setup *setup)
{
    if (!setup_family(setup)->constant)
        return "";
    if (!setup->intercept)
        return ", no intercept";
    return setup->optim.l2_stride > 0 ? ", w without the intercept"
                                      : ", w with the intercept";
}

/* Many classes, and few rows of one, make numbers of all: that surprises who
 * has classes. */
static void announce_numbers(const struct cli *cli, const struct setup *setup)
{
    struct whole_labels all = {0};
    char least[LABEL_TEXT_SIZE], most[LABEL_TEXT_SIZE];

    if (!count_labels(&setup->data, &all))
        return;
    if (all.count > LABELS_CLASSES_MAX)
        say_note(cli,
                 "muster: there are %u whole labels, more than %u, so they are "
                 "taken for numbers; if they are classes, --model softmax",
                 all.count, LABELS_CLASSES_MAX);
    else if (is_spread(&all))
        say_note(cli,
                 "muster: there are %u whole labels, from %s to %s, so "
                 "they are taken for numbers; if they are classes, --model "
                 "softmax",
                 all.count, label_write(all.label[all.least], least),
                 label_write(all.label[all.most], most));
    else
        say_note(cli,
                 "muster: there are %u whole labels, but %s in %u row%s "
                 "only, so they are taken for numbers; if they are classes, "
                 "--model softmax",
                 all.count, label_write(all.label[all.rarest], least),
                 all.seen[all.rarest], all.seen[all.rarest] == 1 ? "" : "s");
}

/* Whole numbers may be either, and the wrong guess is costly. */
static void announce_whole(const struct cli *cli, const struct setup *setup)
{
    if (option_given(&cli->options, OPT_MODEL) ||
        option_given(&cli->options, OPT_SOLVER))
        return;
    if (model_ops(setup->model)->regression && setup->data.y != NULL)
        announce_numbers(cli, setup);
    else if (setup->data.classes > 2 && setup->encoder.classes.categories == 0)
        say_note(cli,
                 "muster: the %u whole labels are taken for classes; if they "
                 "are numbers, --model linear",
                 setup->data.classes);
}

/* Rows do not count alike. */
static void weights_text(const struct options *options, char text[TEXT_SIZE])
{
    const char *classes = option_text(options, OPT_CLASS_WEIGHT);
    const char *rows = option_text(options, OPT_WEIGHT);

    (void)snprintf(text, TEXT_SIZE, "%s%.100s%s%.100s",
                   classes == NULL ? "" : ", class weights ",
                   classes == NULL ? "" : classes,
                   rows == NULL ? "" : ", rows weighed by ",
                   rows == NULL ? "" : rows);
}

/* "at most 100 steps", "10 passes (default), 1600 steps".  A fold has fewer
 * rows than the whole, and so fewer steps a pass. */
static void end_text(const struct cli *cli, const struct setup *setup,
                     bool folds, char text[TEXT_SIZE])
{
    const char *passes = option_text(&cli->options, OPT_PASSES);

    if (passes != NULL && folds)
        (void)snprintf(text, TEXT_SIZE, "%.20s pass%s%s in each fold", passes,
                       strcmp(passes, "1") == 0 ? "" : "es",
                       option_given(&cli->options, OPT_PASSES) ? ""
                                                               : " (default)");
    else if (passes == NULL)
        (void)snprintf(text, TEXT_SIZE, "at most %u step%s", setup->optim.steps,
                       setup->optim.steps == 1 ? "" : "s");
    else
        (void)snprintf(text, TEXT_SIZE, "%.20s pass%s%s, %u step%s", passes,
                       strcmp(passes, "1") == 0 ? "" : "es",
                       option_given(&cli->options, OPT_PASSES) ? ""
                                                               : " (default)",
                       setup->optim.steps, setup->optim.steps == 1 ? "" : "s");
}

/* "gd", "gd on batches of 128 rows, 16 a pass". */
static void steps_text(const struct setup *setup, bool folds,
                       char text[TEXT_SIZE])
{
    const struct sampler *sampler = &setup->optim.sampler;
    const char *name = optim_name(setup->optim.kind);

    if (sampler->kind == SAMPLER_WHOLE)
        (void)snprintf(text, TEXT_SIZE, "%s", name);
    else if (folds)
        (void)snprintf(text, TEXT_SIZE, "%s on %s of %u rows", name,
                       sampler_batches(sampler->kind), sampler->batch);
    else
        (void)snprintf(text, TEXT_SIZE, "%s on %s of %u rows, %u a pass", name,
                       sampler_batches(sampler->kind), sampler->batch,
                       sampler_steps(sampler));
}

void announce_goal(const struct cli *cli, const struct setup *setup,
                   const char *what)
{
    /* The best of a grid is then trained on all rows. */
    const bool folds = *what == '\0' && option_given(&cli->options, OPT_FOLDS);
    char goal[GOAL_TEXT], reason[TEXT_SIZE], weights[TEXT_SIZE];
    char steps[TEXT_SIZE], end[TEXT_SIZE];

    end_text(cli, setup, folds, end);
    steps_text(setup, folds, steps);
    weights_text(&cli->options, weights);
    say_note(cli, "muster: %smodel %s (%s): least %s%s%s; %s, %s", what,
             model_ops(setup->model)->name, model_reason(cli, setup, reason),
             goal_text(setup, &cli->options.recipe, goal),
             intercept_text(setup), weights, steps, end);
}

/* A part that was meant the other way round is not seen in any figure. */
static void announce_held(const struct cli *cli, const struct setup *setup)
{
    const char *const valid = option_text(&cli->options, OPT_VALID);
    const uint32_t rows = setup->data.rows;
    double part;

    if (setup->has_valid && rows_is_part(valid, &part) &&
        setup->valid.rows > rows)
        say_note(cli,
                 "muster: --valid %s holds out %u rows and leaves %u to learn "
                 "from",
                 valid, setup->valid.rows, rows);
}

void announce_run(const struct cli *cli, const struct setup *setup)
{
    const struct dataset *data = &setup->data;
    const char *grid = option_text(&cli->options, OPT_GRID);
    const uint32_t cols = data->cols - (setup->intercept ? 1 : 0);
    char labels[TEXT_SIZE], column[TEXT_SIZE];

    column_text(&setup->encoder.schema, column);
    labels_text(setup, labels);
    say_note(cli, "muster: %u row%s x %u column%s%s; %s", data->rows,
             data->rows == 1 ? "" : "s", cols, cols == 1 ? "" : "s", column,
             labels);
    if (grid == NULL)
        announce_goal(cli, setup, "");
    else
        say_note(cli,
                 "muster: grid %.300s: every combination is trained, each with "
                 "its own objective, and judged by %s on rows held out%s",
                 grid, metric_name(setup->metric),
                 setup_net(setup) == NULL && !setup->intercept &&
                         habit_given(&cli->options.recipe)
                     ? "; no intercept, as with LIBLINEAR's -c: -B 1 learns one"
                     : "");
    announce_whole(cli, setup);
    announce_held(cli, setup);
}
