/*
 * sparse.h - rows as (index, value) pairs: what readers produce.
 *
 * Growing arrays for a piece of a file; stage.h packs them and makes a data
 * set of all pieces when the number of columns is known.
 *
 *     row i = index/value[start[i] .. start[i + 1])
 */
#ifndef DATA_SPARSE_H
#define DATA_SPARSE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "data/rows/dataset.h"

struct sparse {
    uint32_t rows;
    uint32_t cols;   /* Largest index, counted from 1. */
    size_t *start;   /* rows + 1. */
    double *label;   /* rows. */
    double *weight;  /* rows, if weighted. */
    uint32_t *index; /* From 0, ascending within a row. */
    double *value;   /* As read. */
    bool wide;       /* Kept so; else they are for fp32 and within its range. */
    bool weighted;   /* Until it is cleared. */
    /* Not the caller's business. */
    size_t start_capacity, label_capacity, weight_capacity, index_capacity,
        value_capacity;
};

void sparse_close(struct sparse *sparse); /* Zeroed is an empty table. */
void sparse_clear(struct sparse *sparse); /* Keeps the memory. */

/* Begin a row, then add its entries; its weight, if there are any, is the
 * caller's to write.  ERR_NOMEM; ERR_TOOBIG beyond DATA_ROWS_MAX rows. */
MUST_CHECK enum err sparse_add_row(struct sparse *sparse, double label);
MUST_CHECK enum err sparse_add(struct sparse *sparse, uint32_t index,
                               double value);
size_t sparse_entries(const struct sparse *sparse);

/* Finite, and if not wide, finite too when rounded to fp32: less than half a
 * step above its largest.  NaN is out. */
static inline bool sparse_in_range(const struct sparse *sparse, double value)
{
    return fabs(value) < (sparse->wide ? (double)INFINITY : 0x1.ffffffp127);
}

/* What to say of a value that is out of range: at most ... */
static inline const char *sparse_limit(bool wide)
{
    return wide ? "1.8e308 fits double precision"
                : "3.4e38 fits single precision, larger ones need --storage "
                  "f64";
}

/* Room for one more row and `entries` more entries, so that a reader in a
 * hurry may write them itself. */
MUST_CHECK enum err sparse_reserve(struct sparse *sparse, size_t entries);

#endif /* DATA_SPARSE_H */
