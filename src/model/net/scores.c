/*
 * scores.c - a network over all rows of a data set, some at a time.
 */
#include "model/net/scores.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "math/kernel/softmax.h"
#include "model/net/work.h"

/* Rows at a time: as many as fill the threads, unless what layers make of them
 * takes more than this. */
#define SCORE_ROWS  64u
#define SCORE_BYTES (UINT64_C(64) << 20)

static uint32_t rows_at_a_time(const struct neural *net)
{
    uint64_t floats = 0;

    for (uint32_t i = 0; i < net->layer_count; i++) {
        const struct neural_layer l = neural_layer(net, i);

        floats += neural_floats(&l.to);
    }
    floats = SCORE_BYTES / sizeof(float) / (floats + neural_floats(&net->in));
    return floats > SCORE_ROWS ? SCORE_ROWS
           : floats == 0       ? 1
                               : (uint32_t)floats;
}

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
                      uint32_t most, float *x, float *said, double *z)
{
    const size_t inputs = neural_floats(&model->neural.in);
    const size_t outputs = neural_floats(&model->neural.out);
    uint32_t row[SCORE_ROWS];
    enum err err = neural_work_load(work, model->parameters);

    for (uint32_t first = 0; err == ERR_OK && first < data->rows;
         first += most) {
        const uint32_t left = data->rows - first;
        const uint32_t count = left < most ? left : most;

        for (uint32_t i = 0; i < count; i++)
            row[i] = first + i;
        neural_model_rows(model, data, row, count, x);
        for (uint32_t i = 0; data->weight != NULL && i < count; i++) {
            if (data->weight[first + i] == 0)
                memset(x + i * inputs, 0, inputs * sizeof *x);
        }
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
    const uint32_t most = rows_at_a_time(net);
    struct neural_work *work = NULL;
    enum err err = neural_work_new(net, most, 1, isa, pool, &work, why);
    float *const x = mem_new(most * neural_floats(&net->in), sizeof *x);
    float *const said = mem_new(most * neural_floats(&net->out), sizeof *said);

    if (err == ERR_OK)
        err = x == NULL || said == NULL
                  ? ERR_NOMEM
                  : score(model, data, work, most, x, said, z);
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

    for (uint32_t i = 0; i < data->rows; i++) {
        const double weight = data->weight == NULL ? 1 : data->weight[i];

        if (weight != 0)
            sum +=
                loss_of(&model->neural, z + i * outputs, data->y[i]) * weight;
    }
    return sum;
}
