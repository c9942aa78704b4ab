/*
 * batches.c - from --batch, --shuffle and --passes to a sampler and a number of
 * steps.
 */
#include "learn/batches.h"

#include <stdio.h>

#include "base/check.h"
#include "learn/family/family.h"

#define HELD_OUT_PART "0.1"
#define SHARES        32u
#define CHUNK_LEAST   8u
#define CHUNK_MOST    256u

uint32_t batches_default_chunk_rows(uint32_t batch)
{
    const uint32_t share = batch / SHARES + (batch % SHARES != 0);
    const uint32_t even = (share + CHUNK_LEAST - 1) / CHUNK_LEAST * CHUNK_LEAST;

    return even < CHUNK_MOST ? even : CHUNK_MOST;
}

static bool is_given(const struct recipe *recipe)
{
    return recipe_given(recipe, OPT_BATCH) ||
           recipe_given(recipe, OPT_BATCH_PER_WORKER);
}

bool batches_wanted(const struct recipe *recipe)
{
    return is_given(recipe) || recipe_given(recipe, OPT_PASSES);
}

enum err batches_gather(struct recipe *recipe, uint32_t workers,
                        struct why *why)
{
    char text[32];

    if (!recipe_given(recipe, OPT_BATCH_PER_WORKER) || workers == 0)
        return ERR_OK; /* Or the rules say that it needs some. */
    if (recipe_given(recipe, OPT_BATCH))
        return why_set(why, ERR_SHAPE,
                       "--batch and --batch-per-worker both say how many rows "
                       "a step has; leave one of them out");
    (void)snprintf(
        text, sizeof text, "%llu",
        (unsigned long long)recipe_count(recipe, OPT_BATCH_PER_WORKER) *
            workers);
    return recipe_put(recipe, OPT_BATCH, text, ORIGIN_DEFAULT, why);
}

enum err batches_keep_local(const struct setup *setup, struct recipe *recipe,
                            struct why *why)
{
    const bool sampled =
        setup->terms.sampled || code_spec_sampled(&setup->code);

    if (!sampled || recipe_text(recipe, OPT_BATCH) == NULL ||
        recipe_given(recipe, OPT_SHUFFLE))
        return ERR_OK;
    return recipe_put(recipe, OPT_SHUFFLE, sampler_name(SAMPLER_LOCAL),
                      ORIGIN_DEFAULT, why);
}

enum err batches_hold_out(struct recipe *recipe, struct why *why)
{
    if (!recipe_given(recipe, OPT_PATIENCE) ||
        recipe_text(recipe, OPT_VALID) != NULL)
        return ERR_OK;
    return recipe_put(recipe, OPT_VALID, HELD_OUT_PART, ORIGIN_DEFAULT, why);
}

uint32_t batches_workers(const struct recipe *recipe)
{
    return recipe_given(recipe, OPT_BATCH_PER_WORKER)
               ? (uint32_t)(recipe_count(recipe, OPT_BATCH) /
                            recipe_count(recipe, OPT_BATCH_PER_WORKER))
               : 1;
}

uint32_t batches_warmup(const struct sampler *sampler, uint32_t steps)
{
    const uint64_t passes = 5 * (uint64_t)sampler_steps(sampler);

    return passes < steps / 5 ? (uint32_t)passes : steps / 5;
}

bool batches_scattered(const struct recipe *recipe)
{
    enum sampler_kind kind;

    return recipe_given(recipe, OPT_SHUFFLE) &&
           sampler_parse(recipe_text(recipe, OPT_SHUFFLE), &kind) &&
           sampler_scatters(kind);
}

/* Rows of a step's chunk when nobody says. */
static uint32_t share_of(const struct family *family, uint32_t batch)
{
    return family->chunk_rows > 0 ? family->chunk_rows
                                  : batches_default_chunk_rows(batch);
}

uint32_t batches_local_chunk_rows(const struct recipe *recipe,
                                  const struct family *family, uint32_t rows)
{
    const uint64_t batch = recipe_count(recipe, OPT_BATCH);
    const uint32_t least = rows / CHUNKS_MAX + 1;
    uint64_t wanted;

    if (family->chunk_rows == 0 &&
        (recipe_text(recipe, OPT_BATCH) == NULL || batch >= rows))
        return dataset_default_chunk_rows(rows);
    if (batch >= rows)
        return family->chunk_rows > least ? family->chunk_rows : least;
    wanted = (uint64_t)share_of(family, (uint32_t)batch) * rows / batch;
    wanted = (wanted + CHUNK_LEAST - 1) / CHUNK_LEAST * CHUNK_LEAST;
    wanted = wanted > least ? wanted : least;
    return wanted < rows ? (uint32_t)wanted : rows;
}

