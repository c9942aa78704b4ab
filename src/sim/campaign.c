/*
 * campaign.c - what a seed draws, and many seeds one after the other.
 */
#include "sim/campaign.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/rng.h"
#include "code/preset.h"
#include "code/rules.h"
#include "sim/batched.h"
#include "sim/elastic.h"
#include "sim/followed.h"
#include "sim/ring.h"

#define CHUNK_ROWS 8u
#define SLOTS_MAX  9u

/* A seed's problem; close after the run. */
struct draw {
    struct dataset data;
    struct problem problem;
    struct sim_options options;
    struct code_matrix matrix; /* Over `entry`, of code matrix. */
    double entry[SLOTS_MAX * SLOTS_MAX];
    double speed[SLOTS_MAX];      /* Of code cb. */
    struct home homes[SLOTS_MAX]; /* Of private data, and what of them the */
    uint32_t home_chunk[SLOTS_MAX + 1]; /* code's class depends on. */
    uint32_t home_slot[SLOTS_MAX + 1];
    struct code_homes code_homes;
    struct batched batched;
};

static uint32_t between(struct rng *rng, uint32_t low, uint32_t high)
{
    return (uint32_t)rng_between(rng, low, high);
}

/* --- data ---------------------------------------------------------------- */

/* Two overlapping clouds; labels of regression have noise of their own. */
static void fill_rows(struct dataset *data, struct rng *rng, bool regression)
{
    for (uint32_t i = 0; i < data->rows; i++) {
        const double side = rng_chance(rng, 0.5) ? 1 : -1;
        float *row = dataset_row(data, i);

        for (uint32_t j = 0; j < data->cols; j++)
            row[j] = (float)(side * 0.3 + 2 * rng_unit(rng) - 1);
        data->y[i] = regression ? side + rng_unit(rng) : side;
    }
    data->classes = regression ? 0 : 2;
    data->label[0] = -1;
    data->label[1] = 1;
    chunkset_fill(&data->present);
}

/* Three classes, of rows as they are: nothing more is drawn, so that a seed is
 * otherwise what it was before there was softmax. */
static enum err name_classes(struct dataset *data)
{
    static const double label[] = {0, 1, 2};

    for (uint32_t i = 0; i < data->rows; i++) {
        const float *const row = dataset_row(data, i);

        data->y[i] = (data->y[i] > 0) + (row[0] > 0);
    }
    return dataset_set_labels(data, label, 3);
}

/* mds: data are coded for one weight vector. */
static bool allows_classes(const char *code)
{
    return rules_allow(preset_traits(code) | TRAIT(CLASSES));
}

/* Every draw is a statement of its own here and below: C leaves the order of
 * arguments and initialisers to the compiler. */
static enum err draw_data(struct draw *draw, struct rng *rng,
                          const struct campaign_options *campaign)
{
    const bool many = campaign->code == NULL || allows_classes(campaign->code);
    static const enum model_kind kinds[] = {MODEL_LINEAR, MODEL_LOGISTIC,
                                            MODEL_SVM};
    enum model_kind kind = kinds[rng_below(rng, 3)];
    const uint32_t rows = between(rng, 64, 400);
    const uint32_t cols = between(rng, 3, 12);
    enum err err = dataset_init(&draw->data, rows, cols, CHUNK_ROWS);

    if (err != ERR_OK)
        return err;
    fill_rows(&draw->data, rng, kind == MODEL_LINEAR);
    if (kind == MODEL_SVM && rows % 2 == 1 && many) {
        kind = MODEL_SOFTMAX;
        err = name_classes(&draw->data);
    }
    draw->problem = problem_of(&draw->data, kind, campaign->isa);
    return err;
}

/* --- code ---------------------------------------------------------------- */

/* Mostly bitwise codes: there the checkers see everything. */
static const struct {
    const char *name;
    uint32_t weight;
} code_odds[] = {
    {"uncoded", 16}, {"frc", 16},    {"rep", 14},
    {"steal", 30},   {"stream", 20}, {"partial-frc", 10},
    {"cyclic", 6},   {"cb", 8},      {"partial-cyclic", 8},
    {"matrix", 4},   {"mds", 4},     {"ignore", 4},
    {"agc", 6},      {"sgc", 4},     {"local", 8},
};

