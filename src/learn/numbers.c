/*
 * numbers.c - the optimiser's constants for a model and its rows: penalty,
 * rate, tolerance, limits on steps; a pure function, since folds and grids ask
 * it for each of their parts.
 */
#include "learn/numbers.h"

#include "base/check.h"
#include "code/rules.h"
#include "learn/batches.h"
#include "learn/family/family.h"
#include "learn/recipe/habit.h"
#include "learn/rows.h"
#include "model/linear/bounds.h"
#include "node/fixed/evaluate.h"

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

/* Unless another rule was given, a search ends when what is left to gain is
 * out of sight. */
static double accuracy_of(const struct recipe *recipe, enum optim_kind kind)
{
    const bool searches = kind == OPTIM_LBFGS || kind == OPTIM_NEWTON;
    const bool ruled = habit_given(recipe) || recipe_given(recipe, OPT_TOL) ||
                       recipe_given(recipe, OPT_GAP);

    if (recipe_given(recipe, OPT_ACCURACY))
        return recipe_real(recipe, OPT_ACCURACY);
    return searches && !ruled ? DEFAULT_ACCURACY : 0;
}

/* Grids ask again with another rate: what was worked out for the first one and
 * recorded is no choice. */
static const char *text_given(const struct recipe *recipe, int id)
{
    return recipe_given(recipe, id) ? recipe_text(recipe, id)
                                    : recipe_row(id)->initial;
}

static void take_options(const struct recipe *recipe,
                         struct optim_options *optim)
{
    enum optim_kind kind = OPTIM_GD;
    const enum err err = optim_parse(recipe_text(recipe, OPT_OPTIM), &kind);

    CHECK(err == ERR_OK);
    *optim = optim_defaults(kind);
    CHECK(optim_schedule_parse(text_given(recipe, OPT_SCHEDULE),
                               &optim->schedule));
    optim->decay = recipe_real(recipe, OPT_DECAY);
    if (recipe_given(recipe, OPT_WARMUP))
        optim->warmup = (uint32_t)recipe_count(recipe, OPT_WARMUP);
    optim->clip = recipe_real(recipe, OPT_CLIP);
    optim->steps = kind == OPTIM_SGD && !recipe_given(recipe, OPT_STEPS)
                       ? 1 /* A pass, as the reference systems have it. */
                       : (uint32_t)recipe_count(recipe, OPT_STEPS);
    optim->patience = (uint32_t)recipe_count(recipe, OPT_PATIENCE);
    optim->tol = recipe_real(recipe, OPT_TOL);
    optim->accuracy = accuracy_of(recipe, kind);
    optim->gap = recipe_real(recipe, OPT_GAP);
    optim->optimum = recipe_real(recipe, OPT_OPTIMUM);
    optim->seed = recipe_count(recipe, OPT_SEED);
    if (recipe_text(recipe, OPT_MOMENTUM) != NULL)
        optim->momentum = recipe_real(recipe, OPT_MOMENTUM);
}

/* Three of them, a tenth each, unless said otherwise. */
static void take_stairs(const struct recipe *recipe,
                        struct optim_options *optim)
{
    const uint32_t third = optim->steps / 3 + (optim->steps % 3 != 0);
    const bool given = recipe_given(recipe, OPT_DECAY_EVERY);

    if ((optim_schedule_needs(optim->schedule) & SCHEDULE_STAIRS) == 0)
        return;
    optim->decay_every =
        given ? (uint32_t)recipe_count(recipe, OPT_DECAY_EVERY) : third;
    if (!recipe_given(recipe, OPT_DECAY))
        optim->decay = 0.1;
}

static enum err check_penalty(const struct recipe *recipe, struct why *why)
{
    if (!recipe_given(recipe, OPT_WEIGHT_DECAY) ||
        (!recipe_given(recipe, OPT_L2) && !habit_given(recipe)))
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "--weight-decay D is --l2 D/2 under another name; leave out "
                   "--l2 and -c");
}

/* A hinge is told by its proof alone (optim/soften.h). */
static void take_kinks(const struct recipe *recipe, struct optim_options *optim)
{
    if (optim->kind == OPTIM_LBFGS)
        optim->memory = OPTIM_MEMORY_MAX; /* Pairs tell where kinks are. */
    if (!recipe_given(recipe, OPT_ACCURACY))
        optim->accuracy = KINKS_ACCURACY;
}

