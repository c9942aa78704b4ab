/*
 * slope_ref.h - values and slopes for the _ref functions (math/ only).
 */
#ifndef MATH_SLOPE_REF_H
#define MATH_SLOPE_REF_H

#include <stdint.h>

#include "math/kernel/kernel.h"

/* x_ij, whatever it is stored as. */
double ref_x(const struct dense_rows *in, uint32_t i, uint32_t j);

/* loss_at, times the weight of the row (`weight` may be NULL). */
struct loss_slope ref_slope_of_row(struct loss loss, double z, double y,
                                   const double *weight, uint32_t row);

#endif /* MATH_SLOPE_REF_H */
