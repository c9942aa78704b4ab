/*
 * setup.c - checks in the order of their cost.
 */
#include "cli/setup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "code/preset.h"
#include "data/source.h"
#include "math/golden.h"
#include "os/threads.h"

#define PLAIN_NAME        "plain"
#define DEFAULT_CODE      "steal"
#define SIMULATED_WORKERS 8u
#define SPARE_SEATS       64u /* For joiners, when --workers does not say. */

/* Options that mean nothing without workers. */
static const enum option_id needs_workers[] = {
    OPT_CODE,  OPT_STRAGGLERS, OPT_COLLECT, OPT_ESTIMATE,
    OPT_DELAY, OPT_CHAOS,      OPT_RESPAWN,
};

static enum err refuse_without_workers(const struct options *options,
                                       struct why *why)
{
    const size_t count = sizeof needs_workers / sizeof *needs_workers;

    for (size_t i = 0; i < count; i++)
        if (option_given(options, needs_workers[i]))
            return why_set(why, ERR_SHAPE,
                           "--%s needs workers; add -n N, the number of them",
                           option_table()[needs_workers[i]].name);
    return ERR_OK;
}

static bool keeps_state(const struct options *options)
{
    if (options->shape.command != CMD_TRAIN)
        return false;
    return option_given(options, OPT_OUT) ||
           option_given(options, OPT_RESUME) ||
           option_flag(options, OPT_SYNC) ||
           option_given(options, OPT_MAX_TIME);
}

static void count_workers(struct setup *setup, const struct options *options)
{
    const struct setting *span = &options->setting[OPT_WORKERS];
    const bool listens = option_given(options, OPT_LISTEN);

    setup->local = (uint32_t)option_count(options, OPT_N);
    setup->slots = span->text != NULL ? (uint32_t)span->low : setup->local;
    /* A run that is kept has a coordinator, and so at least one worker. */
    if (setup->slots == 0 && (listens || keeps_state(options))) {
        setup->slots = 1;
        setup->local = listens ? 0 : 1;
    }
    if (span->text != NULL && !option_given(options, OPT_N) && !listens)
        setup->local = setup->slots;
    if (setup->slots == 0 && options->shape.command == CMD_SIMULATE)
        setup->slots = SIMULATED_WORKERS;
    setup->workers_max = span->text != NULL && span->high > span->low
                             ? (uint32_t)span->high
                             : setup->slots + SPARE_SEATS;
    if (setup->workers_max < setup->local)
        setup->workers_max = setup->local;
}

/* One worker needs no code; the receipts call that plain. */
static enum err choose_code(struct setup *setup, const struct options *options,
                            struct why *why)
{
    const char *name = option_text(options, OPT_CODE);
    const bool plain = setup->slots <= 1 && name == NULL;
    const bool given = option_given(options, OPT_STRAGGLERS);
    const struct preset_options preset = {
        .name = plain          ? "uncoded"
                : name != NULL ? name
                               : DEFAULT_CODE,
        .stragglers =
            plain ? 0 : (uint32_t)option_count(options, OPT_STRAGGLERS),
        .collect = option_text(options, OPT_COLLECT) == NULL
                       ? 0
                       : (uint32_t)option_count(options, OPT_COLLECT),
        .estimate = option_text(options, OPT_ESTIMATE),
        .workers = setup->slots == 0 ? 1 : setup->slots,
        .seed = option_count(options, OPT_SEED),
    };
    enum err err;

    if (plain && given && option_count(options, OPT_STRAGGLERS) > 0)
        return why_set(why, ERR_SHAPE,
                       "--stragglers %llu needs at least %llu workers; there "
                       "is one",
                       (unsigned long long)preset.stragglers,
                       (unsigned long long)preset.stragglers + 1);
    err = preset_spec(&preset, &setup->code, why);
    if (err == ERR_OK && plain)
        (void)snprintf(setup->code.name, sizeof setup->code.name, "%s",
                       PLAIN_NAME);
    return err == ERR_UNKNOWN ? why_in(why, err, "--code") : err;
}

static enum exactness wanted_class(const struct options *options)
{
    const char *wanted = option_text(options, OPT_EXACT);

    for (int i = EXACT_BITWISE; wanted != NULL && i < EXACT_APPROX; i++)
        if (strcmp(wanted, exactness_name((enum exactness)i)) == 0)
            return (enum exactness)i;
    return EXACT_APPROX;
}

