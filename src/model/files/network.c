/*
 * network.c - a writer and a reader of networks as safetensors.  The reader
 * believes a file only if every tensor of its net is there, in its shape and
 * finite, and all of them have the hash that the file says.
 */
#include "model/files/network.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "data/rows/image.h"
#include "data/span.h"
#include "data/text/number.h"
#include "math/golden/golden.h"
#include "math/net/sums.h"
#include "model/file.h"
#include "model/files/safetensors.h"
#include "model/net/neural_model.h"

static const char *const losses[] = {
    [NEURAL_SOFTMAX] = "softmax", [NEURAL_SQUARED] = "squared"};
enum { LOSS_NAMES = sizeof losses / sizeof *losses, NOTES_MAX = 13 };
enum { SHAPE_SIZE = 48 };

/* Numbers of a network's units by name.  Files of other programs do not say
 * what their rows were. */
static const struct unit {
    const char *name;
    size_t at;
    bool of_classes, needed;
} unit_table[] = {
    {"divisor", offsetof(struct neural_units, divisor), true, true},
    {"least", offsetof(struct neural_units, least), true, false},
    {"most", offsetof(struct neural_units, most), true, false},
    {"mean", offsetof(struct neural_units, mean), false, true},
    {"spread", offsetof(struct neural_units, spread), false, true},
};
enum { UNITS = sizeof unit_table / sizeof *unit_table };

static double unit_of(const struct neural_units *units, const struct unit *unit)
{
    double value;

    memcpy(&value, (const char *)units + unit->at, sizeof value);
    return value;
}

static void set_unit(struct neural_units *units, const struct unit *unit,
                     double value)
{
    memcpy((char *)units + unit->at, &value, sizeof value);
}

static bool has_unit(const struct unit *unit, bool classes)
{
    return unit->of_classes || !classes;
}

/* --- writing ------------------------------------------------------------- */

static char *labels_text(const struct model_file *model)
{
    char *text = mem_new((size_t)model->classes + 1, MODEL_NUMBER_SIZE);
    size_t used = 0;

    for (uint32_t k = 0; text != NULL && k < model->classes; k++) {
        if (k > 0)
            text[used++] = ' ';
        used += model_number_text(model->label[k], text + used);
    }
    return text;
}

/* A word of a table may be of any bytes, JSON's texts may not: bytes beyond
 * ASCII as the encoder's own %XX. */
static char *escape(const char *text, size_t size)
{
    char *made = mem_new(3 * size + 1, 1);
    char *out = made;

    for (size_t i = 0; made != NULL && i < size; i++) {
        const unsigned char byte = (unsigned char)text[i];

        if (byte < 0x80)
            *out++ = text[i];
        else
            out += snprintf(out, 4, "%%%02X", byte);
    }
    return made;
}

static char *encoder_text(const struct encoder *encoder)
{
    char *text = NULL, *made;
    size_t size = 0;

    if (encoder_to_text(encoder, &text, &size) != ERR_OK)
        return NULL;
    made = escape(text, size);
    mem_free(text);
    return made;
}

/* What decides predictions and is text, in the order of the digest. */
static const char *const decisive[] = {"net",    "shape",   "loss", "divisor",
                                       "least",  "most",    "mean", "spread",
                                       "labels", "profile", "hash", "encoder"};

/* Of the texts that `find` says are there. */
static const char *digest_notes(const char *(*find)(const void *, const char *),
                                const void *notes, char text[DIGEST_TEXT])
{
    struct hasher hasher;
    struct digest digest;

    hasher_init(&hasher);
    for (size_t i = 0; i < sizeof decisive / sizeof *decisive; i++) {
        const char *const said = find(notes, decisive[i]);

        if (said == NULL)
            continue;
        hasher_add(&hasher, decisive[i], strlen(decisive[i]) + 1);
        hasher_add(&hasher, said, strlen(said) + 1);
    }
    digest = hasher_end(&hasher);
    return digest_text(&digest, text);
}

