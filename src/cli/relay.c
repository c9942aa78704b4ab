/*
 * relay.c - `muster relay`: this machine stands between a coordinator and its
 * workers.
 */
#include "base/time.h"
#include "cli/cli.h"
#include "learn/address.h"
#include "node/host/ways.h"
#include "node/relay/relay_node.h"

#define GIVE_UP_US (60 * SECOND_US)

static const char remedy[] =
    "copy the cluster token here and add --token-file cluster.token";

static void say_ready(void *context, const char *address)
{
    const struct cli *cli = context;
    const char *token = option_text(&cli->options, OPT_TOKEN_FILE);
    const char *where = option_text(&cli->options, OPT_ADDRESS);
    char text[ADDRESS_SIZE];

    say_note(cli,
             "muster: relaying; to add a worker: muster join %s --token-file "
             "%s%s",
             address_for_others(option_text(&cli->options, OPT_LISTEN), address,
                                text),
             token == NULL ? where : token, token == NULL ? "/run.token" : "");
}

int relay_command(struct cli *cli)
{
    const struct options *options = &cli->options;
    const char *where = option_text(options, OPT_ADDRESS);
    const char *token_file = option_text(options, OPT_TOKEN_FILE);
    struct ways ways;
    const struct relay_run_options relay = {
        .ways = &ways,
        .listen = option_text(options, OPT_LISTEN),
        .name = option_text(options, OPT_NAME),
        .give_up_us = GIVE_UP_US,
        .ready = say_ready,
        .context = cli,
    };
    struct why why = {0};
    enum err err;

    if (where == NULL)
        return say_error(cli, EXIT_USAGE,
                         "relay to whom? write `muster relay HOST:PORT`, as "
                         "the coordinator printed it, or a run's folder");
    err = address_check_dial(where, token_file, remedy, &why);
    if (err == ERR_OK)
        err = address_check(relay.listen, token_file, remedy, &why);
    if (err == ERR_OK)
        err = ways_open(where, token_file, true, &ways, &why);
    if (err != ERR_OK)
        return say_why(cli, err, &why);
    err = relay_run(&relay, &why);
    ways_close(&ways);
    if (err == ERR_TIMEOUT || err == ERR_CLOSED)
        (void)why_in(&why, err, "%.200s", where);
    if (err != ERR_OK)
        return say_why(cli, err, &why);
    if (cli->json)
        say_json(json_pack("{s:s}", "left", "done"));
    return EXIT_DONE;
}
