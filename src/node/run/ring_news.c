/*
 * ring_news.c - which trace events of a ring's peers were not told yet.
 */
#include "node/run/ring_news.h"

#include <string.h>

static struct ring_told *told_of(struct ring_news *news, const char *name)
{
    struct ring_told *told;

    for (uint32_t i = 0; i < news->told_count; i++)
        if (strcmp(news->told[i].name, name) == 0)
            return &news->told[i];
    if (news->told_count == PEERS_MAX)
        return NULL; /* More than a ring has. */
    told = &news->told[news->told_count++];
    memcpy(told->name, name, NAME_SIZE);
    return told;
}

static bool comes_or_goes(struct ring_news *news, const struct trace *trace)
{
    struct ring_told *told = told_of(news, trace->name);
    const bool in = trace->kind == TRACE_JOINED;

    if (told == NULL || told->in == in)
        return false;
    told->in = in;
    return true;
}

static bool later(uint32_t step, uint32_t *last)
{
    if (step <= *last)
        return false;
    *last = step;
    return true;
}

static bool is_later(const struct round_key *a, const struct round_key *b)
{
    if (a->step != b->step)
        return a->step > b->step;
    if (a->round != b->round)
        return a->round > b->round;
    return a->attempt > b->attempt;
}

/* A job has a number. */
static bool later_round(const struct round_key *key, struct round_key *last)
{
    const bool later = last->job == 0 || is_later(key, last);

    if (later)
        *last = *key;
    return later;
}

static bool once(bool *told)
{
    const bool before = *told;

    *told = true;
    return !before;
}

bool ring_news(struct ring_news *news, const struct trace *trace)
{
    switch ((int)trace->kind) {
    case TRACE_COMMIT:
        return later(trace->key.step, &news->committed);
    case TRACE_PASS:
        return later(trace->key.step, &news->passed);
    case TRACE_ROUND:
        return later_round(&trace->key, &news->round);
    case TRACE_JOINED:
    case TRACE_DIED:
    case TRACE_LEFT:
        return comes_or_goes(news, trace);
    case TRACE_DONE:
        return once(&news->done);
    case TRACE_FAILED: /* One peer's end is not the run's. */
        return false;
    default:
        return true;
    }
}
