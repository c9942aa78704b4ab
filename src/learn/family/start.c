/*
 * start.c - the first weights of a training: 0, drawn, or those of a saved
 * model, whose numbers must mean the same here.
 *
 * That is settled by reading: rows go through the saved model's own encoder, as
 * they do for prediction, so that columns are found by their names, scaled as
 * its were, and labels are its labels.
 */
#include "learn/family/start.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "learn/family/inputs.h"
#include "learn/predict.h"
#include "learn/rows.h"
#include "learn/save.h"
#include "model/net/neural_model.h"

/* --- the file ------------------------------------------------------------ */

static void swap_numbers(double *a, double *b, size_t count)
{
    for (size_t j = 0; j < count; j++) {
        const double kept = a[j];

        a[j] = b[j];
        b[j] = kept;
    }
}

/* LIBLINEAR has labels in the order it met them; here they ascend. */
static void sort_outputs(struct model_file *model)
{
    const size_t count = model_file_weights(model);
    double *const label = model->label;

    if (model->outputs == 1 && model->classes == 2 && label[0] > label[1]) {
        swap_numbers(&label[0], &label[1], 1);
        for (size_t j = 0; j < count; j++)
            model->w[j] = -model->w[j];
    }
    for (uint32_t k = 0; model->outputs > 1 && k < model->outputs; k++)
        for (uint32_t i = k; i > 0 && label[i] < label[i - 1]; i--) {
            swap_numbers(&label[i], &label[i - 1], 1);
            swap_numbers(model->w + i * count, model->w + (i - 1) * count,
                         count);
        }
}

static enum err check_kind(const struct model_file *model, bool net,
                           struct why *why)
{
    if (model->net != NULL)
        return ERR_OK;
    if (net)
        return why_set(why, ERR_MISMATCH,
                       "a linear model; leave out --net to go on from it");
    if (model->outputs > 1 && !model_ops(model->kind)->classes)
        return why_set(why, ERR_MISMATCH,
                       "a model of one class against the rest, trained class "
                       "by class; there is nothing to go on from at once");
    return ERR_OK;
}

/* Unless the recipe says it. */
static enum err choose(struct recipe *recipe, int id, const char *text,
                       struct why *why)
{
    return recipe_given(recipe, id)
               ? ERR_OK
               : recipe_put(recipe, id, text, ORIGIN_DEFAULT, why);
}

static enum err take_columns(struct setup *setup, struct why *why)
{
    struct model_file *const model = setup->init;

    if (model->encoder.kind != ENCODER_TABLE)
        return predict_columns(model, &setup->encoder, why);
    setup->encoder = model->encoder;
    model->encoder = (struct encoder){0};
    return ERR_OK;
}

enum err start_open(struct setup *setup, struct recipe *recipe, struct why *why)
{
    const char *const path = recipe_text(recipe, OPT_INIT);
    struct model_file *model;
    enum err err;

    if (path == NULL)
        return ERR_OK;
    model = mem_new(1, sizeof *model);
    if (model == NULL)
        return why_set(why, ERR_NOMEM, "--init: out of memory");
    setup->init = model;
    err = model_load(path, model, why);
    if (err != ERR_OK)
        return why_in(why, err, "--init");
    err = check_kind(model, recipe_given(recipe, OPT_NET), why);
    if (err != ERR_OK)
        return why_in(why, err, "--init %.200s", path);
    if (model->net != NULL)
        err = choose(recipe, OPT_NET, model->net->text, why);
    else
        sort_outputs(model);
    if (err == ERR_OK)
        err = choose(recipe, OPT_MODEL, model_ops(model->kind)->name, why);
    return err == ERR_OK ? take_columns(setup, why) : err;
}

void start_close(struct setup *setup)
{
    if (setup->init != NULL)
        model_file_close(setup->init);
    mem_free(setup->init);
    mem_free(setup->start);
}

/* --- rows ---------------------------------------------------------------- */

void start_read(const struct setup *setup, struct source_options *source)
{
    const struct model_file *const model = setup->init;

    source->cols_min = model_file_weights(model);
    if (model->net != NULL)
        source->taken = inputs_image(model->net);
    if (model->classes > 0) {
        source->labels = model->label;
        source->label_count = model->classes;
    }
    if (source->storage == NULL && setup->encoder.wide)
        source->storage = storage_name(STORAGE_F64);
}

