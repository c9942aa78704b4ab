/*
 * slow.h - who is behind, and why: pure arithmetic on vitals.
 *
 * The coordinator sees how long a worker owed it answers; the worker says in
 * its vitals where its own time went.  Together, per chunk computed:
 *
 *     owed = compute (running, or ready to but without a processor)
 *          + pause   (stopped, suspended, or slow on purpose)
 *          + disk    (computing, but asleep over pages that are on disk)
 *          + network (what is left: the worker had nothing to do, or had
 *                     answered, and the coordinator did not know)
 *
 * A worker is behind if it owes for SLOW_FACTOR times as long as the median
 * worker; the part that exceeds the median's most is the cause.
 */
#ifndef CORE_SLOW_H
#define CORE_SLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "core/vitals.h"

#define SLOW_FACTOR  1.5
#define SLOW_SAMPLES 4u /* The window: three pulses long. */

enum slow_cause {
    SLOW_NOT,
    SLOW_COMPUTE,
    SLOW_NETWORK,
    SLOW_DISK,
    SLOW_PAUSE,
    SLOW_CAUSES
};

struct slow_sample {
    time_us at;
    int64_t owed_us; /* In all, so far. */
    struct vitals vitals;
};

/* One worker, as the coordinator keeps it. */
struct slow {
    int64_t owed_us;    /* Without what is owed now ... */
    time_us owed_since; /* ... since then; TIME_NEVER = nothing. */
    int64_t ahead_us, error_us, trip_us; /* Its clock, as it says. */
    uint32_t count;                      /* Samples ever. */
    struct slow_sample samples[SLOW_SAMPLES];
};

void slow_init(struct slow *slow);
/* Does it owe an answer, from now on? */
void slow_owes(struct slow *slow, bool owes, time_us now);
void slow_take(struct slow *slow, const struct vitals *vitals, time_us now);

/* The window, in seconds for each chunk computed (of the whole window if there
 * was none). */
struct slow_times {
    bool known;
    bool finished; /* At least one chunk. */
    double owed;
    double part[SLOW_CAUSES]; /* [SLOW_NOT] is not used. */
    double starved;           /* Of compute: ready, without a processor. */
    double held;              /* Of pause: on purpose. */
};

struct slow_times slow_times(const struct slow *slow);

struct slow_verdict {
    double factor; /* Times the median's time; 0 = not known. */
    enum slow_cause cause;
    double share; /* Of what it is behind, the cause's. */
};

/* `verdicts` has room for all. */
void slow_judge(const struct slow_times *all, uint32_t count, double *scratch,
                struct slow_verdict *verdicts);

const char *slow_cause_name(enum slow_cause cause);

#endif /* CORE_SLOW_H */
