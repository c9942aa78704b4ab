/*
 * launch.c - `muster launch ENGINE -- train ...`: the table of engines, and
 * what is the same for all of them: the job, its folder, its key, its workers'
 * names.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/launch/engine.h"
#include "learn/address.h"
#include "node/host/format.h"
#include "node/host/ways.h"
#include "os/file/file.h"

static const struct engine *const engines[] = {&engine_ssh, &engine_slurm,
                                               &engine_ranks};

static const struct engine *find_engine(const char *name)
{
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        if (name != NULL && strcmp(engines[i]->name, name) == 0)
            return engines[i];
    return NULL;
}

/* --- the job ------------------------------------------------------------- */

static bool engine_takes(const struct engine *engine, int id)
{
    for (uint32_t k = 0; k < ENGINE_OPTIONS; k++)
        if (engine->options[k] == id)
            return true;
    return false;
}

static enum err refuse_option(int id, struct why *why)
{
    char names[80] = "";
    size_t size = 0;

    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        if (engine_takes(engines[i], id))
            size += (size_t)snprintf(
                names + size, sizeof names - size, "%s`muster launch %s`",
                size == 0 ? "" : " and ", engines[i]->name);
    return why_set(why, ERR_SHAPE, "--%s is for %s", option_row(id)->name,
                   names);
}

/* The first thing that is wrong; those behind it are told with it. */
struct trouble {
    enum err err;
    struct why why;
};

static void add(struct launch *launch, enum err err, const struct why *why,
                struct trouble *trouble)
{
    if (err == ERR_OK)
        return;
    if (trouble->err == ERR_OK)
        *trouble = (struct trouble){err, *why};
    else
        options_note(&launch->cli->options, why);
}

/* Is it named by an engine that comes before, too? */
static bool is_seen(size_t engine, int id)
{
    for (size_t i = 0; i < engine; i++)
        if (engine_takes(engines[i], id))
            return true;
    return false;
}

/* What another engine would understand is not passed over in silence. */
static void check_options(struct launch *launch, struct trouble *trouble)
{
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        for (uint32_t k = 0; k < ENGINE_OPTIONS; k++) {
            const int id = engines[i]->options[k];
            struct why why = {0};

            if (id != 0 && !engine_takes(launch->engine, id) &&
                !is_seen(i, id) && option_given(&launch->cli->options, id))
                add(launch, refuse_option(id, &why), &why, trouble);
        }
}

static enum err check_job(const struct launch *launch, struct why *why)
{
    const struct options *options = &launch->cli->options;

    if (options->rest_count > 0 && strcmp(options->rest[0], "train") == 0)
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "launch what? the job stands behind two dashes: `muster "
                   "launch %s%s -- train data.svm model.txt%s`",
                   launch->engine->name, launch->engine->example,
                   launch->engine->example_job);
}

/* Mistakes are found here, before any machine is asked. */
static enum err parse_job(struct launch *launch, struct why *why)
{
    const struct options *options = &launch->cli->options;
    struct cli *job = &launch->job;
    enum err err;

    launch->run->cli = job;
    job->command = command_find("train");
    launch->words = options->rest + 1;
    launch->word_count = options->rest_count - 1;
    err = options_parse(&job->options, &job->command->shape,
                        (int)launch->word_count, options->rest + 1, why);
    launch->key_typed = option_given(&job->options, OPT_TOKEN_FILE);
    launch->workers_typed = option_given(&job->options, OPT_WORKERS);
    return err;
}

static enum err check_topology(const struct launch *launch, struct why *why)
{
    const char *topology = option_text(&launch->job.options, OPT_TOPOLOGY);

    if (topology != NULL && strcmp(topology, "star") != 0)
        return why_set(why, ERR_SHAPE,
                       "launch starts a coordinator and its workers, a star; "
                       "--topology %s has no coordinator, and its processes "
                       "are started otherwise: docs/engines.md",
                       topology);
    return ERR_OK;
}

/* Workers beside the coordinator are none that this engine starts. */
static enum err check_local(const struct launch *launch, struct why *why)
{
    const uint64_t count = option_count(&launch->job.options, OPT_N);

