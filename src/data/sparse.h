/*
 * sparse.h - rows as (index, value) pairs: what text files hold.
 *
 * A stream can be read but once, so rows are gathered here, in growing
 * arrays, and made dense when the number of columns is known.
 *
 *     row i = index/value[start[i] .. start[i + 1])
 */
#ifndef DATA_SPARSE_H
#define DATA_SPARSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "data/dataset.h"

struct sparse {
    uint32_t rows;
    uint32_t cols;   /* Largest index, counted from 1. */
    size_t *start;   /* rows + 1. */
    double *label;   /* rows. */
    uint32_t *index; /* From 0, ascending within a row. */
    float *value;
    /* Not the caller's business. */
    size_t start_capacity, label_capacity, index_capacity, value_capacity;
};

void sparse_close(struct sparse *sparse); /* Zeroed is an empty table. */

/* Begin a row, then add its entries.  ERR_NOMEM; ERR_TOOBIG beyond
 * DATA_ROWS_MAX rows. */
MUST_CHECK enum err sparse_add_row(struct sparse *sparse, double label);
MUST_CHECK enum err sparse_add(struct sparse *sparse, uint32_t index,
                               float value);
size_t sparse_entries(const struct sparse *sparse);

/* How to make rows dense. */
struct densify {
    uint32_t chunk_rows; /* 0: the default. */
    uint32_t cols_min;   /* Both as in source_options. */
    uint32_t cols_max;
    bool intercept;
};

/* Dense rows with the labels as read, all chunks present.  ERR_SHAPE if there
 * are no rows or columns, ERR_TOOBIG, ERR_NOMEM: with a sentence. */
MUST_CHECK enum err sparse_densify(const struct sparse *sparse,
                                   const struct densify *how,
                                   struct dataset *data, struct why *why);

#endif /* DATA_SPARSE_H */
