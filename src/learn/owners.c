/*
 * owners.c - private data (federated training) on the coordinator's side: what
 * it rules out, the roll call, and a run that knows its owners.
 */
#include "learn/owners.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "learn/address.h"
#include "learn/batches.h"
#include "learn/recipe/input.h"
#include "learn/rows.h"
#include "learn/workers.h"
#include "node/arithmetic.h"
#include "node/host/ways.h"
#include "node/owners/own.h"
#include "node/owners/roll.h"
#include "node/run/train.h"
#include "os/clock.h"
#include "os/net/net.h"
#include "os/run/thread.h"

bool owners_wanted(const struct recipe *recipe)
{
    return recipe_text(recipe, OPT_OWNERS) != NULL;
}

uint32_t owners_files(const struct recipe *recipe)
{
    return (uint32_t)recipe_count(recipe, OPT_OWNERS);
}

enum err owners_check(const struct recipe *recipe, struct why *why)
{
    const bool has = recipe_text(recipe, OPT_DATA_PRIVATE) != NULL;
    const uint32_t files = owners_wanted(recipe) ? owners_files(recipe) : 0;

    if (has && files == 0)
        return why_set(why, ERR_SHAPE,
                       "--data-private needs --owners N, the number of files "
                       "of all owners together");
    if (has && !workers_ring(recipe))
        return why_set(why, ERR_SHAPE,
                       "a coordinator has no rows of its own: add --topology "
                       "ring, or come to it with `muster join ADDRESS "
                       "--data-private FILE`");
    if (files == 0 || !workers_ring(recipe))
        return ERR_OK;
    if (!has)
        return why_set(why, ERR_SHAPE,
                       "with --owners each peer of a ring has rows of its own: "
                       "add --data-private FILE");
    if (files > PEERS_MAX)
        return why_set(why, ERR_RANGE,
                       "--owners %u: a ring has %u peers at most", files,
                       PEERS_MAX);
    if (files > 1 && recipe_text(recipe, OPT_LISTEN) == NULL &&
        recipe_text(recipe, OPT_PEERS) == NULL)
        return why_set(why, ERR_SHAPE,
                       "--owners %u: nobody else can come; add --listen "
                       "HOST:PORT, or --peers of those who are there",
                       files);
    return ERR_OK;
}

/* NULL: the network's own. */
static const char *optimiser(const struct setup *setup,
                             const struct recipe *recipe)
{
    if (recipe_text(recipe, OPT_NET) != NULL)
        return NULL;
    return code_spec_bitwise(&setup->code) && !batches_wanted(recipe) ? "lbfgs"
                                                                      : "gd";
}

/* Rows are where they are, whatever the code would have done with them. */
enum err owners_choose(struct setup *setup, struct recipe *recipe,
                       struct why *why)
{
    const char *const optim = optimiser(setup, recipe);
    enum err err = ERR_OK;

    setup->code.placement = PLACE_HOMES;
    setup->code.homes = &setup->homes;
    if (optim != NULL)
        err = recipe_put(recipe, OPT_OPTIM, optim, ORIGIN_DEFAULT, why);
    return err != ERR_OK ? err : setup_rules(setup, recipe, why);
}

enum err owners_shuffle(struct recipe *recipe, struct why *why)
{
    if (recipe_text(recipe, OPT_BATCH) == NULL)
        return ERR_OK;
    return recipe_put(recipe, OPT_SHUFFLE, sampler_name(SAMPLER_LOCAL),
                      ORIGIN_DEFAULT, why);
}

static void hold_folder(const struct setup *setup)
{
    if (setup->terms.gate != NULL)
        gate_lock(setup->terms.gate);
}

static void release_folder(const struct setup *setup)
{
    if (setup->terms.gate != NULL)
        gate_unlock(setup->terms.gate);
}

static enum err keep_parts(struct setup *setup, struct why *why)
{
    enum err err;

    hold_folder(setup);
    err = parts_save(&setup->parts, setup->folder, why);
    release_folder(setup);
    return err;
}

