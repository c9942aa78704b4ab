/*
 * slope_ref.h - values and losses of kernel.h for the _ref functions (math/
 * only).
 */
#ifndef MATH_SLOPE_REF_H
#define MATH_SLOPE_REF_H

#include <stdint.h>

#include "math/kernel/kernel.h"

struct ref_slope {
    double r;
    double h;
    double loss;
};

/* x_ij, whatever it is stored as. */
double ref_x(const struct dense_rows *in, uint32_t i, uint32_t j);

/* At score z; without and with the weight of a row (`weight` may be NULL). */
struct ref_slope ref_slope_at(enum loss kind, double z, double y);
struct ref_slope ref_slope_of_row(enum loss kind, double z, double y,
                                  const double *weight, uint32_t row);

#endif /* MATH_SLOPE_REF_H */
