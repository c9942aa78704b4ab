/*
 * file.c - a writer and a reader for model files: those of linear models in
 * LIBLINEAR's format, with the encoder's text behind the weights.  The reader
 * trusts nothing: sizes are checked before memory is asked for.
 */
#include "model/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/plain.h"
#include "data/text/number.h"
#include "model/files/network.h"
#include "model/files/safetensors.h"
#include "model/net/neural_model.h"

enum { HEAD_BYTES = 512 };
#define MARK "muster" /* Before a kind that LIBLINEAR has no name for. */

/* The only solver with a vector for each of two classes. */
#define TWO_VECTORS "MCSVM_CS"

/* What weights of LIBLINEAR's solvers are here: a name is read as the first
 * kind it has, a kind written as its first name. */
static const struct {
    const char *name;
    enum model_kind kind;
} solvers[] = {
    {"L2R_LR", MODEL_LOGISTIC},
    {"L2R_LR_DUAL", MODEL_LOGISTIC},
    {"L1R_LR", MODEL_LOGISTIC},
    {"L2R_L2LOSS_SVC", MODEL_SVM},
    {"L2R_L2LOSS_SVC_DUAL", MODEL_SVM},
    {"L2R_L1LOSS_SVC_DUAL", MODEL_HINGE},
    {TWO_VECTORS, MODEL_SVM},
    {TWO_VECTORS, MODEL_SOFTMAX},
    {"L1R_L2LOSS_SVC", MODEL_SVM},
    {"L2R_L2LOSS_SVR", MODEL_LINEAR},
    {"L2R_L2LOSS_SVR_DUAL", MODEL_LINEAR},
    {"L2R_L1LOSS_SVR_DUAL", MODEL_LINEAR},
};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

static const char *solver_of(enum model_kind kind)
{
    size_t i = 0;

    while (i < SOLVERS && solvers[i].kind != kind)
        i++;
    CHECK(i < SOLVERS); /* Else it could be written and not read. */
    return solvers[i].name;
}

/* Would its solver's name be read as another kind? */
static bool needs_mark(enum model_kind kind)
{
    size_t i = 0;

    while (strcmp(solver_of(kind), solvers[i].name) != 0)
        i++;
    return solvers[i].kind != kind;
}

uint32_t model_file_weights(const struct model_file *model)
{
    return model->features + (model->intercept ? 1 : 0);
}

size_t model_file_numbers(const struct model_file *model)
{
    return model->net != NULL
               ? model->net->neural.parameters
               : (size_t)model->outputs * model_file_weights(model);
}

struct digest model_file_hash(const struct model_file *model)
{
    const size_t numbers = model_file_numbers(model);

    return model->net != NULL ? hash_f32(model->net->parameters, numbers)
                              : hash_f64(model->w, numbers);
}

void model_file_close(struct model_file *model)
{
    mem_free(model->label);
    mem_free(model->w);
    encoder_close(&model->encoder);
    if (model->net != NULL)
        neural_model_close(model->net);
    mem_free(model->net);
    *model = (struct model_file){0};
}

const char *model_file_word(const struct model_file *model, double label)
{
    const struct frame_column *const words = &model->encoder.classes;

    for (uint32_t k = 0; k < words->categories; k++) {
        if (label == (double)k)
            return words->category[k].text;
    }
    return NULL;
}

struct text {
    char *data;
    size_t capacity, size;
};

size_t model_number_text(double value, char text[MODEL_NUMBER_SIZE])
{
    const int count = snprintf(text, MODEL_NUMBER_SIZE, "%.17g", value);

    CHECK(count > 0 && count < MODEL_NUMBER_SIZE - 1);
    for (int i = 0; i < count; i++) {
        if (text[i] == ',')
            text[i] = '.';
    }
    return (size_t)count;
}

static void put_number(struct text *out, double value, char end)
{
    out->size += model_number_text(value, out->data + out->size);
    out->data[out->size++] = end;
    CHECK(out->size <= out->capacity);
}

