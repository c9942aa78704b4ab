/*
 * join.c - `muster join`: from what the user typed to a running worker.
 */
#include <stdio.h>
#include <string.h>

#include "node/host/room.h"
#include "node/host/ways.h"
#include "node/worker/worker_node.h"
#include "os/log.h"
#include "os/net/net.h"
#include "os/run/limits.h"
#include "os/run/threads.h"
#include "wire/codec.h"

enum err join_name(const char *wanted, const struct token *token,
                   char name[NAME_SIZE], struct why *why)
{
    if (wanted != NULL && !codec_name_valid(wanted))
        return why_set(why, ERR_FORMAT,
                       "\"%.80s\" is not a worker name; use letters, digits, "
                       "'.', '_' and '-', at most 64",
                       wanted);
    if (wanted != NULL)
        (void)snprintf(name, NAME_SIZE, "%s", wanted);
    else if (!token_is_cluster(token))
        (void)snprintf(name, NAME_SIZE, "%s", token->name);
    else
        ways_own_name(name);
    if (!token_is_cluster(token) && strcmp(token->name, name) != 0)
        return why_set(why, ERR_DENIED,
                       "the token is for worker %s, not for %s; leave out "
                       "--name",
                       token->name, name);
    return ERR_OK;
}

/* Private rows: first find their place among those of the others. */
static enum err run_owner(const struct join_options *options,
                          const struct worker_node_options *like,
                          struct why *why)
{
    struct worker_node_options node = *like;
    struct enrol_options enrol = {
        .addresses = node.addresses,
        .address_count = node.address_count,
        .folder = node.folder,
        .token = node.token,
        .source = node.source,
        .isa = node.isa,
        .threads = node.threads,
        .give_up_us = node.give_up_us,
        .rows = options->own,
    };
    struct owned owned = {0};
    enum err err;

    memcpy(enrol.name, node.name, NAME_SIZE);
    err = enrol_run(&enrol, &owned, why);
    if (err == ERR_OK) {
        log_note("%u private rows are ready; they stay here", owned.data.rows);
        node.owned = &owned;
        err = worker_node_run(&node, why);
    }
    owned_close(&owned);
    return err;
}

/* One job after the other, as long as the coordinator has more. */
static enum err run_worker(const struct worker_node_options *like,
                           struct why *why)
{
    struct worker_node_options node = *like;
    struct leftover leftover = {0};
    enum err err;

    node.leftover = &leftover;
    do
        err = worker_node_run(&node, why);
    while (err == ERR_STALE);
    leftover_close(&leftover);
    return err;
}

static enum err run_with(const struct join_options *options, struct why *why)
{
    const struct ways *ways = options->ways;
    struct worker_node_options node = {
        .addresses = ways->addresses,
        .address_count = ways->count,
        .folder = ways->folder,
        .token = &ways->token,
        .threads = options->threads,
        .give_up_us = options->give_up_us,
        .interrupt = true,
        .notice = options->notice,
        .supply = options->supply,
        .isa = isa_best(),
        .ring = options->ring,
        .watch = options->watch,
    };
    struct net_source source;
    enum err err = notice_check(&options->notice, why);

    if (err == ERR_OK && options->interface != NULL) {
        err = net_source_find(options->interface, &source, why);
        node.source = &source;
    }
    node.supply.strict = !ways->own;
    if (err == ERR_OK)
        err = join_name(options->name, &ways->token, node.name, why);
    if (err == ERR_OK && options->user != NULL)
        err = user_digest(options->user, true, &node.data);
    if (err != ERR_OK)
        return err;
    node.user = options->user;
    if (node.threads == 0)
        node.threads = threads_available();
    if (node.threads > THREADS_MAX)
        node.threads = THREADS_MAX;
    if (node.give_up_us == 0)
        node.give_up_us = TIME_NEVER;
    log_name(node.name);
    if (options->own.spec != NULL)
        return run_owner(options, &node, why);
    return options->user != NULL ? worker_node_run(&node, why)
                                 : run_worker(&node, why);
}

enum err join_run(const struct join_options *options, struct why *why)
{
    const struct room_wish wish = {.who = "a worker", .links = 2};
    uint64_t before = UINT64_MAX;
    enum err err = room_make(&wish, &before, why);

    if (err == ERR_OK)
        err = run_with(options, why);
    limits_files_restore(before);
    return err;
}
