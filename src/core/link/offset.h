/*
 * offset.h - how far another machine's clock is ahead, from heartbeats.
 *
 *     worker       sent --------\           /------> back
 *     coordinator                \-> heard /
 *
 * `heard` lies between `sent` and `back`, so their middle is off by at most
 * half the round trip (NTP's argument; Mills, RFC 5905).  The shortest round
 * trip therefore counts; it ages by how much two quartz clocks drift apart.
 */
#ifndef CORE_OFFSET_H
#define CORE_OFFSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

#define OFFSET_DRIFT_PPM 100
#define OFFSET_UNKNOWN   INT64_C(-1) /* As an error: nothing is known yet. */
#define OFFSET_CLOCK_MAX (INT64_MAX / 4)

struct offset {
    bool known;
    int64_t ahead_us; /* Their clock minus ours. */
    int64_t error_us; /* At most so much off, when it was taken. */
    time_us at;       /* Ours, when it was taken. */
    int64_t trip_us;  /* The last round trip, whether taken or not. */
};

/* One echo; `heard` itself may be off by `theirs`.  Times that no clock shows
 * are ignored. */
void offset_sample(struct offset *offset, time_us sent, time_us heard,
                   time_us back, int64_t theirs);
/* The error bound by now; OFFSET_UNKNOWN before the first sample. */
int64_t offset_error(const struct offset *offset, time_us now);

#endif /* CORE_OFFSET_H */
