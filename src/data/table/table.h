/*
 * table.h - fixed-width binary tables, whatever their header: the part that
 * IDX and npy share.
 */
#ifndef DATA_TABLE_H
#define DATA_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "data/rows/stage.h"
#include "data/table/cell.h"
#include "data/table/columns.h"
#include "data/text/unpack.h"

struct table {
    enum cell cell;
    bool big_endian;
    uint64_t rows, cols;
    struct image image; /* Of three or four dimensions. */
    uint32_t byte;      /* What features that are bytes are divided by, unless
                           the stage says otherwise. */
    bool by_columns;    /* One column after the other: numpy's Fortran order. */
    bool gaps;          /* table_values takes NaN: a missing value. */
};

/* Of the header, one dimension after the other, i from 0; cols is 1 before.
 * The first counts rows, the product of the others is cols: false if that is
 * too large. */
bool table_dimension(struct table *table, uint32_t i, uint64_t size);

/* The rows after the header, by all threads, or by one if they lie by columns.
 * `columns` says which column is what; features ascend; NULL: all are.  With
 * `labels`, these are; without either, labels are NaN.  Bytes after the last
 * row are an error, as is their lack. */
MUST_CHECK enum err table_stage(struct unpacker *in, const struct table *table,
                                const struct columns *columns,
                                const double *labels, struct pool *pool,
                                struct stage *stage, struct why *why);
/* All values in one array from mem_new, as they lie. */
MUST_CHECK enum err table_values(struct unpacker *in, const struct table *table,
                                 double **values, struct why *why);
/* Exactly `size` bytes of a header. */
MUST_CHECK enum err table_header(struct unpacker *in, void *out, size_t size,
                                 struct why *why);

#endif /* DATA_TABLE_H */
