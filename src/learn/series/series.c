/*
 * series.c - runs one after the other at one door, and what is kept of them.
 */
#include "learn/series/series.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/run/store.h"
#include "learn/fit.h"
#include "node/host/format.h"
#include "node/host/result_file.h"
#include "os/clock.h"
#include "os/file/file.h"
#include "os/run/thread.h"

#define NAME_SIZE_MAX 32u

static const char *const folders[] = {"trial-#-#"};
const struct names series_names = NAMES_OF(folders);

struct series {
    struct series_options options;
    const struct trial *trials; /* All of them. */
    uint32_t count;             /* Of trainings. */
    struct logbook *book;
    time_us began;
    struct dataset rows;   /* A view of all of them, ... */
    struct thread *ahead;  /* ... hashed there before anybody asks, or NULL. */
    bool gathered;         /* One training was here before, ... */
    struct meanwhile left; /* ... of which this is. */
    int signal;
};

/* In a view of its own: the setup is somebody else's meanwhile. */
static void know_rows(void *context)
{
    struct series *const series = context;

    setup_know(series->options.setup, &series->rows);
}

/* If there is no thread to be had, series_plan hashes them. */
static void look_ahead(struct series *series)
{
    series->rows = series->options.setup->data;
    if (thread_start(know_rows, series, &series->ahead) != ERR_OK)
        series->ahead = NULL;
}

static void end_ahead(struct series *series)
{
    thread_join(series->ahead);
    series->ahead = NULL;
}

static enum err open_door(const struct series_options *options, struct why *why)
{
    const struct recipe *const recipe = options->recipe;
    const struct train_options door = {
        .listen = recipe_text(recipe, OPT_LISTEN),
        .interface = recipe_text(recipe, OPT_INTERFACE),
        .token_file = recipe_text(recipe, OPT_TOKEN_FILE),
        .out = options->folder,
        .lock = options->setup->lock,
        .resume = recipe_given(recipe, OPT_RESUME),
    };

    return train_door_open(&door, &options->setup->door, why);
}

enum err series_open(const struct series_options *options,
                     struct series **series, struct why *why)
{
    struct series *const made = mem_new(1, sizeof *made);
    enum err err = ERR_OK;

    if (made == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    made->options = *options;
    made->began = clock_now_us();
    look_ahead(made);
    if (options->ready != NULL)
        err = options->ready(options->context, why);
    if (err == ERR_OK)
        err = open_door(options, why);
    if (err == ERR_OK)
        *series = made;
    else
        series_close(made);
    return err;
}

void series_close(struct series *series)
{
    if (series == NULL)
        return;
    end_ahead(series);
    logbook_close(series->book);
    mem_free(series);
}

/* --- the plan ------------------------------------------------------------- */

static void add_text(struct hasher *hasher, const char *text)
{
    const char *const said = text == NULL ? "" : text;

    hasher_add(hasher, said, strlen(said) + 1);
}

/* What is learnt and how, but for what only measures it. */
static void add_recipe(struct hasher *hasher, const struct recipe *recipe)
{
    for (int id = OPT_NET; id <= OPT_OPTIMUM; id++)
        if (id != OPT_TEST && id != OPT_METRIC)
            add_text(hasher, recipe_text(recipe, id));
    for (int id = OPT_SOLVER; id <= OPT_SVR_EPS; id++)
        add_text(hasher, recipe_text(recipe, id));
}

static struct digest plan_of(const struct setup *setup,
                             const struct folds *folds,
                             const struct trial *trials, uint32_t count)
{
    const struct digest config = config_digest(setup);
    struct hasher hasher;

    hasher_init(&hasher);
    hasher_add(&hasher, config.bytes, sizeof config.bytes);
    hasher_add(&hasher, &folds->count, sizeof folds->count);
    hasher_add(&hasher, folds->of, setup->data.rows * sizeof *folds->of);
    if (folds->judge != NULL) {
        const struct digest judge = dataset_digest(folds->judge);

        hasher_add(&hasher, judge.bytes, sizeof judge.bytes);
    }
    for (uint32_t i = 0; i < count; i++) {
        add_text(&hasher, trials[i].text);
        add_recipe(&hasher, &trials[i].recipe);
    }
    return hasher_end(&hasher);
}

enum err series_plan(struct series *series, const struct folds *folds,
                     const struct trial *trials, uint32_t count,
                     struct why *why)
{
    struct setup *const setup = series->options.setup;
    struct digest plan;

