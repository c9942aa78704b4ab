/*
 * rows.h - which rows count how much, and weights between two data sets.
 */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include <stdbool.h>

#include "base/err.h"
#include "data/dataset.h"

/* Multiply the rows' weights as --class-weight says: "balanced" (rows of both
 * labels weigh the same in all) or "LABEL=WEIGHT,...".  ERR_RANGE or ERR_SHAPE
 * with a sentence. */
MUST_CHECK enum err rows_weigh(struct dataset *data, const char *list,
                               struct why *why);

/* Is --valid a part of the rows, strictly between 0 and 1, and not a file? */
bool rows_is_part(const char *text, double *part);

/* Which rows are held out: order[0 .. returned) of a seeded permutation. */
uint32_t rows_hold_out(uint32_t rows, double part, uint64_t seed,
                       uint32_t *order);

/* Move those rows out of `data` into `held`. */
MUST_CHECK enum err rows_split(struct dataset *data, double part, uint64_t seed,
                               struct dataset *held, struct why *why);

/* Sparse data number their columns as suits them.  Weights as the user
 * numbers columns (`cols` of them), from and to those of a data set. */
void rows_weights_out(const struct dataset *data, const double *inside,
                      double *outside);
void rows_weights_in(const struct dataset *data, const double *outside,
                     double *inside);

#endif /* CLI_ROWS_H */