    if (launch->engine->no_local == NULL || count == 0)
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "-n %llu would start workers on the coordinator's machine, "
                   "beside those of %s",
                   (unsigned long long)count, launch->engine->no_local);
}

enum err launch_check_free(const struct launch *launch, struct why *why)
{
    char path[FILE_PATH_SIZE];

    file_path_in(launch->run->out, LOCK_FILE, path);
    if (!file_locked(path))
        return ERR_OK;
    return why_set(why, ERR_EXISTS,
                   "%.200s: a run is going on in this folder; `muster stop "
                   "%.200s` ends it, its state saved",
                   launch->run->out, launch->run->out);
}

enum err launch_take(struct launch *launch, struct why *why)
{
    const char *out = launch->run->out;
    char path[FILE_PATH_SIZE];
    enum err err = run_make_folder(launch->run, why);

    if (err != ERR_OK)
        return err;
    file_path_in(out, LAUNCH_FILE, path);
    err = file_lock(path, &launch->lock, why);
    if (err == ERR_EXISTS && launch_check_free(launch, why) == ERR_OK)
        return why_set(why, err,
                       "%.200s: another `muster launch` is at work in this "
                       "folder; wait for its end, or choose another --out",
                       out);
    if (err == ERR_OK)
        err = launch_check_free(launch, why);
    /* Its own files come before the run does. */
    if (err == ERR_OK && !format_holds_run(out))
        err = format_write(out, why);
    return err;
}

/* What was made for a run that was not begun goes; all of it is ours while the
 * lock is held. */
static void leave(struct launch *launch)
{
    char path[FILE_PATH_SIZE];

    if (launch->lock < 0)
        return;
    launch->run->launched = true;
    run_close_folder(launch->run);
    file_path_in(launch->run->out, LAUNCH_FILE, path);
    file_remove(path);
    file_unlock(launch->lock);
}

enum err launch_open_key(struct launch *launch, struct why *why)
{
    const char *given = option_text(&launch->job.options, OPT_TOKEN_FILE);

    if (given != NULL && (launch->key_typed || file_exists(given))) {
        if (strlen(given) >= sizeof launch->token_file)
            return why_set(why, ERR_RANGE,
                           "--token-file: the name is too long");
        (void)snprintf(launch->token_file, sizeof launch->token_file, "%s",
                       given);
        return token_given(given, true, &launch->token, why);
    }
    (void)snprintf(launch->token_file, sizeof launch->token_file, "%s/%s",
                   launch->run->out, TOKEN_FILE);
    return ways_keep_token(launch->run->out, &launch->token, why);
}

/* Where --listen names one address of this machine, that is what others dial;
 * else, what they see of it. */
static enum err choose_dial(struct launch *launch, struct why *why)
{
    const struct options *job = &launch->job.options;
    const char *listen = option_text(job, OPT_LISTEN);
    struct net_address address = {.host = ""};
    char text[ADDRESS_SIZE];

    if (option_text(job, OPT_INTERFACE) != NULL) {
        const enum err err = address_of_interface(
            option_text(job, OPT_INTERFACE), listen, text, why);

        if (err != ERR_OK)
            return err;
        listen = text;
    }
    if (listen == NULL)
        return ERR_OK;
    if (net_parse(listen, &address, why) != ERR_OK)
        return why_in(why, ERR_RANGE, "--listen");
    if (strcmp(address.host, "0.0.0.0") == 0 || strcmp(address.host, "::") == 0)
        return ERR_OK;
    (void)snprintf(launch->dial, sizeof launch->dial,
                   strchr(address.host, ':') == NULL ? "%.250s" : "[%.250s]",
                   address.host[0] == '\0' ? "127.0.0.1" : address.host);
    return ERR_OK;
}

/* --- stations ---------------------------------------------------------------
 */

static enum err make_stations(struct launch *launch, struct why *why)
{
    const struct hosts *hosts = &launch->hosts;
    char(*names)[NAME_SIZE] = mem_new(hosts->slots, sizeof *names);
    uint32_t at = 0;
    enum err err;

