/*
 * parts.h - what the files of optim/ share; not for callers.
 *
 * One ops row per kind.  Every kind keeps its vectors in one block (`kept`),
 * so that saving and loading is one loop for all of them.
 */
#ifndef OPTIM_PARTS_H
#define OPTIM_PARTS_H

#include "math/vec.h"
#include "optim/optim.h"

struct optim_span;

/* Move some coordinates of b, all of one span, by one step: g is the gradient
 * sum at b, `slope` the gradient of the objective there, both of the
 * coordinates span->from and on. */
typedef void (*optim_update)(struct optim *opt, const double *g,
                             const double *slope,
                             const struct optim_span *span);

struct optim_ops {
    const char *name;
    enum optim_rate rate;
    bool has_search; /* Needs a trial point; keeps the gradient. */
    uint32_t phases; /* `phase` is less.  With a search: the last two are those
                        of the metric and of trials on a line. */
    /* Vectors of dims doubles to keep, the model included. */
    uint32_t (*vectors)(const struct optim *opt);
    /* Point b and the rest into kept. */
    void (*place)(struct optim *opt);
    /* What to evaluate now. */
    struct evaluation (*what)(const struct optim *opt);
    /* Take the result; true if the model was updated. */
    bool (*feed)(struct optim *opt, const double *sum, double loss_sum);
    /* First order: what a feed does to each coordinate by itself; else NULL. */
    optim_update update;
};

extern const struct optim_ops optim_gd_ops, optim_agd_ops, optim_momentum_ops,
    optim_nesterov_ops, optim_adam_ops, optim_adamw_ops, optim_lbfgs_ops,
    optim_newton_ops, optim_average_ops, optim_columns_ops;
/* A name only. */
extern const struct optim_ops optim_sgd_ops;

/* What sums of the step to come are divided by: the rows it is over.  Where
 * some rows have no weight (folds) a batch has its share of those. */
double optim_divisor(const struct optim *opt);

/* Coordinates [from, to) have the penalty l2 |w|^2. */
struct optim_span {
    uint32_t from, to;
    double l2;
};

/* May weights be left out of l2 like that?  (l2_free, l2_stride.) */
bool optim_free_fits(uint32_t free, uint32_t stride);

/* The next span after `span` (zero: the first) of weights that are alike; false
 * after the last.  None is empty. */
bool optim_span_next(const struct optim *opt, struct optim_span *span);

/* First order: does the norm of the whole gradient decide whether there is an
 * update at all, or how long it is? */
bool optim_walks_twice(const struct optim_options *options);
/* What lies ready, if something does, becomes the state: of the coordinates
 * that it has that of the next step already. */
void optim_take_gathered(struct optim *opt);
/* Squares that are added up of coordinates. */
struct optim_squares {
    struct vec_sum slopes;
    struct vec_sum weights; /* Before the update. */
};
/* Update coordinates of one span, whose gradient sums are at `sum`; `room` is
 * for as many numbers.  Returns the largest of what was updated, infinite if
 * some is not finite. */
double optim_step_block(struct optim *opt, const double *sum,
                        const struct optim_span *block,
                        struct optim_squares *squares, double *room);

/* Objective at w, and its gradient into `gradient`. */
double optim_measure(const struct optim *opt, const double *w,
                     const double *sum, double loss_sum, double *gradient);

/* lbfgs, newton: objective and gradient at the start. */
void optim_measure_first(struct optim *opt, const double *sum, double loss_sum);

bool optim_schedule_fits(const struct optim_options *options);
/* decay^i and the like: by square and multiply from the lowest bit of i. */
double optim_power(double base, uint32_t exponent);

/* Does `excess` tell what it should? */
bool optim_is_sure(const struct optim *opt);
/* After a step that made f less by `gain`. */
void optim_count_calm(struct optim *opt, double gain);
/* Weights, gradient or objective are not finite. */
bool optim_is_broken(const struct optim *opt);

bool optim_is_dense(const struct optim *opt);
/* Is it as near to the known optimum as was asked for? */
bool optim_gap_reached(const struct optim_options *options, double objective);

/* What the objective adds to the second derivatives of the loss in a span: 2
 * l2, and where a free weight may have no curvature at all, for no row lies on
 * a soft kink, as much as keeps its steps to 1, the unit of scores. */
double optim_ridge(const struct optim *opt, const struct optim_span *span);
/* Take DIAGONAL for the metric. */
void optim_take_metric(struct optim *opt, const double *sum);
/* into <- metric^-1 from; they may be the same. */
void optim_unscale(const struct optim *opt, const double *from, double *into);

/* point <- b + search.step * direction. */
void optim_place_trial(struct optim *opt);
/* Search along `direction`, or along -gradient if it does not descend (true
 * then).  Stalls if the gradient is zero.  `measured`: the direction is that
 * of a model of f, and its slope tells the excess. */
bool optim_begin_search(struct optim *opt, double step, bool measured,
                        enum search_rule rule);
/* The sums at the trial: its gradient into work, its value.  True if the search
 * accepts it; if not, the next trial is placed, or `failed` does what is left
 * to do. */
bool optim_try(struct optim *opt, const double *sum, double loss_sum,
               void (*failed)(struct optim *opt), double *value);
/* The trial was accepted: b, gradient (from work) and objective are its. */
void optim_take_trial(struct optim *opt, double value);

/* line.c: the trial as a point of a line. */
struct evaluation line_what(const struct optim *opt);
/* Loss and slope there.  True: the search is over, and the gradient at `point`
 * is next; if not, the next trial is placed, or `failed` does what is left to
 * do. */
bool line_feed(struct optim *opt, const double *sum, double loss_sum,
               void (*failed)(struct optim *opt));

/* The i-th newest pair's place in the ring. */
uint32_t quasi_pair_at(const struct optim *opt, uint32_t i);
/* direction <- -(inverse Hessian that factor, if there is one, or the metric,
 * and the pairs imply) gradient.  Uses work. */
void quasi_find_direction(struct optim *opt);
/* s and y of the trial just accepted; b and gradient are still the old.
 * Dropped where it shows no curvature. */
void quasi_keep_pair(struct optim *opt);

#endif /* OPTIM_PARTS_H */
