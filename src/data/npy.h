/*
 * npy.h - numpy's array files: one array of rows, C order.
 *
 *     "\x93NUMPY" major minor   u16 or u32 size of the header
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (100, 20), }
 *
 * Numbers of one to eight bytes, either byte order; no objects, no complex
 * numbers.  Two dimensions are rows and columns; more are flattened into one
 * row each; one dimension is a file of labels.
 */
#ifndef DATA_NPY_H
#define DATA_NPY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "data/stage.h"
#include "data/unpack.h"

/* Rows to the stage.  With `labels`, label_count of them, every column is a
 * feature; without, column `label_column` from 1 (0: the last) is the label.
 * Errors as idx_stage. */
MUST_CHECK enum err npy_stage(struct unpacker *in, const double *labels,
                              uint64_t label_count, uint64_t label_column,
                              struct pool *pool, struct stage *stage,
                              struct why *why);
/* One number a row.  *labels is from mem_new. */
MUST_CHECK enum err npy_labels(struct unpacker *in, double **labels,
                               uint64_t *count, struct why *why);

bool npy_is_magic(const void *first, size_t size);

#endif /* DATA_NPY_H */
