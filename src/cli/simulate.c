/*
 * simulate.c - `muster simulate`: the same core in virtual time.
 */
#include <stdio.h>

#include "cli/campaign.h"
#include "cli/cli.h"
#include "cli/metrics_show.h"
#include "cli/setup.h"
#include "sim/sim.h"

/* Without gradients: enough chunks that every piece of every code has one. */
static void without_gradients(struct sim_options *sim,
                              const struct setup *setup,
                              const struct options *options)
{
    sim->ideal = true;
    sim->chunk_us = 0;
    sim->problem = NULL;
    sim->rows = setup->slots * CODE_STEAL_PIECES;
    sim->chunk_rows = 1;
    sim->optim = (struct optim_options){
        .kind = OPTIM_GD,
        .rate = 1,
        .decay = 1,
        .rows = sim->rows,
        .steps = (uint32_t)option_count(options, OPT_STEPS),
    };
}

static json_t *series_json(const struct sim_result *result)
{
    json_t *series = json_array();

    for (uint32_t i = 0; i < result->series_count; i++)
        (void)json_array_append_new(
            series, json_pack("{s:f, s:I, s:o}", "t_s", result->series[i].t_s,
                              "step", (json_int_t)result->series[i].step,
                              "loss", json_number(result->series[i].loss)));
    return series;
}

static void show_json(const struct cli *cli, const struct setup *setup,
                      const struct sim_result *result)
{
    const bool computed = option_flag(&cli->options, OPT_COMPUTE);
    const bool measured =
        computed && setup->has_test && result->weights != NULL;
    json_t *object =
        json_pack("{s:s, s:I, s:I, s:f, s:f, s:f}", "code", setup->code.name,
                  "workers", (json_int_t)setup->slots, "steps",
                  (json_int_t)result->steps, "mean_step_s", result->mean_step_s,
                  "total_s", result->total_s, "coverage", result->coverage);

    (void)json_object_set_new(
        object, "hash", computed ? hash_json(&result->hash) : json_null());
    (void)json_object_set_new(object, "objective",
                              computed ? json_number(result->loss)
                                       : json_null());
    (void)json_object_set_new(
        object, "metrics",
        metrics_json(setup, measured ? &setup->test : NULL, result->weights));
    if (option_flag(&cli->options, OPT_SERIES))
        (void)json_object_set_new(object, "series", series_json(result));
    (void)json_object_set_new(object, "config", config_json(&cli->options));
    say_json(object);
}

static void show_text(const struct cli *cli, const struct setup *setup,
                      const struct sim_result *result)
{
    (void)printf("%-10s %8s %7s %10s %10s %9s  %s\n", "code", "workers",
                 "steps", "s/step", "total s", "coverage", "class");
    (void)printf("%-10s %8u %7u %10.4f %10.3f %9.3f  %s\n", setup->code.name,
                 setup->slots, result->steps, result->mean_step_s,
                 result->total_s, result->coverage,
                 exactness_name(setup->exactness));
    if (option_flag(&cli->options, OPT_COMPUTE)) {
        char hex[DIGEST_TEXT];

        (void)printf("objective  %.17g\nmodel      %s\n", result->loss,
                     digest_text(&result->hash, hex));
    }
    if (option_flag(&cli->options, OPT_SERIES)) {
        (void)printf("%12s %8s  %s\n", "t s", "step", "loss");
        for (uint32_t i = 0; i < result->series_count; i++)
            (void)printf("%12.6f %8u  %.10g\n", result->series[i].t_s,
                         result->series[i].step, result->series[i].loss);
    }
}

static int run_simulation(struct cli *cli, struct setup *setup)
{
    const struct problem problem = setup_problem(setup);
    struct sim_options sim = sim_options_default();
    struct sim_result result = {0};
    struct why why = {0};
    enum err err;
    int status = EXIT_DONE;

    sim.problem = &problem;
    sim.rows = setup->data.rows;
    sim.chunk_rows = setup->data.chunk_rows;
    sim.optim = setup->optim;
    sim.code = setup->code;
    sim.slots = setup->slots;
    sim.delay = setup->delay;
    sim.seed = option_count(&cli->options, OPT_SEED);
    sim.series = option_flag(&cli->options, OPT_SERIES);
    if (!option_flag(&cli->options, OPT_COMPUTE))
        without_gradients(&sim, setup, &cli->options);
    err = sim_run(&sim, &result, &why);
    if (err != ERR_OK)
        return say_why(cli, err, &why);
    if (result.violated || !result.finished)
        status =
            say_error(cli, EXIT_FAILED, "the simulated run broke: %s",
                      result.violated ? result.violation : "it did not finish");
    else if (cli->json)
        show_json(cli, setup, &result);
    else
        show_text(cli, setup, &result);
    sim_result_close(&result);
    return status;
}

int simulate_command(struct cli *cli)
{
    struct setup setup = {0};
    struct why why = {0};
    enum err err;
    int status;

    if (option_flag(&cli->options, OPT_FAULTS))
        return campaign_command(cli);
    if (option_given(&cli->options, OPT_SEEDS))
        return say_error(cli, EXIT_USAGE,
                         "--seeds goes with --faults; one run takes --seed");
    err = setup_workers(&setup, &cli->options, &why);
    if (err == ERR_OK && option_flag(&cli->options, OPT_COMPUTE))
        err = setup_load(&setup, &cli->options, &why);
    status =
        err != ERR_OK ? say_why(cli, err, &why) : run_simulation(cli, &setup);
    setup_close(&setup);
    return status;
}