static enum err open_door(struct setup *setup, const struct recipe *recipe,
                          struct why *why)
{
    const struct train_options door = {
        .listen = recipe_text(recipe, OPT_LISTEN),
        .interface = recipe_text(recipe, OPT_INTERFACE),
        .token_file = recipe_text(recipe, OPT_TOKEN_FILE),
        .out = setup->folder,
        .lock = setup->lock,
    };
    const char *const peers = recipe_text(recipe, OPT_PEERS);
    char local[NET_TEXT_SIZE];
    char text[ADDRESS_SIZE];
    enum err err;

    hold_folder(setup);
    err = train_door_open(&door, &setup->door, why);
    release_folder(setup);
    if (err != ERR_OK)
        return err;
    if (workers_ring(recipe) && peers != NULL)
        setup_note(setup, "waiting for the ring at %s", peers);
    else if (workers_ring(recipe) && setup->slots == 1)
        setup_note(setup, "one private file, which is here: nobody else is "
                          "waited for");
    else if (workers_ring(recipe))
        setup_note(
            setup,
            "waiting for %u private files, one of them here; the others: "
            "the same command there, with its own --listen and "
            "--data-private, and --peers %s",
            setup->slots,
            address_for_others(door.listen,
                               train_door_address(setup->door, local), text));
    else
        setup_note(setup,
                   "waiting for %u private file%s: muster join %s%s%s "
                   "--data-private FILE",
                   setup->slots, setup->slots == 1 ? "" : "s",
                   door.token_file == NULL
                       ? setup->folder
                       : address_for_others(
                             door.listen,
                             train_door_address(setup->door, local), text),
                   door.token_file == NULL ? "" : " --token-file ",
                   door.token_file == NULL ? "" : door.token_file);
    return ERR_OK;
}

/* --- rows of one's own: a ring -------------------------------------------- */

static time_us patience(const struct recipe *recipe)
{
    return (time_us)(recipe_real(recipe, OPT_OWNER_WAIT) * (double)SECOND_US);
}

static struct enrol_options describe_own(const struct setup *setup,
                                         const struct recipe *recipe)
{
    struct enrol_options enrol = {.isa = setup->isa,
                                  .threads = setup->threads,
                                  .give_up_us = patience(recipe),
                                  .rows = input_options(recipe),
                                  .ring = true};

    if (setup->door != NULL)
        enrol.token = train_door_token(setup->door);
    enrol.rows.spec = recipe_text(recipe, OPT_DATA_PRIVATE);
    enrol.rows.cache = NULL; /* What is private is written nowhere. */
    if (recipe_text(recipe, OPT_NAME) != NULL)
        (void)snprintf(enrol.name, sizeof enrol.name, "%s",
                       recipe_text(recipe, OPT_NAME));
    else
        ways_own_name(enrol.name);
    return enrol;
}

/* At this machine's own door. */
static enum err start_own(struct setup *setup, const struct recipe *recipe,
                          struct why *why)
{
    struct enrol_options enrol = describe_own(setup, recipe);
    struct net_address door;
    char text[NET_TEXT_SIZE];
    enum err err = net_parse(train_door_address(setup->door, text), &door, why);

    enrol.addresses = &door;
    enrol.address_count = 1;
    return err == ERR_OK ? own_start(&enrol, &setup->own, why) : err;
}

static enum err enrol_with(struct setup *setup,
                           const struct enrol_options *options, struct why *why)
{
    struct enrol *enrol = NULL;
    enum err err = enrol_new(options, &enrol, why);

    if (err == ERR_OK)
        err = enrol_serve(enrol, &setup->owned, &setup->parts, why);
    enrol_free(enrol);
    return err;
}

/* With those who are there, whoever they are. */
static enum err enrol_there(struct setup *setup, const struct recipe *recipe,
                            struct why *why)
{
    const time_us began = clock_now_us();
    const char *const interface = recipe_text(recipe, OPT_INTERFACE);
    struct enrol_options enrol;
    struct net_source source;
    struct ways others = {0};
    enum err err = open_door(setup, recipe, why);