static const char *draw_code_name(struct rng *rng)
{
    const size_t count = sizeof code_odds / sizeof *code_odds;
    uint64_t total = 0;
    uint64_t at;

    for (size_t i = 0; i < count; i++)
        total += code_odds[i].weight;
    at = rng_below(rng, total);
    for (size_t i = 0; i < count; i++) {
        if (at < code_odds[i].weight)
            return code_odds[i].name;
        at -= code_odds[i].weight;
    }
    return code_odds[0].name;
}

static bool is(const struct preset_options *preset, const char *name)
{
    return strcmp(preset->name, name) == 0;
}

/* The matrix of frc: any answer of a group gives its sum. */
static void fill_matrix(struct draw *draw, uint32_t n, uint32_t copies)
{
    draw->matrix = (struct code_matrix){n, n / copies, draw->entry};
    for (uint32_t i = 0; i < n; i++)
        draw->entry[i * (n / copies) + i / copies] = 1;
}

/* What only some codes have. */
static void draw_extras(struct draw *draw, struct preset_options *preset,
                        struct rng *rng)
{
    const uint32_t n = preset->workers;
    const uint32_t k = between(rng, 1, n);
    const bool other = rng_chance(rng, 0.4);

    preset->pieces = is(preset, "stream") ? between(rng, 1, 5) : 0;
    preset->parts = is(preset, "partial-frc") || is(preset, "partial-cyclic")
                        ? preset->stragglers + 2 + k % 3
                        : 0;
    for (uint32_t i = 0; i < n; i++)
        draw->speed[i] = 0.5 + 2 * rng_unit(rng);
    if (is(preset, "cb") && other) {
        preset->speed = draw->speed;
        preset->speeds = n;
    }
    if (is(preset, "matrix"))
        preset->matrix = &draw->matrix;
    if (is(preset, "agc") && other)
        preset->estimate = "ratio";
    preset->collect = is(preset, "agc") ? k : 0;
    if (!other ||
        !(is(preset, "agc") || is(preset, "sgc") || is(preset, "local")))
        return;
    preset->collect = 0; /* A deadline instead. */
    preset->stop = "deadline:0.02";
}

static enum err draw_code(struct draw *draw, const char *code, struct rng *rng,
                          struct why *why)
{
    struct preset_options preset = {.name = draw_code_name(rng)};
    const uint32_t n = between(rng, 2, 8);
    uint32_t copies;

    preset.name = code != NULL ? code : preset.name;
    if (draw->problem.model->classes && !allows_classes(preset.name))
        preset.name = "cb";
    preset.seed = rng_next(rng);
    preset.stragglers = between(rng, 1, n > 3 ? 2 : 1);
    copies = preset.stragglers + 1;
    preset.workers = n;
    if (is(&preset, "matrix") || preset_find(preset.name)->divisible)
        preset.workers = (n + copies - 1) / copies * copies;
    fill_matrix(draw, preset.workers, copies);
    draw_extras(draw, &preset, rng);
    draw->options.slots = preset.workers;
    /* Every third of those that help the slow changes its code, so often that
     * faults fall on it.  Nothing more is drawn: other seeds stay as they
     * were. */
    if (is(&preset, "steal") && preset.seed % 3 == 0) {
        draw->options.adapt = true;
        draw->options.drill = 2;
    }
    /* Likewise most of those that leave the late out keep their answers. */
    if (is(&preset, "ignore") && preset.seed % 4 > 0)
        preset.staleness = (uint32_t)(preset.seed % 4);
    return preset_spec(&preset, &draw->options.code, why);
}

/* --- everything else ----------------------------------------------------- */

/* How workers come by their data; a stream of its own, so that it changes
 * nothing else about a seed. */
static void draw_roads(struct sim_options *options, uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed ^ UINT64_C(0x6b6570746368756e));
    options->kept = rng_chance(&rng, 0.5) ? 0 : rng_unit(&rng);
    options->shared = rng_chance(&rng, 0.25);
    options->peers = rng_chance(&rng, 0.4);
    options->in_place = rng_chance(&rng, 0.5) ? 0 : rng_unit(&rng);
    options->tray =
        rng_chance(&rng, 0.5) ? 0 : 2 + (uint32_t)rng_below(&rng, 7);
}

