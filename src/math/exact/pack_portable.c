/*
 * pack_portable.c - pack.inc in vectors of two.
 */
#define ZL   2
#define N(x) x##_portable

#include "math/exact/pack.inc"
