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

/* Batches of a pass: a quarter of its rows, but so many at least and most, and
 * never more than so many rows: a figure is not worth another pass. */
#define BATCHES_LEAST 4u
#define BATCHES_MOST  32u
#define ROWS_MOST     65536u
/* Of them those that are evaluated once more, a step away, have so many rows,
 * but are half of them at most. */
#define ROWS_CURVED 512u

struct measure {
    const struct optim_options *optim;
    struct objective objective;
    struct evaluator *evaluator;
    struct tally tally;
    int16_t *exponent;
    double *w;     /* As long as the job has them. */
    double *sum;   /* Of one batch, ... */
    double *mean;  /* ... and the mean of all gradients so far. */
    double *early; /* The mean of the first ones, ... */
    double *gradient, *other;
    double squares; /* Mean of their squares. */
    double loss;    /* Mean of the batches'. */
};

/* Full ones only: of a short one the variance is another. */
uint32_t noise_batches(const struct sampler *sampler)
{
    uint32_t most, wanted;

    if (sampler->kind == SAMPLER_WHOLE)
        return 0;
    most = sampler_full_steps(sampler);
    wanted = sampler->rows / 4 / sampler->batch;
    wanted = wanted < BATCHES_LEAST ? BATCHES_LEAST : wanted;
    wanted = wanted > BATCHES_MOST ? BATCHES_MOST : wanted;
    wanted = wanted > most ? most : wanted;
    most = ROWS_MOST / sampler->batch;
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
    mem_free(m->early);
    mem_free(m->gradient);
    mem_free(m->other);
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
    m->early = mem_new(dims, sizeof *m->early);
    m->gradient = mem_new(dims, sizeof *m->gradient);
    m->other = mem_new(dims, sizeof *m->other);
    if (m->exponent == NULL || m->w == NULL || m->sum == NULL ||
        m->mean == NULL || m->early == NULL || m->gradient == NULL ||
        m->other == NULL)
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

/* The mean gradient of one batch, without penalty: m->sum. */
static enum err batch_gradient(struct measure *m, uint32_t step, double *loss)
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
    for (uint32_t j = 0; j < weights; j++)
        m->sum[j] /= rows;
    *loss = tally_loss_value(&m->tally, m->exponent) / rows;
    return ERR_OK;
}

static uint32_t curved(const struct measure *m, uint32_t batches)
{
    const uint32_t batch = m->optim->sampler.batch;
    const uint32_t wanted = (ROWS_CURVED + batch - 1) / batch;

    return wanted < batches / 2 ? wanted : batches / 2;
}

/* It joins the mean. */
static enum err add_batch(struct measure *m, uint32_t step, uint32_t batches)
{
    const uint32_t weights = m->objective.weights;
    const uint32_t first = curved(m, batches);
    double loss = 0;
    const enum err err = batch_gradient(m, step, &loss);

    if (err != ERR_OK)
        return err;
    for (uint32_t j = 0; j < weights; j++) {
        m->mean[j] += m->sum[j] / batches;
        if (step < first)
            m->early[j] += m->sum[j] / first;
    }
    m->squares += vec_dot(m->sum, m->sum, weights) / batches;
    m->loss += loss / batches;
    return ERR_OK;
}

/* The objective's gradient at m->w, of a mean over rows. */
static double whole_gradient(struct measure *m, const double *mean, double loss,
                             double *gradient)
{
    const double rows = (double)m->optim->rows;
    const uint32_t weights = m->objective.weights;

    for (uint32_t j = 0; j < weights; j++)
        m->sum[j] = mean[j] * rows;
    return optim_objective(m->optim, weights, m->w, m->sum, loss * rows,
                           gradient);
}

/* Of the first batches, along the gradient of the others: along their own,
 * which leans to what is long in them, it would be more. */
static enum err find_curvature(struct measure *m, uint32_t batches,
                               struct noise *noise)
{
    const uint32_t weights = m->objective.weights, count = curved(m, batches);
    double square, here, there, loss;
    enum err err = ERR_OK;

    for (uint32_t j = 0; j < weights; j++)
        m->mean[j] =
            (m->mean[j] * batches - m->early[j] * count) / (batches - count);
    (void)whole_gradient(m, m->mean, 0, m->gradient);
    square = vec_dot(m->gradient, m->gradient, weights);
    (void)whole_gradient(m, m->early, 0, m->other);
    here = vec_dot(m->other, m->gradient, weights);
    memset(m->early, 0, weights * sizeof *m->early);
    for (uint32_t j = 0; j < weights; j++)
        m->w[j] -= m->optim->rate * m->gradient[j];
    for (uint32_t step = 0; err == ERR_OK && step < count; step++) {
        err = batch_gradient(m, step, &loss);
        for (uint32_t j = 0; err == ERR_OK && j < weights; j++)
            m->early[j] += m->sum[j] / count;
    }
    (void)whole_gradient(m, m->early, 0, m->other);
    there = vec_dot(m->other, m->gradient, weights);
    if (err == ERR_OK && square > 0)
        noise->curvature = (here - there) / (m->optim->rate * square);
    return err == ERR_RANGE ? ERR_OK : err; /* Too far a step. */
}

/* From the mean of gradients and of their squares. */
static void conclude(struct measure *m, uint32_t batches, struct noise *noise)
{
    const struct sampler *const sampler = &m->optim->sampler;
    const uint32_t weights = m->objective.weights;
    const double rows = sampler_full_rows(sampler);
    const double spread = (m->squares - vec_dot(m->mean, m->mean, weights)) *
                          batches / (batches - 1);

    noise->objective = whole_gradient(m, m->mean, m->loss, m->gradient);
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
    const uint32_t batches = noise_batches(&what->optim->sampler);
    enum err err = ERR_OK;

    *noise = (struct noise){0};
    if (batches == 0)
        return ERR_OK;
    err = measure_open(&m, what, pool, w == NULL ? what->optim->start : w);
    for (uint32_t step = 0; err == ERR_OK && step < batches; step++)
        err = add_batch(&m, step, batches);
    if (err == ERR_OK) {
        conclude(&m, batches, noise);
        err = find_curvature(&m, batches, noise);
    }
    measure_close(&m);
    return err;
}

/* What the best step takes off. */
static double gain(const struct noise *noise)
{
    return noise->square > 0 && noise->curvature > 0
               ? noise->square / (2 * noise->curvature)
               : 0;
}

double noise_share(const struct noise *start, const struct noise *end)
{
    const double fell = start->objective - end->objective;
    const double share = (gain(start) - gain(end)) / fell;

    return fell > 0 && share > 0 ? fmin(share, 1) : 0;
}

/* (x - 1) / ln x is the product of (1 + x^(1/2^k)) / 2 over all k >= 1. */
double noise_critical(double start, double end, double share)
{
    double root = end / start, mean = start / (1 - share / 2);

    if (!(start > 0) || !isfinite(start) || !(end > 0) || !isfinite(end))
        return HUGE_VAL;
    while (root != 1) {
        const double next = sqrt(root);

        mean *= (1 + next) / 2;
        root = next == root ? 1 : next; /* Rounding may leave one beside 1. */
    }
    return mean;
}
