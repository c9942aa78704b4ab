/*
 * vitals.h - where a worker's time went, counted since its birth.
 *
 * The first half is the core's own account; the second half the driver's,
 * which knows the operating system.  All are totals, so that a lost message
 * loses nothing.
 */
#ifndef CORE_VITALS_H
#define CORE_VITALS_H

#include <stdint.h>

struct vitals {
    int64_t compute_us;   /* In pieces, called off or not, by the clock. */
    int64_t cancelled_us; /* Of that: in pieces that were called off. */
    int64_t held_us;      /* Slow on purpose (--delay). */
    int64_t waited_us;    /* Without anything to do. */
    uint64_t chunks;      /* Computed to the end. */
    uint32_t cancels;     /* Pieces called off. */

    /* The driver's; zero where there is no operating system. */
    int64_t cpu_us;        /* Processor time, per compute thread. */
    int64_t starved_us;    /* Ready but without a processor, likewise. */
    int64_t loop_us;       /* The same of the thread that talks. */
    int64_t stopped_us;    /* Neither ran nor wanted to: SIGSTOP, suspended. */
    int64_t unsent_us;     /* With answers that the socket did not take. */
    uint64_t unsent_bytes; /* Of those: now. */
    uint64_t faults;       /* Pages that had to come from disk. */
};

#endif /* CORE_VITALS_H */