static void draw_times(struct sim_options *options, struct rng *rng)
{
    options->chunk_us = (time_us)between(rng, 200, 4000);
    /* A rack, now and then a continent. */
    options->latency_us = (time_us)between(rng, 20, 500);
    if (rng_chance(rng, 0.1))
        options->latency_us = (time_us)between(rng, 20, 100) * MS_US;
    options->bulk_latency_us =
        options->latency_us + (time_us)between(rng, 0, 2000);
    options->jitter_us = (time_us)between(rng, 0, 1000);
    options->dead_us = (time_us)between(rng, 500, 2000) * MS_US;
    options->suspect_us = (time_us)between(rng, 150, 300) * MS_US;
    options->resend_us = (time_us)between(rng, 100, 500) * MS_US;
    options->checkpoint_steps = between(rng, 1, 6);
    options->sync = rng_chance(rng, 0.2);
    options->shipped = rng_chance(rng, 0.5) ? 0 : rng_unit(rng);
}

/* Methods whose steps take several rounds; they need exact sums. */
static void draw_method(struct draw *draw, struct rng *rng)
{
    struct optim_options *optim = &draw->options.optim;

    if (rng_chance(rng, 0.6) || !code_spec_bitwise(&draw->options.code))
        return;
    *optim = optim_defaults(rng_chance(rng, 0.5) ? OPTIM_LBFGS : OPTIM_NEWTON);
    if (rng_chance(rng, 0.5)) {
        optim->dense_max = 0; /* newton: conjugate gradients; ... */
        if (optim->kind == OPTIM_LBFGS)
            optim->rate = 1e200; /* ... lbfgs: trials that are rejected. */
    }
    if (!problem_has_hessian(&draw->problem))
        optim->dense_max = 0;
    optim->l2 = 0.01;
    optim->steps = between(rng, 3, 8);
    optim->rows = draw->data.rows;
}

/* Own steps of gd, or of sgd where there is one weight vector. */
static void draw_local(struct draw *draw, struct rng *rng)
{
    struct optim_options *optim = &draw->options.optim;
    const uint32_t every = between(rng, 1, 6);

    optim->kind = OPTIM_GD;
    if (!draw->problem.model->classes && rng_chance(rng, 0.4)) {
        optim->kind = OPTIM_SGD;
        optim->l2 = 0.5;
        optim->seed = rng_next(rng);
    }
    *optim = optim_averaged(optim, every);
}

static void draw_optim(struct draw *draw, struct rng *rng)
{
    struct optim_options *optim = &draw->options.optim;

    optim->kind = rng_chance(rng, 0.5) ? OPTIM_GD : OPTIM_AGD;
    optim->rate = 0.05 + 0.1 * rng_unit(rng);
    optim->decay = rng_chance(rng, 0.5) ? 1 : 0.98;
    optim->l2 = rng_chance(rng, 0.5) ? 0 : 0.01;
    optim->steps = between(rng, 6, 25);
    optim->rows = draw->data.rows;
    draw_method(draw, rng);
    if (draw->options.code.placement == PLACE_LOCAL)
        draw_local(draw, rng);
}

static enum err draw_delay(struct sim_options *options, struct rng *rng,
                           struct why *why)
{
    if (rng_chance(rng, 0.7))
        return ERR_OK;
    return delay_parse("exp:0.03", rng_next(rng), &options->delay, why);
}

/* Some seeds of the codes whose pieces can be compared are run with --verify,
 * or with --audit, and with liars among the faults; nothing more is drawn:
 * other seeds stay as they were. */
static void draw_trust(struct sim_options *options)
{
    const uint64_t pick = rng_at(options->seed, 6, 28) % 8;

    if (!rules_allow(code_traits(&options->code) | TRAIT(CHECKED)))
        return;
    options->verify = pick == 0;
    options->audit = pick == 1 ? 0.3 : 0;
    if (options->verify)
        options->mix.weight[FAULT_LIE] = 8;
}

/* Some have a refuser, but not among faults that may leave it alone: who is
 * alone is believed. */
static void draw_refusals(struct sim_options *options)
{
    if (options->slots < 3 || rng_at(options->seed, 7, 29) % 16 != 0)
        return;
    options->mix = (struct fault_mix){.weight = {[FAULT_JOIN] = 4,
                                                 [FAULT_REPLAY] = 8,
                                                 [FAULT_SLOW] = 8,
                                                 [FAULT_REFUSE] = 4}};
}

/* Every fourth seed has relays, drawn from a stream of its own: the others
 * stay as they were. */
