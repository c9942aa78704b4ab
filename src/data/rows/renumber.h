/*
 * renumber.h - columns of sparse rows in the order that caches like.
 *
 * One-hot columns are used very unequally.  The most frequent get the first
 * numbers, so that their weights and sums stay in the nearest cache; the rest
 * are numbered as they first appear, so that neighbours in the rows are
 * neighbours in memory.  `original` leads back to the user's numbers.  The
 * order depends on the data alone.
 */
#ifndef DATA_RENUMBER_H
#define DATA_RENUMBER_H

#include <stdbool.h>

#include "base/err.h"
#include "base/pool.h"
#include "data/rows/dataset.h"

/* Renumber `data`, sparse and all present, as `like` is (a sparse data set
 * with as many columns), or by its own counts if `like` is NULL.  With an
 * intercept the last column stays the last.  ERR_NOMEM; ERR_SHAPE if `like`
 * does not fit. */
MUST_CHECK enum err renumber_columns(struct dataset *data,
                                     const struct dataset *like, bool intercept,
                                     struct pool *pool);

#endif /* DATA_RENUMBER_H */
