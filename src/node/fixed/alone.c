/*
 * alone.c - training in one process: the lockstep of one.
 */
#include "node/fixed/alone.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "eval/registry.h"
#include "node/fixed/evaluate.h"
#include "node/fixed/sequential.h"

#define LONG_DIMS 32768u /* Steps of fewer are made before a thread wakes. */

static enum err report(const struct objective *objective,
                       const struct trainer *trainer, bool stopped,
                       struct alone_result *result)
{
    const uint32_t dims = objective->weights;
    double *weights = mem_new(dims, sizeof *weights);
    uint32_t count;

    if (weights == NULL)
        return ERR_NOMEM;
    memcpy(weights, trainer_model(trainer, &count), dims * sizeof *weights);
    *result = (struct alone_result){
        .weights = weights,
        .dims = dims,
        .steps = trainer->optim.step,
        .evaluations = trainer->optim.evaluations,
        .outcome = trainer_outcome(trainer),
        .stopped = stopped,
        .hash = objective_hash(objective, weights),
    };
    return ERR_OK;
}

/* From a state that was saved, if there is one, to the end. */
static enum err run(const struct objective *objective,
                    const struct optim_options *optim,
                    struct evaluator *evaluator, struct pool *pool,
                    const struct collective *ranks,
                    const struct alone_hooks *hooks,
                    struct alone_result *result, struct why *why)
{
    const bool is_long = objective->dims >= LONG_DIMS;
    const struct trainer_options options = {.optim = *optim,
                                            .pool = is_long ? pool : NULL,
                                            .dims = objective->dims,
                                            .vectors = objective->vectors,
                                            .length = objective->length,
                                            .scale = objective->scale};
    struct trainer trainer;
    enum err err = trainer_init(&trainer, &options);
    bool stopped;

    if (err == ERR_OK && hooks->state != NULL)
        err = trainer_load(&trainer, hooks->state, hooks->state_size, why);
    err = collective_agree(ranks, err, why);
    if (err == ERR_OK)
        err = lockstep_run(&trainer, evaluator, ranks, &hooks->hooks, why);
    stopped = err == ERR_CANCELLED || err == ERR_CLOSED;
    if (err == ERR_OK || stopped)
        err = report(objective, &trainer, stopped, result);
    trainer_close(&trainer);
    return err;
}

static struct problem problem_in(const struct objective_options *what)
{
    struct problem problem = problem_of(what->data, what->model, what->isa);

    problem.bounds = what->bounds;
    return problem;
}

/* What is said of the run becomes true of its last weights: of rows, that can
 * be asked. */
static enum err settle(const struct objective_options *what, struct pool *pool,
                       struct alone_result *result)
{
    const struct problem problem = problem_in(what);
    const enum err err = evaluate_outcome(&problem, pool, what->optim,
                                          result->weights, &result->outcome);

    if (err != ERR_OK)
        mem_free(result->weights);
    return err;
}

static enum err train(const struct objective_options *what, struct pool *pool,
                      const struct collective *ranks,
                      const struct alone_hooks *hooks,
                      struct alone_result *result, struct why *why)
{
    struct objective objective;
    struct evaluator *evaluator = NULL;
    enum err err = objective_open(&objective, what, pool, why);

    if (err == ERR_OK)
        err = evaluator_open(&objective.brief, &objective.shelf, pool,
                             &evaluator);
    err = collective_agree(ranks, err, why);
    if (err == ERR_OK)
        err = run(&objective, what->optim, evaluator, pool, ranks, hooks,
                  result, why);
    evaluator_close(evaluator);
    objective_close(&objective);
    return err;
}

enum err alone_train(const struct objective_options *what, struct pool *pool,
                     const struct alone_hooks *hooks,
                     struct alone_result *result, struct why *why)
{
    static const struct alone_hooks none;
    const struct collective alone = collective_alone();
    const struct collective *ranks = &alone;
    enum err err;

    if (hooks == NULL)
        hooks = &none;
    if (hooks->ranks != NULL)
        ranks = hooks->ranks;
    if (what->optim->kind == OPTIM_SGD) {
        const struct problem problem = problem_in(what);

        CHECK(collective_size(ranks) == 1);
        err = sequential_train(&problem, pool, what->optim, hooks->hooks.cancel,
                               result, why);
    } else {
        err = train(what, pool, ranks, hooks, result, why);
        if (err == ERR_OK && !result->stopped && what->user == NULL &&
            what->net == NULL && collective_rank(ranks) == 0)
            err = settle(what, pool, result);
    }
    if (err == ERR_NOMEM)
        (void)why_set(why, err, "not enough memory to train");
    return err;
}
