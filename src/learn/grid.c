/*
 * grid.c - all combinations of a few lists of values, each trained and judged.
 */
#include "learn/grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "learn/batches.h"
#include "learn/recipe/habit.h"
#include "learn/rows.h"
#include "learn/series/staff.h"

#define TRIALS_MAX   4096u
#define DEFAULT_PART 0.2

/* Options that change a training and nothing before it. */
static const int keys[] = {
    OPT_COST,     OPT_L2,    OPT_LR,     OPT_DECAY,        OPT_SCHEDULE,
    OPT_MOMENTUM, OPT_EPS,   OPT_STEPS,  OPT_TOL,          OPT_OPTIM,
    OPT_MODEL,    OPT_BATCH, OPT_PASSES, OPT_WEIGHT_DECAY, OPT_N,
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

/* The first of two lists would count for nothing, and the same training twice
 * for one. */
static enum err check_twice(const struct grid *grid, const struct axis *axis,
                            struct why *why)
{
    for (uint32_t i = 0; i < grid->axes; i++)
        if (grid->axis[i].id == axis->id)
            return why_set(why, ERR_RANGE,
                           "--grid: two lists for %.48s; write one, of all "
                           "values",
                           axis->key);
    for (uint32_t i = 0; i < axis->count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(value_of(axis, i), value_of(axis, j)) == 0)
                return why_set(why, ERR_RANGE,
                               "--grid %.48s: %.48s is there twice; leave one "
                               "out",
                               axis->key, value_of(axis, i));
    return ERR_OK;
}

/* "c=0.1,1": cut at = and commas. */
static enum err take_axis(struct grid *grid, char *word, struct why *why)
{
    struct axis *axis = &grid->axis[grid->axes];
    char *equals = strchr(word, '=');
    const size_t length = strcspn(word, "=");
    enum err err;

    if (grid->axes == GRID_AXES_MAX)
        return why_set(why, ERR_RANGE, "--grid: more than %u lists",
                       GRID_AXES_MAX);
    if (equals == NULL || equals[1] == '\0')
        return why_set(why, ERR_RANGE,
                       "--grid %.64s: expected NAME=VALUE,VALUE,...", word);
    *axis = (struct axis){.id = recipe_find(word, length),
                          .key = word,
                          .values = equals + 1,
                          .count = 1};
    *equals = '\0';
    if (axis->id == RECIPE_OPTIONS || !is_key(axis->id))
        return why_set(
            why, ERR_RANGE,
            "--grid %.48s: not one of c, l2, lr, decay, schedule, "
            "momentum, eps, steps, tol, optim, model, batch, passes, "
            "weight-decay, n",
            word);
    for (char *at = equals + 1; *at != '\0'; at++)
        if (*at == ',') {
            *at = '\0';
            axis->count++;
        }
    err = check_twice(grid, axis, why);
    grid->axes += err == ERR_OK;
    return err;
}

enum err grid_parse(struct grid *grid, const char *text, struct why *why)
{
    uint64_t product = 1;
    char *at = grid->text;
    enum err err = ERR_OK;

    *grid = (struct grid){0};
    if (strlen(text) >= GRID_TEXT_MAX)
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
    grid->count = (uint32_t)product;
    return err;
}

/* Set the values of combination `index`, and its text if there is room. */
static enum err set_values(const struct grid *grid, uint32_t index,
                           struct recipe *recipe, char *text, size_t size,
                           struct why *why)
{
    uint32_t left = index;
    uint32_t below = grid->count;
    size_t used = 0;
    enum err err = ERR_OK;

    for (uint32_t i = 0; i < grid->axes && err == ERR_OK; i++) {
        const struct axis *axis = &grid->axis[i];
        const char *value;

        below /= axis->count;
        value = value_of(axis, left / below);
        left %= below;
        err = recipe_put(recipe, axis->id, value, ORIGIN_FLAG, why);
        if (text != NULL && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s=%s",
                                     i == 0 ? "" : " ", axis->key, value);
    }
    /* c and eps are LIBLINEAR's and bring its optimiser with them. */
    if (err == ERR_OK)
        err = habit_settings(recipe, why);
    return err != ERR_OK ? why_in(why, err, "--grid") : ERR_OK;
}

static enum err put_workers(struct recipe *recipe, uint64_t count,
                            struct why *why)
{
    char text[24];

    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)count);
    return recipe_put(recipe, OPT_N, text, ORIGIN_FLAG, why);
}

