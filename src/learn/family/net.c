/*
 * net.c - networks: their text against the rows, their first weights, numbers
 * and verdicts.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/msg.h"
#include "data/rows/standard.h"
#include "eval/briefs.h"
#include "learn/family/constant.h"
#include "learn/family/family.h"
#include "learn/family/start.h"
#include "learn/network_text.h"
#include "math/exact/follow.h"
#include "math/golden/golden.h"
#include "math/net/gemm.h"
#include "model/file.h"
#include "model/net/scores.h"
#include "os/run/threads.h"

#define DEFAULT_SCALE  "standard"
#define DEFAULT_BATCH  "128"
#define DEFAULT_OPTIM  "adam"
#define DEFAULT_PASSES 10u
#define STEPS_LEAST    1000u /* Of few rows ten passes lead nowhere. */
#define MICROBATCH     16u

/* Rates of who names none, along a cosine: there is no curvature to go by.  Of
 * adam what was best on MNIST and gen:digits (docs/networks.md), of the others
 * what is usual; momentum adds up ten steps. */
#define RATE_PLAIN    0.1
#define RATE_MOMENTUM 0.01
#define RATE_ADAM     0.002

/* Of adam on tables: multiplied by the root of a run's length in so many steps,
 * by this at most. */
#define RATE_STEPS  3500.0
#define RATE_GROWTH 2.5

#define ROW_FLOPS 2e4 /* Of a row, besides those of its products. */

/* Columns of tables are in units of their own, and a network's first weights
 * are drawn for inputs around 0 of size 1. */
static enum err begin(struct recipe *recipe, struct why *why)
{
    const enum err err =
        recipe_put(recipe, OPT_SCALE, DEFAULT_SCALE, ORIGIN_DEFAULT, why);

    if (err != ERR_OK || recipe_text(recipe, OPT_BATCH) != NULL)
        return err;
    return recipe_put(recipe, OPT_BATCH, DEFAULT_BATCH, ORIGIN_DEFAULT, why);
}

/* NULL: as of linear models, owners do not say whether they are classes, or
 * there is one label. */
static const char *model_of(const struct setup *setup)
{
    const uint32_t classes = setup->data.classes;

    if (classes == 1)
        return NULL;
    if (setup->hollow && classes > 2)
        return setup_find_number(&setup->data) != NULL ? "linear" : NULL;
    return classes >= 2 ? "softmax" : "linear";
}

static const char *optimiser(const struct setup *setup,
                             const struct recipe *recipe)
{
    (void)setup;
    (void)recipe;
    return DEFAULT_OPTIM;
}

/* --- the text against the rows -------------------------------------------- */

static struct neural_shape shape_of(const struct dataset *data)
{
    const struct image *const image = &data->image;

    if (image->height == 0)
        return (struct neural_shape){1, 1, data->cols};
    return (struct neural_shape){image->height, image->width, image->channels};
}

/* Rows that are images and were not said to be are the usual reason why a
 * window does not fit. */
static enum err explain_shape(const struct dataset *data, enum err err,
                              struct why *why)
{
    char said[WHY_SIZE];

    if (err != ERR_SHAPE || data->image.height > 0)
        return why_in(why, err, "--net");
    (void)snprintf(said, sizeof said, "%s", why->text);
    return why_set(why, err,
                   "--net: %s; if rows are images, say so with --shape "
                   "HEIGHTxWIDTHxCHANNELS",
                   said);
}

/* By the rows that are trained on, and no others; of --init as its rows were.
 */
static enum err find_units(const struct setup *setup,
                           struct neural_units *units)
{
    const struct dataset *const data = &setup->data;
    struct image_sizes sizes = setup->parts.sizes; /* Owners have looked. */
    struct standard standard;
    enum err err = ERR_OK;

