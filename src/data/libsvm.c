#include "data/libsvm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/number.h"

#define QUOTE_MAX 32

/* A piece of the current line. */
struct span {
    const char *at;
    size_t size;
};

/* A span fit for a message: short, printable. */
struct quote {
    char text[QUOTE_MAX + 4];
};

static struct quote quote(struct span span)
{
    struct quote made = {0};
    const size_t size = span.size < QUOTE_MAX ? span.size : QUOTE_MAX;

    for (size_t i = 0; i < size; i++)
        made.text[i] = span.at[i] < ' ' || span.at[i] > '~' ? '?' : span.at[i];
    if (span.size > QUOTE_MAX)
        memcpy(made.text + QUOTE_MAX, "...", 4);
    return made;
}

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
    return why_set(why, ERR_FORMAT, "label '%s' is not a number",
                   quote(field).text);
}

/* An index from 1; 0 if `text` is not one, UINT64_MAX if it is huge. */
static uint64_t index_value(struct span text)
{
    uint64_t index = 0;

    if (text.size == 0)
        return 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return 0;
        if (index > UINT32_MAX)
            return UINT64_MAX;
        index = index * 10 + (uint64_t)(text.at[i] - '0');
    }
    return index;
}

static bool all_zeros(struct span text)
{
    size_t zeros = 0;

    while (zeros < text.size && text.at[zeros] == '0')
        zeros++;
    return zeros > 0 && zeros == text.size;
}

/* `after` is the index before this one on the line, 0 if there is none. */
static enum err read_index(struct span text, uint32_t after, uint32_t *index,
                           struct why *why)
{
    const uint64_t value = index_value(text);

    if (value == 0 && all_zeros(text))
        return why_set(why, ERR_FORMAT, "index 0; LIBSVM indices start at 1");
    if (value == 0)
        return why_set(why, ERR_FORMAT,
                       "index '%s' is not a whole number; LIBSVM indices are "
                       "1, 2, 3, ...",
                       quote(text).text);
    if (value > DATA_COLS_MAX)
        return why_set(why, ERR_TOOBIG,
                       "index %s; at most %u features are supported",
                       quote(text).text, DATA_COLS_MAX);
    if (value == after)
        return why_set(why, ERR_FORMAT,
                       "index %u twice; give each feature once a line", after);
    if (value < after)
        return why_set(why, ERR_FORMAT,
                       "index %u after %u; indices must increase along a line",
                       (uint32_t)value, after);
    *index = (uint32_t)value;
    return ERR_OK;
}

static enum err read_value(struct span text, uint32_t index, float *value,
                           struct why *why)
{
    double wide = 0;
    const enum number number = number_parse(text.at, text.size, &wide);

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
    if (number == NUMBER_HUGE || isinf((float)wide))
        return why_set(why, ERR_RANGE,
                       "feature %u: value %s is too large; at most 3.4e38 "
                       "fits single precision",
                       index, quote(text).text);
    *value = (float)wide;
    return ERR_OK;
}

static enum err read_pair(struct span field, uint32_t after, uint32_t *index,
                          float *value, struct why *why)
{
    const char *const colon = memchr(field.at, ':', field.size);
    struct span left = field;
    struct span right = {0};
    enum err err;

    if (colon == NULL)
        return why_set(why, ERR_FORMAT, "'%s' is not index:value",
                       quote(field).text);
    left.size = (size_t)(colon - field.at);
    right.at = colon + 1;
    right.size = field.size - left.size - 1;
    if (left.size == 3 && memcmp(left.at, "qid", 3) == 0)
        return why_set(why, ERR_UNSUPPORTED,
                       "qid: ranking data are not supported; remove the qid: "
                       "fields");
    err = read_index(left, after, index, why);
    if (err != ERR_OK)
        return err;
    return read_value(right, *index, value, why);
}

static enum err read_row(struct span line, struct sparse *sparse,
                         struct why *why)
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
        float value = 0;

        err = read_pair(field, index, &index, &value, why);
        if (err != ERR_OK)
            return err;
        err = sparse_add(sparse, index - 1, value);
        if (err != ERR_OK)
            return why_set(why, err, "%s", err_text(err));
    }
    return ERR_OK;
}

static enum err read_rows(struct text_source *source, struct sparse *sparse,
                          struct why *why)
{
    for (;;) {
        struct span line;
        const char *comment;
        enum err err = text_line(source, &line.at, &line.size, why);

        if (err != ERR_OK)
            return err;
        if (line.at == NULL)
            break;
        comment = memchr(line.at, '#', line.size);
        if (comment != NULL)
            line.size = (size_t)(comment - line.at);
        err = read_row(line, sparse, why);
        if (err != ERR_OK)
            return why_in(why, err, "line %llu",
                          (unsigned long long)source->line);
    }
    if (sparse->rows == 0)
        return why_set(why, ERR_FORMAT,
                       "no rows; expected lines such as '+1 1:0.5 3:2'");
    return ERR_OK;
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
