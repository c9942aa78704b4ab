/*
 * workers.h - what setup.c asks of workers and codes.
 */
#ifndef LEARN_WORKERS_H
#define LEARN_WORKERS_H

#include "learn/setup.h"

/* Does a training by this recipe fork?  What counts them answers. */
bool workers_wanted(const struct recipe *recipe);
/* The class of steps that --exact wants; EXACT_APPROX: any. */
enum exactness workers_class(const struct recipe *recipe);
/* Are they the peers of a ring, without a coordinator? */
bool workers_ring(const struct recipe *recipe);
/* Are they ranks that mpirun started, each of which trains as one alone? */
bool workers_mpi(const struct recipe *recipe);
/* How many are let in at once where `slots` are wanted and `local` of them are
 * started here. */
uint32_t workers_most(const struct recipe *recipe, uint32_t slots,
                      uint32_t local);
/* Who waits for workers that cannot come waits for nothing: ERR_SHAPE if more
 * are wanted than are started here and nobody can join. */
MUST_CHECK enum err workers_can_come(uint32_t wanted, uint32_t local,
                                     bool listens, struct why *why);
/* Into how many pieces each one's part is cut where pieces are stolen, unless
 * the user said it.  Every piece is an answer: fewer where answers are long,
 * and where a step of `of` is short. */
void workers_cut(struct setup *setup, const struct setup *of,
                 const struct sampler *sampler);
/* Build the code once for real, the only honest answer to whether it fits, and
 * note how exact its steps are.  ERR_SHAPE. */
MUST_CHECK enum err workers_try_code(struct setup *setup,
                                     const struct recipe *recipe,
                                     uint32_t chunks, struct why *why);

#endif /* LEARN_WORKERS_H */
