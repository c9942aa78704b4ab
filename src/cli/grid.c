/*
 * grid.c - `train --grid`: the table of all combinations, and the best of them
 * trained on all rows.
 */
#include <stdio.h>

#include "base/mem.h"
#include "cli/many.h"
#include "cli/run.h"
#include "cli/show/announce.h"
#include "cli/show/ending.h"
#include "cli/show/metrics_show.h"
#include "learn/grid.h"

#define WIDTH 12

/* How long it took is of interest where that is what differs. */
static bool timed(const struct grid *grid)
{
    return grid->trial[0].staff != NULL;
}

static void show_trial(const struct trial *trial, enum metric metric)
{
    if (trial->diverged)
        (void)printf("%-*s %8llu", WIDTH, "diverged",
                     (unsigned long long)trial->steps);
    else
        (void)printf("%-*.6g %8llu", WIDTH,
                     metric_value(&trial->metrics, metric),
                     (unsigned long long)trial->steps);
    if (trial->staff != NULL)
        (void)printf(" %9.3f", trial->seconds);
    (void)printf("  %s\n", trial->text);
}

/* Batches for each worker are of another size with each number of them. */
static void show_sameness(const struct grid *grid, enum exactness exactness)
{
    if (grid_same_models(grid))
        (void)printf("n          the same models, bit for bit, whatever their "
                     "number\n");
    else if (exactness == EXACT_BITWISE)
        (void)printf("n          another model for each number\n");
    else
        (void)printf("n          another model for each number: the code's "
                     "steps are %s\n",
                     exactness_name(exactness));
}

static void show_text(const struct grid *grid, const struct setup *setup)
{
    const enum metric metric = setup->metric;
    const struct trial *best = &grid->trial[grid->order[0]];
    char line[256];

    (void)printf("%-*s %8s%s  %s\n", WIDTH, metric_name(metric), "steps",
                 timed(grid) ? "   seconds" : "", "options");
    for (uint32_t i = 0; i < grid->count; i++)
        show_trial(&grid->trial[grid->order[i]], metric);
    metrics_list(&best->metrics, &setup->encoder.classes, metric, METRICS, line,
                 sizeof line);
    (void)printf("best       %s: %s\n", best->text, line);
    if (timed(grid))
        show_sameness(grid, setup->exactness);
}

/* Of the models of a trial, one for each fold. */
static json_t *hashes_json(const struct trial *trial)
{
    json_t *hashes = json_array();
    char text[DIGEST_TEXT];

    for (uint32_t i = 0; i < trial->folds; i++)
        (void)json_array_append_new(
            hashes, json_string(digest_text(&trial->fold[i].hash, text)));
    return hashes;
}

static json_t *trial_json(const struct grid *grid, uint32_t index)
{
    const struct trial *trial = &grid->trial[index];
    json_t *options = json_object();
    json_t *object;

    for (uint32_t i = 0; i < grid->axes; i++)
        (void)json_object_set_new(
            options, grid->axis[i].key,
            json_string(recipe_text(&trial->recipe, grid->axis[i].id)));
    object = json_pack("{s:o, s:o, s:I, s:o, s:b}", "options", options,
                       "metrics", metrics_object(&trial->metrics), "steps",
                       (json_int_t)trial->steps, "hashes", hashes_json(trial),
                       "diverged", trial->diverged);
    if (timed(grid))
        (void)json_object_set_new(object, "seconds", json_real(trial->seconds));
    return object;
}

static json_t *grid_json(const struct run *run, const struct grid *grid,
                         double seconds)
{
    json_t *runs = json_array();
    json_t *object;

    for (uint32_t i = 0; i < grid->count; i++)
        (void)json_array_append_new(runs, trial_json(grid, grid->order[i]));
    object = json_pack("{s:s, s:I, s:o, s:o, s:f, s:o}", "metric",
                       metric_name(run->setup->metric), "folds",
                       (json_int_t)grid->folds.count, "runs", runs, "best",
                       trial_json(grid, grid->order[0]), "elapsed_s", seconds,
                       "config", config_json(&run->cli->options));
    if (timed(grid))
        (void)json_object_set_new(object, "same_models",
                                  json_boolean(grid_same_models(grid)));
    many_json(run, object);
    return object;
}

