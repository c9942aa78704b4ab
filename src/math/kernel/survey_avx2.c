/*
 * survey_avx2.c - survey.inc in vectors of four.
 */
#include "math/kernel/dense_ymm.h"

#define ZL            4
#define ONES(word)    (uint64_t) __builtin_popcountll(word)
#define N(x)          x##_avx2
#define load_f32_avx2 load_f32_ymm
#define FOLD(a, z)    fold_ymm(a, z)

typedef ymm zd_avx2;

#include "math/kernel/survey.inc"
