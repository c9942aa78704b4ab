/*
 * csv.h - comma- or tab-separated tables of numbers.
 *
 * The first line is a header if none of its fields is a number, or if they
 * count up by one as the names that numpy's columns get do (0,1,2 or
 * 2020,2021,2022).  Fields may stand in double quotes ("" is a quote inside);
 * who wants those that go on over a line's end reads a frame.  columns.h says
 * which column is what.
 * True and False are 1 and 0.  Blank lines are skipped; rows of another length,
 * missing fields, words and numbers out of range are refused with line and
 * column: frame.h has the reader that can do more with them.
 */
#ifndef DATA_CSV_H
#define DATA_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "data/rows/stage.h"
#include "data/span.h"
#include "data/table/columns.h"
#include "data/table/csv_field.h"
#include "data/text/text_blocks.h"
#include "data/text/text_source.h"

enum csv_header { HEADER_AUTO, HEADER_YES, HEADER_NO };

/* What fields of a line are. */
struct csv_fields {
    uint32_t numbers, words; /* True and False are numbers. */
    bool run; /* Whole numbers, each one more than the last: names of columns
                 rather than values.  The first may be empty. */
};

/* The form of a table, known after its first line. */
struct csv {
    struct columns_wanted wanted;
    enum csv_header header_wanted;
    char separator; /* 0: found out from the first line. */
    uint32_t cols;  /* Of the file. */
    bool header;
    struct csv_fields first; /* The first line. */
    char *names;             /* Its fields, each with a NUL. */
    struct columns columns;
};

void csv_close(struct csv *csv); /* Zeroed is safe. */

/* Find out the form from the first line.  ERR_FORMAT, ERR_UNKNOWN (no such
 * column), ERR_SHAPE, ERR_TOOBIG, ERR_NOMEM: with a sentence. */
MUST_CHECK enum err csv_begin(struct csv *csv, const char *line, size_t size,
                              struct why *why);
/* The same, without asking which column is what. */
MUST_CHECK enum err csv_look(struct csv *csv, const char *line, size_t size,
                             struct why *why);
/* Is it the line by which Excel is told the separator, `sep=;`?  Then that is
 * it, unless one is known. */
bool csv_says_separator(struct span line, char *separator);
/* What may be behind an error in a table with such a first line: "" or the end
 * of a sentence. */
const char *csv_doubt(const struct csv *csv);
/* The name of a column, or "" if there are none. */
const char *csv_name(const struct csv *csv, uint32_t col);
/* Is it a number from 1 to that of the columns? */
/* "column 3 (age)"; "column 3" if it has no name. */
struct csv_shown {
    char text[sizeof(struct quote) + 32];
};
struct csv_shown csv_shown(const struct csv *csv, uint32_t col);
bool csv_place(const struct csv *csv, struct span wanted, uint32_t *col);
/* The column of that name, or number counted from 1; `:1` is the first even
 * where another is called 1.  ERR_UNKNOWN with a
 * sentence that names the nearest things to try. */
MUST_CHECK enum err csv_find(const struct csv *csv, struct span wanted,
                             uint32_t *col, struct why *why);

/* All rows, numbers only, by all threads; `text` instead of the file if it is
 * not NULL.  ERR_FORMAT or ERR_UNSUPPORTED (features in another order)
 * may be mended by reading a frame. */
MUST_CHECK enum err csv_stage(const char *path, const struct span *text,
                              struct csv *csv, struct pool *pool,
                              struct stage *stage, struct why *why);

/* As text_format wants them; `options` is a struct csv. */
MUST_CHECK enum err csv_block_begin(void *options, const char *line,
                                    size_t size, bool *skip, struct why *why);
MUST_CHECK enum err csv_block(const struct text_block *block,
                              const void *options, struct sparse *sparse,
                              struct why *why);

#endif /* DATA_CSV_H */
