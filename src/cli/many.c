/*
 * many.c - progress and Ctrl-C of folds and grids, and the run's folder where
 * workers train them.
 */
#include "cli/many.h"

#include <stdio.h>

#include "cli/run.h"
#include "cli/show/metrics_show.h"
#include "learn/card/json.h"
#include "learn/series/series.h"
#include "os/clock.h"
#include "os/file/file.h"
#include "os/run/interrupt.h"

#define KEPT_MAX 4096u

static const char *const files[] = {SEARCH_FILE};
const struct names many_names = NAMES_OF(files);

/* Quick ones are over before a line could be read.  One call a line: other
 * threads speak too. */
static void done(void *context, const struct trial *trial, uint32_t fold)
{
    const struct many *many = context;

    if (many->run->cli->quiet || clock_now_us() - many->began <= SECOND_US ||
        (many->series != NULL && many->run->screen.mode == SCREEN_BLOCK))
        return;
    (void)fprintf(stderr, "%s%sfold %u/%u: %u steps, %.1f s\n", trial->text,
                  trial->text[0] == '\0' ? "" : ", ", fold + 1, trial->folds,
                  trial->fold[fold].steps, trial->fold[fold].seconds);
}

/* --- with workers --------------------------------------------------------- */

/* The picture stays where it is, of the next training now. */
static void begin(void *context, const struct setup *part, uint32_t over,
                  uint32_t count)
{
    struct run *const run = ((struct many *)context)->run;

    run_keep_said(run); /* Its list is that of the series, or none began. */
    run_forget(run);
    run_describe(run, part);
    (void)snprintf(run->screen.extra, sizeof run->screen.extra,
                   "training %u of %u", over + 1, count);
    run->gathered = true;
    (void)fflush(NULL); /* Whoever is forked must not print it again. */
}

static void see(void *context, const struct trace *trace)
{
    run_see(((struct many *)context)->run, trace);
}

static enum err ready(void *context, struct why *why)
{
    struct run *const run = ((struct many *)context)->run;
    const enum err err = run_open_folder(run, why);
    char path[FILE_PATH_SIZE];

    if (err != ERR_OK)
        return err;
    file_path_in(run->out, SEARCH_FILE, path);
    file_remove(path); /* It is under way again. */
    say_note(run->cli, "muster: %s%u worker%s%s, code %s; run %s",
             recipe_tries(&run->cli->options.recipe, OPT_N) ? "up to " : "",
             run->setup->slots, run->setup->slots == 1 ? "" : "s",
             run->setup->local < run->setup->slots ? " awaited" : "",
             setup_code_name(run->setup), run->out);
    return ERR_OK;
}

static enum err open_series(struct many *many, struct why *why)
{
    struct run *const run = many->run;
    const struct series_options options = {
        .setup = run->setup,
        .recipe = &run->cli->options.recipe,
        .folder = run->out,
        .more = option_given(&run->cli->options, OPT_SAVE),
        .absent = &run->absent,
        .stop = &many->stop,
        .context = many,
        .ready = ready,
        .begin = begin,
        .trace = see};

    return series_open(&options, &many->series, why);
}

/* Not worth failing for: it is shown, and shown again by --resume. */
void many_keep(const struct run *run, const struct trial *best,
               uint32_t trainings)
{
    char path[FILE_PATH_SIZE], line[256], text[KEPT_MAX];
    json_t *object;
    size_t size;

    if (run->setup->slots == 0)
        return;
    metrics_list(&best->metrics, &run->setup->encoder.classes,
                 run->setup->metric, METRICS_SHOWN, line, sizeof line);
    object = json_pack("{s:I, s:s, s:s, s:o, s:b}", "trainings",
                       (json_int_t)trainings, "best", best->text, "line", line,
                       "metrics", metrics_object(&best->metrics), "diverged",
                       (int)best->diverged);
    size = json_dumpb(object, text, sizeof text, JSON_REAL_PRECISION(17));
    json_decref(object);
    file_path_in(run->out, SEARCH_FILE, path);
    if (size == 0 || size > sizeof text ||
        file_write_atomic(path, text, size, 0600, NULL) != ERR_OK)
        say_note(run->cli, "muster: %s could not be written", path);
}

/* --- both ----------------------------------------------------------------- */

enum err many_begin(struct many *many, struct run *run, struct why *why)
{
    enum err err = ERR_OK;

    *many = (struct many){.run = run, .began = clock_now_us()};
    interrupt_begin(&many->stop);
    reading_over(&run->reading, &many->stop);
    if (run->setup->slots > 0)
        err = open_series(many, why);
    many->hooks = (struct trial_hooks){.context = many,
                                       .done = done,
                                       .stop = &many->stop,
                                       .series = many->series};
    return err;
}

void many_end(struct many *many)
{
    interrupt_end();
    if (many->series != NULL)
        screen_end(&many->run->screen, &many->run->progress, NULL, 0);
    many->run->screen.extra[0] = '\0';
    run_forget(many->run); /* The refit has a coordinator of its own. */
    many->seconds = (double)(clock_now_us() - many->began) / (double)SECOND_US;
}

int many_failed(const struct many *many, enum err err, const struct why *why)
{
    int number = interrupt_signal();

    /* All workers gone, state saved: as of a single run. */
    if (err == ERR_CLOSED && many->series != NULL)
        return say_error(many->run->cli, EXIT_PREEMPTED, "%s", why->text);
    if (err != ERR_CANCELLED || many->series == NULL)
        return say_why(many->run->cli, err, why);
    if (series_signal(many->series) != 0)
        number = series_signal(many->series);
    return say_error(many->run->cli,
                     number == INTERRUPT_INT ? EXIT_SIGNAL + number
                                             : EXIT_PREEMPTED,
                     "%s", why->text);
}

void many_close(struct many *many)
{
    series_close(many->series);
    many->series = NULL;
}

void many_json(const struct run *run, json_t *object)
{
    if (run->setup->slots == 0)
        return;
    (void)json_object_set_new(object, "run", name_json(run->out));
    (void)json_object_set_new(object, "code",
                              json_string(setup_code_name(run->setup)));
}
