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
#include "learn/rows.h"
#include "node/arithmetic.h"
#include "node/owners/roll.h"
#include "node/run/train.h"
#include "os/clock.h"
#include "os/net/net.h"

bool owners_wanted(const struct recipe *recipe)
{
    return recipe_text(recipe, OPT_OWNERS) != NULL;
}

uint32_t owners_files(const struct recipe *recipe)
{
    return (uint32_t)recipe_count(recipe, OPT_OWNERS);
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

static enum err open_door(struct setup *setup, const struct recipe *recipe,
                          struct why *why)
{
    const struct train_options door = {
        .listen = recipe_text(recipe, OPT_LISTEN),
        .interface = recipe_text(recipe, OPT_INTERFACE),
        .token_file = recipe_text(recipe, OPT_TOKEN_FILE),
        .out = setup->folder,
    };
    char local[NET_TEXT_SIZE];
    char text[ADDRESS_SIZE];
    enum err err = train_door_open(&door, &setup->door, why);

    if (err == ERR_OK)
        setup_note(setup,
                   "waiting for %u private files: muster join %s%s%s "
                   "--data-private FILE",
                   setup->slots,
                   door.token_file == NULL
                       ? setup->folder
                       : address_for_others(
                             door.listen,
                             train_door_address(setup->door, local), text),
                   door.token_file == NULL ? "" : " --token-file ",
                   door.token_file == NULL ? "" : door.token_file);
    return err;
}

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
    };
    enum err err = open_door(setup, recipe, why);

    if (err != ERR_OK)
        return err;
    roll.listen_fd = train_door_fd(setup->door);
    roll.token = train_door_token(setup->door);
    roll.patience_us =
        (time_us)(recipe_real(recipe, OPT_OWNER_WAIT) * (double)SECOND_US);
    err = roll_new(&roll, &setup->roll, why);
    if (err == ERR_OK)
        err = roll_gather(setup->roll, &setup->parts, why);
    setup->waited_us = clock_now_us() - began;
    if (err == ERR_OK) {
        setup->parts.intercept = setup->intercept;
        setup->parts.cols += setup->intercept ? 1 : 0;
    }
    return err;
}

static enum err cut(struct setup *setup, const struct recipe *recipe,
                    struct why *why)
{
    const uint32_t rows =
        recipe_text(recipe, OPT_CHUNK_ROWS) != NULL
            ? (uint32_t)recipe_count(recipe, OPT_CHUNK_ROWS)
            : batches_local_chunk_rows(recipe, setup_family(setup),
                                       setup->parts.rows);

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

enum err owners_gather(struct setup *setup, const struct recipe *recipe,
                       struct why *why)
{
    enum err err;

    CHECK(setup->folder != NULL);
    if (recipe_given(recipe, OPT_RESUME)) {
        err = load_known(setup, why);
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

void owners_model(struct setup *setup)
{
    setup->parts.model = (uint32_t)setup->model;
    setup->data.digest = parts_digest(&setup->parts);
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
    if (setup->roll == NULL)
        return err;
    if (err == ERR_OK)
        err = measure(setup, why);
    if (err == ERR_OK)
        err = parts_save(&setup->parts, setup->folder, why);
    if (err == ERR_OK)
        roll_dismiss(setup->roll);
    else
        roll_refuse(setup->roll,
                    why->text[0] != '\0' ? why->text : err_text(err));
    roll_free(setup->roll);
    setup->roll = NULL;
    return err;
}

void owners_close(struct setup *setup)
{
    roll_free(setup->roll);
    parts_close(&setup->parts);
    train_door_close(setup->door);
    mem_free(setup->home_chunk);
    mem_free(setup->home_slot);
}
