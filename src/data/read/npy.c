/*
 * npy.c - a reader for numpy's array files: the header, which is a Python
 * literal, is read by a small parser for the three keys that it may have; cells
 * are table.c's.
 */
#include "data/read/npy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/span.h"
#include "data/table/table.h"

enum { HEADER_MAX = 1 << 16, MAGIC_BYTES = 6 };

bool npy_is_magic(const void *first, size_t size)
{
    return size >= MAGIC_BYTES && memcmp(first, "\x93NUMPY", MAGIC_BYTES) == 0;
}

/* The keys of a header, in the order of their names. */
enum { DESCR, FORTRAN, SHAPE, KEYS };
static const char *const key_name[KEYS] = {"descr", "fortran_order", "shape"};

#define SPACES " \t\r\n"

static const char *skip_spaces(const char *at)
{
    return at + strspn(at, SPACES);
}

/* Without the spaces behind it. */
static struct span span_of(const char *at, const char *end)
{
    while (end > at && strchr(SPACES, end[-1]) != NULL)
        end--;
    return (struct span){at, (size_t)(end - at)};
}

/* Behind a quoted word, or NULL. */
static const char *skip_word(const char *at, struct span *word)
{
    const char quoted = *at;
    const char *end;

    if (quoted != '\'' && quoted != '"')
        return NULL;
    end = strchr(at + 1, quoted);
    if (end == NULL)
        return NULL;
    *word = (struct span){at + 1, (size_t)(end - at) - 1};
    return end + 1;
}

/* To the comma or brace that ends it; NULL: there is none. */
static const char *skip_value(const char *at)
{
    struct span word;
    uint32_t depth = 0;

    while (*at != '\0' && (depth > 0 || (*at != ',' && *at != '}'))) {
        if (*at == '\'' || *at == '"') {
            at = skip_word(at, &word);
            if (at == NULL)
                return NULL;
            continue;
        }
        if (strchr("([{", *at) != NULL)
            depth++;
        else if (strchr(")]}", *at) != NULL && depth-- == 0)
            return NULL;
        at++;
    }
    return *at == '\0' ? NULL : at;
}

/* One 'key': value; behind it, or NULL: it is none of ours, or there twice. */
static const char *take_pair(const char *at, struct span value[KEYS])
{
    struct span word = {0};
    const char *end;
    size_t key = 0;

    at = skip_word(at, &word);
    if (at == NULL)
        return NULL;
    while (key < KEYS && !span_is(word, key_name[key]))
        key++;
    at = skip_spaces(at);
    if (key == KEYS || value[key].at != NULL || *at != ':')
        return NULL;
    at = skip_spaces(at + 1);
    end = skip_value(at);
    if (end != NULL)
        value[key] = span_of(at, end);
    return end;
}

/* {'key': value, ...}, every key once, and spaces to the end. */
static bool take_keys(const char *header, size_t size, struct span value[KEYS])
{
    const char *at = skip_spaces(header);
    bool good = *at == '{';

    at = skip_spaces(at + good);
    while (good && *at != '}') {
        const char *const end = take_pair(at, value);

        good = end != NULL;
        if (good)
            at = *end == ',' ? skip_spaces(end + 1) : end;
    }
    if (good)
        at++;
    for (size_t i = 0; i < KEYS; i++)
        good = good && value[i].at != NULL;
    return good && skip_spaces(at) == header + size;
}

static bool cell_of(char kind, char size, enum cell *cell)
{
    static const struct {
        char kind, size;
        enum cell cell;
    } types[] = {
        {'f', '4', CELL_F32}, {'f', '8', CELL_F64},  {'u', '1', CELL_U8},
        {'u', '2', CELL_U16}, {'u', '4', CELL_U32},  {'u', '8', CELL_U64},
        {'i', '1', CELL_I8},  {'i', '2', CELL_I16},  {'i', '4', CELL_I32},
        {'i', '8', CELL_I64}, {'b', '1', CELL_BOOL},
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].kind == kind && types[i].size == size) {
            *cell = types[i].cell;
            return true;
        }
    }
    return false;
}

