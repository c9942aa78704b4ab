/*
 * matrix_file.c - a parser for the encoding matrix of code matrix:FILE.  Rows
 * of unlike length and rows or columns of zeros are refused with a sentence: a
 * code built on them would fail much later.
 */
#include "code/matrix_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define NUMBER_BYTES 64u

struct parser {
    const char *at, *end;
    uint32_t line;
    uint32_t rows, cols;
    double *entry;
    size_t count, capacity;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_space(struct parser *parser)
{
    while (parser->at < parser->end && is_space(*parser->at))
        parser->at++;
}

static bool line_ends(const struct parser *parser)
{
    return parser->at == parser->end || *parser->at == '\n';
}

/* One number up to the next separator. */
static enum err parse_number(struct parser *parser, double *value,
                             struct why *why)
{
    char copy[NUMBER_BYTES];
    size_t length = 0;
    char *stop;

    while (!line_ends(parser) && *parser->at != ',' && !is_space(*parser->at) &&
           length < sizeof copy - 1)
        copy[length++] = *parser->at++;
    copy[length] = '\0';
    errno = 0;
    *value = strtod(copy, &stop);
    if (length == 0 || *stop != '\0' || errno == ERANGE)
        return why_set(why, ERR_FORMAT, "line %u: `%.20s` is not a number",
                       parser->line, copy);
    if (!isfinite(*value))
        return why_set(why, ERR_FORMAT, "line %u: %.20s is not finite",
                       parser->line, copy);
    return ERR_OK;
}

static enum err add_number(struct parser *parser, double value)
{
    if (parser->count == parser->capacity) {
        double *grown =
            mem_grow(parser->entry, parser->count, parser->count + 1,
                     sizeof *parser->entry, &parser->capacity);

        if (grown == NULL)
            return ERR_NOMEM;
        parser->entry = grown;
    }
    parser->entry[parser->count++] = value;
    return ERR_OK;
}

static enum err end_row(struct parser *parser, uint32_t cols, struct why *why)
{
    if (parser->rows == 0)
        parser->cols = cols;
    if (cols != parser->cols)
        return why_set(why, ERR_FORMAT,
                       "line %u: %u numbers, expected %u as in the first row",
                       parser->line, cols, parser->cols);
    if (++parser->rows > CODE_NUMERIC_MAX)
        return why_set(why, ERR_SHAPE,
                       "more than %u rows; a matrix serves at "
                       "most so many workers",
                       CODE_NUMERIC_MAX);
    return ERR_OK;
}

static enum err parse_row(struct parser *parser, struct why *why)
{
    uint32_t cols = 0;
    double value;
    enum err err;

    for (;;) {
        skip_space(parser);
        err = parse_number(parser, &value, why);
        if (err == ERR_OK)
            err = add_number(parser, value);
        if (err != ERR_OK)
            return err;
        if (++cols > MATRIX_COLS_MAX)
            return why_set(why, ERR_SHAPE, "line %u: more than %u columns",
                           parser->line, MATRIX_COLS_MAX);
        skip_space(parser);
        if (line_ends(parser))
            return end_row(parser, cols, why);
        if (*parser->at == ',')
            parser->at++;
    }
}

static enum err parse_lines(struct parser *parser, struct why *why)
{
    enum err err = ERR_OK;

    while (parser->at < parser->end && err == ERR_OK) {
        parser->line++;
        skip_space(parser);
        if (!line_ends(parser) && *parser->at == '#')
            parser->at =
                memchr(parser->at, '\n', (size_t)(parser->end - parser->at));
        else if (!line_ends(parser))
            err = parse_row(parser, why);
        if (parser->at == NULL)
            return ERR_OK;
        if (err == ERR_OK && parser->at < parser->end)
            parser->at++;
    }
    return err;
}

static bool all_zero(const double *entry, size_t count, size_t stride)
{
    for (size_t i = 0; i < count; i++) {
        if (entry[i * stride] != 0)
            return false;
    }
    return true;
}

static enum err check(const struct parser *parser, struct why *why)
{
    if (parser->rows == 0)
        return why_set(why, ERR_SHAPE, "there is no matrix in it");
    for (uint32_t i = 0; i < parser->rows; i++) {
        if (all_zero(parser->entry + (size_t)i * parser->cols, parser->cols, 1))
            return why_set(why, ERR_SHAPE,
                           "row %u is all zeros: that worker would do nothing",
                           i + 1);
    }
    for (uint32_t j = 0; j < parser->cols; j++) {
        if (all_zero(parser->entry + j, parser->rows, parser->cols))
            return why_set(why, ERR_SHAPE,
                           "column %u is all zeros: nobody would compute that "
                           "part",
                           j + 1);
    }
    return ERR_OK;
}

enum err matrix_parse(struct code_matrix *matrix, const char *text, size_t size,
                      struct why *why)
{
    struct parser parser = {.at = text, .end = text + size};
    enum err err = parse_lines(&parser, why);

    if (err == ERR_OK)
        err = check(&parser, why);
    if (err == ERR_NOMEM)
        (void)why_set(why, err, "not enough memory for the matrix");
    if (err != ERR_OK) {
        mem_free(parser.entry);
        return err;
    }
    *matrix = (struct code_matrix){parser.rows, parser.cols, parser.entry};
    return ERR_OK;
}

void matrix_close(struct code_matrix *matrix)
{
    mem_free(matrix->entry);
    *matrix = (struct code_matrix){0};
}
