/*
 * alone.c - training in one process: what the lockstep of one needs for rows of
 * a linear model, and for a function of the user's.
 */
#include "node/fixed/alone.h"

#include <string.h>

#include "base/mem.h"
#include "eval/briefs.h"
#include "eval/registry.h"
#include "math/exact/follow.h"
#include "model/linear/bounds.h"
#include "model/linear/proved.h"
#include "node/fixed/evaluate.h"
#include "node/fixed/sequential.h"

static enum err report(const struct trainer *trainer, bool stopped,
                       struct alone_result *result)
{
    const uint32_t dims = trainer->options.dims;
    double *weights = mem_new(dims, sizeof *weights);

    if (weights == NULL)
        return ERR_NOMEM;
    memcpy(weights, trainer_weights(trainer), dims * sizeof *weights);
    *result = (struct alone_result){
        .weights = weights,
        .dims = dims,
        .steps = trainer->optim.step,
        .evaluations = trainer->optim.evaluations,
        .outcome = optim_outcome(&trainer->optim),
        .stopped = stopped,
        .hash = trainer_hash(trainer),
    };
    return ERR_OK;
}

/* From a state that was saved, if there is one, to the end. */
static enum err run(const struct trainer_options *options,
                    struct evaluator *evaluator,
                    const struct alone_hooks *hooks,
                    struct alone_result *result, struct why *why)
{
    const struct collective alone = collective_alone();
    struct trainer trainer;
    enum err err = trainer_init(&trainer, options);
    bool stopped;

    if (err == ERR_OK && hooks->state != NULL)
        err = trainer_load(&trainer, hooks->state, hooks->state_size, why);
    if (err == ERR_OK)
        err = lockstep_run(&trainer, evaluator, &alone, &hooks->hooks, why);
    stopped = err == ERR_CANCELLED || err == ERR_CLOSED;
    if (err == ERR_OK || stopped)
        err = report(&trainer, stopped, result);
    trainer_close(&trainer);
    return err;
}

static const struct alone_hooks none;

/* What is said of the run becomes true of its last weights. */
static enum err settle(const struct problem *problem, struct pool *pool,
                       const struct optim_options *optim,
                       struct alone_result *result)
{
    const enum err err = evaluate_outcome(problem, pool, optim, result->weights,
                                          &result->outcome);

    if (err != ERR_OK)
        mem_free(result->weights);
    return err;
}

static enum err train_rows(const struct problem *problem, struct pool *pool,
                           const struct optim_options *optim,
                           const struct alone_hooks *hooks,
                           struct alone_result *result, struct why *why)
{
    struct trainer_options options = {.optim = *optim,
                                      .dims = problem_dims(problem),
                                      .vectors = problem_outputs(problem),
                                      .length = problem->data->cols};
    struct evaluator *evaluator = NULL;
    struct bounds bounds = {0};
    struct proved proved;
    enum err err = bounds_init(&bounds, problem->data->stride);

    if (err == ERR_OK)
        err = bounds_measure_all(&bounds, problem, pool, why);
    proved_init(&proved, &bounds, problem);
    options.scale = &proved.scale;
    if (err == ERR_OK)
        err =
            evaluator_open_problem(problem, &optim->sampler, pool, &evaluator);
    if (err == ERR_OK)
        err = run(&options, evaluator, hooks, result, why);
    if (err == ERR_OK && !result->stopped)
        err = settle(problem, pool, optim, result);
    evaluator_close(evaluator);
    bounds_close(&bounds);
    return err;
}

enum err alone_train(const struct problem *problem, struct pool *pool,
                     const struct optim_options *options,
                     const struct alone_hooks *hooks,
                     struct alone_result *result, struct why *why)
{
    enum err err;

    if (hooks == NULL)
        hooks = &none;
    err = options->kind == OPTIM_SGD
              ? sequential_train(problem, pool, options, hooks->hooks.cancel,
                                 result, why)
              : train_rows(problem, pool, options, hooks, result, why);
    if (err == ERR_NOMEM)
        (void)why_set(why, err, "not enough memory to train");
    return err;
}

enum err alone_train_user(const struct user_function *user, struct pool *pool,
                          const struct optim_options *optim,
                          const struct alone_hooks *hooks,
                          struct alone_result *result, struct why *why)
{
    const struct shelf shelf = {.user = user};
    uint8_t room[BRIEF_MAX];
    const struct brief brief = brief_user(room, user);
    struct trainer_options options = {.optim = *optim,
                                      .dims = follow_dims(user->dims),
                                      .vectors = 1,
                                      .length = user->dims};
    struct evaluator *evaluator = NULL;
    struct follow follow = {0};
    enum err err = follow_init(&follow, user->dims, user->chunks);

    options.scale = &follow.scale;
    if (err == ERR_OK)
        err = evaluator_open(&brief, &shelf, pool, &evaluator);
    if (err == ERR_OK)
        err = run(&options, evaluator, hooks == NULL ? &none : hooks, result,
                  why);
    if (err == ERR_OK)
        result->dims = user->dims;
    evaluator_close(evaluator);
    follow_close(&follow);
    return err;
}