static enum err read_descr(struct span descr, struct table *table,
                           struct why *why)
{
    const char *const at = descr.at;
    struct span word = {0};
    const size_t size = skip_word(at, &word) == at + descr.size ? word.size : 0;

    if (size > 1 && strchr("UOS", at[2]) != NULL)
        return why_set(why, ERR_UNSUPPORTED,
                       "words or objects (type %s), not numbers; number labels "
                       "with numpy.unique(y, return_inverse=True)[1], or save "
                       "the table as csv",
                       quote(descr).text);
    if (size != 3 || strchr("<>|=", at[1]) == NULL ||
        !cell_of(at[2], at[3], &table->cell))
        return why_set(why, ERR_UNSUPPORTED,
                       "numbers of type %s are not supported; save them as "
                       "float32",
                       quote(descr).text);
    table->big_endian = at[1] == '>';
    return ERR_OK;
}

/* Digits of one size, maybe with the L of a long in Python 2, and what follows
 * them; false if there are none or too many. */
static bool read_size(const char **at, uint64_t *size)
{
    const char *p = *at;

    *size = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (*size > UINT32_MAX)
            return false;
        *size = *size * 10 + (uint64_t)(*p - '0');
    }
    if (p == *at)
        return false;
    *at = skip_spaces(p + (*p == 'L'));
    return true;
}

/* A tuple: between sizes a comma, which one alone has behind it. */
static enum err read_shape(struct span shape, struct table *table,
                           uint32_t *dims, struct why *why)
{
    const char *at = shape.at;
    bool good = *at == '(', comma = true;

    *dims = 0;
    table->rows = 1;
    table->cols = 1;
    at = skip_spaces(at + good);
    while (good && *at != ')') {
        uint64_t size = 0;

        good = comma && read_size(&at, &size);
        good = good && table_dimension(table, (*dims)++, size);
        comma = good && *at == ',';
        if (comma)
            at = skip_spaces(at + 1);
    }
    if (!good || *dims == 0 || (*dims == 1 && !comma) ||
        at + 1 != shape.at + shape.size)
        return why_set(why, ERR_FORMAT,
                       "the header's shape cannot be understood");
    return ERR_OK;
}

static enum err parse_header(const char *header, size_t size,
                             struct table *table, uint32_t *dims,
                             struct why *why)
{
    struct span value[KEYS] = {{0}};
    enum err err;

    if (!take_keys(header, size, value))
        return why_set(why, ERR_FORMAT,
                       "its header is no dict of descr, fortran_order and "
                       "shape, each once; save the array again");
    err = read_descr(value[DESCR], table, why);
    if (err == ERR_OK)
        err = read_shape(value[SHAPE], table, dims, why);
    if (err != ERR_OK)
        return err;
    table->byte = 1;
    if (!span_is(value[FORTRAN], "False") && !span_is(value[FORTRAN], "True"))
        return why_set(why, ERR_FORMAT,
                       "the header's fortran_order cannot be understood");
    table->by_columns = span_is(value[FORTRAN], "True") && *dims > 1;
    if (table->by_columns && *dims > 2)
        return why_set(why, ERR_UNSUPPORTED,
                       "an array of more than two dimensions is stored by "
                       "columns; save numpy.ascontiguousarray(x)");
    return ERR_OK;
}

