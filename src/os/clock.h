/*
 * clock.h - the only clock.
 *
 * Monotonic and the same for all processes of one machine, so that times in
 * the trace of a coordinator compare with those of its next life.
 */
#ifndef OS_CLOCK_H
#define OS_CLOCK_H

#include "base/time.h"

time_us clock_now_us(void);
/* The same in nanoseconds: how long a few thousand instructions took. */
uint64_t clock_now_ns(void);

#endif /* OS_CLOCK_H */
