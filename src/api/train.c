/*
 * train.c - the public face of training, and of the model it makes.
 */
#include <stdio.h>
#include <string.h>

#include "api/options.h"
#include "api/training.h"
#include "base/mem.h"

_Static_assert(MUSTER_HASH_SIZE == DIGEST_TEXT, "a digest in hex");

static enum err train(const struct muster_options *given,
                      struct muster_model **model, struct why *why)
{
    struct muster_options options;
    struct optim_options optim;
    struct muster_model *made;
    enum err err = options_read(given, &options, why);

    if (err == ERR_OK)
        err = options_check(&options, why);
    if (err == ERR_OK)
        err = options_optim(&options, &optim, why);
    if (err != ERR_OK)
        return err;
    if (options.workers == 0 && options.listen == NULL)
        err = options_alone(&options, why);
    if (err != ERR_OK)
        return err;
    made = mem_new(1, sizeof *made);
    if (made == NULL)
        return ERR_NOMEM;
    if (options.workers > 0 || options.listen != NULL)
        err = train_cluster(&options, &optim, made, why);
    else
        err = train_alone(&options, &optim, made, why);
    if (made->weights == NULL) {
        mem_free(made);
        return err;
    }
    const struct digest digest = hash_f64(made->weights, options.dims);

    (void)digest_text(&digest, made->hash);
    made->dims = options.dims;
    *model = made;
    return err;
}

enum muster_status muster_train(const struct muster_options *options,
                                struct muster_model **model, char *why)
{
    struct why sentence = {{0}};
    enum err err;

    if (model == NULL)
        return status_end(
            why_set(&sentence, ERR_SHAPE, "there is nowhere to put the model"),
            &sentence, why);
    *model = NULL;
    err = train(options, model, &sentence);
    return status_end(err, &sentence, why);
}

uint32_t muster_dims(const struct muster_model *model)
{
    return model->dims;
}

const double *muster_weights(const struct muster_model *model)
{
    return model->weights;
}

uint32_t muster_steps(const struct muster_model *model)
{
    return model->steps;
}

uint64_t muster_evaluations(const struct muster_model *model)
{
    return model->evaluations;
}

double muster_objective(const struct muster_model *model)
{
    return model->objective;
}

int muster_converged(const struct muster_model *model)
{
    return model->converged;
}

int muster_signal(const struct muster_model *model)
{
    return model->signal;
}

const char *muster_hash(const struct muster_model *model)
{
    return model->hash;
}

void muster_free(struct muster_model *model)
{
    if (model == NULL)
        return;
    mem_free(model->weights);
    mem_free(model);
}

uint32_t muster_version(void)
{
    return MUSTER_VERSION;
}
