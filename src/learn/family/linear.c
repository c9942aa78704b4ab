/*
 * linear.c - linear models: their defaults, numbers and verdicts.
 */
#include <math.h>

#include "base/check.h"
#include "base/mem.h"
#include "learn/batches.h"
#include "learn/family/constant.h"
#include "learn/family/family.h"
#include "learn/family/held.h"
#include "learn/family/start.h"
#include "learn/rows.h"
#include "math/golden/golden.h"
#include "math/kernel/softmax.h"
#include "node/fixed/evaluate.h"

#define DEFAULT_PASSES 10u

/* By the labels, as data/rows/labels.h took them; NULL: one, or many of which
 * the owners of the rows do not say how often they are seen. */
static const char *model_of(const struct setup *setup)
{
    const uint32_t classes = setup->data.classes;

    if (classes == 2)
        return "logistic";
    if (classes == 0 ||
        (setup->hollow && setup_find_number(&setup->data) != NULL))
        return "linear";
    return classes > 2 && !setup->hollow ? "softmax" : NULL;
}

/* Who says nothing wants the optimum.  Newton's method finds it whatever the
 * units of the columns; lbfgs on coded data, where each product with them
 * is two rounds, or where, of a hinge with many columns, they help little.
 * Estimated sums cannot be compared, and Nesterov's steps at their usual rate
 * make their errors grow; plain ones bear them, and those of batches.  A
 * simulation is of the reference systems' steps. */
static const char *optimiser(const struct setup *setup,
                             const struct recipe *recipe)
{
    const struct problem problem = setup_problem(setup);

    if (setup->exactness == EXACT_APPROX || batches_wanted(recipe))
        return "gd";
    if (setup->terms.simulated)
        return "agd";
    if (code_spec_products(&setup->code) ||
        (model_ops(setup->model)->kinks && !problem_has_hessian(&problem)))
        return "lbfgs";
    return "newton";
}

static enum err numbers(const struct setup *setup, const struct recipe *recipe,
                        struct pool *pool, struct numbers *out, struct why *why)
{
    const enum err err = numbers_choose(recipe, setup->model, setup->isa,
                                        &setup->data, pool, out, why);

    if (err == ERR_OK)
        out->optim.start = setup->start;
    return err;
}

static uint32_t dims(const struct setup *setup)
{
    const struct problem problem = setup_problem(setup);

    return problem_dims(&problem);
}

static const char *profile(const struct setup *setup)
{
    if (model_ops(setup->model)->classes)
        return PROFILE_SOFTMAX_NAME;
    if (setup->data.storage == STORAGE_INDEX)
        return PROFILE_INDEX_NAME;
    return setup->data.storage == STORAGE_CSR ? PROFILE_CSR_NAME
                                              : PROFILE_DENSE_NAME;
}

/* Weights to begin with, where they are not 0. */
static void digest(const struct setup *setup, struct hasher *hasher)
{
    if (setup->start != NULL)
        hasher_add_f64(hasher, setup->start, dims(setup));
}

/* Weights as the training data's columns lie, for the problem's rows. */
static enum err carry(const struct setup *setup, const struct problem *problem,
                      const double *w, double **inside)
{
    *inside = mem_new(problem_dims(problem), sizeof **inside);
    return *inside == NULL ? ERR_NOMEM
                           : rows_weights_carry(&setup->data, problem->data,
                                                problem->outputs, w, *inside);
}

static enum err scores(const struct setup *setup, const struct dataset *data,
                       struct pool *pool, const double *w, double *z)
{
    struct problem problem = setup_problem(setup);
    double *inside;
    enum err err;

    problem.data = data;
    err = carry(setup, &problem, w, &inside);
    if (err == ERR_OK)
        err = metrics_scores(&problem, pool, inside, z);
    mem_free(inside);
    return err;
}