static void draw_relays(struct sim_options *options, uint64_t seed,
                        uint32_t fanout)
{
    struct rng rng;

    rng_init(&rng, seed ^ UINT64_C(0x72656c617973));
    if ((seed % 4 != 3 && fanout == 0) ||
        !rules_allow(code_traits(&options->code) | TRAIT(RELAYS)))
        return;
    options->fanout = between(&rng, 1, 4);
    if (fanout > 0)
        options->fanout = fanout;
    options->deep = rng_chance(&rng, 0.3);
    options->mix.weight[FAULT_RELAY] = 14;
    options->settle_us *= 3; /* The way is two or three times as long. */
}

/* Whole chunks each, one at least, of all sizes. */
static void cut_homes(struct draw *draw, uint32_t count, struct rng *rng)
{
    const uint32_t chunks = dataset_chunks(&draw->data);
    uint32_t first = 0;

    for (uint32_t h = 0; h < count; h++) {
        const uint32_t left = count - h - 1;
        const uint32_t most = chunks - first - left;
        const uint32_t fair = (chunks - first) / (left + 1);
        uint32_t size = between(rng, 1, 2 * fair);
        uint32_t row;

        size = left == 0 || size > most ? most : size;
        row = first * CHUNK_ROWS;
        draw->homes[h] = (struct home){.part = hash_bytes(&h, sizeof h),
                                       .first = first,
                                       .end = first + size,
                                       .rows = size * CHUNK_ROWS};
        if (left == 0)
            draw->homes[h].rows = draw->data.rows - row;
        first += size;
        draw->home_chunk[h + 1] = first;
        draw->home_slot[h + 1] = h + 1;
    }
}

/* Half of the seeds whose code can do with it have private data; from a stream
 * of its own, as all that came later. */
static void draw_homes(struct draw *draw, uint64_t seed)
{
    struct sim_options *options = &draw->options;
    struct code_spec *code = &options->code;
    trait_set traits = code_traits(code) | TRAIT(OWNERS);
    struct rng rng;

    rng_init(&rng, seed ^ UINT64_C(0x70726976617465));
    if (options->adapt)
        traits |= TRAIT(ADAPTS);
    if (options->verify || options->audit > 0)
        traits |= TRAIT(CHECKED);
    if (options->fanout > 0)
        traits |= TRAIT(RELAYS);
    if (!rules_allow(traits) || rng_chance(&rng, 0.5))
        return;
    cut_homes(draw, options->slots, &rng);
    draw->code_homes = (struct code_homes){.count = options->slots,
                                           .chunk = draw->home_chunk,
                                           .slot = draw->home_slot};
    code->placement = PLACE_HOMES;
    code->homes = &draw->code_homes;
    options->homes = draw->homes;
    options->home_count = options->slots;
    options->shared = false;
}

static enum err draw_all(struct draw *draw, uint64_t seed,
                         const struct campaign_options *campaign,
                         struct why *why)
{
    struct sim_options *options = &draw->options;
    struct rng rng;
    enum err err;

    rng_init(&rng, seed ^ UINT64_C(0x63616d706169676e));
    *draw = (struct draw){.options = sim_options_default()};
    err = draw_data(draw, &rng, campaign);
    if (err != ERR_OK)
        return why_set(why, err, "%s", err_text(err));
    options->problem = &draw->problem;
    options->seed = seed;
    err = draw_code(draw, campaign->code, &rng, why);
    draw_optim(draw, &rng);
    draw_times(options, &rng);
    draw_roads(options, seed);
    if (err == ERR_OK)
        err = draw_delay(options, &rng, why);
    options->workers_max = options->slots + between(&rng, 0, 4);
    options->faults = !campaign->quiet_faults;
    options->fault_count = between(&rng, 40, FAULTS_MAX);
    options->fault_gap_us = (time_us)between(&rng, 5, 90) * MS_US;
    /* Across a continent a step of many trials takes its time. */
    options->settle_us = 5 * SECOND_US + 100 * options->latency_us;
    options->fault_skip = campaign->skip;
    options->sink = campaign->trace;
    options->sink_context = campaign->trace_context;
    draw_trust(options);
    draw_relays(options, seed, campaign->fanout);
    draw_homes(draw, seed);
    draw_refusals(options);
    followed_draw(seed, options);
    /* Codes that go with few problems are drawn last, instead of the first; not
     * where one is asked for. */
    if (err == ERR_OK && campaign->code == NULL)
        err = batched_draw_shadows(seed, options, why);
    if (err == ERR_OK)
        err = batched_draw(&draw->batched, seed, &draw->data, &draw->problem,
                           options, why);
    if (err == ERR_OK && campaign->code == NULL)
        err = elastic_draw(seed, &draw->data, &draw->problem, options, why);
    return err;
}

