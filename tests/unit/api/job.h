/*
 * job.h - a muster_train as one structure: the function, and the keys of the
 * recipe as fields.  A field that is 0 is no key.
 */
#ifndef TESTS_API_JOB_H
#define TESTS_API_JOB_H

#include <stdio.h>

#include "muster.h"

struct job {
    uint32_t dims, chunks;
    uint64_t rows;
    muster_gradient gradient;
    muster_hessvec hessvec;
    muster_watch watch;
    void *context;
    const char *optimiser, *code, *listen, *token_file, *folder, *name;
    double rate, l2, tol;
    uint32_t steps, threads, workers, stragglers, wanted;
    size_t size; /* Of the function's structure, if not its own. */
};

static inline enum muster_status job_text(struct muster_recipe *recipe,
                                          const char *key, const char *text,
                                          char *why)
{
    return text == NULL ? MUSTER_OK : muster_set(recipe, key, text, why);
}

static inline enum muster_status
job_real(struct muster_recipe *recipe, const char *key, double value, char *why)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%.17g", value);
    return value == 0 ? MUSTER_OK : muster_set(recipe, key, text, why);
}

static inline enum muster_status
job_keys(const struct job *job, struct muster_recipe *recipe, char *why)
{
    const struct {
        const char *key, *text;
        double value;
    } keys[] = {
        {"optim", job->optimiser, 0},
        {"code", job->code, 0},
        {"listen", job->listen, 0},
        {"token-file", job->token_file, 0},
        {"out", job->folder, 0},
        {"lr", NULL, job->rate},
        {"l2", NULL, job->l2},
        {"tol", NULL, job->tol},
        {"steps", NULL, job->steps},
        {"threads", NULL, job->threads},
        {"n", NULL, job->workers},
        {"workers", NULL, job->wanted},
        {"stragglers", NULL, job->stragglers},
    };
    enum muster_status status = MUSTER_OK;

    for (size_t i = 0; status == MUSTER_OK && i < sizeof keys / sizeof *keys;
         i++)
        status = keys[i].value == 0
                     ? job_text(recipe, keys[i].key, keys[i].text, why)
                     : job_real(recipe, keys[i].key, keys[i].value, why);
    muster_listen(recipe, job->watch, NULL, job->context);
    return status;
}

static inline struct muster_function job_function(const struct job *job)
{
    struct muster_function function = MUSTER_INIT(struct muster_function);

    if (job->size != 0)
        function.size = job->size;
    function.dims = job->dims;
    function.chunks = job->chunks;
    function.rows = job->rows;
    function.gradient = job->gradient;
    function.hessvec = job->hessvec;
    function.context = job->context;
    return function;
}

static inline enum muster_status
job_train(const struct job *job, struct muster_model **model, char *why)
{
    const struct muster_function function = job_function(job);
    struct muster_recipe *recipe;
    enum muster_status status = muster_recipe_new(&recipe, why);

    *model = NULL;
    if (status != MUSTER_OK)
        return status;
    status = job_keys(job, recipe, why);
    if (status == MUSTER_OK)
        status = muster_train(recipe, &function, model, why);
    muster_recipe_free(recipe);
    return status;
}

static inline enum muster_status job_join(const struct job *job,
                                          const char *address, char *why)
{
    const struct muster_function function = job_function(job);
    struct muster_recipe *recipe;
    enum muster_status status = muster_recipe_new(&recipe, why);

    if (status != MUSTER_OK)
        return status;
    status = job_keys(job, recipe, why);
    if (status == MUSTER_OK)
        status = muster_join(recipe, &function, address, job->name, why);
    muster_recipe_free(recipe);
    return status;
}

static inline struct muster_info about(const struct muster_model *model)
{
    struct muster_info info = MUSTER_INIT(struct muster_info);

    (void)muster_about(model, &info, NULL);
    return info;
}

#endif /* TESTS_API_JOB_H */
