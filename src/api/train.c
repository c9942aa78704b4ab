/*
 * train.c - muster_train: a gradient of the user's, alone or with workers.
 */
#include "api/options.h"
#include "api/training.h"
#include "base/mem.h"

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
    struct why sentence = {{0}};
    struct muster_model *made;
    struct wish wish;
    enum err err = wish_read(recipe, function, &wish, &sentence);

    if (err == ERR_OK && model == NULL)
        err =
            why_set(&sentence, ERR_SHAPE, "there is nowhere to put the model");
    if (err != ERR_OK)
        return status_end(err, &sentence, why);
    *model = NULL;
    made = mem_new(1, sizeof *made);
    if (made == NULL)
        return status_end(ERR_NOMEM, &sentence, why);
    made->own = true;
    made->dims = wish.function.dims;
    err = train(&wish, made, &sentence);
    flag_lower(&recipe->stop);
    if (made->file.w != NULL) {
        model_name(made);
        *model = made;
    } else {
        muster_free(made);
    }
    return status_end(err, &sentence, why);
}
