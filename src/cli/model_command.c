/*
 * model_command.c - `muster model`: what is in a model file, and other forms of
 * it; what a network would be.
 *
 *     .npy           <f8, shape (features) or (classes, features); of a network
 *                    <f4, all parameters one after the other, as torch's
 *                    parameters_to_vector has them
 *     .safetensors   one tensor "weight", the rest as metadata; a network's own
 *                    form
 *     .csv           feature,weight: features by name, if the training table
 *                    had names, else counted as there; "intercept" last
 *     .txt, .model   LIBLINEAR's text; so is a name without an ending
 *
 * The intercept, if any, is the last weight of each vector.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/plain.h"
#include "cli/cli.h"
#include "cli/pages/page.h"
#include "cli/show/model_card.h"
#include "cli/show/net_show.h"
#include "data/rows/image.h"
#include "data/rows/labels.h"
#include "data/span.h"
#include "learn/card/json.h"
#include "learn/classes.h"
#include "learn/network_text.h"
#include "learn/save.h"
#include "model/files/safetensors.h"
#include "model/net/neural_model.h"
#include "os/file/file.h"
#include "os/file/output.h"

#define LARGEST      5u /* Weights shown. */
#define SHOWN_SIZE   1024u
#define CHUNK_IMAGES 16u /* As training has them unless told otherwise. */

static json_t *labels_json(const struct model_file *model)
{
    json_t *labels = json_array();

    for (uint32_t k = 0; k < model->classes; k++) {
        const char *word = model_file_word(model, model->label[k]);

        (void)json_array_append_new(labels, word != NULL
                                                ? json_string(word)
                                                : json_real(model->label[k]));
    }
    return labels;
}

/* What the encoder makes of tables. */
struct made_of {
    uint32_t numbers, scaled, filled, categorical, categories, pairs;
};

static struct made_of count_encoder(const struct encoder *encoder)
{
    struct made_of counts = {0};

    for (uint32_t j = 0; j < encoder->columns; j++) {
        const struct encoded_column *const column = &encoder->column[j];

        counts.categorical += column->categorical;
        counts.categories += column->known.categories;
        counts.numbers += !column->categorical;
        counts.scaled += !column->categorical &&
                         (column->offset != 0 || column->factor != 1);
        counts.filled += column->gap != GAP_REFUSE;
    }
    for (uint32_t p = 0; p < encoder->pairs; p++)
        counts.pairs += encoder->pair[p].count;
    return counts;
}

/* The label's column: its name, or its number. */
static const char *label_name(const struct schema *schema, char number[24])
{
    if (schema->label >= schema->table)
        return "labels of their own";
    if (schema->label_name[0] != '\0')
        return schema->label_name;
    (void)snprintf(number, 24, "column %u", schema->label + 1);
    return number;
}

/* A word of the model for the terminal: the file may be anybody's. */
static const char *clean(const char *word, char shown[SHOWN_SIZE])
{
    (void)plain_copy(shown, SHOWN_SIZE, word, strlen(word));
    return shown;
}

static void show_encoder(const struct encoder *encoder)
{
    const struct made_of counts = count_encoder(encoder);
    char number[24], shown[SHOWN_SIZE];

    if (encoder->kind == ENCODER_ROWS) {
        (void)printf("rows       indices and values, from %d\n",
                     encoder->from_zero ? 0 : 1);
        return;
    }
    (void)printf("table      %u column%s beside %s: %u of numbers (%u scaled), "
                 "%u of words (%u in all), %u filled where nothing is, %u "
                 "pairs of words\n",
                 encoder->columns, encoder->columns == 1 ? "" : "s",
                 clean(label_name(&encoder->schema, number), shown),
                 counts.numbers, counts.scaled, counts.categorical,
                 counts.categories, counts.filled, counts.pairs);
}

static json_t *names_json(const struct schema *schema)
{
    json_t *names;

    if (schema->name == NULL)
        return json_null();
    names = json_array();
    for (uint32_t j = 0; j < schema->features; j++)
        (void)json_array_append_new(names, json_string(schema->name[j]));
    return names;
}

