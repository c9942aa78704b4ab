/*
 * prepare.h - public data sets, encoded as the published systems had them.
 *
 *     amazon    train.csv: nine columns and their pairs as categories
 *     kc        kc_house_data.csv: 18 columns as categories, price in millions
 *     covtype   covtype.data: classes 1 and 2, 54 columns as categories
 *     credit    the 219 binary features of the report, its split
 *     mnist     the four IDX files, pixels / 255
 *
 * Each becomes PREFIX-train.svm and PREFIX-test.svm, LIBSVM text.  One-hot
 * columns are fitted to all rows and a constant column is the last; the split
 * is split.h's with seed 0 where the data have none of their own.
 */
#ifndef DATA_PREPARE_H
#define DATA_PREPARE_H

#include <stdint.h>

#include "base/err.h"
#include "data/rows/sparse.h"

struct prepared_part {
    uint32_t rows, positives;
    uint32_t cols; /* The last that is not 0 in every row: readers of LIBSVM
                      text, which has no zeros, know of no other. */
    char path[1024];
};

struct prepared {
    const char *name;
    uint32_t cols;
    uint32_t entries_most; /* Of a row. */
    struct prepared_part train, test;
};

/* Files may be packed.  ERR_UNKNOWN (no such recipe), ERR_NOTFOUND (which file
 * to get, and where), or what readers and disks say: with a sentence. */
MUST_CHECK enum err prepare_data(const char *name, const char *from,
                                 const char *prefix, struct prepared *report,
                                 struct why *why);

/* The 219 features of one row of the raw credit table (its 24 columns without
 * the label), ascending; returns how many.  For tests. */
uint32_t prepare_credit_row(const double *raw, uint32_t feature[24]);

#endif /* DATA_PREPARE_H */
