/*
 * loss.h - the losses of a network, of one sample (model/net only).
 *
 * Doubles inside, exp and log as in math/kernel/poly.h; the gradient is rounded
 * to floats at the end.
 */
#ifndef MODEL_NET_LOSS_H
#define MODEL_NET_LOSS_H

#include <stddef.h>
#include <stdint.h>

/* log(sum of exp(z[k] - m)) - (z[label] - m), m the largest, terms in order;
 * gradient[k] = exp(z[k] - m) / sum, less 1 at the label.  Not finite if a z is
 * not. */
double loss_softmax(const float *z, size_t classes, uint32_t label,
                    float *gradient);

/* Half the sum of (z[k] - target[k])^2 in order, and its gradient. */
double loss_squared(const float *z, size_t count, const float *target,
                    float *gradient);

/* A loss and its gradient times a weight, each product rounded once, so that a
 * weight of 1 changes no bit.  Infinite if a product is not finite; 0 is
 * nothing, whatever it is times. */
double loss_weigh(double loss, float weight, size_t count, float *gradient);

#endif /* MODEL_NET_LOSS_H */
