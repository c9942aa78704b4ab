/*
 * study_show.c - studies as text, JSON and CSV.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/show/metrics_show.h"
#include "cli/study/study.h"
#include "os/file/output.h"

#define CSV_LINE_BYTES 256u

/* --- JSON ---------------------------------------------------------------- */

static json_t *series_json(const struct setup *setup, const struct study *study)
{
    json_t *series = json_array();

    for (uint32_t i = 0; i < study->point_count; i++) {
        const struct study_point *point = &study->points[i];
        json_t *object =
            json_pack("{s:f, s:I, s:o}", "t_s", point->t_s, "step",
                      (json_int_t)i + 1, "loss", json_number(point->loss));

        if (!isnan(point->error))
            (void)json_object_set_new(object, "gradient_error",
                                      json_number(point->error));
        if (!isnan(point->metric))
            (void)json_object_set_new(object, metric_name(setup->metric),
                                      json_number(point->metric));
        (void)json_array_append_new(series, object);
    }
    return series;
}

static json_t *study_json(const struct cli *cli, const struct setup *setup,
                          const struct study *study)
{
    const bool measured = study->weights != NULL && setup->has_test;
    json_t *object =
        json_pack("{s:s, s:I, s:I, s:f, s:f, s:f}", "code",
                  study->candidate.adapt ? study->candidate.label
                                         : study->candidate.spec.name,
                  "workers", (json_int_t)study->workers, "steps",
                  (json_int_t)study->steps, "mean_step_s", study->mean_step_s,
                  "total_s", study->total_s, "coverage", study->coverage);

    (void)json_object_set_new(object, "hash",
                              study->computed ? hash_json(&study->hash)
                                              : json_null());
    (void)json_object_set_new(object, "objective",
                              study->computed ? json_number(study->loss)
                                              : json_null());
    (void)json_object_set_new(
        object, "metrics",
        metrics_json(setup, measured ? &setup->test : NULL, study->weights));
    if (study->candidate.spec.staleness > 0)
        (void)json_object_set_new(object, "age", ages_json(&study->ages));
    if (study->stalled > 0)
        (void)json_object_set_new(object, "stalled",
                                  json_integer((json_int_t)study->stalled));
    if (study->candidate.adapt) {
        json_t *changes = json_array();

        for (uint32_t i = 0; i < study->switch_count; i++)
            (void)json_array_append_new(changes,
                                        json_string(study->switches[i]));
        (void)json_object_set_new(object, "code_changes", changes);
    }
    if (option_flag(&cli->options, OPT_SERIES))
        (void)json_object_set_new(object, "series", series_json(setup, study));
    return object;
}

static void show_json(const struct cli *cli, const struct setup *setup,
                      const struct study *studies, uint32_t count,
                      bool compared)
{
    json_t *runs;
    json_t *object;

    if (!compared) {
        object = study_json(cli, setup, studies);
    } else {
        runs = json_array();
        for (uint32_t i = 0; i < count; i++) {
            json_t *run = study_json(cli, setup, &studies[i]);

            (void)json_object_set_new(run, "label",
                                      json_string(studies[i].candidate.label));
            (void)json_object_set_new(
                run, "exactness",
                json_string(exactness_name(studies[i].exactness)));
            (void)json_array_append_new(runs, run);
        }
        object = json_pack("{s:o}", "runs", runs);
    }
    (void)json_object_set_new(object, "config", config_json(&cli->options));
    say_json(object);
}

/* --- text ---------------------------------------------------------------- */

static void show_series(const struct setup *setup, const struct study *study)
{
    const bool metric =
        study->point_count > 0 && !isnan(study->points[0].metric);

    (void)printf("%12s %8s  %-14s %s\n", "t s", "step", "loss",
                 metric ? metric_name(setup->metric) : "");
    for (uint32_t i = 0; i < study->point_count; i++) {
        const struct study_point *point = &study->points[i];

        (void)printf("%12.6f %8u  %-14.10g", point->t_s, i + 1, point->loss);
        if (metric)
            (void)printf(" %.6f", point->metric);
        (void)printf("\n");
    }
}

