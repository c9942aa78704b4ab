/*
 * history.h - what `muster report` needs to know of a run and the journal does
 * not say: when steps ended, and who took how long.
 *
 * Kept by default, because it costs little: at most HISTORY_CELLS answers in
 * memory, and a file history.N.json in the run's folder, N counting the starts
 * (--resume is another one).  When there are too many steps, every second one
 * is forgotten and from then on every second one kept, so that those kept are
 * spread evenly.
 */
#ifndef CLI_HISTORY_H
#define CLI_HISTORY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/run/names.h"
#include "core/trace.h"

#define HISTORY_STEPS   2000u
#define HISTORY_CELLS   200000u
#define HISTORY_WORKERS 1024u /* More are not told apart. */
#define HISTORY_EVENTS  500u
#define HISTORY_PARTS   1000u /* Starts of one run. */

/* Its files in the run's folder. */
extern const struct names history_names;

/* One worker in one step. */
struct history_cell {
    int32_t answered_us; /* Its last answer, from the step's opening; -1 = it
                            was called off without one; -2 = it was away. */
    int32_t compute_us;  /* Of its answers, slowed on purpose or not. */
    uint32_t chunks;     /* In its answers, also those that came second. */
};

struct history_step {
    uint32_t step;   /* Its number when it ended, ... */
    uint32_t opened; /* ... and when its first round opened. */
    uint32_t rounds;
    int64_t at_us; /* Opened, from the run's first opening. */
    int64_t took_us;
    double loss;
    uint32_t exactness;
};

struct history_event {
    int64_t at_us;
    uint32_t step;
    enum trace_kind kind;
    char name[NAME_SIZE];
};

struct history {
    char (*names)[NAME_SIZE];
    bool *here;
    uint32_t count;
    struct history_cell *cells; /* steps_max x columns. */
    struct history_cell *row;   /* The step at hand. */
    struct history_step *steps;
    uint32_t step_count, steps_max;
    uint32_t columns; /* Room for so many workers, fixed at the first step. */
    uint32_t stride;
    time_us began_at, opened_at; /* TIME_NEVER = not yet. */
    uint32_t step;               /* The one at hand, ... */
    uint32_t rounds;             /* ... and its rounds. */
    struct history_event events[HISTORY_EVENTS];
    uint32_t event_count, stamped; /* So many have the step they were at. */
    uint64_t events_lost;
    uint32_t died;         /* Workers that did, so far, ... */
    uint32_t coordinators; /* ... and coordinators, ... */
    int coordinator;       /* ... of which this is the process. */
    bool failed;           /* Out of memory: nothing more is kept. */
};

void history_init(struct history *history);
void history_close(struct history *history);
/* `scale`: times the loss is what people see. */
void history_event(struct history *history, const struct trace *trace,
                   double scale);
/* No trace event can tell of the coordinator's own death: the process that is
 * it now does.  0: none is known. */
void history_coordinator(struct history *history, int pid);
/* As JSON: workers, steps, cells, events, deaths. */
json_t *history_json(const struct history *history);

#endif /* CLI_HISTORY_H */
