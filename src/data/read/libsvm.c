/*
 * libsvm.c - a parser for LIBSVM's text: a fast path for plain digits, and a
 * careful one that accepts no more, but says what is wrong in which line.
 */
#include "data/read/libsvm.h"

#include <math.h>
#include <string.h>

#include "data/span.h"
#include "data/text/number.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Cut the next blank-separated field off `line`; empty at its end. */
static struct span next_field(struct span *line)
{
    struct span field;

    while (line->size > 0 && is_blank(*line->at)) {
        line->at++;
        line->size--;
    }
    field = (struct span){line->at, 0};
    while (field.size < line->size && !is_blank(line->at[field.size]))
        field.size++;
    line->at += field.size;
    line->size -= field.size;
    return field;
}

static enum err read_label(struct span field, double *label, struct why *why)
{
    if (memchr(field.at, ':', field.size) != NULL)
        return why_set(why, ERR_FORMAT,
                       "label missing; a line starts with a number, then "
                       "index:value pairs");
    switch (number_parse(field.at, field.size, label)) {
    case NUMBER_OK:
        return ERR_OK;
    case NUMBER_NONFINITE:
        return why_set(why, ERR_RANGE, "label %s; labels must be finite",
                       quote(field).text);
    case NUMBER_HUGE:
        return why_set(why, ERR_RANGE, "label %s is too large",
                       quote(field).text);
    case NUMBER_NOT:
        break;
    }
    return why_set(why, ERR_FORMAT,
                   "label '%s' is not a number; if this is a table, add "
                   "--input csv",
                   quote(field).text);
}

/* UINT64_MAX if `text` is no index. */
static uint64_t index_value(struct span text)
{
    uint64_t index = 0;

    if (text.size == 0)
        return UINT64_MAX;
    for (size_t i = 0; i < text.size; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return UINT64_MAX;
        if (index <= UINT32_MAX)
            index = index * 10 + (uint64_t)(text.at[i] - '0');
    }
    return index;
}

/* Counted from 1, whatever the text does: `shift` is 1 if that starts at 0.
 * `after` is the index before this one on the line, 0 if there is none. */
static enum err read_index(struct span text, uint32_t shift, uint32_t after,
                           uint32_t *index, struct why *why)
{
    const uint64_t value = index_value(text);

    if (value == UINT64_MAX)
        return why_set(why, ERR_FORMAT,
                       "index '%s' is not a whole number; LIBSVM indices are "
                       "1, 2, 3, ...",
                       quote(text).text);
    if (value + shift == 0)
        return why_set(why, ERR_MISMATCH,
                       "index 0; LIBSVM indices start at 1, or at 0 with "
                       "--zero-based");
    if (value + shift > DATA_COLS_MAX)
        return why_set(why, ERR_TOOBIG,
                       "index %s; at most %u features are supported",
                       quote(text).text, DATA_COLS_MAX);
    if (value + shift == after)
        return why_set(why, ERR_FORMAT,
                       "index %u twice; give each feature once a line",
                       after - shift);
    if (value + shift < after)
        return why_set(why, ERR_FORMAT,
                       "index %u after %u; indices must increase along a line",
                       (uint32_t)value, after - shift);
    *index = (uint32_t)value + shift;
    return ERR_OK;
}

static enum err say_too_large(bool wide, struct span text, uint32_t index,
                              struct why *why)
{
    return why_set(why, ERR_RANGE,
                   "feature %u: value %s is too large; at most %s", index,
                   quote(text).text, sparse_limit(wide));
}