static enum err measure(const struct setup *setup, const struct dataset *data,
                        const double *w, struct metrics *metrics)
{
    struct problem problem = setup_problem(setup);
    double *inside;
    enum err err;

    problem.data = data;
    err = carry(setup, &problem, w, &inside);
    if (err == ERR_OK)
        err = metrics_measure(metrics, &problem, inside);
    mem_free(inside);
    return err;
}

static double loss(const struct setup *setup, const struct metrics *metrics)
{
    (void)setup;
    return metrics->loss;
}

static enum err fill(const struct setup *setup, const double *w,
                     struct model_file *model)
{
    const struct problem problem = setup_problem(setup);
    const struct dataset *const data = &setup->data;
    const uint32_t count = model_file_weights(model);

    model->outputs = problem_outputs(&problem);
    model->w = mem_new((size_t)count * model->outputs, sizeof *model->w);
    for (uint32_t k = 0; model->w != NULL && k < model->outputs; k++)
        rows_weights_out(data, w + (size_t)k * data->stride,
                         model->w + (size_t)k * count);
    return model->w != NULL ? ERR_OK : ERR_NOMEM;
}

/* A model whose steps were over before it converged may have learnt nothing.
 * At the optimum, and where no step gains, other steps would not help. */
static enum err hold_against_constant(const struct setup *setup,
                                      struct train_result *result)
{
    const struct problem problem = setup_problem(setup);
    const struct optim_outcome *const outcome = &result->outcome;
    const enum optim_end end = outcome->end;
    const double mean =
        outcome->objective -
        optim_penalty(&setup->optim, problem_dims(&problem), result->weights);
    const double loss = mean * (double)setup->optim.rows *
                        (model_ops(setup->model)->regression ? .5 : 1);
    enum err err;

    CHECK(outcome->at_model);
    if (end == OPTIM_CONVERGED || end == OPTIM_STALLED ||
        end == OPTIM_DIVERGED || !isfinite(mean))
        return ERR_OK;
    err = constant_judge(setup, loss, result);
    /* Whose loss is no less may still be right more often. */
    if (err == ERR_OK && !result->constant.beaten) {
        err = measure(setup, &setup->data, result->weights, &result->metrics);
        result->measured = err == ERR_OK;
        if (err == ERR_OK)
            err = constant_judge(setup, loss, result);
    }
    return err == ERR_RANGE ? ERR_OK : err;
}

static enum err settle(const struct setup *setup, struct pool *pool,
                       struct train_result *result)
{
    const struct problem problem = setup_problem(setup);
    struct optim_options optim = setup->optim;
    struct optim_outcome *outcome = &result->outcome;
    enum err err = ERR_OK;

    if (setup_is_coded(setup))
        optim_on_scores(&optim);
    if (setup->exactness == EXACT_APPROX) {
        /* Estimated sums may put the start anywhere; the rows tell. */
        outcome->at_model = false;
        err = evaluate_at(&problem, pool, &setup->optim, setup->start,
                          &outcome->objective_first, NULL);
    }
    if (err == ERR_OK)
        err = evaluate_outcome(&problem, pool, &setup->optim, result->weights,
                               outcome);
    if (err == ERR_OK)
        err = evaluate_hidden(&problem, pool, &optim, result->weights, outcome);
    if (err == ERR_OK)
        err = held_judge(setup, pool, result);
    return err == ERR_OK ? hold_against_constant(setup, result) : err;
}

static struct digest hash(const struct setup *setup, const double *w)
{
    const struct problem problem = setup_problem(setup);

    return problem_hash(&problem, w);
}

const struct family linear_family = {
    .constant = true,
    .converges = true,
    .passes = DEFAULT_PASSES,
    .model = model_of,
    .build = start_linear,
    .optimiser = optimiser,
    .numbers = numbers,
    .dims = dims,
    .profile = profile,
    .digest = digest,
    .scores = scores,
    .measure = measure,
    .loss = loss,
    .fill = fill,
    .hash = hash,
    .settle = settle,
};