    if (setup->init != NULL) {
        *units = setup->init->net->units;
        return ERR_OK;
    }
    if (!setup->hollow)
        err = image_sizes(data, &sizes);
    if (err != ERR_OK)
        return err;
    *units = neural_units(1);
    if (!encoder_scales(&setup->encoder)) { /* These are of size 1. */
        units->divisor = image_divisor(&sizes);
        units->least = sizes.least;
        units->most = sizes.most;
    }
    if (model_ops(setup->model)->classes)
        return ERR_OK;
    standard = standard_of(data->y, data->weight, data->rows);
    units->mean = standard.mean;
    if (standard.factor > 0)
        units->spread = 1 / standard.factor;
    return ERR_OK;
}

/* As many outputs as there are classes, or one number. */
static enum err explain_outputs(const struct setup *setup,
                                const struct recipe *recipe, size_t outputs,
                                struct why *why)
{
    const char *const s = outputs == 1 ? "" : "s";
    const uint32_t classes = setup->data.classes;

    if (!model_ops(setup->model)->classes)
        (void)why_set(why, ERR_SHAPE,
                      "--net: its last layer has %zu output%s, and the labels "
                      "are numbers, which take one: let it end with dense1, or "
                      "say --model softmax if they are classes",
                      outputs, s);
    else
        (void)why_set(
            why, ERR_SHAPE,
            "--net: its last layer has %zu output%s, and the labels "
            "are %u classes: let it end with dense%u, one output for "
            "each%s",
            outputs, s, classes, classes,
            outputs == 1 ? ", or say --model linear if they are numbers" : "");
    return setup_blame_label(setup, recipe, ERR_SHAPE, why);
}

static enum err read_net(struct setup *setup, const struct recipe *recipe,
                         struct why *why)
{
    const struct dataset *const data = &setup->data;
    const struct neural_shape in = shape_of(data);
    const bool classes = model_ops(setup->model)->classes;
    struct neural_units units;
    char *text = NULL;
    enum err err = find_units(setup, &units);

    if (err == ERR_OK)
        err = network_text(recipe_text(recipe, OPT_NET), &text, why);
    if (err != ERR_OK)
        return err;
    if (strlen(text) > BRIEF_NET_MAX)
        err =
            why_set(why, ERR_TOOBIG, "--net: a text of more than %u characters",
                    BRIEF_NET_MAX);
    else
        err = neural_model_init(&setup->net, text, &in,
                                classes ? NEURAL_SOFTMAX : NEURAL_SQUARED,
                                &units, why);
    if (err == ERR_MISMATCH)
        err = explain_outputs(setup, recipe, 1, why);
    else if (err != ERR_OK && err != ERR_TOOBIG)
        err = explain_shape(data, err, why);
    mem_free(text);
    return err;
}

static enum err check_outputs(const struct setup *setup,
                              const struct recipe *recipe, struct why *why)
{
    const struct neural *const net = &setup->net.neural;
    const size_t outputs = neural_floats(&net->out);
    const bool classes = model_ops(setup->model)->classes;
    const uint32_t wanted = classes ? setup->data.classes : 1;
    const char *const inner = neural_inner_end(net);

    if (inner != NULL)
        return why_set(why, ERR_SHAPE,
                       "--net: it ends with \"%s\", which would change the %s; "
                       "leave it out, or let dense%u follow",
                       inner, classes ? "scores of the classes" : "numbers",
                       wanted);
    if (outputs != wanted)
        return explain_outputs(setup, recipe, outputs, why);
    if (net->parameters > DIMS_MAX - FOLLOW_SIZES_MAX)
        return why_set(why, ERR_TOOBIG,
                       "--net: %zu weights; at most %u are possible",
                       net->parameters, DIMS_MAX - FOLLOW_SIZES_MAX);
    return ERR_OK;
}

/* --model says whether labels are classes or numbers, and nothing else. */
static enum err check_model(const struct setup *setup, struct why *why)
{
    if (setup->model == MODEL_LINEAR && setup->hollow)
        return why_set(why, ERR_SHAPE,
                       "--net learns numbers at their mean and deviation, and "
                       "with --owners nobody has them all; with --owners "
                       "labels are classes (--model softmax)");
    if (setup->model == MODEL_SOFTMAX || setup->model == MODEL_LINEAR)
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "--net takes --model softmax (labels are classes) or linear "
                   "(labels are numbers), not %s",
                   model_ops(setup->model)->name);
}

