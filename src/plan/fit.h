/*
 * fit.h - from observed delays to a line of the delay grammar.
 *
 * Three questions: do delays grow with the work (regression over loads, where
 * they vary), do they stay with a worker or come in bursts (rank correlation
 * from step to step), and of which family are they (greatest likelihood, less
 * one for each parameter; the Kolmogorov-Smirnov distance says how well).
 */
#ifndef PLAN_FIT_H
#define PLAN_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "plan/delay_trace.h"
#include "plan/order.h"

#define FIT_TEXT_BYTES 128u

struct delay_fit {
    struct law law;  /* DELAY_BIMODAL: as in the grammar. */
    bool scale;      /* The law is of delay / work. */
    bool loads_vary; /* Else `scale` is a guess. */
    bool persistent; /* The law is of workers, not of steps. */
    bool bursty;
    double enter, leave;       /* Bursty and bimodal. */
    double dead;               /* Share of answers that never came. */
    double correlation;        /* Of ranks, from one step to the next. */
    double ks;                 /* Largest distance of the distributions. */
    char text[FIT_TEXT_BYTES]; /* For --delay. */
};

/* ERR_SHAPE with a sentence if there is too little to fit. */
MUST_CHECK enum err fit_trace(const struct delay_trace *trace,
                              struct delay_fit *fit, struct why *why);

/* The family by likelihood; sorts `sample`.  For fit_trace and tests. */
struct law fit_law(double *sample, size_t count);
/* Kolmogorov-Smirnov distance of a sorted sample from the law. */
double fit_distance(const struct law *law, const double *sorted, size_t count);

const char *law_name(enum delay_kind kind);

#endif /* PLAN_FIT_H */