static json_t *encoder_json(const struct encoder *encoder)
{
    const struct made_of counts = count_encoder(encoder);
    char number[24];

    if (encoder->kind == ENCODER_ROWS)
        return json_pack("{s:i}", "first_index", encoder->from_zero ? 0 : 1);
    if (encoder->kind == ENCODER_NONE)
        return json_null();
    return json_pack(
        "{s:I, s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I}", "columns",
        (json_int_t)encoder->columns, "label",
        label_name(&encoder->schema, number), "names",
        names_json(&encoder->schema), "categorical",
        (json_int_t)counts.categorical, "categories",
        (json_int_t)counts.categories, "numbers", (json_int_t)counts.numbers,
        "scaled", (json_int_t)counts.scaled, "filled",
        (json_int_t)counts.filled, "pairs", (json_int_t)counts.pairs);
}

struct summary {
    size_t nonzero;
    double norm;
    size_t largest[LARGEST]; /* Of the first vector, by size. */
    uint32_t count;
};

/* Insert where it belongs among the largest, if it does. */
static void note_large(struct summary *summary, const double *w, size_t index)
{
    uint32_t at = summary->count;

    while (at > 0 && fabs(w[summary->largest[at - 1]]) < fabs(w[index]))
        at--;
    if (at == LARGEST)
        return;
    if (summary->count < LARGEST)
        summary->count++;
    memmove(summary->largest + at + 1, summary->largest + at,
            (summary->count - 1 - at) * sizeof *summary->largest);
    summary->largest[at] = index;
}

static struct summary summarise(const struct model_file *model)
{
    const size_t numbers = model_file_numbers(model);
    struct summary summary = {0};
    double squares = 0;

    CHECK(model->w != NULL);
    for (size_t j = 0; j < numbers; j++) {
        summary.nonzero += model->w[j] != 0;
        squares += model->w[j] * model->w[j];
        if (j < model->features && model->w[j] != 0)
            note_large(&summary, model->w, j);
    }
    summary.norm = sqrt(squares);
    return summary;
}

static void show_labels(const struct model_file *model)
{
    char shown[SHOWN_SIZE], number[LABEL_TEXT_SIZE];

    if (model->classes == 0)
        return;
    (void)printf("labels    ");
    for (uint32_t k = 0; k < model->classes; k++) {
        const char *word = model_file_word(model, model->label[k]);

        if (word != NULL)
            (void)printf(" %s%s%s", class_mark(word), clean(word, shown),
                         class_mark(word));
        else
            (void)printf(" %s", label_write(model->label[k], number));
    }
    (void)printf("\n");
}

static void show_linear(const struct model_file *model)
{
    const struct summary summary = summarise(model);

    CHECK(model->w != NULL);
    (void)printf("kind       %s\n", model_ops(model->kind)->name);
    show_labels(model);
    (void)printf("features   %u\n", model->features);
    if (model->intercept && model->outputs == 1)
        (void)printf("intercept  %.17g\n", model->w[model->features]);
    (void)printf("weights    %zu of %zu not zero, |w| %.6g\n", summary.nonzero,
                 model_file_numbers(model), summary.norm);
    if (model->encoder.kind != ENCODER_NONE)
        show_encoder(&model->encoder);
    if (model->outputs > 1 || summary.count == 0)
        return;
    (void)printf("largest   ");
    for (uint32_t i = 0; i < summary.count; i++) {
        char name[SHOWN_SIZE];

        encoder_name(&model->encoder, (uint32_t)summary.largest[i], name,
                     sizeof name);
        (void)printf("%s %s: %.4g", i == 0 ? "" : ",", quote_text(name).text,
                     model->w[summary.largest[i]]);
    }
    (void)printf("\n");
}

static json_t *linear_json(const struct model_file *model)
{
    const struct summary summary = summarise(model);

    return json_pack("{s:s, s:o, s:I, s:b, s:I, s:I, s:f, s:o}", "kind",
                     model_ops(model->kind)->name, "labels", labels_json(model),
                     "features", (json_int_t)model->features, "intercept",
                     (int)model->intercept, "vectors",
                     (json_int_t)model->outputs, "nonzero",
                     (json_int_t)summary.nonzero, "norm", summary.norm,
                     "encoder", encoder_json(&model->encoder));
}