/* What the metadata points to. */
struct notes {
    struct tensor_note note[NOTES_MAX];
    size_t count;
    char shape[SHAPE_SIZE], hash[DIGEST_TEXT], digest[DIGEST_TEXT];
    char units[UNITS][MODEL_NUMBER_SIZE];
    char *labels, *encoder;
};

static void note(struct notes *notes, const char *key, const char *text)
{
    if (text != NULL)
        notes->note[notes->count++] = (struct tensor_note){key, text};
}

static const char *find_made(const void *context, const char *key)
{
    const struct notes *const notes = context;

    for (size_t i = 0; i < notes->count; i++)
        if (strcmp(notes->note[i].key, key) == 0)
            return notes->note[i].text;
    return NULL;
}

static enum err make_notes(const struct model_file *model, struct notes *notes)
{
    const struct neural_model *const net = model->net;
    const struct neural_shape *const in = &net->neural.in;
    const struct digest hash =
        hash_f32(net->parameters, net->neural.parameters);
    const bool encoded = model->encoder.kind != ENCODER_NONE;

    (void)snprintf(notes->shape, sizeof notes->shape, "%ux%ux%u", in->height,
                   in->width, in->channels);
    for (int i = 0; i < UNITS; i++)
        (void)model_number_text(unit_of(&net->units, &unit_table[i]),
                                notes->units[i]);
    if (model->classes > 0)
        notes->labels = labels_text(model);
    if (encoded)
        notes->encoder = encoder_text(&model->encoder);
    if ((model->classes > 0 && notes->labels == NULL) ||
        (encoded && notes->encoder == NULL))
        return ERR_NOMEM;
    note(notes, "net", net->text);
    note(notes, "shape", notes->shape);
    note(notes, "loss", losses[net->neural.loss]);
    for (int i = 0; i < UNITS; i++)
        if (has_unit(&unit_table[i], model->classes > 0))
            note(notes, unit_table[i].name, notes->units[i]);
    note(notes, "labels", notes->labels);
    note(notes, "profile", PROFILE_NET_NAME);
    note(notes, "hash", digest_text(&hash, notes->hash));
    note(notes, "encoder", notes->encoder);
    note(notes, "digest", digest_notes(find_made, notes, notes->digest));
    return ERR_OK;
}

/* Tensors as they are written; `room` has a place for every parameter. */
static void make_tensors(const struct neural_model *net, float *room,
                         struct neural_torch *shown, struct tensor *tensors)
{
    const struct neural *const neural = &net->neural;

    for (uint32_t t = 0; t < neural->tensor_count; t++) {
        float *const numbers = room + neural->tensors[t].first;

        shown[t] = neural_torch(neural, t);
        tensors[t] = (struct tensor){.name = shown[t].name,
                                     .type = TENSOR_F32,
                                     .rank = shown[t].rank,
                                     .data = numbers};
        for (uint32_t i = 0; i < shown[t].rank; i++)
            tensors[t].shape[i] = shown[t].shape[i];
        neural_torch_out(neural, t, net->parameters, numbers);
    }
}

enum err network_file_encode(const struct model_file *model, char **bytes,
                             size_t *size)
{
    const struct neural *const neural = &model->net->neural;
    float *room = mem_new(neural->parameters, sizeof *room);
    struct neural_torch *shown = mem_new(neural->tensor_count, sizeof *shown);
    struct tensor *tensors = mem_new(neural->tensor_count, sizeof *tensors);
    struct notes notes = {.count = 0};
    enum err err = ERR_NOMEM;

    if (room != NULL && shown != NULL && tensors != NULL)
        err = make_notes(model, &notes);
    if (err == ERR_OK &&
        !sums_finite(isa_best(), model->net->parameters, neural->parameters))
        err = ERR_RANGE;
    if (err == ERR_OK) {
        make_tensors(model->net, room, shown, tensors);
        err = safetensors_write(notes.note, notes.count, tensors,
                                neural->tensor_count, bytes, size);
    }
    mem_free(notes.labels);
    mem_free(notes.encoder);
    mem_free(room);
    mem_free(shown);
    mem_free(tensors);
    return err;
}

