/*
 * start.c - the first weights of a network: drawn, or those of a saved one,
 * whose numbers must mean the same here.
 */
#include "learn/family/start.h"

#include <string.h>

#include "base/mem.h"
#include "eval/briefs.h"
#include "learn/save.h"
#include "model/net/neural_model.h"

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

static enum err check_input(const struct neural_model *saved,
                            const struct neural_model *net, struct why *why)
{
    const struct neural_shape *const a = &saved->neural.in;
    const struct neural_shape *const b = &net->neural.in;

    if (a->height != b->height || a->width != b->width ||
        a->channels != b->channels)
        return why_set(why, ERR_MISMATCH,
                       "a network on %u x %u x %u inputs; the rows are %u x %u "
                       "x %u",
                       a->height, a->width, a->channels, b->height, b->width,
                       b->channels);
    if (saved->divisor != net->divisor)
        return why_set(why, ERR_MISMATCH,
                       "a network on values divided by %g; those of the rows "
                       "are divided by %g",
                       saved->divisor, net->divisor);
    return ERR_OK;
}

static bool same_word(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Output k must stand for the same label. */
static enum err check_labels(const struct model_file *saved,
                             const struct setup *setup, struct why *why)
{
    const struct frame_column *const words = &setup->encoder.classes;
    const uint32_t classes =
        model_ops(setup->model)->classes ? setup->data.classes : 0;
    bool same = saved->classes == classes;

    for (uint32_t k = 0; same && k < classes; k++) {
        const char *const there = model_file_word(saved, saved->label[k]);
        const char *const here =
            k < words->categories ? words->category[k].text : NULL;

        same =
            saved->label[k] == setup->data.label[k] && same_word(there, here);
    }
    return same ? ERR_OK
                : why_set(why, ERR_MISMATCH,
                          "a network about other labels than the rows have");
}

static enum err take(const struct model_file *saved, struct setup *setup,
                     struct why *why)
{
    const size_t count = setup->net.neural.parameters;
    enum err err = ERR_OK;

    if (saved->net == NULL)
        return why_set(why, ERR_MISMATCH,
                       "a linear model; --init goes on from a network");
    err = check_layers(&saved->net->neural, &setup->net.neural, why);
    if (err == ERR_OK)
        err = check_input(saved->net, &setup->net, why);
    if (err == ERR_OK)
        err = check_labels(saved, setup, why);
    for (size_t j = 0; err == ERR_OK && j < count; j++)
        setup->start[j] = (double)saved->net->parameters[j];
    return err;
}

static enum err read_start(struct setup *setup, const char *path,
                           struct why *why)
{
    struct model_file saved = {0};
    enum err err = model_load(path, &saved, why);

    if (err != ERR_OK)
        return why_in(why, err, "--init");
    err = take(&saved, setup, why);
    model_file_close(&saved);
    return err == ERR_OK ? err : why_in(why, err, "--init %.200s", path);
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

enum err start_make(struct setup *setup, const struct recipe *recipe,
                    struct why *why)
{
    const char *const path = recipe_text(recipe, OPT_INIT);

    setup->start =
        mem_new(neural_sums_dims(&setup->net.neural), sizeof *setup->start);
    if (setup->start == NULL)
        return why_set(why, ERR_NOMEM, "not enough memory for a network");
    return path != NULL ? read_start(setup, path, why)
                        : draw(setup, recipe_count(recipe, OPT_SEED), why);
}
