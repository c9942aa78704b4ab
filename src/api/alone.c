/*
 * alone.c - muster_train in this process: a user's function, our optimisers.
 *
 * The same evaluations on the same scales as a coordinator's
 * (core/star/commit.c), so the same bits.
 */
#include <string.h>

#include "api/options.h"
#include "api/training.h"
#include "base/check.h"
#include "base/mem.h"
#include "eval/briefs.h"
#include "eval/registry.h"
#include "math/exact/follow.h"
#include "os/run/threads.h"

struct alone {
    const struct wish *wish;
    struct user_function user;
    struct pool *pool;
    struct evaluator *evaluator;
    struct follow follow;
    struct optim optim;
    struct tally total;
    int16_t *exponent;
    double *sums;
};

static bool wants_more(const struct alone *a)
{
    const struct muster_progress progress = {
        .size = sizeof progress,
        .step = a->optim.step,
        .evaluations = a->optim.evaluations,
        .objective = a->optim.objective,
        .gradient_norm = a->optim.gradient_norm,
        .weights = optim_weights(&a->optim),
    };

    const struct muster_recipe *const recipe = a->wish->recipe;

    return !flag_raised(&recipe->stop) &&
           (recipe->watch == NULL ||
            recipe->watch(recipe->context, &progress) == 0);
}

/* Once over all chunks on the present scale. */
static enum err sum_chunks(struct alone *a, const struct evaluation *what)
{
    const struct computation asked = {
        .what = *what,
        .end = a->user.chunks,
        .exponent = a->exponent,
        .tally = &a->total,
    };

    const enum err err = scale_exponents(&a->follow.scale, what, a->exponent);

    if (err != ERR_OK)
        return err;
    tally_clear(&a->total);
    return evaluator_run(a->evaluator, &asked, NULL);
}

static enum scale_verdict judge(struct alone *a, const struct evaluation *what,
                                enum err err)
{
    enum scale_verdict verdict = SCALE_AGAIN;

    /* What is not finite need not be tried on all scales. */
    while (err == ERR_RANGE && verdict == SCALE_AGAIN)
        verdict = scale_refused(&a->follow.scale, what->kind);
    if (err == ERR_RANGE)
        return verdict;
    if (err == ERR_TOOBIG)
        return scale_refused(&a->follow.scale, what->kind);
    (void)tally_gradient(&a->total, a->exponent, a->sums);
    return scale_stands(&a->follow.scale, what->kind, a->sums);
}

/* ERR_RANGE: not finite, or beyond any scale. */
static enum err evaluate(struct alone *a, const struct evaluation *what)
{
    enum scale_verdict verdict;

    do {
        const enum err err = sum_chunks(a, what);

        if (err != ERR_OK && err != ERR_TOOBIG && err != ERR_RANGE)
            return err;
        verdict = judge(a, what, err);
    } while (verdict == SCALE_AGAIN);
    if (verdict == SCALE_NO_FUNCTION)
        return ERR_MISMATCH;
    return verdict == SCALE_STANDS ? ERR_OK : ERR_RANGE;
}

static enum err explain(const struct alone *a, enum err err, struct why *why)
{
    if (err == ERR_RANGE)
        return why_set(why, err,
                       "step %u: gradient or loss of a chunk is not finite or "
                       "too large",
                       a->optim.step);
    if (err == ERR_MISMATCH)
        return why_set(why, err,
                       "step %u: the function gave two answers for the same "
                       "weights and chunk",
                       a->optim.step);
    return err == ERR_CLOSED ? ERR_CANCELLED : err;
}

static enum err loop(struct alone *a, struct why *why)
{
    struct ask ask;

    while ((ask = optim_next(&a->optim)).kind != ASK_DONE) {
        const enum err err = evaluate(a, &ask.what);

        if (err == ERR_RANGE && optim_reject(&a->optim))
            continue; /* A trial too far: the search comes back. */
        if (err != ERR_OK)
            return explain(a, err, why);
        if (optim_feed(&a->optim, a->sums,
                       tally_loss_value(&a->total, a->exponent)) &&
            !wants_more(a))
            return ERR_CANCELLED;
    }
    if (a->optim.diverged)
        return why_set(why, ERR_RANGE,
                       "the training diverged at step %u; a smaller rate "
                       "helps",
                       a->optim.step);
    return ERR_OK;
}

static enum err open_all(struct alone *a, const struct optim_options *optim)
{
    const uint32_t dims = follow_dims(a->user.dims);
    const struct shelf shelf = {.user = &a->user};
    uint8_t room[BRIEF_MAX];
    const struct brief brief = brief_user(room, &a->user);
    enum err err = ERR_OK;

    a->pool = pool_serial();
    if (a->wish->threads > 1)
        err = threads_new(a->wish->threads, &a->pool);
    if (err == ERR_OK)
        err = evaluator_open(&brief, &shelf, a->pool, &a->evaluator);
    if (err == ERR_OK)
        err = follow_init(&a->follow, a->user.dims, a->user.chunks);
    if (err == ERR_OK)
        err = tally_init(&a->total, dims, a->user.chunks);
    if (err == ERR_OK)
        err = optim_init(&a->optim, optim, dims);
    a->exponent = mem_new((size_t)dims + 1, sizeof *a->exponent);
    a->sums = mem_new(dims, sizeof *a->sums);
    if (err == ERR_OK && (a->exponent == NULL || a->sums == NULL))
        err = ERR_NOMEM;
    return err;
}

static void close_all(struct alone *a)
{
    evaluator_close(a->evaluator);
    follow_close(&a->follow);
    tally_close(&a->total);
    optim_close(&a->optim);
    mem_free(a->exponent);
    mem_free(a->sums);
    if (a->pool != pool_serial())
        threads_free(a->pool);
}

static enum err report(const struct alone *a, struct muster_model *model)
{
    model->file.w = mem_new(a->user.dims, sizeof *model->file.w);
    if (model->file.w == NULL)
        return ERR_NOMEM;
    memcpy(model->file.w, optim_weights(&a->optim),
           a->user.dims * sizeof *model->file.w);
    model->steps = a->optim.step;
    model->evaluations = a->optim.evaluations;
    model->objective = a->optim.objective;
    model->converged = optim_outcome(&a->optim).end == OPTIM_CONVERGED;
    return ERR_OK;
}

enum err train_alone(const struct wish *wish, const struct optim_options *optim,
                     struct muster_model *model, struct why *why)
{
    struct alone a = {.wish = wish, .user = wish_user(wish)};
    enum err err = open_all(&a, optim);

    if (err == ERR_OK)
        err = loop(&a, why);
    if ((err == ERR_OK || err == ERR_CANCELLED) && report(&a, model) != ERR_OK)
        err = ERR_NOMEM;
    close_all(&a);
    return err;
}
