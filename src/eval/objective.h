/*
 * objective.h - what a training minimises, to those who run it.
 *
 *     linear   a linear model's loss over rows, on a proved scale
 *     net      a network's, on a followed one
 *     user     a function of the user's, on a followed one
 *     product  nothing: the rows are multiplied by columns (optim/columns.c)
 *
 * Who trains, alone or with workers, needs the same few things of each: the
 * brief for evaluators, how many weights and chunks there are, the scale.
 */
#ifndef EVAL_OBJECTIVE_H
#define EVAL_OBJECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/brief.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/pool.h"
#include "eval/evaluator.h"
#include "eval/shadow.h"
#include "math/exact/follow.h"
#include "model/linear/bounds.h"
#include "model/linear/proved.h"
#include "model/net/neural_model.h"
#include "optim/optim.h"

/* Borrowed, all of it. */
struct objective_options {
    const struct dataset *data; /* Hollow, if others have the rows. */
    enum model_kind model;
    const struct neural_model *net;   /* Instead of a linear model; or NULL. */
    const struct user_function *user; /* Instead of data and model. */
    enum isa isa;
    const struct optim_options *optim;
    const struct bounds *bounds; /* Of rows that others have, or that were
                                    measured before; else NULL. */
    bool products;               /* Of coded rows are asked for, not sums. */
    bool narrow;                 /* ... which are kept as fp32. */
    const struct shadowing *shadows; /* Samples are asked for, too; or NULL. */
};

/* Stays where it is: parts of it point to others. */
struct objective {
    struct shelf shelf;       /* Of this machine. */
    struct brief brief;       /* For evaluators. */
    uint32_t dims, chunks;    /* Of the job: weights, chunks of a step. */
    uint32_t weights;         /* Of the model: the first of them, behind which
                                 are those of a followed scale. */
    uint32_t vectors, length; /* What of the weights is hashed: so many vectors,
                                 the first `length` of each. */
    uint32_t columns;         /* Of a product: it is `length` by so many. */
    const struct neural *net; /* ... or, of a network, as neural_hash does. */
    bool narrow;              /* Evaluators round the weights to floats first:
                                 neither bits nor sentences depend on whether
                                 somebody else has. */
    double largest;           /* Of the |values| of the rows; 0: not known. */
    struct scale *scale;
    /* Not the caller's business. */
    uint8_t room[BRIEF_MAX];
    struct bounds bounds;
    struct proved proved;
    struct follow follow;
};

/* The pool looks at the rows; none is needed where others have them or a
 * function does.  ERR_NOMEM; others with a sentence. */
MUST_CHECK enum err objective_open(struct objective *objective,
                                   const struct objective_options *options,
                                   struct pool *pool, struct why *why);
void objective_close(struct objective *objective); /* Zeroed is safe. */

/* What names these weights. */
struct digest objective_hash(const struct objective *objective,
                             const double *w);

#endif /* EVAL_OBJECTIVE_H */