    if (err == ERR_OK)
        err = ways_parse(recipe_text(recipe, OPT_PEERS), &others, why);
    if (err != ERR_OK)
        return err;
    enrol = describe_own(setup, recipe);
    enrol.addresses = others.addresses;
    enrol.address_count = others.count;
    if (interface != NULL) {
        err = net_source_find(interface, &source, why);
        enrol.source = &source;
    }
    if (err == ERR_OK)
        err = enrol_with(setup, &enrol, why);
    setup->waited_us = clock_now_us() - began;
    return err;
}

/* By what the folder says of all. */
static enum err place_own(struct setup *setup, const struct recipe *recipe,
                          struct why *why)
{
    const struct enrol_options options = describe_own(setup, recipe);
    struct enrol *enrol = NULL;
    enum err err = enrol_new(&options, &enrol, why);

    if (err == ERR_OK)
        err = enrol_place(enrol, &setup->parts, &setup->owned, why);
    enrol_free(enrol);
    return err;
}

/* --- the roll ------------------------------------------------------------- */

static enum err call_roll(struct setup *setup, const struct recipe *recipe,
                          struct why *why)
{
    const time_us began = clock_now_us();
    const double most = recipe_real(recipe, OPT_MAX_TIME);
    struct roll_options roll = {
        .count = setup->slots,
        .arithmetic = arithmetic_digest(),
        .until =
            most > 0 ? began + (time_us)(most * (double)SECOND_US) : TIME_NEVER,
        .ring = workers_ring(recipe),
    };
    enum err err = open_door(setup, recipe, why);

    if (err == ERR_OK && roll.ring)
        err = start_own(setup, recipe, why);
    if (err != ERR_OK)
        return err;
    if (roll.ring)
        roll.failed = own_failed(setup->own);
    roll.listen_fd = train_door_fd(setup->door);
    roll.token = train_door_token(setup->door);
    roll.patience_us = patience(recipe);
    err = roll_new(&roll, &setup->roll, why);
    if (err == ERR_OK)
        err = roll_gather(setup->roll, &setup->parts, why);
    setup->waited_us = clock_now_us() - began;
    if (err != ERR_OK && roll.ring && flag_raised(roll.failed))
        err = own_end(setup->own, &setup->owned, why);
    if (err == ERR_OK) {
        setup->parts.intercept = setup->intercept;
        setup->parts.cols += setup->intercept ? 1 : 0;
    }
    return err;
}

static uint32_t chunk_rows(const struct setup *setup,
                           const struct recipe *recipe)
{
    return recipe_text(recipe, OPT_CHUNK_ROWS) != NULL
               ? (uint32_t)recipe_count(recipe, OPT_CHUNK_ROWS)
               : batches_local_chunk_rows(recipe, setup_family(setup),
                                          setup->parts.rows);
}

static enum err cut(struct setup *setup, const struct recipe *recipe,
                    struct why *why)
{
    const uint32_t rows = chunk_rows(setup, recipe);

    if (parts_cut(&setup->parts, rows) != ERR_OK)
        return why_set(why, ERR_TOOBIG,
                       "%u rows in chunks of %u are more than %u chunks; a "
                       "larger --chunk-rows helps",
                       setup->parts.rows, rows, CHUNKS_MAX);
    return ERR_OK;
}

/* A slot for each home: what the code is judged by before there are owners. */
static enum err make_homes(struct setup *setup)
{
    const uint32_t count = setup->parts.count;

    setup->home_chunk = mem_new((size_t)count + 1, sizeof *setup->home_chunk);
    setup->home_slot = mem_new((size_t)count + 1, sizeof *setup->home_slot);
    if (setup->home_chunk == NULL || setup->home_slot == NULL)
        return ERR_NOMEM;
    for (uint32_t h = 0; h < count; h++) {
        setup->home_chunk[h + 1] = setup->parts.homes[h].end;
        setup->home_slot[h + 1] = h + 1;
    }
    setup->homes = (struct code_homes){
        .count = count, .chunk = setup->home_chunk, .slot = setup->home_slot};
    return ERR_OK;
}

