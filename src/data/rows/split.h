/*
 * split.h - the train/test split of scikit-learn, row for row.
 *
 * train_test_split(test_size=0.2, random_state=seed): numpy's legacy
 * permutation (MT19937, Fisher-Yates from the end, masked rejection), the
 * first ceil(0.2 n) rows of which are the test set, in that order.
 */
#ifndef DATA_SPLIT_H
#define DATA_SPLIT_H

#include <stdint.h>

#include "base/err.h"
#include "data/rows/dataset.h"

/* order[0..rows) = numpy.random.RandomState(seed).permutation(rows). */
void split_permutation(uint32_t rows, uint32_t seed, uint32_t *order);

/* ceil(0.2 * rows). */
uint32_t split_test_rows(uint32_t rows);

/* The rows named by order[0..count), all present, as a data set of their own
 * with the same labels, storage and columns. */
MUST_CHECK enum err split_take(const struct dataset *data,
                               const uint32_t *order, uint32_t count,
                               struct dataset *part);

#endif /* DATA_SPLIT_H */
