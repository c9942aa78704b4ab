/*
 * join.c - `muster join`: this machine works for a coordinator, or is a peer of
 * a ring; which of the two it finds out when it is there.
 */
#include "base/time.h"
#include "cli/cli.h"
#include "learn/address.h"
#include "learn/recipe/input.h"
#include "learn/ring/joined.h"
#include "learn/save.h"
#include "node/fixed/mpi.h"
#include "node/host/ways.h"
#include "node/worker/worker_node.h"
#include "os/file/depot.h"
#include "os/file/file.h"
#include "os/run/confine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A coordinator that is gone for so long will not come back: better to free
 * the machine than to knock for ever. */
#define GIVE_UP_US (60 * SECOND_US)

#define PATH_SIZE 1024u
#define GIB       1073741824.0

/* Where chunks are kept; NULL: nowhere. */
static const char *depot_of(const struct options *options, char path[PATH_SIZE])
{
    const char *given = option_text(options, OPT_CHUNK_CACHE);

    if (given != NULL)
        return strcmp(given, "none") == 0 ? NULL : given;
    return depot_default(path, PATH_SIZE) ? path : NULL;
}

static enum err check_rules(const struct options *options, struct why *why)
{
    struct choices choices = {0};

    if (option_given(options, OPT_DATA_PRIVATE))
        choices_add(&choices, TRAIT(OWNERS), NULL);
    if (option_given(options, OPT_DATA_SHARED))
        choices_add(&choices, TRAIT(SHARED), NULL);
    return rules_check(&choices, why);
}

/* Processes of one command, which differ by their rank; a name is theirs for
 * one life, and others may be called in by another mpirun. */
static const char *own_name(const struct launcher *self,
                            const struct token *token, char name[NAME_SIZE])
{
    char own[NAME_SIZE];
    int size;

    if (self->size < 2 || !token_is_cluster(token))
        return NULL;
    ways_own_name(own);
    size = snprintf(name, NAME_SIZE, "rank%u-", self->rank);
    (void)snprintf(name + size, NAME_SIZE - (size_t)size, "%.*s",
                   (int)(NAME_SIZE - 1) - size, own);
    return name;
}

/* --- a ring --------------------------------------------------------------- */

/* The folder of a run has its key. */
static const char *key_of(const struct ways *ways, const char *where,
                          const char *token_file, char path[FILE_PATH_SIZE])
{
    if (!ways->own)
        return token_file;
    file_path_in(where, TOKEN_FILE, path);
    return path;
}

static enum err save_joined(const struct joined *joined, const char *path,
                            struct why *why)
{
    const double *w = joined->result.weights;
    struct why first;
    char aside[FILE_PATH_SIZE];
    struct digest sum;
    enum err err;

    if (path == NULL || !joined->result.finished)
        return ERR_OK;
    err = save_model(&joined->setup, w, path, &sum, why);
    if (err == ERR_OK || !save_aside(&joined->setup, w, aside))
        return err;
    first = *why;
    return why_set(why, err, "%.200s; the model is in %.300s instead",
                   first.text, aside);
}

static void say_joined(const struct cli *cli, const struct joined *joined)
{
    const struct train_result *result = &joined->result;
    char hash[DIGEST_TEXT];

    digest_text(&result->hash, hash);
    if (cli->json)
        say_json(json_pack("{s:s, s:b, s:i, s:s}", "left", "done", "finished",
                           result->finished, "steps", (int)result->steps,
                           "hash", hash));
    else
        say_note(cli, "muster: %s after %u steps; hash %.16s",
                 result->finished ? "the model is here" : "left the ring",
                 result->steps, hash);
}

static int be_peer(struct cli *cli, const struct join_options *join,
                   const char *where)
{
    const struct options *options = &cli->options;
    char path[FILE_PATH_SIZE];
    const struct joined_options peer = {
        .join = join,
        .token_file = key_of(join->ways, where,
                             option_text(options, OPT_TOKEN_FILE), path),
        .listen = option_text(options, OPT_LISTEN),
        .save = option_text(options, OPT_SAVE),
    };
    struct why why = {0};
    struct joined joined = {0};
    enum err err = joined_run(&peer, &joined, &why);

    if (err == ERR_OK)
        err = save_joined(&joined, peer.save, &why);
    if (err == ERR_OK)
        say_joined(cli, &joined);
    joined_close(&joined);
    if (err == ERR_TIMEOUT)
        (void)why_in(&why, err, "%.200s", where);
    if (err == ERR_CANCELLED)
        return EXIT_DONE;
    return err == ERR_OK ? EXIT_DONE : say_why(cli, err, &why);
}

/* --- a star: what people see --------------------------------------------- */

#define REDRAW_US (100 * MS_US)

/* Of all jobs, one after the other: a grid has many. */
struct view {
    const struct cli *cli;
    const char *where;
    uint32_t jobs, steps;
    uint64_t before, chunks; /* Of the jobs before, and of this one. */
    time_us began_at, drawn_at, now;
    bool drawn; /* The line is on the terminal. */
};

static const char *kind_text(const char *kind)
{
    static const char *const text[][2] = {
        {"linear", "a linear model"},
        {"net", "a network"},
        {"local", "local models"},
        {"sequential", "passes over all rows"},
        {"products", "coded products"},
        {"shadow", "sums and samples"},
        {"user", "a program's function"},
    };

    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        if (strcmp(kind, text[i][0]) == 0)
            return text[i][1];
    return kind;
}

