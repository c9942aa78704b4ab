/*
 * cluster.c - a run with processes, watched.
 */
#include <string.h>

#include "base/mem.h"
#include "cli/run.h"
#include "learn/address.h"
#include "learn/workers.h"
#include "node/host/ways.h"
#include "os/clock.h"
#include "os/file/file.h"
#include "os/net/net.h"
#include "os/run/interrupt.h"

enum err cluster_check_listen(const struct options *options, struct why *why)
{
    const char *listen = option_text(options, OPT_LISTEN);
    const char *interface = option_text(options, OPT_INTERFACE);
    char text[ADDRESS_SIZE];
    enum err err = ERR_OK;

    if (interface != NULL) {
        err = address_of_interface(interface, listen, text, why);
        listen = text;
    }
    if (err != ERR_OK)
        return err;
    err = address_check(
        listen, option_text(options, OPT_TOKEN_FILE),
        "make one with `muster token new cluster.token` and add --token-file "
        "cluster.token",
        why);
    return err == ERR_SHAPE || err == ERR_RANGE ? why_in(why, err, "--listen")
                                                : err;
}

bool cluster_announce(const struct cli *cli, const char *folder, bool hollow)
{
    const char *token = option_text(&cli->options, OPT_TOKEN_FILE);
    const char *listen = option_text(&cli->options, OPT_LISTEN);
    char path[FILE_PATH_SIZE];
    char text[ADDRESS_SIZE];
    uint8_t *address;
    size_t size;

    file_path_in(folder, ADDRESS_FILE, path);
    if (file_read_plain(path, FILE_PATH_SIZE, &address, &size, NULL) != ERR_OK)
        return false;
    address[strcspn((char *)address, "\n")] = '\0';
    if (workers_ring(&cli->options.recipe))
        say_note(cli,
                 "muster: to add a machine: the same command there, with its "
                 "own --listen%s, and --peers %s",
                 hollow ? " and --data-private" : "",
                 address_for_others(listen, (const char *)address, text));
    else
        say_note(cli, "muster: to add a %s: muster join %s%s%s%s",
                 token == NULL ? "worker" : "machine",
                 token == NULL
                     ? folder
                     : address_for_others(listen, (const char *)address, text),
                 token == NULL ? "" : " --token-file ",
                 token == NULL ? "" : token,
                 hollow ? " --data-private FILE" : "");
    mem_free(address);
    return true;
}

static void announce(struct run *run)
{
    run->announced = cluster_announce(run->cli, run->out, run->setup->hollow);
    if (run->announced)
        run->screen.rows = 0; /* The block starts anew below. */
}

/* The run goes on without. */
static void point_latest(struct run *run)
{
    struct why why = {0};

    if (run_point_latest(run, &why) != ERR_OK)
        say_note(run->cli, "muster: %s", why.text);
}

void run_see(struct run *run, const struct trace *trace)
{
    const time_us now = clock_now_us();
    uint32_t count;
    const struct train_process *processes = train_processes(&count);

    if (!run->announced && option_given(&run->cli->options, OPT_LISTEN))
        announce(run);
    point_latest(run);
    if (trace != NULL)
        progress_event(&run->progress, trace);
    if (trace != NULL && trace->kind == TRACE_COMMIT)
        run->progress.objective *=
            run->setup->shown_factor; /* As it is shown. */
    for (uint32_t i = 0; i < count; i++)
        if (processes[i].pid == 0)
            progress_gone(&run->progress, processes[i].name);
    progress_tick(&run->progress, now);
    screen_update(&run->screen, &run->progress, trace, processes, count, now);
}

static void see(void *context, const struct trace *trace)
{
    struct run *run = context;

    if (trace != NULL && option_given(&run->cli->options, OPT_RECORD))
        recorder_event(&run->recorder, trace);
    if (trace != NULL) {
        trace_file_event(&run->trace, trace);
        history_event(&run->history, trace, run->setup->shown_factor);
        if (trace->kind == TRACE_JOINED) /* Of its first, and of the next's. */
            history_look(run);
    }
    run_see(run, trace);
    if (trace == NULL) {
        const time_us now = clock_now_us();

        curve_look(&run->curve, run->setup, run->out, now);
        history_tick(run, now);
    }
}

