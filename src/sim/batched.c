/*
 * batched.c - seeds of minibatches, and of samples.  Rows, batches and networks
 * are so small that a thousand microbatches take a millisecond.
 */
#include "sim/batched.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/rng.h"
#include "code/preset.h"
#include "code/rules.h"

#define TEXT_MAX      80u
#define SHADOWED      (1.0 / 8)
#define RESIZED_STEPS 12u
#define RESIZED_US    (30 * MS_US)

static uint32_t between(struct rng *rng, uint32_t low, uint32_t high)
{
    return (uint32_t)rng_between(rng, low, high);
}

/* --- samples ---------------------------------------------------------------
 */

/* Half of them are asked for other sizes on the way, at any moment of a step:
 * some in the same pass, some while nobody is there to ask. */
static void draw_sizes(uint64_t seed, struct sim_options *options)
{
    static const double sizes[] = {.02, .1, .25, .6, 1};
    struct rng rng;

    rng_init(&rng, seed ^ UINT64_C(0x73697a6573));
    if (rng_chance(&rng, 0.5))
        return;
    options->resize_count = between(&rng, 1, SIM_RESIZES);
    for (uint32_t i = 0; i < options->resize_count; i++)
        options->resize[i] = (struct sim_resize){
            .step = (uint32_t)rng_below(&rng, RESIZED_STEPS),
            .after_us = (time_us)rng_below(&rng, RESIZED_US),
            .size = sizes[rng_below(&rng, 5)]};
}

/* Code flexent, where it goes with what else was drawn. */
enum err batched_draw_shadows(uint64_t seed, struct sim_options *options,
                              struct why *why)
{
    static const char *const sizes[] = {"5%", "10%", "30%", "100%"};
    static const char *const draws[] = {"strata", "random", "entropy"};
    static const char *const estimates[] = {"abandon", "rescale", "shadow",
                                            "shrink", "shrink"};
    struct preset_options preset = {.name = "flexent",
                                    .workers = options->slots};
    trait_set traits = preset_traits(preset.name);
    struct rng rng;

    rng_init(&rng, seed ^ UINT64_C(0x736861646f77));
    if (options->fanout > 0)
        traits |= TRAIT(RELAYS);
    if (options->verify || options->audit > 0)
        traits |= TRAIT(CHECKED);
    if (!rules_allow(traits) || options->adapt || options->home_count > 0 ||
        options->follow || options->slots < 3 ||
        options->optim.kind == OPTIM_AVERAGE ||
        options->optim.kind == OPTIM_LBFGS ||
        options->optim.kind == OPTIM_NEWTON || !rng_chance(&rng, SHADOWED))
        return ERR_OK;
    preset.seed = rng_next(&rng);
    preset.shadows = 1 + (uint32_t)rng_below(&rng, options->slots > 4 ? 2 : 1);
    preset.stragglers = 1 + (uint32_t)rng_below(&rng, 2);
    if (preset.stragglers >= options->slots - preset.shadows)
        preset.stragglers = 1;
    preset.size = sizes[rng_below(&rng, 4)];
    preset.draw = draws[rng_below(&rng, 3)];
    preset.estimate = estimates[rng_below(&rng, 5)];
    draw_sizes(seed, options);
    return preset_spec(&preset, &options->code, why);
}

/* --- minibatches -----------------------------------------------------------
 */

/* Short last batches, and several passes of them; false: none are drawn. */
static bool draw_batches(uint64_t seed, const struct dataset *data,
                         struct sim_options *options)
{
    static const enum optim_kind kinds[] = {OPTIM_GD, OPTIM_GD, OPTIM_MOMENTUM,
                                            OPTIM_ADAM};
    const uint32_t rows = data->rows;
    trait_set traits = code_traits(&options->code) | TRAIT(BATCH);
    enum sampler_kind kind;
    uint32_t chunk_rows;
    struct rng rng;

    rng_init(&rng, seed ^ UINT64_C(0x6261746368));
    if (options->home_count > 0)
        traits |= TRAIT(OWNERS);
    if (options->follow || !rules_allow(traits) || !rng_chance(&rng, 0.36))
        return false;
    options->optim = optim_defaults(kinds[rng_below(&rng, 4)]);
    options->optim.rate = 0.02 + 0.05 * rng_unit(&rng);
    options->optim.l2 = rng_chance(&rng, 0.5) ? 0 : 0.01;
    options->optim.rows = rows;
    kind = rng_chance(&rng, 0.5) && options->home_count == 0 &&
                   !code_spec_sampled(&options->code)
               ? SAMPLER_ROWS
               : SAMPLER_LOCAL;
    chunk_rows = between(&rng, 1, 4);
    options->optim.sampler = sampler_of(
        kind, rows, sampler_scatters(kind) ? chunk_rows : data->chunk_rows,
        between(&rng, rows / 5, rows / 2), rng_next(&rng));
    options->optim.steps = between(&rng, 6, 25);
    if (sampler_scatters(kind) && rng_chance(&rng, 0.3))
        sim_bring_rows(options);
    return true;
}

/* --- networks ------------------------------------------------------------- */

/* Two labels become classes 0 and 1. */
static enum err name_labels(struct dataset *data)
{
    static const double label[] = {-1, 1};

    if (data->classes != 2)
        return ERR_OK;
    for (uint32_t i = 0; i < data->rows; i++)
        data->y[i] = data->y[i] > 0;
    return dataset_set_labels(data, label, 2);
}

