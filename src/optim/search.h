/*
 * search.h - a line search that does not own the loop.
 *
 * phi(a) = f(b + a p), phi'(0) < 0.  Each trial costs one evaluation of f and
 * its gradient, so both phi and phi' are known there.  A trial is accepted if
 *
 *     phi(a) <= phi(0) + c1 a phi'(0)  and  |phi'(a)| <= c2 |phi'(0)|
 *
 * (strong Wolfe) or, where phi(a) differs from phi(0) by rounding only, if
 * (2 c1 - 1) phi'(0) >= phi'(a) >= c2 phi'(0) (Hager & Zhang's approximate
 * Wolfe: slopes keep their accuracy where values have lost it).  Trials come
 * from the cubic through the two best points, kept away from the ends of the
 * bracket; after Nocedal & Wright, Numerical Optimization, algorithms 3.5-3.6.
 *
 * Where trials cost no evaluation of all rows (line.c) the search is exact: phi
 * is convex, so that the sign of phi' tells on which side of its least value a
 * trial lies, and a trial is accepted if |phi'(a)| <= c3 |phi'(0)|, c3 small.
 */
#ifndef OPTIM_SEARCH_H
#define OPTIM_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#define SEARCH_TRIALS_MAX 20u

enum search_rule {
    SEARCH_WOLFE,
    SEARCH_ARMIJO, /* Decrease is enough, slopes do not count. */
    SEARCH_EXACT,
    SEARCH_RULES
};

struct search_point {
    double step, value, slope;
};

/* Plain numbers, so that a checkpoint can hold them. */
struct search {
    struct search_point start; /* step 0. */
    struct search_point low;   /* Best so far that decreases enough. */
    struct search_point high;  /* Other end, if bracketed. */
    bool bracketed;            /* A minimum lies between low and high. */
    enum search_rule rule;
    bool last; /* The trial is `low` again: take it. */
    uint32_t trials;
    double step; /* The trial to evaluate. */
};

enum search_verdict {
    SEARCH_ON,     /* Evaluate search->step next. */
    SEARCH_ACCEPT, /* The trial just fed is the new point. */
    SEARCH_FAIL,   /* No trial decreases f: rounding, or a wrong slope. */
};

/* slope < 0. */
void search_begin(struct search *search, double value, double slope,
                  double step, enum search_rule rule);
/* phi and phi' at search->step.  A value that is not finite is too far. */
enum search_verdict search_feed(struct search *search, double value,
                                double slope);

#endif /* OPTIM_SEARCH_H */