/* --- reading ------------------------------------------------------------- */

static enum err unlike(struct why *why, const char *key, const char *text)
{
    return why_set(why, ERR_FORMAT, "its metadata has '%s' as '%s'",
                   quote_text(text).text, key);
}

static enum err lacks(struct why *why, const char *key)
{
    (void)why_set(why, ERR_FORMAT,
                  "tensors, but not of a network that `muster train --net` "
                  "saved: its metadata has no '%s'",
                  key);
    return ERR_FORMAT;
}

/* The texts that no network is without. */
struct said {
    const char *net, *shape, *loss;
};

static enum err find_said(const struct safetensors *file, struct said *said,
                          struct why *why)
{
    static const char *const keys[] = {"net", "shape", "loss"};
    const char **const texts[] = {&said->net, &said->shape, &said->loss};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        *texts[i] = safetensors_note(file, keys[i]);
        if (*texts[i] == NULL)
            return lacks(why, keys[i]);
    }
    return ERR_OK;
}

static enum err take_units(const struct safetensors *file, bool classes,
                           struct neural_units *units, struct why *why)
{
    *units = neural_units(1);
    for (int i = 0; i < UNITS; i++) {
        const struct unit *const unit = &unit_table[i];
        const char *const text =
            has_unit(unit, classes) ? safetensors_note(file, unit->name) : NULL;
        double value = 0;

        if (text == NULL && unit->needed && has_unit(unit, classes))
            return lacks(why, unit->name);
        if (text == NULL)
            continue;
        if (number_parse(text, strlen(text), &value) != NUMBER_OK)
            return unlike(why, unit->name, text);
        set_unit(units, unit, value);
        if (!neural_units_good(units))
            return unlike(why, unit->name, text);
    }
    return ERR_OK;
}

static enum err make_net(const struct safetensors *file,
                         const struct said *said, struct neural_model *net,
                         struct why *why)
{
    struct neural_shape in;
    struct image image;
    struct neural_units units;
    enum err err;
    uint32_t loss = 0;

    while (loss < LOSS_NAMES && strcmp(said->loss, losses[loss]) != 0)
        loss++;
    if (loss == LOSS_NAMES)
        return unlike(why, "loss", said->loss);
    if (image_parse(said->shape, &image, NULL) != ERR_OK)
        return unlike(why, "shape", said->shape);
    err = take_units(file, loss == NEURAL_SOFTMAX, &units, why);
    if (err != ERR_OK)
        return err;
    in = (struct neural_shape){image.height, image.width, image.channels};
    return neural_model_init(net, said->net, &in, (enum neural_loss)loss,
                             &units, why);
}

static bool same_shape(const struct tensor *tensor,
                       const struct neural_torch *wanted)
{
    bool same = tensor->rank == wanted->rank;

    for (uint32_t i = 0; same && i < wanted->rank; i++)
        same = tensor->shape[i] == wanted->shape[i];
    return same;
}

static const char *print_shape(uint32_t rank, const uint64_t *shape,
                               char text[SHAPE_SIZE])
{
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < rank && used < SHAPE_SIZE; i++)
        used +=
            (size_t)snprintf(text + used, SHAPE_SIZE - used, "%s%llu",
                             i > 0 ? " x " : "", (unsigned long long)shape[i]);
    return text;
}

static enum err wrong_shape(const struct tensor *tensor,
                            const struct neural_torch *wanted, struct why *why)
{
    uint64_t shape[NEURAL_RANK_MAX];
    char is[SHAPE_SIZE], should[SHAPE_SIZE];

    for (uint32_t i = 0; i < wanted->rank; i++)
        shape[i] = wanted->shape[i];
    return why_set(why, ERR_MISMATCH,
                   "tensor '%s' is %s, and its net asks for %s", wanted->name,
                   print_shape(tensor->rank, tensor->shape, is),
                   print_shape(wanted->rank, shape, should));
}

