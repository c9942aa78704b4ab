/*
 * naming.c - what a model's classes and columns are called, for programs that
 * know names which the rows they trained on did not carry.
 */
#include <math.h>
#include <string.h>

#include "api/handle.h"
#include "base/mem.h"

/* Of a model of arrays nothing may be known of columns yet. */
static enum err know_table(struct model_file *file, struct why *why)
{
    struct schema schema = {0};
    enum err err;

    if (file->encoder.kind == ENCODER_TABLE)
        return ERR_OK;
    if (file->encoder.kind == ENCODER_ROWS)
        return why_set(why, ERR_UNSUPPORTED,
                       "a model of sparse rows has numbers for classes and "
                       "columns, no words");
    err = schema_plain(&schema, file->features);
    return err == ERR_OK ? encoder_plain(&file->encoder, &schema) : err;
}

static enum err check(const struct muster_model *model, struct why *why)
{
    return model == NULL || model->own
               ? why_set(why, ERR_SHAPE, "there is no model of muster_fit's")
               : ERR_OK;
}

/* --- classes ---------------------------------------------------------------
 */

static enum err check_numbers(const double *number, uint32_t count,
                              struct why *why)
{
    for (uint32_t k = 0; k < count; k++)
        if (!isfinite(number[k]) || (k > 0 && !(number[k - 1] < number[k])))
            return why_set(why, ERR_SHAPE,
                           "classes are finite numbers that ascend; number %u "
                           "is %g",
                           k + 1, number[k]);
    return ERR_OK;
}

static enum err check_words(const char *const *word, uint32_t count,
                            struct why *why)
{
    for (uint32_t k = 1; k < count; k++)
        if (strcmp(word[k - 1], word[k]) >= 0)
            return why_set(why, ERR_SHAPE,
                           "words for classes ascend byte by byte; '%.60s' "
                           "comes after '%.60s'",
                           word[k], word[k - 1]);
    return ERR_OK;
}

static enum err take_words(struct model_file *file, const char *const *word,
                           struct why *why)
{
    struct frame_column *const classes = &file->encoder.classes;
    enum err err = check_words(word, file->classes, why);

    if (err == ERR_OK)
        err = know_table(file, why);
    if (err != ERR_OK)
        return err;
    classes->category = mem_new(file->classes, sizeof *classes->category);
    if (classes->category == NULL)
        return ERR_NOMEM;
    classes->categorical = true;
    for (uint32_t k = 0; k < file->classes; k++) {
        classes->category[k].text = mem_text(word[k]);
        if (classes->category[k].text == NULL)
            return ERR_NOMEM;
        classes->categories++; /* From here on freed with the model. */
        file->label[k] = (double)k;
    }
    return ERR_OK;
}

static enum err set_classes(struct muster_model *model, const double *number,
                            const char *const *word, uint32_t count,
                            struct why *why)
{
    struct model_file *file;
    enum err err = check(model, why);

    if (err != ERR_OK)
        return err;
    file = &model->file;
    if (count != file->classes || (number == NULL) == (word == NULL))
        return why_set(why, ERR_SHAPE,
                       "the model has %u classes: give as many numbers, or as "
                       "many words",
                       file->classes);
    if (file->encoder.classes.category != NULL)
        return why_set(why, ERR_SHAPE, "the model's classes are words already");
    if (word != NULL)
        return take_words(file, word, why);
    err = check_numbers(number, count, why);
    if (err == ERR_OK && count > 0)
        memcpy(file->label, number, count * sizeof *number);
    return err;
}

enum muster_status muster_set_classes(struct muster_model *model,
                                      const double *numbers,
                                      const char *const *words, uint32_t count,
                                      char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    const enum err err = set_classes(model, numbers, words, count, &sentence);

    return status_end(err, &sentence, why);
}

/* --- columns ---------------------------------------------------------------
 */

/* All of them or, without memory, none. */
static enum err take_names(struct schema *schema, const char *const *name)
{
    enum err err = ERR_OK;
    char **const made = mem_new(schema->features, sizeof *made);

    if (made == NULL)
        return ERR_NOMEM;
    for (uint32_t j = 0; err == ERR_OK && j < schema->features; j++) {
        made[j] = mem_text(name[schema->at[j]]);
        err = made[j] == NULL ? ERR_NOMEM : ERR_OK;
    }
    for (uint32_t j = 0; err != ERR_OK && j < schema->features; j++)
        mem_free(made[j]);
    if (err != ERR_OK)
        mem_free(made);
    else
        schema->name = made;
    return err;
}

/* The label's name; without one it was elsewhere. */
static enum err take_label(struct schema *schema, const char *label,
                           uint32_t count)
{
    char *const name = mem_text(label == NULL ? "" : label);

    if (name == NULL)
        return ERR_NOMEM;
    mem_free(schema->label_name);
    schema->label_name = name;
    schema->table = count + (label == NULL ? 0 : 1);
    schema->label = count;
    return ERR_OK;
}

static enum err set_columns(struct muster_model *model, const char *const *name,
                            uint32_t count, const char *label, struct why *why)
{
    struct schema *schema;
    enum err err = check(model, why);

    if (err == ERR_OK && name == NULL)
        err = why_set(why, ERR_SHAPE, "there are no names");
    if (err == ERR_OK)
        err = know_table(&model->file, why);
    if (err != ERR_OK)
        return err;
    schema = &model->file.encoder.schema;
    if (schema->name != NULL)
        return why_set(why, ERR_SHAPE,
                       "the model's columns have names "
                       "already");
    if (count == 0 || schema->features == 0 ||
        schema->at[schema->features - 1] >= count)
        return why_set(why, ERR_SHAPE,
                       "%u names, but the rows of the training had more "
                       "columns",
                       count);
    if (schema->label < count)
        return why_set(why, ERR_UNSUPPORTED,
                       "the label was one of the columns: name them in the "
                       "rows, not in the model");
    err = take_names(schema, name);
    return err == ERR_OK ? take_label(schema, label, count) : err;
}

enum muster_status muster_set_columns(struct muster_model *model,
                                      const char *const *names, uint32_t count,
                                      const char *label, char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    const enum err err = set_columns(model, names, count, label, &sentence);

    return status_end(err, &sentence, why);
}

const char *muster_column(const struct muster_model *model, uint32_t j)
{
    const struct schema *const schema =
        model != NULL ? &model->file.encoder.schema : NULL;

    return schema != NULL && schema->name != NULL && j < schema->features
               ? schema->name[j]
               : NULL;
}
