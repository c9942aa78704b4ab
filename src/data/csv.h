/*
 * csv.h - comma- or tab-separated tables of numbers.
 *
 * The first line is a header if none of its fields is a number.  Fields may
 * stand in double quotes ("" is a quote inside), but not go on over a line's
 * end.  One column is the label, the last unless the user says; the others are
 * the features, in order.  Blank lines are skipped; rows of another length,
 * empty fields, words and numbers out of range are refused with line and
 * column.
 */
#ifndef DATA_CSV_H
#define DATA_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "data/span.h"
#include "data/stage.h"
#include "data/text_blocks.h"

/* The form of a table, known after its first line. */
struct csv {
    const char *label_wanted; /* Name or number from 1; NULL: the last. */
    char separator;           /* 0: found out from the first line. */
    uint32_t cols;            /* The label included. */
    uint32_t label;           /* From 0; cols if there is none. */
    bool header;
    bool no_label; /* Every column is a feature. */
    char *names;   /* cols NUL-terminated names, if there is a header. */
};

void csv_close(struct csv *csv); /* Zeroed is safe. */

/* Find out the form from the first line.  ERR_FORMAT, ERR_UNKNOWN (no such
 * column), ERR_TOOBIG, ERR_NOMEM: with a sentence. */
MUST_CHECK enum err csv_begin(struct csv *csv, const char *line, size_t size,
                              struct why *why);
/* The name of a column, or "" if there are none. */
const char *csv_name(const struct csv *csv, uint32_t col);
/* The column of that name, or number counted from 1.  ERR_UNKNOWN with a
 * sentence that names the nearest things to try. */
MUST_CHECK enum err csv_find(const struct csv *csv, struct span wanted,
                             uint32_t *col, struct why *why);

/* Cuts the next field off `line`.  A quoted field is unquoted in place of
 * `scratch`, which has room for the line.  *more says whether a separator
 * followed.  ERR_FORMAT with a sentence. */
MUST_CHECK enum err csv_field(char separator, struct span *line, char *scratch,
                              struct span *field, bool *more, struct why *why);

/* All rows, numbers only, by all threads. */
MUST_CHECK enum err csv_stage(const char *path, struct csv *csv,
                              struct pool *pool, struct stage *stage,
                              struct why *why);

/* As text_format wants them; `options` is a struct csv. */
MUST_CHECK enum err csv_block_begin(void *options, const char *line,
                                    size_t size, bool *skip, struct why *why);
MUST_CHECK enum err csv_block(const struct text_block *block,
                              const void *options, struct sparse *sparse,
                              struct why *why);

/* A field as a number; the sentence does not name the column. */
MUST_CHECK enum err csv_number(struct span field, double *value,
                               struct why *why);

#endif /* DATA_CSV_H */
