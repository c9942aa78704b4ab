/*
 * cross.c - `train -v FOLDS`: how well models do on rows they did not see.
 *
 * The first lines are LIBLINEAR's, for scripts that read them.
 */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "cli/many.h"
#include "cli/run.h"
#include "cli/show/ending.h"
#include "cli/show/metrics_show.h"

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

static void show_text(const struct setup *setup, const struct folds *folds,
                      const struct trial *trial, double seconds)
{
    char line[256];

    if (model_ops(setup->model)->regression) {
        (void)printf("Cross Validation Mean squared error = %g\n",
                     trial->metrics.mse);
        (void)printf("Cross Validation Squared correlation coefficient = %g\n",
                     squared_correlation(trial->scores, setup->data.y,
                                         setup->data.rows));
    } else {
        (void)printf("Cross Validation Accuracy = %g%%\n",
                     100.0 * trial->metrics.accuracy);
    }
    metrics_list(&trial->metrics, &setup->encoder.classes, setup->metric,
                 METRICS, line, sizeof line);
    (void)printf("all        %s\n", line);
    for (uint32_t fold = 0; fold < folds->count; fold++) {
        metrics_list(&trial->fold[fold].metrics, &setup->encoder.classes,
                     setup->metric, METRICS_SHOWN, line, sizeof line);
        (void)printf("fold %-5u %s; %u steps\n", fold + 1, line,
                     trial->fold[fold].steps);
    }
    (void)printf("steps      %llu in %.3f s\n",
                 (unsigned long long)trial->steps, seconds);
    ending_folds(setup, trial);
}

static void show_json(const struct run *run, const struct folds *folds,
                      const struct trial *trial, double seconds)
{
    const struct setup *const setup = run->setup;
    json_t *runs = json_array();
    char hash[DIGEST_TEXT];
    json_t *object;

    for (uint32_t i = 0; i < folds->count; i++) {
        const struct fold *fold = &trial->fold[i];

        (void)json_array_append_new(
            runs,
            json_pack("{s:I, s:s, s:o, s:o}", "steps", (json_int_t)fold->steps,
                      "hash", digest_text(&fold->hash, hash), "objective",
                      json_number(fold->objective), "metrics",
                      metrics_object(&fold->metrics)));
    }
    object = json_pack("{s:I, s:o, s:o, s:I, s:f, s:o}", "folds",
                       (json_int_t)folds->count, "metrics",
                       metrics_object(&trial->metrics), "runs", runs, "steps",
                       (json_int_t)trial->steps, "elapsed_s", seconds, "config",
                       config_json(&run->cli->options));
    many_json(run, object);
    if (model_ops(setup->model)->regression)
        (void)json_object_set_new(
            object, "squared_correlation",
            json_number(squared_correlation(trial->scores, setup->data.y,
                                            setup->data.rows)));
    say_json(object);
}

static enum err validate(struct many *many, struct folds *folds,
                         struct trial *trial, struct why *why)
{
    struct run *const run = many->run;
    enum err err =
        folds_prepare(run->setup, &run->cli->options.recipe, folds, trial, why);

    if (err != ERR_OK)
        return err; /* Nothing has begun. */
    err = many_begin(many, run, why);
    if (err == ERR_OK)
        err = trials_run(run->setup, folds, trial, 1, &many->hooks, why);
    many_end(many);
    return err;
}

int cross_command(struct run *run)
{
    struct trial *trial = mem_new(1, sizeof *trial);
    struct folds folds = {0};
    struct why why = {0};
    struct many many = {.run = run};
    const enum err err =
        trial == NULL ? ERR_NOMEM : validate(&many, &folds, trial, &why);
    int status = EXIT_DONE;

    if (err != ERR_OK)
        status = many_failed(&many, err, &why);
    else
        many_keep(run, trial, folds.count);
    if (err == ERR_OK && run->cli->json)
        show_json(run, &folds, trial, many.seconds);
    else if (err == ERR_OK)
        show_text(run->setup, &folds, trial, many.seconds);
    many_close(&many);
    if (trial != NULL)
        trial_close(trial);
    mem_free(trial);
    folds_close(&folds);
    return status;
}
