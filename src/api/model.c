/*
 * model.c - what a model is asked for, and models as text.
 */
#include <stdio.h>
#include <string.h>

#include "api/handle.h"
#include "base/mem.h"
#include "learn/card/model_card.h"
#include "learn/save.h"
#include "model/net/neural_model.h"
#include "os/file/output.h"

static void describe(const struct muster_model *model, struct muster_info *info)
{
    const struct model_file *const file = &model->file;

    *info = (struct muster_info){
        .kind = model->own ? "" : model_ops(file->kind)->name,
        .features = file->features,
        .outputs = model->own ? 1 : file->outputs,
        .classes = file->classes,
        .intercept = file->intercept,
        .dims = model->dims,
        .steps = model->steps,
        .evaluations = model->evaluations,
        .objective = model->objective,
        .gradient_norm = model->gradient_norm,
        .seconds = model->seconds,
        .converged = model->converged,
        .signal = model->signal,
        .hash = model->hash,
        .ended = model->ended,
        .warning = model->warning,
    };
}

enum muster_status muster_about(const struct muster_model *model,
                                struct muster_info *info, char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    struct muster_info made;
    enum err err = ERR_OK;

    if (model == NULL) {
        err = why_set(&sentence, ERR_SHAPE, "there is no model");
    } else {
        describe(model, &made);
        err =
            struct_give(info, sizeof info->size, sizeof made, &made, &sentence);
    }
    return status_end(err, &sentence, why);
}

const char *muster_hash(const struct muster_model *model)
{
    return model != NULL ? model->hash : "";
}

const double *muster_weights(const struct muster_model *model)
{
    return model != NULL ? model->file.w : NULL;
}

const char *muster_layers(const struct muster_model *model)
{
    return model != NULL && model->file.net != NULL ? model->file.net->text
                                                    : NULL;
}

const float *muster_parameters(const struct muster_model *model)
{
    return model != NULL && model->file.net != NULL
               ? model->file.net->parameters
               : NULL;
}

void muster_shape(const struct muster_model *model, uint32_t shape[3])
{
    const struct neural_shape in = model != NULL && model->file.net != NULL
                                       ? model->file.net->neural.in
                                       : (struct neural_shape){0, 0, 0};

    shape[0] = in.height;
    shape[1] = in.width;
    shape[2] = in.channels;
}

const double *muster_classes(const struct muster_model *model)
{
    return model != NULL && model->file.classes > 0 ? model->file.label : NULL;
}

const char *muster_word(const struct muster_model *model, uint32_t k)
{
    return model != NULL && k < model->file.classes
               ? model_file_word(&model->file, model->file.label[k])
               : NULL;
}

void muster_free(struct muster_model *model)
{
    if (model == NULL)
        return;
    model_file_close(&model->file);
    json_decref(model->card);
    mem_free(model);
}

/* --- text ------------------------------------------------------------------
 */

static enum err encode(const struct muster_model *model, char **text,
                       size_t *size, struct why *why)
{
    enum err err;

    if (model == NULL || text == NULL || size == NULL)
        return why_set(why, ERR_SHAPE,
                       "there is no model, or nowhere to put "
                       "its text");
    if (model->own)
        return why_set(why, ERR_UNSUPPORTED,
                       "the weights of a function of yours are yours to "
                       "write");
    err = model_file_encode(&model->file, text, size);
    return err == ERR_RANGE
               ? why_set(why, err, "a weight of the model is not finite")
               : err;
}

enum muster_status muster_write(const struct muster_model *model, char **text,
                                size_t *size, char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    const enum err err = encode(model, text, size, &sentence);

    return status_end(err, &sentence, why);
}

void muster_text_free(char *text)
{
    mem_free(text);
}

/* The model is saved, with a card or without: a sentence says so. */
static void save_card(const struct muster_model *model, const char *path,
                      const struct digest *sum, struct why *remark)
{
    if (model_card_save(model->card, path, sum, remark) == ERR_OK)
        remark->text[0] = '\0';
    else
        (void)why_in(remark, ERR_IO,
                     "the model is saved, but a card beside it is not");
}

static enum err save(const struct muster_model *model, const char *path,
                     struct why *remark, struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    enum err err =
        path == NULL
            ? why_set(why, ERR_SHAPE, "there is no name of a file")
            : save_check_name(path, model != NULL && model->file.net != NULL,
                              "", why);

    if (err == ERR_OK)
        err = encode(model, &text, &size, why);
    if (err == ERR_OK && save_destroys(path))
        err = why_set(why, ERR_EXISTS,
                      "%.200s is there and is no model; the model would be "
                      "written over it: name another file, or remove it",
                      path);
    if (err == ERR_OK)
        err = output_save(path, text, size, why);
    if (err == ERR_OK && model != NULL) {
        const struct digest sum = hash_bytes(text, size);

        save_card(model, path, &sum, remark);
    }
    mem_free(text);
    return err;
}

enum muster_status muster_save(const struct muster_model *model,
                               const char *path, char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}}, remark = {{0}};
    const enum err err = save(model, path, &remark, &sentence);
    const enum muster_status status = status_end(err, &sentence, why);

    if (status == MUSTER_OK && why != NULL)
        (void)snprintf(why, MUSTER_WHY_SIZE, "%s", remark.text);
    return status;
}

void model_name(struct muster_model *model)
{
    const struct digest digest =
        model->own ? hash_f64(model->file.w, (size_t)model->dims)
                   : model_file_hash(&model->file);

    (void)digest_text(&digest, model->hash);
}

/* A model that was read: what is known of it but the training. */
static enum muster_status give(enum err err, struct muster_model *made,
                               struct muster_model **model,
                               const struct why *sentence, char *why)
{
    if (err != ERR_OK) {
        muster_free(made);
        return status_of_data(err, sentence, why);
    }
    made->dims = model_file_numbers(&made->file);
    model_name(made);
    *model = made;
    return status_end(ERR_OK, sentence, why);
}

enum muster_status muster_load(const char *path, struct muster_model **model,
                               char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    struct muster_model *made;
    enum err err;

    if (path == NULL || model == NULL)
        return status_end(why_set(&sentence, ERR_SHAPE,
                                  "there is no name of a file, or nowhere to "
                                  "put the model"),
                          &sentence, why);
    made = mem_new(1, sizeof *made);
    err = made == NULL ? ERR_NOMEM : model_load(path, &made->file, &sentence);
    return give(err, made, model, &sentence, why);
}

enum muster_status muster_read(const char *text, size_t size,
                               struct muster_model **model, char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    struct muster_model *made;
    enum err err;

    if (text == NULL || model == NULL)
        return status_end(why_set(&sentence, ERR_SHAPE,
                                  "there is no text, or nowhere to put the "
                                  "model"),
                          &sentence, why);
    made = mem_new(1, sizeof *made);
    err = made == NULL ? ERR_NOMEM
                       : model_file_decode(&made->file, text, size, &sentence);
    return give(err, made, model, &sentence, why);
}
