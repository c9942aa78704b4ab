/*
 * plan.h - which code for these delays?
 *
 * Every candidate is tried on the same delays, step by step (plan/replay.h):
 * correlated, persistent and bursty slowness count as they are, no formula
 * assumes them away.  Pure: delays in, choice out; the command line asks it
 * before a job, plan/adapt.h during one with what it has observed.
 *
 * Codes that leave data out pay with more steps: by the gradient noise scale
 * (McCandlish et al., "An Empirical Model of Large-Batch Training", 2018) a
 * step over a share c of the rows is worth (1 + b) / (1 + b / c) full ones, b
 * being the noise scale over the rows.  `progress_s` is the time of as many
 * steps as make the progress of one full step.
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "plan/candidate.h"
#include "plan/delay.h"
#include "plan/delay_trace.h"

#define PLAN_GAIN_MIN  .08 /* Less is not worth a change. */
#define PLAN_WHY_BYTES 512u
#define PLAN_BLOCKS    20u /* Of steps, for confidence intervals. */

struct plan_options {
    uint32_t workers;
    uint32_t chunks;           /* 0 = enough for every piece of every code. */
    double work_s;             /* A worker's share of the data, computed. */
    const struct delay *delay; /* A model, or a trace. */
    uint32_t first_step;       /* Of the delays ... */
    uint32_t steps;            /* ... and how many. */
    double noise;              /* b above; 0 = every row counts the same. */
    double storage_max;        /* Copies of the data; 0 = any. */
    bool everywhere;           /* Every worker has all rows. */
};

struct score {
    enum exactness exactness;
    double step_s;        /* Mean; over steps that did not stall. */
    double stalled;       /* Share of steps that would never end. */
    double coverage;      /* Mean share of the data in a step. */
    double extra_compute; /* 0.5 = half as much again as one pass. */
    double storage;       /* Copies of the data over all workers. */
    double answers;       /* Vectors sent to the coordinator in a step. */
    double progress_s;    /* Time to the progress of one full step. */
    double block_s[PLAN_BLOCKS]; /* progress_s of consecutive steps. */
};

/* ERR_SHAPE and others of code_build if the candidate does not fit. */
MUST_CHECK enum err plan_score(const struct plan_options *options,
                               const struct candidate *candidate,
                               struct score *score, struct why *why);

/* Candidates and, once scored, what they cost.  Large: not for the stack. */
struct plan_table {
    struct candidate candidate[CANDIDATES_MAX];
    struct score score[CANDIDATES_MAX];
    uint32_t count;
};

/* Score candidate[0 .. count).  The first is what runs now: an error if it does
 * not fit.  Others that do not fit, or are the first again, fall out. */
MUST_CHECK enum err plan_score_all(const struct plan_options *options,
                                   struct plan_table *table, struct why *why);

struct plan_choice {
    uint32_t best;
    /* Against `current`: share of time saved, with its 95 % interval. */
    double gain, gain_low, gain_high;
    bool change; /* The gain is above PLAN_GAIN_MIN, and surely above 0. */
    char why[PLAN_WHY_BYTES];
};

/* The least progress_s; among those within 2 % of it the one that costs least
 * (storage, compute, messages).  `current` is what runs now, to be kept unless
 * a change pays; scores[current] as well. */
void plan_choose(const struct candidate *candidates, const struct score *scores,
                 uint32_t count, uint32_t current, struct plan_choice *choice);

#endif /* PLAN_PLAN_H */
