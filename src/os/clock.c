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

uint64_t clock_now_ns(void)
{
    struct timespec now;

    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
