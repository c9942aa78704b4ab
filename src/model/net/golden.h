/*
 * golden.h - known bits of networks (math/golden/golden.h).
 */
#ifndef MODEL_NET_GOLDEN_H
#define MODEL_NET_GOLDEN_H

#include "math/golden/golden.h"

/* Sums, sizes and losses of small networks that have every layer. */
extern const struct golden_part neural_golden;

#endif /* MODEL_NET_GOLDEN_H */