/* What was done to columns of numbers; those of --init are as its model has
 * them. */
static const char *scaling_said(const struct setup *setup,
                                const struct recipe *recipe)
{
    if (setup->init != NULL || !encoder_scales(&setup->encoder))
        return "";
    if (strcmp(recipe_text(recipe, OPT_SCALE), DEFAULT_SCALE) != 0)
        return ", columns of numbers from 0 to 1";
    return recipe_given(recipe, OPT_SCALE)
               ? ", columns of numbers at mean 0 and deviation 1"
               : ", columns of numbers at mean 0 and deviation 1 (--scale none "
                 "leaves them)";
}

static void tell(const struct setup *setup, const struct recipe *recipe)
{
    const struct neural_model *const model = &setup->net;
    const struct neural_shape *const in = &model->neural.in;
    char divided[40] = "";

    if (model->units.divisor != 1)
        (void)snprintf(divided, sizeof divided, " divided by %.10g",
                       model->units.divisor);
    setup_note(
        setup,
        "network of %u layer%s, %zu weight%s, on %u x %u x %u inputs%s%s",
        model->neural.layer_count, model->neural.layer_count == 1 ? "" : "s",
        model->neural.parameters, model->neural.parameters == 1 ? "" : "s",
        in->height, in->width, in->channels, divided,
        scaling_said(setup, recipe));
}

static enum err build(struct setup *setup, const struct recipe *recipe,
                      struct why *why)
{
    enum err err = check_model(setup, why);

    if (err == ERR_OK)
        err = gemm_machine(why);
    if (err == ERR_OK)
        err = read_net(setup, recipe, why);
    if (err == ERR_OK)
        err = check_outputs(setup, recipe, why);
    if (err == ERR_OK)
        err = start_net(setup, recipe, why);
    if (err == ERR_OK)
        tell(setup, recipe);
    return err;
}

/* --- numbers -------------------------------------------------------------- */

/* What a row of a pass costs, in flops: its products, forward and twice as many
 * back, and what is not one, which a small network spends most on: so much by
 * measurement (docs/networks.md). */
static double row_work(const struct neural *net)
{
    return NEURAL_TRAIN * (double)neural_flops(net) + ROW_FLOPS;
}

static double rate_of(enum optim_kind kind)
{
    static const double rate[] = {[OPTIM_RATE_NONE] = 0,
                                  [OPTIM_RATE_LENGTH] = RATE_PLAIN,
                                  [OPTIM_RATE_SUMMED] = RATE_MOMENTUM,
                                  [OPTIM_RATE_SIZE] = RATE_ADAM};

    return rate[optim_kind_rate(kind)];
}

/* Tables bear, and hard ones need, a larger rate the longer its cosine is;
 * images were best at the same. */
static double growth(const struct setup *setup,
                     const struct optim_options *optim)
{
    const double more = sqrt(optim->steps / RATE_STEPS);

    if (optim->schedule != SCHEDULE_COSINE ||
        optim_kind_rate(optim->kind) != OPTIM_RATE_SIZE ||
        !neural_on_columns(&setup->net.neural))
        return 1;
    return fmin(fmax(more, 1), RATE_GROWTH);
}

static enum err numbers(const struct setup *setup, const struct recipe *recipe,
                        struct pool *pool, struct numbers *out, struct why *why)
{
    const enum err err = numbers_begin(recipe, &net_family, &setup->data,
                                       row_work(&setup->net.neural), out, why);
    struct optim_options *const optim = &out->optim;

