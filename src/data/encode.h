/*
 * encode.h - from a table with words to rows of numbers.
 *
 *     numbers       as they are, or (x - mean)/deviation, or (x - min)/(max -
 *                   min); a constant column becomes 0
 *     categories    one column for each category, 1 where it holds (one-hot)
 *     pairs         one column for each pair of categories of two columns that
 *                   occurs
 *
 * in the order of the columns, pairs after them.  Labels that are words become
 * 0, 1, 2, ... in ascending order.  An encoder is fitted to one table and may
 * be applied to others: a category it has not seen has no column, and so is
 * all zeros.  Sums are taken row by row in binary64: the same bits everywhere.
 *
 * Models keep their encoder as text (encode_text.c), after their weights:
 *
 *     muster encoder 1               the version
 *     label species                  name of the label's column, or number
 *     classes 2 cat dog              if labels are words
 *     columns 3                      features of the table, one a line:
 *     words 2 black red                  categories
 *     numbers 3 1 2.5 4                  categories that are numbers
 *     number 1.5 0.25                    offset and factor
 *     pairs 1
 *     pair 0 1 2 0 0 1 2             columns, count, categories of each
 *     end
 *
 * In words, bytes up to the blank, '%' and DEL are written %XX, and no text at
 * all is %.
 */
#ifndef DATA_ENCODE_H
#define DATA_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "data/frame.h"
#include "data/stage.h"

enum scaling { SCALE_NONE, SCALE_STANDARD, SCALE_MINMAX };

struct column_pair {
    uint32_t a, b; /* Columns of the frame, categories both. */
};

struct encode_options {
    enum scaling scaling;
    bool all_pairs;                   /* Of categorical columns... */
    const struct column_pair *except; /* ...but not these. */
    uint32_t except_count;
    bool constant; /* A last column of ones. */
};

struct encoded_column {
    bool categorical;
    uint32_t first;            /* Its first column. */
    double offset, factor;     /* Numbers: (x - offset) * factor. */
    struct frame_column known; /* Categories: those fitted; no rows. */
};

struct encoded_pair {
    struct column_pair of;
    uint32_t first, count;
    uint64_t *key; /* Ascending: code of a << 32 | code of b. */
};

struct encoder {
    struct encoded_column *column;
    uint32_t columns;
    struct encoded_pair *pair;
    uint32_t pairs;
    uint32_t cols; /* Of the result. */
    bool constant;
    struct frame_column classes; /* Labels that are words; no rows. */
    char *label;                 /* Name of the label's column, or number. */
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

#endif /* DATA_ENCODE_H */
