/*
 * relay_run.c - `muster relay`: from what the user typed to a running relay.
 */
#include <stdio.h>
#include <string.h>

#include "node/host/room.h"
#include "node/host/ways.h"
#include "node/relay/relay_node.h"
#include "os/log.h"
#include "os/run/limits.h"
#include "wire/codec.h"

#define LEAVES_MAX 1024u

static enum err run_with(const struct relay_run_options *options,
                         struct why *why)
{
    const struct ways *ways = options->ways;
    struct net_address wanted;
    struct net_listener listener = {.fd = -1};
    struct relay_node_options node = {
        .addresses = ways->addresses,
        .address_count = ways->count,
        .folder = ways->folder,
        .token = &ways->token,
        .leaves_max = LEAVES_MAX,
        .give_up_us = options->give_up_us,
        .interrupt = true,
        .stays = true,
    };
    char text[NET_TEXT_SIZE];
    enum err err = ERR_OK;

    if (options->name != NULL && !codec_name_valid(options->name))
        err = why_set(why, ERR_FORMAT,
                      "\"%.80s\" is not a name; use letters, digits, '.', '_' "
                      "and '-', at most 64",
                      options->name);
    if (err == ERR_OK)
        err = net_parse(options->listen != NULL ? options->listen : "", &wanted,
                        why);
    if (err == ERR_OK)
        err = net_listen(&wanted, ways->own, &listener, why);
    if (err != ERR_OK)
        return err;
    if (options->name != NULL)
        (void)snprintf(node.name, NAME_SIZE, "%s", options->name);
    else
        ways_own_name(node.name);
    node.listen_fd = listener.fd;
    log_name(node.name);
    options->ready(options->context, net_text(&listener.local, text));
    do
        err = relay_node_run(&node, why);
    while (err == ERR_STALE);
    net_close(&listener);
    return err;
}

enum err relay_run(const struct relay_run_options *options, struct why *why)
{
    const struct room_wish wish = {.who = "a relay", .links = 2};
    uint64_t before = UINT64_MAX;
    enum err err = room_make(&wish, &before, why);

    if (err == ERR_OK)
        err = run_with(options, why);
    limits_files_restore(before);
    return err;
}
