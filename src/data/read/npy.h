/*
 * npy.h - numpy's array files: one array of rows.
 *
 *     "\x93NUMPY" major minor   u16 or u32 size of the header
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (100, 20), }
 *
 * Numbers of one to eight bytes, either byte order; no objects, no complex
 * numbers.  Two dimensions are rows and columns; more are flattened into one
 * row each; one dimension is a file of labels.  Fortran's order (column after
 * column) is held whole while it is turned.
 */
#ifndef DATA_NPY_H
#define DATA_NPY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "data/rows/stage.h"
#include "data/table/frame.h"
#include "data/text/unpack.h"

/* Rows to the stage.  With `labels`, label_count of them, no column is the
 * label; else form->wanted says which one is.  Sets the form's columns.
 * Errors as idx_stage and columns_assign. */
MUST_CHECK enum err npy_stage(struct unpacker *in, const double *labels,
                              uint64_t label_count, struct csv *form,
                              struct pool *pool, struct stage *stage,
                              struct why *why);
/* Where rows go that are images, as npy_stage has them. */
struct npy_images {
    struct pool *pool;
    struct stage *stage;
};

/* The same as a frame, which takes the form over; NaN is a missing value if
 * `gaps`.  Images go to `images`, unless it is NULL, and leave the frame
 * empty. */
MUST_CHECK enum err npy_frame(struct unpacker *in, const double *labels,
                              uint64_t label_count, bool gaps, struct csv *form,
                              struct frame *frame,
                              const struct npy_images *images, struct why *why);
/* One number a row.  *labels is from mem_new. */
MUST_CHECK enum err npy_labels(struct unpacker *in, double **labels,
                               uint64_t *count, struct why *why);

/* A matrix, or a vector: cols is 1 then.  Its numbers as they lie, from
 * mem_new. */
struct npy_matrix {
    uint64_t rows, cols;
    bool vector;     /* One dimension. */
    bool by_columns; /* Column after column. */
    double *value;
};

/* NaN is taken as it is; others as npy_labels. */
MUST_CHECK enum err npy_read(struct unpacker *in, struct npy_matrix *matrix,
                             struct why *why);

bool npy_is_magic(const void *first, size_t size);

#endif /* DATA_NPY_H */
