/*
 * scores.c - a network over all rows of a data set, some at a time.
 */
#include "model/net/scores.h"

#include <math.h>

#include "base/mem.h"
#include "math/kernel/softmax.h"
#include "model/net/work.h"

#define SCORE_ROWS 64u

void neural_model_rows(const struct neural_model *model,
                       const struct dataset *data, const uint32_t *row,
                       uint32_t count, float *x)
{
    const size_t cols = neural_floats(&model->neural.in);
    const double divisor = model->units.divisor;

    dataset_floats(data, row, count, (uint32_t)cols, x);
    for (size_t i = 0; divisor != 1 && i < count * cols; i++)
        x[i] = (float)((double)x[i] / divisor);
}

static enum err score(const struct neural_model *model,
                      const struct dataset *data, struct neural_work *work,
                      float *x, float *said, double *z)
{
    const size_t outputs = neural_floats(&model->neural.out);
    uint32_t row[SCORE_ROWS];
    enum err err = neural_work_load(work, model->parameters);

    for (uint32_t first = 0; err == ERR_OK && first < data->rows;
         first += SCORE_ROWS) {
        const uint32_t left = data->rows - first;
        const uint32_t count = left < SCORE_ROWS ? left : SCORE_ROWS;

        for (uint32_t i = 0; i < count; i++)
            row[i] = first + i;
        neural_model_rows(model, data, row, count, x);
        err = neural_work_scores(work, x, count, said);
        for (size_t i = 0; err == ERR_OK && i < count * outputs; i++)
            z[first * outputs + i] =
                model->units.mean + model->units.spread * (double)said[i];
        for (size_t i = 0; err == ERR_OK && i < count * outputs; i++)
            err = isfinite(z[first * outputs + i]) ? ERR_OK : ERR_RANGE;
    }
    return err;
}

enum err neural_model_scores(const struct neural_model *model,
                             const struct dataset *data, enum isa isa,
                             struct pool *pool, double *z, struct why *why)
{
    const struct neural *const net = &model->neural;
    struct neural_work *work = NULL;
    enum err err = neural_work_new(net, SCORE_ROWS, isa, pool, &work, why);
    float *const x = mem_new(SCORE_ROWS * neural_floats(&net->in), sizeof *x);
    float *const said =
        mem_new(SCORE_ROWS * neural_floats(&net->out), sizeof *said);

    if (err == ERR_OK)
        err = x == NULL || said == NULL ? ERR_NOMEM
                                        : score(model, data, work, x, said, z);
    if (err == ERR_RANGE)
        (void)why_set(why, err,
                      "a score is not finite: the data's values or the "
                      "network's weights are too large");
    neural_work_free(work);
    mem_free(x);
    mem_free(said);
    return err;
}

static double loss_of(const struct neural *net, const double *z, double y)
{
    if (net->loss == NEURAL_SOFTMAX)
        return softmax_loss((uint32_t)neural_floats(&net->out), z, (uint32_t)y);
    return (z[0] - y) * (z[0] - y) / 2;
}

double neural_model_loss(const struct neural_model *model,
                         const struct dataset *data, const double *z)
{
    const size_t outputs = neural_floats(&model->neural.out);
    double sum = 0;

    for (uint32_t i = 0; i < data->rows; i++)
        sum += loss_of(&model->neural, z + i * outputs, data->y[i]) *
               (data->weight == NULL ? 1 : data->weight[i]);
    return sum;
}
