/*
 * rounding.h - what rounding to fp32 costs a column.
 *
 * A value keeps 24 significant bits, so it is off by 6e-8 of its size at most.
 * Beside the values that is nothing; beside their differences it may be much:
 *
 *     1.7e9 .. 1.7e9 + 4000      seconds of an hour: off by 64, 1.6 % of the
 *                                spread (largest less smallest)
 *     0 .. 4000                  the same hour: off by 0.0001, 3e-8 of it
 *
 * Only columns without a zero between their ends can lose that much.  Whole
 * numbers are another matter: times and counters beyond 2^24 are exact, and
 * what two of them differ by may be all that counts, however small beside the
 * spread.
 */
#ifndef DATA_ROUNDING_H
#define DATA_ROUNDING_H

#include <stdbool.h>

#include "data/rows/dataset.h"

#define ROUNDING_HARM 1e-4 /* Of the spread: more than this is said. */

struct rounding {
    uint32_t columns; /* That lose more. */
    uint32_t worst; /* The one that loses most, as the user counts them, ... */
    double share;   /* ... and how much of its spread; up to ROUNDING_HARM: it
                       is whole numbers that are lost. */
};

#define ROUNDING_TEXT 96u
/* "single precision (fp32) would move values by up to 1.8 % of the range they
 * span", in words of who has never heard of f64; what may have been lost,
 * if it is not certain. */
void rounding_text(const struct rounding *rounding, bool certain,
                   char text[ROUNDING_TEXT]);

/* Of the first `features` columns.  With f64 values, what rounding them would
 * cost; else the most that it may have cost.  ERR_NOMEM. */
MUST_CHECK enum err rounding_find(const struct dataset *data, uint32_t features,
                                  struct rounding *found);

#endif /* DATA_ROUNDING_H */
