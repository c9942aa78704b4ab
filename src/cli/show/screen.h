/*
 * screen.h - the run as it goes, on standard error.
 *
 * On a terminal: one block, redrawn in place at most ten times a second.
 *
 *     step 134/400   loss 0.51234   31 steps/s, 8 s left   8 workers, ...
 *     w0   48201  ####################  working
 *     w3   48204  ###                   straggling
 *     w6   48213                        dead
 *     Your turn: kill -9 48205 (w4)   kill -9 48200 (the coordinator!)
 *
 * From 17 workers on each has one cell instead of a line (cli/show/cells.h).
 *
 * Elsewhere: a line every tenth of the run or every ten seconds, but not more
 * than one a second, and one for whoever dies, leaves or joins.  What is left
 * is at the present rate and to the last step; where a run may end before that,
 * nobody knows, and nothing is said of it ("step 7 of at most 1000").
 * The cursor is never hidden and no mode is set, so that there is nothing to
 * restore however the program ends.
 */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "learn/watch/progress.h"
#include "learn/watch/waiting.h"
#include "node/run/train.h"

enum screen_mode { SCREEN_NONE, SCREEN_LINES, SCREEN_BLOCK };

struct screen {
    enum screen_mode mode;
    bool invite; /* Show whom to kill. */
    bool colour;
    bool utf8;
    uint32_t steps; /* To make in all, ... */
    bool may_end;   /* ... or fewer. */
    uint32_t pass;  /* Steps of a pass over the rows; 0: each is over all. */
    const char *code;
    uint32_t rows; /* Lines drawn last time. */
    time_us drawn_at;
    uint32_t told_step;  /* Last line was about this step ... */
    time_us told_at;     /* ... and printed then. */
    int coordinator;     /* Its process id, as last seen. */
    time_us began_at;    /* The first step seen; 0 = none yet ... */
    uint32_t began_step; /* ... after so many updates (a resumed run). */
    struct waiting waiting;
    char await[WAITING_TEXT]; /* What was last said of it; "": none. */
    char extra[48];           /* What else there is to say; "" = nothing. */
};

/* Of the process of that name; 0: there is none. */
int screen_pid(const char *name, const struct train_process *processes,
               uint32_t count);
/* Looks at the terminal and the environment. */
void screen_init(struct screen *screen, bool quiet);
/* After each event (trace) and tick (NULL); processes may be empty. */
void screen_update(struct screen *screen, const struct progress *progress,
                   const struct trace *trace,
                   const struct train_process *processes, uint32_t count,
                   time_us now);
/* The same without workers: after a step of this process alone. */
void screen_step(struct screen *screen, const struct progress *progress,
                 time_us now);
/* Leave the last picture and go to a fresh line. */
void screen_end(struct screen *screen, const struct progress *progress,
                const struct train_process *processes, uint32_t count);

#endif /* CLI_SCREEN_H */
