/*
 * sequential.c - a driver of sgd on this machine: rows in shuffled order, one
 * after the other, with the objective at the end by exact tallies.
 */
#include "node/fixed/sequential.h"

#include <math.h>

#include "base/mem.h"
#include "eval/briefs.h"
#include "eval/registry.h"
#include "node/fixed/evaluate.h"

static enum err run_passes(const struct problem *problem, struct pool *pool,
                           const struct optim_options *options,
                           const struct flag *cancel,
                           const struct alone_result *made)
{
    const struct passes passes = {
        .rate = options->rate,
        .l2 = options->l2,
        .count = options->steps,
        .seed = options->seed,
        .has_free = options->l2_stride > 0,
        .free = options->l2_free,
    };
    const struct subject subject = subject_of(problem);
    const struct shelf shelf = {.data = problem->data, .isa = problem->isa};
    const struct computation asked = {.what.kind = EVALUATE_LOCAL,
                                      .end = dataset_chunks(problem->data),
                                      .vector = made->weights};
    uint8_t room[BRIEF_MAX];
    const struct brief brief = brief_sequential(room, &subject, &passes);
    struct evaluator *evaluator = NULL;
    enum err err = evaluator_open(&brief, &shelf, pool, &evaluator);

    if (err == ERR_OK)
        err = evaluator_run(evaluator, &asked, cancel);
    evaluator_close(evaluator);
    return err;
}

enum err sequential_train(const struct problem *problem, struct pool *pool,
                          const struct optim_options *options,
                          const struct flag *cancel,
                          struct alone_result *result, struct why *why)
{
    struct alone_result made = {.dims = problem_dims(problem),
                                .steps = options->steps,
                                .evaluations = options->steps,
                                .outcome.end = OPTIM_STEPS,
                                .outcome.excess = HUGE_VAL,
                                .outcome.held_out = HUGE_VAL};
    enum err err = ERR_OK;

    made.weights = mem_new(made.dims, sizeof *made.weights);
    if (made.weights == NULL)
        err = ERR_NOMEM;
    if (err == ERR_OK)
        err = evaluate_at(problem, pool, options, made.weights,
                          &made.outcome.objective_first, NULL);
    if (err == ERR_OK)
        err = run_passes(problem, pool, options, cancel, &made);
    if (err == ERR_CANCELLED)
        (void)why_set(why, err,
                      "stopped; sgd goes row by row and keeps no state: start "
                      "it again");
    if (err == ERR_OK)
        err = evaluate_outcome(problem, pool, options, made.weights,
                               &made.outcome);
    if (err == ERR_RANGE)
        (void)why_set(why, err,
                      "the weights are too large after %u pass%s: sgd "
                      "diverged; a smaller --lr or a larger --l2 helps",
                      options->steps, options->steps == 1 ? "" : "es");
    if (err != ERR_OK) {
        mem_free(made.weights);
        return err;
    }
    made.hash = hash_f64(made.weights, problem->data->cols);
    *result = made;
    return ERR_OK;
}