/* Build once for real: the only honest answer to whether it fits. */
static enum err try_code(struct setup *setup, const struct options *options,
                         uint32_t chunks, struct why *why)
{
    struct code code = {0};
    enum err err;

    if (setup->slots == 0) {
        setup->exactness = EXACT_BITWISE;
        return ERR_OK;
    }
    err = code_build(&code, &setup->code, setup->slots, chunks, why);
    setup->exactness = code.exactness;
    code_close(&code);
    if (err != ERR_OK)
        return err;
    if (setup->exactness > wanted_class(options))
        return why_set(
            why, ERR_SHAPE,
            "code %s gives %s steps, which --exact %s refuses; `muster codes` "
            "lists the class of each",
            setup->code.name, exactness_name(setup->exactness),
            option_text(options, OPT_EXACT));
    return ERR_OK;
}

static enum err choose_machine(struct setup *setup, struct options *options,
                               struct why *why)
{
    const char *isa = option_text(options, OPT_ISA);
    const uint32_t each = setup->local == 0 ? 1 : setup->local;
    uint32_t threads = threads_available() / each;

    setup->isa = isa_best();
    if (isa != NULL && !isa_parse(isa, &setup->isa))
        return why_set(why, ERR_UNKNOWN, "--isa %.32s: not known", isa);
    if (!isa_runs(setup->isa))
        return why_set(why, ERR_UNSUPPORTED,
                       "--isa %s: this processor does not have it; the best "
                       "here is %s",
                       isa_name(setup->isa), isa_name(isa_best()));
    if (threads == 0)
        threads = 1;
    if (option_text(options, OPT_THREADS) == NULL) {
        (void)snprintf(setup->threads_text, sizeof setup->threads_text, "%u",
                       threads);
        setup->threads = threads;
        return option_set(options, OPT_THREADS, setup->threads_text,
                          ORIGIN_DEFAULT, why);
    }
    setup->threads = (uint32_t)option_count(options, OPT_THREADS);
    return ERR_OK;
}

enum err setup_workers(struct setup *setup, struct options *options,
                       struct why *why)
{
    const char *delay = option_text(options, OPT_DELAY);
    const char *chaos = option_text(options, OPT_CHAOS);
    enum err err = ERR_OK;

    *setup = (struct setup){0};
    count_workers(setup, options);
    if (setup->slots == 0)
        err = refuse_without_workers(options, why);
    if (err == ERR_OK)
        err = choose_code(setup, options, why);
    if (err == ERR_OK)
        err = choose_machine(setup, options, why);
    if (err == ERR_OK && delay != NULL)
        err = delay_parse(delay, option_count(options, OPT_SEED), &setup->delay,
                          why);
    if (err == ERR_OK && chaos != NULL)
        err = chaos_parse(chaos, &setup->chaos, why);
    if (err == ERR_FORMAT)
        err = ERR_RANGE; /* The command line's fault, not a file's. */
    /* Chunks are not known yet; any number finds n < s+1 before the data are
     * read, which may take a while. */
    if (err == ERR_OK)
        err =
            try_code(setup, options, setup->slots == 0 ? 1 : setup->slots, why);
    return err;
}

/* Labels 1, 2, 3 are classes, 0.7 is a number. */
static bool all_whole(const struct dataset *data)
{
    for (uint32_t row = 0; row < data->rows; row++)
        if (data->y[row] != floor(data->y[row]))
            return false;
    return true;
}

static enum err choose_model(struct setup *setup, const struct options *options,
                             struct why *why)
{
    const char *name = option_text(options, OPT_MODEL);
    const uint32_t classes = setup->data.classes;
    const char *spec = option_text(options, OPT_DATA);

    if (name == NULL && classes == 2)
        name = "logistic";
    else if (name == NULL && (classes == 0 || !all_whole(&setup->data)))
        name = "linear";
    if (classes == 1 && (name == NULL || strcmp(name, "linear") != 0))
        return why_set(why, ERR_SHAPE,
                       "%.200s: all labels are the same; there is nothing to "
                       "learn",
                       spec);
    if (name == NULL)
        return why_set(why, ERR_SHAPE,
                       "%.200s: %u distinct labels, neither two classes nor "
                       "clearly numbers; say --model linear to fit them as "
                       "numbers",
                       spec, classes);
    if (strcmp(name, "linear") != 0 && classes != 2)
        return why_set(why, ERR_SHAPE,
                       "%.200s: --model %s needs two distinct labels; there "
                       "are more",
                       spec, name);
    return model_parse(name, &setup->model);
}

static enum err load_train(struct setup *setup, const struct options *options,
                           struct why *why)
{
    const char *model = option_text(options, OPT_MODEL);
    const struct source_options source = {
        .spec = option_text(options, OPT_DATA),
        .seed = option_count(options, OPT_SEED),
        .chunk_rows = option_text(options, OPT_CHUNK_ROWS) == NULL
                          ? 0
                          : (uint32_t)option_count(options, OPT_CHUNK_ROWS),
        .intercept = setup->intercept,
        .regression = model != NULL && strcmp(model, "linear") == 0,
    };
    const enum err err =
        source_load(&source, &setup->data, &setup->test, &setup->has_test, why);

