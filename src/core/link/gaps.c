/*
 * gaps.c - an adaptive failure detector's memory of one road: mean and
 * deviation of the gaps between beats, and the two longest stalls of late,
 * which mean and deviation forget too soon.
 */
#include "core/link/gaps.h"

#define GAP_WEIGHT     (1.0 / 16) /* Of the newest gap in mean and deviation. */
#define GAP_DEVIATIONS 6.0
#define STALL_KEEPS    (1 - 1.0 / 1024) /* A beat later; half in 35 s. */
#define STALL_FACTOR   1.5

void gaps_init(struct gaps *gaps, time_us beat_us)
{
    *gaps = (struct gaps){.mean_us = (double)beat_us};
}

static void learn_stall(struct gaps *gaps, double gap)
{
    double *stall = gaps->stall_us;

    stall[0] *= STALL_KEEPS;
    stall[1] *= STALL_KEEPS;
    if (gap > stall[0]) {
        stall[1] = stall[0];
        stall[0] = gap;
    } else if (gap > stall[1]) {
        stall[1] = gap;
    }
}

void gaps_learn(struct gaps *gaps, uint64_t sequence, time_us now,
                time_us most_us)
{
    double gap = (double)(now - gaps->beat_at);
    double off;

    if (gaps->sequence == 0)
        gap = gaps->mean_us; /* There was none before it. */
    gap = gap > (double)most_us ? (double)most_us : gap;
    learn_stall(gaps, gap);
    off = gap - gaps->mean_us;
    gaps->mean_us += GAP_WEIGHT * off;
    off = off < 0 ? -off : off;
    gaps->dev_us += GAP_WEIGHT * (off - gaps->dev_us);
    gaps->sequence = sequence;
    gaps->beat_at = now;
}

time_us gaps_limit(const struct gaps *gaps, time_us least_us)
{
    const double usual = gaps->mean_us + GAP_DEVIATIONS * gaps->dev_us;
    const double stalled = STALL_FACTOR * gaps->stall_us[1];
    const double longest = usual > stalled ? usual : stalled;

    return longest > (double)least_us ? (time_us)longest : least_us;
}
