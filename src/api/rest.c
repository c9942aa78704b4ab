/*
 * rest.c - models that each tell one class from the rest, as one model: that
 * of the largest score.
 */
#include <string.h>

#include "api/handle.h"
#include "base/mem.h"
#include "learn/card/model_card.h"

static bool alike(const struct model_file *a, const struct model_file *b)
{
    return a->kind == b->kind && a->features == b->features &&
           a->intercept == b->intercept && b->classes == 2 && b->outputs == 1 &&
           b->encoder.classes.category == NULL;
}

static enum err check(const struct muster_model *const *models, uint32_t count,
                      struct why *why)
{
    if (models == NULL || count < 3 || count > MODEL_CLASSES_MAX)
        return why_set(why, ERR_SHAPE,
                       "%u models: of one class against the rest there are 3 "
                       "to %u, and of two classes one tells both",
                       count, MODEL_CLASSES_MAX);
    for (uint32_t k = 0; k < count; k++)
        if (models[k] == NULL || models[k]->own ||
            !alike(&models[0]->file, &models[k]->file))
            return why_set(why, ERR_SHAPE,
                           "model %u is not there, has other columns or "
                           "another loss than the first, or does not tell two "
                           "numbers apart",
                           k);
    return ERR_OK;
}

/* What is known of the columns is the same in all of them. */
static enum err copy_encoder(const struct encoder *from, struct encoder *to,
                             struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    enum err err;

    to->from_zero = from->from_zero;
    to->wide = from->wide;
    if (from->kind == ENCODER_NONE)
        return ERR_OK;
    err = encoder_to_text(from, &text, &size);
    if (err == ERR_OK)
        err = encoder_from_text(to, text, size, why);
    mem_free(text);
    return err;
}

static enum err gather(const struct muster_model *const *models, uint32_t count,
                       struct model_file *to, struct why *why)
{
    const struct model_file *const first = &models[0]->file;
    const uint32_t each = model_file_weights(first);

    *to = (struct model_file){.kind = first->kind,
                              .features = first->features,
                              .intercept = first->intercept,
                              .classes = count,
                              .outputs = count};
    to->label = mem_new(count, sizeof *to->label);
    to->w = mem_new((size_t)count * each, sizeof *to->w);
    if (to->label == NULL || to->w == NULL)
        return ERR_NOMEM;
    for (uint32_t k = 0; k < count; k++) {
        to->label[k] = k;
        memcpy(to->w + (size_t)k * each, models[k]->file.w,
               each * sizeof *to->w);
    }
    return copy_encoder(&first->encoder, &to->encoder, why);
}

/* NULL, which is not known, if one of them has none. */
static json_t *gather_cards(const struct muster_model *const *models,
                            uint32_t count)
{
    json_t *const parts = json_array();
    bool all = parts != NULL;

    for (uint32_t k = 0; all && k < count; k++)
        all = models[k]->card != NULL &&
              json_array_append(parts, models[k]->card) == 0;
    if (all)
        return model_card_of_parts(models[0]->file.kind, parts);
    json_decref(parts);
    return NULL;
}

enum muster_status
muster_one_against_rest(const struct muster_model *const *models,
                        uint32_t count, struct muster_model **model, char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    struct muster_model *made;
    enum err err;

    if (model == NULL)
        return status_end(
            why_set(&sentence, ERR_SHAPE, "there is nowhere to put the model"),
            &sentence, why);
    err = check(models, count, &sentence);
    made = err == ERR_OK ? mem_new(1, sizeof *made) : NULL;
    if (made == NULL)
        return status_end(err == ERR_OK ? ERR_NOMEM : err, &sentence, why);
    err = gather(models, count, &made->file, &sentence);
    if (err != ERR_OK) {
        muster_free(made);
        return status_end(err, &sentence, why);
    }
    made->dims = model_file_numbers(&made->file);
    made->card = gather_cards(models, count);
    model_name(made);
    *model = made;
    return status_end(ERR_OK, &sentence, why);
}
