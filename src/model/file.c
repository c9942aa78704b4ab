#include "model/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/number.h"

enum { HEAD_BYTES = 512, WEIGHT_BYTES = 32 };

uint32_t model_file_weights(const struct model_file *model)
{
    return model->features + (model->intercept ? 1 : 0);
}

void model_file_close(struct model_file *model)
{
    mem_free(model->w);
    *model = (struct model_file){0};
}

static const char *solver_of(enum model_kind kind)
{
    switch (kind) {
    case MODEL_LINEAR:
        return "L2R_L2LOSS_SVR";
    case MODEL_LOGISTIC:
        return "L2R_LR";
    case MODEL_SVM:
        break;
    }
    return "L2R_L2LOSS_SVC";
}

struct text {
    char *data;
    size_t capacity, size;
};

/* %.17g, with a point whatever the locale. */
static void put_number(struct text *out, double value, char end)
{
    char *const first = out->data + out->size;
    const int count = snprintf(first, WEIGHT_BYTES, "%.17g", value);

    CHECK(count > 0 && count < WEIGHT_BYTES - 1);
    for (int i = 0; i < count; i++) {
        if (first[i] == ',')
            first[i] = '.';
    }
    first[count] = end;
    out->size += (size_t)count + 1;
    CHECK(out->size <= out->capacity);
}

static void put_head(struct text *out, const struct model_file *model)
{
    out->size += (size_t)snprintf(out->data, HEAD_BYTES / 4,
                                  "solver_type %s\nnr_class 2\n",
                                  solver_of(model->kind));
    if (model->kind != MODEL_LINEAR) {
        out->size += (size_t)snprintf(out->data + out->size, 8, "label ");
        put_number(out, model->label[1], ' ');
        put_number(out, model->label[0], '\n');
    }
    out->size += (size_t)snprintf(out->data + out->size, HEAD_BYTES / 4,
                                  "nr_feature %u\nbias %d\nw\n",
                                  model->features, model->intercept ? 1 : -1);
}

enum err model_file_encode(const struct model_file *model, char **text,
                           size_t *size)
{
    const uint32_t count = model_file_weights(model);
    struct text out = {0};

    for (uint32_t j = 0; j < count; j++) {
        if (!isfinite(model->w[j]))
            return ERR_RANGE;
    }
    out.capacity = HEAD_BYTES + (size_t)count * WEIGHT_BYTES;
    out.data = mem_new(out.capacity, 1);
    if (out.data == NULL)
        return ERR_NOMEM;
    put_head(&out, model);
    for (uint32_t j = 0; j < count; j++) {
        put_number(&out, model->w[j], ' ');
        out.data[out.size++] = '\n';
    }
    *text = out.data;
    *size = out.size;
    return ERR_OK;
}

/* LIBLINEAR reads with fscanf: words, wherever the lines break. */
struct words {
    const char *at, *end;
    uint32_t line;
};

struct word {
    const char *at;
    size_t size;
    uint32_t line;
};

static struct word next_word(struct words *in)
{
    struct word word;

    while (in->at < in->end && strchr(" \t\r\n", *in->at) != NULL &&
           *in->at != '\0') {
        in->line += *in->at == '\n';
        in->at++;
    }
    word = (struct word){in->at, 0, in->line};
    while (in->at < in->end && strchr(" \t\r\n", *in->at) == NULL)
        in->at++;
    word.size = (size_t)(in->at - word.at);
    if (word.size == 0 && in->at < in->end)
        word.size = 1; /* A NUL byte: no word, but not the end either. */
    return word;
}

static bool word_is(struct word word, const char *text)
{
    return word.size == strlen(text) && memcmp(word.at, text, word.size) == 0;
}

/* The word, printable and short, for messages. */
struct shown {
    char text[36];
};

static struct shown show(struct word word)
{
    struct shown shown = {{0}};

    for (size_t i = 0; i < word.size && i < sizeof shown.text - 1; i++)
        shown.text[i] = word.at[i] < ' ' || word.at[i] > '~' ? '?' : word.at[i];
    return shown;
}

static enum err read_number(struct words *in, const char *what, double *value,
                            struct why *why)
{
    const struct word word = next_word(in);

    if (word.size == 0)
        return why_set(why, ERR_TRUNCATED,
                       "ends before %s; the model file is incomplete", what);
    if (number_parse(word.at, word.size, value) != NUMBER_OK)
        return why_set(why, ERR_FORMAT,
                       "line %u: %s '%s' is not a finite number", word.line,
                       what, show(word).text);
    return ERR_OK;
}

static const struct {
    const char *name;
    enum model_kind kind;
} solvers[] = {
    {"L2R_LR", MODEL_LOGISTIC},
    {"L2R_LR_DUAL", MODEL_LOGISTIC},
    {"L1R_LR", MODEL_LOGISTIC},
    {"L2R_L2LOSS_SVC", MODEL_SVM},
    {"L2R_L2LOSS_SVC_DUAL", MODEL_SVM},
    {"L2R_L1LOSS_SVC_DUAL", MODEL_SVM},
    {"L1R_L2LOSS_SVC", MODEL_SVM},
    {"L2R_L2LOSS_SVR", MODEL_LINEAR},
    {"L2R_L2LOSS_SVR_DUAL", MODEL_LINEAR},
    {"L2R_L1LOSS_SVR_DUAL", MODEL_LINEAR},
};

