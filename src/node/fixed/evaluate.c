/*
 * evaluate.c - the objective over all rows at given weights, by the same
 * tallies as a training step: the final figures of a run.
 */
#include "node/fixed/evaluate.h"

#include <math.h>

#include "base/mem.h"
#include "eval/registry.h"
#include "math/exact/tally.h"
#include "math/vec.h"
#include "model/linear/bounds.h"
#include "optim/hidden.h"

struct evaluate {
    const struct bounds *bounds; /* The problem's, or ... */
    struct bounds own;
    struct evaluator *evaluator;
    struct tally tally;
    int16_t *exponent;
    double *sum, *gradient, *rounding, *work;
};

/* For evaluations up to `kind`: a gradient, a Hessian. */
static enum err evaluate_init(struct evaluate *e, const struct problem *problem,
                              struct pool *pool, enum evaluation_kind kind)
{
    const uint32_t dims = evaluation_dims(kind, problem_dims(problem));
    const uint32_t weights = problem_dims(problem);
    const uint32_t chunks = dataset_chunks(problem->data);
    enum err err = ERR_OK;

    e->bounds = problem->bounds;
    e->exponent = mem_new((size_t)dims + 1, sizeof *e->exponent);
    e->sum = mem_new(dims, sizeof *e->sum);
    e->gradient = mem_new(weights, sizeof *e->gradient);
    e->rounding = mem_new(weights, sizeof *e->rounding);
    e->work = mem_new(weights, sizeof *e->work);
    if (e->exponent == NULL || e->sum == NULL || e->gradient == NULL ||
        e->rounding == NULL || e->work == NULL)
        return ERR_NOMEM;
    if (e->bounds == NULL) {
        err = bounds_init(&e->own, problem->data->stride);
        if (err == ERR_OK)
            err = bounds_measure(&e->own, problem, pool);
        e->bounds = &e->own;
    }
    if (err == ERR_OK)
        err = evaluator_open_problem(problem, &sampler_whole, pool,
                                     &e->evaluator);
    if (err == ERR_OK)
        err = tally_init(&e->tally, dims, chunks);
    return err;
}

static void evaluate_close(struct evaluate *e)
{
    tally_close(&e->tally);
    evaluator_close(e->evaluator);
    bounds_close(&e->own);
    mem_free(e->exponent);
    mem_free(e->sum);
    mem_free(e->gradient);
    mem_free(e->rounding);
    mem_free(e->work);
}

/* Tallies of a Hessian hold those of a gradient, too. */
static enum err add_rows(struct evaluate *e, const struct problem *problem,
                         enum evaluation_kind kind, const double *w)
{
    const struct computation asked = {.what = {.kind = kind, .w = w},
                                      .end = dataset_chunks(problem->data),
                                      .exponent = e->exponent,
                                      .tally = &e->tally};
    enum err err =
        bounds_exponents(e->bounds, problem, &asked.what, e->exponent);

    e->tally.dims = evaluation_dims(kind, problem_dims(problem));
    tally_clear(&e->tally);
    if (err == ERR_OK)
        err = evaluator_run(e->evaluator, &asked, NULL);
    if (err == ERR_OK)
        (void)tally_gradient(&e->tally, e->exponent, e->sum);
    return err;
}

static enum err measure(struct evaluate *e, const struct problem *problem,
                        const struct optim_options *options, const double *w,
                        double *objective)
{
    const enum err err = add_rows(e, problem, EVALUATE_GRADIENT, w);

    if (err == ERR_OK)
        *objective = optim_objective(options, problem_dims(problem), w, e->sum,
                                     tally_loss_value(&e->tally, e->exponent),
                                     e->gradient);
    return err;
}

enum err evaluate_at(const struct problem *problem, struct pool *pool,
                     const struct optim_options *options, const double *w,
                     double *objective, double *gradient_norm)
{
    const uint32_t dims = problem_dims(problem);
    double *const zero = w == NULL ? mem_new(dims, sizeof *zero) : NULL;
    const double *const at = w == NULL ? zero : w;
    struct evaluate e = {0};
    enum err err = at == NULL
                       ? ERR_NOMEM
                       : evaluate_init(&e, problem, pool, EVALUATE_GRADIENT);

    if (err == ERR_OK)
        err = measure(&e, problem, options, at, objective);
    if (err == ERR_OK && gradient_norm != NULL)
        *gradient_norm = vec_norm(e.gradient, dims);
    evaluate_close(&e);
    mem_free(zero);
    return err;
}

/* Every chunk's sum is rounded to the grid of its coordinate. */
static void find_rounding(struct evaluate *e, const struct problem *problem,
                          const struct optim_options *options)
{
    const double chunks = dataset_chunks(problem->data);

    for (uint32_t j = 0; j < problem_dims(problem); j++)
        e->rounding[j] =
            ldexp(chunks / 2 / (double)options->rows, -e->exponent[j]);
}

enum err evaluate_hidden(const struct problem *problem, struct pool *pool,
                         const struct optim_options *options, const double *w,
                         struct optim_outcome *outcome)
{
    const uint32_t dims = problem_dims(problem);
    struct evaluate e = {0};
    double objective;
    enum err err;

    if (!problem_has_hessian(problem) || !hidden_asks(options, dims, outcome))
        return ERR_OK;
    err = evaluate_init(&e, problem, pool, EVALUATE_HESSIAN);
    if (err == ERR_OK)
        err = measure(&e, problem, options, w, &objective);
    if (err == ERR_OK)
        find_rounding(&e, problem, options);
    if (err == ERR_OK)
        err = add_rows(&e, problem, EVALUATE_HESSIAN, w);
    if (err == ERR_OK)
        hidden_judge_sums(options, dims, e.sum, e.gradient, e.rounding, e.work,
                          outcome);
    evaluate_close(&e);
    return err;
}

/* The first batch may have been an easy one, or a hard one; who begins at 0
 * asks only whether it is no better. */
static bool looks_back(const struct optim_options *options,
                       const struct optim_outcome *outcome, bool told)
{
    return outcome->objective > outcome->objective_first ||
           (options->start != NULL && !told &&
            options->sampler.kind != SAMPLER_WHOLE);
}

/* Where it began, and, if that was not at 0, what is there. */
static enum err look_back(const struct problem *problem, struct pool *pool,
                          const struct optim_options *options,
                          struct optim_outcome *outcome)
{
    enum err err = ERR_OK;

    if (options->sampler.kind != SAMPLER_WHOLE)
        err = evaluate_at(problem, pool, options, options->start,
                          &outcome->objective_first, NULL);
    if (err == ERR_OK && options->start != NULL)
        err = evaluate_at(problem, pool, options, NULL, &outcome->blank, NULL);
    return err;
}

enum err evaluate_outcome(const struct problem *problem, struct pool *pool,
                          const struct optim_options *options, const double *w,
                          struct optim_outcome *outcome)
{
    const bool told = outcome->at_model;
    enum err err = ERR_OK;

    if (!told)
        err = evaluate_at(problem, pool, options, w, &outcome->objective,
                          &outcome->gradient_norm);
    if (err == ERR_RANGE) {
        outcome->objective = HUGE_VAL;
        outcome->gradient_norm = HUGE_VAL;
        err = ERR_OK;
    }
    outcome->at_model = err == ERR_OK;
    if (err == ERR_OK && looks_back(options, outcome, told))
        err = look_back(problem, pool, options, outcome);
    optim_judge(options, outcome);
    return err;
}