    setup->loaded = err == ERR_OK;
    return err;
}

static enum err load_test(struct setup *setup, const struct options *options,
                          struct why *why)
{
    const bool regression = setup->model == MODEL_LINEAR;
    const struct source_options source = {
        .spec = option_text(options, OPT_TEST),
        .seed = option_count(options, OPT_SEED),
        .cols_min = setup->data.cols,
        .cols_max = setup->data.cols,
        .intercept = setup->intercept,
        .regression = regression,
        .labels = regression ? NULL : setup->data.label,
    };
    enum err err;

    if (source.spec == NULL)
        return ERR_OK;
    if (setup->has_test)
        dataset_close(&setup->test);
    setup->has_test = false;
    err = source_load(&source, &setup->test, NULL, NULL, why);
    setup->has_test = err == ERR_OK;
    return err == ERR_OK ? err : why_in(why, err, "--test");
}

/* Numbers that depend on the data, and their text for the record. */
static enum err choose_numbers(struct setup *setup, struct options *options,
                               struct why *why)
{
    struct optim_options *optim = &setup->optim;
    const struct problem problem = setup_problem(setup);
    enum err err = optim_parse(option_text(options, OPT_OPTIM), &optim->kind);

    CHECK(err == ERR_OK);
    optim->rows = setup->data.rows;
    optim->steps = (uint32_t)option_count(options, OPT_STEPS);
    optim->decay = option_real(options, OPT_DECAY);
    optim->tol = option_real(options, OPT_TOL);
    optim->l2 = option_text(options, OPT_L2) != NULL
                    ? option_real(options, OPT_L2)
                    : 1.0 / (double)setup->data.rows;
    if (option_text(options, OPT_LR) != NULL)
        optim->rate = option_real(options, OPT_LR);
    else
        err = problem_default_rate(&problem, optim->l2, &optim->rate);
    if (err != ERR_OK)
        return why_set(why, err,
                       "cannot work out a learning rate from the data; give "
                       "--lr RATE");
    (void)snprintf(setup->rate_text, sizeof setup->rate_text, "%.17g",
                   optim->rate);
    (void)snprintf(setup->l2_text, sizeof setup->l2_text, "%.17g", optim->l2);
    err = option_set(options, OPT_LR, setup->rate_text, ORIGIN_DEFAULT, why);
    if (err == ERR_OK)
        err = option_set(options, OPT_L2, setup->l2_text, ORIGIN_DEFAULT, why);
    return err;
}

static enum err record_choices(struct setup *setup, struct options *options,
                               struct why *why)
{
    enum err err = option_set(options, OPT_MODEL, model_ops(setup->model)->name,
                              ORIGIN_DEFAULT, why);

    (void)snprintf(setup->chunk_text, sizeof setup->chunk_text, "%u",
                   setup->data.chunk_rows);
    if (err == ERR_OK)
        err = option_set(options, OPT_CHUNK_ROWS, setup->chunk_text,
                         ORIGIN_DEFAULT, why);
    if (err == ERR_OK)
        err = option_set(options, OPT_CODE, setup->code.name, ORIGIN_DEFAULT,
                         why);
    if (err == ERR_OK)
        err = option_set(options, OPT_ISA, isa_name(setup->isa), ORIGIN_DEFAULT,
                         why);
    return err;
}

enum err setup_load(struct setup *setup, struct options *options,
                    struct why *why)
{
    enum err err = golden_check(setup->isa, why);

    setup->intercept = option_flag(options, OPT_INTERCEPT);
    if (err == ERR_OK)
        err = load_train(setup, options, why);
    if (err == ERR_OK)
        err = choose_model(setup, options, why);
    if (err == ERR_OK)
        err = load_test(setup, options, why);
    if (err == ERR_OK)
        err = try_code(setup, options, dataset_chunks(&setup->data), why);
    if (err == ERR_OK)
        err = choose_numbers(setup, options, why);
    if (err == ERR_OK)
        err = record_choices(setup, options, why);
    if (err == ERR_OK)
        setup->config = config_digest(setup);
    return err;
}

void setup_close(struct setup *setup)
{
    if (setup->loaded)
        dataset_close(&setup->data);
    if (setup->has_test)
        dataset_close(&setup->test);
    *setup = (struct setup){0};
}

struct problem setup_problem(const struct setup *setup)
{
    return (struct problem){.data = &setup->data,
                            .model = model_ops(setup->model),
                            .isa = setup->isa};
}
