/*
 * train.c - `muster train`: check, run, save, report.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/files.h"
#include "cli/many.h"
#include "cli/mpi_ranks.h"
#include "cli/run.h"
#include "cli/show/announce.h"
#include "cli/show/card.h"
#include "cli/show/ending.h"
#include "learn/grid.h"
#include "learn/owners.h"
#include "learn/recipe/habit.h"
#include "learn/save.h"
#include "learn/workers.h"
#include "node/host/format.h"
#include "node/host/keep.h"
#include "node/host/result_file.h"
#include "os/file/file.h"
#include "os/file/input.h"
#include "os/net/notice.h"
#include "os/run/interrupt.h"

static enum err check_notice(const struct options *options, struct why *why)
{
    const struct notice_options notice = {
        .kind = option_text(options, OPT_PREEMPT_NOTICE),
        .address = option_text(options, OPT_PREEMPT_ADDRESS)};

    return notice_check(&notice, why);
}

/* What only the command line has to say of a run. */
static enum err check_rules(const struct run *run, struct why *why)
{
    const struct options *options = &run->cli->options;
    struct choices choices = {0};

    setup_choose(run->setup, &options->recipe, &choices);
    options_choose(options, &choices);
    if (!option_given(options, OPT_SAVE))
        choices_add(&choices, TRAIT(NO_SAVE), NULL);
    return rules_check(&choices, why);
}

enum err run_check_data(const struct options *options, struct why *why)
{
    if (option_text(options, OPT_DATA) != NULL ||
        option_text(options, OPT_DATA_PRIVATE) != NULL ||
        owners_wanted(&options->recipe))
        return ERR_OK;
    return why_set(
        why, ERR_SHAPE,
        "train on what? `muster train DATA MODEL` reads a file (csv, "
        "LIBSVM, npy, npz, IDX; - is standard input) and writes the "
        "model; gen:gmm as DATA draws some rows; `muster train "
        "--demo` shows a run that survives");
}

/* --topology mpi: which of them is this? */
static enum err find_ranks(struct run *run, struct why *why)
{
    const bool wanted = workers_mpi(&run->cli->options.recipe);
    enum err err = ERR_OK;

    if (wanted)
        err = ranks_open(run->cli, why);
    else if (run->cli->ranks != NULL)
        err = why_set(why, ERR_SHAPE,
                      "mpirun started %u of this command, and each of them "
                      "would go on with the run by itself; add --topology mpi",
                      collective_size(ranks_all(run->cli)));
    else
        ranks_warn(run->cli);
    run->setup->terms.ranks = ranks_here(run->cli);
    return err;
}

/* Of ranks, one has it. */
static bool wants_folder(const struct run *run)
{
    return run->setup->slots > 0 ||
           (run->cli->ranks != NULL && ranks_first(run->cli) &&
            option_given(&run->cli->options, OPT_OUT));
}

/* The first name is that of rows, which a run has already: one that there is
 * not was meant for the model. */
static enum err check_resumed_data(const struct options *options,
                                   struct why *why)
{
    const char *data = option_text(options, OPT_DATA);

    if (data == NULL || strchr(data, ':') != NULL || input_is_stream(data) ||
        file_exists(data))
        return ERR_OK;
    return why_set(why, ERR_NOTFOUND,
                   "%.200s: no such file; --resume reads the run's own rows, "
                   "and --save %.200s says where its model goes",
                   data, data);
}

static const char *begun_by(const struct cli *cli)
{
    const char *by = getenv(LAUNCHED_BY);

    if (by != NULL && *by != '\0')
        return by;
    return cli->ranks == NULL ? "muster" : "mpirun ... muster";
}

/* Then there is somebody who listens, and who holds the folder. */
static bool waits_for_owners(const struct run *run)
{
    const struct options *options = &run->cli->options;

    return owners_wanted(&options->recipe) &&
           !option_given(options, OPT_RESUME);
}

/* Somebody asks for an end before the first step. */
static void end_reading(void *context, int number)
{
    struct run *run = context;
    const bool resume = option_given(&run->cli->options, OPT_RESUME);
    const bool waits = waits_for_owners(run);
    int status = reading_status(number, resume);

    gate_lock(&run->gate); /* For good. */
    reading_forget(&run->reading);
    run_leave_folder(run);
    if (waits)
        run_shut_door(run);
    run_close_folder(run);
    if (resume)
        status = say_error(run->cli, status,
                           "stopped while rows were read; the run is as it "
                           "was: go on with: %s train --resume=%.300s",
                           begun_by(run->cli), run->out);
    else
        status = say_error(run->cli, status,
                           "stopped while rows were %s, before the first "
                           "step; nothing is kept: start it again",
                           waits ? "awaited" : "read");
    _exit(status);
}

/* Ranks are ended by their launcher. */
static enum err begin_reading(struct run *run, struct why *why)
{
    run->reading.folder =
        run->lock >= 0 && !waits_for_owners(run) ? run->out : NULL;
    run->reading.end = end_reading;
    run->reading.context = run;
    return run->cli->ranks == NULL ? reading_begin(&run->reading, why) : ERR_OK;
}

