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
#include "node/host/ways.h"
#include "node/worker/worker_node.h"
#include "os/file/depot.h"
#include "os/file/file.h"
#include "os/run/confine.h"
#include "os/run/threads.h"

#include <string.h>

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
    struct digest sum;

    return path == NULL || !joined->result.finished
               ? ERR_OK
               : save_model(&joined->setup, joined->result.weights, path, &sum,
                            why);
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

int join_command(struct cli *cli)
{
    char depot[PATH_SIZE];
    const struct options *options = &cli->options;
    const char *where = option_text(options, OPT_ADDRESS);
    const char *token_file = option_text(options, OPT_TOKEN_FILE);
    struct ways ways;
    bool ring = false;
    struct join_options join = {
        .ways = &ways,
        .ring = &ring,
        .interface = option_text(options, OPT_INTERFACE),
        .name = option_text(options, OPT_NAME),
        .threads = option_text(options, OPT_THREADS) == NULL
                       ? threads_available()
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
    };
    struct why why = {0};
    int code;
    enum err err;

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
    say_note(cli, "muster: joining %s; SIGTERM leaves in good order", where);
    (void)confine_process(); /* It needs no other program. */
    err = join_run(&join, &why);
    if (ring) {
        code = be_peer(cli, &join, where);
        ways_close(&ways);
        return code;
    }
    ways_close(&ways);
    if (err == ERR_TIMEOUT)
        (void)why_in(&why, err, "%.200s", where);
    if (err != ERR_OK)
        return say_why(cli, err, &why);
    if (option_text(options, OPT_SAVE) != NULL)
        say_aloud("muster: no model was written here: it is the coordinator's, "
                  "who saves it; peers of a ring have it, too");
    if (cli->json)
        say_json(json_pack("{s:s}", "left", "done"));
    return EXIT_DONE;
}
