/*
 * run_folder.c - where a run's journal and checkpoints go.
 *
 *     muster-runs/latest          a link to the last run; if it is lost, the
 *                                 one of the highest number is meant
 *     muster-runs/0007-3fa2/      number and a random part: two runs started
 *                                 at the same moment do not collide
 *         config                  the run's options as they were said last, for
 *                                 --resume without data
 *         journal checkpoint...   core/run/store.h
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/launch/engine.h"
#include "cli/many.h"
#include "cli/run.h"
#include "core/run/store.h"
#include "learn/folder/claims.h"
#include "learn/workers.h"
#include "node/fixed/mpi.h"
#include "node/host/format.h"
#include "node/host/keep.h"
#include "node/host/ring_folder.h"
#include "node/host/ways.h"
#include "os/file/file.h"
#include "os/file/folder.h"
#include "os/random.h"

#define DRAWS_MAX 100u

/* Options that say who computes. */
static const int who[] = {OPT_TOPOLOGY, OPT_N,    OPT_WORKERS,   OPT_LISTEN,
                          OPT_PEERS,    OPT_NAME, OPT_INTERFACE, OPT_FANOUT,
                          OPT_RESPAWN,  OPT_BULK};
#define WHO (sizeof who / sizeof *who)

/* The name that `latest` leads to; "" if there is none that makes sense. */
static void read_latest(char name[RUN_NAME_SIZE])
{
    if (!file_read_link(LATEST_RUN, name, RUN_NAME_SIZE) ||
        strchr(name, '/') != NULL)
        name[0] = '\0';
}

/* Of the folders under RUNS_FOLDER. */
struct newest {
    bool held;                /* Only those that hold a run. */
    bool going;               /* Only those that somebody runs. */
    unsigned long number;     /* The highest, 0 if there is none ... */
    char name[RUN_NAME_SIZE]; /* ... and whose it is. */
};

static void see_name(void *context, const char *name)
{
    struct newest *newest = context;
    char path[FILE_PATH_SIZE];
    char *end;
    const unsigned long number = strtoul(name, &end, 10);

    file_path_in(RUNS_FOLDER, name, path);
    if (name[0] < '0' || name[0] > '9' || *end != '-' ||
        strlen(name) >= RUN_NAME_SIZE || number < newest->number ||
        (number == newest->number && strcmp(name, newest->name) <= 0) ||
        (newest->held && !format_holds_run(path)) ||
        (newest->going && !ways_held(path)))
        return;
    newest->number = number;
    (void)snprintf(newest->name, sizeof newest->name, "%s", name);
}

static struct newest find_newest(bool held, bool going)
{
    struct newest newest = {.held = held, .going = going};

    file_names(RUNS_FOLDER, see_name, &newest);
    return newest;
}

/* Where `latest` leads, or should. */
static void find_latest(char name[RUN_NAME_SIZE])
{
    char path[FILE_PATH_SIZE];

    read_latest(name);
    file_path_in(RUNS_FOLDER, name, path);
    if (name[0] == '\0' || !file_exists(path))
        (void)snprintf(name, RUN_NAME_SIZE, "%s",
                       find_newest(true, false).name);
}

const char *latest_run(char path[RUN_PATH_SIZE])
{
    char name[RUN_NAME_SIZE];

    if (file_exists(LATEST_RUN))
        return LATEST_RUN;
    find_latest(name);
    (void)snprintf(path, RUN_PATH_SIZE, RUNS_FOLDER "/%s", name);
    return name[0] == '\0' ? NULL : path;
}

const char *going_run(char path[RUN_PATH_SIZE])
{
    const char *const latest = latest_run(path);
    struct newest newest;

    if (latest != NULL && ways_held(latest))
        return latest;
    newest = find_newest(false, true);
    if (newest.number == 0)
        return latest;
    (void)snprintf(path, RUN_PATH_SIZE, RUNS_FOLDER "/%s", newest.name);
    return path;
}

static void new_name(char out[RUN_PATH_SIZE])
{
    const unsigned long number = find_newest(false, false).number + 1;

    (void)snprintf(out, RUN_PATH_SIZE, RUNS_FOLDER "/%04lu-%04x",
                   number > 999999 ? 1 : number,
                   (unsigned)(random_u64() & 0xffff));
}

/* Before anything in it is believed. */
static enum err check_folder(const char *folder, struct why *why)
{
    const enum err err = file_check_folder(folder, why);

