/*
 * compiler.h - what loops ask of the compiler.
 *
 * At -O2 gcc unrolls next to nothing; the few loops that run once per number
 * say so themselves rather than raise the level for whole files.
 */
#ifndef MATH_COMPILER_H
#define MATH_COMPILER_H

#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

#define INLINE static inline __attribute__((always_inline))

#endif /* MATH_COMPILER_H */
