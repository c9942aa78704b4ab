/*
 * reproduce.c - `muster reproduce`: every result of the papers as one command,
 * with a page that puts their numbers beside ours.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/reproduce/experiments.h"
#include "cli/reproduce/page.h"
#include "os/file/file.h"
#include "os/file/output.h"

static const struct experiment *const experiments[] = {
    &experiment_credit_svm,      &experiment_elastic,
    &experiment_erasurehead,     &experiment_noise_floor,
    &experiment_gradient_coding, &experiment_ring_mnist,
    &experiment_stragglers,      &experiment_matmul,
    &experiment_scaling,         &experiment_minibatch,
    &experiment_averaging,       &experiment_shuffle,
    &experiment_prices,          &experiment_flexent,
};

#define EXPERIMENTS (sizeof experiments / sizeof *experiments)
#define NAME_SIZE   64u

static int list(const struct cli *cli)
{
    json_t *all = json_array();

    for (size_t i = 0; i < EXPERIMENTS; i++) {
        if (cli->json)
            (void)json_array_append_new(
                all, json_pack("{s:s, s:s, s:s}", "name", experiments[i]->name,
                               "title", experiments[i]->title, "source",
                               experiments[i]->source));
        else
            (void)printf("%-16s %s\n", experiments[i]->name,
                         experiments[i]->title);
    }
    if (cli->json)
        say_json(all);
    else {
        json_decref(all);
        (void)printf("\nall              every one of them\n");
    }
    return EXIT_DONE;
}

static const struct experiment *find(const char *name)
{
    for (size_t i = 0; i < EXPERIMENTS; i++)
        if (strcmp(experiments[i]->name, name) == 0)
            return experiments[i];
    return NULL;
}

static int unknown(const struct cli *cli, const char *name)
{
    const char *names[EXPERIMENTS];
    const char *near;

    for (size_t i = 0; i < EXPERIMENTS; i++)
        names[i] = experiments[i]->name;
    near = nearest_name(name, names, EXPERIMENTS);
    return say_error(cli, EXIT_USAGE,
                     "reproduce: there is no experiment %.60s%s%s%s `muster "
                     "reproduce` lists them",
                     name, near != NULL ? "; did you mean " : "",
                     near != NULL ? near : "", near != NULL ? "?" : ";");
}

/* Is it in the list, which has commas between its names? */
static bool listed(const char *list, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = list;; at += strcspn(at, ",") + 1) {
        if (strcspn(at, ",") == length && strncmp(at, name, length) == 0)
            return true;
        if (strchr(at, ',') == NULL)
            return false;
    }
}

/* The first name of the list that no experiment has, in `name`. */
static bool find_unknown(const char *list, char name[NAME_SIZE])
{
    for (const char *at = list;; at += strcspn(at, ",") + 1) {
        (void)snprintf(name, NAME_SIZE, "%.*s", (int)strcspn(at, ","), at);
        if (find(name) == NULL)
            return true;
        if (strchr(at, ',') == NULL)
            return false;
    }
}

static void note_run(void *context, const char *program, const char *words)
{
    say_note(context, "  %s %s", program, words);
}

static enum err reproduce(struct cli *cli, const struct experiment *experiment,
                          const char *folder, const char *raw,
                          struct svg *results, struct why *why)
{
    struct lab lab = {
        .experiment = experiment,
        .raw = raw,
        .quick = option_flag(&cli->options, OPT_QUICK),
        .virtual_time = option_flag(&cli->options, OPT_VIRTUAL),
        .note = note_run,
        .context = cli,
    };
    enum err err;

    (void)snprintf(lab.folder, sizeof lab.folder, "%.900s/%s", folder,
                   experiment->name);
    say_note(cli, "%s: %s", experiment->name, experiment->title);
    err = lab_open(&lab);
    if (err == ERR_OK) {
        experiment->run(&lab);
        lab_tell_kinds(&lab);
        lab_tell_diverged(&lab);
        err = lab.err;
    }
    if (err == ERR_OK)
        err = page_write(&lab, &lab.why);
    if (err == ERR_OK && !cli->json) {
        page_print(&lab);
        say_name("\npage  ", lab.folder, "/index.html\n\n");
        (void)fflush(stdout);
    }
    if (err == ERR_OK)
        page_markdown(&lab, results);
    *why = lab.why;
    lab_close(&lab);
    return err;
}

static enum err save_results(const char *folder, struct svg *results,
                             struct why *why)
{
    char path[LAB_PATH];

    (void)snprintf(path, sizeof path, "%.900s/results.md", folder);
    return results->failed
               ? why_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM))
               : output_save(path, results->text, results->used, why);
}

int reproduce_command(struct cli *cli)
{
    const char *name = option_text(&cli->options, OPT_EXPERIMENT);
    const char *said = option_text(&cli->options, OPT_TO);
    const char *to = said != NULL ? said : "muster-results";
    const char *raw = option_text(&cli->options, OPT_RAW);
    char folder[FILE_PATH_SIZE], data[FILE_PATH_SIZE], first[NAME_SIZE];
    struct svg results = {0};
    struct why why = {0};
    enum err err;
    bool all;

    if (name == NULL)
        return list(cli);
    all = strcmp(name, "all") == 0;
    if (!all && find_unknown(name, first))
        return unknown(cli, first);
    err = file_make_folder(to, &why);
    if (err == ERR_OK)
        err = file_check_folder(to, &why);
    if (err != ERR_OK)
        return say_why(cli, err, &why);
    if (!file_absolute(to, folder, sizeof folder) || strlen(folder) > 800)
        return say_error(cli, EXIT_FAILED, "%.200s: too long a path", to);
    if (raw != NULL && !file_absolute(raw, data, sizeof data))
        return say_error(cli, EXIT_USAGE,
                         "--raw %.200s: there is no such folder", raw);
    svg_add(
        &results,
        "# Results\n\nWritten by `muster reproduce %s`; edit nothing here.\n",
        name);
    for (size_t i = 0; i < EXPERIMENTS && err == ERR_OK; i++)
        if (all || listed(name, experiments[i]->name))
            err = reproduce(cli, experiments[i], folder,
                            raw == NULL ? NULL : data, &results, &why);
    if (err == ERR_OK && (all || strchr(name, ',') != NULL))
        err = save_results(folder, &results, &why);
    mem_free(results.text);
    if (err != ERR_OK)
        return say_why(cli, err, &why);
    if (cli->json)
        say_json(json_pack("{s:s, s:s}", "experiment", name, "folder", folder));
    return EXIT_DONE;
}
