/*
 * source.h - from what the user names to rows: files and generators.
 *
 *     path.svm, -                   LIBSVM text, standard input
 *     path.csv, path.tsv            tables with commas or tabs
 *     path-idx3-ubyte, path.npy     IDX and numpy files, with a file of labels
 *     path.npz                      numpy's archives, scipy's sparse matrices
 *     gen:gmm[:ROWS,COLS]           two Gaussians (20000,100), seeded
 *     gen:linear[:ROWS,COLS]        a linear model and noise (20000,100)
 *     gen:digits[:ROWS]             drawn digits (10000)
 *     gen:sorted[:ROWS]             the same in the order of their labels
 *
 * Files may be packed with gzip or zstd.  IDX and npy are known by their first
 * bytes, tables by their name or their first line (sniff.h).
 */
#ifndef DATA_SOURCE_H
#define DATA_SOURCE_H

#include "data/read/source_options.h"

/* Load the training rows; for generators with a test part (20 % of ROWS, drawn
 * after the training rows) also *test, which otherwise is left untouched with
 * *has_test false.  `test` and `has_test` may be NULL.  Failure: one sentence
 * in `why` naming file, line, what and what to do; nothing is kept. */
MUST_CHECK enum err source_load(const struct source_options *options,
                                struct dataset *train, struct dataset *test,
                                bool *has_test, struct why *why);

/* Rows of a frame that was kept, by an encoder of their own that is fitted
 * `without` some of them: all rows, as source_load makes them. */
MUST_CHECK enum err source_encode(const struct source_options *options,
                                  const struct frame *frame,
                                  const bool *without, struct encoder *encoder,
                                  struct dataset *data, struct why *why);

#endif /* DATA_SOURCE_H */
