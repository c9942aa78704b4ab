/*
 * train.c - muster_train: a gradient of the user's, alone or with workers.
 */
#include "api/options.h"
#include "api/training.h"
#include "base/mem.h"
#include "node/fixed/alone.h"
#include "os/run/threads.h"

struct watching {
    const struct muster_recipe *recipe;
    uint32_t step; /* The user was told of it. */
};

/* After each step; an evaluation may be one of several. */
static bool wants_more(void *context, const struct trainer *trainer, bool last)
{
    const struct optim *const optim = &trainer->optim;
    struct watching *watching = context;
    const struct muster_progress progress = {
        .size = sizeof progress,
        .step = optim->step,
        .evaluations = optim->evaluations,
        .objective = optim->objective,
        .gradient_norm = optim->gradient_norm,
        .weights = optim_weights(optim),
    };

    (void)last;
    if (optim->step == watching->step)
        return true;
    watching->step = optim->step;
    return callback_watch(watching->recipe, &progress);
}

static void fill(const struct alone_result *result, struct muster_model *model)
{
    model->file.w = result->weights;
    model->steps = result->steps;
    model->evaluations = result->evaluations;
    model->objective = result->outcome.objective;
    model->converged = result->outcome.end == OPTIM_CONVERGED;
}

/* In this process.  ERR_CANCELLED, too, leaves a model. */
static enum err train_alone(const struct wish *wish,
                            const struct optim_options *optim,
                            struct muster_model *model, struct why *why)
{
    const struct user_function user = wish_user(wish);
    const struct objective_options what = {.user = &user, .optim = optim};
    struct watching watching = {.recipe = wish->recipe};
    const struct alone_hooks hooks = {.hooks = {.watch = wants_more,
                                                .context = &watching,
                                                .cancel = &wish->recipe->stop}};
    struct alone_result result = {0};
    struct pool *pool = pool_serial();
    enum err err = ERR_OK;

    if (wish->threads > 1)
        err = threads_new(wish->threads, &pool);
    if (err != ERR_OK)
        return err;
    err = alone_train(&what, pool, &hooks, &result, why);
    if (pool != pool_serial())
        threads_free(pool);
    if (err == ERR_OK)
        fill(&result, model);
    return err == ERR_OK && result.stopped ? ERR_CANCELLED : err;
}

static enum err train(const struct wish *wish, struct muster_model *made,
                      struct why *why)
{
    const bool workers = wish->workers > 0 || wish->listen != NULL;
    struct optim_options optim;
    enum err err = wish_optim(wish, &optim, why);

    if (err == ERR_OK && !workers)
        err = wish_alone(wish, why);
    if (err != ERR_OK)
        return err;
    return workers ? train_cluster(wish, &optim, made, why)
                   : train_alone(wish, &optim, made, why);
}

enum muster_status muster_train(struct muster_recipe *recipe,
                                const struct muster_function *function,
                                struct muster_model **model, char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    struct muster_model *made;
    struct wish wish;
    enum err err = wish_read(recipe, function, &wish, &sentence);

    if (err == ERR_OK && model == NULL)
        err =
            why_set(&sentence, ERR_SHAPE, "there is nowhere to put the model");
    if (err != ERR_OK || model == NULL) {
        stop_spent(recipe);
        return status_end(err, &sentence, why);
    }
    *model = NULL;
    made = mem_new(1, sizeof *made);
    if (made == NULL) {
        stop_spent(recipe);
        return status_end(ERR_NOMEM, &sentence, why);
    }
    made->own = true;
    made->dims = wish.function.dims;
    err = train(&wish, made, &sentence);
    stop_spent(recipe);
    if (made->file.w != NULL) {
        model_name(made);
        *model = made;
    } else {
        muster_free(made);
    }
    return status_end(err, &sentence, why);
}
