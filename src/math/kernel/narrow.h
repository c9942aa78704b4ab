/*
 * narrow.h - doubles become floats, counted on the way.
 *
 * Most of the time that a program's own array takes to become a data set goes
 * here.  All variants write and count the same.
 */
#ifndef MATH_NARROW_H
#define MATH_NARROW_H

#include <stddef.h>
#include <stdint.h>

#include "math/isa.h"

/* What a row is made of, once it is fp32. */
struct narrowed {
    uint32_t spoiled; /* Not finite. */
    uint32_t rounded;
    uint32_t normal, zero; /* The rest is tiny. */
};

/* Adding +0 makes a zero of -0. */
struct narrowed narrow(enum isa isa, const double *from, size_t count,
                       float *to);

#endif /* MATH_NARROW_H */