static enum err read_value(const struct sparse *sparse, struct span text,
                           uint32_t index, double *value, struct why *why)
{
    double parsed = 0;
    const enum number number = number_parse(text.at, text.size, &parsed);

    if (text.size == 0)
        return why_set(why, ERR_FORMAT,
                       "feature %u: value missing; write %u:VALUE without "
                       "blanks",
                       index, index);
    if (number == NUMBER_NOT)
        return why_set(why, ERR_FORMAT,
                       "feature %u: value '%s' is not a number", index,
                       quote(text).text);
    if (number == NUMBER_NONFINITE)
        return why_set(why, ERR_RANGE,
                       "feature %u: value %s; values must be finite", index,
                       quote(text).text);
    if (number == NUMBER_HUGE || !sparse_in_range(sparse, parsed))
        return say_too_large(sparse->wide || number == NUMBER_HUGE, text, index,
                             why);
    *value = parsed;
    return ERR_OK;
}

static enum err read_pair(const struct sparse *sparse, struct span field,
                          uint32_t shift, uint32_t after, uint32_t *index,
                          double *value, struct why *why)
{
    const char *const colon = memchr(field.at, ':', field.size);
    struct span left = field;
    struct span right = {0};
    enum err err;

    if (colon == NULL)
        return why_set(why, ERR_FORMAT,
                       "'%s' is not index:value; if this is a table with "
                       "blanks, add --input csv --separator ' '",
                       quote(field).text);
    left.size = (size_t)(colon - field.at);
    right.at = colon + 1;
    right.size = field.size - left.size - 1;
    if (left.size == 3 && memcmp(left.at, "qid", 3) == 0)
        return why_set(why, ERR_UNSUPPORTED,
                       "qid: ranking data are not supported; remove the qid: "
                       "fields");
    err = read_index(left, shift, after, index, why);
    if (err != ERR_OK)
        return err;
    return read_value(sparse, right, *index, value, why);
}

static enum err read_row(struct span line, uint32_t shift,
                         struct sparse *sparse, struct why *why)
{
    struct span field = next_field(&line);
    double label = 0;
    uint32_t index = 0;
    enum err err;

    if (field.size == 0)
        return ERR_OK;
    err = read_label(field, &label, why);
    if (err != ERR_OK)
        return err;
    err = sparse_add_row(sparse, label);
    if (err != ERR_OK)
        return why_set(why, err, "%s", err_text(err));
    for (field = next_field(&line); field.size > 0; field = next_field(&line)) {
        double value = 0;

        err = read_pair(sparse, field, shift, index, &index, &value, why);
        if (err != ERR_OK)
            return err;
        err = sparse_add(sparse, index - 1, value);
        if (err != ERR_OK)
            return why_set(why, err, "%s", err_text(err));
    }
    return ERR_OK;
}

static struct span without_comment(struct span line)
{
    const char *const comment = memchr(line.at, '#', line.size);

    if (comment != NULL)
        line.size = (size_t)(comment - line.at);
    return line;
}

static enum err say_no_rows(struct why *why)
{
    return why_set(why, ERR_FORMAT,
                   "no rows; expected lines such as '+1 1:0.5 3:2'");
}

static enum err read_rows(struct text_source *source, struct sparse *sparse,
                          struct why *why)
{
    for (;;) {
        struct span line;
        enum err err = text_line(source, &line.at, &line.size, why);

        if (err != ERR_OK)
            return err;
        if (line.at == NULL)
            break;
        err = read_row(without_comment(line), 0, sparse, why);
        if (err != ERR_OK)
            return why_in(why, err, "line %llu",
                          (unsigned long long)source->line);
    }
    return sparse->rows == 0 ? say_no_rows(why) : ERR_OK;
}

enum err libsvm_read(struct text_source *source, struct sparse *sparse,
                     struct why *why)
{
    struct sparse made = {0};
    const enum err err = read_rows(source, &made, why);

    if (err != ERR_OK) {
        sparse_close(&made);
        return err;
    }
    *sparse = made;
    return ERR_OK;
}

