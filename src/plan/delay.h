/*
 * delay.h - injected slowness: how long a worker sleeps in a step.
 *
 *     reference[:MEAN]     the MT19937 stream of the seed systems, mean .5 s
 *     exp:MEAN  shifted:A,MEAN  pareto:XM,ALPHA      seconds, additive
 *     bimodal:P,FACTOR     with probability P the worker takes FACTOR times
 *                          its own compute time
 *     worker:NAME=FACTOR   that worker always takes FACTOR times as long
 *     Several may be joined with `+`; the empty text is no delay.
 *     suffix /scale: the draw multiplies the worker's compute time instead.
 *
 * A pure function of (spec, seed, step, slot): everyone who asks gets the same.
 */
#ifndef PLAN_DELAY_H
#define PLAN_DELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define DELAY_TERMS_MAX 8u

enum delay_kind {
    DELAY_REFERENCE,
    DELAY_EXP,
    DELAY_SHIFTED,
    DELAY_PARETO,
    DELAY_BIMODAL,
    DELAY_WORKER,
};

struct delay_term {
    enum delay_kind kind;
    bool scale;
    double a, b;     /* Parameters in the order written. */
    char worker[65]; /* DELAY_WORKER. */
};

struct delay {
    uint32_t count; /* 0: no delay. */
    struct delay_term term[DELAY_TERMS_MAX];
    uint64_t seed;
};

/* What a worker is told for a step: sleep add_s + factor * compute time. */
struct delay_draw {
    double add_s;
    double factor; /* 0 = none; 2 = takes three times as long in all. */
};

MUST_CHECK enum err delay_parse(const char *text, uint64_t seed,
                                struct delay *delay, struct why *why);
struct delay_draw delay_draw(const struct delay *delay, uint32_t step,
                             uint32_t slot, const char *worker);

#endif /* PLAN_DELAY_H */
