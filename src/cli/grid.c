/*
 * grid.c - `train --grid "c=0.1,1 lr=0.5,1"`: all combinations at once.
 *
 *     axis          key  value value ...        one word of the text
 *     combination   one value of each axis; the last axis turns fastest
 *
 * Each is a copy of the options with its values set, so that whatever an option
 * means for a run it means here.  Judged by -v FOLDS, by --valid, or by a fifth
 * of the rows.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "cli/run.h"
#include "cli/show/announce.h"
#include "cli/show/metrics_show.h"
#include "cli/trial.h"
#include "learn/habit.h"
#include "learn/rows.h"
#include "learn/save.h"
#include "os/clock.h"

#define AXES_MAX     8u
#define TRIALS_MAX   4096u
#define TEXT_MAX     4096u
#define DEFAULT_PART 0.2
#define WIDTH        12

/* Options that change a training and nothing before it. */
static const int keys[] = {
    OPT_COST, OPT_L2,    OPT_LR,  OPT_DECAY, OPT_SCHEDULE, OPT_MOMENTUM,
    OPT_EPS,  OPT_STEPS, OPT_TOL, OPT_OPTIM, OPT_MODEL,
};

struct axis {
    int id;
    const char *key;    /* As typed. */
    const char *values; /* Texts one after the other, each with its NUL. */
    uint32_t count;
};

struct grid {
    char text[TEXT_MAX]; /* Cut into words in place. */
    struct axis axis[AXES_MAX];
    uint32_t axes;
    uint32_t trials; /* Product of the counts. */
};

static const char *value_of(const struct axis *axis, uint32_t index)
{
    const char *at = axis->values;

    CHECK(index < axis->count);
    for (; index > 0; index--)
        at += strlen(at) + 1;
    return at;
}

static bool is_key(int id)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i] == id)
            return true;
    return false;
}

/* "c=0.1,1": cut at = and commas. */
static enum err take_axis(struct grid *grid, char *word, struct why *why)
{
    struct axis *axis = &grid->axis[grid->axes];
    char *equals = strchr(word, '=');
    const size_t length = strcspn(word, "=");

    if (grid->axes == AXES_MAX)
        return why_set(why, ERR_RANGE, "--grid: more than %u lists", AXES_MAX);
    if (equals == NULL || equals[1] == '\0')
        return why_set(why, ERR_RANGE,
                       "--grid %.64s: expected NAME=VALUE,VALUE,...", word);
    *axis = (struct axis){.id = option_find(word, length),
                          .key = word,
                          .values = equals + 1,
                          .count = 1};
    *equals = '\0';
    if (axis->id == OPTIONS || !is_key(axis->id))
        return why_set(why, ERR_RANGE,
                       "--grid %.48s: not one of c, l2, lr, decay, schedule, "
                       "momentum, eps, steps, tol, optim, model",
                       word);
    for (char *at = equals + 1; *at != '\0'; at++)
        if (*at == ',') {
            *at = '\0';
            axis->count++;
        }
    grid->axes++;
    return ERR_OK;
}

static enum err parse(struct grid *grid, const char *text, struct why *why)
{
    uint64_t product = 1;
    char *at = grid->text;
    enum err err = ERR_OK;

    *grid = (struct grid){0};
    if (strlen(text) >= TEXT_MAX)
        return why_set(why, ERR_RANGE, "--grid: the text is too long");
    (void)snprintf(grid->text, sizeof grid->text, "%s", text);
    while (err == ERR_OK && at != NULL && *(at += strspn(at, " \t")) != '\0') {
        char *end = at + strcspn(at, " \t");
        char *next = *end == '\0' ? NULL : end + 1;

        *end = '\0';
        err = take_axis(grid, at, why);
        at = next;
    }
    for (uint32_t i = 0; i < grid->axes && product <= TRIALS_MAX; i++)
        product *= grid->axis[i].count;
    if (err == ERR_OK && grid->axes == 0)
        err = why_set(why, ERR_RANGE, "--grid: no NAME=VALUE,VALUE,... in it");
    if (err == ERR_OK && product > TRIALS_MAX)
        err = why_set(why, ERR_RANGE, "--grid: more than %u combinations",
                      TRIALS_MAX);
    grid->trials = (uint32_t)product;
    return err;
}

/* Set the values of combination `index`, and its text if there is room. */
static enum err set_values(const struct grid *grid, uint32_t index,
                           struct options *options, char *text, size_t size,
                           struct why *why)
{
    uint32_t left = index;
    uint32_t below = grid->trials;
    size_t used = 0;
    enum err err = ERR_OK;