    launch->stations = mem_new(hosts->slots, sizeof *launch->stations);
    launch->places = mem_new(hosts->count, sizeof *launch->places);
    if (names == NULL || launch->stations == NULL || launch->places == NULL) {
        mem_free(names);
        return why_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    }
    err = hosts_name(hosts, names, why);
    for (uint32_t i = 0; i < hosts->count; i++)
        for (uint32_t k = 0; k < hosts->list[i].slots; k++) {
            launch->stations[at].host = i;
            memcpy(launch->stations[at].name, names[at], NAME_SIZE);
            at++;
        }
    launch->station_count = at;
    mem_free(names);
    return err;
}

/* --- the command --------------------------------------------------------- */

static void close_launch(struct launch *launch)
{
    leave(launch);
    token_close(&launch->token);
    hosts_close(&launch->hosts);
    mem_free(launch->stations);
    mem_free(launch->places);
    options_close(&launch->job.options);
    mem_free(launch->run);
}

/* --help and --print-config of the job ask, and start nothing. */
static bool only_asks(struct launch *launch)
{
    const struct options *job = &launch->job.options;

    if (option_flag(job, OPT_HELP))
        help_of(launch->job.command, job->help_all);
    else if (option_flag(job, OPT_PRINT_CONFIG))
        config_print(&launch->job);
    else
        return false;
    return true;
}

/* All that is wrong with the words, of the engine and of the job. */
static enum err parse(struct launch *launch, struct why *why)
{
    const struct options *const job = &launch->job.options;
    struct trouble trouble = {.err = check_job(launch, why)};
    struct why found = {0};
    enum err err;

    if (trouble.err != ERR_OK)
        return trouble.err;
    check_options(launch, &trouble);
    add(launch, launch->engine->parse(launch, &found), &found, &trouble);
    err = parse_job(launch, &found);
    add(launch, err, &found, &trouble);
    for (uint32_t i = 0; i < job->other_count; i++)
        add(launch, err, &job->others[i], &trouble);
    if (err == ERR_OK && !option_flag(job, OPT_HELP) &&
        !option_flag(job, OPT_PRINT_CONFIG)) {
        add(launch, check_topology(launch, &found), &found, &trouble);
        add(launch, check_local(launch, &found), &found, &trouble);
    }
    if (trouble.err != ERR_OK)
        *why = trouble.why;
    return trouble.err;
}

static int run_launch(struct launch *launch)
{
    struct why why = {0};
    int code;
    enum err err = parse(launch, &why);

    if (err == ERR_OK && only_asks(launch))
        return EXIT_DONE;
    if (err == ERR_OK && launch->engine->follow != NULL &&
        launch->engine->follow(launch, &code))
        return code;
    if (err == ERR_OK)
        err = run_choose_folder(launch->run, &why);
    if (err == ERR_OK && !option_flag(&launch->job.options, OPT_DEMO))
        err = run_check_data(&launch->job.options, &why);
    if (err == ERR_OK && !option_flag(&launch->cli->options, OPT_PRINT))
        err = launch_take(launch, &why);
    if (err == ERR_OK && launch->engine->submit != NULL)
        return launch->engine->submit(launch);
    if (err == ERR_OK)
        err = make_stations(launch, &why);
    if (err == ERR_OK)
        err = choose_dial(launch, &why);
    if (err == ERR_OK)
        err = launch_open_key(launch, &why);
    return err == ERR_OK ? supervise(launch) : say_why(launch->cli, err, &why);
}

int launch_command(struct cli *cli)
{
    const char *name = option_text(&cli->options, OPT_ENGINE);
    struct launch launch = {
        .cli = cli,
        .engine = find_engine(name),
        .lock = -1,
        .run = mem_new(1, sizeof *launch.run),
    };
    int code;

    if (launch.engine == NULL) {
        mem_free(launch.run);
        return say_error(cli, EXIT_USAGE,
                         "with what? `muster launch ssh --hosts node1,node2 -- "
                         "train data.svm model.txt`");
    }
    if (launch.run == NULL)
        return say_error(cli, EXIT_FAILED, "out of memory");
    code = run_launch(&launch);
    close_launch(&launch);
    return code;
}
