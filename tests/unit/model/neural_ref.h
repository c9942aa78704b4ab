/*
 * neural_ref.h - a network in plain double precision, and whether the gradient
 * of model/net agrees with its differences.
 */
#ifndef TESTS_NEURAL_REF_H
#define TESTS_NEURAL_REF_H

#include <stdbool.h>

#include "model/net/work.h"

/* The mean of nothing: the sum of the samples' losses. */
double neural_ref_loss(const struct neural *net, const double *parameters,
                       const struct neural_rows *rows);

/* Loss and gradient of a few samples against it; prints what is wrong. */
bool neural_ref_agrees(const char *text, const struct neural_shape *in,
                       enum neural_loss loss);

#endif /* TESTS_NEURAL_REF_H */
