/*
 * line.c - trials of a line search that are no evaluations of all rows.
 *
 * Scores are linear: those at b + t p are X b + t X p.  Whoever has both
 * products (core/star/lines.h) knows loss and slope at every t without asking
 * for another, so that the search can be exact:
 *
 *     LINE <--+ another t         at the end: the gradient at b + t p (TRIAL),
 *      |------+                   which is not judged again
 */
#include "math/vec.h"
#include "optim/parts.h"

struct evaluation line_what(const struct optim *opt)
{
    return (struct evaluation){.kind = EVALUATE_LINE,
                               .w = opt->b,
                               .v = opt->direction,
                               .step = opt->search.step};
}

bool line_feed(struct optim *opt, const double *sum, double loss_sum,
               void (*failed)(struct optim *opt))
{
    const double rows = (double)opt->options.rows;
    double value = loss_sum / rows;
    double slope = sum[0] / rows;
    struct optim_span span = {0};
    enum search_verdict verdict;

    while (optim_span_next(opt, &span)) {
        const double *const at = opt->point + span.from;
        const uint32_t count = span.to - span.from;

        value += span.l2 * vec_dot(at, at, count);
        slope += 2 * span.l2 * vec_dot(at, opt->direction + span.from, count);
    }
    verdict = search_feed(&opt->search, value, slope);
    if (verdict == SEARCH_ON)
        optim_place_trial(opt);
    if (verdict == SEARCH_ACCEPT)
        opt->search.last = true;
    if (verdict == SEARCH_FAIL)
        failed(opt);
    return verdict != SEARCH_FAIL && opt->search.last;
}
