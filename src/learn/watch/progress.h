/*
 * progress.h - a run as seen from outside: the sum of its trace events.
 *
 * Screen, progress lines and closing card all read this one picture.  It is
 * told the time and prints nothing.
 *
 *     trace events --> progress_event --+
 *     a tick       --> progress_tick  --+--> screen, lines, card
 *
 * Pace: chunks merged from a worker in the last window of PACE_WINDOW_US.  A
 * worker that beats but has less than a third of the median pace is straggling.
 */
#ifndef LEARN_WATCH_PROGRESS_H
#define LEARN_WATCH_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "core/trace.h"

#define PROGRESS_WORKERS_MAX 256u /* More are counted, not shown. */
#define PACE_WINDOW_US       SECOND_US

enum progress_state {
    PROGRESS_WORKING,
    PROGRESS_STRAGGLING,
    PROGRESS_SUSPECT,
    PROGRESS_DEAD,
    PROGRESS_LEFT,
};

struct progress_worker {
    char name[NAME_SIZE];
    char relay[NAME_SIZE]; /* That it is behind; "" = none. */
    enum progress_state state;
    bool straggled;   /* At any time. */
    uint64_t chunks;  /* Merged so far. */
    uint64_t pace;    /* Merged in the last whole window. */
    uint64_t counted; /* `chunks` when the window began. */
};

struct progress {
    uint32_t count;
    struct progress_worker workers[PROGRESS_WORKERS_MAX];
    uint32_t joined, died, left;
    uint32_t step; /* Updates made. */
    uint32_t views;
    double objective;
    bool started;  /* A round was opened. */
    bool over;     /* The weights are final. */
    bool rejoined; /* The last one who joined had never left. */
    uint32_t windows;
    time_us window_at; /* When the present window began. */
    uint64_t pace_best;
};

void progress_init(struct progress *progress);
void progress_event(struct progress *progress, const struct trace *trace);
/* The process of that name is no more.  Known to the one who started it even
 * when there is no coordinator to notice. */
void progress_gone(struct progress *progress, const char *name);
/* Close the window if it is over. */
void progress_tick(struct progress *progress, time_us now);
/* Workers that straggled at any time. */
uint32_t progress_straggled(const struct progress *progress);
uint32_t progress_alive(const struct progress *progress);
const char *progress_state_name(enum progress_state state);
/* What people are told of an event that `progress` has seen, in `text`; NULL:
 * nothing. */
const char *progress_sentence(const struct progress *progress,
                              const struct trace *trace, char text[TRACE_TEXT]);

#endif /* LEARN_WATCH_PROGRESS_H */
