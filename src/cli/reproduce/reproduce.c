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
#include "node/host/format.h"
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
    if (*name == '\0' || strcmp(name, "all") == 0 || strchr(name, ' ') != NULL)
        return say_error(cli, EXIT_USAGE,
                         "reproduce: \"%.60s\" is no name; write names with a "
                         "comma and no space between, or all by itself",
                         name);
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

/* What all experiments of a command have in common. */
struct session {
    struct cli *cli;
    const char *name;            /* Which of them, as it was said. */
    char folder[FILE_PATH_SIZE]; /* Of all that is written. */
    const char *raw;             /* NULL: no data sets of the user's. */
    char flags[FILE_PATH_SIZE + NAME_SIZE]; /* As lab.h has them. */
    struct svg results;
};

static void own_folder(const struct session *session,
                       const struct experiment *experiment,
                       char folder[LAB_PATH])
{
    (void)snprintf(folder, LAB_PATH, "%.900s/%s", session->folder,
                   experiment->name);
}

static enum err reproduce(struct session *session,
                          const struct experiment *experiment, struct why *why)
{
    struct cli *const cli = session->cli;
    struct lab lab = {
        .experiment = experiment,
        .raw = session->raw,
        .flags = session->flags,
        .quick = option_flag(&cli->options, OPT_QUICK),
        .virtual_time = option_flag(&cli->options, OPT_VIRTUAL),
        .note = note_run,
        .context = cli,
    };
    enum err err;

    own_folder(session, experiment, lab.folder);
    say_note(cli, "%s: %s", experiment->name, experiment->title);
    err = lab_open(&lab);
    if (err == ERR_OK) {
        page_remove(&lab);
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
        page_markdown(&lab, &session->results);
    *why = lab.why;
    lab_close(&lab);
    return err;
}

static enum err save_results(struct session *session, struct why *why)
{
    const struct svg *const results = &session->results;
    char path[LAB_PATH];

    (void)snprintf(path, sizeof path, "%.900s/results.md", session->folder);
    return results->failed ? why_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM))
                           : output_put(path, OUTPUT_OWN, 0644, results->text,
                                        results->used, why);
}

/* Pages are JSON, too, and every path of theirs is in it. */
static enum err vet_name(const char *option, const char *path, struct why *why)
{
    json_t *const name = json_string(path);
    const bool good = name != NULL;

    json_decref(name);
    return good ? ERR_OK
                : why_set(why, ERR_SHAPE,
                          "%s %.200s: the way there has a name that is not "
                          "UTF-8, as names in JSON must be; choose another, "
                          "or a link to it",
                          option, path);
}

static enum err take_folder(struct session *session, const char *to,
                            struct why *why)
{
    enum err err = format_vet_place("--to", to, why);

    if (err == ERR_OK)
        err = vet_name("--to", to, why);
    if (err == ERR_OK)
        err = file_make_folder(to, why);
    if (err == ERR_OK)
        err = file_check_folder(to, why);
    if (err != ERR_OK)
        return err;
    if (!file_absolute(to, session->folder, sizeof session->folder) ||
        strlen(session->folder) > 800)
        return why_set(why, ERR_IO, "%.200s: too long a path", to);
    return vet_name("--to", session->folder, why);
}

static enum err take_raw(struct session *session, const char *raw,
                         char path[FILE_PATH_SIZE], struct why *why)
{
    if (raw == NULL)
        return ERR_OK;
    if (!file_absolute(raw, path, FILE_PATH_SIZE))
        return why_set(why, ERR_SHAPE, "--raw %.200s: there is no such folder",
                       raw);
    session->raw = path;
    return vet_name("--raw", path, why);
}

/* So that the words on a page are those that it was made with. */
static void note_flags(struct session *session)
{
    const struct options *const options = &session->cli->options;
    const char *const raw = option_text(options, OPT_RAW);

    (void)snprintf(session->flags, sizeof session->flags, "%s%s%s%s",
                   option_flag(options, OPT_QUICK) ? " --quick" : "",
                   option_flag(options, OPT_VIRTUAL) ? " --virtual" : "",
                   raw != NULL ? " --raw " : "", raw != NULL ? raw : "");
}

static bool is_all(const struct session *session)
{
    return strcmp(session->name, "all") == 0;
}

static bool wanted(const struct session *session,
                   const struct experiment *experiment)
{
    return is_all(session) || listed(session->name, experiment->name);
}

/* Before the first of them has taken its hour. */
static enum err vet_folders(const struct session *session, struct why *why)
{
    enum err err = ERR_OK;

    for (size_t i = 0; i < EXPERIMENTS && err == ERR_OK; i++) {
        char folder[LAB_PATH];

        own_folder(session, experiments[i], folder);
        if (wanted(session, experiments[i]))
            err = lab_vet_folder(folder, why);
    }
    return err;
}

static enum err run_all(struct session *session, struct why *why)
{
    enum err err = vet_folders(session, why);

    note_flags(session);
    svg_add(&session->results,
            "# Results\n\nWritten by `muster reproduce %s%s`; edit nothing "
            "here.\n",
            session->name, session->flags);
    for (size_t i = 0; i < EXPERIMENTS && err == ERR_OK; i++)
        if (wanted(session, experiments[i]))
            err = reproduce(session, experiments[i], why);
    if (err == ERR_OK &&
        (is_all(session) || strchr(session->name, ',') != NULL))
        err = save_results(session, why);
    return err;
}

int reproduce_command(struct cli *cli)
{
    const char *said = option_text(&cli->options, OPT_TO);
    struct session session = {
        .cli = cli, .name = option_text(&cli->options, OPT_EXPERIMENT)};
    char data[FILE_PATH_SIZE], first[NAME_SIZE];
    struct why why = {0};
    enum err err;

    if (session.name == NULL)
        return list(cli);
    if (!is_all(&session) && find_unknown(session.name, first))
        return unknown(cli, first);
    err = take_raw(&session, option_text(&cli->options, OPT_RAW), data, &why);
    if (err == ERR_OK)
        err =
            take_folder(&session, said != NULL ? said : "muster-results", &why);
    if (err == ERR_OK)
        err = run_all(&session, &why);
    mem_free(session.results.text);
    if (err != ERR_OK)
        return say_why(cli, err, &why);
    if (cli->json)
        say_json(json_pack("{s:s, s:s}", "experiment", session.name, "folder",
                           session.folder));
    return EXIT_DONE;
}
