/*
 * recorder.h - a real run's delays as a trace (`--record FILE`).
 *
 * A worker's time in a step is from the opening of the round to its last
 * answer in it.  What the quickest need is taken for the work, the rest for
 * delay.  One that had not answered when the step ended was called off: its
 * number is a lower bound, written >S.  One that is gone is `dead`.
 */
#ifndef CLI_RECORDER_H
#define CLI_RECORDER_H

#include "core/trace.h"
#include "plan/delay_trace.h"

struct recorder {
    struct delay_trace times; /* Seconds; below 0: at least so many. */
    char (*names)[NAME_SIZE]; /* Of the columns, fixed by the first step. */
    double *row;
    bool *gone;
    uint32_t count;
    size_t name_capacity;
    bool begun;
    time_us opened_at;
    bool failed; /* Out of memory: the rest is not kept. */
};

void recorder_event(struct recorder *recorder, const struct trace *trace);
/* Write what was kept; ERR_SHAPE if no step was.  Frees. */
MUST_CHECK enum err recorder_write(struct recorder *recorder, const char *path,
                                   struct why *why);
void recorder_close(struct recorder *recorder);

#endif /* CLI_RECORDER_H */
