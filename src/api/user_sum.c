#include "api/user_sum.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "math/vec.h"

#define HEADROOM     0x1p10
#define SMALL_SHARE  0x1p-20 /* M_j is at least this share of the largest M. */
#define FALL_MOST    0x1p-16 /* Of the largest M, between two evaluations. */
#define ATTEMPTS_MAX 3       /* A function of (w, chunk) needs two. */

static enum err part_init(struct user_part *part, uint32_t dims,
                          uint32_t chunks)
{
    part->values = mem_new(dims, sizeof *part->values);
    part->most = mem_new(dims, sizeof *part->most);
    if (part->values == NULL || part->most == NULL)
        return ERR_NOMEM;
    return tally_init(&part->tally, dims, chunks);
}

enum err user_sum_init(struct user_sum *sum,
                       const struct muster_options *options, struct pool *pool)
{
    const uint32_t dims = options->dims;
    struct user_sum made = {.options = options, .pool = pool};
    enum err err = tally_init(&made.total, dims, options->chunks);

    made.parts = mem_new(pool->threads, sizeof *made.parts);
    made.gradient.most = mem_new(dims, sizeof *made.gradient.most);
    made.hessvec.most = mem_new(dims, sizeof *made.hessvec.most);
    made.exponent = mem_new(dims, sizeof *made.exponent);
    made.limit = mem_new(dims, sizeof *made.limit);
    if (made.parts == NULL || made.gradient.most == NULL ||
        made.hessvec.most == NULL || made.exponent == NULL ||
        made.limit == NULL)
        err = ERR_NOMEM;
    for (uint32_t t = 0; err == ERR_OK && t < pool->threads; t++)
        err = part_init(&made.parts[t], dims, options->chunks);
    if (err == ERR_OK)
        *sum = made;
    else
        user_sum_close(&made);
    return err;
}

void user_sum_close(struct user_sum *sum)
{
    for (uint32_t t = 0; sum->parts != NULL && t < sum->pool->threads; t++) {
        tally_close(&sum->parts[t].tally);
        mem_free(sum->parts[t].values);
        mem_free(sum->parts[t].most);
    }
    mem_free(sum->parts);
    mem_free(sum->gradient.most);
    mem_free(sum->hessvec.most);
    mem_free(sum->exponent);
    mem_free(sum->limit);
    tally_close(&sum->total);
    *sum = (struct user_sum){0};
}

/* The user's function on one chunk; not 0 means stop. */
static int call_user(const struct user_sum *sum, uint32_t chunk, double *values,
                     double *loss)
{
    const struct muster_options *o = sum->options;
    const struct evaluation *what = sum->what;

    memset(values, 0, o->dims * sizeof *values);
    if (what->kind == EVALUATE_HESSVEC)
        return o->hessvec(o->context, what->w, what->v, chunk, values);
    return o->gradient(o->context, what->w, chunk, values, loss);
}

/* Adds what a chunk gave, if it fits the scale. */
static void take(const struct user_sum *sum, struct user_part *part,
                 uint32_t chunk, double loss)
{
    bool fits = true;

    for (uint32_t j = 0; j < sum->options->dims; j++) {
        const double size = fabs(part->values[j]);

        fits = fits && size <= sum->limit[j];
        if (size > part->most[j])
            part->most[j] = size;
    }
    if (!fits || tally_add_chunk(&part->tally, chunk, part->values, loss,
                                 sum->exponent) != ERR_OK)
        part->refused = true;
}

static void one_chunk(void *context, uint32_t thread, uint32_t chunk)
{
    const struct user_sum *sum = context;
    struct user_part *part = &sum->parts[thread];
    double loss = 0;

    if (part->stop)
        return;
    part->stop = call_user(sum, chunk, part->values, &loss) != 0;
    if (part->stop)
        return;
    if (vec_finite(part->values, sum->options->dims) &&
        tally_loss_fits(&part->tally, loss))
        take(sum, part, chunk, loss);
    else
        part->broken = true;
}

static void merge(struct user_sum *sum, struct user_scale *scale)
{
    tally_clear(&sum->total);
    scale->largest = 0;
    memset(scale->most, 0, sum->options->dims * sizeof *scale->most);
    for (uint32_t t = 0; t < sum->pool->threads; t++) {
        const struct user_part *part = &sum->parts[t];
        const enum err err = tally_merge(&sum->total, &part->tally);

        CHECK(err == ERR_OK); /* Each chunk is one item. */
        for (uint32_t j = 0; j < sum->options->dims; j++) {
            scale->most[j] = fmax(scale->most[j], part->most[j]);
            scale->largest = fmax(scale->largest, part->most[j]);
        }
    }
}

/* All chunks, whatever becomes of some: ERR_TOOBIG if one did not fit. */
static enum err run_chunks(struct user_sum *sum, struct user_scale *scale)
{
    bool refused = false, stop = false, broken = false;

    for (uint32_t t = 0; t < sum->pool->threads; t++) {
        struct user_part *part = &sum->parts[t];

        tally_clear(&part->tally);
        memset(part->most, 0, sum->options->dims * sizeof *part->most);
        part->stop = part->broken = part->refused = false;
    }
    sum->pool->run(sum->pool, one_chunk, sum, sum->options->chunks);
    for (uint32_t t = 0; t < sum->pool->threads; t++) {
        stop |= sum->parts[t].stop;
        broken |= sum->parts[t].broken;
        refused |= sum->parts[t].refused;
    }
    merge(sum, scale);
    if (stop)
        return ERR_CANCELLED;
    if (broken)
        return ERR_RANGE;
    return refused ? ERR_TOOBIG : ERR_OK;
}

/* Limits and exponents from the sizes seen; nothing seen: only zeros fit. */
static void set_scale(struct user_sum *sum, const struct user_scale *scale)
{
    const double chunks = (double)sum->options->chunks;

    for (uint32_t j = 0; j < sum->options->dims; j++) {
        const double most = fmax(scale->most[j], SMALL_SHARE * scale->largest);
        const double limit = fmin(most * HEADROOM, DBL_MAX / chunks);

        sum->limit[j] = limit;
        sum->exponent[j] = tally_exponent(limit * chunks);
    }
}

static enum err run_scaled(struct user_sum *sum, struct user_scale *scale)
{
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        const double before = scale->largest;
        enum err err;

        set_scale(sum, scale);
        err = run_chunks(sum, scale);
        if (err == ERR_OK && scale->largest >= FALL_MOST * before)
            return ERR_OK;
        if (err != ERR_OK && err != ERR_TOOBIG)
            return err;
    }
    return ERR_MISMATCH; /* Another answer to the same question. */
}

enum err user_sum_run(struct user_sum *sum, const struct evaluation *what,
                      double *values, double *loss)
{
    enum err err;

    CHECK(what->kind != EVALUATE_HESSIAN);
    sum->what = what;
    err = run_scaled(sum, what->kind == EVALUATE_HESSVEC ? &sum->hessvec
                                                         : &sum->gradient);
    if (err != ERR_OK)
        return err;
    tally_gradient(&sum->total, sum->exponent, values);
    *loss = tally_loss_value(&sum->total);
    return ERR_OK;
}
