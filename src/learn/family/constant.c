/*
 * constant.c - the best prediction that looks at no column, and a model beside
 * it.
 */
#include "learn/family/constant.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "learn/family/family.h"
#include "learn/fit.h"
#include "math/kernel/poly_ref.h"

/* Scores of networks are floats: those of a constant may miss it by so much. */
#define ROUNDING 1e-6
/* Classes whose most frequent one has so many times its even share. */
#define UNEVEN 1.2

static double weight_of(const struct dataset *data, uint32_t i)
{
    return data->weight == NULL ? 1 : data->weight[i];
}

/* Labels of rows of weight 0 may be anything. */
static double mean_of(const struct dataset *data)
{
    double weight = 0, sum = 0;

    for (uint32_t i = 0; i < data->rows; i++) {
        if (weight_of(data, i) == 0)
            continue;
        weight += weight_of(data, i);
        sum += weight_of(data, i) * data->y[i];
    }
    return sum / weight;
}

static double squared(const struct dataset *data)
{
    const double mean = mean_of(data);
    double squares = 0;

    for (uint32_t i = 0; i < data->rows; i++) {
        double off;

        if (weight_of(data, i) == 0)
            continue;
        off = data->y[i] - mean;
        squares += weight_of(data, i) * off * off;
    }
    return squares / 2;
}

/* The least sum of losses that one score, or one for each class, has.  Of
 * p = weight[1] and n = weight[0]: p (1 - c)^2 + n (1 + c)^2 is least at
 * c = (p - n) / (p + n), the hinge loss at 1 or -1. */
static double least(const struct model_ops *model, const double *weight,
                    uint32_t classes, double all)
{
    double loss = 0;

    if (model->loss.kind == LOSS_SQUARED_HINGE)
        return all > 0 ? 4 * weight[0] * weight[1] / all : 0;
    if (model->loss.kind == LOSS_HINGE)
        return 2 * fmin(weight[0], weight[1]);
    for (uint32_t k = 0; k < classes; k++)
        if (weight[k] > 0)
            loss -= weight[k] * ref_log(weight[k] / all);
    return loss;
}

/* weight[classes] and rows[classes] are of each class, zeroed. */
static void shares(const struct dataset *data, const struct model_ops *model,
                   double *weight, uint32_t *rows, struct constant *constant)
{
    double all = 0;
    uint32_t count = 0, most = 0;

    for (uint32_t i = 0; i < data->rows; i++) {
        uint32_t k;

        if (weight_of(data, i) == 0)
            continue;
        k = data->y[i] > 0 ? (uint32_t)data->y[i] : 0;
        weight[k] += weight_of(data, i);
        rows[k]++;
        all += weight_of(data, i);
        count++;
    }
    constant->loss = least(model, weight, data->classes, all);
    for (uint32_t k = 0; k < data->classes; k++) {
        constant->present += rows[k] > 0;
        if (rows[k] > most)
            most = rows[k];
    }
    if (count > 0)
        constant->share = (double)most / count;
}

enum err constant_of(const struct dataset *data, const struct model_ops *model,
                     struct constant *constant)
{
    double *weight;
    uint32_t *rows;
    bool room;

    *constant = (struct constant){0};
    if (model->regression) {
        constant->loss = squared(data);
        return ERR_OK;
    }
    weight = mem_new(data->classes, sizeof *weight);
    rows = mem_new(data->classes, sizeof *rows);
    room = weight != NULL && rows != NULL;
    if (room)
        shares(data, model, weight, rows, constant);
    mem_free(rows);
    mem_free(weight);
    return room ? ERR_OK : ERR_NOMEM;
}

/* A model that is often right may have a large loss by a few rows of which it
 * is wrongly sure, and one that is never right about the rare class a small
 * one: both have learnt something. */
enum err constant_judge(const struct setup *setup, double loss,
                        struct train_result *result)
{
    const struct model_ops *const model = model_ops(setup->model);
    struct constant constant;
    const enum err err = constant_of(&setup->data, model, &constant);

    if (err != ERR_OK)
        return err;
    result->constant.judged = true;
    result->constant.beaten =
        constant.loss <= 0 || loss < constant.loss * (1 - ROUNDING) ||
        (!model->regression && result->metrics.accuracy > constant.share);
    result->constant.gained = 1 - loss / constant.loss;
    result->constant.share = constant.share;
    return ERR_OK;
}

/* --- in words ------------------------------------------------------------- */

static const char *beside(const struct setup *setup,
                          const struct train_result *result, char *text,
                          size_t size)
{
    if (!model_ops(setup->model)->regression)
        (void)snprintf(text, size,
                       "the model is no better than saying the most frequent "
                       "class of every row (accuracy %.4g, and that would be "
                       "right of %.4g)",
                       result->metrics.accuracy, result->constant.share);
    else
        (void)snprintf(text, size,
                       "the model predicts no better than the mean of the "
                       "labels (R^2 %.3g)",
                       result->constant.gained);
    return text;
}