static enum err load_known(struct setup *setup, struct why *why)
{
    enum err err = parts_load(&setup->parts, setup->folder, why);

    if (err == ERR_OK && setup->parts.count != setup->slots)
        err = why_set(why, ERR_SHAPE, "--owners %u: the run there has %u files",
                      setup->slots, setup->parts.count);
    return err;
}

/* What all peers choose alike, before more is made of it. */
static enum err check_alike(const struct setup *setup,
                            const struct recipe *recipe, struct why *why)
{
    const struct parts *const parts = &setup->parts;

    if (parts->count != setup->slots)
        return why_set(why, ERR_SHAPE, "--owners %u: the ring has %u files",
                       setup->slots, parts->count);
    if (parts->intercept != setup->intercept)
        return why_set(why, ERR_SHAPE,
                       "the ring trains %s intercept: all its peers take the "
                       "same options",
                       parts->intercept ? "an" : "no");
    if (parts->chunk_rows != chunk_rows(setup, recipe))
        return why_set(why, ERR_SHAPE,
                       "the ring has chunks of %u rows, and it would be %u "
                       "here: all its peers take the same options "
                       "(--chunk-rows)",
                       parts->chunk_rows, chunk_rows(setup, recipe));
    return ERR_OK;
}

enum err owners_gather(struct setup *setup, const struct recipe *recipe,
                       struct why *why)
{
    const bool ring = workers_ring(recipe);
    enum err err;

    CHECK(setup->folder != NULL);
    if (recipe_given(recipe, OPT_RESUME)) {
        err = load_known(setup, why);
        if (err == ERR_OK && ring)
            err = place_own(setup, recipe, why);
    } else if (ring && recipe_text(recipe, OPT_PEERS) != NULL) {
        err = enrol_there(setup, recipe, why);
        if (err == ERR_OK)
            err = check_alike(setup, recipe, why);
    } else {
        err = call_roll(setup, recipe, why);
        if (err == ERR_OK)
            err = cut(setup, recipe, why);
    }
    if (err == ERR_OK)
        err = make_homes(setup);
    if (err == ERR_OK)
        err = parts_hollow(&setup->parts, &setup->data);
    setup->loaded = err == ERR_OK;
    return err;
}

enum err owners_model(struct setup *setup, struct why *why)
{
    const bool told = setup->owned.chunks > 0;

    if (told && setup->parts.model != (uint32_t)setup->model)
        return why_set(why, ERR_SHAPE,
                       "the ring trains another model: all its peers take the "
                       "same options (--model)");
    setup->parts.model = (uint32_t)setup->model;
    setup->data.digest = parts_digest(&setup->parts);
    return ERR_OK;
}

/* The scale of a network follows what was seen; of its rows nothing more is
 * asked. */
static enum err measure(struct setup *setup, struct why *why)
{
    if (setup_net(setup) == NULL)
        return roll_measure(setup->roll, &setup->parts, why);
    roll_describe(setup->roll, &setup->parts);
    return ERR_OK;
}

enum err owners_settle(struct setup *setup, enum err err, struct why *why)
{
    if (setup->roll == NULL) /* Nobody waits; a peer keeps what it was told. */
        return err == ERR_OK && setup->door != NULL ? keep_parts(setup, why)
                                                    : err;
    if (err == ERR_OK)
        err = measure(setup, why);
    if (err == ERR_OK)
        err = keep_parts(setup, why);
    if (err == ERR_OK)
        err = roll_dismiss(setup->roll);
    if (err == ERR_OK && setup->own != NULL)
        err = own_end(setup->own, &setup->owned, why);
    else if (err != ERR_OK)
        roll_refuse(setup->roll,
                    why->text[0] != '\0' ? why->text : err_text(err));
    roll_free(setup->roll);
    setup->roll = NULL;
    return err;
}

void owners_close(struct setup *setup)
{
    roll_free(setup->roll);
    own_free(setup->own);
    owned_close(&setup->owned);
    parts_close(&setup->parts);
    train_door_close(setup->door);
    mem_free(setup->home_chunk);
    mem_free(setup->home_slot);
}