    return err == ERR_OK ? format_check(folder, why) : err;
}

static enum err resumed_folder(const struct options *options,
                               char out[RUN_PATH_SIZE], struct why *why)
{
    const char *named = option_text(options, OPT_RESUME);
    char latest[RUN_NAME_SIZE];
    enum err err;

    if (named[0] == '\0')
        named = option_text(options, OPT_OUT);
    if (named != NULL && strcmp(named, LATEST_RUN) == 0)
        named = NULL; /* Not a name to be kept. */
    if (named != NULL) {
        (void)snprintf(out, RUN_PATH_SIZE, "%s", named);
    } else {
        if (file_exists(RUNS_FOLDER) &&
            file_check_folder(RUNS_FOLDER, why) != ERR_OK)
            return ERR_DENIED;
        find_latest(latest);
        if (latest[0] == '\0')
            return why_set(why, ERR_NOTFOUND,
                           "--resume: there is no last run under %s/; say "
                           "--resume DIR",
                           RUNS_FOLDER);
        (void)snprintf(out, RUN_PATH_SIZE, RUNS_FOLDER "/%s", latest);
    }
    if (file_is_foreign(out, why)) {
        const struct why whose = *why;

        return why_set(why, ERR_DENIED,
                       "--resume: %.300s; go on with the run as that user, or "
                       "begin one of your own",
                       whose.text);
    }
    err = file_find(out, why);
    if (err != ERR_OK && err != ERR_NOTFOUND)
        return why_in(why, err, "--resume");
    if (!format_holds_run(out))
        return why_set(why, ERR_NOTFOUND,
                       "--resume: %.200s holds no run: there is no %s in it",
                       out, JOURNAL_FILE);
    return check_folder(out, why);
}

/* Who computes is no part of the model: what the run was begun with gives way
 * to what was said `before` it was read, and to how this process was started.
 */
static void give_way(struct run *run, struct recipe *before)
{
    struct recipe *recipe = &run->cli->options.recipe;
    const bool ranks = workers_mpi(before);
    const bool no_ranks = workers_mpi(recipe) && !ranks &&
                          (run->cli->led || launcher_find().mpi == NULL);

    run->left_by_ranks = no_ranks;
    for (size_t i = 0; i < WHO; i++) {
        struct setting *now = &recipe->setting[who[i]];
        const struct setting kept = *now;

        if (!(ranks && !recipe_given(before, who[i])) &&
            !(no_ranks && who[i] == OPT_TOPOLOGY))
            continue;
        *now = before->setting[who[i]];
        before->setting[who[i]] = kept; /* To be closed. */
    }
}

static enum err read_file(struct run *run, const char *path, struct why *why)
{
    struct recipe before = {0};
    enum err err = recipe_copy(&before, &run->cli->options.recipe, why);

    if (err == ERR_OK)
        err = options_read_file(&run->cli->options, path, why);
    if (err == ERR_OK)
        give_way(run, &before);
    recipe_close(&before);
    return err;
}

/* `muster train --resume DIR` alone: the run knows its data and options. */
static enum err read_own_options(struct run *run, struct why *why)
{
    const struct options *options = &run->cli->options;
    const char *folder = run->out;
    char path[FILE_PATH_SIZE];
    enum err err;

    file_path_in(folder, CONFIG_FILE, path);
    if (option_given(options, OPT_DATA))
        return ERR_OK;
    if (!file_exists(path) && option_given(options, OPT_OWNERS))
        return ERR_OK;
    if (!file_exists(path))
        return why_set(why, ERR_NOTFOUND,
                       "--resume: %.200s has no file config, which says what "
                       "is trained on what; give the command that began it "
                       "again, with --resume",
                       folder);
    err = config_check(path, why);
    return err != ERR_OK ? err : read_file(run, path, why);
}

enum err run_choose_folder(struct run *run, struct why *why)
{
    static const struct names *const claims[] = {
        &many_names, &history_names, &ranks_names, &slurm_names, NULL};
    struct options *options = &run->cli->options;
    const char *out = option_text(options, OPT_OUT);
    enum err err;

