/*
 * elastic.h - seeds of the simulator whose machines hold coded data and come
 * and go in mid-round.
 */
#ifndef SIM_ELASTIC_H
#define SIM_ELASTIC_H

#include "sim/sim.h"

/* A sixth of the seeds that could have coded data have it; from a stream of its
 * own, so that the others stay as they were. */
MUST_CHECK enum err elastic_draw(uint64_t seed, const struct dataset *data,
                                 const struct problem *problem,
                                 struct sim_options *options, struct why *why);

#endif /* SIM_ELASTIC_H */
