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

#endif /* OS_CLOCK_H */