    if (option_given(options, OPT_RESUME)) {
        err = resumed_folder(options, run->out, why);
        return err != ERR_OK ? err : read_own_options(run, why);
    }
    if (out == NULL) {
        new_name(run->out);
        run->fresh = true;
        return ERR_OK;
    }
    if (strlen(out) >= RUN_PATH_SIZE)
        return why_set(why, ERR_RANGE, "--out: the name is too long");
    (void)snprintf(run->out, sizeof run->out, "%s", out);
    run->fresh = !file_exists(out);
    if (format_holds_run(out))
        return why_set(why, ERR_SHAPE,
                       "--out %.200s: there is a run in it; add --resume to go "
                       "on with it, or choose another folder",
                       out);
    return claims_free(out, claims, why);
}

/* Its name, if it is one that we chose; else NULL. */
static const char *name_of(const struct run *run)
{
    const char *prefix = RUNS_FOLDER "/";
    const size_t size = strlen(prefix);

    return strncmp(run->out, prefix, size) == 0 ? run->out + size : NULL;
}

/* A folder under a name that we drew is new: somebody may have foreseen the
 * name, and put files there. */
static enum err make_drawn(struct run *run, struct why *why)
{
    enum err err = file_make_folder(RUNS_FOLDER, why);

    if (err == ERR_OK)
        err = file_check_folder(RUNS_FOLDER, why);
    if (err == ERR_OK)
        err = file_make_new_folder(run->out, why);
    for (uint32_t i = 0; i < DRAWS_MAX && err == ERR_EXISTS; i++) {
        new_name(run->out);
        err = file_make_new_folder(run->out, why);
    }
    return err;
}

enum err run_make_folder(struct run *run, struct why *why)
{
    const struct options *options = &run->cli->options;
    const bool drawn = !option_given(options, OPT_RESUME) &&
                       option_text(options, OPT_OUT) == NULL;
    enum err err;

    if (run->made)
        return ERR_OK;
    err = drawn ? make_drawn(run, why) : file_make_folder(run->out, why);
    if (err == ERR_OK)
        err = file_check_folder(run->out, why);
    run->made = err == ERR_OK;
    return err;
}

/* --- what is said with --resume ------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Is anything said that `kept` has not, or has otherwise?  Of a run that is
 * over, a copy of its model is no part of the run. */
static bool says_more(const struct run *run, const struct options *kept)
{
    const struct options *now = &run->cli->options;

    for (int id = 0; id < OPTIONS; id++) {
        const char *said = config_keeps(now, id) ? option_text(now, id) : NULL;
        const char *was = config_keeps(kept, id) ? option_text(kept, id) : NULL;

        if (run->ended != NULL && (id == OPT_SAVE || id == OPT_FORCE))
            continue;
        if (!same_text(said, was))
            return true;
    }
    return false;
}

/* For as long as they are written. */
static void swap_who(struct options *options, struct options *kept)
{
    for (size_t i = 0; i < WHO; i++) {
        const struct setting now = options->recipe.setting[who[i]];

        options->recipe.setting[who[i]] = kept->recipe.setting[who[i]];
        kept->recipe.setting[who[i]] = now;
    }
}

/* Has the journal there the configuration that is to go on?  What is refused
 * must not be remembered. */
static bool is_same_run(const struct run *run)
{
    const struct digest config = config_digest(run->setup);
    struct journal_summary journal = {0};
    struct folder folder;
    char path[FILE_PATH_SIZE];
    enum err err;

    ring_folder_journal(run->out, path);
    if (folder_open(&folder, path, NULL) != ERR_OK)
        return false;
    err = store_walk(&folder.disk, NULL, NULL, &journal);
    folder_close(&folder);
    return err == ERR_NOTFOUND ||
           (err == ERR_OK && digest_equal(&journal.config, &config));
}

/* A damaged file has nothing to be kept: data and options were said again. */
static void read_kept(const char *path, struct options *kept)
{
    if (config_check(path, NULL) == ERR_OK &&
        options_read_file(kept, path, NULL) != ERR_OK)
        options_close(kept);
}

static void keep_said(struct run *run, bool checked)
{
    struct options *options = &run->cli->options;
    const bool ranks = run->cli->ranks != NULL || run->left_by_ranks;
    struct options kept = {.shape = options->shape};
    struct why why = {0};
    char path[FILE_PATH_SIZE];
    bool there;

    file_path_in(run->out, CONFIG_FILE, path);
    read_kept(path, &kept);
    there = option_given(&kept, OPT_DATA) || option_given(&kept, OPT_OWNERS);
    if (ranks && there) /* An MPI said who, this time. */
        swap_who(options, &kept);
    if (says_more(run, &kept) && (checked || is_same_run(run)) &&
        config_write(options, path, &why) != ERR_OK)
        say_note(run->cli,
                 "muster: %s; options that are given with --resume are not "
                 "kept, and must be given with the next one again",
                 why.text);
    if (ranks && there)
        swap_who(options, &kept);
    options_close(&kept);
}

