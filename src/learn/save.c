/*
 * save.c - a model's file, written whole or not at all, and read.
 */
#include "learn/save.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ending.h"
#include "base/mem.h"
#include "data/text/sniff.h"
#include "learn/family/family.h"
#include "model/files/safetensors.h"
#include "os/file/file.h"
#include "os/file/input.h"
#include "os/file/output.h"
#include "os/random.h"

#define MODEL_BYTES_MAX (UINT64_C(1) << 32)

/* All but the encoder, which is the setup's. */
static enum err build(const struct setup *setup, const double *w,
                      struct model_file *model)
{
    const struct dataset *data = &setup->data;
    enum err err = ERR_NOMEM;

    *model = (struct model_file){
        .kind = setup->model,
        .features = data->cols - (setup->intercept ? 1 : 0),
        .intercept = setup->intercept,
        .classes = model_ops(setup->model)->regression ? 0 : data->classes,
    };
    model->label = mem_new(model->classes, sizeof *model->label);
    for (uint32_t k = 0; model->label != NULL && k < model->classes; k++)
        model->label[k] = data->label[k];
    if (model->label != NULL)
        err = setup_family(setup)->fill(setup, w, model);
    if (err != ERR_OK)
        model_file_close(model);
    return err;
}

enum err save_take(struct setup *setup, const double *w,
                   struct model_file *model)
{
    const enum err err = build(setup, w, model);

    if (err != ERR_OK)
        return err;
    model->encoder = setup->encoder;
    setup->encoder = (struct encoder){0};
    return ERR_OK;
}

enum err save_encode(const struct setup *setup, const double *w, char **text,
                     size_t *size)
{
    struct model_file model;
    enum err err = build(setup, w, &model);

    if (err == ERR_OK) {
        model.encoder = setup->encoder; /* Lent for the writing. */
        err = model_file_encode(&model, text, size);
        model.encoder = (struct encoder){0};
        model_file_close(&model);
    }
    return err;
}

static enum err encode(const struct setup *setup, const double *w,
                       const char *path, char **text, size_t *size,
                       struct why *why)
{
    const enum err err = save_encode(setup, w, text, size);

    if (err != ERR_OK)
        return why_set(
            why, err, "%.200s: %s%s", path,
            err == ERR_NOMEM ? "" : "the model is not finite: ", err_text(err));
    return ERR_OK;
}

enum err save_model(const struct setup *setup, const double *w,
                    const char *path, struct digest *sum, struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    enum err err = encode(setup, w, path, &text, &size, why);

    if (err != ERR_OK)
        return err;
    err = output_save(path, text, size, why);
    if (err == ERR_OK)
        *sum = hash_bytes(text, size);
    mem_free(text);
    return err;
}

bool save_aside(const struct setup *setup, const double *w,
                char path[FILE_PATH_SIZE])
{
    const char *const folders[] = {getenv("TMPDIR"), "/tmp"};
    char *text = NULL;
    size_t size = 0;
    bool there = false;

    if (save_encode(setup, w, &text, &size) != ERR_OK)
        return false;
    for (size_t i = 0; i < 2 && !there; i++) {
        if (folders[i] == NULL || folders[i][0] == '\0')
            continue;
        (void)snprintf(path, FILE_PATH_SIZE, "%s/muster-model-%016" PRIx64 "%s",
                       folders[i], random_u64(),
                       safetensors_begins(text, size) ? ".safetensors"
                                                      : ".txt");
        there = output_put(path, OUTPUT_NEW, 0600, text, size, NULL) == ERR_OK;
    }
    mem_free(text);
    return there;
}

bool saved_model_is(const struct setup *setup, const double *w,
                    const char *path)
{
    char *text = NULL;
    uint8_t *there = NULL;
    size_t size = 0, found = 0;
    bool same;

    if (encode(setup, w, path, &text, &size, NULL) != ERR_OK || text == NULL)
        return false;
    same = file_read(path, size, &there, &found, NULL) == ERR_OK;
    if (same) {
        same = found == size && memcmp(there, text, size) == 0;
        mem_free(there);
    }
    mem_free(text);
    return same;
}