/* What does not go with so many is told before there is a folder. */
static enum err try_workers(const struct recipe *recipe, uint64_t count,
                            struct why *why)
{
    struct setup setup = {0};
    struct recipe copy = {0};
    enum err err = recipe_copy(&copy, recipe, why);

    if (err == ERR_OK)
        err = setup_workers(&setup, &copy, why);
    setup_close(&setup);
    recipe_close(&copy);
    return err == ERR_OK
               ? err
               : why_in(why, err, "n=%llu", (unsigned long long)count);
}

/* Does `recipe`, a combination's, have more workers than any before? */
static enum err count_workers(const struct recipe *recipe, uint64_t *most,
                              struct why *why)
{
    const uint64_t count = recipe_count(recipe, OPT_N);

    if (!recipe_tries(recipe, OPT_N))
        return ERR_OK;
    if (count == 0)
        return why_set(why, ERR_RANGE,
                       "--grid n=0: without workers nothing is shared; leave "
                       "it out, and compare with a grid without n");
    if (count > *most)
        *most = count;
    return try_workers(recipe, count, why);
}

enum err grid_check(struct recipe *recipe, struct why *why)
{
    struct grid *grid = mem_new(1, sizeof *grid);
    struct recipe copy = {0};
    uint64_t most = 0;
    enum err err;