    (void)pool;
    if (err != ERR_OK)
        return err;
    /* Of numbers, those of their user. */
    out->shown_factor = setup->net.units.spread * setup->net.units.spread;
    optim->start = setup->start;
    if (!numbers_penalty(recipe, &optim->l2))
        optim->l2 = 0;
    if (!recipe_given(recipe, OPT_LR))
        numbers_let_fall(recipe, optim);
    (void)numbers_rate(recipe, rate_of(optim->kind) * growth(setup, optim),
                       optim);
    return ERR_OK;
}

static uint32_t dims(const struct setup *setup)
{
    return neural_sums_dims(&setup->net.neural);
}

/* --- what decides its bits ------------------------------------------------ */

static const char *profile(const struct setup *setup)
{
    (void)setup;
    return PROFILE_NET_NAME;
}

/* Its text, its input, what is drawn; and the weights it begins with, which
 * another file or another way of drawing would change. */
static void digest(const struct setup *setup, struct hasher *hasher)
{
    const struct neural *const net = &setup->net.neural;
    const struct neural_units *const units = &setup->net.units;
    char line[256];
    const int length =
        snprintf(line, sizeof line,
                 "net %u x %u x %u by %a mean %a spread %a loss %d seed %llu",
                 net->in.height, net->in.width, net->in.channels,
                 units->divisor, units->mean, units->spread, (int)net->loss,
                 (unsigned long long)setup->optim.seed);

    hasher_add(hasher, line, (size_t)length + 1);
    hasher_add(hasher, setup->net.text, strlen(setup->net.text) + 1);
    hasher_add_f64(hasher, setup->start, net->parameters);
}

/* --- results -------------------------------------------------------------- */

/* The scores of rows by these weights, which are rounded to floats. */
static enum err scores(const struct setup *setup, const struct dataset *data,
                       struct pool *pool, const double *w, double *z)
{
    const size_t count = setup->net.neural.parameters;
    struct neural_model model = setup->net; /* Its memory is the setup's. */
    enum err err = ERR_NOMEM;

    model.parameters = mem_new(count, sizeof *model.parameters);
    if (model.parameters != NULL) {
        neural_round(&model.neural, pool, w, model.parameters);
        err = neural_model_scores(&model, data, setup->isa, pool, z, NULL);
    }
    mem_free(model.parameters);
    return err;
}

/* The same, with room for them. */
static enum err score(const struct setup *setup, const struct dataset *data,
                      struct pool *pool, const double *w, double **z)
{
    const size_t outputs = neural_floats(&setup->net.neural.out);

    *z = mem_new(data->rows * outputs, sizeof **z);
    return *z == NULL ? ERR_NOMEM : scores(setup, data, pool, w, *z);
}

static enum err metrics_by(const struct setup *setup,
                           const struct dataset *data, const double *z,
                           struct metrics *metrics)
{
    const struct scored_rows rows = {
        .z = z,
        .y = data->y,
        .weight = data->weight,
        .rows = data->rows,
        .outputs = (uint32_t)neural_floats(&setup->net.neural.out)};

    return metrics_of_scores(metrics, model_ops(setup->model), setup->isa,
                             &rows);
}

static enum err measure(const struct setup *setup, const struct dataset *data,
                        const double *w, struct metrics *metrics)
{
    struct pool *pool;
    double *z = NULL;
    enum err err = setup_threads(setup, &pool, NULL);

    if (err != ERR_OK)
        return err;
    err = score(setup, data, pool, w, &z);
    if (err == ERR_OK)
        err = metrics_by(setup, data, z, metrics);
    mem_free(z);
    threads_free(pool);
    return err;
}

static double loss(const struct setup *setup, const struct metrics *metrics)
{
    return model_ops(setup->model)->classes ? metrics->logloss
                                            : metrics->mse / 2;
}

static enum err fill(const struct setup *setup, const double *w,
                     struct model_file *model)
{
    const struct neural_model *const from = &setup->net;
    const size_t count = from->neural.parameters;
    struct neural_model *const net = mem_new(1, sizeof *net);
    enum err err = ERR_NOMEM;

