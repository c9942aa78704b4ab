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
#include "data/rows/image.h"
#include "data/table/csv.h"
#include "data/text/text_source.h"

struct category {
    char *text;   /* As it was first seen. */
    double value; /* If the column's categories are numbers. */
};

struct frame_column {
    bool categorical;
    bool numeric;   /* Categories that are all numbers. */
    double *number; /* rows, if not categorical; NaN: missing. */
    uint32_t *code; /* rows, if categorical: 0..categories-1, or
                       FRAME_MISSING. */
    struct category *category;
    uint32_t categories;
};

struct frame {
    uint32_t rows, cols; /* Features only. */
    struct frame_column *column;
    double *label;  /* rows; NaN where there is none. */
    double *weight; /* rows; NULL: all 1. */
    /* Labels that are words: label[i] is the number of one of them. */
    struct frame_column classes;
    struct csv csv;
    struct image image; /* What a row is, if the file says. */
};

/* What fields of the columns of a table are, for who must decide before it is
 * read: a first look, line by line. */
struct survey {
    uint32_t cols;
    struct survey_column {
        /* Without the header; `disguised` by disguise_of, no words. */
        uint64_t numbers, disguised, booleans, words, missing;
        /* With points between thousands; numbers with any that are none. */
        uint64_t grouped, decimals;
    } * column;
    bool header;
    bool decimals;  /* In any column. */
    bool *empty;    /* cols: nothing but missing fields. */
    uint32_t again; /* The first column whose field of the first line is one
                       of its others, too; cols: none. */
};

/* What to make of a table.  Which columns are categories: names or numbers
 * with commas between them, "all" for all features, "auto" for those that the
 * survey found words in, NULL for none, or for "auto" if there is a survey. If
 * the label's column is named, or the survey found words in it, they are
 * classes; "none" alone forbids it. */
struct frame_options {
    struct columns_wanted wanted;
    enum csv_header header;
    char separator;
    const char *categorical;
    const struct survey *survey; /* May be NULL. */
    bool markers;                /* csv_is_missing tells missing fields also
                                    among words: they are no categories. */
    bool missing;                /* Take missing fields: NaN, FRAME_MISSING. */
    bool missing_labels;         /* Labels too. */
    /* Instead of the names, of a fitted encoder: which features are
     * categories, and whether labels are words. */
    const bool *kinds;
    bool label_words;
};

#define FRAME_MISSING UINT32_MAX

/* ERR_NOMEM or an unreadable text with a sentence.  It ends at the first line
 * that is no row, which is for frame_read to refuse. */
MUST_CHECK enum err survey_read(struct text_source *source,
                                const struct frame_options *options,
                                struct survey *survey, struct why *why);
void survey_close(struct survey *survey); /* Zeroed is safe. */

/* All rows of a text.  Sentences name line and column, not the file. */
MUST_CHECK enum err frame_read(struct text_source *source,
                               const struct frame_options *options,
                               struct frame *frame, struct why *why);
/* For rows that are no text: columns without values, labels that are missing.
 * Takes `form` over once its columns have their roles; to be closed after any
 * outcome. */
MUST_CHECK enum err frame_begin(struct csv *form, uint32_t rows,
                                struct frame *frame, struct why *why);
void frame_close(struct frame *frame); /* Zeroed is safe. */

/* The frame's column for a column of the file (the label has none: cols). */
uint32_t frame_of_csv(const struct frame *frame, uint32_t col);

/* Take a column out. */
void frame_drop(struct frame *frame, uint32_t col);
/* Keep the rows whose label is one of two; categories that are in no row any
 * more go too.  ERR_NOMEM. */
MUST_CHECK enum err frame_keep_labels(struct frame *frame, double a, double b);

/* Category i of the column's rows becomes fresh[i]. */
void frame_renumber(struct frame_column *column, uint32_t rows,
                    const uint32_t *fresh);
/* The number of `text` among the categories, or `categories` if new. */
uint32_t frame_category(const struct frame_column *column, const char *text);
/* The same for every category of a column, in its order; to be freed.  NULL:
 * out of memory. */
uint32_t *frame_translate(const struct frame_column *from,
                          const struct frame_column *known);

#endif /* DATA_FRAME_H */
