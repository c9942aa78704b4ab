/*
 * watch.h - a run as seen from outside: the sum of its trace events.
 *
 * Screen, progress lines and closing card all read this one picture.  It is
 * told the time and prints nothing.
 *
 *     trace events --> watch_event --+
 *     a tick       --> watch_tick  --+--> struct watch --> screen, lines, card
 *
 * Pace: chunks merged from a worker in the last window of PACE_WINDOW_US.  A
 * worker that beats but has less than a third of the median pace is straggling.
 */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "core/trace.h"

#define WATCH_WORKERS_MAX 256u /* More are counted, not shown. */
#define PACE_WINDOW_US    SECOND_US

enum watch_state {
    WATCH_WORKING,
    WATCH_STRAGGLING,
    WATCH_SUSPECT,
    WATCH_DEAD,
    WATCH_LEFT,
};

struct watch_worker {
    char name[NAME_SIZE];
    char relay[NAME_SIZE]; /* That it is behind; "" = none. */
    enum watch_state state;
    bool straggled;   /* At any time. */
    uint64_t chunks;  /* Merged so far. */
    uint64_t pace;    /* Merged in the last whole window. */
    uint64_t counted; /* `chunks` when the window began. */
};

struct watch {
    uint32_t count;
    struct watch_worker workers[WATCH_WORKERS_MAX];
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

void watch_init(struct watch *watch);
void watch_event(struct watch *watch, const struct trace *trace);
/* The process of that name is no more.  Known to the one who started it even
 * when there is no coordinator to notice. */
void watch_gone(struct watch *watch, const char *name);
/* Close the window if it is over. */
void watch_tick(struct watch *watch, time_us now);
/* Workers that straggled at any time. */
uint32_t watch_straggled(const struct watch *watch);
uint32_t watch_alive(const struct watch *watch);
const char *watch_state_name(enum watch_state state);
/* Green, yellow, magenta, red, grey: the code for a terminal. */
const char *watch_state_colour(enum watch_state state);

#endif /* CLI_WATCH_H */