/* The tensor of its net's tensor t; NULL, with a sentence, if it is not what
 * the net asks for. */
static const struct tensor *find_tensor(const struct safetensors *file,
                                        const struct neural *net, uint32_t t,
                                        enum err *err, struct why *why)
{
    const struct neural_torch wanted = neural_torch(net, t);
    const struct tensor *const tensor = safetensors_find(file, wanted.name);

    *err = ERR_OK;
    if (tensor == NULL)
        *err = why_set(why, ERR_MISMATCH,
                       "no tensor '%s', which its net asks for", wanted.name);
    else if (tensor->type != TENSOR_F32)
        *err = why_set(why, ERR_UNSUPPORTED, "tensor '%s': networks are of F32",
                       wanted.name);
    else if (!same_shape(tensor, &wanted))
        *err = wrong_shape(tensor, &wanted, why);
    return *err == ERR_OK ? tensor : NULL;
}

/* All are there: so the file is as long as what memory is asked for. */
static enum err check_tensors(const struct safetensors *file,
                              const struct neural *net, struct why *why)
{
    enum err err = ERR_OK;

    if (file->count != net->tensor_count)
        return why_set(why, ERR_MISMATCH, "%zu tensors, and its net has %u",
                       file->count, net->tensor_count);
    for (uint32_t t = 0; err == ERR_OK && t < net->tensor_count; t++)
        (void)find_tensor(file, net, t, &err, why);
    return err;
}

static enum err take_tensor(const struct safetensors *file, uint32_t t,
                            struct neural_model *net, float *room,
                            struct why *why)
{
    const size_t count = net->neural.tensors[t].count;
    enum err err;
    const struct tensor *const tensor =
        find_tensor(file, &net->neural, t, &err, why);

    if (tensor == NULL)
        return err;
    memcpy(room, tensor->data, count * sizeof *room);
    if (!sums_finite(isa_best(), room, count))
        return why_set(why, ERR_RANGE,
                       "tensor '%s' has a number that is not finite",
                       tensor->name);
    neural_torch_in(&net->neural, t, room, net->parameters);
    return ERR_OK;
}

static enum err take_tensors(const struct safetensors *file,
                             struct neural_model *net, struct why *why)
{
    enum err err = check_tensors(file, &net->neural, why);
    float *room;

    if (err != ERR_OK)
        return err;
    room = mem_new(net->neural.parameters, sizeof *room);
    net->parameters = mem_new(net->neural.parameters, sizeof *net->parameters);
    if (room == NULL || net->parameters == NULL) {
        mem_free(room);
        return why_set(why, ERR_NOMEM, "out of memory");
    }
    for (uint32_t t = 0; err == ERR_OK && t < net->neural.tensor_count; t++)
        err = take_tensor(file, t, net, room, why);
    mem_free(room);
    return err;
}

static enum err check_hash(const struct safetensors *file,
                           const struct neural_model *net, struct why *why)
{
    const struct digest hash =
        hash_f32(net->parameters, net->neural.parameters);
    const char *said = safetensors_note(file, "hash");
    char text[DIGEST_TEXT];

    if (said == NULL || strcmp(said, digest_text(&hash, text)) == 0)
        return ERR_OK;
    return why_set(why, ERR_FORMAT,
                   "its numbers have another hash than its metadata says: it "
                   "was changed or damaged");
}

static const char *find_read(const void *context, const char *key)
{
    return safetensors_note(context, key);
}

/* Before anything of it is believed. */
static enum err check_notes(const struct safetensors *file, struct why *why)
{
    const char *const profile = safetensors_note(file, "profile");
    const char *const digest = safetensors_note(file, "digest");
    char text[DIGEST_TEXT];