/* Of every kind of layer one is drawn now and then. */
static enum err draw_layers(struct batched *batched, struct rng *rng,
                            const struct dataset *data, struct why *why)
{
    static const char *const vectors[] = {
        "dense4 tanh", "dense3 relu drop.5 dense4 sigmoid", ""};
    static const char *const images[] = {"conv2x2x2+1 relu pool2 drop.25",
                                         "conv3x3x2+1 tanh avg2 dense3 relu"};
    static const char *const lines[] = {"conv1x3x2 relu drop.25",
                                        "conv1x2x2 sigmoid dense2 tanh"};
    const uint32_t cols = data->cols;
    const uint32_t outputs = data->classes > 0 ? data->classes : 1;
    const uint64_t pick = rng_below(rng, 5);
    struct neural_units units = neural_units(1);
    struct neural_shape in = {1, 1, cols};
    const char *layers = vectors[pick % 3];
    char text[TEXT_MAX];

    if (pick >= 3) {
        in = cols % 2 == 0 ? (struct neural_shape){2, cols / 2, 1}
                           : (struct neural_shape){1, cols, 1};
        layers = cols % 2 == 0 ? images[pick - 3] : lines[pick - 3];
    }
    (void)snprintf(text, sizeof text, "%s dense%u", layers, outputs);
    if (data->classes == 0) {
        units.mean = rng_unit(rng);
        units.spread = 0.5 + rng_unit(rng);
    }
    return neural_model_init(
        &batched->net, text, &in,
        data->classes > 0 ? NEURAL_SOFTMAX : NEURAL_SQUARED, &units, why);
}

/* A third of them have rows that do not count alike, some not at all. */
static enum err draw_weights(struct dataset *data, struct rng *rng)
{
    enum err err = ERR_OK;

    if (!rng_chance(rng, 0.33))
        return ERR_OK;
    err = dataset_add_weights(data);
    for (uint32_t i = 0; i < data->rows && err == ERR_OK; i++) {
        const double drawn = rng_unit(rng);

        data->weight[i] = drawn < 0.1 ? 0 : 0.25 + drawn;
    }
    return err;
}

/* As `muster train` would, sizes behind them. */
static enum err draw_start(struct batched *batched, uint64_t seed)
{
    const struct neural *const net = &batched->net.neural;
    float *drawn = mem_new(net->parameters, sizeof *drawn);

    batched->start = mem_new(neural_sums_dims(net), sizeof *batched->start);
    if (drawn != NULL && batched->start != NULL) {
        neural_draw(net, seed, drawn);
        for (size_t j = 0; j < net->parameters; j++)
            batched->start[j] = (double)drawn[j];
    }
    mem_free(drawn);
    return drawn == NULL || batched->start == NULL ? ERR_NOMEM : ERR_OK;
}

/* Its scale is followed, where one refuser is believed (math/exact/follow.h):
 * there is none then. */
static enum err draw_network(struct batched *batched, struct rng *rng,
                             struct dataset *data, struct problem *problem,
                             struct sim_options *options, struct why *why)
{
    struct optim_options *const optim = &options->optim;
    enum err err;

    if (options->mix.weight[FAULT_REFUSE] > 0 || rng_chance(rng, 0.5))
        return ERR_OK;
    err = name_labels(data);
    if (err == ERR_OK)
        err = draw_layers(batched, rng, data, why);
    if (err == ERR_OK)
        err = draw_weights(data, rng);
    optim->seed = rng_next(rng);
    if (err == ERR_OK)
        err = draw_start(batched, optim->seed);
    if (err != ERR_OK)
        return err;
    if (data->classes > 0)
        *problem = problem_of(data, MODEL_SOFTMAX, problem->isa);
    if (rng_chance(rng, 0.1)) /* All rows. */
        optim->sampler = sampler_of(optim->sampler.kind, data->rows,
                                    data->chunk_rows, data->rows, 0);
    optim->start = batched->start;
    options->net = &batched->net;
    options->settle_us *= 4; /* One step may take several scales. */
    return ERR_OK;
}

/* --- held-out rows -------------------------------------------------------- */

/* What they measure is the distance of some weights from a point near those
 * that a run begins with: it falls, then rises, or only rises. */
static enum err distance(void *context, const double *weights, double *loss)
{
    const struct batched *const batched = context;

    *loss = 0;
    for (uint32_t j = 0; j < BATCHED_HELD_OUT; j++) {
        const double away = weights[j] - batched->best[j];

        *loss += away * away;
    }
    return ERR_OK;
}

static void draw_held_out(struct batched *batched, struct rng *rng,
                          struct sim_options *options)
{
    struct optim_options *const optim = &options->optim;

    if (!rng_chance(rng, 0.33))
        return;
    for (uint32_t j = 0; j < BATCHED_HELD_OUT; j++) {
        batched->best[j] = 0.4 * (rng_unit(rng) - 0.5);
        if (optim->start != NULL)
            batched->best[j] += optim->start[j];
    }
    optim->held_out = true;
    optim->patience = between(rng, 0, 3);
    options->held_out = (struct held_out){distance, batched};
}

enum err batched_draw(struct batched *batched, uint64_t seed,
                      struct dataset *data, struct problem *problem,
                      struct sim_options *options, struct why *why)
{
    struct rng rng;
    enum err err;

    *batched = (struct batched){0};
    if (!draw_batches(seed, data, options))
        return ERR_OK;
    rng_init(&rng, seed ^ UINT64_C(0x6c6179657273));
    err = draw_network(batched, &rng, data, problem, options, why);
    if (err == ERR_OK)
        draw_held_out(batched, &rng, options);
    return err == ERR_NOMEM ? why_set(why, err, "%s", err_text(err)) : err;
}

void batched_close(struct batched *batched)
{
    neural_model_close(&batched->net);
    mem_free(batched->start);
    *batched = (struct batched){0};
}
