/*
 * pack_avx512.c - pack.inc in vectors of eight.
 */
#define ZL   8
#define N(x) x##_avx512

#include "math/exact/pack.inc"
