/*
 * pack_avx2.c - pack.inc in vectors of four.
 */
#define ZL   4
#define N(x) x##_avx2

#include "math/exact/pack.inc"
