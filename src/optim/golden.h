/*
 * golden.h - known bits of the optimisers (math/golden/golden.h).
 */
#ifndef OPTIM_GOLDEN_H
#define OPTIM_GOLDEN_H

#include "math/golden/golden.h"

/* A few steps of each on a fixed problem: weights, objectives, gradients. */
extern const struct golden_part optim_golden;

#endif /* OPTIM_GOLDEN_H */