static void draw(struct view *view)
{
    const unsigned long long done = view->before + view->chunks;

    if (view->cli->quiet || isatty(STDERR_FILENO) == 0 ||
        view->now - view->drawn_at < REDRAW_US)
        return;
    view->drawn_at = view->now;
    view->drawn = true;
    (void)fprintf(stderr, "\rstep %u  %llu chunks computed", view->steps, done);
}

static void see(void *context, const struct worker_news *news)
{
    struct view *view = context;

    if (news->begins) {
        view->before += view->chunks;
        view->chunks = 0;
        if (view->jobs++ == 0) {
            view->began_at = news->now;
            say_note(
                view->cli, "muster: joined %s: %u rows in %u chunks, for %s",
                view->where, news->rows, news->chunks, kind_text(news->kind));
        }
    }
    view->steps = news->steps;
    view->chunks = news->chunks_done;
    view->now = news->now;
    draw(view);
}

static void say_left(const struct cli *cli, const struct view *view)
{
    const uint64_t chunks = view->before + view->chunks;
    const double elapsed_s =
        (double)(view->now - view->began_at) / (double)SECOND_US;

    if (view->drawn)
        (void)fputc('\n', stderr);
    if (cli->json)
        say_json(json_pack("{s:s, s:I, s:I, s:I, s:f}", "left", "done", "jobs",
                           (json_int_t)view->jobs, "steps",
                           (json_int_t)view->steps, "chunks",
                           (json_int_t)chunks, "elapsed_s", elapsed_s));
    else if (view->jobs > 1)
        say_note(cli,
                 "muster: %llu chunks computed in %.1f s, for %u trainings",
                 (unsigned long long)chunks, elapsed_s, view->jobs);
    else if (view->jobs > 0)
        say_note(cli, "muster: %llu chunks computed in %.1f s, up to step %u",
                 (unsigned long long)chunks, elapsed_s, view->steps);
}

int join_command(struct cli *cli)
{
    char depot[PATH_SIZE];
    const struct options *options = &cli->options;
    const char *where = option_text(options, OPT_ADDRESS);
    const char *token_file = option_text(options, OPT_TOKEN_FILE);
    struct view view = {.cli = cli, .where = where};
    const struct launcher self = launcher_find();
    char name[NAME_SIZE];
    struct ways ways;
    bool ring = false;
    struct join_options join = {
        .ways = &ways,
        .ring = &ring,
        .interface = option_text(options, OPT_INTERFACE),
        .name = option_text(options, OPT_NAME),
        .threads = option_text(options, OPT_THREADS) == NULL
                       ? launcher_threads(&self)
                       : (uint32_t)option_count(options, OPT_THREADS),
        .give_up_us = GIVE_UP_US,
        .supply = {.depot = depot_of(options, depot),
                   .depot_bytes =
                       (uint64_t)(option_real(options, OPT_CACHE_SIZE) * GIB),
                   .shared = option_text(options, OPT_DATA_SHARED),
                   .ca = option_text(options, OPT_CA),
                   .alone = option_text(options, OPT_SHIP) != NULL &&
                            strcmp(option_text(options, OPT_SHIP),
                                   "coordinator") == 0},
        .notice = {.kind = option_text(options, OPT_PREEMPT_NOTICE),
                   .address = option_text(options, OPT_PREEMPT_ADDRESS)},
        .watch = {.see = see, .context = &view},
    };
    struct why why = {0};
    int code;
    enum err err;

    if (launcher_check(&self, &why) != ERR_OK)
        say_aloud("muster: %s; it joins as none of them", why.text);
    if (option_given(options, OPT_DATA_PRIVATE)) {
        join.own = input_options(&options->recipe);
        join.own.spec = option_text(options, OPT_DATA_PRIVATE);
        join.own.cache = NULL; /* That of join is for chunks. */
    }
    err = check_rules(options, &why);
    if (err != ERR_OK)
        return say_why(cli, err, &why);
    if (where == NULL)
        return say_error(cli, EXIT_USAGE,
                         "join whom? write `muster join HOST:PORT`, as the "
                         "coordinator printed it, or a run's folder");
    err = notice_check(&join.notice, &why);
    if (err != ERR_OK)
        return say_why(cli, err, &why);
    err = address_check_dial(where, token_file,
                             "on the coordinator's machine: `muster token new "
                             "w1.token --name w1 --from cluster.token`; here: "
                             "--token-file w1.token",
                             &why);
    if (err == ERR_OK)
        err = ways_open(where, token_file, false, &ways, &why);
    if (err != ERR_OK)
        return say_why(cli, err, &why);
    if (cli->led_to != NULL)
        ways.folder = cli->led_to;
    if (join.name == NULL)
        join.name = own_name(&self, &ways.token, name);
    say_note(cli, "muster: joining %s; SIGTERM leaves in good order", where);
    (void)confine_process(); /* It needs no other program. */
    err = join_run(&join, &why);
    if (ring) {
        code = be_peer(cli, &join, where);
        ways_close(&ways);
        return code;
    }
    ways_close(&ways);
    if (err == ERR_CLOSED && cli->led_to != NULL)
        return EXIT_DONE; /* Rank 0 has said how it ended. */
    if (err == ERR_TIMEOUT || err == ERR_CLOSED)
        (void)why_in(&why, err, "%.200s", where);
    if (err != ERR_OK)
        return say_why(cli, err, &why);
    if (option_text(options, OPT_SAVE) != NULL)
        say_aloud("muster: no model was written here: it is the coordinator's, "
                  "who saves it; peers of a ring have it, too");
    say_left(cli, &view);
    return EXIT_DONE;
}
