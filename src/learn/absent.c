/*
 * absent.c - which names nobody had, and which steps nobody made, of those that
 * faults were meant for.
 */
#include "learn/absent.h"

#include <string.h>

static bool was_here(const struct train_result *result, const char *name)
{
    for (uint32_t i = 0; i < result->worker_count; i++)
        if (strcmp(result->workers[i].name, name) == 0)
            return true;
    return false;
}

/* Of a run that may go on it may still come. */
static bool may_have_come(const struct train_result *result, uint32_t step)
{
    return !result->finished || step < result->steps || step < result->opened;
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
    for (uint32_t i = 0; i < chaos->count; i++) {
        absent->reached[i] |= may_have_come(result, chaos->events[i].step);
        absent->lied[i] |= chaos->events[i].kind == CHAOS_LIE &&
                           was_here(result, chaos->events[i].name);
    }
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
    /* Of other names the supervisor tells when it is their time. */
    for (uint32_t i = 0; i < chaos->count; i++) {
        const struct chaos_event *const event = &chaos->events[i];

        if (!absent->reached[i])
            setup_note(setup,
                       "--chaos %s%s%s@%u: the run was over before that step, "
                       "the first being 0; nothing happened",
                       chaos_verb(event->kind),
                       event->name[0] == '\0' ? "" : ":", event->name,
                       event->step);
        else if (event->kind == CHAOS_LIE && !absent->lied[i])
            setup_note(setup,
                       "--chaos lie:%s@%u: no worker of that name came; "
                       "nobody lied",
                       event->name, event->step);
    }
}
