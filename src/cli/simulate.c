/*
 * simulate.c - `muster simulate`: the same core in virtual time.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
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

static enum err parse_one(const char *text, size_t length,
                          const struct preset_options *defaults,
                          struct candidate *candidate, struct why *why)
{
    const bool adapt =
        length == strlen(AUTO_NAME) && strncmp(text, AUTO_NAME, length) == 0;
    const enum err err =
        adapt ? candidate_parse(DEFAULT_CODE, strlen(DEFAULT_CODE), defaults,
                                candidate, why)
              : candidate_parse(text, length, defaults, candidate, why);

    if (err == ERR_OK && adapt)
        make_auto(candidate);
    return err;
}

/* What --compare names, or the one code of --code. */
static enum err list_codes(const struct options *options, struct setup *setup,
                           struct candidate *candidates, uint32_t *count,
                           struct why *why)
{
    const char *text = option_text(options, OPT_COMPARE);
    const struct preset_options defaults =
        code_options(&options->recipe, NULL, setup->slots, &setup->inputs);
    enum err err = ERR_OK;

    *count = 0;
    if (text == NULL) {
        (void)snprintf(candidates->label, sizeof candidates->label, "%s",
                       setup->code.name);
        if (setup->adapt)
            make_auto(candidates);
        candidates[(*count)++].spec = setup->code;
        return ERR_OK;
    }
    while (err == ERR_OK && *text != '\0') {
        const size_t length = strcspn(text, ",");

        if (*count == STUDIES_MAX)
            return why_set(why, ERR_TOOBIG, "--compare: more than %u codes",
                           STUDIES_MAX);
        err = parse_one(text, length, &defaults, &candidates[*count], why);
        (*count)++;
        text += length;
        text += *text == ',';
    }
    if (err == ERR_OK && *count == 0)
        err = why_set(why, ERR_UNKNOWN, "no code is named");
    return err == ERR_OK ? err : why_in(why, err, "--compare");
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
                         struct candidate *candidates, uint32_t *count,
                         struct why *why)
{
    const struct options *options = &cli->options;
    const uint32_t usual = setup->slots;
    enum err err = list_codes(options, setup, candidates, count, why);

    if (err != ERR_OK || !option_given(options, OPT_COMPARE) ||
        option_given(options, OPT_N) || option_given(options, OPT_WORKERS))
        return err;
    while (!all_fit(candidates, *count, setup->slots) &&
           setup->slots < WORKERS_TRIED * usual && err == ERR_OK) {
        setup->slots++;
        err = list_codes(options, setup, candidates, count, why);
    }
    if (err != ERR_OK || !all_fit(candidates, *count, setup->slots)) {
        setup->slots = usual; /* The study says what does not fit. */
        return list_codes(options, setup, candidates, count, why);
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

static int run_studies(struct cli *cli, struct setup *setup)
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
    enum err err = suit_all(cli, setup, candidates, &count, &why);

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

int simulate_command(struct cli *cli)
{
    struct setup setup = {
        .terms = {.simulated = true,
                  .compares = option_given(&cli->options, OPT_COMPARE),
                  .note = tell_note}};
    struct why why = {0};
    enum err err;
    int status;

    err = check_rules(&cli->options, NULL, &why);
    if (err != ERR_OK)
        return say_why(cli, err, &why);
    if (option_flag(&cli->options, OPT_FAULTS))
        return campaign_command(cli);
    err = setup_workers(&setup, &cli->options.recipe, &why);
    if (err == ERR_OK)
        err = check_rules(&cli->options, &setup, &why);
    if (err == ERR_OK && option_flag(&cli->options, OPT_COMPUTE))
        err = setup_load(&setup, &cli->options.recipe, &why);
    else if (err == ERR_OK && option_text(&cli->options, OPT_STEPS) == NULL)
        err = option_set(&cli->options, OPT_STEPS, "100", ORIGIN_DEFAULT, &why);
    status = err != ERR_OK ? say_why(cli, err, &why) : run_studies(cli, &setup);
    setup_close(&setup);
    return status;
}
