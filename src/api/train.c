/*
 * train.c - muster_train: a user's function, our optimisers, one process.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/user_sum.h"
#include "base/hash.h"
#include "base/mem.h"
#include "muster.h"
#include "optim/optim.h"
#include "os/threads.h"

#define STEPS_DEFAULT 100u

struct muster_model {
    double *weights;
    uint32_t dims;
    uint32_t steps;
    uint64_t evaluations;
    double objective;
    bool converged;
    char hash[DIGEST_TEXT];
};

_Static_assert(MUSTER_HASH_SIZE == DIGEST_TEXT, "a digest in hex");
_Static_assert(MUSTER_WHY_SIZE == WHY_SIZE, "a sentence fits both");

/* --- options ------------------------------------------------------------- */

static bool is_size(double x)
{
    return isfinite(x) && x >= 0;
}

static enum err check_numbers(const struct muster_options *o, struct why *why)
{
    if (o->dims == 0 || o->chunks == 0 || o->rows == 0)
        return why_set(why, ERR_SHAPE,
                       "dims, chunks and rows must be at least 1");
    if (o->gradient == NULL)
        return why_set(why, ERR_SHAPE, "there is no gradient function");
    if (!is_size(o->rate) || !is_size(o->l2) || !is_size(o->tol))
        return why_set(why, ERR_SHAPE,
                       "rate, l2 and tol must be finite and not negative");
    if (o->threads > THREADS_MAX)
        return why_set(why, ERR_SHAPE, "threads must be at most %u",
                       THREADS_MAX);
    if (o->workers != 0)
        return why_set(why, ERR_UNSUPPORTED,
                       "workers must be 0: this version trains in one process");
    return ERR_OK;
}

static enum err choose_optimiser(const struct muster_options *o,
                                 struct optim_options *optim, struct why *why)
{
    const char *name = o->optimiser != NULL ? o->optimiser : "lbfgs";
    enum optim_kind kind;

    if (optim_parse(name, &kind) != ERR_OK)
        return why_set(why, ERR_SHAPE, "there is no optimiser named \"%s\"",
                       name);
    if (kind == OPTIM_SGD)
        return why_set(why, ERR_SHAPE,
                       "sgd needs the rows themselves, not their sums; lbfgs "
                       "does not");
    if (kind == OPTIM_NEWTON && o->hessvec == NULL)
        return why_set(why, ERR_SHAPE,
                       "newton needs a hessvec function; lbfgs does not");
    *optim = optim_defaults(kind);
    if (o->rate > 0)
        optim->rate = o->rate;
    optim->dense_max = 0; /* Users give products, not matrices. */
    optim->l2 = o->l2;
    optim->tol = o->tol;
    optim->rows = o->rows;
    optim->steps = o->steps > 0 ? o->steps : STEPS_DEFAULT;
    return ERR_OK;
}

/* --- training ------------------------------------------------------------ */

struct training {
    const struct muster_options *options;
    struct pool *pool;
    struct user_sum sum;
    struct optim optim;
    double *values;
};

static bool wants_more(const struct training *t)
{
    const struct muster_progress progress = {
        .version = MUSTER_VERSION,
        .step = t->optim.step,
        .evaluations = t->optim.evaluations,
        .objective = t->optim.objective,
        .gradient_norm = t->optim.gradient_norm,
        .weights = optim_weights(&t->optim),
    };

    return t->options->watch == NULL ||
           t->options->watch(t->options->context, &progress) == 0;
}

/* ERR_CANCELLED: stopped by the user, the model so far counts. */
static enum err train_loop(struct training *t, struct why *why)
{
    struct ask ask;

    while ((ask = optim_next(&t->optim)).kind != ASK_DONE) {
        double loss = 0;
        enum err err = user_sum_run(&t->sum, &ask.what, t->values, &loss);

        if (err == ERR_RANGE)
            return why_set(why, err,
                           "step %u: gradient or loss of a chunk is not "
                           "finite or too large",
                           t->optim.step);
        if (err == ERR_MISMATCH)
            return why_set(why, err,
                           "step %u: the function gave two answers for the "
                           "same weights and chunk",
                           t->optim.step);
        if (err != ERR_OK)
            return err;
        if (optim_feed(&t->optim, t->values, loss) && !wants_more(t))
            return ERR_CANCELLED;
    }
    if (t->optim.diverged)
        return why_set(why, ERR_RANGE,
                       "the training diverged at step %u; a smaller rate "
                       "helps",
                       t->optim.step);
    return ERR_OK;
}

