/*
 * hindsight.h - what another code would have taken, from what a run measured.
 *
 * For every step and worker the run has the time of its last answer and what
 * of it was computing, for how many chunks.  Whatever the code, a worker that
 * computes m chunks would have taken
 *
 *     (time that was not computing) + m * (its time per chunk in that step)
 *
 * which is a delay in the words of plan/delay.h; plan/replay.h does the rest.
 * A worker that was called off would have taken longer than the step: how long
 * is drawn from its answers in other steps (plan/survival.h), from everybody's
 * if it has few, always the same way.  One that was away is taken as neither
 * slow nor missing, which flatters codes that wait.
 *
 * The code that was really used is replayed as well: how far that is from what
 * was measured is how far the others may be believed.
 */
#ifndef PLAN_HINDSIGHT_H
#define PLAN_HINDSIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "code/code.h"

#define HINDSIGHT_CALLED_OFF (-1)
#define HINDSIGHT_AWAY       (-2)

struct hindsight_cell {
    int64_t answered_us; /* From the step's opening; or one of the above. */
    int64_t compute_us;
    uint32_t chunks;
};

struct hindsight {
    uint32_t workers, steps;
    uint32_t chunks;                    /* K */
    const struct hindsight_cell *cells; /* steps x workers. */
    const int64_t *took_us;             /* steps */
    bool least; /* What was called off is taken to have been about to end. */
};

struct hindsight_result {
    double total_s;    /* Of all steps that did not stall. */
    uint32_t stalled;  /* Steps that would never have ended. */
    uint32_t drawn;    /* Times that were not seen to their end. */
    double measured_s; /* What the run took, for the same steps. */
};

/* `spec` for as many slots as there were workers.  ERR_SHAPE if nothing was
 * measured, and what code_build says. */
MUST_CHECK enum err hindsight_replay(const struct hindsight *seen,
                                     const struct code_spec *spec,
                                     struct hindsight_result *result,
                                     struct why *why);

#endif /* PLAN_HINDSIGHT_H */
