/*
 * predict.c - what a model says of rows.
 */
#include "learn/predict.h"
#include "api/handle.h"
#include "base/mem.h"

/* Numbers for each row. */
static uint32_t width(const struct model_file *model, enum muster_answer answer)
{
    if (answer == MUSTER_SCORES)
        return model->outputs;
    return answer == MUSTER_PROBABILITIES ? model->classes : 1;
}

static uint64_t answer_count(const struct prediction *made,
                             enum muster_answer answer)
{
    return (uint64_t)made->data.rows * width(made->model, answer);
}

static double answer_of(const struct prediction *made,
                        enum muster_answer answer, uint32_t row, uint32_t k)
{
    switch (answer) {
    case MUSTER_SCORES:
        return made->scores[(size_t)row * made->model->outputs + k];
    case MUSTER_PROBABILITIES:
        return predict_probability(made, row, k);
    case MUSTER_TRUTH:
        return predict_truth(made, row);
    case MUSTER_LABELS:
        break;
    }
    return predict_label(made, row);
}

static void copy_out(const struct prediction *made, enum muster_answer answer,
                     double *out)
{
    const uint32_t each = width(made->model, answer);

    for (uint32_t i = 0; i < made->data.rows; i++)
        for (uint32_t k = 0; k < each; k++)
            out[(size_t)i * each + k] = answer_of(made, answer, i, k);
}

#define NOWHERE "there is nowhere to put the answers"

static enum muster_status refuse(const char *what, char *why)
{
    struct why sentence = {{0}};

    (void)status_end(why_set(&sentence, ERR_SHAPE, "%s", what), &sentence, why);
    return MUSTER_BAD_OPTION;
}

/* Rows read and scored, to be closed whatever comes of it. */
static enum muster_status judge(struct prediction *made,
                                const struct muster_model *model,
                                const struct muster_data *data,
                                enum muster_answer answer, char *why)
{
    struct why sentence = {{0}};
    struct source_options source = {0};
    enum err err;

    if (model == NULL || data == NULL || model->own || answer < MUSTER_LABELS ||
        answer > MUSTER_TRUTH)
        return refuse("no model of muster_fit's, no rows, or no such answer",
                      why);
    made->model = &model->file;
    source.spec = data->path;
    source.memory = data->path == NULL ? &data->rows : NULL;
    err = predict_score(made, &source, &sentence);
    if (err != ERR_OK)
        return status_of_data(err, &sentence, why);
    if (answer == MUSTER_PROBABILITIES)
        err = predict_probabilities(made, &sentence);
    return status_end(err, &sentence, why);
}

enum muster_status muster_predict(const struct muster_model *model,
                                  const struct muster_data *data,
                                  enum muster_answer answer, double *out,
                                  uint64_t count, char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    struct prediction made = {0};
    enum muster_status status = out == NULL
                                    ? refuse(NOWHERE, why)
                                    : judge(&made, model, data, answer, why);

    if (status == MUSTER_OK && count != answer_count(&made, answer))
        status = status_end(
            why_set(&sentence, ERR_SHAPE,
                    "%llu rows have %llu answers, but there is room for %llu",
                    (unsigned long long)made.data.rows,
                    (unsigned long long)answer_count(&made, answer),
                    (unsigned long long)count),
            &sentence, why);
    if (status == MUSTER_OK)
        copy_out(&made, answer, out);
    predict_close(&made);
    return status;
}

enum muster_status muster_predict_all(const struct muster_model *model,
                                      const struct muster_data *data,
                                      enum muster_answer answer, double **out,
                                      uint64_t *count, char *why)
{
    OUR_FLOATS;
    const struct why sentence = {{0}};
    struct prediction made = {0};
    enum muster_status status;
    double *all;

    if (out == NULL || count == NULL)
        return refuse(NOWHERE, why);
    status = judge(&made, model, data, answer, why);
    if (status == MUSTER_OK) {
        all = mem_new((size_t)answer_count(&made, answer), sizeof *all);
        if (all == NULL) {
            status = status_end(ERR_NOMEM, &sentence, why);
        } else {
            copy_out(&made, answer, all);
            *out = all;
            *count = answer_count(&made, answer);
        }
    }
    predict_close(&made);
    return status;
}

void muster_answers_free(double *answers)
{
    mem_free(answers);
}