static enum err training_init(struct training *t,
                              const struct muster_options *options,
                              const struct optim_options *optim)
{
    enum err err = ERR_OK;

    t->options = options;
    t->pool = pool_serial();
    if (options->threads > 1)
        err = threads_new(options->threads, &t->pool);
    if (err == ERR_OK)
        err = user_sum_init(&t->sum, options, t->pool);
    if (err == ERR_OK)
        err = optim_init(&t->optim, optim, options->dims);
    t->values = mem_new(options->dims, sizeof *t->values);
    if (err == ERR_OK && t->values == NULL)
        err = ERR_NOMEM;
    return err;
}

static void training_close(struct training *t)
{
    user_sum_close(&t->sum);
    optim_close(&t->optim);
    mem_free(t->values);
    if (t->pool != pool_serial())
        threads_free(t->pool);
}

static struct muster_model *report(const struct training *t)
{
    const uint32_t dims = t->optim.dims;
    struct muster_model *model = mem_new(1, sizeof *model);
    struct digest digest;

    if (model == NULL)
        return NULL;
    model->weights = mem_new(dims, sizeof *model->weights);
    if (model->weights == NULL) {
        mem_free(model);
        return NULL;
    }
    memcpy(model->weights, optim_weights(&t->optim),
           dims * sizeof *model->weights);
    model->dims = dims;
    model->steps = t->optim.step;
    model->evaluations = t->optim.evaluations;
    model->objective = t->optim.objective;
    model->converged = optim_converged(&t->optim) || t->optim.stalled;
    digest = hash_f64(model->weights, dims);
    (void)digest_text(&digest, model->hash);
    return model;
}

static enum err train(const struct muster_options *options,
                      struct muster_model **model, struct why *why)
{
    struct optim_options optim;
    struct training t = {0};
    enum err err = check_numbers(options, why);

    if (err == ERR_OK)
        err = choose_optimiser(options, &optim, why);
    if (err != ERR_OK)
        return err;
    err = training_init(&t, options, &optim);
    if (err == ERR_OK)
        err = train_loop(&t, why);
    if (err == ERR_OK || err == ERR_CANCELLED) {
        *model = report(&t);
        if (*model == NULL)
            err = ERR_NOMEM;
    }
    training_close(&t);
    return err;
}

/* --- the public face ----------------------------------------------------- */

static enum muster_status status_of(enum err err)
{
    if (err == ERR_OK)
        return MUSTER_OK;
    if (err == ERR_CANCELLED)
        return MUSTER_STOPPED;
    if (err == ERR_RANGE)
        return MUSTER_DIVERGED;
    if (err == ERR_UNSUPPORTED)
        return MUSTER_UNSUPPORTED;
    if (err == ERR_MISMATCH)
        return MUSTER_NOT_A_FUNCTION;
    return err == ERR_SHAPE ? MUSTER_BAD_OPTION : MUSTER_NO_MEMORY;
}

enum muster_status muster_train(const struct muster_options *options,
                                struct muster_model **model, char *why)
{
    struct why sentence = {{0}};
    enum err err;

    *model = NULL;
    if (why != NULL)
        why[0] = '\0';
    /* What follows the version has the layout of that version; so far there
     * is but one. */
    if (options->version != MUSTER_VERSION) {
        if (why != NULL)
            (void)snprintf(why, MUSTER_WHY_SIZE,
                           "options of version %u, the library knows %u",
                           options->version, MUSTER_VERSION);
        return MUSTER_BAD_VERSION;
    }
    err = train(options, model, &sentence);
    if (err != ERR_OK && sentence.text[0] == '\0')
        (void)why_set(&sentence, err, "%s", err_text(err));
    if (why != NULL && err != ERR_OK)
        memcpy(why, sentence.text, sizeof sentence.text);
    return status_of(err);
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