/* In the refit. */
static enum err stopped(const struct run *run,
                        const struct train_result *result, struct why *why)
{
    if (run->setup->slots == 0)
        return why_set(why, ERR_CANCELLED,
                       "stopped; of folds and grids nothing is kept");
    return why_set(why, ERR_CANCELLED,
                   "stopped at step %u of the best, on all rows; what is over "
                   "is kept; go on with: muster train --resume=%.300s",
                   result->steps, run->out);
}

static void write_history(struct run *run, const struct train_result *result,
                          const char *path)
{
    json_t *object = result_json(run, result, path);

    history_write(run, object);
    json_decref(object);
    history_close(&run->history);
}

/* The best on all rows, as `train` alone would end it.  False, and told: its
 * weights are not worth a file. */
static enum err refit(struct run *run, const struct grid *grid, json_t *object,
                      bool *good, struct why *why)
{
    struct train_result result = {0};
    const char *path = NULL;
    enum err err =
        grid_take_best(grid, run->setup, &run->cli->options.recipe, why);

    if (err == ERR_OK)
        announce_goal(run->cli, run->setup, "the best, on all rows: ");
    if (err == ERR_OK)
        err = run->setup->slots == 0 ? run_alone(run, false, &result, why)
                                     : run_cluster(run, &result, why);
    if (err == ERR_OK)
        err = run_settle(run, &result, &path, why);
    if (err == ERR_OK && !run_is_done(&result))
        err = stopped(run, &result, why);
    if (err == ERR_OK && object != NULL)
        (void)json_object_set_new(object, "refit",
                                  result_json(run, &result, path));
    else if (err == ERR_OK)
        result_show(run, &result, path, NULL);
    if (err == ERR_OK && run->setup->slots > 0)
        write_history(run, &result, path);
    *good = !run_is_bad(&result);
    if (err == ERR_OK)
        run_tell_bad(&result);
    train_result_close(&result);
    return err;
}

static enum err report(struct run *run, const struct grid *grid, double seconds,
                       bool *good, struct why *why)
{
    json_t *object = NULL;
    enum err err = ERR_OK;

    if (run->cli->json)
        object = grid_json(run, grid, seconds);
    else
        show_text(grid, run->setup);
    if (option_given(&run->cli->options, OPT_SAVE))
        err = refit(run, grid, object, good, why);
    else
        many_keep(run, &grid->trial[grid->order[0]],
                  grid->count * grid->folds.count);
    if (!option_given(&run->cli->options, OPT_SAVE) && object == NULL)
        ending_folds(run->setup, &grid->trial[grid->order[0]]);
    if (object != NULL && err == ERR_OK)
        say_json(object);
    else
        json_decref(object);
    return err;
}

static enum err search(struct many *many, struct grid *grid, bool *good,
                       struct why *why)
{
    struct run *const run = many->run;
    const struct recipe *recipe = &run->cli->options.recipe;
    enum err err = grid_parse(grid, recipe_text(recipe, OPT_GRID), why);

    if (err == ERR_OK)
        err = grid_prepare(grid, run->setup, recipe, why);
    if (err != ERR_OK)
        return err; /* Nothing has begun. */
    err = many_begin(many, run, why);
    if (err == ERR_OK)
        err = grid_search(grid, run->setup, &many->hooks, why);
    many_end(many);
    if (err == ERR_OK && run->setup->slots > 0)
        run_keep_said(run); /* If all were over; before the best is taken. */
    return err == ERR_OK ? report(run, grid, many->seconds, good, why) : err;
}

int grid_command(struct run *run)
{
    struct grid *grid = mem_new(1, sizeof *grid);
    struct many many = {.run = run};
    struct why why = {0};
    bool good = true;
    const enum err err =
        grid == NULL ? ERR_NOMEM : search(&many, grid, &good, &why);
    int status = good ? EXIT_DONE : EXIT_FAILED;

    if (err != ERR_OK)
        status = many_failed(&many, err, &why);
    many_close(&many);
    if (grid != NULL)
        grid_close(grid);
    mem_free(grid);
    return status;
}
