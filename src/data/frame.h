/*
 * frame.h - a table in memory by columns, words and all, for encoders.
 *
 * A column is numbers or categories.  Categories are numbered in ascending
 * order, as numbers if all of them are ("1.50" is "1.5"), else byte by byte,
 * so that numbering depends on which there are and not on the order of rows.
 */
#ifndef DATA_FRAME_H
#define DATA_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "data/csv.h"
#include "data/text_source.h"

struct category {
    char *text;   /* As it was first seen. */
    double value; /* If the column's categories are numbers. */
};

struct frame_column {
    bool categorical;
    bool numeric;   /* Categories that are all numbers. */
    double *number; /* rows, if not categorical. */
    uint32_t *code; /* rows, if categorical: 0..categories-1. */
    struct category *category;
    uint32_t categories;
};

struct frame {
    uint32_t rows, cols; /* Without the label. */
    struct frame_column *column;
    double *label; /* rows; 0 if the table has no column of labels. */
    /* Labels that are words: label[i] is the number of one of them. */
    struct frame_column classes;
    struct csv csv;
};

/* Which columns are categories: names or numbers with commas between them,
 * "all" for all features, NULL for none.  If the label's column is named, its
 * words are classes. */
struct frame_options {
    const char *label; /* As csv.h has it. */
    const char *categorical;
    char separator;
    bool no_label;
    /* Instead of the names, of a fitted encoder: which of so many features are
     * categories, and whether labels are words.  A table with just so many
     * columns has no labels. */
    const bool *kinds;
    uint32_t kind_count;
    bool label_words;
};

/* All rows of a text.  Sentences name line and column, not the file. */
MUST_CHECK enum err frame_read(struct text_source *source,
                               const struct frame_options *options,
                               struct frame *frame, struct why *why);
void frame_close(struct frame *frame); /* Zeroed is safe. */

/* The frame's column for a column of the file (the label has none: cols). */
uint32_t frame_of_csv(const struct frame *frame, uint32_t col);

/* Take a column out. */
void frame_drop(struct frame *frame, uint32_t col);
/* Keep the rows whose label is one of two; categories that are in no row any
 * more go too.  ERR_NOMEM. */
MUST_CHECK enum err frame_keep_labels(struct frame *frame, double a, double b);

/* The number of `text` among the categories, or `categories` if new. */
uint32_t frame_category(const struct frame_column *column, const char *text);

#endif /* DATA_FRAME_H */
