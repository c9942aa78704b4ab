/*
 * delay_trace.h - recorded or generated delays as a text file.
 *
 *     # muster trace: a line per step, a number per worker: seconds of delay
 *     # work 0.25
 *     0.01,0.32,0.02,dead
 *     0.03,>0.4,0.01,0.02
 *
 * A number is what a worker took beyond its own computing, in seconds (with the
 * suffix /scale or /times of a delay: a factor).  `dead`: it never answered;
 * `>0.4`: it was called off after so long and would have taken longer, so the
 * mean of the longer ones on record stands for it.  `# work S`: from here on a
 * worker computed S seconds by itself in a step; other lines that begin with #
 * are comments.  Steps and workers beyond the file begin again at its start.
 */
#ifndef PLAN_DELAY_TRACE_H
#define PLAN_DELAY_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define DELAY_TRACE_STEPS_MAX 1000000u
#define DELAY_TRACE_WORK      "# work "

struct delay_trace {
    uint32_t rows, cols; /* Steps, workers. */
    double *value;       /* rows x cols. */
    double *work_s;      /* rows; 0 = not said. */
    size_t value_capacity, work_capacity;
    uint32_t censored; /* Numbers that began with >. */
};

/* The sentence of a refusal begins with the line's number; `text` ends with a
 * NUL.  Closing frees; zeroed memory is safe to close. */
MUST_CHECK enum err delay_trace_parse(struct delay_trace *trace,
                                      const char *text, struct why *why);
void delay_trace_close(struct delay_trace *trace);

/* Add a step of `cols` numbers; the first says how many workers there are.  For
 * writing only, one below 0 stands for "longer than that". */
MUST_CHECK enum err delay_trace_add(struct delay_trace *trace,
                                    const double *value, uint32_t cols,
                                    double work_s);

double delay_trace_at(const struct delay_trace *trace, uint32_t step,
                      uint32_t slot);

/* The file's text, from mem_new; NULL if out of memory. */
char *delay_trace_text(const struct delay_trace *trace);

struct delay;

/* What the delays say for `slots` workers, step after step, if a worker
 * computes work_s in each. */
MUST_CHECK enum err delay_trace_generate(struct delay_trace *trace,
                                         const struct delay *delay,
                                         uint32_t steps, uint32_t slots,
                                         double work_s);

/* A cluster as they are: machines of somewhat different speed, jitter, machines
 * and racks that are slow for a while, now and then a long stall. */
extern const char delay_trace_realistic[];

#endif /* PLAN_DELAY_TRACE_H */
