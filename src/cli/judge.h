/*
 * judge.h - the metric on the validation set while a cluster trains.
 *
 * The supervisor has no model; the newest checkpoint in the run's folder is
 * one.  At most once a second and a tenth of the time, and only with --valid:
 * a test set is looked at once, at the end.
 */
#ifndef CLI_JUDGE_H
#define CLI_JUDGE_H

#include <jansson.h>
#include <stdint.h>

#include "base/time.h"
#include "cli/setup.h"

#define JUDGE_POINTS 1000u

struct judge {
    time_us judged_at, judged_us; /* The last time, and how long it took. */
    time_us pause_us;             /* At least, between two. */
    uint32_t count;
    uint32_t step[JUDGE_POINTS];
    double value[JUDGE_POINTS];
};

void judge_init(struct judge *judge);
/* Look, if it is time and there is something new. */
void judge_look(struct judge *judge, const struct setup *setup,
                const char *folder, time_us now);
/* [[step, value], ...] */
json_t *judge_json(const struct judge *judge);

#endif /* CLI_JUDGE_H */
