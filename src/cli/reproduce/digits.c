/*
 * digits.c - a sample of MNIST: two IDX files read, two written.
 */
#include "cli/reproduce/digits.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/read/idx.h"
#include "data/text/unpack.h"
#include "os/file/file.h"
#include "os/file/output.h"

#define HEAD_MAX  16u
#define CLASSES   256u
#define ROWS_MAX  1000000u
#define ROW_MAX   1000000u
#define PATH_SIZE (LAB_PATH + 128u)

/* Rows of bytes as they lie in an IDX file. */
struct rows {
    uint8_t head[HEAD_MAX];
    size_t head_size;
    uint32_t count; /* That were taken. */
    uint32_t size;  /* Bytes of one. */
    uint8_t *bytes;
};

static uint32_t number_at(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
           (uint32_t)at[2] << 8 | at[3];
}

static enum err read_exactly(struct unpacker *in, void *out, size_t size,
                             struct why *why)
{
    size_t got = 0;
    const enum err err = unpacker_fill(in, out, size, &got, why);

    if (err == ERR_OK && got < size)
        return why_set(why, ERR_TRUNCATED, "it ends too early");
    return err;
}

/* dims: 3 for images, 1 for labels; all of bytes. */
static enum err read_head(struct unpacker *in, uint8_t dims, struct rows *rows,
                          uint32_t *all, struct why *why)
{
    enum err err;

    rows->head_size = 4 + 4 * (size_t)dims;
    err = read_exactly(in, rows->head, rows->head_size, why);
    if (err != ERR_OK)
        return err;
    if (!idx_is_magic(rows->head, rows->head_size) || rows->head[2] != 8 ||
        rows->head[3] != dims)
        return why_set(why, ERR_FORMAT, "it is no such IDX file of MNIST's");
    *all = number_at(rows->head + 4);
    rows->size = 1;
    for (uint8_t i = 1; i < dims; i++) {
        const uint32_t side = number_at(rows->head + 4 + 4 * (size_t)i);

        if (side == 0 || side > ROW_MAX / rows->size)
            return why_set(why, ERR_TOOBIG, "its rows are too long");
        rows->size *= side;
    }
    return *all <= ROWS_MAX ? ERR_OK
                            : why_set(why, ERR_TOOBIG, "it has too many rows");
}

static enum err read_rows(struct unpacker *in, uint8_t dims, uint32_t stride,
                          struct rows *rows, struct why *why)
{
    uint32_t all = 0;
    uint8_t *row;
    enum err err = read_head(in, dims, rows, &all, why);

    if (err != ERR_OK)
        return err;
    rows->bytes = mem_new((size_t)all / stride + 1, rows->size);
    row = mem_new(1, rows->size);
    if (rows->bytes == NULL || row == NULL) {
        mem_free(row);
        return why_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    }
    for (uint32_t i = 0; i < all && err == ERR_OK; i++) {
        err = read_exactly(in, row, rows->size, why);
        if (err == ERR_OK && i % stride == 0)
            memcpy(rows->bytes + (size_t)rows->count++ * rows->size, row,
                   rows->size);
    }
    mem_free(row);
    return err;
}

const char *digits_file(const struct lab *lab, const char *name,
                        char out[DIGITS_NAME])
{
    char path[PATH_SIZE];

    (void)snprintf(out, DIGITS_NAME, "mnist/%.48s", name);
    (void)snprintf(path, sizeof path, "%s/%s", lab->folder, out);
    if (!file_exists(path))
        (void)snprintf(out, DIGITS_NAME, "mnist/%.48s.gz", name);
    return out;
}

static enum err load(const struct lab *lab, const char *name, uint8_t dims,
                     uint32_t stride, struct rows *rows, struct why *why)
{
    char path[PATH_SIZE], file[DIGITS_NAME];
    struct unpacker *in = NULL;
    enum err err;

    (void)snprintf(path, sizeof path, "%s/%s", lab->folder,
                   digits_file(lab, name, file));
    err = unpacker_open(path, &in, why);
    if (err == ERR_OK)
        err = read_rows(in, dims, stride, rows, why);
    unpacker_close(in);
    return err == ERR_OK ? err : why_in(why, err, "%s", path);
}

static enum err save(const struct lab *lab, const char *name, struct rows *rows,
                     const uint32_t *order, struct why *why)
{
    const uint8_t count[4] = {
        (uint8_t)(rows->count >> 24), (uint8_t)(rows->count >> 16),
        (uint8_t)(rows->count >> 8), (uint8_t)rows->count};
    const size_t size = rows->head_size + (size_t)rows->count * rows->size;
    uint8_t *file = mem_new(size, 1);
    char path[PATH_SIZE];
    enum err err;

    if (file == NULL)
        return why_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    memcpy(file, rows->head, rows->head_size);
    memcpy(file + 4, count, sizeof count);
    for (size_t i = 0; i < rows->count; i++)
        memcpy(file + rows->head_size + i * rows->size,
               rows->bytes + (size_t)order[i] * rows->size, rows->size);
    (void)snprintf(path, sizeof path, "%s/%s", lab->folder, name);
    err = output_save(path, file, size, why);
    mem_free(file);
    return err;
}

/* As they stand, or those of a smaller label first. */
static void make_order(const struct rows *labels, bool sorted, uint32_t *order)
{
    uint32_t at = 0;

    for (uint32_t label = 0; label < (sorted ? CLASSES : 1); label++)
        for (uint32_t i = 0; i < labels->count; i++)
            if (!sorted || labels->bytes[i] == label)
                order[at++] = i;
}

static enum err take(const struct lab *lab, const char *from, const char *to,
                     uint32_t stride, bool sorted, struct why *why)
{
    struct rows images = {0}, labels = {0};
    uint32_t *order = NULL;
    char name[96];
    enum err err;

    (void)snprintf(name, sizeof name, "%.40s-images-idx3-ubyte", from);
    err = load(lab, name, 3, stride, &images, why);
    (void)snprintf(name, sizeof name, "%.40s-labels-idx1-ubyte", from);
    if (err == ERR_OK)
        err = load(lab, name, 1, stride, &labels, why);
    if (err == ERR_OK && images.count != labels.count)
        err = why_set(why, ERR_MISMATCH, "mnist: %u images, but %u labels",
                      images.count, labels.count);
    if (err == ERR_OK) {
        order = mem_new((size_t)labels.count + 1, sizeof *order);
        if (order == NULL)
            err = why_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    }
    if (err == ERR_OK) {
        make_order(&labels, sorted, order);
        (void)snprintf(name, sizeof name, "%.40s-images-idx3-ubyte", to);
        err = save(lab, name, &images, order, why);
    }
    (void)snprintf(name, sizeof name, "%.40s-labels-idx1-ubyte", to);
    if (err == ERR_OK)
        err = save(lab, name, &labels, order, why);
    mem_free(order);
    mem_free(images.bytes);
    mem_free(labels.bytes);
    return err;
}

void digits_take(struct lab *lab, const char *from, const char *to,
                 uint32_t stride, bool sorted)
{
    if (lab->err == ERR_OK)
        lab->err = take(lab, from, to, stride, sorted, &lab->why);
}