    if (profile != NULL && strcmp(profile, PROFILE_NET_NAME) != 0)
        return why_set(why, ERR_UNSUPPORTED,
                       "it was trained in profile '%s', and this release "
                       "computes in %s: take the release that saved it",
                       quote_text(profile).text, PROFILE_NET_NAME);
    if (digest == NULL && safetensors_note(file, "hash") == NULL)
        return ERR_OK;
    if (digest != NULL &&
        strcmp(digest, digest_notes(find_read, file, text)) == 0)
        return ERR_OK;
    return why_set(why, ERR_FORMAT,
                   "its metadata has another digest than it says: it was "
                   "changed or damaged");
}

/* One for each output, blanks between them. */
static enum err take_labels(const struct safetensors *file,
                            struct model_file *model, struct why *why)
{
    const char *text = safetensors_note(file, "labels");
    const char *at = text == NULL ? "" : text;

    model->label = mem_new(model->classes, sizeof *model->label);
    if (model->label == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    for (uint32_t k = 0; k < model->classes; k++) {
        const size_t length = strcspn(at, " ");

        if (number_parse(at, length, &model->label[k]) != NUMBER_OK)
            break;
        at += length + (at[length] == ' ' && k + 1 < model->classes);
        if (k + 1 == model->classes && *at == '\0' &&
            model_label_twice(model->label, model->classes) == NULL)
            return ERR_OK;
    }
    return why_set(why, ERR_FORMAT,
                   "its labels are not %u different numbers, one for each "
                   "output",
                   model->classes);
}

static enum err take_encoder(const struct safetensors *file,
                             struct model_file *model, struct why *why)
{
    const char *text = safetensors_note(file, "encoder");
    enum err err;

    if (text == NULL)
        return ERR_OK;
    err = encoder_from_text(&model->encoder, text, strlen(text), why);
    if (err == ERR_OK && model->encoder.kind == ENCODER_TABLE &&
        model->encoder.cols != model->features)
        err = why_set(why, ERR_FORMAT, "%u columns, the network has %u inputs",
                      model->encoder.cols, model->features);
    return err == ERR_OK ? err : why_in(why, err, "the model's encoder");
}

/* What the rows and answers of this network are. */
static enum err settle(struct model_file *model, struct why *why)
{
    const struct neural *const neural = &model->net->neural;
    const size_t outputs = neural_floats(&neural->out);
    const bool classes = neural->loss == NEURAL_SOFTMAX;

    if (outputs > (classes ? MODEL_CLASSES_MAX : 1))
        return why_set(why, ERR_UNSUPPORTED,
                       "%zu outputs; %s networks have at most %u", outputs,
                       losses[neural->loss], classes ? MODEL_CLASSES_MAX : 1);
    model->kind = classes ? MODEL_SOFTMAX : MODEL_LINEAR;
    model->features = (uint32_t)neural_floats(&neural->in);
    model->outputs = (uint32_t)outputs;
    model->classes = classes ? model->outputs : 0;
    return ERR_OK;
}

static enum err decode(const struct safetensors *file, struct model_file *model,
                       struct why *why)
{
    struct said said;
    enum err err = find_said(file, &said, why);

    if (err == ERR_OK)
        err = check_notes(file, why);
    model->net = mem_new(1, sizeof *model->net);
    if (model->net == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    if (err == ERR_OK)
        err = make_net(file, &said, model->net, why);
    if (err == ERR_OK)
        err = settle(model, why);
    if (err == ERR_OK)
        err = take_tensors(file, model->net, why);
    if (err == ERR_OK)
        err = check_hash(file, model->net, why);
    if (err == ERR_OK && model->classes > 0)
        err = take_labels(file, model, why);
    return err == ERR_OK ? take_encoder(file, model, why) : err;
}

enum err network_file_decode(struct model_file *model, const char *bytes,
                             size_t size, struct why *why)
{
    struct safetensors file = {0};
    struct model_file made = {0};
    enum err err = safetensors_read(&file, bytes, size, why);

    if (err == ERR_OK)
        err = decode(&file, &made, why);
    safetensors_close(&file);
    if (err != ERR_OK) {
        model_file_close(&made);
        return err;
    }
    *model = made;
    return ERR_OK;
}
