/*
 * clock.c - CLOCK_MONOTONIC in microseconds, the one time that events carry.
 */
#include "os/clock.h"

#include <time.h>

#include "base/check.h"

time_us clock_now_us(void)
{
    struct timespec now;

    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (time_us)now.tv_sec * SECOND_US + now.tv_nsec / 1000;
}
