/*
 * Any bytes as a model file and, behind a line "====", a table that it is to
 * judge: rows under the model's columns and their scores, or a sentence.
 * Scores must be what a naive sum over the row's values says, and labels must
 * be numbers or none.
 * README.md says how to build and run it.
 */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "data/source.h"
#include "model/file.h"
#include "model/metrics.h"

enum { INPUT_MAX = 1 << 14, COLS_MAX = 1 << 10 };

static const char mark[] = "\n====\n";

static const uint8_t *find_mark(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + sizeof mark - 1 <= size; i++) {
        if (memcmp(data + i, mark, sizeof mark - 1) == 0)
            return data + i;
    }
    return NULL;
}

static enum err load(const struct model_file *model, struct span table,
                     struct dataset *data, struct why *why)
{
    struct encoder encoder = model->encoder;
    struct encoder stand_in = {0};
    struct schema schema = {0};
    struct source_options options = {.spec = "table",
                                     .format = "csv",
                                     .text = table,
                                     .cols_min = model_file_weights(model),
                                     .cols_max = model_file_weights(model),
                                     .intercept = model->intercept,
                                     .regression = true,
                                     .unlabelled = true,
                                     .storage = "f64",
                                     .encoder = &encoder};
    enum err err;

    if (encoder.column == NULL) {
        FUZZ_REQUIRE(schema_plain(&schema, model->features) == ERR_OK);
        FUZZ_REQUIRE(encoder_plain(&stand_in, &schema) == ERR_OK);
        options.encoder = &stand_in;
    }
    err = source_load(&options, data, NULL, NULL, why);
    encoder_close(&stand_in);
    return err;
}

/* One row, one output: the sum, and how large its terms are. */
static double naive(const double *w, const double *x, uint32_t cols,
                    double *size)
{
    double sum = 0;

    *size = 0;
    for (uint32_t j = 0; j < cols; j++) {
        sum += w[j] * x[j];
        *size += fabs(w[j] * x[j]);
    }
    return sum;
}

static void compare(const struct model_file *model, const struct dataset *data,
                    const double *z)
{
    double *const x = mem_new(data->cols, sizeof *x);

    FUZZ_REQUIRE(x != NULL);
    for (uint32_t i = 0; i < data->rows; i++) {
        dataset_row_values(data, i, x);
        for (uint32_t k = 0; k < model->outputs; k++) {
            double size;
            const double wanted =
                naive(model->w + (size_t)k * data->cols, x, data->cols, &size);

            FUZZ_REQUIRE(!isfinite(size) ||
                         fabs(z[(size_t)i * model->outputs + k] - wanted) <=
                             1e-12 * size + 1e-300);
        }
    }
    mem_free(x);
}

static void score(const struct model_file *model, const struct dataset *data)
{
    const struct problem problem = {.data = data,
                                    .model = model_ops(model->kind),
                                    .isa = isa_best(),
                                    .outputs = model->outputs};
    double *const inside =
        mem_new((size_t)model->outputs * data->stride, sizeof *inside);
    double *const z = mem_new((size_t)model->outputs * data->rows, sizeof *z);
    enum err err;

    FUZZ_REQUIRE(inside != NULL && z != NULL);
    for (uint32_t k = 0; k < model->outputs; k++)
        memcpy(inside + (size_t)k * data->stride,
               model->w + (size_t)k * data->cols, data->cols * sizeof *inside);
    err = metrics_scores(&problem, pool_serial(), inside, z);
    FUZZ_REQUIRE(err == ERR_OK || err == ERR_RANGE);
    if (err == ERR_OK)
        compare(model, data, z);
    mem_free(inside);
    mem_free(z);
}

static void judge(const struct model_file *model, struct span table)
{
    struct dataset data = {0};
    struct why why = {0};
    const enum err err = load(model, table, &data, &why);

    FUZZ_REQUIRE((err == ERR_OK) == (why.text[0] == '\0'));
    if (err != ERR_OK)
        return;
    fuzz_reached = true;
    FUZZ_REQUIRE(data.cols == model_file_weights(model));
    FUZZ_REQUIRE(!dataset_is_sparse(&data));
    for (uint32_t i = 0; i < data.rows; i++)
        FUZZ_REQUIRE(!isinf(data.y[i]));
    score(model, &data);
    dataset_close(&data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *const end = find_mark(data, size);
    struct model_file model = {0};
    struct span table;

    if (size >= INPUT_MAX || end == NULL ||
        model_file_decode(&model, (const char *)data, (size_t)(end - data) + 1,
                          NULL) != ERR_OK)
        return 0;
    table.at = (const char *)end + sizeof mark - 1;
    table.size = size - (size_t)(table.at - (const char *)data);
    if (model.net == NULL && model_file_weights(&model) <= COLS_MAX)
        judge(&model, table);
    model_file_close(&model);
    return 0;
}
