/*
 * standing.c - when a step is said to stand, and how.
 */
#include "node/star/standing.h"

#include <stdio.h>

#define TOLD_US   (10 * SECOND_US)
#define FACTOR    4 /* Times the longest round there was. */
#define NAMES_MAX 4u

static time_us due_us(const struct standing *standing)
{
    const time_us usual = FACTOR * standing->longest_us;

    if (standing->told_us > 0)
        return 2 * standing->told_us;
    return usual > TOLD_US ? usual : TOLD_US;
}

/* "w0, w1, w2, w3 and 5 more": who owes an answer.  False: nobody does. */
static bool name_them(const struct coordinator *c, char *text, size_t size)
{
    uint32_t count = 0;
    size_t used = 0;

    for (uint32_t i = 0; i < c->alive; i++) {
        const struct member *const member = &c->members[c->present[i]];

        if (member->outstanding == 0 || count++ >= NAMES_MAX)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 count == 1 ? "" : ", ", member->name);
    }
    if (count > NAMES_MAX)
        (void)snprintf(text + used, size - used, " and %u more",
                       count - NAMES_MAX);
    return count > 0;
}

const char *standing_look(struct standing *standing,
                          const struct coordinator *coordinator, time_us now,
                          char text[STANDING_TEXT])
{
    const struct coordinator *const c = coordinator;
    char names[NAMES_MAX * (NAME_SIZE + 2) + 32];
    size_t used;

    if (c->phase != COORDINATOR_ROUND)
        return NULL;
    if (c->round_began_at != standing->began_at) {
        if (standing->lasted_us > standing->longest_us)
            standing->longest_us = standing->lasted_us;
        standing->began_at = c->round_began_at;
        standing->told_us = 0;
    }
    standing->lasted_us = now - c->round_began_at;
    if (standing->lasted_us < due_us(standing) ||
        !name_them(c, names, sizeof names))
        return NULL;
    standing->told_us = standing->lasted_us;
    used = (size_t)snprintf(
        text, STANDING_TEXT, "step %u has waited %.0f s for %s",
        c->trainer.optim.step, (double)standing->lasted_us / (double)SECOND_US,
        names);
    if (c->code.spec.schedule == SCHED_STEAL)
        (void)snprintf(text + used, STANDING_TEXT - used,
                       "; steps end without any %u (--stragglers)",
                       c->code.spec.stragglers);
    return text;
}
