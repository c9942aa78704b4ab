/*
 * time.h - time as data.
 *
 * Only os/clock.h reads a clock; everyone else is told the time.  Microseconds
 * since an arbitrary start, monotonic.
 */
#ifndef BASE_TIME_H
#define BASE_TIME_H

#include <stdint.h>

typedef int64_t time_us;

#define TIME_NEVER INT64_MAX
#define MS_US      INT64_C(1000)
#define SECOND_US  INT64_C(1000000)

static inline time_us time_sooner(time_us a, time_us b)
{
    return a < b ? a : b;
}

#endif /* BASE_TIME_H */