static enum err read_solver(struct words *in, struct model_file *model,
                            struct why *why)
{
    const struct word word = next_word(in);

    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) {
        if (word_is(word, solvers[i].name)) {
            model->kind = solvers[i].kind;
            return ERR_OK;
        }
    }
    return why_set(why, ERR_UNSUPPORTED,
                   "line %u: solver_type '%s' is not supported; logistic "
                   "regression, SVC and SVR models are",
                   word.line, show(word).text);
}

/* The header's fields, before they are judged together. */
struct head {
    bool solver, label;
    double classes, features, bias;
};

static enum err read_field(struct words *in, struct word key,
                           struct model_file *model, struct head *head,
                           struct why *why)
{
    enum err err;

    if (word_is(key, "solver_type")) {
        head->solver = true;
        return read_solver(in, model, why);
    }
    if (word_is(key, "nr_class"))
        return read_number(in, "nr_class", &head->classes, why);
    if (word_is(key, "nr_feature"))
        return read_number(in, "nr_feature", &head->features, why);
    if (word_is(key, "bias"))
        return read_number(in, "bias", &head->bias, why);
    if (word_is(key, "label") && head->classes == 2) {
        head->label = true;
        err = read_number(in, "label", &model->label[1], why);
        return err != ERR_OK ? err
                             : read_number(in, "label", &model->label[0], why);
    }
    if (word_is(key, "label"))
        return ERR_OK; /* Judged by check_head, which knows nr_class. */
    return why_set(why, ERR_FORMAT,
                   "line %u: '%s' is not a field of a LIBLINEAR model",
                   key.line, show(key).text);
}

static enum err check_head(const struct head *head, struct model_file *model,
                           struct why *why)
{
    if (!head->solver)
        return why_set(why, ERR_FORMAT,
                       "no solver_type; this is not a LIBLINEAR model");
    if (head->classes != 2)
        return why_set(why, ERR_UNSUPPORTED,
                       "nr_class %.17g; only models of two classes or of "
                       "regression are supported",
                       head->classes);
    if (!head->label && model->kind != MODEL_LINEAR)
        return why_set(why, ERR_FORMAT, "no label line before w");
    if (!(head->features >= 1 && head->features <= DATA_COLS_MAX) ||
        head->features != floor(head->features))
        return why_set(why, ERR_FORMAT, "nr_feature %.17g; expected 1 to %u",
                       head->features, DATA_COLS_MAX);
    model->features = (uint32_t)head->features;
    model->intercept = head->bias >= 0;
    return ERR_OK;
}

static enum err read_head(struct words *in, struct model_file *model,
                          struct head *head, struct why *why)
{
    for (;;) {
        const struct word key = next_word(in);
        enum err err;

        if (key.size == 0)
            return why_set(why, ERR_TRUNCATED,
                           "ends before w; the model file is incomplete");
        if (word_is(key, "w"))
            return check_head(head, model, why);
        err = read_field(in, key, model, head, why);
        if (err != ERR_OK)
            return err;
        if (word_is(key, "label") && !head->label)
            return check_head(head, model, why);
    }
}

static enum err read_weights(struct words *in, struct model_file *model,
                             double bias, struct why *why)
{
    const uint32_t count = model_file_weights(model);
    struct word rest;

    /* Each weight takes a digit and a blank: a lying header cannot make us
     * allocate much more than the file is long. */
    if (count > (size_t)(in->end - in->at))
        return why_set(why, ERR_TRUNCATED,
                       "ends before weight %u; the model file is incomplete",
                       count);
    model->w = mem_new(count, sizeof *model->w);
    if (model->w == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    for (uint32_t j = 0; j < count; j++) {
        char what[32];
        enum err err;

        (void)snprintf(what, sizeof what, "weight %u", j + 1);
        err = read_number(in, what, &model->w[j], why);
        if (err != ERR_OK)
            return err;
    }
    rest = next_word(in);
    if (rest.size != 0)
        return why_set(why, ERR_FORMAT,
                       "line %u: '%s' after the last of %u weights", rest.line,
                       show(rest).text, count);
    /* Our column is of ones, LIBLINEAR's of `bias`. */
    if (model->intercept)
        model->w[model->features] *= bias;
    if (model->intercept && !isfinite(model->w[model->features]))
        return why_set(why, ERR_RANGE, "the bias weight overflows");
    return ERR_OK;
}

enum err model_file_decode(struct model_file *model, const char *text,
                           size_t size, struct why *why)
{
    struct words in = {.at = text, .end = text + size, .line = 1};
    struct model_file made = {0};
    struct head head = {.bias = -1};
    enum err err = read_head(&in, &made, &head, why);

    if (err == ERR_OK)
        err = read_weights(&in, &made, head.bias, why);
    if (err != ERR_OK) {
        model_file_close(&made);
        return err;
    }
    *model = made;
    return ERR_OK;
}