    end_ahead(series);
    setup->data.digest = series->rows.digest;
    setup->data.digest_known = series->rows.digest_known;
    setup_know(setup, &setup->data); /* Many ask. */
    plan = plan_of(setup, folds, trials, count);
    series->trials = trials;
    series->count = count * folds->count;
    return logbook_open(series->options.folder, &plan, &series->book, why);
}

struct logbook *series_logbook(const struct series *series)
{
    return series->book;
}

void series_meanwhile(struct series *series, const struct meanwhile *left)
{
    series->left = *left;
}

/* --- one training --------------------------------------------------------- */

static void folder_of(const struct series *series, uint32_t trial,
                      uint32_t fold, char path[FILE_PATH_SIZE])
{
    char name[NAME_SIZE_MAX];

    (void)snprintf(name, sizeof name, "trial-%u-%u", trial, fold);
    file_path_in(series->options.folder, name, path);
}

/* With what an earlier life left in it: that is gone on from. */
static enum err open_folder(const char *path, struct why *why)
{
    enum err err = ERR_OK;

    /* What is here is removed when the training is over, and what a link
     * leads to is not ours to remove. */
    if (file_is_link(path))
        err = why_set(why, ERR_DENIED,
                      "%.300s: a link, where a training's folder belongs; "
                      "remove it, then go on with --resume",
                      path);
    if (err == ERR_OK)
        err = file_make_folder(path, why);
    if (err == ERR_OK)
        err = file_check_folder(path, why);
    if (err == ERR_OK)
        result_remove(path);
    return err;
}

/* Does a run write such a file into its folder?  Or did a process that was
 * killed leave it beside one? */
static bool is_ours(const char *file)
{
    static const struct names *const owners[] = {&store_names, &format_names,
                                                 &result_names};
    bool ours = false;

    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
        ours |= names_have(owners[i], file) || names_left(owners[i], file);
    return ours;
}

static void remove_file(void *context, const char *name)
{
    char path[FILE_PATH_SIZE];

    file_path_in(context, name, path);
    if (is_ours(name))
        file_remove(path);
}

/* What others put there stays, and the folder with it. */
static void remove_folder(char *path)
{
    if (file_is_link(path))
        return;
    file_names(path, remove_file, path);
    file_remove_folder(path);
}

static void note_signal(struct series *series,
                        const struct train_result *result)
{
    if (result->signal != 0)
        series->signal = result->signal;
    else if (result->late != 0)
        series->signal = result->late;
}

static void hand_over(struct train_result *from, struct alone_result *to)
{
    *to = (struct alone_result){.weights = from->weights,
                                .dims = from->dims,
                                .steps = from->steps,
                                .evaluations = from->evaluations,
                                .outcome = from->outcome,
                                .hash = from->hash};
    from->weights = NULL;
}

static enum err train_in(struct series *series, const struct fit *like,
                         struct alone_result *result, struct why *why)
{
    const struct series_options *const options = &series->options;
    struct train_result made = {0};
    struct fit fit = *like;
    enum err err;

    if (options->begin != NULL)
        options->begin(options->context, fit.setup,
                       logbook_count(series->book) +
                           (fit.meanwhile.call != NULL),
                       series->count);
    err = fit_run(&fit, &made, why);
    series->gathered = true;
    note_signal(series, &made);
    if (err == ERR_OK && !made.finished)
        err = ERR_CANCELLED;
    if (err == ERR_OK)
        hand_over(&made, result);
    if (err == ERR_OK && !fit.more)
        absent_tell(options->absent, options->setup);
    train_result_close(&made);
    fit_close(&fit);
    return err;
}

enum err series_train(struct series *series, const struct setup *part,
                      const struct trial *trial, uint32_t fold, bool last,
                      struct alone_result *result, struct why *why)
{
    const struct series_options *const options = &series->options;
    struct setup own = *part; /* A view. */
    char path[FILE_PATH_SIZE];
    const struct fit fit = {.setup = &own,
                            .recipe = &trial->recipe,
                            .stop = options->stop,
                            .context = options->context,
                            .trace = options->trace,
                            .folder = path,
                            .gathered = series->gathered,
                            .more = !last || options->more,
                            .passing = true,
                            .absent = options->absent,
                            .meanwhile = series->left};
    enum err err;

    CHECK(series->book != NULL);
    folder_of(series, (uint32_t)(trial - series->trials), fold, path);
    own.waited_us = clock_now_us() - series->began;
    err = open_folder(path, why);
    return err == ERR_OK ? train_in(series, &fit, result, why) : err;
}

enum err series_done(struct series *series, const struct entry *entry,
                     const double *scores, size_t count, struct why *why)
{
    const enum err err = logbook_add(series->book, entry, scores, count, why);

    if (err == ERR_OK)
        series_forget(series, entry->trial, entry->fold);
    return err;
}

void series_forget(const struct series *series, uint32_t trial, uint32_t fold)
{
    char path[FILE_PATH_SIZE];

    folder_of(series, trial, fold, path);
    remove_folder(path);
}

enum err series_stopped(const struct series *series, struct why *why)
{
    return why_set(why, ERR_CANCELLED,
                   "stopped; %u of %u trainings are over, and kept; go on "
                   "with: muster train --resume=%.300s",
                   logbook_count(series->book), series->count,
                   series->options.folder);
}

int series_signal(const struct series *series)
{
    return series->signal;
}