static enum err prepare(struct run *run, struct why *why)
{
    struct options *options = &run->cli->options;
    const bool resume = option_given(options, OPT_RESUME);
    enum err err = ERR_OK;

    if (option_flag(options, OPT_DEMO))
        err = demo_settings(options, run->screen.mode == SCREEN_BLOCK, why);
    if (err == ERR_OK && resume)
        err = check_resumed_data(options, why);
    if (err == ERR_OK && resume)
        err = run_choose_folder(run, why);
    if (err == ERR_OK && resume)
        err = files_check(options, why); /* It has just read them. */
    if (err == ERR_OK && resume)
        run->ended =
            train_ended_with(run->out, &run->ended_dims, &run->ended_steps);
    if (err == ERR_OK)
        err = run_check_data(options, why);
    run->setup->terms.alone =
        resume && err == ERR_OK && keep_is_alone(run->out);
    if (err == ERR_OK)
        err = find_ranks(run, why);
    if (err == ERR_OK && option_given(options, OPT_GRID))
        err = grid_check(&options->recipe, why);
    if (err == ERR_OK)
        err = setup_workers(run->setup, &options->recipe, why);
    if (err == ERR_OK)
        err = check_rules(run, why);
    if (err == ERR_OK && !resume && wants_folder(run))
        err = run_choose_folder(run, why);
    if (err == ERR_OK)
        err = cluster_check_listen(options, why);
    if (err == ERR_OK)
        err = check_notice(options, why);
    /* Owners are called to it while rows are loaded; and nobody else may begin
     * there meanwhile, but `muster stop` is heard. */
    interrupt_block();
    if (err == ERR_OK && owners_wanted(&options->recipe))
        err = run_make_folder(run, why);
    if (err == ERR_OK && run->setup->slots > 0)
        err = run_take_folder(run, why);
    run->setup->folder = run->out;
    run->setup->lock = &run->lock;
    if (err == ERR_OK)
        err = begin_reading(run, why);
    interrupt_unblock();
    if (err == ERR_OK)
        err = setup_load(run->setup, &options->recipe, why);
    return err;
}

/* Whoever coordinates was stopped before it had a journal: the folder goes. */
static bool is_kept(const struct run *run)
{
    return run->setup->slots == 0 || run->cli->ranks != NULL ||
           format_holds_run(run->out);
}

static int exit_code(const struct run *run, const struct train_result *result)
{
    if (run_is_bad(result))
        return EXIT_FAILED;
    if (run_is_done(result))
        return EXIT_DONE;
    return reading_status(result->signal, is_kept(run));
}

/* The demo's claim is checked each time it is made. */
static int finish_demo(struct run *run, const struct train_result *result,
                       const char *saved)
{
    struct card card;
    struct why why = {0};
    const enum err err = card_measure(run, result, &card, &why);

    if (err != ERR_OK)
        return say_why(run->cli, err, &why);
    result_show(run, result, saved, &card);
    if (digest_equal(&card.ours, &card.perfect))
        return EXIT_DONE;
    say_aloud("muster: the model differs from one perfect machine's, which is "
              "a bug; please report it with the folder %s",
              run->out);
    return EXIT_FAILED;
}

static void tell_stopped(const struct run *run,
                         const struct train_result *result)
{
    const char *by = begun_by(run->cli);

    if (run->setup->slots == 0 && run->fit.keep == NULL)
        say_aloud("muster: stopped at step %u; the state could not be saved: "
                  "%s",
                  result->steps, run->fit.keep_why.text);
    else if (!is_kept(run))
        say_aloud("muster: stopped before the first step; nothing is kept: "
                  "start it again");
    else if (result->saved == result->steps)
        say_aloud("muster: stopped at step %u, state saved; go on with: "
                  "%s train --resume=%s",
                  result->steps, by, run->out);
    else
        say_aloud("muster: stopped at step %u; the disk failed, and the state "
                  "is saved as of step %u only; see to the disk, then go on "
                  "with: %s train --resume=%s",
                  result->steps, result->saved, by, run->out);
}

/* Who names a folder for the run may think it is the model. */
static void tell_no_file(const struct run *run)
{
    if (option_given(&run->cli->options, OPT_OUT))
        say_note(run->cli,
                 "muster: no file was named for the model; `muster train "
                 "--resume=%s --save FILE` writes it",
                 run->out);
}

/* The step that --resume goes on from; 0: none was saved. */
static uint32_t saved_step(const struct run *run,
                           const struct train_result *result)
{
    struct run_result last;

    if (run->setup->slots == 0)
        return run->fit.keep == NULL ? 0 : keep_step(run->fit.keep);
    if (result_read(run->out, -1, &last, NULL) != ERR_OK)
        return result->saved;
    mem_free(last.weights);
    return last.steps;
}

