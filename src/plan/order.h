/*
 * order.h - when enough of n workers have answered, on average.
 *
 * The time of a step is an order statistic of the workers' times: the k-th of
 * n (uncoded: k = n; cyclic: k = n - s), or the last of the groups' firsts
 * (replication).  Three ways to the same number: in closed form where one
 * exists, by quadrature for any law, and from a sample by the exact bootstrap
 * formula, which needs no drawing.  Formulas are those of Arnold, Balakrishnan
 * & Nagaraja, "A First Course in Order Statistics", 2008.
 *
 * All assume independent, equally distributed times; plan/replay.h does not.
 */
#ifndef PLAN_ORDER_H
#define PLAN_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "plan/delay.h"

/* A worker's time: a kind of delay with its two numbers.  For DELAY_BIMODAL
 * the time is 1, or b with probability a. */
struct law {
    enum delay_kind kind;
    double a, b;
};

/* groups of d workers, of which the first counts; k of the groups must have
 * answered.  d = 1: plain k-th of n. */
struct quorum {
    uint32_t groups; /* n / d. */
    uint32_t d;
    uint32_t k;
};

/* Quantile u of the law; v = 1 - u, given apart so that far tails are exact. */
double law_quantile(const struct law *law, double u, double v);
double law_cdf(const struct law *law, double x);

/* Chance that the quorum is content once a share u of all times has passed. */
double quorum_cdf(const struct quorum *quorum, double u);

/* NaN where no closed form is known; infinite where the mean is. */
double order_closed(const struct law *law, const struct quorum *quorum);
double order_quadrature(const struct law *law, const struct quorum *quorum);
/* `sorted`: `count` observed times, ascending. */
double order_sample(const double *sorted, size_t count,
                    const struct quorum *quorum);

#endif /* PLAN_ORDER_H */
