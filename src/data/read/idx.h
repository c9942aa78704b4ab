/*
 * idx.h - the files of MNIST and its kin.
 *
 *     0 0 type dims   size of each dimension, big-endian u32   values
 *
 * type 8 is unsigned bytes, which become 0..1 (v / 255) as features and stay
 * what they are as labels; 9, 11 to 14 are signed bytes, 16- and 32-bit
 * integers, binary32 and binary64, big-endian, taken as they are.  The first
 * dimension counts rows, the others are one row.
 */
#ifndef DATA_IDX_H
#define DATA_IDX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "data/rows/stage.h"
#include "data/text/unpack.h"

/* Rows of *cols features to the stage, with labels[i], of which there are
 * label_count, or none (NaN) if that is NULL.  Sentences
 * do not name the file.  ERR_FORMAT, ERR_TRUNCATED, ERR_MISMATCH (labels),
 * ERR_RANGE, ERR_TOOBIG, ERR_NOMEM. */
MUST_CHECK enum err idx_stage(struct unpacker *in, const double *labels,
                              uint64_t label_count, uint64_t *cols,
                              struct pool *pool, struct stage *stage,
                              struct why *why);
/* A file of labels: one dimension.  *labels is from mem_new. */
MUST_CHECK enum err idx_labels(struct unpacker *in, double **labels,
                               uint64_t *count, struct why *why);

/* Where MNIST's naming has the labels of a file of images: the same folder and
 * name with labels for images, idx1 for idx3 (train-images-idx3-ubyte.gz,
 * train-labels-idx1-ubyte.gz).  False: the name is not of that kind, or too
 * long. */
bool idx_labels_name(const char *images, char *out, size_t size);

/* Does a file begin so? */
bool idx_is_magic(const void *first, size_t size);

#endif /* DATA_IDX_H */