bool numbers_penalty(const struct recipe *recipe, double *l2)
{
    if (recipe_given(recipe, OPT_WEIGHT_DECAY))
        *l2 = recipe_real(recipe, OPT_WEIGHT_DECAY) / 2;
    else if (recipe_given(recipe, OPT_L2))
        *l2 = recipe_real(recipe, OPT_L2);
    else
        return false;
    return true;
}

static void take_penalty(const struct recipe *recipe, struct numbers *numbers)
{
    const double rows = (double)numbers->optim.rows;
    const double cost =
        recipe_given(recipe, OPT_COST) ? recipe_real(recipe, OPT_COST) : 1;

    numbers->shown_factor = 1;
    if (numbers_penalty(recipe, &numbers->optim.l2))
        return;
    if (habit_given(recipe)) {
        numbers->optim.l2 = 1 / (2 * cost * rows);
        numbers->shown_factor = cost * rows;
    } else {
        /* Folds have that of all rows, which was announced. */
        numbers->optim.l2 = recipe_text(recipe, OPT_L2) != NULL
                                ? recipe_real(recipe, OPT_L2)
                                : 1 / rows;
    }
}

/* The constant's column is the last of each output. */
static void free_intercept(const struct recipe *recipe,
                           const struct dataset *data,
                           struct optim_options *optim)
{
    if (habit_given(recipe) || !habit_intercept(recipe))
        return;
    optim->l2_free = data->cols - 1;
    optim->l2_stride = data->stride;
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

/* Curvature says how far a gradient may lead; steps of one size do not ask. */
static bool needs_rate(enum optim_kind kind)
{
    const enum optim_rate rate = optim_kind_rate(kind);

    return rate == OPTIM_RATE_LENGTH || rate == OPTIM_RATE_SUMMED;
}

/* c of sgd is 1 / (2 l2). */
static enum err check_sgd(const struct optim_options *optim,
                          const struct model_ops *model, struct why *why)
{
    struct choices choices = {.model = model->name};

    if (optim->kind != OPTIM_SGD)
        return ERR_OK;
    if (model->classes) {
        choices_optim(&choices, optim_name(optim->kind));
        choices_add(&choices, TRAIT(CLASSES), NULL);
        return rules_check(&choices, why);
    }
    if (optim->l2 > 0)
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "--optim sgd needs a penalty: --l2 above 0, where 1/(2 C) "
                   "stands for C times the loss of a row");
}

void numbers_let_fall(const struct recipe *recipe, struct optim_options *optim)
{
    if (!recipe_given(recipe, OPT_SCHEDULE) && !recipe_given(recipe, OPT_DECAY))
        optim->schedule = SCHEDULE_COSINE;
}

/* The largest s_i |x_i|^2. */
static enum err longest_row(const struct problem *problem, struct pool *pool,
                            double *longest)
{
    struct bounds bounds;
    enum err err = bounds_init(&bounds, problem->data->stride);

    if (err == ERR_OK)
        err = bounds_measure(&bounds, problem, pool);
    *longest = bounds.weight * bounds.norm * bounds.norm;
    bounds_close(&bounds);
    return err;
}

/* What steps over batches bear: 1 / L where L is their expected smoothness
 * (Gower et al., "SGD: General Analysis and Improved Rates", 2019), a mixture
 * of the curvature of all rows and of the steepest one.  Momentum adds up the
 * noise of 1 / (1 - mu) steps. */
static enum err take_batch_rate(const struct recipe *recipe,
                                const struct problem *problem,
                                struct pool *pool, struct optim_options *optim)
{
    const struct sampler *const sampler = &optim->sampler;
    const double rows = sampler->rows, batch = sampler->batch;
    const double alone = (rows - batch) / (batch * (rows - 1));
    const bool heavy =
        optim->kind == OPTIM_MOMENTUM || optim->kind == OPTIM_NESTEROV;
    double steepest, all;
    enum err err;

    if (sampler->kind == SAMPLER_WHOLE)
        return ERR_OK;
    err = longest_row(problem, pool, &steepest);
    steepest *= problem->model->curvature / (heavy ? 1 - optim->momentum : 1);
    steepest += 2 * optim->l2;
    all = 1 / optim->rate;
    optim->rate = 1 / (all * (1 - alone) + steepest * alone);
    numbers_let_fall(recipe, optim);
    return err;
}

