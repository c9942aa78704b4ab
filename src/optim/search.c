/*
 * search.c - a line search by the strong and the approximate Wolfe conditions,
 * as a state machine: it is fed one trial at a time, because a trial is a round
 * of all workers.
 */
#include "optim/search.h"

#include <math.h>

#define DECREASE  1e-4    /* c1 */
#define CURVATURE 0.9     /* c2 */
#define EXACT     1e-3    /* c3 */
#define NOISE     0x1p-43 /* Relative: values closer than that are equal. */
#define GROW_MIN  2.0
#define GROW_MAX  10.0
#define EDGE      0.1 /* Trials keep so far from the ends of the bracket. */

void search_begin(struct search *search, double value, double slope,
                  double step, enum search_rule rule)
{
    const struct search_point start = {0, value, slope};

    *search = (struct search){
        .start = start, .low = start, .rule = rule, .step = step};
}

static bool is_noise(const struct search *s, double value)
{
    return fabs(value - s->start.value) <= NOISE * fabs(s->start.value);
}

static bool decreases(const struct search *s, const struct search_point *at)
{
    return at->value <= s->start.value + DECREASE * at->step * s->start.slope;
}

/* Is it as level there as the rule asks for? */
static bool level(const struct search *s, const struct search_point *at)
{
    const double most = s->rule == SEARCH_EXACT ? EXACT : CURVATURE;

    return s->rule == SEARCH_ARMIJO ||
           fabs(at->slope) <= most * fabs(s->start.slope);
}

static bool acceptable(const struct search *s, const struct search_point *at)
{
    const double slope = s->start.slope;

    if (!isfinite(at->value) || !isfinite(at->slope))
        return false;
    if (decreases(s, at) && level(s, at))
        return true;
    return is_noise(s, at->value) && at->slope >= CURVATURE * slope &&
           at->slope <= (2 * DECREASE - 1) * slope;
}

/* Worse than low: the minimum lies before it.  Where values say nothing the
 * slope decides. */
static bool beyond(const struct search *s, const struct search_point *at)
{
    if (!isfinite(at->value) || !isfinite(at->slope))
        return true;
    if (s->rule == SEARCH_EXACT)
        return at->slope > 0 ||
               (at->value > s->start.value && !is_noise(s, at->value));
    if (is_noise(s, at->value))
        return at->slope * (at->step - s->low.step) > 0;
    return !decreases(s, at) || (s->low.step > 0 && at->value >= s->low.value);
}

/* Minimum of the cubic with the values and slopes of p and q; NaN if it has
 * none. */
static double cubic_minimum(const struct search_point *p,
                            const struct search_point *q)
{
    const double width = q->step - p->step;
    const double d1 = p->slope + q->slope - 3 * (q->value - p->value) / width;
    const double square = d1 * d1 - p->slope * q->slope;
    const double d2 = copysign(sqrt(square), width);

    return q->step -
           width * ((q->slope + d2 - d1) / (q->slope - p->slope + 2 * d2));
}

/* `step` if it is between the two, else the nearer; NaN gives `otherwise`. */
static double within(double step, double least, double most, double otherwise)
{
    if (isnan(step))
        return otherwise;
    if (step < least)
        return least;
    return step > most ? most : step;
}

/* Overflow says nothing about where the minimum is: come back, at first a
 * little, then in ever larger strides; half-way in digits once a good point is
 * known. */
static double step_back(const struct search *s)
{
    double step = s->high.step;

    if (s->low.step > 0)
        return sqrt(s->low.step) * sqrt(s->high.step);
    for (uint32_t i = 0; i < s->trials; i++)
        step *= EDGE;
    return step;
}

/* Minimum of the parabola with the start's value and slope and the value of
 * `at`: a first step may be longer than the way by any factor. */
static double parabola_minimum(const struct search *s,
                               const struct search_point *at)
{
    const double line = s->start.value + s->start.slope * at->step;

    return -0.5 * s->start.slope * at->step / (at->value - line) * at->step;
}

static double step_inside(const struct search *s)
{
    const double width = s->high.step - s->low.step;
    const double far = s->high.step - EDGE * width;
    double near = s->low.step + EDGE * width;
    double middle = s->low.step + 0.5 * width;
    double step;

    if (!isfinite(s->high.value) || !isfinite(s->high.slope))
        return step_back(s);
    step = parabola_minimum(s, &s->high);
    if (step > s->low.step && step < near && width > 0)
        near = middle = step;
    step = cubic_minimum(&s->low, &s->high);
    return width > 0 ? within(step, near, far, middle)
                     : within(step, far, near, middle);
}

/* Where the slope would be 0, if it goes on as from p to q, and NaN if it does
 * not rise: for where the values say nothing. */
static double slopes_meet(const struct search_point *p,
                          const struct search_point *q)
{
    const double rise = q->slope - p->slope;

    return rise > 0 ? q->step - q->slope * ((q->step - p->step) / rise)
                    : (double)NAN;
}

/* In ever larger strides: a first step may be too short by any factor, too. */
static double step_ahead(const struct search *s,
                         const struct search_point *before,
                         const struct search_point *at)
{
    double most = at->step;

    for (uint32_t i = 0; i < s->trials; i++)
        most *= GROW_MAX;
    if (is_noise(s, at->value) && is_noise(s, before->value))
        return within(slopes_meet(before, at), GROW_MIN * at->step, most, most);
    return within(cubic_minimum(before, at), GROW_MIN * at->step, most, most);
}

/* Slopes may rise steeply at one end of the bracket and then no more: a trial
 * by interpolation is then next to the other end, again and again. */
static double step_half(const struct search *s)
{
    return s->low.step > 0 ? sqrt(s->low.step) * sqrt(s->high.step)
                           : EDGE * s->high.step;
}

static double width_of(const struct search *s)
{
    return s->bracketed ? fabs(s->high.step - s->low.step) : HUGE_VAL;
}

static enum search_verdict give_up(struct search *s)
{
    if (s->rule == SEARCH_EXACT && !(s->low.step > 0) &&
        decreases(s, &s->high)) /* The best there is. */
        s->low = s->high;
    if (!(s->low.step > 0))
        return SEARCH_FAIL;
    /* low decreases f enough, but its gradient is gone: ask again. */
    s->last = true;
    s->step = s->low.step;
    return SEARCH_ON;
}

enum search_verdict search_feed(struct search *s, double value, double slope)
{
    const struct search_point at = {s->step, value, slope};
    const struct search_point before = s->low;
    const double width = width_of(s);

    s->trials++;
    if (s->last) /* It was good; now it may be out of bounds. */
        return isfinite(value) ? SEARCH_ACCEPT : SEARCH_FAIL;
    if (acceptable(s, &at))
        return SEARCH_ACCEPT;
    if (beyond(s, &at)) {
        s->high = at;
        s->bracketed = true;
    } else {
        const double side = s->bracketed ? s->high.step - before.step : 1;

        if (at.slope * side >= 0) {
            s->high = before;
            s->bracketed = true;
        }
        s->low = at;
    }
    if (s->trials >= SEARCH_TRIALS_MAX)
        return give_up(s);
    if (s->rule == SEARCH_EXACT && width_of(s) > 0.5 * width) {
        s->step = step_half(s);
        return SEARCH_ON;
    }
    s->step = s->bracketed ? step_inside(s) : step_ahead(s, &before, &at);
    return SEARCH_ON;
}