/* The work is not lost with the file. */
static int tell_unsaved(struct run *run, const struct train_result *result,
                        enum err err, struct why *why)
{
    const uint32_t saved =
        run->ended != NULL ? result->steps : saved_step(run, result);
    const struct why first = *why;
    char aside[FILE_PATH_SIZE];

    if (saved == result->steps)
        (void)why_set(why, err,
                      "%.300s; the run is kept: `muster train --resume=%.300s "
                      "--save FILE` writes its model elsewhere",
                      first.text, run->out);
    else if (save_aside(run->setup, result->weights, aside))
        (void)why_set(why, err, "%.200s; the model is in %.300s instead",
                      first.text, aside);
    else if (saved > 0)
        (void)why_set(why, err,
                      "%.200s; of the run step %u is kept: `muster train "
                      "--resume=%.200s --save FILE` goes on from there",
                      first.text, saved, run->out);
    else
        (void)why_set(why, err, "%.300s; nothing of the run is kept",
                      first.text);
    if (!run->cli->json)
        result_show(run, result, NULL, NULL);
    return say_why(run->cli, err, why);
}

static int finish(struct run *run, struct train_result *result)
{
    const bool demo = option_flag(&run->cli->options, OPT_DEMO);
    const bool done = run_is_done(result);
    const char *path;
    struct why why = {0};
    const enum err err = run_settle(run, result, &path, &why);

    if (run->ended != NULL && result->steps == run->ended_steps)
        say_note(run->cli,
                 "muster: the run in %s is finished; nothing "
                 "remained to be done",
                 run->out);
    if (err != ERR_OK)
        return tell_unsaved(run, result, err, &why);
    if (run->setup->slots > 0) {
        json_t *object = result_json(run, result, path);

        history_write(run, object);
        json_decref(object);
    }
    if (demo && result->finished)
        return finish_demo(run, result, path);
    result_show(run, result, path, NULL);
    if (!done)
        tell_stopped(run, result);
    else if (path == NULL && !run_is_bad(result))
        tell_no_file(run);
    run_tell_bad(result);
    return exit_code(run, result);
}

static int failed(const struct run *run, enum err err, const struct why *why)
{
    /* All workers gone, state saved: who starts it again goes on from there. */
    const int status = err == ERR_CLOSED ? EXIT_PREEMPTED : EXIT_FAILED;

    if (err == ERR_CANCELLED)
        return say_why(run->cli, err, why);

    return say_error(run->cli, status, "%s",
                     why->text[0] == '\0' ? err_text(err) : why->text);
}

static int execute_one(struct run *run)
{
    struct train_result result = {0};
    struct why why = {0};
    enum err err;
    int status;

    if (run->setup->slots > 0 || run->cli->ranks != NULL)
        setup_know(run->setup, &run->setup->data); /* Many ask. */
    err = run->setup->slots == 0 ? run_alone(run, true, &result, &why)
                                 : run_cluster(run, &result, &why);
    if (err != ERR_OK)
        status = failed(run, err, &why);
    else
        status = ranks_first(run->cli) ? finish(run, &result)
                                       : exit_code(run, &result);
    /* There is nothing to go on from in a run that diverged or is blind. */
    if (result.finished && (status == EXIT_DONE || run_is_bad(&result)))
        run_discard(run);
    train_result_close(&result);
    history_close(&run->history);
    return status;
}

static int execute(struct run *run)
{
    const struct options *options = &run->cli->options;

    if (option_given(options, OPT_GRID))
        return grid_command(run);
    if (!option_given(options, OPT_FOLDS))
        return execute_one(run);
    return cross_command(run);
}

static int prepare_and_execute(struct run *run)
{
    struct why why = {0};
    enum err err;

    screen_init(&run->screen, run->cli->quiet);
    progress_init(&run->progress);
    err = ranks_agree(run->cli, prepare(run, &why), &why);
    if (err != ERR_OK) {
        reading_end(&run->reading);
        if (err == ERR_CANCELLED) /* `muster stop` while owners were awaited. */
            return say_error(run->cli, EXIT_PREEMPTED, "%s", why.text);
        return say_why(run->cli, err, &why);
    }
    announce_run(run->cli, run->setup);
    return execute(run);
}

/* Both are large, and stacks may be small. */
int train_command(struct cli *cli)
{
    struct setup *setup = mem_new(1, sizeof *setup);
    struct run *run = mem_new(1, sizeof *run);
    int status = EXIT_FAILED;

    if (setup == NULL || run == NULL) {
        (void)say_error(cli, status, "out of memory");
    } else {
        run->cli = cli;
        run->setup = setup;
        run->lock = -1;
        setup->terms.note = tell_note;
        gate_init(&run->gate);
        setup->terms.gate = &run->gate;
        status = prepare_and_execute(run);
        reading_end(&run->reading); /* Of a search with a mistake in it. */
        setup_close(setup);
        fit_close(&run->fit);
        mem_free(run->ended);
        run_leave_folder(run);
        run_close_folder(run);
        gate_close(&run->gate);
    }
    mem_free(run);
    mem_free(setup);
    return status;
}
