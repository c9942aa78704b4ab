/*
 * noise.c - the gradient noise scale, from batches at one and the same point.
 */
#include "node/fixed/noise.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "eval/registry.h"
#include "math/exact/tally.h"
#include "math/vec.h"

/* Batches of a pass: a quarter of its rows, but so many at least and most. */
#define BATCHES_LEAST 4u
#define BATCHES_MOST  32u

struct measure {
    const struct optim_options *optim;
    struct objective objective;
    struct evaluator *evaluator;
    struct tally tally;
    int16_t *exponent;
    double *w;    /* As long as the job has them. */
    double *sum;  /* Of one batch, ... */
    double *mean; /* ... and the mean of all gradients so far. */
    double *gradient;
    double squares; /* Mean of their squares. */
};

/* Full ones only: of a short one the variance is another. */
static uint32_t batches_of(const struct sampler *sampler)
{
    uint32_t most, wanted;

    if (sampler->kind == SAMPLER_WHOLE)
        return 0;
    most = sampler_full_steps(sampler);
    wanted = sampler->rows / 4 / sampler->batch;
    wanted = wanted < BATCHES_LEAST ? BATCHES_LEAST : wanted;
    wanted = wanted > BATCHES_MOST ? BATCHES_MOST : wanted;
    wanted = wanted > most ? most : wanted;
    return wanted < 2 ? 0 : wanted;
}

static void measure_close(struct measure *m)
{
    tally_close(&m->tally);
    evaluator_close(m->evaluator);
    objective_close(&m->objective);
    mem_free(m->exponent);
    mem_free(m->w);
    mem_free(m->sum);
    mem_free(m->mean);
    mem_free(m->gradient);
}

static enum err measure_open(struct measure *m,
                             const struct objective_options *what,
                             struct pool *pool, const double *w)
{
    struct why why;
    enum err err = objective_open(&m->objective, what, pool, &why);
    const size_t dims = m->objective.dims;

    if (err != ERR_OK)
        return err;
    m->exponent = mem_new(dims + 1, sizeof *m->exponent);
    m->w = mem_new(dims, sizeof *m->w);
    m->sum = mem_new(dims, sizeof *m->sum);
    m->mean = mem_new(dims, sizeof *m->mean);
    m->gradient = mem_new(dims, sizeof *m->gradient);
    if (m->exponent == NULL || m->w == NULL || m->sum == NULL ||
        m->mean == NULL || m->gradient == NULL)
        return ERR_NOMEM;
    if (w != NULL)
        memcpy(m->w, w, m->objective.weights * sizeof *w);
    scale_begin(m->objective.scale);
    err = evaluator_open(&m->objective.brief, &m->objective.shelf, pool,
                         &m->evaluator);
    return err == ERR_OK
               ? tally_init(&m->tally, m->objective.dims, m->evaluator->chunks)
               : err;
}

/* One evaluation on the scale at hand; SCALE_AGAIN: it was the wrong one. */
static enum err evaluate(struct measure *m, uint32_t step,
                         enum scale_verdict *verdict)
{
    struct scale *const scale = m->objective.scale;
    const struct computation asked = {
        .what = {.kind = EVALUATE_GRADIENT, .w = m->w},
        .end = m->evaluator->chunks,
        .step = step,
        .exponent = m->exponent,
        .tally = &m->tally};
    enum err err = scale_exponents(scale, &asked.what, m->exponent);

    tally_clear(&m->tally);
    if (err == ERR_OK)
        err = evaluator_run(m->evaluator, &asked, NULL);
    if (err == ERR_TOOBIG && !scale_proved(scale)) {
        *verdict = scale_refused(scale, EVALUATE_GRADIENT);
        return ERR_OK;
    }
    if (err != ERR_OK)
        return err;
    (void)tally_gradient(&m->tally, m->exponent, m->sum);
    *verdict = scale_stands(scale, EVALUATE_GRADIENT, m->sum);
    return ERR_OK;
}

/* The gradient of one batch joins the mean. */
static enum err add_batch(struct measure *m, uint32_t step, uint32_t batches)
{
    const struct sampler *const sampler = &m->optim->sampler;
    const double weighed = (double)m->optim->rows / sampler->rows;
    const double rows = (double)sampler_rows(sampler, step) * weighed;
    const uint32_t weights = m->objective.weights;
    enum scale_verdict verdict = SCALE_AGAIN;
    enum err err = ERR_OK;

    while (err == ERR_OK && verdict == SCALE_AGAIN)
        err = evaluate(m, step, &verdict);
    if (err != ERR_OK)
        return err;
    if (verdict != SCALE_STANDS)
        return ERR_RANGE;
    for (uint32_t j = 0; j < weights; j++) {
        m->sum[j] /= rows;
        m->mean[j] += m->sum[j] / batches;
    }
    m->squares += vec_dot(m->sum, m->sum, weights) / batches;
    return ERR_OK;
}

/* From the mean of gradients and of their squares. */
static void conclude(struct measure *m, uint32_t batches, struct noise *noise)
{
    const struct sampler *const sampler = &m->optim->sampler;
    const uint32_t weights = m->objective.weights;
    const double rows = sampler_full_rows(sampler);
    const double spread = (m->squares - vec_dot(m->mean, m->mean, weights)) *
                          batches / (batches - 1);

    for (uint32_t j = 0; j < weights; j++)
        m->sum[j] = m->mean[j] * (double)m->optim->rows;
    (void)optim_objective(m->optim, weights, m->w, m->sum, 0, m->gradient);
    noise->batches = batches;
    noise->variance = (spread > 0 ? spread : 0) * rows;
    noise->square =
        vec_dot(m->gradient, m->gradient, weights) -
        noise->variance * (1 / (batches * rows) - 1 / (double)sampler->rows);
    noise->scale =
        noise->square > 0 ? noise->variance / noise->square : HUGE_VAL;
}

enum err noise_measure(const struct objective_options *what, struct pool *pool,
                       const double *w, struct noise *noise)
{
    struct measure m = {.optim = what->optim};
    const uint32_t batches = batches_of(&what->optim->sampler);
    enum err err = ERR_OK;

    *noise = (struct noise){0};
    if (batches == 0)
        return ERR_OK;
    err = measure_open(&m, what, pool, w == NULL ? what->optim->start : w);
    for (uint32_t step = 0; err == ERR_OK && step < batches; step++)
        err = add_batch(&m, step, batches);
    if (err == ERR_OK)
        conclude(&m, batches, noise);
    measure_close(&m);
    return err;
}

/* (x - 1) / ln x is the product of (1 + x^(1/2^k)) / 2 over all k >= 1. */
double noise_critical(double start, double end)
{
    double root = end / start, mean = start;

    if (!(start > 0) || !isfinite(start) || !(end > 0) || !isfinite(end))
        return HUGE_VAL;
    while (root != 1) {
        const double next = sqrt(root);

        mean *= (1 + next) / 2;
        root = next == root ? 1 : next; /* Rounding may leave one beside 1. */
    }
    return mean;
}
