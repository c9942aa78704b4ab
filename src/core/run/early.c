/*
 * early.c - the least loss of held-out rows so far, and how long ago that was.
 */
#include "core/run/early.h"

#include <math.h>
#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "base/mem.h"

/* step, loss, best_step, best, waited. */
enum { HEAD_BYTES = 4 + 8 + 4 + 8 + 4 };

enum err early_init(struct early *early, const struct early_options *options)
{
    *early =
        (struct early){.options = *options, .loss = HUGE_VAL, .best = HUGE_VAL};
    if (options->patience == 0)
        return ERR_OK;
    CHECK(options->every > 0);
    early->weights = mem_new(options->dims, sizeof *early->weights);
    return early->weights == NULL ? ERR_NOMEM : ERR_OK;
}

void early_close(struct early *early)
{
    mem_free(early->weights);
    *early = (struct early){0};
}

bool early_due(const struct early *early, uint32_t step)
{
    const uint32_t every = early->options.every;

    return every > 0 && step > early->step && step % every == 0;
}

void early_take(struct early *early, uint32_t step, double loss,
                const double *weights)
{
    CHECK(step > early->step);
    early->step = step;
    early->loss = loss;
    early->waited++;
    if (!(loss < early->best))
        return;
    early->best = loss;
    early->best_step = step;
    early->waited = 0;
    if (early->weights != NULL)
        memcpy(early->weights, weights,
               early->options.dims * sizeof *early->weights);
}

bool early_over(const struct early *early)
{
    return early->options.patience > 0 &&
           early->waited >= early->options.patience;
}

const double *early_model(const struct early *early, const double *weights)
{
    return early->weights != NULL && early->best_step > 0 ? early->weights
                                                          : weights;
}

/* --- state ---------------------------------------------------------------- */

size_t early_bytes(const struct early *early)
{
    return HEAD_BYTES + (early->weights == NULL
                             ? 0
                             : early->options.dims * sizeof *early->weights);
}

void early_save(const struct early *early, struct writer *out)
{
    put_u32(out, early->step);
    put_f64(out, early->loss);
    put_u32(out, early->best_step);
    put_f64(out, early->best);
    put_u32(out, early->waited);
    if (early->weights != NULL)
        put_bytes(out, early->weights,
                  early->options.dims * sizeof *early->weights);
}

enum err early_load(struct early *early, struct reader *in)
{
    struct early was = *early;

    was.step = get_u32(in);
    was.loss = get_f64(in);
    was.best_step = get_u32(in);
    was.best = get_f64(in);
    was.waited = get_u32(in) * !BUG(BUG_FORGET_PASSES);
    for (uint32_t j = 0; early->weights != NULL && j < was.options.dims; j++)
        was.weights[j] = get_f64(in);
    if (!in->ok || was.best_step > was.step)
        return ERR_FORMAT;
    if (early->options.every > 0)
        *early = was;
    return ERR_OK;
}