/*
 * The fast reader: one pass over the characters, no calls, for lines as
 * programs write them.  It reads up to the line feed that ends every line (its
 * caller sees to it), and whatever surprises it makes it give the line up to
 * the careful reader above, which then judges.
 */

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* "index:" at *at, greater than `after` when shifted. */
static bool fast_index(const char **at, uint32_t shift, uint32_t after,
                       uint32_t *index)
{
    const char *p = *at;
    uint32_t value = 0;

    for (; is_digit(*p) && value <= DATA_COLS_MAX; p++)
        value = value * 10 + (uint32_t)(*p - '0');
    value += shift;
    if (*p != ':' || value <= after || value > DATA_COLS_MAX || p == *at)
        return false;
    *at = p + 1;
    *index = value;
    return true;
}

/* A value and the blank or line feed after it; *at is left on that. */
static bool fast_value(const char **at, const struct sparse *sparse,
                       double *value)
{
    const char *const p = *at;

    /* One digit: all values of one-hot rows. */
    if (is_digit(p[0]) && (p[1] == ' ' || p[1] == '\n')) {
        *value = (double)(p[0] - '0');
        *at = p + 1;
        return true;
    }
    return number_scan(at, value) && (**at == ' ' || **at == '\n') &&
           sparse_in_range(sparse, *value);
}

static bool fast_row(const char *p, uint32_t shift, struct sparse *sparse)
{
    size_t used = sparse_entries(sparse);
    uint32_t index = 0;
    double wide;

    if (!number_scan(&p, &wide))
        return false;
    sparse->label[sparse->rows] = wide;
    for (;;) {
        while (*p == ' ')
            p++;
        if (*p == '\n')
            break;
        if (!fast_index(&p, shift, index, &index) ||
            !fast_value(&p, sparse, &sparse->value[used]))
            return false;
        sparse->index[used++] = index - 1;
    }
    sparse->rows++;
    sparse->start[sparse->rows] = used;
    if (index > sparse->cols)
        sparse->cols = index;
    return true;
}

static enum err read_line(const char *line, size_t size, uint32_t shift,
                          struct sparse *sparse, struct why *why)
{
    struct span careful = {line, size};
    /* An entry takes four characters, "1:1 ". */
    const enum err err = sparse_reserve(sparse, size / 4 + 1);

    if (err != ERR_OK)
        return why_set(why, err, "%s", err_text(err));
    if (fast_row(line, shift, sparse))
        return ERR_OK;
    if (careful.size > 0 && line[careful.size - 1] == '\r')
        careful.size--;
    return read_row(without_comment(careful), shift, sparse, why);
}

enum err libsvm_block(const struct text_block *block, const void *options,
                      struct sparse *sparse, struct why *why)
{
    const struct libsvm_options *const how = options;
    const uint32_t shift = how != NULL && how->from_zero ? 1 : 0;
    const char *at = block->text;
    const char *const end = at + block->size;
    uint64_t lines = 0;

    while (at < end) {
        const char *const feed = memchr(at, '\n', (size_t)(end - at));
        const size_t size = (size_t)(feed - at);
        enum err err;

        lines++;
        if (size > TEXT_LINE_MAX)
            return why_set(why, ERR_TOOBIG, "longer than 2 GiB");
        err = read_line(at, size, shift, sparse, why);
        if (err != ERR_OK)
            return why_in(why, err, "line %llu",
                          (unsigned long long)block->lines_before + lines);
        at = feed + 1;
    }
    return ERR_OK;
}

enum err libsvm_stage(const char *path, bool from_zero, struct pool *pool,
                      struct stage *stage, bool *index_zero, struct why *why)
{
    struct libsvm_options how = {.from_zero = from_zero};
    const struct text_format format = {.read = libsvm_block, .options = &how};
    const enum err err = text_blocks_read(path, &format, pool, stage, why);

    *index_zero = err == ERR_MISMATCH; /* read_index has it for itself. */
    if (err != ERR_OK)
        return err;
    return stage_rows(stage) == 0 ? say_no_rows(why) : ERR_OK;
}