static void describe_draw(const struct draw *draw, bool ring,
                          char text[SIM_TEXT])
{
    const struct sim_options *options = &draw->options;
    const char *on = options->follow
                         ? "a followed scale"
                         : sampler_batches(options->optim.sampler.kind);

    (void)snprintf(
        text, SIM_TEXT,
        "%s %s%s%s, %u x %u%s, %s %s%s s=%u k=%u%s, %u workers (at most "
        "%u%s), %u steps%s",
        options->net != NULL ? options->net->text : draw->problem.model->name,
        optim_name(options->optim.kind), *on == '\0' ? "" : " on ", on,
        draw->data.rows, draw->data.cols,
        options->home_count > 0 ? " (private)" : "",
        ring ? "a ring, not code" : "code", options->adapt ? "auto from " : "",
        options->code.name, options->code.stragglers, options->code.k,
        options->code.staleness > 0 ? " stale" : "", options->slots,
        options->workers_max, options->fanout > 0 ? ", over relays" : "",
        options->optim.steps, options->optim.patience > 0 ? " or fewer" : "");
}

enum err campaign_seed(const struct campaign_options *options, uint64_t seed,
                       struct sim_result *result, char describe[SIM_TEXT],
                       struct why *why)
{
    struct draw draw;
    enum err err = draw_all(&draw, seed, options, why);
    /* No code is of a ring. */
    const bool in_ring = err == ERR_OK && options->code == NULL &&
                         ring_drawn(&draw.options, options->rings);

    if (err == ERR_OK && describe != NULL)
        describe_draw(&draw, in_ring, describe);
    if (in_ring) {
        const struct ring_options ring = ring_options_of(&draw.options);

        err = ring_run(&ring, result, NULL, why);
    } else if (err == ERR_OK && options->rings) {
        *result = (struct sim_result){0};
    } else if (err == ERR_OK) {
        err = sim_run(&draw.options, result, why);
    }
    batched_close(&draw.batched);
    dataset_close(&draw.data);
    return err;
}

/* --- shrinking ----------------------------------------------------------- */

static enum err fails(const struct campaign_options *options, uint64_t seed,
                      struct sim_result *result, struct why *why)
{
    const enum err err = campaign_seed(options, seed, result, NULL, why);

    if (err == ERR_OK)
        sim_result_close(result);
    return err;
}

/* From the last fault to the first: does it fail without this one? */
static enum err shrink_once(const struct campaign_options *quiet, uint64_t seed,
                            bool *skip, uint32_t *left, struct why *why)
{
    enum err err = ERR_OK;

    for (uint32_t i = FAULTS_MAX; i > 0 && err == ERR_OK; i--) {
        struct sim_result result;

        if (skip[i - 1])
            continue;
        skip[i - 1] = true;
        err = fails(quiet, seed, &result, why);
        skip[i - 1] = err == ERR_OK && result.violated;
        if (skip[i - 1])
            *left = result.faults;
    }
    return err;
}

/* A fault less changes what happens after it, so a second look may find more
 * that can go. */
enum err campaign_shrink(const struct campaign_options *options, uint64_t seed,
                         bool *skip, uint32_t *left, struct why *why)
{
    struct campaign_options quiet = *options;
    struct sim_result result;
    uint32_t before = UINT32_MAX;
    enum err err;

    quiet.skip = skip;
    quiet.trace = NULL;
    for (uint32_t i = 0; i < FAULTS_MAX; i++)
        skip[i] = false;
    err = fails(&quiet, seed, &result, why);
    if (err != ERR_OK)
        return err;
    *left = result.violated ? result.faults : 0;
    while (err == ERR_OK && *left > 0 && *left < before) {
        before = *left;
        err = shrink_once(&quiet, seed, skip, left, why);
    }
    return err;
}

/* The trace of a seed; if it fails, with no more faults than it needs. */
static enum err show_seed(const struct campaign_options *options, uint64_t seed,
                          struct why *why)
{
    struct campaign_options shown = *options;
    bool skip[FAULTS_MAX];
    char line[2 * SIM_TEXT];
    char problem[SIM_TEXT] = "";
    struct sim_result result;
    uint32_t left = 0;
    enum err err = campaign_shrink(options, seed, skip, &left, why);