bool numbers_rate(const struct recipe *recipe, double rate,
                  struct optim_options *optim)
{
    const uint32_t workers = batches_workers(recipe);

    if (recipe_given(recipe, OPT_LR))
        rate = recipe_real(recipe, OPT_LR);
    if (rate <= 0)
        return false;
    optim->rate = rate * workers;
    if (workers > 1 && !recipe_given(recipe, OPT_WARMUP))
        optim->warmup = batches_warmup(&optim->sampler, optim->steps);
    return true;
}

static enum err take_rate(const struct recipe *recipe,
                          const struct problem *problem, struct pool *pool,
                          struct optim_options *optim, struct why *why)
{
    enum err err;

    /* One that is worked out knows how large batches are. */
    if (numbers_rate(recipe, 0, optim) || !needs_rate(optim->kind))
        return ERR_OK;
    err = problem_default_rate(problem, optim->l2, &optim->rate);
    if (err == ERR_OK)
        err = take_batch_rate(recipe, problem, pool, optim);
    if (err != ERR_OK)
        return why_set(why, ERR_RANGE,
                       "cannot work out a learning rate from the data; give "
                       "--lr RATE");
    return ERR_OK;
}

enum err numbers_begin(const struct recipe *recipe, const struct family *family,
                       const struct dataset *data, double row_work,
                       struct numbers *numbers, struct why *why)
{
    struct optim_options *const optim = &numbers->optim;
    const uint32_t rows = numbers_rows(data);
    enum err err;

    *numbers = (struct numbers){0};
    take_options(recipe, optim);
    if (rows == 0)
        return why_set(why, ERR_SHAPE, "no row is left to train on");
    optim->rows = rows;
    err = batches_choose(recipe, family, data, &optim->sampler, why);
    if (err == ERR_OK)
        err = batches_steps(recipe, family, &optim->sampler, row_work * rows,
                            &optim->steps, why);
    if (err == ERR_OK)
        err = check_penalty(recipe, why);
    if (err == ERR_OK)
        take_stairs(recipe, optim);
    return err;
}

enum err numbers_choose(const struct recipe *recipe, enum model_kind model,
                        enum isa isa, const struct dataset *data,
                        struct pool *pool, struct numbers *numbers,
                        struct why *why)
{
    const struct problem problem = problem_of(data, model, isa);
    const bool regression = model_ops(model)->regression;
    const uint32_t rows = numbers_rows(data);
    struct numbers made;
    enum err err = numbers_begin(recipe, &linear_family, data, 0, &made, why);

    if (err != ERR_OK)
        return err;
    if (!problem_has_hessian(&problem))
        made.optim.dense_max = 0; /* newton by conjugate gradients. */
    if (data->storage == STORAGE_INDEX)
        made.optim.weight_bits = SPARSE_WEIGHT_BITS;
    made.optim.kinks = model_ops(model)->kinks;
    if (made.optim.kinks)
        take_kinks(recipe, &made.optim);
    take_penalty(recipe, &made);
    free_intercept(recipe, data, &made.optim);
    /* Typed as objectives are shown. */
    made.optim.optimum /= made.shown_factor;
    err = check_sgd(&made.optim, model_ops(model), why);
    if (err == ERR_OK)
        err = take_rate(recipe, &problem, pool, &made.optim, why);
    if (err == ERR_OK && data->y == NULL && habit_given(recipe) &&
        !made.optim.kinks && !recipe_given(recipe, OPT_TOL))
        return why_set(why, ERR_SHAPE,
                       "LIBLINEAR's flags end a run by the rows, which are "
                       "with their owners; add --tol T");
    /* A gradient beside a kink says nothing of how far it is, nor does that of
     * a batch. */
    if (err == ERR_OK && habit_given(recipe) && !made.optim.kinks &&
        made.optim.sampler.kind == SAMPLER_WHOLE &&
        !recipe_given(recipe, OPT_TOL)) {
        const struct optim_options plain = {.rows = rows};
        double objective, norm = 0;

        err = evaluate_at(&problem, pool, &plain, NULL, &objective, &norm);
        if (err == ERR_NOMEM)
            return why_set(why, err,
                           "not enough memory for a gradient (ulimit -v)");
        made.optim.tol = habit_eps(recipe, regression) * norm *
                         (regression ? 1 : rarest_share(data, rows));
    }
    if (err == ERR_OK)
        *numbers = made;
    return err;
}
