/*
 * campaign.h - many seeds: each a small problem, a code and dozens of faults.
 */
#ifndef SIM_CAMPAIGN_H
#define SIM_CAMPAIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sim/sim.h"

#define FAULTS_MAX 120u /* Of one seed. */

struct campaign_options {
    uint64_t first_seed;
    uint64_t count;
    uint32_t twice_every; /* Each so-many-th seed runs twice; 0 = none. */
    uint32_t stop_after;  /* Violations; 0 = go on to the last seed. */
    bool quiet_faults;    /* The same problems without faults. */
    uint32_t fanout;      /* Of all seeds that can have relays; 0 = as drawn. */
    const char *code;     /* Of all seeds, a preset's name (no alias) that is
                             drawn below; NULL: as drawn. */
    bool rings;           /* All seeds that can be are rings, and the others
                             are left out. */
    const bool *skip;     /* Faults to leave out of each seed; NULL = none. */
    enum isa isa;
    sim_sink sink; /* One line per violation. */
    void *sink_context;
    sim_sink trace; /* Everything that happens; NULL = none.  A seed that fails
                       is shown shrunk: with no more faults than it needs. */
    void *trace_context;
};

struct campaign_result {
    uint64_t seeds;
    uint64_t violations;
    uint64_t first_violation; /* Seed of the first. */
    uint64_t faults;
    uint32_t by_kind[FAULT_KINDS];
    uint64_t messages, events, steps, lives;
    uint64_t lost, doubled, reordered;
    double virtual_s;
    uint64_t digest; /* Of all trace digests, in order. */
};

MUST_CHECK enum err campaign_run(const struct campaign_options *options,
                                 struct campaign_result *result,
                                 struct why *why);

/* Leave out of a failing seed every fault that it fails without: `skip` (of
 * FAULTS_MAX) says which; returns how many are left, 0 if it does not fail.
 * One run for each fault: under a second. */
MUST_CHECK enum err campaign_shrink(const struct campaign_options *options,
                                    uint64_t seed, bool *skip, uint32_t *left,
                                    struct why *why);

/* What one seed draws, run once.  `describe`, if not NULL, receives one line
 * on the problem.  Same as a campaign of that one seed. */
MUST_CHECK enum err campaign_seed(const struct campaign_options *options,
                                  uint64_t seed, struct sim_result *result,
                                  char describe[SIM_TEXT], struct why *why);

/* The command line that runs one of its seeds again. */
void campaign_replay(const struct campaign_options *options, uint64_t seed,
                     char text[SIM_TEXT]);

#endif /* SIM_CAMPAIGN_H */
