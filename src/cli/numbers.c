/*
 * numbers.c - the optimiser's constants for a model and its rows: penalty,
 * rate, tolerance, limits on steps; a pure function, since folds and grids ask
 * it for each of their parts.
 */
#include "cli/numbers.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "cli/options/habit.h"
#include "cli/rows.h"
#include "node/eval/evaluate.h"

#define DEFAULT_ACCURACY 1e-10
#define KINKS_ACCURACY   1e-3 /* Proved, and each digit costs. */

uint32_t numbers_rows(const struct dataset *data)
{
    uint32_t count = 0;

    if (data->weight == NULL)
        return data->rows;
    for (uint32_t row = 0; row < data->rows; row++)
        count += data->weight[row] > 0;
    return count;
}

static enum optim_schedule schedule_of(const char *name)
{
    if (strcmp(name, "constant") == 0)
        return SCHEDULE_CONSTANT;
    return strcmp(name, "inverse") == 0 ? SCHEDULE_INVERSE : SCHEDULE_DECAY;
}

/* Unless another rule was given, a search ends when what is left to gain is
 * out of sight. */
static double accuracy_of(const struct options *options, enum optim_kind kind)
{
    const bool searches = kind == OPTIM_LBFGS || kind == OPTIM_NEWTON;
    const bool ruled = habit_given(options) || option_given(options, OPT_TOL) ||
                       option_given(options, OPT_GAP);

    if (option_given(options, OPT_ACCURACY))
        return option_real(options, OPT_ACCURACY);
    return searches && !ruled ? DEFAULT_ACCURACY : 0;
}

static void take_options(const struct options *options,
                         struct optim_options *optim)
{
    enum optim_kind kind = OPTIM_GD;
    const enum err err = optim_parse(option_text(options, OPT_OPTIM), &kind);

    CHECK(err == ERR_OK);
    *optim = optim_defaults(kind);
    optim->schedule = schedule_of(option_text(options, OPT_SCHEDULE));
    optim->decay = option_real(options, OPT_DECAY);
    optim->steps = kind == OPTIM_SGD && !option_given(options, OPT_STEPS)
                       ? 1 /* A pass, as the reference systems have it. */
                       : (uint32_t)option_count(options, OPT_STEPS);
    optim->tol = option_real(options, OPT_TOL);
    optim->accuracy = accuracy_of(options, kind);
    optim->gap = option_real(options, OPT_GAP);
    optim->optimum = option_real(options, OPT_OPTIMUM);
    optim->seed = option_count(options, OPT_SEED);
    if (option_text(options, OPT_MOMENTUM) != NULL)
        optim->momentum = option_real(options, OPT_MOMENTUM);
}

/* A hinge is told by its proof alone (optim/soften.h). */
static void take_kinks(const struct options *options,
                       struct optim_options *optim)
{
    if (optim->kind == OPTIM_LBFGS)
        optim->memory = OPTIM_MEMORY_MAX; /* Pairs tell where kinks are. */
    if (!option_given(options, OPT_ACCURACY))
        optim->accuracy = KINKS_ACCURACY;
}

static void take_penalty(const struct options *options, struct numbers *numbers)
{
    const double rows = (double)numbers->optim.rows;
    const double cost =
        option_given(options, OPT_COST) ? option_real(options, OPT_COST) : 1;

    numbers->scale = 1;
    if (option_given(options, OPT_L2)) {
        numbers->optim.l2 = option_real(options, OPT_L2);
    } else if (habit_given(options)) {
        numbers->optim.l2 = 1 / (2 * cost * rows);
        numbers->scale = cost * rows;
    } else {
        /* Folds have that of all rows, which was announced. */
        numbers->optim.l2 = option_text(options, OPT_L2) != NULL
                                ? option_real(options, OPT_L2)
                                : 1 / rows;
    }
}

/* The constant's column is the last of each output. */
static void free_intercept(const struct options *options,
                           const struct dataset *data,
                           struct optim_options *optim)
{
    if (habit_given(options) || !habit_intercept(options))
        return;
    optim->l2_free = data->cols - 1;
    optim->l2_stride = data->stride;
}

