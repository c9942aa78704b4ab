#include "data/npy.h"

#include <string.h>

#include "base/mem.h"
#include "data/span.h"
#include "data/table.h"

enum { HEADER_MAX = 1 << 16, MAGIC_BYTES = 6 };

bool npy_is_magic(const void *first, size_t size)
{
    return size >= MAGIC_BYTES && memcmp(first, "\x93NUMPY", MAGIC_BYTES) == 0;
}

/* The text after 'key': in the header; NULL if it is not there. */
static const char *after_key(const char *header, const char *key)
{
    const char *at = strstr(header, key);

    if (at == NULL)
        return NULL;
    at += strlen(key);
    while (*at == ' ')
        at++;
    if (*at != ':')
        return NULL;
    at++;
    while (*at == ' ')
        at++;
    return at;
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

static enum err read_descr(const char *header, struct table *table,
                           struct why *why)
{
    const char *at = after_key(header, "'descr'");
    const size_t size = at == NULL || *at != '\'' ? 0 : strcspn(at + 1, "'");

    if (size != 3 || strchr("<>|=", at[1]) == NULL ||
        !cell_of(at[2], at[3], &table->cell))
        return why_set(why, ERR_UNSUPPORTED,
                       "numbers of type %s are not supported; save them as "
                       "float32",
                       at == NULL ? "unknown"
                                  : quote((struct span){at, size + 2}).text);
    table->big_endian = at[1] == '>';
    return ERR_OK;
}

/* Digits of one size; false if there are none or too many. */
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
    while (*p == ' ' || *p == ',')
        p++;
    *at = p;
    return true;
}

static enum err read_shape(const char *header, struct table *table,
                           uint32_t *dims, struct why *why)
{
    const char *at = after_key(header, "'shape'");
    bool good = at != NULL && *at == '(';

    *dims = 0;
    table->rows = 1;
    table->cols = 1;
    if (good)
        at++;
    while (good && *at != ')') {
        uint64_t size = 0;

        good = read_size(&at, &size);
        if (*dims == 0)
            table->rows = size;
        else if (__builtin_mul_overflow(table->cols, size, &table->cols))
            good = false;
        ++*dims;
    }
    if (!good || *dims == 0)
        return why_set(why, ERR_FORMAT,
                       "the header's shape cannot be understood");
    return ERR_OK;
}

static enum err parse_header(const char *header, struct table *table,
                             uint32_t *dims, struct why *why)
{
    const char *order = after_key(header, "'fortran_order'");
    enum err err = read_descr(header, table, why);

    if (err == ERR_OK)
        err = read_shape(header, table, dims, why);
    if (err != ERR_OK)
        return err;
    table->divisor = 1;
    if (order == NULL || strncmp(order, "False", 5) != 0)
        return why_set(why, ERR_UNSUPPORTED,
                       "the array is stored by columns; save "
                       "numpy.ascontiguousarray(x)");
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
        err = parse_header(header, table, dims, why);
    mem_free(header);
    return err;
}

static enum err check_labels(const struct table *table, const double *labels,
                             uint64_t label_count, uint64_t label_column,
                             struct why *why)
{
    if (labels != NULL && table->rows != label_count)
        return why_set(
            why, ERR_MISMATCH, "%llu rows, but there are %llu labels",
            (unsigned long long)table->rows, (unsigned long long)label_count);
    if (labels == NULL && label_column > table->cols)
        return why_set(
            why, ERR_UNKNOWN, "no column %llu to be the label; there are %llu",
            (unsigned long long)label_column, (unsigned long long)table->cols);
    return ERR_OK;
}

enum err npy_stage(struct unpacker *in, const double *labels,
                   uint64_t label_count, uint64_t label_column,
                   struct pool *pool, struct stage *stage, struct why *why)
{
    struct table table = {0};
    uint32_t dims = 0;
    enum err err = read_header(in, &table, &dims, why);

    if (err == ERR_OK && dims < 2)
        err = why_set(why, ERR_FORMAT,
                      "one number a row; these are labels, name the file of "
                      "rows here and this one as --labels");
    if (err == ERR_OK)
        err = check_labels(&table, labels, label_count, label_column, why);
    if (err != ERR_OK)
        return err;
    if (labels != NULL)
        return table_stage(in, &table, table.cols, labels, pool, stage, why);
    return table_stage(in, &table,
                       label_column == 0 ? table.cols - 1 : label_column - 1,
                       NULL, pool, stage, why);
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
