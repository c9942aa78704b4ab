/*
 * idx.c - a reader for IDX files (MNIST): the header; cells are table.c's.
 */
#include "data/read/idx.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/table/table.h"

enum { DIMS_MOST = 8 };

bool idx_is_magic(const void *first, size_t size)
{
    const uint8_t *const bytes = first;

    return size >= 4 && bytes[0] == 0 && bytes[1] == 0 && bytes[2] >= 8 &&
           bytes[2] <= 14 && bytes[3] >= 1 && bytes[3] <= DIMS_MOST;
}

bool idx_labels_name(const char *images, char *out, size_t size)
{
    static const char *const kinds[][2] = {{"images-idx3", "labels-idx1"},
                                           {"images.idx3", "labels.idx1"}};
    const char *slash = strrchr(images, '/');
    const char *name = slash != NULL ? slash + 1 : images;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *at = strstr(name, kinds[i][0]);

        if (at != NULL)
            return (size_t)snprintf(out, size, "%.*s%s%s", (int)(at - images),
                                    images, kinds[i][1],
                                    at + strlen(kinds[i][0])) < size;
    }
    return false;
}

static bool cell_of(uint8_t type, enum cell *cell)
{
    static const struct {
        uint8_t type;
        enum cell cell;
    } types[] = {{8, CELL_U8},   {9, CELL_I8},   {11, CELL_I16},
                 {12, CELL_I32}, {13, CELL_F32}, {14, CELL_F64}};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].type == type) {
            *cell = types[i].cell;
            return true;
        }
    }
    return false;
}

static enum err read_header(struct unpacker *in, struct table *table,
                            uint32_t *dims, struct why *why)
{
    uint8_t bytes[4];
    enum err err = table_header(in, bytes, sizeof bytes, why);

    if (err != ERR_OK)
        return err;
    if (!idx_is_magic(bytes, sizeof bytes) || !cell_of(bytes[2], &table->cell))
        return why_set(why, ERR_FORMAT,
                       "not an IDX file: it begins with %02x %02x %02x %02x",
                       bytes[0], bytes[1], bytes[2], bytes[3]);
    *dims = bytes[3];
    table->big_endian = true;
    table->cols = 1;
    table->byte = 255;
    for (uint32_t i = 0; i < *dims; i++) {
        uint64_t size;

        err = table_header(in, bytes, sizeof bytes, why);
        if (err != ERR_OK)
            return err;
        size = (uint64_t)bytes[0] << 24 | (uint64_t)bytes[1] << 16 |
               (uint64_t)bytes[2] << 8 | bytes[3];
        if (!table_dimension(table, i, size))
            return why_set(why, ERR_TOOBIG, "its dimensions are too large");
    }
    return ERR_OK;
}

enum err idx_stage(struct unpacker *in, const double *labels,
                   uint64_t label_count, uint64_t *cols, struct pool *pool,
                   struct stage *stage, struct why *why)
{
    struct table table = {0};
    uint32_t dims = 0;
    enum err err = read_header(in, &table, &dims, why);

    if (err == ERR_OK)
        err = image_agrees(&table.image, &stage->taken, why);
    if (err != ERR_OK)
        return err;
    if (dims < 2)
        return why_set(why, ERR_FORMAT,
                       "one number a row; these are labels, name the file of "
                       "images here and this one as --labels");
    if (labels != NULL && table.rows != label_count)
        return why_set(
            why, ERR_MISMATCH, "%llu rows, but there are %llu labels",
            (unsigned long long)table.rows, (unsigned long long)label_count);
    *cols = table.cols;
    return table_stage(in, &table, NULL, labels, pool, stage, why);
}

enum err idx_labels(struct unpacker *in, double **labels, uint64_t *count,
                    struct why *why)
{
    struct table table = {0};
    uint32_t dims = 0;
    enum err err = read_header(in, &table, &dims, why);

    if (err != ERR_OK)
        return err;
    if (dims != 1)
        return why_set(why, ERR_FORMAT,
                       "several numbers a row; a file of labels has one");
    err = table_values(in, &table, labels, why);
    if (err == ERR_OK)
        *count = table.rows;
    return err;
}
