/*
 * offset.c - clock offset as NTP estimates it, from the echo of a heartbeat.
 * The sample with the shortest round trip stands until drift has made it worse
 * than a new one.
 */
#include "core/link/offset.h"

static bool plausible(time_us t)
{
    return t >= 0 && t <= OFFSET_CLOCK_MAX;
}

int64_t offset_error(const struct offset *offset, time_us now)
{
    if (!offset->known)
        return OFFSET_UNKNOWN;
    return offset->error_us +
           (now - offset->at) / (SECOND_US / OFFSET_DRIFT_PPM);
}

void offset_sample(struct offset *offset, time_us sent, time_us heard,
                   time_us back, int64_t theirs)
{
    int64_t error;

    if (!plausible(sent) || !plausible(heard) || !plausible(back) ||
        !plausible(theirs) || back < sent)
        return;
    offset->trip_us = back - sent;
    error = (offset->trip_us + 1) / 2 + theirs;
    if (offset->known && error > offset_error(offset, back))
        return;
    offset->known = true;
    offset->ahead_us = heard - (sent + offset->trip_us / 2);
    offset->error_us = error;
    offset->at = back;
}
