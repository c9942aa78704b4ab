/*
 * sim_case.h - a small training job for tests of the simulator.
 */
#ifndef SIM_CASE_H
#define SIM_CASE_H

#include "sim/sim.h"

struct sim_case {
    struct dataset data;
    struct problem problem;
    struct sim_options options;
};

/* 160 x 5 logistic regression in 20 chunks, 12 steps, no faults. */
void sim_case_init(struct sim_case *test, const char *code, uint32_t n,
                   uint32_t s);
void sim_case_close(struct sim_case *test);
/* Runs; fails the test, with the seed, if a promise was broken. */
void sim_case_passes(const struct sim_case *test, struct sim_result *result);

#endif /* SIM_CASE_H */