    for (uint32_t i = 0; i < grid->axes && err == ERR_OK; i++) {
        const struct axis *axis = &grid->axis[i];
        const char *value;

        below /= axis->count;
        value = value_of(axis, left / below);
        left %= below;
        err = option_set(options, axis->id, value, ORIGIN_FLAG, why);
        if (text != NULL && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s=%s",
                                     i == 0 ? "" : " ", axis->key, value);
    }
    /* c and eps are LIBLINEAR's and bring its optimiser with them. */
    if (err == ERR_OK)
        err = habit_settings(&options->recipe, why);
    return err != ERR_OK ? why_in(why, err, "--grid") : ERR_OK;
}

enum err grid_check(const struct options *options, struct why *why)
{
    struct grid *grid = mem_new(1, sizeof *grid);
    struct options copy = {.shape = options->shape};
    enum err err;

    if (grid == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    err = parse(grid, option_text(options, OPT_GRID), why);
    if (err == ERR_OK)
        err = recipe_copy(&copy.recipe, &options->recipe, why);
    for (uint32_t i = 0; err == ERR_OK && i < grid->trials; i++)
        err = set_values(grid, i, &copy, NULL, 0, why);
    options_close(&copy);
    mem_free(grid);
    return err;
}

static enum err make_plan(const struct cli *cli, const struct setup *setup,
                          struct plan *plan, struct why *why)
{
    const struct options *options = &cli->options;
    const uint64_t seed = option_count(options, OPT_SEED);
    double part = DEFAULT_PART;

    if (option_given(options, OPT_FOLDS))
        return plan_folds(
            plan, setup, (uint32_t)option_count(options, OPT_FOLDS), seed, why);
    if (setup->has_valid)
        return plan_other(plan, setup, &setup->valid, why);
    (void)rows_is_part(option_text(options, OPT_VALID), &part);
    return plan_part(plan, setup, part, seed, why);
}

static enum err make_trials(const struct cli *cli, const struct setup *setup,
                            const struct grid *grid, const struct plan *plan,
                            struct trial *trials, struct why *why)
{
    enum err err = ERR_OK;

    for (uint32_t i = 0; i < grid->trials && err == ERR_OK; i++) {
        struct trial *trial = &trials[i];

        trial->options.shape = cli->options.shape;
        err = recipe_copy(&trial->options.recipe, &cli->options.recipe, why);
        if (err == ERR_OK)
            err = set_values(grid, i, &trial->options, trial->text,
                             sizeof trial->text, why);
        if (err == ERR_OK)
            err =
                setup_model(setup, &trial->options.recipe, &trial->model, why);
        if (err == ERR_OK &&
            (trial->model == MODEL_LINEAR) != (setup->model == MODEL_LINEAR))
            err = why_set(why, ERR_SHAPE,
                          "--grid: linear and other models have no metric in "
                          "common");
        if (err == ERR_OK &&
            (trial->model == MODEL_SOFTMAX) != (setup->model == MODEL_SOFTMAX))
            err = why_set(why, ERR_SHAPE,
                          "--grid: softmax numbers the labels otherwise than "
                          "the other models; say --model softmax and leave "
                          "them out");
        if (err == ERR_OK)
            err = trial_init(trial, setup, plan);
    }
    return err;
}

/* The best first; equals in the order of the text.  NaN is worse than all. */
static bool before(const struct trial *a, const struct trial *b,
                   enum metric metric)
{
    const double x = metric_value(&a->metrics, metric);
    const double y = metric_value(&b->metrics, metric);

    if (isnan(x) || isnan(y))
        return !isnan(x) && isnan(y);
    return metric_rises(metric) ? x > y : x < y;
}

static void sort(const struct trial *trials, uint32_t count, enum metric metric,
                 uint32_t *order)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;

