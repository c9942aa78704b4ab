/*
 * delay.h - slowness: how long a worker sleeps in a step.
 *
 *     text = term ('+' term)*      term = kind[:numbers] suffix*
 *
 *     reference[:MEAN]        the MT19937 stream of the seed systems, mean .5 s
 *     exp:MEAN                shifted:A,MEAN          pareto:XM,ALPHA
 *     lognormal:MEDIAN,SIGMA  weibull:SCALE,SHAPE     seconds, additive
 *     bimodal:P,FACTOR        with probability P the worker takes FACTOR times
 *                             its own compute time
 *     worker:NAME=FACTOR      that worker always takes FACTOR times as long
 *     dead:P                  with probability P it does not answer at all
 *     trace:FILE              recorded or generated, see plan/delay_trace.h
 *
 *     /scale                  the draw times the compute time is added
 *     /times                  the draw says how many times as long in all
 *     /share                  the draw is for all that is computed in a step:
 *                             a piece takes its share of it, however long the
 *                             machine itself took
 *     /persistent             drawn once for a worker, not in every step
 *     /rack:N                 N neighbours share every draw
 *     /burst:ENTER,LEAVE      only in bursts: two states, with these chances
 *                             per step of going from the one to the other
 *
 * The empty text is no delay.  A pure function of (spec, seed, step, slot):
 * everyone who asks gets the same, whoever asks and in whatever order.
 */
#ifndef PLAN_DELAY_H
#define PLAN_DELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define DELAY_TERMS_MAX  8u
#define DELAY_TEXT_BYTES 200u
#define DELAY_NEVER_S    1e9 /* Nothing sleeps longer; `dead` sleeps this. */

enum delay_kind {
    DELAY_REFERENCE,
    DELAY_EXP,
    DELAY_SHIFTED,
    DELAY_PARETO,
    DELAY_LOGNORMAL,
    DELAY_WEIBULL,
    DELAY_BIMODAL,
    DELAY_WORKER,
    DELAY_DEAD,
    DELAY_TRACE,
};

enum delay_unit {
    UNIT_SECONDS,
    UNIT_SCALE, /* Times the compute time, on top of it. */
    UNIT_TIMES, /* Times the compute time, in all. */
    UNIT_SHARE, /* Seconds of all a step's work. */
};

struct delay_trace;

struct delay_term {
    enum delay_kind kind;
    enum delay_unit unit;
    double a, b; /* Parameters in the order written. */
    bool persistent;
    uint32_t rack;       /* Slots that share a draw; 0 = each its own. */
    double enter, leave; /* Burst; enter 0 = always on. */
    char name[DELAY_TEXT_BYTES]; /* Of the worker, or of the trace's file. */
    const struct delay_trace *trace; /* Borrowed; must be set before a draw. */
};

struct delay {
    uint32_t count; /* 0: no delay. */
    struct delay_term term[DELAY_TERMS_MAX];
    uint64_t seed;
};

/* What a worker is told for a step: sleep add_s + factor * compute time +
 * share_s * its share of the step's work. */
struct delay_draw {
    double add_s;
    double factor; /* 0 = none; 2 = takes three times as long in all. */
    double share_s;
};

/* Nothing is read: the caller sets the `trace` of DELAY_TRACE terms. */
MUST_CHECK enum err delay_parse(const char *text, uint64_t seed,
                                struct delay *delay, struct why *why);

/* In virtual time workers are w0, w1, ...: ERR_RANGE if a term names another.
 */
MUST_CHECK enum err delay_check_names(const struct delay *delay, uint32_t slots,
                                      struct why *why);

/* For the worker of that name (NULL: nobody's) in that slot. */
struct delay_draw delay_draw(const struct delay *delay, uint32_t step,
                             uint32_t slot, const char *worker);
/* For slots 0 .. slots - 1, filled by workers w0, w1, ...: the same as that
 * many delay_draw, but O(1) each also for `reference`. */
void delay_row(const struct delay *delay, uint32_t step, uint32_t slots,
               struct delay_draw *draws);

#endif /* PLAN_DELAY_H */
