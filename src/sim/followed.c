/*
 * followed.c - the simulator's own loop over followed scales; one machine's,
 * and so nothing of the coordinator's.
 */
#include "sim/followed.h"

#include <math.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "sim/sim.h"

enum err followed_init(struct followed *followed, uint32_t dims,
                       uint32_t chunks, int shift)
{
    struct followed made = {.on = true, .shift = shift, .dims = dims};
    enum err err = follow_init(&made.follow, dims, chunks);

    if (err == ERR_OK)
        err = tally_init(&made.one, dims, chunks);
    made.exponent = mem_new((size_t)dims + 1, sizeof *made.exponent);
    made.values = mem_new(follow_dims(dims), sizeof *made.values);
    if (err == ERR_OK && (made.exponent == NULL || made.values == NULL))
        err = ERR_NOMEM;
    if (err == ERR_OK)
        *followed = made;
    else
        followed_close(&made);
    return err;
}

void followed_close(struct followed *followed)
{
    follow_close(&followed->follow);
    tally_close(&followed->one);
    mem_free(followed->exponent);
    mem_free(followed->values);
    *followed = (struct followed){0};
}

/* The function: a chunk's values to `values`. */
static enum err call_function(struct followed *followed,
                              const struct followed_call *call, uint32_t chunk,
                              double *values, double *loss)
{
    struct tally *one = &followed->one;
    enum err err;

    tally_clear(one);
    err = problem_add(call->problem, call->round, call->what, chunk,
                      followed->exponent, call->scratch, one);
    problem_settle(call->problem, call->scratch, one);
    if (err != ERR_OK)
        return err;
    (void)tally_gradient(one, followed->exponent, values);
    for (uint32_t j = 0; j < followed->dims; j++)
        values[j] = ldexp(values[j], followed->shift);
    *loss = ldexp(tally_loss_value(one, followed->exponent), followed->shift);
    return ERR_OK;
}

enum err followed_add(struct followed *followed,
                      const struct followed_call *call, uint32_t first,
                      uint32_t end, const int16_t *exponent,
                      struct tally *tally)
{
    const uint32_t chunks = followed->follow.chunks;
    enum err err = bounds_exponents(call->bounds, call->problem, call->what,
                                    followed->exponent);

    for (uint32_t chunk = first; chunk < end && err == ERR_OK; chunk++) {
        double loss = 0;

        err = call_function(followed, call, chunk, followed->values, &loss);
        if (err == ERR_OK && !follow_measure(followed->dims, chunks, exponent,
                                             loss, followed->values))
            err = ERR_TOOBIG;
        if (err == ERR_OK)
            err =
                tally_add_chunk(tally, chunk, followed->values, loss, exponent);
    }
    return err;
}

/* --- the same for an evaluator -------------------------------------------- */

/* What it cannot evaluate is not finite. */
static int answer(struct followed_function *function,
                  const struct evaluation *what, uint32_t chunk, double *values,
                  double *loss)
{
    const struct followed_call call = {.problem = &function->problem,
                                       .bounds = function->bounds,
                                       .round = function->round,
                                       .what = what,
                                       .scratch = function->scratch};
    struct followed *followed = function->followed;
    enum err err =
        bounds_exponents(call.bounds, call.problem, what, followed->exponent);

    if (err == ERR_OK)
        err = problem_round_prepare(function->round, call.problem, what);
    if (err == ERR_OK)
        err = call_function(followed, &call, chunk, values, loss);
    if (err != ERR_OK)
        values[0] = HUGE_VAL;
    return 0;
}

static int answer_gradient(void *context, const double *w, uint32_t chunk,
                           double *gradient, double *loss)
{
    const struct evaluation what = {.kind = EVALUATE_GRADIENT, .w = w};

    return answer(context, &what, chunk, gradient, loss);
}

static int answer_hessvec(void *context, const double *w, const double *v,
                          uint32_t chunk, double *product)
{
    const struct evaluation what = {.kind = EVALUATE_HESSVEC, .w = w, .v = v};
    double loss;

    return answer(context, &what, chunk, product, &loss);
}

struct user_function followed_user(struct followed_function *function)
{
    const struct followed *followed = function->followed;

    return (struct user_function){
        .gradient = answer_gradient,
        .hessvec = answer_hessvec,
        .context = function,
        .dims = followed->dims,
        .chunks = followed->follow.chunks,
        .rows = function->problem.data->rows,
    };
}

/* --- one machine's loop --------------------------------------------------- */

/* Once over all chunks. */
static enum scale_verdict try_scale(struct followed *followed,
                                    const struct followed_call *call,
                                    const int16_t *exponent,
                                    struct tally *total, double *sums,
                                    enum err *err)
{
    const enum evaluation_kind kind = call->what->kind;
    struct scale *scale = &followed->follow.scale;

    tally_clear(total);
    *err = followed_add(followed, call, 0, followed->follow.chunks, exponent,
                        total);
    if (*err == ERR_TOOBIG || *err == ERR_RANGE)
        return scale_refused(scale, kind);
    if (*err != ERR_OK)
        return SCALE_HOPELESS;
    (void)tally_gradient(total, exponent, sums);
    return scale_stands(scale, kind, sums);
}

enum err followed_sums(struct followed *followed,
                       const struct followed_call *call, int16_t *exponent,
                       struct tally *total, double *sums)
{
    enum scale_verdict verdict;
    enum err err;

    do {
        err = scale_exponents(&followed->follow.scale, call->what, exponent);
        if (err != ERR_OK)
            return err;
        verdict = try_scale(followed, call, exponent, total, sums, &err);
    } while (verdict == SCALE_AGAIN);
    CHECK(verdict != SCALE_NO_FUNCTION);
    if (verdict == SCALE_STANDS)
        sums[total->dims] = tally_loss_value(total, exponent);
    return verdict == SCALE_STANDS ? ERR_OK : ERR_RANGE;
}

void followed_draw(uint64_t seed, struct sim_options *options)
{
    static const int shifts[] = {0, 0, 60, -60, 300, -300};
    struct optim_options *optim = &options->optim;
    struct rng rng;

    rng_init(&rng, seed ^ UINT64_C(0x666f6c6c6f77));
    if (options->home_count > 0 || options->code.placement == PLACE_LOCAL ||
        code_spec_products(&options->code) ||
        code_spec_sampled(&options->code) ||
        options->mix.weight[FAULT_REFUSE] > 0 || !rng_chance(&rng, 0.25))
        return;
    options->follow = true;
    options->follow_shift = shifts[rng_below(&rng, 6)];
    optim->dense_max = 0;
    optim->diagonal = false;
    /* The same steps as without the shift, where rates are in its units. */
    optim->l2 = ldexp(optim->l2, options->follow_shift);
    if (optim->kind != OPTIM_NEWTON)
        optim->rate = ldexp(optim->rate, -options->follow_shift);
    options->settle_us *= 4; /* One trial may take many scales. */
    if (rng_chance(&rng, 0.5))
        sim_bring_rows(options);
}