/* A network from a file, of which more is known than its net. */
static void show_network(const struct model_file *model)
{
    const struct neural_units *const units = &model->net->units;
    const struct digest hash = model_file_hash(model);
    char text[DIGEST_TEXT];

    (void)printf("kind       network, %s\n",
                 model->classes > 0 ? "softmax" : "squared");
    show_labels(model);
    if (units->divisor != 1)
        (void)printf("values     divided by %.17g\n", units->divisor);
    if (model->classes == 0)
        (void)printf("answers    %.17g and %.17g times the output\n",
                     units->mean, units->spread);
    if (model->encoder.kind != ENCODER_NONE)
        show_encoder(&model->encoder);
    (void)printf("hash       %s\n", digest_text(&hash, text));
}

static void add_network(const struct model_file *model, json_t *object)
{
    const struct neural_units *const units = &model->net->units;
    const struct digest hash = model_file_hash(model);
    char text[DIGEST_TEXT];

    (void)json_object_update_new(
        object,
        json_pack("{s:s, s:s, s:o, s:f, s:f, s:f, s:o, s:s}", "kind", "network",
                  "loss", model->classes > 0 ? "softmax" : "squared", "labels",
                  labels_json(model), "divisor", units->divisor, "mean",
                  units->mean, "spread", units->spread, "encoder",
                  encoder_json(&model->encoder), "hash",
                  digest_text(&hash, text)));
}

/* Of a text there is no model yet (kind MODEL_LINEAR, no classes, no
 * parameters). */
static enum err show_net(const struct cli *cli, const struct model_file *model,
                         json_t **object, struct why *why)
{
    const struct recipe *const recipe = &cli->options.recipe;
    struct net_needs needs;
    const enum err err =
        net_needs(&model->net->neural,
                  recipe_given(recipe, OPT_CHUNK_ROWS)
                      ? (uint32_t)recipe_count(recipe, OPT_CHUNK_ROWS)
                      : CHUNK_IMAGES,
                  recipe_given(recipe, OPT_THREADS)
                      ? (uint32_t)recipe_count(recipe, OPT_THREADS)
                      : 1,
                  &needs, why);
    const bool trained = model->net->parameters != NULL;

    if (err != ERR_OK)
        return err;
    if (cli->json) {
        *object = net_json(model->net, &needs);
        if (trained)
            add_network(model, *object);
        return ERR_OK;
    }
    if (trained)
        show_network(model);
    net_show(model->net, &needs);
    return ERR_OK;
}

/* The card beside it, or a word about another's, comes last. */
static enum err show(const struct cli *cli, const struct model_file *model,
                     json_t *card, const char *remark, struct why *why)
{
    json_t *object = NULL;
    enum err err = ERR_OK;

    if (model->net != NULL)
        err = show_net(cli, model, &object, why);
    else if (cli->json)
        object = linear_json(model);
    else
        show_linear(model);
    if (err != ERR_OK)
        return err;
    if (object != NULL && card != NULL)
        (void)json_object_set(object, "card", card);
    if (object != NULL && remark != NULL)
        (void)json_object_set_new(object, "card_remark", json_string(remark));
    if (object != NULL)
        say_json(object);
    else if (card != NULL)
        model_card_show(card);
    else if (remark != NULL)
        (void)printf("card       %s\n", remark);
    return ERR_OK;
}

static void put_parameters(struct page *page, const struct neural_model *model)
{
    const struct neural *const net = &model->neural;
    float *const room = mem_new(net->parameters, sizeof *room);

    page->failed = page->failed || room == NULL;
    for (uint32_t t = 0; t < net->tensor_count && !page->failed; t++) {
        neural_torch_out(net, t, model->parameters, room);
        page_add(page, room, net->tensors[t].count * sizeof *room);
    }
    mem_free(room);
}

