/*
 * gaps.h - how long silence is usual on a road, from the beats on it.
 *
 * Mean and deviation of the gaps between beats follow jitter.  A lost packet
 * holds back all beats behind it for a few hundred ms, once in many: mean and
 * deviation forget that long before the next.  What was waited for twice of
 * late is therefore waited for again, and half as long once more; the longest
 * alone may have been a pause.
 */
#ifndef CORE_GAPS_H
#define CORE_GAPS_H

#include <stdint.h>

#include "base/time.h"

struct gaps {
    double mean_us;
    double dev_us;
    double stall_us[2]; /* The two longest of late. */
    uint64_t sequence;  /* Of the last beat; 0 = none yet. */
    time_us beat_at;    /* When it came. */
};

/* Beats are sent every `beat_us`. */
void gaps_init(struct gaps *gaps, time_us beat_us);
/* A beat, newer than the last.  No gap counts as more than `most_us`: one long
 * pause must not make us patient for ever. */
void gaps_learn(struct gaps *gaps, uint64_t sequence, time_us now,
                time_us most_us);
/* Silence that is still normal here: `least_us`, or what was learnt. */
time_us gaps_limit(const struct gaps *gaps, time_us least_us);

#endif /* CORE_GAPS_H */