/* What a numeric code was found to be good for. */
static void note_certificate(const struct run *run)
{
    const struct certificate *seen = &run->setup->certificate;

    if (seen->patterns == 0 || run->setup->code.placement == PLACE_LOCAL ||
        run->setup->code.placement == PLACE_STALE)
        return;
    say_note(run->cli,
             "muster: code %s: residual %.1e at worst over %s%u patterns of "
             "%u silent workers; class %s",
             run->setup->code.name, seen->worst_residual,
             seen->exhaustive ? "all " : "", seen->patterns,
             run->setup->code.stragglers,
             exactness_name(run->setup->exactness));
}

static enum err run_watched(struct run *run, struct train_result *result,
                            struct why *why)
{
    struct why second = {0};
    enum err err, traced;

    history_init(&run->history);
    curve_init(&run->curve);
    history_choose(run);
    err = fit_run(&run->fit, result, why);
    point_latest(run);
    curve_end(&run->curve);
    if (err != ERR_OK)
        history_write(run, NULL);

    screen_end(&run->screen, &run->progress, NULL, 0);
    if (err == ERR_OK && option_given(&run->cli->options, OPT_RECORD))
        err = recorder_write(&run->recorder,
                             option_text(&run->cli->options, OPT_RECORD), why);
    /* A run that failed has a trace, too: then it is wanted most. */
    traced = trace_file_close(&run->trace, err == ERR_OK ? why : &second);
    return err == ERR_OK ? traced : err;
}

void run_forget(struct run *run)
{
    progress_init(&run->progress);
    run->screen.began_at = 0;
    run->screen.told_step = 0;
    run->screen.coordinator = 0;
}

void run_describe(struct run *run, const struct setup *setup)
{
    const struct optim_options optim = setup_optim(setup, &setup->code);

    run_show_steps(run, &optim);
    run->screen.code = setup_code_name(setup);
    run->screen.waiting =
        waiting_for(setup->slots, setup->local,
                    option_given(&run->cli->options, OPT_RESUME));
    if (setup->hollow || run->gathered)
        run->screen.waiting.remote = false; /* They came already. */
}

static void describe(struct run *run)
{
    const bool away = run->setup->local < run->setup->slots;

    run_describe(run, run->setup);
    /* Local workers can be killed; the invitation is honest anywhere. */
    run->screen.invite =
        run->setup->local > 0 && option_flag(&run->cli->options, OPT_DEMO);
    say_note(run->cli, "muster: %u worker%s%s, code %s; run %s",
             run->setup->slots, run->setup->slots == 1 ? "" : "s",
             away ? " awaited" : "", setup_code_name(run->setup), run->out);
    note_certificate(run);
    /* Whoever is forked must not print again what waits here. */
    (void)fflush(NULL);
}

static enum err run_in_folder(struct run *run, struct train_result *result,
                              struct why *why)
{
    enum err err = run_open_folder(run, why);

    if (err != ERR_OK)
        return err;
    run->fit = (struct fit){
        .setup = run->setup,
        .recipe = &run->cli->options.recipe,
        .stop = &run->stop,
        .context = run,
        .trace = see,
        .stints = option_given(&run->cli->options, OPT_TRACE),
        .folder = run->out,
        .gathered = run->gathered,
        .absent = &run->absent,
    };
    describe(run);
    err = trace_file_open(&run->trace,
                          option_text(&run->cli->options, OPT_TRACE), why);
    if (err == ERR_OK)
        err = run_watched(run, result, why);
    recorder_close(&run->recorder);
    return err;
}

/* A signal that comes before the supervisor waits for one must not leave a
 * folder with nothing to go on from. */
enum err run_cluster(struct run *run, struct train_result *result,
                     struct why *why)
{
    enum err err;

    interrupt_begin(&run->stop);
    reading_over(&run->reading, &run->stop);
    err = run_in_folder(run, result, why);
    if (!result->finished && result->signal == 0)
        result->signal = interrupt_signal();
    run_hold(err, result);
    return err;
}