const char *save_other_form(const char *path)
{
    static const char *const endings[] = {
        ".csv",         ".tsv",  ".svm",  ".libsvm",  ".svmlight", ".t",
        ".npy",         ".npz",  ".idx",  ".parquet", ".arff",     ".xlsx",
        ".feather",     ".gz",   ".zst",  ".zip",     ".json",     ".jsonl",
        ".safetensors", ".onnx", ".pkl",  ".h5",      ".joblib",   ".pickle",
        ".pt",          ".pth",  ".ckpt", ".keras",   ".pb",       NULL};
    size_t i = 0;

    while (endings[i] != NULL && !ending_is(path, strlen(path), endings[i]))
        i++;
    return endings[i];
}

static enum err check_network_name(const char *path, const char *hint,
                                   struct why *why)
{
    const bool text = ending_is(path, strlen(path), ".txt");
    const char *ending = text ? ".txt" : save_other_form(path);

    if (ending == NULL || strcmp(ending, ".safetensors") == 0)
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "%.200s: networks are saved as safetensors, not as %s; "
                   "choose another name, such as net.safetensors (%s`muster "
                   "model convert` writes .npy)",
                   path, ending, hint);
}

enum err save_check_name(const char *path, bool network, const char *hint,
                         struct why *why)
{
    const char *ending = save_other_form(path);

    if (network)
        return check_network_name(path, hint, why);
    if (ending == NULL)
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "%.200s: models are saved as LIBLINEAR's text, not as %s; "
                   "choose another name (%s`muster model convert` writes "
                   ".npy, .safetensors and .csv)",
                   path, ending, hint);
}

bool model_is_network(const char *path)
{
    char head[SNIFF_MODEL_SIZE];
    struct input input;
    size_t got = 0;

    /* To look into a pipe is to wait. */
    if (path == NULL || !output_is_file(path) ||
        input_open(&input, path, NULL) != ERR_OK)
        return false;
    if (input_read_at(&input, 0, head, sizeof head, &got) != ERR_OK)
        got = 0;
    input_close(&input);
    return safetensors_begins(head, got);
}

/* Gigabytes of zeros are told by the first: files by a look, and what a device
 * gives is not asked for. */
static enum err check_text(const char *path, struct why *why)
{
    char first[64];
    struct input input;
    size_t got = 0;
    enum err err = input_open(&input, path, why);

    if (err == ERR_UNSUPPORTED)
        return input_is_device(path)
                   ? why_set(why, ERR_FORMAT,
                             "%.200s: a device; a model is a file", path)
                   : ERR_OK;
    if (err != ERR_OK)
        return err;
    err = input_read_at(&input, 0, first, sizeof first, &got);
    input_close(&input);
    if (err == ERR_OK && !sniff_is_model(first, got) &&
        sniff_network(path, why) != ERR_OK)
        return why_in(why, ERR_FORMAT, "%.200s", path);
    if (err == ERR_OK &&
        (memchr(first, '\0', got) == NULL || safetensors_begins(first, got)))
        return ERR_OK;
    return why_set(why, ERR_FORMAT,
                   "%.200s: not a model, neither LIBLINEAR's text nor a "
                   "network in safetensors",
                   path);
}

enum err model_load(const char *path, struct model_file *model, struct why *why)
{
    uint8_t *text;
    size_t size;
    enum err err = check_text(path, why);

    if (err == ERR_OK)
        err = file_read(path, MODEL_BYTES_MAX, &text, &size, why);

    if (err != ERR_OK)
        return err;
    err = model_file_decode(model, (const char *)text, size, why);
    mem_free(text);
    /* A bad file is not a bad command line. */
    if (err != ERR_OK && err != ERR_NOMEM)
        err = ERR_FORMAT;
    return err == ERR_OK ? err : why_in(why, err, "%.200s", path);
}

bool save_is_model(const char *path)
{
    struct model_file model = {0};
    const bool is_one = !output_is_stdout(path) && output_is_filled(path) &&
                        model_load(path, &model, NULL) == ERR_OK;

    model_file_close(&model);
    return is_one;
}

bool save_destroys(const char *path)
{
    return !output_is_stdout(path) && output_is_filled(path) &&
           !save_is_model(path);
}
