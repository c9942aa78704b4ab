/*
 * golden.h - known bits of proved scales (math/golden/golden.h).
 */
#ifndef MODEL_LINEAR_GOLDEN_H
#define MODEL_LINEAR_GOLDEN_H

#include "math/golden/golden.h"

/* Exponents of every kind of sum, for generated rows. */
extern const struct golden_part scale_golden;

#endif /* MODEL_LINEAR_GOLDEN_H */