    if (grid == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    err = grid_parse(grid, recipe_text(recipe, OPT_GRID), why);
    if (err == ERR_OK)
        err = recipe_copy(&copy, recipe, why);
    for (uint32_t i = 0; err == ERR_OK && i < grid->count; i++) {
        err = set_values(grid, i, &copy, NULL, 0, why);
        if (err == ERR_OK)
            err = count_workers(&copy, &most, why);
    }
    if (err == ERR_OK && most > 0)
        err = put_workers(recipe, most, why);
    recipe_close(&copy);
    mem_free(grid);
    return err;
}

static enum err make_folds(struct grid *grid, const struct setup *setup,
                           const struct recipe *recipe, struct why *why)
{
    const uint64_t seed = recipe_count(recipe, OPT_SEED);
    double part = DEFAULT_PART;

    if (recipe_given(recipe, OPT_FOLDS))
        return folds_draw(&grid->folds, setup,
                          (uint32_t)recipe_count(recipe, OPT_FOLDS), seed, why);
    if (setup->has_valid)
        return folds_other(&grid->folds, setup, &setup->valid, why);
    (void)rows_is_part(recipe_text(recipe, OPT_VALID), &part);
    return folds_part(&grid->folds, setup, part, seed, why);
}

static enum err check_model(const struct setup *setup, enum model_kind model,
                            struct why *why)
{
    if (model_ops(model)->regression != model_ops(setup->model)->regression)
        return why_set(why, ERR_SHAPE,
                       "--grid: linear and other models have no metric in "
                       "common");
    if (model_ops(model)->classes != model_ops(setup->model)->classes)
        return why_set(why, ERR_SHAPE,
                       "--grid: softmax numbers the labels otherwise than "
                       "the other models; say --model softmax and leave "
                       "them out");
    return ERR_OK;
}

static enum err make_trial(const struct grid *grid, uint32_t index,
                           const struct setup *setup,
                           const struct recipe *recipe, struct why *why)
{
    struct trial *trial = &grid->trial[index];
    enum err err = recipe_copy(&trial->recipe, recipe, why);

    if (err == ERR_OK)
        err = set_values(grid, index, &trial->recipe, trial->text,
                         sizeof trial->text, why);
    if (err == ERR_OK && recipe_tries(recipe, OPT_N)) {
        err = staff_new(setup, &trial->recipe, &trial->staff, why);
        if (err != ERR_OK)
            err = why_in(why, err, "%s", trial->text);
    }
    if (err == ERR_OK)
        err = setup_optimiser(setup, &trial->recipe, why);
    if (err == ERR_OK)
        err = setup_model(setup, &trial->recipe, &trial->model, why);
    if (err == ERR_OK)
        err = check_model(setup, trial->model, why);
    if (err == ERR_OK)
        err = trial_init(trial, setup, &grid->folds);
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

enum err grid_prepare(struct grid *grid, const struct setup *setup,
                      const struct recipe *recipe, struct why *why)
{
    enum err err = make_folds(grid, setup, recipe, why);

    if (err != ERR_OK)
        return err;
    grid->trial = mem_new(grid->count, sizeof *grid->trial);
    grid->order = mem_new(grid->count, sizeof *grid->order);
    if (grid->trial == NULL || grid->order == NULL)
        return ERR_NOMEM;
    for (uint32_t i = 0; i < grid->count && err == ERR_OK; i++)
        err = make_trial(grid, i, setup, recipe, why);
    return err;
}

enum err grid_search(struct grid *grid, const struct setup *setup,
                     const struct trial_hooks *hooks, struct why *why)
{
    const enum err err =
        trials_run(setup, &grid->folds, grid->trial, grid->count, hooks, why);

    if (err == ERR_OK)
        sort(grid->trial, grid->count, setup->metric, grid->order);
    return err;
}

enum err grid_take_best(const struct grid *grid, struct setup *setup,
                        struct recipe *recipe, struct why *why)
{
    const uint32_t best = grid->order[0];
    enum err err = set_values(grid, best, recipe, NULL, 0, why);

    setup->model = grid->trial[best].model;
    for (uint32_t i = 0; i < grid->axes; i++)
        setup->length_tried |=
            grid->axis[i].id == OPT_PASSES || grid->axis[i].id == OPT_STEPS;
    if (grid->trial[best].staff != NULL)
        staff_take(setup, grid->trial[best].staff);
    if (err == ERR_OK)
        err = batches_cut(recipe, setup_family(setup), &setup->data, why);
    if (err == ERR_OK)
        err = setup_optimiser(setup, recipe, why);
    if (err == ERR_OK)
        err = setup_numbers(setup, recipe, why);
    return err;
}

/* What of `index` is the value of an axis before and after OPT_N, if it is
 * there: the same for those that differ in it alone. */
static uint32_t without_workers(const struct grid *grid, uint32_t index)
{
    uint32_t below = grid->count;
    uint32_t rest = 0;

    for (uint32_t i = 0; i < grid->axes; i++) {
        const struct axis *const axis = &grid->axis[i];

        below /= axis->count;
        if (axis->id != OPT_N)
            rest += index / below * below;
        index %= below;
    }
    return rest;
}

static bool same_hashes(const struct trial *a, const struct trial *b)
{
    for (uint32_t i = 0; i < a->folds; i++)
        if (!digest_equal(&a->fold[i].hash, &b->fold[i].hash))
            return false;
    return true;
}

bool grid_same_models(const struct grid *grid)
{
    for (uint32_t i = 0; i < grid->count; i++)
        if (!same_hashes(&grid->trial[i],
                         &grid->trial[without_workers(grid, i)]))
            return false;
    return true;
}

void grid_close(struct grid *grid)
{
    for (uint32_t i = 0; grid->trial != NULL && i < grid->count; i++)
        trial_close(&grid->trial[i]);
    mem_free(grid->trial);
    mem_free(grid->order);
    folds_close(&grid->folds);
    *grid = (struct grid){0};
}
