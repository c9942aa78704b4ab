/*
 * predict.c - what a model says of rows.
 */
#include <string.h>

#include "api/handle.h"
#include "learn/predict.h"

static enum err copy_out(struct prediction *made, enum muster_answer answer,
                         double *out, uint64_t count, struct why *why)
{
    const struct model_file *const model = made->model;
    const uint64_t rows = made->data.rows;
    const uint32_t each = answer == MUSTER_LABELS   ? 1
                          : answer == MUSTER_SCORES ? model->outputs
                                                    : model->classes;
    const uint64_t wanted = rows * each;
    enum err err = ERR_OK;

    if (count != wanted)
        return why_set(why, ERR_SHAPE,
                       "%llu rows have %llu answers, but there is room for "
                       "%llu",
                       (unsigned long long)rows, (unsigned long long)wanted,
                       (unsigned long long)count);
    if (answer == MUSTER_PROBABILITIES)
        err = predict_probabilities(made, why);
    if (err != ERR_OK)
        return err;
    if (answer == MUSTER_SCORES)
        memcpy(out, made->scores, count * sizeof *out);
    for (uint32_t i = 0; answer == MUSTER_LABELS && i < rows; i++)
        out[i] = predict_label(made, i);
    for (uint32_t i = 0; answer == MUSTER_PROBABILITIES && i < rows; i++)
        for (uint32_t k = 0; k < each; k++)
            out[(size_t)i * each + k] = predict_probability(made, i, k);
    return ERR_OK;
}

enum muster_status muster_predict(const struct muster_model *model,
                                  const struct muster_data *data,
                                  enum muster_answer answer, double *out,
                                  uint64_t count, char *why)
{
    struct why sentence = {{0}};
    struct prediction made = {0};
    struct source_options source = {0};
    enum err err;

    if (model == NULL || data == NULL || out == NULL || model->own ||
        answer < MUSTER_LABELS || answer > MUSTER_PROBABILITIES)
        return status_end(why_set(&sentence, ERR_SHAPE,
                                  "no model of muster_fit's, no rows, no such "
                                  "answer, or nowhere to put it"),
                          &sentence, why);
    made.model = &model->file;
    source.spec = data->path;
    source.memory = data->path == NULL ? &data->rows : NULL;
    err = predict_score(&made, &source, &sentence);
    if (err != ERR_OK) {
        predict_close(&made);
        return status_of_data(err, &sentence, why);
    }
    err = copy_out(&made, answer, out, count, &sentence);
    predict_close(&made);
    return status_end(err, &sentence, why);
}
