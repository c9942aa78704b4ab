/*
 * gait.c - trials, and what follows from them.
 *
 * A trial is of a few pages, which may be those of somebody near or far, and
 * may be interrupted: so it is a vote, and no more.  One for `past` counts
 * twice, since the harm that it can do is less: the slower way to write past
 * caches takes twice as long, the slower way through them ten times.
 */
#include "node/group/gait.h"

#define VOTES_MAX 4
#define WAIT_MAX  31u /* So few are trials that what they lose is little. */

bool gait_tries(struct gait *gait)
{
    if (gait->left == 0)
        return true;
    gait->left--;
    return false;
}

void gait_learn(struct gait *gait, uint64_t cached, uint64_t past,
                uint32_t percent)
{
    const bool better = 100 * cached > percent * past;

    gait->votes += better ? 2 : -1;
    if (gait->votes > VOTES_MAX)
        gait->votes = VOTES_MAX;
    if (gait->votes < -VOTES_MAX)
        gait->votes = -VOTES_MAX;
    gait->past = gait->votes > 0 || (gait->votes == 0 && gait->past);
    if (gait->votes != VOTES_MAX && gait->votes != -VOTES_MAX)
        gait->wait = 0; /* Each time, until there is no doubt. */
    else if (gait->wait < WAIT_MAX)
        gait->wait = 2 * gait->wait + 1;
    gait->left = gait->wait;
}
