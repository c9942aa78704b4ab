/*
 * curve.h - the metric on the validation set while a cluster trains.
 *
 * The supervisor has no model; the newest checkpoint in the run's folder is
 * one.  At most once a second and a tenth of the time, and only with --valid:
 * a test set is looked at once, at the end.  A child does it: the supervisor
 * must not be away for as long as that takes.
 */
#ifndef CLI_CURVE_H
#define CLI_CURVE_H

#include <jansson.h>
#include <stdint.h>

#include "base/time.h"
#include "learn/setup.h"

#define CURVE_POINTS 1000u

struct curve {
    time_us looked_at, looked_us; /* The last time, and how long it took. */
    time_us pause_us;             /* At least, between two. */
    int pid, reader;              /* Of the child that looks; 0 = none. */
    uint32_t count;
    uint32_t step[CURVE_POINTS];
    double value[CURVE_POINTS];
};

void curve_init(struct curve *curve);
/* Begin to look if it is time, or take what was found. */
void curve_look(struct curve *curve, const struct setup *setup,
                const char *folder, time_us now);
void curve_end(struct curve *curve);
/* [[step, value], ...] */
json_t *curve_json(const struct curve *curve);

#endif /* CLI_CURVE_H */
