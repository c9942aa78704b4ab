/*
 * rows.h - which rows count how much, and weights between two data sets.
 */
#ifndef LEARN_ROWS_H
#define LEARN_ROWS_H

#include <stdbool.h>

#include "base/err.h"
#include "data/rows/dataset.h"
#include "data/table/frame.h"

/* Multiply the rows' weights as --class-weight says: "balanced" (rows of each
 * label weigh the same in all) or "LABEL=WEIGHT,...".  The rows' labels are -1
 * and +1 or numbers of classes, or (regression) as read; `words` are what they
 * were in the table, with no categories if numbers.  ERR_RANGE or ERR_SHAPE
 * with a sentence. */
MUST_CHECK enum err rows_weigh(struct dataset *data,
                               const struct frame_column *words, bool as_read,
                               const char *list, struct why *why);

/* The class of a row, by label ascending, whether labels are -1 and +1 or
 * numbers. */
uint32_t rows_class(const struct dataset *data, uint32_t row);

/* Is --valid a part of the rows, strictly between 0 and 1, and not a file? */
bool rows_is_part(const char *text, double *part);

/* A seeded permutation of the rows; of classes (`classes`) sorted by them, so
 * that every stretch of it that is taken evenly has its share of each. */
MUST_CHECK enum err rows_shuffle(const struct dataset *data, bool classes,
                                 uint64_t seed, uint32_t *order);

/* Which rows are held out: order[0 .. *held) of a seeded permutation, of
 * classes as many of each, but for rounding.  ERR_NOMEM. */
MUST_CHECK enum err rows_hold_out(const struct dataset *data, bool classes,
                                  double part, uint64_t seed, uint32_t *order,
                                  uint32_t *held);

/* Move the first `held` rows of an order out of `data` into `out`. */
MUST_CHECK enum err rows_split(struct dataset *data, const uint32_t *order,
                               uint32_t held, struct dataset *out,
                               struct why *why);

/* Sparse data number their columns as suits them.  Weights as the user
 * numbers columns (`cols` of them), from and to those of a data set. */
void rows_weights_out(const struct dataset *data, const double *inside,
                      double *outside);
void rows_weights_in(const struct dataset *data, const double *outside,
                     double *inside);
/* `outputs` vectors, from how the columns of one data set lie to another's. */
MUST_CHECK enum err rows_weights_carry(const struct dataset *from,
                                       const struct dataset *to,
                                       uint32_t outputs, const double *w,
                                       double *inside);

#endif /* LEARN_ROWS_H */
