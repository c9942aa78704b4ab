/*
 * study.c - one code under given delays in virtual time, by the core or, where
 * only times are wanted, by the planner's replay.
 */
#include "cli/study/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "learn/coded/coded_data.h"
#include "learn/family/family.h"
#include "sim/sim.h"

#define LANE_STEPS 6u

void study_close(struct study *study)
{
    mem_free(study->weights);
    mem_free(study->points);
    mem_free(study->lanes);
    mem_free(study->switches);
    *study = (struct study){0};
}

/* Microseconds to compute one chunk if a worker's share takes work_s. */
static time_us chunk_time(double work_s, uint32_t slots, uint32_t chunks)
{
    return (time_us)(work_s * 1e6 * slots / chunks + .5);
}

/* --- without gradients --------------------------------------------------- */

static void keep_lanes(const struct replay *replay, uint32_t step,
                       struct study *study)
{
    const size_t slots = replay->code->slots;

    if (study->lanes == NULL || step >= LANE_STEPS)
        return;
    memcpy(study->lanes + step * slots, replay->slots,
           slots * sizeof *study->lanes);
    study->lane_steps = step + 1;
}

static enum err replay_steps(const struct study_options *options,
                             struct replay *replay, struct delay_draw *draws,
                             uint32_t steps, struct study *study)
{
    const struct code *code = replay->code;
    double covered = 0;

    for (uint32_t i = 0; i < steps; i++) {
        struct replay_step step;
        struct study_point *point = &study->points[study->point_count];
        enum err err;

        delay_row(&options->setup->delay, i, code->slots, draws);
        err = replay_run(replay, draws, &step);
        if (err != ERR_OK)
            return err;
        if (step.stalled) {
            study->stalled++;
            continue;
        }
        keep_lanes(replay, i, study);
        study->total_s += (double)step.took_us / 1e6;
        covered += (double)step.chunks_in / code->chunks;
        study->ages.answers += step.aged;
        study->ages.sum += step.age_sum;
        if (step.age_max > study->ages.max)
            study->ages.max = step.age_max;
        *point = (struct study_point){
            .t_s = study->total_s,
            .step_s = (double)step.took_us / 1e6,
            .covered = (double)step.chunks_in / code->chunks,
            .loss = (double)NAN,
            .error = (double)NAN,
            .metric = (double)NAN,
        };
        study->point_count++;
    }
    study->steps = steps;
    if (study->point_count > 0) {
        study->mean_step_s = study->total_s / study->point_count;
        study->coverage = covered / study->point_count;
    }
    return ERR_OK;
}

/* `steps` of the code; only lanes are wanted if a run of the core gives the
 * rest. */
static enum err replay_study(const struct study_options *options,
                             const struct code *code, time_us chunk_us,
                             uint32_t steps, struct study *study)
{
    struct delay_draw *draws = mem_new(code->slots, sizeof *draws);
    struct replay replay = {0};
    enum err err = ERR_NOMEM;

    study->points = mem_new(steps, sizeof *study->points);
    if (options->lanes)
        study->lanes =
            mem_new((size_t)LANE_STEPS * code->slots, sizeof *study->lanes);
    if (draws != NULL && study->points != NULL &&
        (!options->lanes || study->lanes != NULL))
        err = replay_init(&replay, code, chunk_us);
    if (err == ERR_OK)
        err = replay_steps(options, &replay, draws, steps, study);
    replay_close(&replay);
    mem_free(draws);
    return err;
}

/* Steps of the model that one step of the code stands for. */
static uint32_t between_averages(const struct study_options *options,
                                 const struct candidate *candidate)
{
    const uint32_t every = candidate->spec.every;

    if (candidate->spec.placement != PLACE_LOCAL || options->steps == 0)
        return 1;
    return every < options->steps ? every : options->steps;
}

/* --- with gradients, or changes of code ---------------------------------- */

struct watcher {
    const struct study_options *options;
    struct study *study;
    size_t capacity;
    double before_s;
};

