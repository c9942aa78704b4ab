/*
 * card.c - the model card (learn/card/model_card.h) of a model that travels as
 * a text: it is not in the text, and goes beside it.
 */
#include "learn/card/model_card.h"

#include "api/handle.h"
#include "base/mem.h"

/* Of the model as muster_write writes it. */
static enum err sum_of(const struct muster_model *model, struct digest *sum)
{
    char *text = NULL;
    size_t size = 0;
    const enum err err = model_file_encode(&model->file, &text, &size);

    if (err == ERR_OK)
        *sum = hash_bytes(text, size);
    mem_free(text);
    return err;
}

static enum err encode(const struct muster_model *model, char **text)
{
    struct digest sum;
    json_t *card;
    size_t size;
    char *made;
    enum err err = sum_of(model, &sum);

    if (err != ERR_OK)
        return err;
    card = model_card_for(model->card, NULL, &sum);
    size = json_dumpb(card, NULL, 0, JSON_COMPACT);
    made = size == 0 ? NULL : mem_new(size + 1, 1);
    if (made == NULL || json_dumpb(card, made, size, JSON_COMPACT) != size) {
        mem_free(made);
        err = ERR_NOMEM;
    } else {
        *text = made;
    }
    json_decref(card);
    return err;
}

enum muster_status muster_card(const struct muster_model *model, char **text,
                               char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    enum err err = ERR_OK;

    if (model == NULL || text == NULL) {
        err = why_set(&sentence, ERR_SHAPE,
                      "there is no model, or nowhere to put its card");
    } else {
        *text = NULL;
        if (model->card != NULL)
            err = encode(model, text);
    }
    return status_end(err, &sentence, why);
}

static enum err set_card(struct muster_model *model, const char *text,
                         struct why *why)
{
    struct digest sum;
    json_t *card;
    enum err err;

    if (model == NULL || model->own || text == NULL)
        return why_set(why, ERR_SHAPE,
                       "there is no model of muster_fit's, or no card");
    err = sum_of(model, &sum);
    if (err != ERR_OK)
        return err;
    card = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    if (!model_card_is(card, &sum)) {
        json_decref(card);
        return why_set(why, ERR_SHAPE,
                       "the text is no model card, or that of another model");
    }
    json_decref(model->card);
    model->card = card;
    return ERR_OK;
}

enum muster_status muster_set_card(struct muster_model *model, const char *text,
                                   char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    const enum err err = set_card(model, text, &sentence);

    return status_end(err, &sentence, why);
}