static enum err read_header(struct unpacker *in, struct table *table,
                            uint32_t *dims, struct why *why)
{
    uint8_t head[12];
    char *header;
    size_t size;
    enum err err = table_header(in, head, 10, why);

    if (err != ERR_OK)
        return err;
    if (!npy_is_magic(head, 10) || head[6] < 1 || head[6] > 3)
        return why_set(why, ERR_FORMAT, "not an npy file of version 1 to 3");
    size = (size_t)head[8] | (size_t)head[9] << 8;
    if (head[6] > 1) {
        err = table_header(in, head + 10, 2, why);
        if (err != ERR_OK)
            return err;
        size |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
    }
    if (size > HEADER_MAX)
        return why_set(why, ERR_FORMAT, "its header is too large");
    header = mem_new(size + 1, 1);
    if (header == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    err = table_header(in, header, size, why);
    if (err == ERR_OK)
        err = parse_header(header, size, table, dims, why);
    mem_free(header);
    return err;
}

/* Which columns are what; labels of their own leave none for the label. */
static enum err assign(const struct table *table, const double *labels,
                       uint64_t label_count, struct csv *form, struct why *why)
{
    struct columns_wanted wanted = form->wanted;

    if (labels != NULL && table->rows != label_count)
        return why_set(
            why, ERR_MISMATCH, "%llu rows, but there are %llu labels",
            (unsigned long long)table->rows, (unsigned long long)label_count);
    if (table->cols > DATA_COLS_MAX)
        return why_set(why, ERR_TOOBIG, "more than %u columns", DATA_COLS_MAX);
    if (labels != NULL)
        wanted.label = LABEL_NONE;
    form->cols = (uint32_t)table->cols;
    return columns_assign(form, &wanted, &form->columns, why);
}

/* Would a column of the array be taken for the label? */
static bool lacks_label(const struct csv *form, const struct table *table)
{
    const struct columns_wanted *const wanted = &form->wanted;

    return wanted->known != NULL ? table->cols != wanted->known->features
                                 : wanted->label == NULL ||
                                       strcmp(wanted->label, LABEL_NONE) != 0;
}

static enum err begin(struct unpacker *in, const double *labels,
                      uint64_t label_count, const struct stage *stage,
                      struct csv *form, struct table *table, struct why *why)
{
    uint32_t dims = 0;
    enum err err = read_header(in, table, &dims, why);

    if (err == ERR_OK && dims < 2)
        err = why_set(why, ERR_FORMAT,
                      "one number a row; these are labels, name the file of "
                      "rows here and this one as --labels");
    if (err == ERR_OK && table->cols == 0)
        err = why_set(why, ERR_FORMAT, "no rows or no columns");
    if (err == ERR_OK && stage != NULL)
        err = image_agrees(&table->image, &stage->taken, why);
    /* A pixel is nobody's label. */
    if (err == ERR_OK && dims > 2 && labels == NULL && lacks_label(form, table))
        err = why_set(why, ERR_SHAPE,
                      "an array of %u dimensions, whose rows are images and "
                      "have no column for a label; add --labels FILE.npy, a "
                      "label for each image",
                      dims);
    return err == ERR_OK ? assign(table, labels, label_count, form, why) : err;
}

enum err npy_stage(struct unpacker *in, const double *labels,
                   uint64_t label_count, struct csv *form, struct pool *pool,
                   struct stage *stage, struct why *why)
{
    struct table table = {0};
    const enum err err =
        begin(in, labels, label_count, stage, form, &table, why);

    return err == ERR_OK ? table_stage(in, &table, &form->columns, labels, pool,
                                       stage, why)
                         : err;
}

/* Where cell (i, j) lies. */
static size_t place(const struct table *table, uint64_t i, uint64_t j)
{
    return (size_t)(table->by_columns ? j * table->rows + i
                                      : i * table->cols + j);
}

static enum err fill_frame(struct frame *frame, const struct table *table,
                           const struct csv *form, const double *values,
                           const double *labels)
{
    for (uint32_t j = 0; j < form->cols; j++) {
        const uint32_t role = form->columns.role[j];
        double *to = role == COLUMN_LABEL    ? frame->label
                     : role == COLUMN_WEIGHT ? frame->weight
                                             : NULL;

        if (role < COLUMN_FEATURES) {
            to = mem_new(frame->rows, sizeof *to);
            frame->column[role].number = to;
            if (to == NULL)
                return ERR_NOMEM;
        }
        for (uint32_t i = 0; to != NULL && i < frame->rows; i++)
            to[i] = values[place(table, i, j)];
    }
    for (uint32_t i = 0; form->columns.label >= form->cols && i < frame->rows;
         i++)
        frame->label[i] = labels != NULL ? labels[i] : nan("");
    return ERR_OK;
}

static enum err say_weight(const struct frame *frame, uint32_t row,
                           struct why *why)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%.17g", frame->weight[row]);
    return why_in(why, csv_say_weight(text, why), "row %u, column %u", row + 1,
                  frame->csv.columns.weight + 1);
}