static void on_commit(void *context, const struct sim_step *step)
{
    struct watcher *watcher = context;
    struct study *study = watcher->study;
    const struct setup *setup = watcher->options->setup;
    struct study_point *grown;
    double metric = (double)NAN;

    if (study->point_count == watcher->capacity) {
        grown =
            mem_grow(study->points, study->point_count, study->point_count + 1u,
                     sizeof *grown, &watcher->capacity);
        CHECK(grown != NULL);
        study->points = grown;
    }
    if (watcher->options->trace && setup->has_test) {
        const struct metrics metrics =
            setup_measure(setup, &setup->test, step->weights);

        metric = metric_value(&metrics, setup->metric);
    }
    study->points[study->point_count++] =
        (struct study_point){.t_s = step->t_s,
                             .step_s = step->t_s - watcher->before_s,
                             .covered = (double)NAN,
                             .loss = step->loss,
                             .error = step->error,
                             .metric = metric};
    watcher->before_s = step->t_s;
}

static void on_switch(void *context, const char *sentence)
{
    struct study *study = context;

    if (study->switch_count == study->switch_capacity) {
        void *grown = mem_grow(
            study->switches, study->switch_count, study->switch_count + 1u,
            sizeof *study->switches, &study->switch_capacity);

        CHECK(grown != NULL);
        study->switches = grown;
    }
    (void)snprintf(study->switches[study->switch_count++], TRACE_TEXT, "%s",
                   sentence);
}

static void take_result(struct sim_result *result, struct study *study)
{
    study->steps = result->steps;
    study->mean_step_s = result->mean_step_s;
    study->total_s = result->total_s;
    study->coverage = result->coverage;
    study->ages = (struct ages){result->stats.aged, result->stats.age_sum,
                                result->stats.age_max};
    study->loss = result->loss;
    study->weights = result->weights;
    result->weights = NULL;
}

/* What is trained; without gradients, so many chunks. */
static void set_problem(const struct study_options *options,
                        const struct candidate *candidate,
                        const struct problem *problem, uint32_t chunks,
                        struct sim_options *sim)
{
    const struct setup *setup = options->setup;

    if (options->compute) {
        sim->problem = problem;
        sim->net = setup_net(setup);
        sim->rows = setup->data.rows;
        sim->chunk_rows = setup->data.chunk_rows;
        sim->optim = setup_optim(setup, &candidate->spec);
        sim->held_out = setup_held_out(setup);
        return;
    }
    sim->rows = chunks;
    sim->chunk_rows = 1;
    sim->optim = optim_defaults(OPTIM_GD);
    sim->optim.rows = chunks;
    sim->optim.steps = options->steps;
}

static enum err run_core(const struct study_options *options,
                         const struct candidate *candidate, uint32_t chunks,
                         time_us chunk_us, struct study *study, struct why *why)
{
    const struct setup *setup = options->setup;
    const struct problem problem =
        options->compute ? setup_problem(setup) : (struct problem){0};
    struct watcher watcher = {.options = options, .study = study};
    struct sim_options sim = sim_options_default();
    struct sim_result result = {0};
    enum err err;

    set_problem(options, candidate, &problem, chunks, &sim);
    sim.code = candidate->spec;
    sim.adapt = candidate->adapt;
    sim.worst = setup->worst;
    sim.switched = on_switch;
    sim.switched_context = study;
    sim.slots = setup->slots;
    sim.delay = setup->delay;
    sim.seed = options->seed;
    sim.commit = on_commit;
    sim.commit_context = &watcher;
    sim.measure = options->errors;
    sim.watch = options->watch;
    sim.watch_context = options->watch_context;
    if (!options->compute || !isnan(options->work_s)) {
        sim.ideal = true;
        sim.chunk_us = chunk_us;
    }
    err = sim_run(&sim, &result, why);
    if (err == ERR_OK && (result.violated || !result.finished))
        err = why_set(why, ERR_MISMATCH, "the simulated run broke: %s",
                      result.violated ? result.violation : "it did not finish");
    if (err == ERR_OK)
        take_result(&result, study);
    study->computed = err == ERR_OK && options->compute;
    if (study->computed)
        study->hash = setup_family(setup)->hash(setup, study->weights);
    sim_result_close(&result);
    return err;
}

