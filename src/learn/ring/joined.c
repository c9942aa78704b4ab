/*
 * joined.c - from what the peers of a ring send to the same training as theirs.
 *
 * Everything that decides bits comes from them, and is put together here to a
 * setup as if it had been loaded; its digest must be theirs.  From then on the
 * machine does what `muster train --topology ring --peers` does.
 */
#include "learn/ring/joined.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "learn/family/family.h"
#include "learn/ring/kit.h"
#include "learn/save.h"
#include "node/host/ways.h"
#include "node/ring/gather.h"
#include "node/run/ring_train.h"
#include "os/file/scratch.h"

#define PEERS_SIZE (GATHER_PLACES * (NET_TEXT_SIZE + 1))

static enum err collect(const struct joined_options *options,
                        const char name[NAME_SIZE], struct gathered *gathered,
                        struct why *why)
{
    const struct join_options *join = options->join;
    struct gather_options gather = {
        .addresses = join->ways->addresses,
        .address_count = join->ways->count,
        .token = &join->ways->token,
        .name = name,
        .supply = join->supply,
        .give_up_us = join->give_up_us,
    };
    struct net_source source;
    enum err err = ERR_OK;

    gather.supply.alone = false; /* --ship coordinator: a ring has none. */
    if (join->interface != NULL) {
        err = net_source_find(join->interface, &source, why);
        gather.source = &source;
    }
    return err == ERR_OK ? gather_run(&gather, gathered, why) : err;
}

static enum err take_start(const struct papers *papers, struct setup *setup)
{
    if (papers->start_count == 0)
        return ERR_OK;
    if (papers->start_count != setup_family(setup)->dims(setup))
        return ERR_FORMAT;
    setup->start = mem_new(papers->start_count, sizeof *setup->start);
    if (setup->start == NULL)
        return ERR_NOMEM;
    memcpy(setup->start, papers->start,
           papers->start_count * sizeof *setup->start);
    setup->optim.start = setup->start;
    return ERR_OK;
}

/* The rows are the setup's from here on. */
static enum err put_together(const struct join_options *join,
                             struct gathered *gathered, struct setup *setup)
{
    const struct papers *papers = &gathered->papers;
    enum err err;

    *setup = (struct setup){.slots = 1,
                            .local = 1,
                            .threads = join->threads,
                            .isa = isa_best(),
                            .exactness = EXACT_BITWISE,
                            .loaded = true,
                            .data = gathered->data};
    gathered->data = (struct dataset){0};
    err = kit_take(papers->kit.bytes, papers->kit.size, setup);
    setup->optim = papers->optim;
    if (err == ERR_OK && setup->optim.held_out && !setup->has_valid)
        err = ERR_FORMAT;
    return err == ERR_OK ? take_start(papers, setup) : err;
}

/* The peers that were there, as --peers has them. */
static void name_peers(const struct gathered *gathered, char text[PEERS_SIZE])
{
    size_t size = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < gathered->place_count; i++) {
        char place[NET_TEXT_SIZE];

        size += (size_t)snprintf(text + size, PEERS_SIZE - size, "%s%s",
                                 i > 0 ? "," : "",
                                 net_text(&gathered->places[i], place));
    }
}

static enum err be_peer(const struct joined_options *options, const char *name,
                        const struct gathered *gathered, struct joined *joined,
                        struct why *why)
{
    const struct join_options *join = options->join;
    const struct setup *setup = &joined->setup;
    struct net_address own = {.port = 0};
    char peers[PEERS_SIZE], place[NET_TEXT_SIZE];
    struct train_options train = {
        .data = &setup->data,
        .model = setup->model,
        .net = setup_net(setup),
        .isa = setup->isa,
        .threads = setup->threads,
        .optim = setup->optim,
        .held_out = setup_held_out(setup),
        .slots = 1,
        .local_workers = 1,
        .ring = true,
        .peers = peers,
        .name = name,
        .kit = gathered->papers.kit.bytes,
        .kit_size = gathered->papers.kit.size,
        .listen = options->listen,
        .token_file = options->token_file,
        .scratch = true,
        .config = config_digest(setup),
        .given = config_given(setup),
        .notice = join->notice,
    };
    const struct digest config = ring_config(&train, &train.config);
    struct scratch scratch;
    enum err err;

    if (!digest_equal(&config, &gathered->config))
        return why_set(why, ERR_MISMATCH,
                       "what the ring sent is not the training that it says "
                       "it is; use the same release of muster everywhere");
    name_peers(gathered, peers);
    memcpy(own.host, gathered->own_host, sizeof own.host);
    if (train.listen == NULL)
        train.listen = net_text(&own, place);
    err = scratch_open(&scratch, why);
    if (err != ERR_OK)
        return err;
    train.out = scratch.path;
    err = train_run(&train, &joined->result, why);
    scratch_close(&scratch);
    return err;
}

enum err joined_run(const struct joined_options *options, struct joined *joined,
                    struct why *why)
{
    const struct join_options *join = options->join;
    struct gathered gathered = {0};
    char name[NAME_SIZE];
    enum err err;

    *joined = (struct joined){0};
    err = join_name(join->name, &join->ways->token, name, why);
    if (err == ERR_OK)
        err = collect(options, name, &gathered, why);
    if (err != ERR_OK)
        return err;
    err = put_together(join, &gathered, &joined->setup);
    if (err != ERR_OK)
        (void)why_set(why, err,
                      err == ERR_NOMEM
                          ? "not enough memory for the rows of this ring"
                          : "the ring describes a training that cannot be");
    if (err == ERR_OK && options->save != NULL)
        err = save_check_name(options->save, setup_net(&joined->setup) != NULL,
                              "", why);
    if (err == ERR_OK)
        err = be_peer(options, name, &gathered, joined, why);
    gathered_close(&gathered);
    return err;
}

void joined_close(struct joined *joined)
{
    train_result_close(&joined->result);
    setup_close(&joined->setup);
}