void run_keep_said(struct run *run)
{
    if (option_given(&run->cli->options, OPT_RESUME) && !run->said)
        keep_said(run, true);
    run->said = true;
}

/* What lies about in a folder is not the options of a run that begins.  Those
 * of a search, once its list is known to be the same. */
static enum err keep_options(struct run *run, bool resume, struct why *why)
{
    const struct options *options = &run->cli->options;
    char path[FILE_PATH_SIZE];

    file_path_in(run->out, CONFIG_FILE, path);
    if (!resume)
        return config_write(options, path, why);
    if (!option_given(options, OPT_GRID) && !option_given(options, OPT_FOLDS))
        keep_said(run, false);
    return ERR_OK;
}

enum err run_take_folder(struct run *run, struct why *why)
{
    const enum err err = run_make_folder(run, why);

    return err == ERR_OK ? format_take(run->out, &run->lock, why) : err;
}

void run_leave_folder(struct run *run)
{
    if (run->lock >= 0)
        format_leave(run->out, run->lock);
    run->lock = -1;
}

void run_shut_door(const struct run *run)
{
    char path[FILE_PATH_SIZE];

    ways_forget_address(run->out);
    file_path_in(run->out, LOCK_FILE, path);
    if (run->fresh && !format_holds_run(run->out))
        file_remove(path);
}

/* Nothing is written where another run is, or where we may not be. */
enum err run_open_folder(struct run *run, struct why *why)
{
    const bool resume = option_given(&run->cli->options, OPT_RESUME);
    const bool held = run->lock >= 0;
    int lock = -1;
    enum err err = run_make_folder(run, why);

    if (err == ERR_OK && run->setup->door == NULL) /* Which has it already. */
        err = format_lock(run->out, resume, &run->lock, &lock, why);
    if (err == ERR_OK && !run->gathered) /* Else they are there. */
        err = keep_options(run, resume, why);
    if (held && lock >= 0)
        run->lock = lock;
    else if (lock >= 0)
        file_unlock(lock);
    return err;
}

enum err run_point_latest(struct run *run, struct why *why)
{
    const char *name = name_of(run);
    char latest[RUN_NAME_SIZE];

    if (run->latest || !format_holds_run(run->out))
        return ERR_OK;
    run->latest = true;
    read_latest(latest);
    if (name == NULL || strcmp(latest, name) == 0)
        return ERR_OK;
    return file_link_atomic(name, LATEST_RUN, why);
}

/* --resume without a name means the newest run that is left. */
static void restore_latest(const struct run *run)
{
    const char *name = name_of(run);
    const struct newest newest = find_newest(true, false);
    char latest[RUN_NAME_SIZE];

    if (name == NULL)
        return;
    read_latest(latest);
    if (strcmp(latest, name) == 0 && newest.name[0] == '\0')
        file_remove(LATEST_RUN);
    else if (strcmp(latest, name) == 0)
        (void)!file_link_atomic(newest.name, LATEST_RUN, NULL);
    file_remove_folder(RUNS_FOLDER);
}

void run_close_folder(const struct run *run)
{
    char path[FILE_PATH_SIZE];

    if (!run->fresh || !file_exists(run->out) || !train_forget(run->out))
        return;
    file_path_in(run->out, CONFIG_FILE, path);
    file_remove(path);
    file_remove(run->history_path);
    file_path_in(run->out, LAUNCH_FILE, path);
    if (run->launched)
        file_remove(path);
    file_remove_folder(run->out);
    restore_latest(run);
}

/* A run alone is over before one would ask for it; a job may be queued again,
 * and its --resume must find what was done. */
bool run_stays(const struct run *run)
{
    return (run->cli->ranks != NULL || run->left_by_ranks) &&
           run->out[0] != '\0' && name_of(run) == NULL;
}

void run_discard(struct run *run)
{
    if (run->fit.keep == NULL || run_stays(run))
        return;
    keep_discard(run->fit.keep);
    fit_close(&run->fit);
    run->fresh = true; /* run_close_folder does the rest. */
}
