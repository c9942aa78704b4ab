/*
 * unroll.h - ask for a loop to be unrolled.
 *
 * At -O2 gcc unrolls next to nothing; the few loops that run once per number
 * say so themselves rather than raise the level for whole files.
 */
#ifndef MATH_UNROLL_H
#define MATH_UNROLL_H

#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

#endif /* MATH_UNROLL_H */
