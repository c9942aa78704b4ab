/*
 * simulate.c - `muster simulate`: the same core in virtual time.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/report/trace_file.h"
#include "cli/study/campaign.h"
#include "cli/study/study.h"

#define WORKERS_TRIED 4u /* Times the usual number, at most. */

static void make_auto(struct candidate *candidate)
{
    candidate->adapt = true;
    (void)snprintf(candidate->label, sizeof candidate->label, "%s", AUTO_NAME);
    (void)snprintf(candidate->name, sizeof candidate->name, "%s", AUTO_NAME);
}

/* The codes of --compare, as they were read. */
struct rivals {
    uint32_t count;
    struct rival {
        const char *text; /* So many characters of it. */
        size_t length;
        bool adapt;
        struct preset_options options;
        struct code_inputs inputs; /* Which the options point into. */
    } list[STUDIES_MAX];
};

static void rivals_free(struct rivals *rivals)
{
    for (uint32_t i = 0; rivals != NULL && i < rivals->count; i++)
        code_inputs_close(&rivals->list[i].inputs);
    mem_free(rivals);
}

/* Of the one at hand, in --compare. */
static enum err tell_rival(const struct rival *rival, enum err err,
                           struct why *why)
{
    if (err == ERR_OK)
        return err;
    (void)why_in(why, err, "%.*s", (int)rival->length, rival->text);
    return why_in(why, err, "--compare");
}

static enum err read_rival(const struct options *options, struct setup *setup,
                           struct rival *rival, struct why *why)
{
    const char *text = rival->text;
    size_t length = rival->length;
    enum err err;

    rival->adapt =
        length == strlen(AUTO_NAME) && strncmp(text, AUTO_NAME, length) == 0;
    if (rival->adapt) {
        text = DEFAULT_CODE;
        length = strlen(text);
    }
    err = code_options(&options->recipe, text, length, &rival->inputs,
                       &rival->options, why);
    rival->options.memory = &setup->inputs.memory;
    return tell_rival(rival, err, why);
}

static enum err read_rivals(const struct options *options, struct setup *setup,
                            struct rivals *rivals, struct why *why)
{
    const char *text = option_text(options, OPT_COMPARE);
    enum err err = ERR_OK;

    while (err == ERR_OK && text != NULL && *text != '\0') {
        struct rival *rival = &rivals->list[rivals->count];

        if (rivals->count == STUDIES_MAX)
            return why_set(why, ERR_TOOBIG, "--compare: more than %u codes",
                           STUDIES_MAX);
        rivals->count++;
        rival->text = text;
        rival->length = code_length(text);
        err = read_rival(options, setup, rival, why);
        text += rival->length;
        text += *text == ',';
    }
    if (err == ERR_OK && text != NULL && rivals->count == 0)
        err = why_set(why, ERR_UNKNOWN, "--compare: no code is named");
    return err;
}

static enum err make_rival(struct rival *rival, uint32_t slots,
                           struct candidate *candidate, struct why *why)
{
    struct code_spec spec;
    enum err err;

    rival->options.workers = slots;
    err = preset_spec(&rival->options, &spec, why);
    if (err != ERR_OK)
        return tell_rival(rival, err, why);
    candidate_of(&spec, candidate);
    if (rival->adapt)
        make_auto(candidate);
    return ERR_OK;
}

/* What --compare names, or the one code of --code. */
static enum err list_codes(const struct setup *setup, struct rivals *rivals,
                           struct candidate *candidates, uint32_t *count,
                           struct why *why)
{
    enum err err = ERR_OK;

    *count = rivals->count == 0 ? 1 : rivals->count;
    for (uint32_t i = 0; i < rivals->count && err == ERR_OK; i++)
        err = make_rival(&rivals->list[i], setup->slots, &candidates[i], why);
    if (rivals->count > 0)
        return err;
    (void)snprintf(candidates->label, sizeof candidates->label, "%s",
                   setup->code.name);
    if (setup->adapt)
        make_auto(candidates);
    candidates->spec = setup->code;
    return ERR_OK;
}

