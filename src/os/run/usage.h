/*
 * usage.h - what the kernel says of this process: processor time, and time it
 * was ready to run but did not.
 *
 * From getrusage, the thread clocks and /proc/.../schedstat; where a kernel
 * does not keep the last, those times are 0.
 */
#ifndef OS_USAGE_H
#define OS_USAGE_H

#include <stdint.h>

/* Of the calling thread, since its birth. */
struct usage_thread {
    int64_t ran_us;
    int64_t starved_us; /* In the run queue. */
};

void usage_thread(struct usage_thread *usage);

/* Of all threads but the calling one, together, and of the process. */
struct usage_others {
    int64_t ran_us;
    int64_t starved_us;
    uint64_t faults; /* Pages read from disk, by all threads. */
};

void usage_others(struct usage_others *usage);

#endif /* OS_USAGE_H */