    shown.trace = NULL;
    if (err == ERR_OK)
        err = campaign_seed(&shown, seed, &result, problem, why);
    if (err != ERR_OK)
        return err;
    (void)snprintf(line, sizeof line, "# seed %" PRIu64 ": %s, %u faults", seed,
                   problem, result.faults);
    options->trace(options->trace_context, line);
    if (result.violated) {
        (void)snprintf(line, sizeof line,
                       "# it fails; shown with the %u faults it needs to",
                       left);
        options->trace(options->trace_context, line);
    }
    sim_result_close(&result);
    shown.trace = options->trace;
    shown.skip = skip;
    return fails(&shown, seed, &result, why);
}

/* --- many ---------------------------------------------------------------- */

/* No flag of muster's makes a ring of a seed that draws none. */
void campaign_replay(const struct campaign_options *options, uint64_t seed,
                     char text[SIM_TEXT])
{
    const char *code = options->code != NULL ? options->code : "";
    char relays[32] = "";

    if (options->fanout > 0)
        (void)snprintf(relays, sizeof relays, " --fanout %u", options->fanout);
    if (options->rings)
        (void)snprintf(text, SIM_TEXT,
                       "RING_FIRST=%" PRIu64 " RING_SEEDS=1 "
                       "build/release/tests/unit/sim-test_ring",
                       seed);
    else
        (void)snprintf(text, SIM_TEXT,
                       "muster simulate --faults --seed %" PRIu64 "%s%s%s",
                       seed, relays, code[0] != '\0' ? " --code " : "", code);
}

static void report(const struct campaign_options *options,
                   struct campaign_result *total, uint64_t seed,
                   const char *what, const char *problem)
{
    char line[4 * SIM_TEXT], replay[SIM_TEXT];

    if (total->violations++ == 0)
        total->first_violation = seed;
    if (options->sink == NULL)
        return;
    campaign_replay(options, seed, replay);
    (void)snprintf(line, sizeof line,
                   "VIOLATION seed %" PRIu64 " (%s): %s  reproduce: %s", seed,
                   problem, what, replay);
    options->sink(options->sink_context, line);
}

static void add(struct campaign_result *total, const struct sim_result *one)
{
    total->seeds++;
    total->faults += one->faults;
    for (int kind = 0; kind < FAULT_KINDS; kind++)
        total->by_kind[kind] += one->by_kind[kind];
    total->messages += one->messages;
    total->events += one->events;
    total->steps += one->steps;
    total->lives += one->lives;
    total->lost += one->lost;
    total->doubled += one->doubled;
    total->reordered += one->reordered;
    total->virtual_s += one->end_s;
    total->digest =
        (total->digest ^ one->trace_digest) * UINT64_C(0x9e3779b97f4a7c15);
}

static enum err one_seed(const struct campaign_options *options, uint64_t seed,
                         struct campaign_result *total, struct why *why)
{
    const bool twice =
        options->twice_every > 0 && seed % options->twice_every == 0;
    struct campaign_options quiet = *options;
    char problem[SIM_TEXT] = "";
    struct sim_result result;
    struct sim_result again;
    enum err err = ERR_OK;

    quiet.trace = NULL;
    if (options->trace != NULL)
        err = show_seed(options, seed, why);
    if (err == ERR_OK)
        err = campaign_seed(&quiet, seed, &result, problem, why);
    if (err != ERR_OK)
        return why_in(why, err, "seed %" PRIu64, seed);
    if (result.events == 0 && !result.violated)
        return ERR_OK; /* Left out; what is wrong from the start is not. */
    add(total, &result);
    if (result.violated)
        report(options, total, seed, result.violation, problem);
    sim_result_close(&result);
    if (!twice)
        return ERR_OK;
    err = campaign_seed(&quiet, seed, &again, NULL, why);
    if (err != ERR_OK)
        return err;
    if (again.trace_digest != result.trace_digest)
        report(options, total, seed, "the same seed ran otherwise twice",
               problem);
    sim_result_close(&again);
    return ERR_OK;
}

enum err campaign_run(const struct campaign_options *options,
                      struct campaign_result *result, struct why *why)
{
    struct campaign_result total = {0};
    enum err err = ERR_OK;

    for (uint64_t i = 0; total.seeds < options->count && err == ERR_OK; i++) {
        err = one_seed(options, options->first_seed + i, &total, why);
        if (options->stop_after > 0 && total.violations >= options->stop_after)
            break;
    }
    if (err == ERR_OK)
        *result = total;
    return err;
}