static bool is_adam(const struct optim_options *optim)
{
    return optim->kind == OPTIM_ADAM || optim->kind == OPTIM_ADAMW;
}

static void network_advice(const struct setup *setup, char *text, size_t size)
{
    const struct optim_options *const optim = &setup->optim;
    const bool relus = neural_rectifies(&setup->net.neural);

    (void)snprintf(text, size,
                   "try another --lr than %.6g, more --passes%s%s%s",
                   optim->rate, optim->clip == 0 ? ", --clip 1" : "",
                   is_adam(optim) ? "" : ", --optim adam",
                   relus ? "; relus that are 0 for every row learn no more, "
                           "which a smaller --lr prevents"
                         : "");
}

/* Adam moves a weight by about its rate, however far the labels are, and needs
 * steps to come to rest there. */
static void rate_advice(const struct setup *setup, char *text, size_t size)
{
    const struct optim_options *const optim = &setup->optim;
    const double mean =
        model_ops(setup->model)->regression ? mean_of(&setup->data) : 0;
    const double reach = optim->rate * optim->steps;

    if (is_adam(optim) && 2 * fabs(mean) > reach)
        (void)snprintf(
            text, size,
            "a larger --lr than %.6g, with which %u steps of %s move "
            "a weight by about %.3g, and the mean is %.3g",
            optim->rate, optim->steps, optim_name(optim->kind), reach, mean);
    else
        (void)snprintf(text, size, "another --lr than %.6g, more --%s",
                       optim->rate,
                       optim->sampler.kind == SAMPLER_WHOLE &&
                               strstr(setup->chose, "--passes") == NULL
                           ? "steps"
                           : "passes");
}

/* Left to themselves, these find the optimum where sums are exact. */
static void linear_advice(const struct setup *setup, char *text, size_t size)
{
    const struct optim_options *const optim = &setup->optim;
    char rate[192];

    if (optim->kind == OPTIM_LBFGS || optim->kind == OPTIM_NEWTON ||
        optim->kind == OPTIM_SGD) {
        (void)snprintf(text, size, "try more --steps");
        return;
    }
    rate_advice(setup, rate, sizeof rate);
    if (setup->exactness == EXACT_APPROX || setup->chose[0] == '\0')
        (void)snprintf(text, size, "try %s", rate);
    else
        (void)snprintf(text, size, "leave out %s, or try %s", setup->chose,
                       rate);
}

const char *constant_sentence(const struct setup *setup,
                              const struct train_result *result,
                              char text[CONSTANT_TEXT])
{
    char said[192], advice[288];

    if (!result->constant.judged || result->constant.beaten ||
        fit_diverged(result))
        return NULL;
    if (setup_family(setup)->converges)
        linear_advice(setup, advice, sizeof advice);
    else
        network_advice(setup, advice, sizeof advice);
    (void)snprintf(text, CONSTANT_TEXT, "%s: %s",
                   beside(setup, result, said, sizeof said), advice);
    return text;
}

/* Who is right of as many rows as there are of the most frequent class, and of
 * the classes finds one whole and no other, says that one only.  Recall is that
 * of the second of two classes, or the mean of more; then, as classes that are
 * equally frequent are found in part as well as one of them whole, precision
 * tells: of one class it is its share, of those never said 0. */
static bool says_one(const struct constant *constant, uint32_t classes,
                     const struct metrics *metrics)
{
    if (constant->present < 2 ||
        fabs(metrics->accuracy - constant->share) > ROUNDING / UINT32_MAX)
        return false;
    return classes == 2
               ? metrics->recall == 0 || metrics->recall == 1
               : fabs(metrics->recall * constant->present - 1) < ROUNDING &&
                     fabs(metrics->precision * constant->present -
                          constant->share) < ROUNDING;
}

const char *constant_class_sentence(const struct setup *setup,
                                    const struct metrics *metrics,
                                    char text[CONSTANT_TEXT])
{
    const struct model_ops *const model = model_ops(setup->model);
    struct constant constant;

    if (model->regression || setup->hollow || setup->data.y == NULL ||
        constant_of(&setup->data, model, &constant) != ERR_OK ||
        !says_one(&constant, setup->data.classes, metrics))
        return NULL;
    (void)snprintf(text, CONSTANT_TEXT,
                   "the model is no better than saying the most frequent class "
                   "of every row, and says nothing else (accuracy %.4g)%s",
                   metrics->accuracy,
                   setup->data.weight == NULL &&
                           constant.share * constant.present > UNEVEN
                       ? ": --class-weight balanced makes rare classes count "
                         "as much"
                       : "");
    return text;
}