        for (; at > 0 && before(&trials[i], &trials[order[at - 1]], metric);
             at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

struct findings {
    const struct grid *grid;
    const struct plan *plan;
    const struct trial *trials;
    const uint32_t *order;
    enum metric metric;
    double seconds;
};

static void show_text(const struct findings *all)
{
    char line[256];

    (void)printf("%-*s %8s  %s\n", WIDTH, metric_name(all->metric), "steps",
                 "options");
    for (uint32_t i = 0; i < all->grid->trials; i++) {
        const struct trial *trial = &all->trials[all->order[i]];

        (void)printf("%-*.6g %8llu  %s\n", WIDTH,
                     metric_value(&trial->metrics, all->metric),
                     (unsigned long long)trial->steps, trial->text);
    }
    metrics_list(&all->trials[all->order[0]].metrics, all->metric, METRICS,
                 line, sizeof line);
    (void)printf("best       %s: %s\n", all->trials[all->order[0]].text, line);
}

static json_t *trial_json(const struct findings *all, uint32_t index)
{
    const struct trial *trial = &all->trials[index];
    json_t *options = json_object();

    for (uint32_t i = 0; i < all->grid->axes; i++)
        (void)json_object_set_new(
            options, all->grid->axis[i].key,
            json_string(option_text(&trial->options, all->grid->axis[i].id)));
    return json_pack("{s:o, s:o, s:I}", "options", options, "metrics",
                     metrics_object(&trial->metrics), "steps",
                     (json_int_t)trial->steps);
}

static json_t *findings_json(const struct cli *cli, const struct findings *all)
{
    json_t *runs = json_array();

    for (uint32_t i = 0; i < all->grid->trials; i++)
        (void)json_array_append_new(runs, trial_json(all, all->order[i]));
    return json_pack("{s:s, s:I, s:o, s:o, s:f, s:o}", "metric",
                     metric_name(all->metric), "folds",
                     (json_int_t)all->plan->folds, "runs", runs, "best",
                     trial_json(all, all->order[0]), "elapsed_s", all->seconds,
                     "config", config_json(&cli->options));
}

/* The best on all rows, saved. */
static enum err refit(struct run *run, const struct findings *all,
                      const char *path, json_t *object, struct why *why)
{
    struct options *options = &run->cli->options;
    struct train_result result = {0};
    enum err err = set_values(all->grid, all->order[0], options, NULL, 0, why);

    run->setup->model = all->trials[all->order[0]].model;
    if (err == ERR_OK)
        err = setup_numbers(run->setup, &options->recipe, why);
    if (err == ERR_OK)
        announce_goal(run->cli, run->setup, "the best, on all rows: ");
    if (err == ERR_OK)
        err = run_alone(run, false, &result, why);
    if (err == ERR_OK && !result.finished)
        err = why_set(why, ERR_CANCELLED,
                      "stopped; of folds and grids nothing is kept");
    if (err == ERR_OK)
        err = save_model(run->setup, result.weights, path, why);
    if (err == ERR_OK && object != NULL)
        (void)json_object_set_new(object, "refit",
                                  result_json(run, &result, path));
    else if (err == ERR_OK)
        result_show(run, &result, path, NULL);
    mem_free(result.weights);
    return err;
}

static enum err report(struct run *run, const struct findings *all,
                       struct why *why)
{
    const char *path = option_text(&run->cli->options, OPT_SAVE);
    json_t *object = NULL;
    enum err err = ERR_OK;

    if (run->cli->json)
        object = findings_json(run->cli, all);
    else
        show_text(all);
    if (path != NULL)
        err = refit(run, all, path, object, why);
    if (object != NULL && err == ERR_OK)
        say_json(object);
    else
        json_decref(object);
    return err;
}

static enum err search(struct run *run, const struct grid *grid,
                       const struct plan *plan, struct trial *trials,
                       uint32_t *order, struct why *why)
{
    const time_us began = clock_now_us();
    struct findings all = {.grid = grid,
                           .plan = plan,
                           .trials = trials,
                           .order = order,
                           .metric = run->setup->metric};
    enum err err = make_trials(run->cli, run->setup, grid, plan, trials, why);

    if (err == ERR_OK)
        err = trials_run(run->cli, run->setup, plan, trials, grid->trials, why);
    if (err != ERR_OK)
        return err;
    all.seconds = (double)(clock_now_us() - began) / (double)SECOND_US;
    sort(trials, grid->trials, all.metric, order);
    return report(run, &all, why);
}

int grid_command(struct run *run)
{
    struct grid *grid = mem_new(1, sizeof *grid);
    struct trial *trials = NULL;
    uint32_t *order = NULL;
    struct plan plan = {0};
    struct why why = {0};
    enum err err = grid == NULL ? ERR_NOMEM : ERR_OK;

    if (err == ERR_OK)
        err = parse(grid, option_text(&run->cli->options, OPT_GRID), &why);
    if (err == ERR_OK)
        err = make_plan(run->cli, run->setup, &plan, &why);
    if (err == ERR_OK) {
        trials = mem_new(grid->trials, sizeof *trials);
        order = mem_new(grid->trials, sizeof *order);
        err = trials == NULL || order == NULL
                  ? ERR_NOMEM
                  : search(run, grid, &plan, trials, order, &why);
    }
    for (uint32_t i = 0; trials != NULL && i < grid->trials; i++)
        trial_close(&trials[i]);
    mem_free(trials);
    mem_free(order);
    plan_close(&plan);
    mem_free(grid);
    return err == ERR_OK ? EXIT_DONE : say_why(run->cli, err, &why);
}