static enum err check_columns(const struct setup *setup, struct why *why)
{
    const struct model_file *const model = setup->init;
    const uint32_t cols =
        setup->data.cols - (uint32_t)(setup->intercept ? 1 : 0);

    if (model->net == NULL && model->intercept != setup->intercept)
        return why_set(why, ERR_MISMATCH,
                       "a model %s intercept; %s --no-intercept",
                       model->intercept ? "with an" : "without",
                       model->intercept ? "leave out" : "add");
    if (cols != model->features)
        return why_set(why, ERR_MISMATCH,
                       "a model on %u columns; the rows have %u",
                       model->features, cols);
    return ERR_OK;
}

enum err start_check(struct setup *setup, const struct recipe *recipe,
                     struct why *why)
{
    const struct model_file *const model = setup->init;
    enum err err;

    if (model == NULL)
        return ERR_OK;
    err = check_columns(setup, why);
    if (err == ERR_OK && model->kind != setup->model)
        err = why_set(
            why, ERR_MISMATCH, "its model is %s, and that asked for is %s",
            model_ops(model->kind)->name, model_ops(setup->model)->name);
    if (err == ERR_OK && model->net != NULL)
        err = inputs_check(model->net, setup->encoder.byte, &setup->data, why);
    return err == ERR_OK ? err
                         : why_in(why, err, "--init %.200s",
                                  recipe_text(recipe, OPT_INIT));
}

/* --- weights ------------------------------------------------------------- */

enum err start_linear(struct setup *setup, const struct recipe *recipe,
                      struct why *why)
{
    const struct model_file *const model = setup->init;
    const struct problem problem = setup_problem(setup);
    const struct dataset *const data = &setup->data;

    (void)recipe;
    if (model == NULL)
        return ERR_OK;
    CHECK(problem_outputs(&problem) == model->outputs);
    setup->start = mem_new(problem_dims(&problem), sizeof *setup->start);
    if (setup->start == NULL)
        return why_set(why, ERR_NOMEM, "--init: out of memory");
    for (uint32_t k = 0; k < model->outputs; k++)
        rows_weights_in(data, model->w + (size_t)k * data->cols,
                        setup->start + (size_t)k * data->stride);
    return ERR_OK;
}

/* Layer by layer: texts may differ in blanks. */
static enum err check_layers(const struct neural *saved,
                             const struct neural *net, struct why *why)
{
    for (uint32_t i = 0; i < saved->layer_count && i < net->layer_count; i++) {
        const char *const there = neural_layer(saved, i).text;
        const char *const here = neural_layer(net, i).text;

        if (strcmp(there, here) != 0)
            return why_set(why, ERR_MISMATCH,
                           "another network: its layer %u is %s, that of --net "
                           "%s",
                           i + 1, there, here);
    }
    if (saved->layer_count != net->layer_count)
        return why_set(why, ERR_MISMATCH,
                       "another network: it has %u layers, --net %u",
                       saved->layer_count, net->layer_count);
    return ERR_OK;
}

static enum err copy(struct setup *setup, const struct neural_model *saved,
                     struct why *why)
{
    const enum err err = check_layers(&saved->neural, &setup->net.neural, why);

    for (size_t j = 0; err == ERR_OK && j < saved->neural.parameters; j++)
        setup->start[j] = (double)saved->parameters[j];
    return err;
}

static enum err draw(struct setup *setup, uint64_t seed, struct why *why)
{
    const struct neural *const net = &setup->net.neural;
    float *const drawn = mem_new(net->parameters, sizeof *drawn);

    if (drawn == NULL)
        return why_set(why, ERR_NOMEM, "not enough memory for a network");
    neural_draw(net, seed, drawn);
    for (size_t j = 0; j < net->parameters; j++)
        setup->start[j] = (double)drawn[j];
    mem_free(drawn);
    return ERR_OK;
}

enum err start_net(struct setup *setup, const struct recipe *recipe,
                   struct why *why)
{
    enum err err;

    setup->start =
        mem_new(neural_sums_dims(&setup->net.neural), sizeof *setup->start);
    if (setup->start == NULL)
        return why_set(why, ERR_NOMEM, "not enough memory for a network");
    if (setup->init == NULL)
        return draw(setup, recipe_count(recipe, OPT_SEED), why);
    err = copy(setup, setup->init->net, why);
    return err == ERR_OK ? err
                         : why_in(why, err, "--init %.200s",
                                  recipe_text(recipe, OPT_INIT));
}
