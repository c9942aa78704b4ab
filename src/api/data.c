/*
 * data.c - handles of rows: arrays of the caller's, looked at where they lie,
 * a table by columns, or the name of a file.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/handle.h"
#include "base/mem.h"

enum err type_cell(enum muster_type type, enum cell *cell, struct why *why)
{
    static const enum cell cells[] = {
        [MUSTER_DOUBLE] = CELL_F64, [MUSTER_FLOAT] = CELL_F32,
        [MUSTER_INT8] = CELL_I8,    [MUSTER_UINT8] = CELL_U8,
        [MUSTER_INT16] = CELL_I16,  [MUSTER_UINT16] = CELL_U16,
        [MUSTER_INT32] = CELL_I32,  [MUSTER_UINT32] = CELL_U32,
        [MUSTER_INT64] = CELL_I64,  [MUSTER_UINT64] = CELL_U64,
        [MUSTER_BOOL] = CELL_BOOL,
    };

    if ((int)type < MUSTER_DOUBLE || type > MUSTER_BOOL)
        return why_set(why, ERR_SHAPE, "there is no type %d", (int)type);
    *cell = cells[type];
    return ERR_OK;
}

/* The handle of `made`, or its end. */
static enum muster_status give(enum err err, struct muster_data *made,
                               struct muster_data **data,
                               const struct why *sentence, char *why)
{
    if (err == ERR_OK && data != NULL)
        *data = made;
    else
        muster_data_free(made);
    return status_end(err, sentence, why);
}

/* A fresh one, if there is somewhere to put it. */
static enum err begin(struct muster_data **data, struct muster_data **made,
                      struct why *why)
{
    *made = NULL;
    if (data == NULL)
        return why_set(why, ERR_SHAPE, "there is nowhere to put the rows");
    *made = mem_new(1, sizeof **made);
    return *made == NULL ? ERR_NOMEM : ERR_OK;
}

enum err matrix_take(const struct muster_matrix *given,
                     struct memory_rows *rows, struct why *why)
{
    struct muster_matrix matrix;
    enum err err =
        struct_take(given, STRUCT_LEAST(struct muster_matrix, column_step),
                    sizeof matrix, &matrix, why);

    if (err == ERR_OK)
        err = type_cell(matrix.type, &rows->cell, why);
    if (err != ERR_OK)
        return err;
    if (matrix.values == NULL || matrix.rows == 0 || matrix.columns == 0)
        return why_set(why, ERR_SHAPE, "a matrix without rows or columns");
    rows->x = matrix.values;
    rows->rows = matrix.rows;
    rows->cols = matrix.columns;
    rows->row_step = matrix.row_step;
    rows->col_step = matrix.column_step;
    return ERR_OK;
}

enum muster_status muster_data_dense(const struct muster_matrix *matrix,
                                     struct muster_data **data, char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    struct muster_data *made;
    enum err err = begin(data, &made, &sentence);

    if (made != NULL)
        err = matrix_take(matrix, &made->rows, &sentence);
    return give(err, made, data, &sentence, why);
}

/* Rows without any entry need no columns. */
static bool has_entries(const struct muster_csr *csr, enum cell begin)
{
    const size_t bytes = cell_bytes(begin);

    for (uint64_t i = 1; i <= csr->rows; i++)
        if (memcmp((const char *)csr->begin + i * bytes, csr->begin, bytes) !=
            0)
            return true;
    return false;
}

static enum err take_csr(const struct muster_csr *given,
                         struct memory_rows *rows, struct why *why)
{
    struct muster_csr csr;
    enum err err =
        struct_take(given, STRUCT_LEAST(struct muster_csr, value_type),
                    sizeof csr, &csr, why);

    if (err == ERR_OK)
        err = type_cell(csr.begin_type, &rows->begin_cell, why);
    if (err == ERR_OK)
        err = type_cell(csr.column_type, &rows->column_cell, why);
    if (err == ERR_OK && csr.value != NULL)
        err = type_cell(csr.value_type, &rows->cell, why);
    if (err != ERR_OK)
        return err;
    if (csr.begin == NULL || csr.rows == 0 || csr.columns == 0)
        return why_set(why, ERR_SHAPE, "a matrix without rows or columns");
    if ((rows->begin_cell != CELL_I32 && rows->begin_cell != CELL_I64) ||
        (rows->column_cell != CELL_I32 && rows->column_cell != CELL_I64))
        return why_set(why, ERR_SHAPE,
                       "begin and column must be MUSTER_INT32 or MUSTER_INT64");
    if (csr.column == NULL && has_entries(&csr, rows->begin_cell))
        return why_set(why, ERR_SHAPE,
                       "there are entries, but no columns of theirs");
    rows->begin = csr.begin;
    rows->column = csr.column;
    rows->value = csr.value;
    rows->rows = csr.rows;
    rows->cols = csr.columns;
    return ERR_OK;
}

enum muster_status muster_data_csr(const struct muster_csr *csr,
                                   struct muster_data **data, char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    struct muster_data *made;
    enum err err = begin(data, &made, &sentence);

    if (made != NULL)
        err = take_csr(csr, &made->rows, &sentence);
    return give(err, made, data, &sentence, why);
}