/* Labels must be there if they are anywhere, and features if `gaps` is not
 * allowed. */
static enum err check_frame(const struct frame *frame, bool gaps, bool labelled,
                            struct why *why)
{
    for (uint32_t i = 0; i < frame->rows; i++) {
        if (labelled && isnan(frame->label[i]))
            return why_set(why, ERR_RANGE, "row %u: the label is NaN", i + 1);
        if (frame->weight != NULL && !csv_is_weight(frame->weight[i]))
            return say_weight(frame, i, why);
        for (uint32_t j = 0; !gaps && frame->column != NULL && j < frame->cols;
             j++) {
            if (isnan(frame->column[j].number[i]))
                return why_set(why, ERR_RANGE,
                               "row %u, feature %u: NaN; fill such values in, "
                               "or train with --missing mean, median, zero or "
                               "indicator",
                               i + 1, j + 1);
        }
    }
    return ERR_OK;
}

enum err npy_frame(struct unpacker *in, const double *labels,
                   uint64_t label_count, bool gaps, struct csv *form,
                   struct frame *frame, const struct npy_images *images,
                   struct why *why)
{
    struct table table = {0};
    struct frame made = {0};
    double *values = NULL;
    enum err err =
        begin(in, labels, label_count, images != NULL ? images->stage : NULL,
              form, &table, why);

    if (err == ERR_OK && images != NULL && table.image.height > 0)
        return table_stage(in, &table, &form->columns, labels, images->pool,
                           images->stage, why);
    table.gaps = true;
    if (err == ERR_OK)
        err = table_values(in, &table, &values, why);
    if (err != ERR_OK)
        return err;
    made.rows = (uint32_t)table.rows;
    made.cols = form->columns.features;
    made.image = table.image;
    made.column = mem_new(made.cols, sizeof *made.column);
    made.label = mem_new(made.rows, sizeof *made.label);
    if (form->columns.weight < form->cols)
        made.weight = mem_new(made.rows, sizeof *made.weight);
    if (made.column == NULL || made.label == NULL ||
        (form->columns.weight < form->cols && made.weight == NULL) ||
        fill_frame(&made, &table, form, values, labels) != ERR_OK)
        err = why_set(why, ERR_NOMEM, "out of memory");
    mem_free(values);
    made.csv = *form; /* The frame's from now on. */
    *form = (struct csv){0};
    if (err == ERR_OK)
        err = check_frame(&made, gaps, made.csv.columns.label < made.csv.cols,
                          why);
    if (err != ERR_OK) {
        frame_close(&made);
        return err;
    }
    *frame = made;
    return ERR_OK;
}

enum err npy_labels(struct unpacker *in, double **labels, uint64_t *count,
                    struct why *why)
{
    struct table table = {0};
    uint32_t dims = 0;
    enum err err = read_header(in, &table, &dims, why);

    if (err == ERR_OK && table.cols != 1)
        err = why_set(why, ERR_FORMAT,
                      "several numbers a row; a file of labels has one");
    if (err == ERR_OK)
        err = table_values(in, &table, labels, why);
    if (err == ERR_OK)
        *count = table.rows;
    return err;
}

enum err npy_read(struct unpacker *in, struct npy_matrix *matrix,
                  struct why *why)
{
    struct table table = {0};
    uint32_t dims = 0;
    double *value = NULL;
    enum err err = read_header(in, &table, &dims, why);

    if (err == ERR_OK && dims > 2)
        err = why_set(why, ERR_SHAPE,
                      "an array of %u dimensions; a matrix has two, a vector "
                      "one",
                      dims);
    if (err == ERR_OK && (table.rows == 0 || table.cols == 0))
        err = why_set(why, ERR_SHAPE, "no rows or no columns");
    table.gaps = true; /* Who multiplies says where a NaN is. */
    if (err == ERR_OK)
        err = table_values(in, &table, &value, why);
    if (err == ERR_OK)
        *matrix = (struct npy_matrix){.rows = table.rows,
                                      .cols = table.cols,
                                      .vector = dims == 1,
                                      .by_columns = table.by_columns,
                                      .value = value};
    return err;
}