/* Local batches are of the chunks that the rows are cut into. */
static uint32_t chunk_rows_of(const struct recipe *recipe,
                              const struct family *family,
                              const struct dataset *data,
                              enum sampler_kind kind, uint32_t batch)
{
    if (!sampler_scatters(kind))
        return data->chunk_rows;
    if (recipe_given(recipe, OPT_CHUNK_ROWS))
        return (uint32_t)recipe_count(recipe, OPT_CHUNK_ROWS);
    return share_of(family, batch);
}

enum err batches_choose(const struct recipe *recipe,
                        const struct family *family, const struct dataset *data,
                        struct sampler *sampler, struct why *why)
{
    const char *shuffle = recipe_text(recipe, OPT_SHUFFLE);
    const uint32_t batch = (uint32_t)recipe_count(recipe, OPT_BATCH);
    enum sampler_kind kind = SAMPLER_ROWS;

    CHECK(shuffle == NULL || sampler_parse(shuffle, &kind));
    *sampler = sampler_whole;
    if (recipe_text(recipe, OPT_BATCH) == NULL)
        return shuffle == NULL
                   ? ERR_OK
                   : why_set(why, ERR_SHAPE,
                             "--shuffle says how batches are drawn; add "
                             "--batch B, their rows");
    if (batch >= data->rows)
        return ERR_OK;
    *sampler = sampler_of(kind, data->rows,
                          chunk_rows_of(recipe, family, data, kind, batch),
                          batch, recipe_count(recipe, OPT_SEED));
    sampler->cut = data->cut;
    sampler->chunks = dataset_chunks(data);
    if (sampler_chunks(sampler) <= CHUNKS_MAX)
        return ERR_OK;
    return why_set(why, ERR_TOOBIG,
                   "batches of %u rows are %u chunks of %u; there can be %u: "
                   "give a larger --chunk-rows",
                   batch, sampler_chunks(sampler), sampler->chunk_rows,
                   CHUNKS_MAX);
}

enum err batches_cut(const struct recipe *recipe, const struct family *family,
                     struct dataset *data, struct why *why)
{
    const char *shuffle = recipe_text(recipe, OPT_SHUFFLE);
    enum sampler_kind kind = SAMPLER_ROWS;
    enum err err;

    CHECK(shuffle == NULL || sampler_parse(shuffle, &kind));
    if (data->cut != NULL || family->chunk_rows == 0 ||
        recipe_given(recipe, OPT_CHUNK_ROWS) ||
        recipe_text(recipe, OPT_BATCH) == NULL ||
        (sampler_scatters(kind) &&
         recipe_count(recipe, OPT_BATCH) < data->rows))
        return ERR_OK;
    err =
        dataset_cut(data, batches_local_chunk_rows(recipe, family, data->rows));
    return err == ERR_OK ? err : why_set(why, err, "%s", err_text(err));
}

bool batches_counted(const struct recipe *recipe, const struct family *family,
                     const struct sampler *sampler)
{
    return recipe_given(recipe, OPT_PASSES) ||
           (!recipe_given(recipe, OPT_STEPS) &&
            (sampler->kind != SAMPLER_WHOLE || family->steps_least > 0));
}

/* Who waits for held-out rows to gain no more wants no other end before. */
static uint64_t default_passes(const struct recipe *recipe,
                               const struct family *family, uint64_t each,
                               double pass_work)
{
    const uint64_t least = (family->steps_least + each - 1) / each;
    const double paid =
        pass_work > 0 ? BATCHES_WORK / pass_work : family->passes;
    uint64_t passes = family->passes;

    if (recipe_given(recipe, OPT_PATIENCE) || paid >= BATCHES_PASSES_MOST)
        passes = BATCHES_PASSES_MOST;
    else if (paid > family->passes)
        passes = (uint64_t)paid;
    return least > passes ? least : passes;
}

enum err batches_steps(const struct recipe *recipe, const struct family *family,
                       const struct sampler *sampler, double pass_work,
                       uint32_t *steps, struct why *why)
{
    const bool passes = recipe_given(recipe, OPT_PASSES);
    const uint64_t each = sampler_steps(sampler);
    const uint64_t all =
        each * (passes ? recipe_count(recipe, OPT_PASSES)
                       : default_passes(recipe, family, each, pass_work));

    if (passes && recipe_given(recipe, OPT_STEPS))
        return why_set(why, ERR_SHAPE,
                       "--passes and --steps both say when to end; leave one "
                       "of them out");
    if (!batches_counted(recipe, family, sampler))
        return ERR_OK;
    if (all > UINT32_MAX)
        return why_set(why, ERR_TOOBIG,
                       "--passes %llu of %llu steps each are more than %u "
                       "steps; take a larger --batch",
                       (unsigned long long)(all / each),
                       (unsigned long long)each, UINT32_MAX);
    *steps = (uint32_t)all;
    return ERR_OK;
}
