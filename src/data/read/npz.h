/*
 * npz.h - numpy's archives of arrays, and scipy's sparse matrices.
 *
 *     numpy.savez, savez_compressed     X and y, data and target, arr_0 and
 *                                       arr_1, or one array: as an npy file
 *     scipy.sparse.save_npz, CSR        format, shape, indptr, indices, data:
 *                                       as LIBSVM text
 */
#ifndef DATA_NPZ_H
#define DATA_NPZ_H

#include "data/read/source_options.h"
#include "data/rows/stage.h"

/* Rows to the stage; the encoder knows the columns of an array.  Errors as of
 * zip_open and npy_stage. */
MUST_CHECK enum err npz_read(const struct source_options *options,
                             struct stage *stage, struct why *why);

#endif /* DATA_NPZ_H */