/* |gradient of f at 0|. */
static enum err norm_at_zero(const struct problem *problem, struct pool *pool,
                             uint64_t rows, double *norm)
{
    const struct optim_options plain = {.rows = rows};
    double *zero = mem_new(problem_dims(problem), sizeof *zero);
    double objective;
    const enum err err = zero == NULL ? ERR_NOMEM
                                      : evaluate_at(problem, pool, &plain, zero,
                                                    &objective, norm);

    mem_free(zero);
    return err;
}

/* LIBLINEAR's rule asks more of unbalanced data: the few decide. */
static double rarest_share(const struct dataset *data, uint32_t rows)
{
    uint32_t count[CLASSES_MAX] = {0};
    uint32_t rarest = rows;

    for (uint32_t row = 0; row < data->rows; row++)
        if (data->weight == NULL || data->weight[row] > 0)
            count[rows_class(data, row)]++;
    for (uint32_t k = 0; k < data->classes; k++)
        rarest = count[k] < rarest ? count[k] : rarest;
    return (double)(rarest == 0 ? 1 : rarest) / (double)rows;
}

static bool needs_rate(enum optim_kind kind)
{
    return kind == OPTIM_GD || kind == OPTIM_AGD || kind == OPTIM_MOMENTUM;
}

/* c of sgd is 1 / (2 l2). */
static enum err check_sgd(const struct optim_options *optim, struct why *why)
{
    if (optim->kind != OPTIM_SGD || optim->l2 > 0)
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "--optim sgd needs a penalty: --l2 above 0, where 1/(2 C) "
                   "stands for C times the loss of a row");
}

static enum err take_rate(const struct options *options,
                          const struct problem *problem,
                          struct optim_options *optim, struct why *why)
{
    if (option_given(options, OPT_LR)) {
        optim->rate = option_real(options, OPT_LR);
        return ERR_OK;
    }
    if (!needs_rate(optim->kind))
        return ERR_OK;
    if (problem_default_rate(problem, optim->l2, &optim->rate) != ERR_OK)
        return why_set(why, ERR_RANGE,
                       "cannot work out a learning rate from the data; give "
                       "--lr RATE");
    return ERR_OK;
}

enum err numbers_choose(const struct options *options, enum model_kind model,
                        enum isa isa, const struct dataset *data,
                        struct pool *pool, struct numbers *numbers,
                        struct why *why)
{
    const struct problem problem = problem_of(data, model, isa);
    const bool regression = model == MODEL_LINEAR;
    const uint32_t rows = numbers_rows(data);
    struct numbers made = {0};
    enum err err;

    take_options(options, &made.optim);
    if (rows == 0)
        return why_set(why, ERR_SHAPE, "no row is left to train on");
    made.optim.rows = rows;
    if (!problem_has_hessian(&problem))
        made.optim.dense_max = 0; /* newton by conjugate gradients. */
    if (data->storage == STORAGE_INDEX)
        made.optim.weight_bits = SPARSE_WEIGHT_BITS;
    made.optim.kinks = model == MODEL_HINGE;
    if (made.optim.kinks)
        take_kinks(options, &made.optim);
    take_penalty(options, &made);
    free_intercept(options, data, &made.optim);
    made.optim.optimum /= made.scale; /* Typed as objectives are shown. */
    err = check_sgd(&made.optim, why);
    if (err == ERR_OK)
        err = take_rate(options, &problem, &made.optim, why);
    if (err == ERR_OK && data->y == NULL && habit_given(options) &&
        !made.optim.kinks && !option_given(options, OPT_TOL))
        return why_set(why, ERR_SHAPE,
                       "LIBLINEAR's flags end a run by the rows, which are "
                       "with their owners; add --tol T");
    /* A gradient beside a kink says nothing of how far it is. */
    if (err == ERR_OK && habit_given(options) && model != MODEL_HINGE &&
        !option_given(options, OPT_TOL)) {
        double norm = 0;

        err = norm_at_zero(&problem, pool, rows, &norm);
        if (err == ERR_NOMEM)
            return why_set(why, err,
                           "not enough memory for a gradient (ulimit -v)");
        made.optim.tol = habit_eps(options, regression) * norm *
                         (regression ? 1 : rarest_share(data, rows));
    }
    if (err == ERR_OK)
        *numbers = made;
    return err;
}
