/*
 * single.c - training in one process: ask the optimiser, evaluate all chunks
 * with all threads, feed it.
 */
#include "node/fixed/single.h"

#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "eval/registry.h"
#include "model/linear/bounds.h"
#include "node/fixed/evaluate.h"
#include "node/fixed/sequential.h"

struct single {
    const struct problem *problem;
    struct evaluator *evaluator;
    struct bounds bounds;
    struct optim optim;
    struct tally tally;
    int16_t *exponent;
    double *sum;
    const struct single_hooks *hooks;
    bool stopped;
};

static enum err single_init(struct single *s, const struct problem *problem,
                            struct pool *pool,
                            const struct optim_options *options,
                            struct why *why)
{
    const uint32_t dims = problem_dims(problem);
    const uint32_t chunks = dataset_chunks(problem->data);
    enum err err = bounds_init(&s->bounds, problem->data->stride);

    s->problem = problem;
    if (err == ERR_OK)
        err = bounds_measure_all(&s->bounds, problem, pool, why);
    if (err == ERR_OK)
        err = evaluator_open_problem(problem, pool, &s->evaluator);
    if (err == ERR_OK)
        err = optim_init(&s->optim, options, dims);
    if (err != ERR_OK)
        return err;
    s->exponent = mem_new(optim_sum_dims(&s->optim) + 1, sizeof *s->exponent);
    s->sum = mem_new(optim_sum_dims(&s->optim), sizeof *s->sum);
    if (s->exponent == NULL || s->sum == NULL)
        return ERR_NOMEM;
    return tally_init(&s->tally, optim_sum_dims(&s->optim), chunks);
}

static void single_close(struct single *s)
{
    evaluator_close(s->evaluator);
    bounds_close(&s->bounds);
    optim_close(&s->optim);
    tally_close(&s->tally);
    mem_free(s->exponent);
    mem_free(s->sum);
}

/* One evaluation over all chunks, fed. */
static enum err single_round(struct single *s, const struct evaluation *what)
{
    const struct computation asked = {
        .what = *what,
        .end = dataset_chunks(s->problem->data),
        .exponent = s->exponent,
        .tally = &s->tally,
    };
    enum err err = bounds_exponents(&s->bounds, s->problem, what, s->exponent);

    if (err != ERR_OK && optim_reject(&s->optim))
        return ERR_OK;
    s->tally.dims = evaluation_dims(what->kind, s->optim.dims);
    tally_clear(&s->tally);
    if (err == ERR_OK)
        err = evaluator_run(s->evaluator, &asked, s->hooks->cancel);
    if (err != ERR_OK)
        return err;
    (void)tally_gradient(&s->tally, s->exponent, s->sum);
    (void)optim_feed(&s->optim, s->sum,
                     tally_loss_value(&s->tally, s->exponent));
    return s->optim.diverged ? ERR_RANGE : ERR_OK;
}

/* The flag first: whoever watches sees it, too, and has the last word. */
static bool asked_to_stop(const struct single *s)
{
    const struct single_hooks *hooks = s->hooks;
    const bool cancelled = hooks->cancel != NULL && flag_raised(hooks->cancel);

    return (hooks->watch != NULL && !hooks->watch(hooks->context, &s->optim)) ||
           cancelled;
}

/* From a state that was saved, if there is one. */
static enum err single_load(struct single *s, struct why *why)
{
    struct reader in = reader_on(s->hooks->state, s->hooks->state_size);
    const enum err err =
        s->hooks->state == NULL ? ERR_OK : optim_load(&s->optim, &in);

    return err == ERR_FORMAT
               ? why_set(why, err, "checkpoint: it is not of this optimiser")
               : err;
}

static enum err single_loop(struct single *s, struct why *why)
{
    struct ask ask;

    while ((ask = optim_next(&s->optim)).kind != ASK_DONE) {
        const enum err err = single_round(s, &ask.what);

        if (err == ERR_RANGE)
            return why_set(why, err,
                           "the weights are not finite after step %u: the "
                           "training diverged; a smaller --lr helps",
                           s->optim.step);
        if (err != ERR_OK && err != ERR_CANCELLED)
            return err;
        if (asked_to_stop(s) || err == ERR_CANCELLED) {
            s->stopped = optim_next(&s->optim).kind != ASK_DONE;
            return ERR_OK;
        }
    }
    return ERR_OK;
}

static enum err single_report(const struct single *s,
                              struct single_result *result)
{
    const uint32_t dims = s->optim.dims;
    double *weights = mem_new(dims, sizeof *weights);

    if (weights == NULL)
        return ERR_NOMEM;
    memcpy(weights, optim_weights(&s->optim), dims * sizeof *weights);
    *result = (struct single_result){
        .weights = weights,
        .dims = dims,
        .steps = s->optim.step,
        .outcome = optim_outcome(&s->optim),
        .stopped = s->stopped,
        .hash = problem_hash(s->problem, weights),
    };
    return ERR_OK;
}

enum err single_train(const struct dataset *data, enum model_kind model,
                      enum isa isa, struct pool *pool,
                      const struct optim_options *options,
                      const struct single_hooks *hooks,
                      struct single_result *result, struct why *why)
{
    static const struct single_hooks none = {0};
    const struct problem problem = problem_of(data, model, isa);
    struct single s = {.hooks = hooks == NULL ? &none : hooks};
    enum err err;

    if (options->kind == OPTIM_SGD) {
        err = sequential_train(&problem, pool, options, s.hooks->cancel, result,
                               why);
        if (err == ERR_NOMEM)
            (void)why_set(why, err, "not enough memory to train");
        return err;
    }
    err = single_init(&s, &problem, pool, options, why);
    if (err == ERR_OK)
        err = single_load(&s, why);
    if (err == ERR_OK)
        err = single_loop(&s, why);
    if (err == ERR_OK)
        err = single_report(&s, result);
    if (err == ERR_OK && !s.stopped)
        err = evaluate_outcome(&problem, pool, options, result->weights,
                               &result->outcome);
    if (err == ERR_NOMEM)
        (void)why_set(why, err, "not enough memory to train");
    single_close(&s);
    return err;
}
