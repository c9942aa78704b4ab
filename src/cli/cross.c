/*
 * cross.c - `train -v FOLDS`: how well models do on rows they did not see.
 *
 * The first lines are LIBLINEAR's, for scripts that read them.
 */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "cli/show/metrics_show.h"
#include "cli/trial.h"
#include "os/clock.h"

/* Pearson's correlation, squared, as LIBLINEAR adds it up. */
static double squared_correlation(const double *z, const double *y,
                                  uint32_t rows)
{
    const double n = (double)rows;
    double sz = 0, sy = 0, szz = 0, syy = 0, szy = 0;

    for (uint32_t i = 0; i < rows; i++) {
        sz += z[i];
        sy += y[i];
        szz += z[i] * z[i];
        syy += y[i] * y[i];
        szy += z[i] * y[i];
    }
    return (n * szy - sz * sy) * (n * szy - sz * sy) /
           ((n * szz - sz * sz) * (n * syy - sy * sy));
}

static void show_text(const struct setup *setup, const struct plan *plan,
                      const struct trial *trial, double seconds)
{
    char line[256];

    if (setup->model == MODEL_LINEAR) {
        (void)printf("Cross Validation Mean squared error = %g\n",
                     trial->metrics.mse);
        (void)printf("Cross Validation Squared correlation coefficient = %g\n",
                     squared_correlation(trial->scores, setup->data.y,
                                         setup->data.rows));
    } else {
        (void)printf("Cross Validation Accuracy = %g%%\n",
                     100.0 * trial->metrics.accuracy);
    }
    metrics_list(&trial->metrics, setup->metric, METRICS, line, sizeof line);
    (void)printf("all        %s\n", line);
    for (uint32_t fold = 0; fold < plan->folds; fold++) {
        metrics_list(&trial->fold[fold].metrics, setup->metric, METRICS_SHOWN,
                     line, sizeof line);
        (void)printf("fold %-5u %s; %u steps\n", fold + 1, line,
                     trial->fold[fold].steps);
    }
    (void)printf("steps      %llu in %.3f s\n",
                 (unsigned long long)trial->steps, seconds);
}

static void show_json(const struct cli *cli, const struct setup *setup,
                      const struct plan *plan, const struct trial *trial,
                      double seconds)
{
    json_t *folds = json_array();
    json_t *object;

    for (uint32_t i = 0; i < plan->folds; i++) {
        const struct fold *fold = &trial->fold[i];

        (void)json_array_append_new(
            folds,
            json_pack("{s:I, s:o, s:o}", "steps", (json_int_t)fold->steps,
                      "objective", json_number(fold->objective), "metrics",
                      metrics_object(&fold->metrics)));
    }
    object = json_pack("{s:I, s:o, s:o, s:I, s:f, s:o}", "folds",
                       (json_int_t)plan->folds, "metrics",
                       metrics_object(&trial->metrics), "runs", folds, "steps",
                       (json_int_t)trial->steps, "elapsed_s", seconds, "config",
                       config_json(&cli->options));
    if (setup->model == MODEL_LINEAR)
        (void)json_object_set_new(
            object, "squared_correlation",
            json_number(squared_correlation(trial->scores, setup->data.y,
                                            setup->data.rows)));
    say_json(object);
}

int cross_command(struct cli *cli, const struct setup *setup)
{
    struct trial *trial = mem_new(1, sizeof *trial);
    struct plan plan = {0};
    struct why why = {0};
    const time_us began = clock_now_us();
    enum err err = trial == NULL ? ERR_NOMEM : ERR_OK;

    if (err == ERR_OK)
        err = plan_folds(&plan, setup,
                         (uint32_t)option_count(&cli->options, OPT_FOLDS),
                         option_count(&cli->options, OPT_SEED), &why);
    if (err == ERR_OK) {
        trial->options.shape = cli->options.shape;
        trial->model = setup->model;
        err = recipe_copy(&trial->options.recipe, &cli->options.recipe, &why);
    }
    if (err == ERR_OK)
        err = trial_init(trial, setup, &plan);
    if (err == ERR_OK)
        err = trials_run(cli, setup, &plan, trial, 1, &why);
    if (err == ERR_OK) {
        const double seconds =
            (double)(clock_now_us() - began) / (double)SECOND_US;

        if (cli->json)
            show_json(cli, setup, &plan, trial, seconds);
        else
            show_text(setup, &plan, trial, seconds);
    }
    if (trial != NULL)
        trial_close(trial);
    mem_free(trial);
    plan_close(&plan);
    return err == ERR_OK ? EXIT_DONE : say_why(cli, err, &why);
}
