/*
 * columns.h - which column of a table is what: a feature, the label, the rows'
 * weight, or of no use.
 *
 *     training table    every column but the label, the weight and those to
 *                       be dropped is a feature; that is its schema
 *     other tables      with a header on both sides, features and label are
 *                       found by name, in any order, and columns that the
 *                       schema does not have are left alone
 *                       without, by place: all columns of the training table,
 *                       or its features, or its features and the label
 *
 * Whatever fits neither way is refused: a column taken for another one gives
 * wrong numbers without a word.
 */
#ifndef DATA_COLUMNS_H
#define DATA_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct csv;

/* Roles above all features. */
#define COLUMN_LABEL    UINT32_MAX
#define COLUMN_WEIGHT   (UINT32_MAX - 1)
#define COLUMN_UNUSED   (UINT32_MAX - 2)
#define COLUMN_FEATURES (UINT32_MAX - 3) /* Fewer than these. */

#define LABEL_NONE "none" /* As --label: the table has no labels. */

/* The columns of a training table; zeroed if there was none. */
struct schema {
    uint32_t features;
    uint32_t *at;     /* Of each feature: its place in the table, ascending. */
    char **name;      /* Of each feature; NULL: there was no header. */
    uint32_t table;   /* Columns in all. */
    uint32_t label;   /* Place of the label; table: it was elsewhere. */
    char *label_name; /* "" without a header, or if it was elsewhere. */
    bool numeric;     /* Some feature is numbers: no row is words only. */
};

/* What the user and a model say about columns. */
struct columns_wanted {
    const char *label;  /* Name, number from 1, or LABEL_NONE; NULL: that of
                           the schema, or the last. */
    const char *weight; /* Of a training table; NULL: rows weigh the same. */
    const char *drop;   /* With commas; NULL: none. */
    const bool *empty;  /* Of a training table: columns without a value in any
                           row are of no use, and no label if they have no
                           name; NULL: there are none. */
    const struct schema *known; /* Match it; NULL: this is a training table. */
};

/* What every column of a table is. */
struct columns {
    uint32_t *role;     /* Number of the feature, or one of the above. */
    uint32_t features;  /* Of the table or the schema. */
    uint32_t label;     /* Its column; the number of columns if none. */
    uint32_t weight;    /* The same. */
    uint32_t strangers; /* Columns that the schema does not have, ... */
    uint32_t stranger;  /* ... and the first of them. */
    bool ascending;     /* Features come in their order. */
};

/* Find out, once the header is read.  ERR_UNKNOWN (no such column), ERR_SHAPE
 * (does not fit the schema, or two columns of one name), ERR_NOMEM: with a
 * sentence. */
MUST_CHECK enum err columns_assign(const struct csv *csv,
                                   const struct columns_wanted *wanted,
                                   struct columns *columns, struct why *why);
void columns_close(struct columns *columns); /* Zeroed is safe. */

/* The schema of a training table.  ERR_NOMEM. */
MUST_CHECK enum err schema_of(struct schema *schema, const struct csv *csv,
                              const struct columns *columns);
/* That of `features` columns without names and the label behind them. */
MUST_CHECK enum err schema_plain(struct schema *schema, uint32_t features);
void schema_close(struct schema *schema); /* Zeroed is safe. */

#endif /* DATA_COLUMNS_H */
