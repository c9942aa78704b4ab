/*
 * join.c - `muster join`: this machine works for a coordinator.
 */
#include "base/time.h"
#include "cli/cli.h"
#include "learn/address.h"
#include "learn/recipe/input.h"
#include "node/host/ways.h"
#include "node/worker/worker_node.h"
#include "os/file/depot.h"
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

int join_command(struct cli *cli)
{
    char depot[PATH_SIZE];
    const struct options *options = &cli->options;
    const char *where = option_text(options, OPT_ADDRESS);
    const char *token_file = option_text(options, OPT_TOKEN_FILE);
    struct ways ways;
    struct join_options join = {
        .ways = &ways,
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
    ways_close(&ways);
    if (err == ERR_TIMEOUT)
        (void)why_in(&why, err, "%.200s", where);
    if (err != ERR_OK)
        return say_why(cli, err, &why);
    if (cli->json)
        say_json(json_pack("{s:s}", "left", "done"));
    return EXIT_DONE;
}