static bool all_fit(const struct candidate *candidates, uint32_t count,
                    uint32_t slots)
{
    bool fit = true;

    for (uint32_t i = 0; i < count && fit; i++) {
        struct code code = {0};

        fit =
            code_build(&code, &candidates[i].spec, slots,
                       candidate_chunks(&candidates[i], slots), NULL) == ERR_OK;
        code_close(&code);
    }
    return fit;
}

/* Nobody said how many workers: some codes want a number that their groups
 * divide, so the first from the usual one on that suits all. */
static enum err suit_all(struct cli *cli, struct setup *setup,
                         struct rivals *rivals, struct candidate *candidates,
                         uint32_t *count, struct why *why)
{
    const struct options *options = &cli->options;
    const uint32_t usual = setup->slots;
    enum err err = list_codes(setup, rivals, candidates, count, why);

    if (err != ERR_OK || !option_given(options, OPT_COMPARE) ||
        option_given(options, OPT_N) || option_given(options, OPT_WORKERS))
        return err;
    while (!all_fit(candidates, *count, setup->slots) &&
           setup->slots < WORKERS_TRIED * usual && err == ERR_OK) {
        setup->slots++;
        err = list_codes(setup, rivals, candidates, count, why);
    }
    if (err != ERR_OK || !all_fit(candidates, *count, setup->slots)) {
        setup->slots = usual; /* The study says what does not fit. */
        return list_codes(setup, rivals, candidates, count, why);
    }
    if (setup->slots != usual)
        say_note(cli,
                 "muster: %u workers, the first number from %u on that suits "
                 "all of them; -n N chooses another",
                 setup->slots, usual);
    return err;
}

static enum err write_files(const struct options *options,
                            const struct setup *setup,
                            const struct study *studies, uint32_t count,
                            struct why *why)
{
    const char *csv = option_text(options, OPT_CSV);
    const char *plot = option_text(options, OPT_PLOT);
    enum err err = ERR_OK;

    if (csv != NULL)
        err = study_write_csv(setup, studies, count, csv, why);
    if (err == ERR_OK && plot != NULL)
        err = study_write_plot(setup, studies, count, plot, why);
    return err;
}

static void on_trace(void *context, const struct trace *trace)
{
    trace_file_event(context, trace);
}

/* `setup` after setup_workers; NULL before. */
static enum err check_rules(const struct options *options,
                            const struct setup *setup, struct why *why)
{
    struct choices choices = {0};

    if (setup != NULL)
        setup_choose(setup, &options->recipe, &choices);
    options_choose(options, &choices);
    if (!option_flag(options, OPT_FAULTS))
        choices_add(&choices, TRAIT(ONE_RUN), NULL);
    if (!option_flag(options, OPT_COMPUTE))
        choices_add(&choices, TRAIT(NO_COMPUTE), NULL);
    return rules_check(&choices, why);
}

static int run_studies(struct cli *cli, struct setup *setup,
                       struct rivals *rivals)
{
    struct trace_file trace = {0};
    const struct options *options = &cli->options;
    const bool traced = option_given(options, OPT_TRACE);
    const struct study_options how = {
        .setup = setup,
        .compute = option_flag(options, OPT_COMPUTE),
        .trace = option_flag(options, OPT_SERIES) ||
                 option_given(options, OPT_CSV) ||
                 option_given(options, OPT_PLOT),
        .errors = option_flag(options, OPT_SERIES),
        .lanes = option_given(options, OPT_PLOT),
        .work_s = option_given(options, OPT_WORK)
                      ? option_real(options, OPT_WORK)
                      : (double)NAN,
        .steps = (uint32_t)option_count(options, OPT_STEPS),
        .seed = option_count(options, OPT_SEED),
        .watch = traced ? on_trace : NULL,
        .watch_context = &trace,
    };
    struct candidate candidates[STUDIES_MAX] = {0};
    struct study studies[STUDIES_MAX] = {0};
    struct why why = {0};
    uint32_t count = 0;
    enum err err = suit_all(cli, setup, rivals, candidates, &count, &why);

