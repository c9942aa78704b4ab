/*
 * dense_avx2.c - the dense kernels in vectors of four doubles.  Compiled with
 * -mavx2 and without -mfma: the definition multiplies, then adds.
 */
#include "math/kernel/dense_ymm.h"

#define VL              4
#define ZL              4
#define STEP            4
#define N(x)            x##_avx2
#define load_f32_avx2   load_f32_ymm
#define load_bf16_avx2  load_bf16_ymm
#define load_i8_avx2    load_i8_ymm
#define load_u8_avx2    load_u8_ymm
#define load_pixel_avx2 load_pixel_ymm
#define load_bit_avx2   load_bit_ymm
#define add_bits_avx2   add_bits_ymm
#define FOLD(a, z)      fold_ymm(a, z)

typedef ymm vd_avx2;
typedef ymm zd_avx2;

#include "math/kernel/dense.inc"
