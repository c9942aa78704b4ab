#include "node/evaluate.h"

#include <math.h>

#include "base/mem.h"
#include "math/vec.h"
#include "node/compute.h"

struct evaluate {
    struct bounds bounds;
    struct compute compute;
    struct tally tally;
    int16_t *exponent;
    double *sum, *gradient;
};

static enum err evaluate_init(struct evaluate *e, const struct problem *problem,
                              struct pool *pool)
{
    const uint32_t dims = problem_dims(problem);
    const uint32_t chunks = dataset_chunks(problem->data);
    enum err err = bounds_init(&e->bounds, problem->data->stride);

    e->exponent = mem_new((size_t)dims + 1, sizeof *e->exponent);
    e->sum = mem_new(dims, sizeof *e->sum);
    e->gradient = mem_new(dims, sizeof *e->gradient);
    if (e->exponent == NULL || e->sum == NULL || e->gradient == NULL)
        return ERR_NOMEM;
    if (err == ERR_OK)
        err = bounds_measure(&e->bounds, problem, pool);
    if (err == ERR_OK)
        err = compute_init(&e->compute, problem, dims, chunks, pool);
    if (err == ERR_OK)
        err = tally_init(&e->tally, dims, chunks);
    return err;
}

static void evaluate_close(struct evaluate *e)
{
    tally_close(&e->tally);
    compute_close(&e->compute);
    bounds_close(&e->bounds);
    mem_free(e->exponent);
    mem_free(e->sum);
    mem_free(e->gradient);
}

static enum err add_rows(struct evaluate *e, const struct problem *problem,
                         const double *w)
{
    const struct evaluation what = {.kind = EVALUATE_GRADIENT, .w = w};
    const struct compute_work work = {.end = dataset_chunks(problem->data),
                                      .kind = EVALUATE_GRADIENT,
                                      .weights = w,
                                      .exponent = e->exponent,
                                      .tally = &e->tally};
    enum err err = bounds_exponents(&e->bounds, problem, &what, e->exponent);

    if (err == ERR_OK)
        err = compute_run(&e->compute, &work, NULL);
    if (err == ERR_OK)
        (void)tally_gradient(&e->tally, e->exponent, e->sum);
    return err;
}

enum err evaluate_at(const struct problem *problem, struct pool *pool,
                     const struct optim_options *options, const double *w,
                     double *objective, double *gradient_norm)
{
    const uint32_t dims = problem_dims(problem);
    struct evaluate e = {0};
    enum err err = evaluate_init(&e, problem, pool);

    if (err == ERR_OK)
        err = add_rows(&e, problem, w);
    if (err == ERR_OK)
        *objective =
            optim_objective(options, dims, w, e.sum,
                            tally_loss_value(&e.tally, e.exponent), e.gradient);
    if (err == ERR_OK && gradient_norm != NULL)
        *gradient_norm = vec_norm(e.gradient, dims);
    evaluate_close(&e);
    return err;
}

enum err evaluate_outcome(const struct problem *problem, struct pool *pool,
                          const struct optim_options *options, const double *w,
                          struct optim_outcome *outcome)
{
    enum err err = ERR_OK;

    if (!outcome->at_model)
        err = evaluate_at(problem, pool, options, w, &outcome->objective,
                          &outcome->gradient_norm);
    if (err == ERR_RANGE) {
        outcome->objective = HUGE_VAL;
        outcome->gradient_norm = HUGE_VAL;
        err = ERR_OK;
    }
    outcome->at_model = err == ERR_OK;
    optim_judge(options, outcome);
    return err;
}