static void put_labels(struct text *out, const struct model_file *model)
{
    const uint32_t last = model->classes - 1;

    if (model->classes == 0)
        return;
    out->size += (size_t)snprintf(out->data + out->size, 8, "label ");
    for (uint32_t k = 0; k <= last; k++)
        put_number(out, model->label[model->outputs == 1 ? last - k : k],
                   k == last ? '\n' : ' ');
}

static void put_head(struct text *out, const struct model_file *model)
{
    out->size += (size_t)snprintf(
        out->data, HEAD_BYTES / 4, "solver_type %s\nnr_class %u\n",
        model->outputs == 2 ? TWO_VECTORS : solver_of(model->kind),
        model->classes == 0 ? 2 : model->classes);
    put_labels(out, model);
    out->size += (size_t)snprintf(out->data + out->size, HEAD_BYTES / 4,
                                  "nr_feature %u\nbias %d\nw\n",
                                  model->features, model->intercept ? 1 : -1);
}

/* Rows of indices from 1, rounded, are what LIBLINEAR's own text is about. */
static bool has_encoder(const struct model_file *model)
{
    return model->encoder.kind == ENCODER_TABLE || model->encoder.from_zero ||
           model->encoder.wide || model->encoder.byte > 1;
}

static enum err encode_linear(const struct model_file *model, char **text,
                              size_t *size)
{
    const uint32_t count = model_file_weights(model);
    const size_t numbers = (size_t)count * model->outputs;
    struct text out = {0};
    char *encoder = NULL;
    size_t encoder_size = 0;

    CHECK(model->outputs > 0);
    CHECK(model->outputs == 1 || model->outputs == model->classes);
    for (size_t j = 0; j < numbers; j++) {
        if (!isfinite(model->w[j]))
            return ERR_RANGE;
    }
    if (has_encoder(model) &&
        encoder_to_text(&model->encoder, &encoder, &encoder_size) != ERR_OK)
        return ERR_NOMEM;
    out.capacity = HEAD_BYTES + (numbers + count) * MODEL_NUMBER_SIZE +
                   (size_t)model->classes * MODEL_NUMBER_SIZE + encoder_size;
    out.data = mem_new(out.capacity, 1);
    if (out.data == NULL) {
        mem_free(encoder);
        return ERR_NOMEM;
    }
    put_head(&out, model);
    for (uint32_t j = 0; j < count; j++) {
        for (uint32_t k = 0; k < model->outputs; k++)
            put_number(&out, model->w[(size_t)k * count + j], ' ');
        out.data[out.size++] = '\n';
    }
    if (needs_mark(model->kind))
        out.size +=
            (size_t)snprintf(out.data + out.size, HEAD_BYTES / 4, MARK " %s\n",
                             model_ops(model->kind)->name);
    if (encoder != NULL)
        memcpy(out.data + out.size, encoder, encoder_size);
    out.size += encoder_size;
    CHECK(out.size <= out.capacity);
    mem_free(encoder);
    *text = out.data;
    *size = out.size;
    return ERR_OK;
}

enum err model_file_encode(const struct model_file *model, char **text,
                           size_t *size)
{
    return model->net != NULL ? network_file_encode(model, text, size)
                              : encode_linear(model, text, size);
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
    return word.at != NULL && word.size == strlen(text) &&
           memcmp(word.at, text, word.size) == 0;
}

/* The word, printable and short, for messages. */
struct shown {
    char text[36];
};

static struct shown show(struct word word)
{
    struct shown shown = {{0}};

    (void)plain_copy(shown.text, sizeof shown.text, word.at, word.size);
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

/* The header's fields, before they are judged together. */
struct head {
    struct word solver; /* Of size 0 if there is none. */
    bool each;          /* A vector for each class even if there are but two. */
    double classes, features, bias;
};

static enum err read_solver(struct words *in, struct model_file *model,
                            struct head *head, struct why *why)
{
    const struct word word = next_word(in);

