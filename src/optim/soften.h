/*
 * soften.h - lbfgs and newton on a loss with kinks.
 *
 * A hinge has no second derivative, and about its kinks a line search finds no
 * step long before the optimum.  So its kinks are softened: f_t, with kinks of
 * width t (math/kernel/kernel.h), is smooth, and f_t <= f everywhere.  It is
 * descended for one t after another, each begun where the last one ended, until
 * it is proved that the model is good enough for f itself:
 *
 *     START --f(0)--> DESCEND --f_t is least--> TRUTH --f(b)--+--> BALANCE
 *                        ^ ^------- the proof is wanting -----+       |
 *                        +--------- a smaller t --------------+       |
 *                        ^--- the proof is wanting -----------+-------+--> END
 *
 * The proof.  With s the gradient of the mean of the soft losses at p, and c
 * that mean, for all u
 *
 *     f(u) >= f_t(u) >= c + s'(u - p) + a |u|^2                           (1)
 *
 * whose least value over u is known.  At p = b it is f_t(b) - |G|^2 / (4 a), G
 * the gradient of f_t.  An intercept, which has no penalty, makes it -infinite
 * unless its slope there is exactly 0.  So (1) is taken at a second point,
 * where only the intercept is another and its slope has the other sign
 * (BALANCE); that mean of the two in which the slopes cancel bounds f from
 * below, too.
 *
 * Without a penalty nothing is proved; the excess of f_t is then the usual
 * estimate.
 */
#ifndef OPTIM_SOFTEN_H
#define OPTIM_SOFTEN_H

#include "optim/parts.h"

/* Is this a loss with kinks, and a kind that needs it smooth? */
bool soften_on(const struct optim *opt);
/* What to evaluate. */
struct evaluation soften_what(const struct optim *opt);
/* Take the result; true if the model was updated. */
bool soften_feed(struct optim *opt, const double *sum, double loss_sum);
/* Is it at its end, and is the model proved to be good enough then? */
bool soften_ended(const struct optim *opt);
bool soften_proved(const struct optim *opt);
/* Can what was read be a state? */
bool soften_fits(const struct optim *opt);

#endif /* OPTIM_SOFTEN_H */
