/*
 * absent.c - whose name nobody had of those that faults were meant for.
 */
#include "learn/watch/absent.h"

#include <string.h>

static bool was_here(const struct train_result *result, const char *name)
{
    for (uint32_t i = 0; i < result->worker_count; i++)
        if (strcmp(result->workers[i].name, name) == 0)
            return true;
    return false;
}

void absent_see(struct absent *absent, const struct setup *setup,
                const struct train_result *result)
{
    const struct delay *const delay = &setup->delay;
    const struct chaos *const chaos = &setup->chaos;

    absent->any |= result->worker_count > 0;
    for (uint32_t i = 0; i < delay->count; i++)
        absent->slowed[i] |= delay->term[i].kind == DELAY_WORKER &&
                             was_here(result, delay->term[i].name);
    for (uint32_t i = 0; i < chaos->count; i++)
        absent->lied[i] |= chaos->events[i].kind == CHAOS_LIE &&
                           was_here(result, chaos->events[i].name);
}

void absent_tell(const struct absent *absent, const struct setup *setup)
{
    const struct delay *const delay = &setup->delay;
    const struct chaos *const chaos = &setup->chaos;

    if (!absent->any)
        return;
    for (uint32_t i = 0; i < delay->count; i++)
        if (delay->term[i].kind == DELAY_WORKER && !absent->slowed[i])
            setup_note(setup,
                       "--delay worker:%s: no worker of that name came; it "
                       "slowed nobody",
                       delay->term[i].name);
    /* Of the others the supervisor tells when it is their time. */
    for (uint32_t i = 0; i < chaos->count; i++)
        if (chaos->events[i].kind == CHAOS_LIE && !absent->lied[i])
            setup_note(setup,
                       "--chaos lie:%s@%u: no worker of that name came; "
                       "nobody lied",
                       chaos->events[i].name, chaos->events[i].step);
}