    head->solver = word;
    head->each = word_is(word, TWO_VECTORS);
    for (size_t i = 0; i < SOLVERS; i++) {
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

static bool whole_within(double value, double low, double high)
{
    return value >= low && value <= high && value == floor(value);
}

const double *model_label_twice(const double *label, uint32_t count)
{
    for (uint32_t k = 1; k < count; k++) {
        for (uint32_t before = 0; before < k; before++)
            if (label[k] == label[before])
                return &label[k];
    }
    return NULL;
}

static enum err check_labels(const double *label, uint32_t count, uint32_t line,
                             struct why *why)
{
    const double *const twice = model_label_twice(label, count);

    return twice == NULL
               ? ERR_OK
               : why_set(why, ERR_FORMAT, "line %u: label %.17g is there twice",
                         line, *twice);
}

static enum err read_labels(struct words *in, uint32_t line,
                            struct model_file *model, const struct head *head,
                            struct why *why)
{
    enum err err = ERR_OK;
    uint32_t count;

    if (!whole_within(head->classes, 2, MODEL_CLASSES_MAX))
        return ERR_OK; /* Judged by check_head. */
    count = (uint32_t)head->classes;
    if (model->label != NULL)
        return why_set(why, ERR_FORMAT, "line %u: a second label line", line);
    model->label = mem_new(count, sizeof *model->label);
    if (model->label == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    model->classes = count;
    for (uint32_t k = 0; k < count && err == ERR_OK; k++)
        err = read_number(in, "label", &model->label[k], why);
    return err == ERR_OK ? check_labels(model->label, count, line, why) : err;
}

static enum err read_field(struct words *in, struct word key,
                           struct model_file *model, struct head *head,
                           struct why *why)
{
    if (word_is(key, "solver_type"))
        return read_solver(in, model, head, why);
    if (word_is(key, "nr_class"))
        return read_number(in, "nr_class", &head->classes, why);
    if (word_is(key, "nr_feature"))
        return read_number(in, "nr_feature", &head->features, why);
    if (word_is(key, "bias"))
        return read_number(in, "bias", &head->bias, why);
    if (word_is(key, "label"))
        return read_labels(in, key.line, model, head, why);
    return why_set(why, ERR_FORMAT,
                   "line %u: '%s' is not a field of a LIBLINEAR model",
                   key.line, show(key).text);
}

/* LIBLINEAR's order for two classes is that of the scores, ours the other. */
static void settle_classes(const struct head *head, struct model_file *model)
{
    const bool one = model->classes == 2 && !head->each;

    model->outputs =
        model_ops(model->kind)->regression || one ? 1 : model->classes;
    if (one) {
        const double first = model->label[0];

        model->label[0] = model->label[1];
        model->label[1] = first;
    }
}

static enum err check_head(const struct head *head, struct model_file *model,
                           struct why *why)
{
    if (head->solver.size == 0)
        return why_set(why, ERR_FORMAT,
                       "no solver_type; this is not a LIBLINEAR model");
    if (!whole_within(head->classes, 2, MODEL_CLASSES_MAX))
        return why_set(why, ERR_UNSUPPORTED,
                       "nr_class %.17g before the labels; expected 2 to %u",
                       head->classes, MODEL_CLASSES_MAX);
    if (model_ops(model->kind)->regression && model->label != NULL)
        return why_set(why, ERR_FORMAT, "a label line in a regression model");
    if (model->label == NULL && !model_ops(model->kind)->regression)
        return why_set(why, ERR_FORMAT, "no label line before w");
    /* A second nr_class after the labels would promise more of them. */
    if (model->label != NULL && head->classes != (double)model->classes)
        return why_set(why, ERR_FORMAT, "two values of nr_class");
    if (!whole_within(head->features, 1, DATA_COLS_MAX))
        return why_set(why, ERR_FORMAT, "nr_feature %.17g; expected 1 to %u",
                       head->features, DATA_COLS_MAX);
    model->features = (uint32_t)head->features;
    model->intercept = head->bias >= 0;
    settle_classes(head, model);
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
        if (word_is(key, "label") && model->label == NULL)
            return check_head(head, model, why);
    }
}

static enum err read_vectors(struct words *in, const struct model_file *model,
                             struct why *why)
{
    const uint32_t count = model_file_weights(model);

    for (uint32_t j = 0; j < count; j++) {
        for (uint32_t k = 0; k < model->outputs; k++) {
            char what[32];
            enum err err;

            (void)snprintf(what, sizeof what, "weight %u", j + 1);
            err = read_number(in, what, &model->w[(size_t)k * count + j], why);
            if (err != ERR_OK)
                return err;
        }
    }
    return ERR_OK;
}

/* Our column is of ones, LIBLINEAR's of `bias`. */
static enum err scale_bias(const struct model_file *model, double bias,
                           struct why *why)
{
    const uint32_t count = model_file_weights(model);

    for (uint32_t k = 0; k < model->outputs && model->intercept; k++) {
        double *const w = &model->w[(size_t)k * count + count - 1];

        *w *= bias;
        if (!isfinite(*w))
            return why_set(why, ERR_RANGE, "the bias weight overflows");
    }
    return ERR_OK;
}

/* What follows the weights: nothing, or what kind it is. */
static struct word read_mark(struct words *in, const struct head *head,
                             struct model_file *model)
{
    const struct word first = next_word(in);
    enum model_kind kind;
    struct word second;

    if (!word_is(first, MARK))
        return first;
    second = next_word(in);
    if (model_parse(show(second).text, &kind) != ERR_OK || !needs_mark(kind))
        return second.size > 0 ? second : first;
    if (!word_is(head->solver, solver_of(kind)))
        return first;
    model->kind = kind;
    return next_word(in);
}

static enum err read_weights(struct words *in, struct model_file *model,
                             const struct head *head, struct why *why)
{
    const uint32_t count = model_file_weights(model);
    const size_t numbers = (size_t)count * model->outputs;
    struct word rest;
    enum err err;

    /* Each weight takes a digit and a blank: a lying header cannot make us
     * allocate much more than the file is long. */
    if (numbers > (size_t)(in->end - in->at))
        return why_set(why, ERR_TRUNCATED,
                       "ends before weight %u; the model file is incomplete",
                       count);
    model->w = mem_new(numbers, sizeof *model->w);
    if (model->w == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    err = read_vectors(in, model, why);
    if (err != ERR_OK)
        return err;
    rest = read_mark(in, head, model);
    if (rest.size != 0)
        return why_set(why, ERR_FORMAT,
                       "line %u: '%s' after the last of %u weights", rest.line,
                       show(rest).text, count);
    return scale_bias(model, head->bias, why);
}

/* Where the line with which the encoder begins is; `size` if there is none. */
static size_t find_encoder(const char *text, size_t size)
{
    static const char first[] = "muster encoder ";
    size_t at = 0;

    while (at + sizeof first - 1 <= size) {
        const char *feed;

        if (memcmp(text + at, first, sizeof first - 1) == 0)
            return at;
        feed = memchr(text + at, '\n', size - at);
        if (feed == NULL)
            break;
        at = (size_t)(feed - text) + 1;
    }
    return size;
}

static enum err read_encoder(const char *text, size_t size,
                             struct model_file *model, struct why *why)
{
    enum err err;

    if (size == 0)
        return ERR_OK;
    err = encoder_from_text(&model->encoder, text, size, why);
    if (err == ERR_OK && model->encoder.kind == ENCODER_TABLE &&
        model->encoder.cols != model->features)
        err = why_set(why, ERR_FORMAT, "%u columns, the model has %u features",
                      model->encoder.cols, model->features);
    return err == ERR_OK ? err : why_in(why, err, "the model's encoder");
}

enum err model_file_decode(struct model_file *model, const char *text,
                           size_t size, struct why *why)
{
    const size_t end = find_encoder(text, size);
    struct words in = {.at = text, .end = text + end, .line = 1};
    struct model_file made = {0};
    struct head head = {.bias = -1};
    enum err err;

    if (safetensors_begins(text, size))
        return network_file_decode(model, text, size, why);
    err = read_head(&in, &made, &head, why);
    if (err == ERR_OK)
        err = read_weights(&in, &made, &head, why);
    if (err == ERR_OK)
        err = read_encoder(text + end, size - end, &made, why);
    if (err != ERR_OK) {
        model_file_close(&made);
        return err;
    }
    *model = made;
    return ERR_OK;
}