static void put_npy(struct page *page, const struct model_file *model)
{
    char shape[48];

    if (model->net != NULL || model->outputs == 1)
        (void)snprintf(shape, sizeof shape, "%zu,", model_file_numbers(model));
    else
        (void)snprintf(shape, sizeof shape, "%u, %u", model->outputs,
                       model_file_weights(model));
    page_npy_head(page, model->net != NULL ? "<f4" : "<f8", shape, false);
    if (model->net != NULL)
        put_parameters(page, model->net);
    else
        page_add(page, model->w, model_file_numbers(model) * sizeof(double));
}

/* Their numbers, with blanks between them; NULL: there are none. */
static char *labels_text(const struct model_file *model, struct page *page)
{
    for (uint32_t k = 0; k < model->classes; k++)
        page_put(page, "%s%.17g", k == 0 ? "" : " ", model->label[k]);
    page_add(page, "", 1);
    return model->classes > 0 && !page->failed ? page->data : NULL;
}

/* LIBLINEAR's text, or a network in safetensors. */
static void put_own(struct page *page, const struct model_file *model)
{
    char *text;
    size_t size;

    if (model_file_encode(model, &text, &size) != ERR_OK) {
        page->failed = true;
        return;
    }
    page_add(page, text, size);
    mem_free(text);
}

static void put_safetensors(struct page *page, const struct model_file *model)
{
    struct page labels = {0};
    const struct tensor_note notes[] = {
        {"kind", model_ops(model->kind)->name},
        {"intercept", model->intercept ? "yes" : "no"},
        {"labels", labels_text(model, &labels)},
    };
    const struct tensor weight = {
        "weight", TENSOR_F64, 2, {model->outputs, model_file_weights(model)},
        model->w,
    };
    char *bytes = NULL;
    size_t size = 0;

    if (model->net != NULL) {
        put_own(page, model);
        return;
    }
    if (labels.failed || safetensors_write(notes, model->classes > 0 ? 3 : 2,
                                           &weight, 1, &bytes, &size) != ERR_OK)
        page->failed = true;
    else
        page_add(page, bytes, size);
    mem_free(bytes);
    page_close(&labels);
}

/* In quotes if need be. */
static void put_name(struct page *page, const struct encoder *encoder,
                     uint32_t col)
{
    char name[SHOWN_SIZE];
    bool quoted;

    encoder_name(encoder, col, name, sizeof name);
    quoted = strpbrk(name, ",;\t\"\r\n") != NULL;
    page_put(page, "%s", quoted ? "\"" : "");
    for (const char *at = name; *at != '\0'; at++)
        page_put(page, "%s%c", *at == '"' ? "\"" : "", *at);
    page_put(page, "%s", quoted ? "\"" : "");
}

static void put_csv(struct page *page, const struct model_file *model)
{
    const uint32_t cols = model_file_weights(model);
    char number[LABEL_TEXT_SIZE];

    page_put(page, "feature");
    for (uint32_t k = 0; k < model->outputs; k++) {
        if (model->outputs == 1)
            page_put(page, ",weight");
        else
            page_put(page, ",weight_%s", label_write(model->label[k], number));
    }
    page_put(page, "\n");
    for (uint32_t j = 0; j < cols; j++) {
        if (j < model->features)
            put_name(page, &model->encoder, j);
        else
            page_put(page, "intercept");
        for (uint32_t k = 0; k < model->outputs; k++)
            page_put(page, ",%.17g", model->w[(size_t)k * cols + j]);
        page_put(page, "\n");
    }
}

static const struct {
    const char *ending;
    bool network; /* A network has it, too. */
    void (*put)(struct page *page, const struct model_file *model);
} forms[] = {
    {"", false, put_own},       {".txt", false, put_own},
    {".model", false, put_own}, {".npy", true, put_npy},
    {".csv", false, put_csv},   {".safetensors", true, put_safetensors},
};

static const char *ending_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash == NULL ? path : slash + 1, '.');

    return dot == NULL ? "" : dot;
}