    if (err == ERR_OK)
        err = trace_file_open(&trace, option_text(options, OPT_TRACE), &why);
    for (uint32_t i = 0; err == ERR_OK && i < count; i++) {
        err = study_run(&how, &candidates[i], &studies[i], &why);
        if (err != ERR_OK && option_given(options, OPT_COMPARE))
            (void)why_in(&why, err, "%s", candidates[i].label);
    }
    if (err == ERR_OK)
        err = trace_file_close(&trace, &why);
    else
        trace_file_abort(&trace);
    if (err == ERR_OK)
        err = write_files(options, setup, studies, count, &why);
    if (err == ERR_OK)
        study_show(cli, setup, studies, count,
                   option_given(options, OPT_COMPARE));
    for (uint32_t i = 0; i < count; i++)
        study_close(&studies[i]);
    if (err == ERR_MISMATCH)
        return say_error(cli, EXIT_FAILED, "%s", why.text);
    return err == ERR_OK ? EXIT_DONE : say_why(cli, err, &why);
}

/* Where own steps are averaged they are plain ones, and then all codes take
 * the same. */
static enum err choose_steps(const struct rivals *rivals, struct recipe *recipe,
                             struct why *why)
{
    for (uint32_t i = 0; i < rivals->count; i++)
        if (rivals->list[i].options.every > 0)
            return recipe_put(recipe, OPT_OPTIM, "gd", ORIGIN_DEFAULT, why);
    return ERR_OK;
}

/* Where one of them samples the rows that parts have, batches are of those, and
 * all codes draw the same. */
static bool samples(const struct rivals *rivals)
{
    for (uint32_t i = 0; i < rivals->count; i++)
        if ((preset_traits(rivals->list[i].options.name) & TRAIT(SAMPLES)) != 0)
            return true;
    return false;
}

static int run_setup(struct cli *cli, struct setup *setup,
                     struct rivals *rivals)
{
    struct options *options = &cli->options;
    struct why why = {0};
    enum err err = read_rivals(options, setup, rivals, &why);

    if (err == ERR_OK)
        err = choose_steps(rivals, &options->recipe, &why);
    if (err == ERR_OK) {
        setup->terms.sampled = samples(rivals);
        err = setup_workers(setup, &options->recipe, &why);
    }
    if (err == ERR_OK)
        err = check_rules(options, setup, &why);
    if (err == ERR_OK && setup->slots > 0)
        err = delay_check_names(&setup->delay, setup->slots, &why);
    if (err == ERR_OK && option_flag(options, OPT_COMPUTE))
        err = setup_load(setup, &options->recipe, &why);
    else if (err == ERR_OK && option_text(options, OPT_STEPS) == NULL)
        err = option_set(options, OPT_STEPS, "100", ORIGIN_DEFAULT, &why);
    return err != ERR_OK ? say_why(cli, err, &why)
                         : run_studies(cli, setup, rivals);
}

int simulate_command(struct cli *cli)
{
    struct setup setup = {.terms = {.simulated = true, .note = tell_note}};
    struct rivals *rivals;
    struct why why = {0};
    const enum err err = check_rules(&cli->options, NULL, &why);
    int status;

    if (err != ERR_OK)
        return say_why(cli, err, &why);
    if (option_flag(&cli->options, OPT_FAULTS))
        return campaign_command(cli);
    rivals = mem_new(1, sizeof *rivals);
    if (rivals == NULL)
        return say_error(cli, EXIT_FAILED, "out of memory");
    status = run_setup(cli, &setup, rivals);
    rivals_free(rivals);
    setup_close(&setup);
    return status;
}
