/*
 * reading.h - rows one at a time, whatever the storage: what steps on single
 * rows (sgd) need, as chunks are what sums need.
 */
#ifndef DATA_READING_H
#define DATA_READING_H

#include <stdint.h>

#include "base/err.h"
#include "data/rows/dataset.h"

struct reading {
    const struct dataset *data;
    double *value;   /* One dense row, ... */
    uint32_t *index; /* ... without its zeros. */
};

struct reading_row {
    const float *value;    /* NULL: every value is 1, or as in `wide`. */
    const double *wide;    /* NULL, or the values as doubles. */
    const uint32_t *index; /* Of each value, ascending columns. */
    uint32_t count;
    double y;
    double weight; /* 1 if there are none. */
};

/* Borrows the data.  Zeroed memory is safe to close. */
MUST_CHECK enum err reading_init(struct reading *reading,
                                 const struct dataset *data);
void reading_close(struct reading *reading);
/* Row i, of a present chunk; good until the next. */
struct reading_row reading_at(const struct reading *reading, uint32_t i);

#endif /* DATA_READING_H */
