/*
 * standard.h - mean and deviation of numbers: what takes them to mean 0 and
 * deviation 1.  Sums are taken one after the other in binary64: the same bits
 * everywhere.
 */
#ifndef DATA_STANDARD_H
#define DATA_STANDARD_H

#include <stdint.h>

struct standard {
    double mean;
    double factor; /* 1 / deviation; 0: they are all the same. */
};

/* Of finite numbers, one at least; of those whose weight is above 0, each
 * counted once, if there are weights. */
double standard_mean(const double *x, uint32_t count);
struct standard standard_of(const double *x, const double *weight,
                            uint32_t count);

#endif /* DATA_STANDARD_H */