    model->net = net;
    model->outputs = (uint32_t)neural_floats(&from->neural.out);
    if (net != NULL)
        err = neural_model_init(net, from->text, &from->neural.in,
                                from->neural.loss, &from->units, NULL);
    if (err != ERR_OK)
        return err;
    net->parameters = mem_new(count, sizeof *net->parameters);
    if (net->parameters == NULL)
        return ERR_NOMEM;
    neural_round(&net->neural, NULL, w, net->parameters);
    return ERR_OK;
}

/* Of all rows by their weights, dropping nothing, as it is minimised. */
static double objective_by(const struct setup *setup, const double *w,
                           double loss)
{
    const double l2 = setup->optim.l2, rows = (double)setup->optim.rows;
    double norm = 0;

    for (size_t j = 0; l2 > 0 && j < setup->net.neural.parameters; j++)
        norm += w[j] * w[j];
    return loss / rows / setup->shown_factor + l2 * norm;
}

/* Infinite where a score is not finite. */
static enum err objective_at_start(const struct setup *setup, struct pool *pool,
                                   double *objective)
{
    double *z = NULL;
    const enum err err = score(setup, &setup->data, pool, setup->start, &z);

    *objective =
        err == ERR_OK
            ? objective_by(setup, setup->start,
                           neural_model_loss(&setup->net, &setup->data, z))
            : HUGE_VAL;
    mem_free(z);
    return err == ERR_RANGE ? ERR_OK : err;
}

static enum err objective_of_constant(const struct setup *setup,
                                      double *objective)
{
    struct constant constant;
    const enum err err =
        constant_of(&setup->data, model_ops(setup->model), &constant);

    if (err == ERR_OK)
        *objective =
            constant.loss / (double)setup->optim.rows / setup->shown_factor;
    return err;
}

/* What the scores of the training rows tell: once for objective, metrics and
 * the constant beside them. */
static enum err look(const struct setup *setup, struct pool *pool,
                     struct train_result *result)
{
    const struct dataset *const data = &setup->data;
    double *z = NULL;
    enum err err = score(setup, data, pool, result->weights, &z);

    result->outcome.objective = HUGE_VAL;
    if (err == ERR_OK)
        err = metrics_by(setup, data, z, &result->metrics);
    result->measured = err == ERR_OK;
    if (err == ERR_OK) {
        const double loss = neural_model_loss(&setup->net, data, z);

        result->outcome.objective = objective_by(setup, result->weights, loss);
        err = constant_judge(setup, loss, result);
    }
    mem_free(z);
    return err == ERR_RANGE ? ERR_OK : err;
}

/* The loss of batches says little of the model that they led to, and that of
 * the first one little of where it began: who looks worse than that is held
 * against all rows, and so is who began with a trained model. */
static enum err settle(const struct setup *setup, struct pool *pool,
                       struct train_result *result)
{
    struct optim_outcome *const outcome = &result->outcome;
    enum err err = look(setup, pool, result);

    if (err == ERR_OK && (setup->init != NULL ||
                          outcome->objective > outcome->objective_first)) {
        err = objective_at_start(setup, pool, &outcome->objective_first);
        if (err == ERR_OK && setup->init != NULL)
            err = objective_of_constant(setup, &outcome->blank);
    }
    if (err != ERR_OK)
        return err;
    outcome->gradient_norm = nan("");
    outcome->at_model = true;
    optim_judge(&setup->optim, outcome);
    return ERR_OK;
}

static struct digest hash(const struct setup *setup, const double *w)
{
    return neural_hash(&setup->net.neural, w);
}

const struct family net_family = {
    .numbered = true,
    .apart = true,
    .chunk_rows = MICROBATCH,
    .passes = DEFAULT_PASSES,
    .steps_least = STEPS_LEAST,
    .begin = begin,
    .model = model_of,
    .build = build,
    .optimiser = optimiser,
    .numbers = numbers,
    .dims = dims,
    .profile = profile,
    .digest = digest,
    .scores = scores,
    .measure = measure,
    .loss = loss,
    .fill = fill,
    .hash = hash,
    .settle = settle,
};
