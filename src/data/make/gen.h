/*
 * gen.h - generated data, the same bits on every machine.
 *
 * gmm: beta* in {-1,+1}^p; x from two Gaussians with means +-1.5 beta-star/p
 * and standard deviation 10/sqrt(p); y = +1 with probability
 * sigmoid(x . beta-star).
 * linear: x standard normal, y = x . beta/sqrt(p) + 0.1 noise, beta standard
 * normal: for regression.
 * digits: see digits.h; ten classes.
 * Each value is a function of (seed, row, column) alone.
 */
#ifndef DATA_GEN_H
#define DATA_GEN_H

#include "data/read/source_options.h"

/* True if `spec` names a generator ("gen:..."), known or not. */
bool gen_is_spec(const char *spec);

/* As source_load. */
MUST_CHECK enum err gen_load(const struct source_options *options,
                             struct dataset *train, struct dataset *test,
                             bool *has_test, struct why *why);

/* 1/(1 + exp(-t)) from additions, multiplications and one division only, so
 * that no library's exp can flip a label; within 1e-15 of the truth. */
double gen_logistic(double t);

#endif /* DATA_GEN_H */
