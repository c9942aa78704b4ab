/*
 * kit.c - the kit as bytes, and back.  What comes in is read as if it lied.
 */
#include "learn/ring/kit.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "learn/family/family.h"
#include "learn/save.h"
#include "os/run/pages.h"

#define HEAD_BYTES   256u
#define STORAGE_SIZE 16u

/* --- what is put together ------------------------------------------------- */

static size_t rows_bytes(const struct dataset *data)
{
    size_t size = HEAD_BYTES;

    for (uint32_t i = 0; i < dataset_chunks(data); i++)
        size += sizeof(uint64_t) + dataset_chunk_bytes(data, i);
    return size;
}

static void put_known(struct writer *out, const struct dataset *data)
{
    const struct digest digest = dataset_digest(data);

    put_bytes(out, digest.bytes, DIGEST_BYTES);
    put_u8(out, data->original != NULL);
    if (data->original != NULL)
        put_bytes(out, data->original, data->cols * sizeof *data->original);
}

static void put_rows(struct writer *out, const struct dataset *data)
{
    const struct dataset_shape shape = dataset_shape(data);

    put_text(out, storage_name(shape.storage));
    put_u32(out, shape.rows);
    put_u32(out, shape.cols);
    put_u32(out, shape.chunk_rows);
    put_u64(out, shape.entries);
    put_u8(out, shape.weighted);
    put_known(out, data);
    for (uint32_t i = 0; i < dataset_chunks(data); i++) {
        const size_t size = dataset_chunk_bytes(data, i);
        uint8_t *room;

        put_u64(out, size);
        room = put_room(out, size);
        if (room != NULL)
            dataset_chunk_encode(data, i, room);
    }
}

/* The model's file, of weights that are all 0. */
static enum err make_file(const struct setup *setup, char **text, size_t *size)
{
    double *w =
        mem_new(setup_family(setup)->dims(setup), sizeof *w); /* All 0. */
    const enum err err =
        w != NULL ? save_encode(setup, w, text, size) : ERR_NOMEM;

    mem_free(w);
    return err;
}

enum err kit_make(const struct setup *setup, uint8_t **bytes, size_t *size)
{
    const struct dataset *data = &setup->data;
    const bool valid = setup->optim.held_out;
    size_t columns = data->cols * sizeof *data->original, capacity;
    struct writer out;
    char *file = NULL;
    size_t file_size = 0;
    enum err err = make_file(setup, &file, &file_size);

    if (err != ERR_OK)
        return err;
    if (valid)
        columns += setup->valid.cols * sizeof *data->original;
    capacity = 2 * HEAD_BYTES + columns + file_size +
               (valid ? rows_bytes(&setup->valid) : 0);
    *bytes = mem_new(capacity, 1);
    out = writer_on(*bytes, capacity);
    if (*bytes != NULL) {
        put_known(&out, data);
        put_f64(&out, setup->shown_factor);
        put_u64(&out, file_size);
        put_bytes(&out, file, file_size);
        put_u8(&out, valid);
        if (valid)
            put_rows(&out, &setup->valid);
        CHECK(out.ok);
        *size = out.size;
    }
    mem_free(file);
    return *bytes != NULL ? ERR_OK : ERR_NOMEM;
}

/* --- and taken apart ------------------------------------------------------ */

static bool get_flag(struct reader *in)
{
    const uint8_t flag = get_u8(in);

    in->ok = in->ok && flag <= 1;
    return flag == 1;
}

static enum err get_known(struct reader *in, struct dataset *data)
{
    const size_t size = data->cols * sizeof *data->original;
    const uint8_t *columns;

    get_bytes(in, data->digest.bytes, DIGEST_BYTES);
    data->digest_known = in->ok;
    if (!get_flag(in))
        return in->ok ? ERR_OK : ERR_FORMAT;
    columns = get_view(in, size);
    if (columns == NULL)
        return ERR_FORMAT;
    data->original = pages_new(data->cols, sizeof *data->original);
    if (data->original == NULL)
        return ERR_NOMEM;
    memcpy(data->original, columns, size);
    for (uint32_t j = 0; j < data->cols; j++)
        if (data->original[j] >= data->cols)
            return ERR_FORMAT;
    return ERR_OK;
}

static enum err get_chunks(struct reader *in, struct dataset *data)
{
    enum err err = ERR_OK;

    for (uint32_t i = 0; err == ERR_OK && i < dataset_chunks(data); i++) {
        const uint64_t size = get_u64(in);
        const uint8_t *bytes = get_view(in, size);

        err = bytes != NULL ? dataset_chunk_decode(data, i, bytes, size)
                            : ERR_FORMAT;
    }
    return err;
}

/* Room is made for no more than could be in the bytes that are left: eight of a
 * label, a bit or more of a value. */
static bool may_be_here(const struct reader *in,
                        const struct dataset_shape *shape)
{
    const uint64_t left = in->size - in->at;

    return shape->rows <= left / sizeof(double) && shape->entries <= left &&
           (storage_is_sparse(shape->storage) ||
            (uint64_t)shape->rows * shape->cols / 8 <= left);
}

static enum err get_rows(struct reader *in, struct dataset *data)
{
    struct dataset_shape shape = {0};
    char storage[STORAGE_SIZE];
    enum err err;

    get_text(in, storage, sizeof storage);
    shape.rows = get_u32(in);
    shape.cols = get_u32(in);
    shape.chunk_rows = get_u32(in);
    shape.entries = get_u64(in);
    shape.weighted = get_flag(in);
    if (!in->ok || !storage_parse(storage, &shape.storage) ||
        !may_be_here(in, &shape))
        return ERR_FORMAT;
    err = dataset_init_shape(data, &shape);
    if (err == ERR_OK)
        err = get_known(in, data);
    return err == ERR_OK ? get_chunks(in, data) : err;
}

static enum err get_file(struct reader *in, struct setup *setup)
{
    const uint64_t size = get_u64(in);
    const uint8_t *text = get_view(in, size);
    struct model_file model = {0};
    enum err err = ERR_FORMAT;

    if (text != NULL)
        err = model_file_decode(&model, (const char *)text, size, NULL);
    if (err == ERR_OK && model.features + model.intercept != setup->data.cols)
        err = ERR_FORMAT;
    if (err == ERR_OK && model.classes > 0)
        err = dataset_set_labels(&setup->data, model.label, model.classes);
    if (err == ERR_OK) {
        setup->model = model.kind;
        setup->intercept = model.intercept;
        setup->encoder = model.encoder;
        model.encoder = (struct encoder){0};
    }
    if (err == ERR_OK && model.net != NULL) {
        setup->family = &net_family;
        setup->net = *model.net;
        *model.net = (struct neural_model){.text = NULL};
    }
    model_file_close(&model);
    return err == ERR_OK || err == ERR_NOMEM ? err : ERR_FORMAT;
}

enum err kit_take(const uint8_t *bytes, size_t size, struct setup *setup)
{
    struct reader in = reader_on(bytes, size);
    enum err err = get_known(&in, &setup->data);

    setup->shown_factor = get_f64(&in);
    if (err == ERR_OK)
        err = get_file(&in, setup);
    if (err != ERR_OK)
        return err;
    setup->has_valid = get_flag(&in);
    if (setup->has_valid)
        err = get_rows(&in, &setup->valid);
    if (err == ERR_OK && !reader_done(&in))
        err = ERR_FORMAT;
    return err == ERR_OK || err == ERR_NOMEM ? err : ERR_FORMAT;
}
