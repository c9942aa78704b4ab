/*
 * elastic.c - code `cec` for a seed: with L machines at least each step ends.
 */
#include "sim/elastic.h"

#include "base/rng.h"
#include "code/preset.h"

#define SHARE (1.0 / 6)

static uint32_t between(struct rng *rng, uint32_t low, uint32_t high)
{
    return (uint32_t)rng_between(rng, low, high);
}

static trait_set traits_of(const struct problem *problem,
                           const struct sim_options *options)
{
    trait_set traits = preset_traits("cec");

    if (problem->model->classes)
        traits |= TRAIT(CLASSES);
    if (options->fanout > 0)
        traits |= TRAIT(RELAYS);
    if (options->verify || options->audit > 0)
        traits |= TRAIT(CHECKED);
    return traits;
}

enum err elastic_draw(uint64_t seed, const struct dataset *data,
                      const struct problem *problem,
                      struct sim_options *options, struct why *why)
{
    const uint32_t chunks = dataset_chunks(data);
    struct preset_options preset = {.name = "cec", .workers = options->slots};
    struct rng rng;
    uint32_t most;

    rng_init(&rng, seed ^ UINT64_C(0x656c6173746963));
    if (!rules_allow(traits_of(problem, options)) || options->adapt ||
        code_spec_sampled(&options->code) || options->home_count > 0 ||
        options->follow || options->net != NULL ||
        options->optim.sampler.kind != SAMPLER_WHOLE ||
        options->optim.patience > 0 || options->optim.kind == OPTIM_AVERAGE ||
        !rng_chance(&rng, SHARE))
        return ERR_OK;
    optim_on_scores(&options->optim);
    most = options->slots > 2 ? options->slots - 1 : options->slots;
    preset.seed = rng_next(&rng);
    if (options->mix.weight[FAULT_REFUSE] > 0)
        most = 1; /* One who does not refuse is left, and no more. */
    preset.l = between(&rng, 1, most < chunks ? most : chunks);
    preset.blocks = options->workers_max + between(&rng, 0, 2);
    preset.copies = between(&rng, 1, 2);
    preset.pieces = between(&rng, 1, 16);
    preset.rule = rng_chance(&rng, 0.2) ? "cyclic" : "wrap";
    return preset_spec(&preset, &options->code, why);
}
