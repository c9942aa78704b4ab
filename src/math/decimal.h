/*
 * decimal.h - numbers as people write them: digits with a point, and perhaps an
 * exponent.  strtod would also take blanks, signs, inf, nan and hexadecimal.
 */
#ifndef MATH_DECIMAL_H
#define MATH_DECIMAL_H

#include <stdbool.h>

/* The number that *at begins with; moves *at behind it.  Infinite if it is too
 * large.  False: there is none. */
bool decimal_read(const char **at, double *value);

/* All of `text`: a share of something, ".1" or "10%".  False: it is none;
 * whether it is within bounds, the caller says. */
bool decimal_share(const char *text, double *share);

#endif /* MATH_DECIMAL_H */