enum muster_status muster_data_file(const char *path, struct muster_data **data,
                                    char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    struct muster_data *made;
    enum err err = begin(data, &made, &sentence);

    if (made != NULL && path != NULL && path[0] != '\0') {
        made->path = mem_new(strlen(path) + 1, 1);
        if (made->path == NULL)
            err = ERR_NOMEM;
        else
            memcpy(made->path, path, strlen(path));
    } else if (made != NULL) {
        err = why_set(&sentence, ERR_SHAPE, "there is no name of a file");
    }
    return give(err, made, data, &sentence, why);
}

static enum err take_stream(struct ArrowArrayStream *stream,
                            struct muster_data *made, struct why *why)
{
    const enum err err =
        stream == NULL || stream->release == NULL
            ? why_set(why, ERR_SHAPE, "there is no stream, or it is released")
            : arrow_read(stream, &made->table, why);

    if (err != ERR_OK)
        return err;
    made->rows.arrow = &made->table;
    made->rows.rows = made->table.rows;
    made->rows.cols = (uint64_t)made->table.schema.n_children;
    return ERR_OK;
}

enum muster_status muster_data_arrow(struct ArrowArrayStream *stream,
                                     struct muster_data **data, char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    struct muster_data *made;
    enum err err = begin(data, &made, &sentence);

    if (made == NULL) {
        if (stream != NULL && stream->release != NULL)
            stream->release(stream); /* As ever: it is the callee's to end. */
        return give(err, made, data, &sentence, why);
    }
    err = take_stream(stream, made, &sentence);
    if (err == ERR_OK)
        *data = made;
    else
        muster_data_free(made);
    return status_of_data(err, &sentence, why);
}

static enum err check_value(double value, double least, uint64_t row,
                            const char *what, struct why *why)
{
    if (isfinite(value) && value >= least)
        return ERR_OK;
    return why_set(why, ERR_SHAPE, "%s: that of row %llu is %s", what,
                   (unsigned long long)row,
                   isfinite(value) ? "below 0" : "not finite");
}

/* One number for each row, as doubles.  The old ones go once all of the new
 * ones are good: the rows point to them. */
static enum err take_vector(struct muster_data *data,
                            const struct muster_vector *given, double least,
                            double **out, const char *what, struct why *why)
{
    struct muster_vector vector;
    enum cell cell = CELL_F64;
    double *values;
    enum err err = struct_take(given, STRUCT_LEAST(struct muster_vector, step),
                               sizeof vector, &vector, why);

    if (data == NULL || data->path != NULL || data->rows.arrow != NULL)
        return why_set(
            why, ERR_SHAPE,
            "%s are given for arrays; those of a file or table are in it",
            what);
    if (err == ERR_OK)
        err = type_cell(vector.type, &cell, why);
    if (err == ERR_OK && vector.values == NULL)
        err = why_set(why, ERR_SHAPE, "%s: there are none", what);
    if (err == ERR_OK && vector.count != data->rows.rows)
        err = why_set(why, ERR_SHAPE, "%llu %s, but there are %llu rows",
                      (unsigned long long)vector.count, what,
                      (unsigned long long)data->rows.rows);
    if (err != ERR_OK)
        return err;
    if (vector.step == 0)
        vector.step = (int64_t)cell_bytes(cell);
    values = mem_new(vector.count, sizeof *values);
    if (values == NULL)
        return ERR_NOMEM;
    for (uint64_t i = 0; err == ERR_OK && i < vector.count; i++) {
        values[i] = cell_load(cell, (const char *)vector.values +
                                        (int64_t)i * vector.step);
        err = check_value(values[i], least, i, what, why);
    }
    if (err != ERR_OK) {
        mem_free(values);
        return err;
    }
    mem_free(*out);
    *out = values;
    return ERR_OK;
}

enum muster_status muster_data_labels(struct muster_data *data,
                                      const struct muster_vector *labels,
                                      char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    const enum err err =
        take_vector(data, labels, -HUGE_VAL, data == NULL ? NULL : &data->label,
                    "labels", &sentence);

    if (err == ERR_OK && data != NULL)
        data->rows.label = data->label;
    return status_end(err, &sentence, why);
}

enum muster_status muster_data_weights(struct muster_data *data,
                                       const struct muster_vector *weights,
                                       char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    const enum err err =
        take_vector(data, weights, 0, data == NULL ? NULL : &data->weight,
                    "weights", &sentence);

    if (err == ERR_OK && data != NULL)
        data->rows.weight = data->weight;
    return status_end(err, &sentence, why);
}

uint64_t muster_data_rows(const struct muster_data *data)
{
    return data != NULL ? data->rows.rows : 0;
}

void muster_data_free(struct muster_data *data)
{
    if (data == NULL)
        return;
    arrow_close(&data->table);
    mem_free(data->path);
    mem_free(data->label);
    mem_free(data->weight);
    mem_free(data);
}