static void show_line(const struct study *study, const char *name, int width)
{
    (void)printf("%-*s %8u %7u %10.4f %10.3f %9.3f  %s", width, name,
                 study->workers, study->steps, study->mean_step_s,
                 study->total_s, study->coverage,
                 exactness_name(study->exactness));
    if (study->candidate.spec.staleness > 0)
        (void)printf(", age %.3f, at most %u", ages_mean(&study->ages),
                     study->ages.max);
    if (study->stalled > 0)
        (void)printf(", %u steps stalled", study->stalled);
    (void)printf("\n");
}

static void show_text(const struct cli *cli, const struct setup *setup,
                      const struct study *studies, uint32_t count,
                      bool compared)
{
    int width = compared ? 18 : 10;

    for (uint32_t i = 0; compared && i < count; i++)
        if ((int)strlen(studies[i].candidate.label) > width)
            width = (int)strlen(studies[i].candidate.label);
    (void)printf("%-*s %8s %7s %10s %10s %9s  %s\n", width, "code", "workers",
                 "steps", "s/step", "total s", "coverage", "class");
    for (uint32_t i = 0; i < count; i++)
        show_line(&studies[i],
                  compared || studies[i].candidate.adapt
                      ? studies[i].candidate.label
                      : studies[i].candidate.spec.name,
                  width);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < studies[i].switch_count; j++)
            (void)printf("%s\n", studies[i].switches[j]);
    }
    for (uint32_t i = 0; i < count; i++) {
        char hex[DIGEST_TEXT];
        const struct study *study = &studies[i];
        const bool series = option_flag(&cli->options, OPT_SERIES);

        if (compared && (study->computed || series))
            (void)printf("%s\n", study->candidate.label);
        if (study->computed)
            (void)printf("objective  %.17g\nmodel      %s\n", study->loss,
                         digest_text(&study->hash, hex));
        if (series)
            show_series(setup, study);
    }
}

void study_show(const struct cli *cli, const struct setup *setup,
                const struct study *studies, uint32_t count, bool compared)
{
    if (cli->json)
        show_json(cli, setup, studies, count, compared);
    else
        show_text(cli, setup, studies, count, compared);
}

/* --- CSV ----------------------------------------------------------------- */

/* Nothing for NaN. */
static size_t put_value(char *out, double value, const char *after)
{
    if (isnan(value))
        return (size_t)snprintf(out, 32, "%s", after);
    return (size_t)snprintf(out, 32, "%.10g%s", value, after);
}

static size_t put_lines(const struct study *study, char *text)
{
    size_t used = 0;

    for (uint32_t i = 0; i < study->point_count; i++) {
        const struct study_point *point = &study->points[i];

        used += (size_t)snprintf(text + used, 100, "%s,%u,",
                                 study->candidate.label, i + 1);
        used += put_value(text + used, point->t_s, ",");
        used += put_value(text + used, point->step_s, ",");
        used += put_value(text + used, point->covered, ",");
        used += put_value(text + used, point->loss, ",");
        used += put_value(text + used, point->metric, "\n");
    }
    return used;
}

enum err study_write_csv(const struct setup *setup, const struct study *studies,
                         uint32_t count, const char *path, struct why *why)
{
    size_t points = 1;
    size_t used;
    char *text;
    enum err err;

    for (uint32_t i = 0; i < count; i++)
        points += studies[i].point_count;
    text = mem_new(points, CSV_LINE_BYTES);
    if (text == NULL)
        return why_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    used = (size_t)snprintf(
        text, CSV_LINE_BYTES, "code,step,t_s,step_s,covered,loss,%s\n",
        setup->has_test ? metric_name(setup->metric) : "metric");
    for (uint32_t i = 0; i < count; i++)
        used += put_lines(&studies[i], text + used);
    err = output_save(path, text, used, why);
    mem_free(text);
    return err;
}