static enum err convert(const struct model_file *model, const char *from,
                        const char *path, struct why *why)
{
    const char *ending = ending_of(path);
    struct page page = {0};
    enum err err = ERR_OK;
    size_t form = 0;

    while (form < sizeof forms / sizeof *forms &&
           strcmp(forms[form].ending, ending) != 0)
        form++;
    if (model->net != NULL &&
        (form == sizeof forms / sizeof *forms || !forms[form].network))
        return why_set(why, ERR_UNKNOWN,
                       "%.200s: a network is written as .safetensors or .npy",
                       path);
    if (form == sizeof forms / sizeof *forms)
        return why_set(why, ERR_UNKNOWN,
                       "%.200s: models are not written as %.32s; there are "
                       ".npy, .safetensors, .csv, and LIBLINEAR's text as "
                       ".txt, .model or a name without an ending",
                       path, ending);
    forms[form].put(&page, model);
    if (page.failed)
        err = why_set(why, ERR_NOMEM, "%.200s: %s", path, err_text(ERR_NOMEM));
    else
        err = output_put(path, OUTPUT_WHOLE, output_mode_of(from), page.data,
                         page.size, why);
    if (err == ERR_OK) {
        const struct digest sum = hash_bytes(page.data, page.size);

        /* What was there had a card. */
        err = model_card_save(NULL, path, &sum, why);
    }
    page_close(&page);
    return err;
}

/* A net that nobody trained yet: the text itself, or a file that holds it. */
static enum err make_net(const char *text, const char *shape,
                         struct model_file *model, struct why *why)
{
    const struct neural_units units = neural_units(1);
    struct neural_shape in;
    struct image image;
    enum err err = image_parse(shape, &image, why);

    model->net = mem_new(1, sizeof *model->net);
    if (model->net == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    if (err != ERR_OK)
        return err;
    in = (struct neural_shape){image.height, image.width, image.channels};
    return neural_model_init(model->net, text, &in, NEURAL_SQUARED, &units,
                             why);
}

static enum err open_model(const struct options *options, const char *path,
                           struct model_file *model, struct why *why)
{
    const char *shape = option_text(options, OPT_SHAPE);
    char *text;
    enum err err;

    if (shape == NULL && !file_exists(path) && neural_text_begins(path))
        return why_set(why, ERR_SHAPE,
                       "a net has shapes once its input has one: add --shape "
                       "28x28x1 (of a table with 4 columns, 1x1x4)");
    if (shape == NULL)
        return model_load(path, model, why);
    err = network_text(path, &text, why);
    if (err == ERR_OK)
        err = make_net(text, shape, model, why);
    mem_free(text);
    return err;
}

static enum err show_file(const struct cli *cli, const struct model_file *model,
                          const char *path, struct why *why)
{
    const bool text = model->net != NULL && model->net->parameters == NULL;
    bool other = false;
    json_t *const card = text ? NULL : model_card_read(path, &other);
    const enum err err = show(
        cli, model, card,
        other ? "that beside this file has another file's sum: it is the card "
                "of another model, and is not shown"
              : NULL,
        why);

    json_decref(card);
    return err;
}

static enum err execute(const struct cli *cli, struct model_file *model,
                        struct why *why)
{
    const struct options *options = &cli->options;
    const char *action = option_text(options, OPT_MODEL_ACTION);
    const char *path = option_text(options, OPT_MODEL_FILE);
    const char *out = option_text(options, OPT_CONVERTED);
    const bool converts = action != NULL && strcmp(action, "convert") == 0;
    enum err err;

    if (action == NULL || path == NULL || converts != (out != NULL))
        return why_set(why, ERR_SHAPE,
                       "expected `muster model show MODEL` or `muster model "
                       "convert MODEL OUT`");
    err = converts ? model_load(path, model, why)
                   : open_model(options, path, model, why);
    if (err != ERR_OK)
        return err;
    if (!converts)
        return show_file(cli, model, path, why);
    err = convert(model, path, out, why);
    if (err == ERR_OK && cli->json)
        say_json(json_pack("{s:o}", "model", name_json(out)));
    else if (err == ERR_OK)
        say_name("written    ", out, "\n");
    return err;
}

int model_command(struct cli *cli)
{
    struct model_file model = {0};
    struct why why = {0};
    const enum err err = execute(cli, &model, &why);

    model_file_close(&model);
    return err == ERR_OK ? EXIT_DONE : say_why(cli, err, &why);
}