/* The core does not say who worked when; its fast path does. */
static enum err add_lanes(const struct study_options *options,
                          const struct code *code, time_us chunk_us,
                          struct study *study)
{
    struct study beside = {0};
    enum err err = replay_study(options, code, chunk_us, LANE_STEPS, &beside);

    if (err == ERR_OK) {
        study->lanes = beside.lanes;
        study->lane_steps = beside.lane_steps;
        beside.lanes = NULL;
    }
    study_close(&beside);
    return err;
}

static enum err study_gradients(const struct study_options *options,
                                const struct candidate *candidate,
                                struct study *study, struct why *why)
{
    const struct setup *setup = options->setup;
    const uint32_t chunks =
        optim_chunks(&setup->optim, dataset_chunks(&setup->data));
    const time_us chunk_us =
        isnan(options->work_s)
            ? sim_options_default().chunk_us
            : chunk_time(options->work_s, setup->slots, chunks);
    struct code code = {0};
    enum err err = coded_data_vet(setup, &candidate->spec, why);

    if (err == ERR_OK)
        err = code_build(&code, &candidate->spec, setup->slots, chunks, why);
    if (err == ERR_OK) {
        study->exactness = code.exactness;
        err = run_core(options, candidate, chunks, chunk_us, study, why);
    }
    if (err == ERR_OK && options->lanes &&
        code_spec_replays(&candidate->spec) &&
        add_lanes(options, &code, chunk_us, study) != ERR_OK)
        err = why_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    code_close(&code);
    return err;
}

/* Enough chunks that every piece of every code has one.  The fast path cannot
 * change its code, move coded rows or draw samples; the core does. */
static enum err study_times(const struct study_options *options,
                            const struct candidate *candidate,
                            struct study *study, struct why *why)
{
    const uint32_t slots = options->setup->slots;
    const uint32_t chunks = candidate_chunks(candidate, slots);
    const uint32_t every = between_averages(options, candidate);
    const uint32_t steps =
        options->steps / every + (options->steps % every != 0);
    const double work_s = isnan(options->work_s) ? 0 : options->work_s * every;
    const time_us chunk_us = chunk_time(work_s, slots, chunks);
    const bool core = candidate->adapt || options->watch != NULL ||
                      !code_spec_replays(&candidate->spec);
    struct code code = {0};
    enum err err = code_build(&code, &candidate->spec, slots, chunks, why);

    if (err == ERR_OK) {
        study->exactness = code.exactness;
        err = core ? run_core(options, candidate, chunks, chunk_us, study, why)
                   : replay_study(options, &code, chunk_us, steps, study);
        if (err == ERR_NOMEM)
            (void)why_set(why, err, "%s", err_text(err));
    }
    code_close(&code);
    return err;
}

/* Does the code go with the steps and batches that all take?  Times have none.
 */
static enum err vet_method(const struct study_options *options,
                           const struct candidate *candidate, struct why *why)
{
    const struct optim_options *const optim = &options->setup->optim;
    struct choices choices = {0};

    if (!options->compute)
        return ERR_OK;
    choices_code(&choices, &candidate->spec);
    choices_optim(&choices, optim_name(optim->kind));
    if (sampler_scatters(optim->sampler.kind))
        choices_add(&choices, TRAIT(SCATTERED), NULL);
    return rules_check(&choices, why);
}

enum err study_run(const struct study_options *options,
                   const struct candidate *candidate, struct study *study,
                   struct why *why)
{
    enum err err;

    *study = (struct study){.candidate = *candidate,
                            .workers = options->setup->slots};
    err = vet_method(options, candidate, why);
    if (err != ERR_OK)
        return err;
    return options->compute ? study_gradients(options, candidate, study, why)
                            : study_times(options, candidate, study, why);
}
