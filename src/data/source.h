/*
 * source.h - from what the user names to rows: files and generators.
 *
 *     path.svm, path.svm.gz, -      LIBSVM text, plain or gzip, standard input
 *     gen:gmm[:ROWS,COLS]           two Gaussians (20000,100), seeded
 */
#ifndef DATA_SOURCE_H
#define DATA_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "data/dataset.h"

struct source_options {
    const char *spec;     /* What the user typed. */
    uint64_t seed;        /* For generators. */
    uint32_t chunk_rows;  /* 0: dataset_default_chunk_rows. */
    uint32_t cols_min;    /* At least so many columns, the intercept's
                             included (a test set takes its training set's).
                             The intercept is always the last. */
    uint32_t cols_max;    /* 0, or drop features beyond so many columns, as
                             LIBLINEAR does when it predicts. Files only. */
    bool intercept;       /* Append a column of ones. */
    bool regression;      /* Keep labels as read even if there are two. */
    const double *labels; /* Map labels as this pair says (test sets); NULL:
                             the smaller becomes -1, the larger +1. */
};

/* Load the training rows; for generators with a test part (20 % of ROWS, drawn
 * after the training rows) also *test, which otherwise is left untouched with
 * *has_test false.  `test` and `has_test` may be NULL.  Failure: one sentence
 * in `why` naming file, line, what and what to do; nothing is kept. */
MUST_CHECK enum err source_load(const struct source_options *options,
                                struct dataset *train, struct dataset *test,
                                bool *has_test, struct why *why);

#endif /* DATA_SOURCE_H */
