/*
 * encode.h - from a table with words to rows of numbers, and what a model must
 * know to do the same to other tables.
 *
 *     numbers       as they are, or (x - mean)/deviation, or (x - min)/(max -
 *                   min); a constant column becomes 0
 *     categories    one column for each category, 1 where it holds (one-hot)
 *     missing       a number takes the column's fill, a category is none; with
 *                   a flag, one more column is 1 where the field is missing
 *     pairs         one column for each pair of categories of two columns that
 *                   occurs
 *
 * in the order of the columns, pairs after them.  Labels that are words become
 * 0, 1, 2, ... in ascending order.  An encoder is fitted to one table, or to
 * some of its rows, and may be applied to others: a category it has not seen
 * has no column, and so is all zeros.  Sums are taken row by row in binary64:
 * the same bits everywhere.
 *
 * Models keep their encoder as text (encode_text.c), after their weights.  Of
 * rows that are indices and values (LIBSVM) that is what the first index is:
 *
 *     muster encoder 2               the version
 *     index 1                        or 0
 *     end
 *
 * and of tables
 *
 *     muster encoder 2
 *     table 4 names                  columns of the training table; or `bare`
 *     label 4 species                column of the label, from 1, and its name
 *     classes 2 cat dog              if labels are words
 *     columns 3                      features, one a line, column and name:
 *     words 1 colour refuse 2 black red     categories
 *     numbers 2 size refuse 3 1 2.5 4       categories that are numbers
 *     number 3 weight 1.5 0.25 fill 2       offset and factor
 *     pairs 1
 *     pair 0 1 2 0 0 1 2             features, count, categories of each
 *     end
 *
 * A line `values f64` before `index` or `table` says that values were not
 * rounded to fp32, a line `bytes 255` there that a byte k of a file of bytes is
 * k / 255.  `refuse`, `fill` and `flag` say what becomes of missing
 * fields.  Labels that were not in the table are in column 0.  In words, bytes
 * up to the blank, '%' and DEL are written %XX, and no text at all is %.
 */
#ifndef DATA_ENCODE_H
#define DATA_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "data/rows/stage.h"
#include "data/table/frame.h"

enum scaling { SCALE_NONE, SCALE_STANDARD, SCALE_MINMAX };

/* What becomes of missing fields when an encoder is fitted: the column's mean,
 * its median or 0 is filled in; `indicator` is the mean and a flag. */
enum missing {
    MISSING_REFUSE,
    MISSING_MEAN,
    MISSING_MEDIAN,
    MISSING_ZERO,
    MISSING_INDICATOR
};

struct column_pair {
    uint32_t a, b; /* Columns of the frame, categories both. */
};

struct encode_options {
    enum scaling scaling;
    bool all_pairs;                   /* Of categorical columns... */
    const struct column_pair *except; /* ...but not these. */
    uint32_t except_count;
    bool constant; /* A last column of ones. */
    enum missing missing;
    const bool *without; /* Rows not to look at; NULL: none. */
};

enum gap { GAP_REFUSE, GAP_FILL, GAP_FLAG };

struct encoded_column {
    bool categorical;
    uint32_t first;            /* Its first column. */
    enum gap gap;              /* Missing fields; a flag comes last. */
    double fill;               /* Numbers: instead of them. */
    double offset, factor;     /* Numbers: (x - offset) * factor. */
    struct frame_column known; /* Categories: those fitted; no rows. */
};

struct encoded_pair {
    struct column_pair of;
    uint32_t first, count;
    uint64_t *key; /* Ascending: code of a << 32 | code of b. */
};

/* What it was fitted to. */
enum encoder_kind {
    ENCODER_NONE, /* Nothing yet. */
    ENCODER_ROWS, /* Rows of indices and values. */
    ENCODER_TABLE,
};

struct encoder {
    enum encoder_kind kind;
    bool from_zero; /* Indices, where rows have some, are counted from 0. */
    struct schema schema; /* Of a table, its columns. */
    struct encoded_column *column;
    uint32_t columns;
    struct encoded_pair *pair;
    uint32_t pairs;
    uint32_t cols; /* Of the result. */
    bool constant;
    bool wide;     /* Values are kept as f64, not rounded to fp32. */
    uint32_t byte; /* A byte k of IDX or npy stands for k / byte: 1, 255; 0: as
                      the file's form has it. */
    struct frame_column classes; /* Labels that are words; no rows. */
};

/* Fields of a table whose category was not fitted. */
struct unknown_words {
    uint64_t fields;
    uint32_t column; /* Of the first: from 0, without the label. */
    char text[36];   /* Its beginning. */
};

/* ERR_TOOBIG beyond DATA_COLS_MAX columns, ERR_NOMEM: with a sentence. */
MUST_CHECK enum err encoder_fit(struct encoder *encoder,
                                const struct frame *frame,
                                const struct encode_options *options,
                                struct why *why);
void encoder_close(struct encoder *encoder); /* Zeroed is safe. */

/* That of a table of numbers which are taken as they are: takes the schema,
 * which is empty afterwards, whatever the outcome.  ERR_NOMEM. */
MUST_CHECK enum err encoder_plain(struct encoder *encoder,
                                  struct schema *schema);
/* Does it take rows of numbers as they are? */
bool encoder_is_plain(const struct encoder *encoder);
/* The same but for labels, which may be words. */
bool encoder_plain_columns(const struct encoder *encoder);
/* Does it scale a column of numbers? */
bool encoder_scales(const struct encoder *encoder);
/* Does it take missing fields? */
bool encoder_fills(const struct encoder *encoder);
/* What column `col` of the result is called, if the table had names: `age`,
 * `sex=male`, `age missing`, `sex=male & class=3`; else its number from 1. */
void encoder_name(const struct encoder *encoder, uint32_t col, char *text,
                  size_t size);

/* ERR_MISMATCH with a sentence if a label is a word that was not fitted. */
MUST_CHECK enum err encoder_check_labels(const struct encoder *encoder,
                                         const struct frame *frame,
                                         struct why *why);
/* All rows of a frame with the columns fitted, to the stage; ERR_SHAPE if its
 * columns are others.  A label that was not fitted becomes the number of
 * classes; in a table without labels they are NaN. */
MUST_CHECK enum err encoder_apply(const struct encoder *encoder,
                                  const struct frame *frame,
                                  struct stage *stage,
                                  struct unknown_words *unknown,
                                  struct why *why);

/* The same, in one piece. */
MUST_CHECK enum err encoder_rows(const struct encoder *encoder,
                                 const struct frame *frame, struct sparse *rows,
                                 struct why *why);

/* The text above, from mem_new, not NUL-terminated, and back.  ERR_NOMEM;
 * decode also ERR_FORMAT, ERR_TRUNCATED, ERR_TOOBIG, or ERR_UNSUPPORTED for
 * another version: with a sentence. */
MUST_CHECK enum err encoder_to_text(const struct encoder *encoder, char **text,
                                    size_t *size);
MUST_CHECK enum err encoder_from_text(struct encoder *encoder, const char *text,
                                      size_t size, struct why *why);

/* Give every column its place and count them, once all else is there.
 * ERR_TOOBIG beyond DATA_COLS_MAX. */
MUST_CHECK enum err encoder_place_columns(struct encoder *encoder);

/* False if there is none of that name ("none", "standard", "minmax"). */
bool scaling_parse(const char *name, enum scaling *scaling);
const char *scaling_name(enum scaling scaling);
/* "mean", "median", "zero", "indicator", "refuse". */
bool missing_parse(const char *name, enum missing *missing);
const char *missing_name(enum missing missing);

#endif /* DATA_ENCODE_H */
