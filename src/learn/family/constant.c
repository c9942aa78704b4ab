/*
 * constant.c - the best prediction that looks at no column, and a model beside
 * it.
 */
#include "learn/family/constant.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "learn/fit.h"
#include "math/kernel/poly_ref.h"

/* Scores of networks are floats: those of a constant may miss it by so much. */
#define ROUNDING 1e-6

static double weight_of(const struct dataset *data, uint32_t i)
{
    return data->weight == NULL ? 1 : data->weight[i];
}

/* Labels of rows of weight 0 may be anything. */
static double squared(const struct dataset *data)
{
    double weight = 0, sum = 0, squares = 0;

    for (uint32_t i = 0; i < data->rows; i++) {
        if (weight_of(data, i) == 0)
            continue;
        weight += weight_of(data, i);
        sum += weight_of(data, i) * data->y[i];
    }
    for (uint32_t i = 0; i < data->rows; i++) {
        double off;

        if (weight_of(data, i) == 0)
            continue;
        off = data->y[i] - sum / weight;
        squares += weight_of(data, i) * off * off;
    }
    return squares / 2;
}

/* weight[classes] and rows[classes] are of each class, zeroed. */
static void shares(const struct dataset *data, double *weight, uint32_t *rows,
                   struct constant *constant)
{
    double all = 0;
    uint32_t count = 0, most = 0;

    for (uint32_t i = 0; i < data->rows; i++) {
        uint32_t k;

        if (weight_of(data, i) == 0)
            continue;
        k = (uint32_t)data->y[i];
        weight[k] += weight_of(data, i);
        rows[k]++;
        all += weight_of(data, i);
        count++;
    }
    for (uint32_t k = 0; k < data->classes; k++) {
        if (weight[k] > 0)
            constant->loss -= weight[k] * ref_log(weight[k] / all);
        if (rows[k] > most)
            most = rows[k];
    }
    if (count > 0)
        constant->share = (double)most / count;
}

enum err constant_of(const struct dataset *data, bool classes,
                     struct constant *constant)
{
    double *weight;
    uint32_t *rows;
    bool room;

    *constant = (struct constant){0};
    if (!classes) {
        constant->loss = squared(data);
        return ERR_OK;
    }
    weight = mem_new(data->classes, sizeof *weight);
    rows = mem_new(data->classes, sizeof *rows);
    room = weight != NULL && rows != NULL;
    if (room)
        shares(data, weight, rows, constant);
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
    const bool classes = model_ops(setup->model)->classes;
    struct constant constant;
    const enum err err = constant_of(&setup->data, classes, &constant);

    if (err != ERR_OK)
        return err;
    result->constant.judged = true;
    result->constant.beaten =
        constant.loss <= 0 || loss < constant.loss * (1 - ROUNDING) ||
        (classes && result->metrics.accuracy > constant.share);
    result->constant.gained = 1 - loss / constant.loss;
    result->constant.share = constant.share;
    return ERR_OK;
}

/* --- in words ------------------------------------------------------------- */

static const char *beside(const struct setup *setup,
                          const struct train_result *result, char *text,
                          size_t size)
{
    if (model_ops(setup->model)->classes)
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

const char *constant_sentence(const struct setup *setup,
                              const struct train_result *result,
                              char text[CONSTANT_TEXT])
{
    const struct optim_options *const optim = &setup->optim;
    const bool adam = optim->kind == OPTIM_ADAM || optim->kind == OPTIM_ADAMW;
    const bool relus = neural_rectifies(&setup->net.neural);
    char said[256];

    if (!result->constant.judged || result->constant.beaten ||
        fit_diverged(result))
        return NULL;
    (void)snprintf(text, CONSTANT_TEXT,
                   "%s: try another --lr than %.6g, more --passes%s%s%s",
                   beside(setup, result, said, sizeof said), optim->rate,
                   optim->clip == 0 ? ", --clip 1" : "",
                   adam ? "" : ", --optim adam",
                   relus ? "; relus that are 0 for every row learn no more, "
                           "which a smaller --lr prevents"
                         : "");
    return text;
}
