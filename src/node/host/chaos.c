/*
 * chaos.c - the text after --chaos, item by item.
 *
 *     item = VERB ":" NAME "@" STEP ["+" STEPS] | "join@" STEP
 *          | VERB "=" RATE "/s" | "seed=" N
 */
#include "node/host/chaos.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/codec.h"

#define ITEM_SIZE 160u
#define RATE_MAX  1e6

static enum err wrong(struct why *why, const char *item, const char *what)
{
    return why_set(why, ERR_FORMAT, "chaos \"%s\": %s", item, what);
}

/* A whole number up to the end of the text or to `stop`. */
static bool parse_number(const char *text, char stop, uint64_t most,
                         const char **end, uint64_t *value)
{
    char *after;

    if (text[0] < '0' || text[0] > '9')
        return false;
    *value = strtoull(text, &after, 10);
    if ((*after != '\0' && *after != stop) || *value > most)
        return false;
    *end = after;
    return true;
}

static enum err parse_rate(const char *item, const char *text, double *rate,
                           struct why *why)
{
    char *after;
    const double value = strtod(text, &after);

    if (after == text || strcmp(after, "/s") != 0 || !isfinite(value) ||
        value < 0 || value > RATE_MAX)
        return wrong(why, item, "a rate is a number per second, such as 0.5/s");
    *rate = value;
    return ERR_OK;
}

static enum err parse_setting(const char *item, const char *equals,
                              struct chaos *chaos, struct why *why)
{
    const size_t size = (size_t)(equals - item);
    const char *text = equals + 1, *end;

    if (strncmp(item, "kill=", size + 1) == 0)
        return parse_rate(item, text, &chaos->kill_rate, why);
    if (strncmp(item, "stop=", size + 1) == 0)
        return parse_rate(item, text, &chaos->stop_rate, why);
    if (strncmp(item, "join=", size + 1) == 0)
        return parse_rate(item, text, &chaos->join_rate, why);
    if (strncmp(item, "coordinator=", size + 1) == 0)
        return parse_rate(item, text, &chaos->coordinator_rate, why);
    if (strncmp(item, "seed=", size + 1) != 0)
        return wrong(why, item,
                     "there are kill=, stop=, join=, coordinator= and seed=");
    if (!parse_number(text, '\0', UINT64_MAX, &end, &chaos->seed))
        return wrong(why, item, "a seed is a whole number");
    return ERR_OK;
}

static const char *const verbs[] = {[CHAOS_KILL] = "kill",
                                    [CHAOS_STOP] = "stop",
                                    [CHAOS_LEAVE] = "leave",
                                    [CHAOS_JOIN] = "join",
                                    [CHAOS_LIE] = "lie"};

const char *chaos_verb(enum chaos_kind kind)
{
    return verbs[kind];
}

static bool parse_verb(const char *item, size_t size, enum chaos_kind *kind)
{
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strlen(verbs[i]) == size && strncmp(item, verbs[i], size) == 0) {
            *kind = (enum chaos_kind)i;
            return true;
        }
    }
    return false;
}

/* "20", or for a stop "10+5". */
static enum err parse_steps(const char *item, const char *text,
                            struct chaos_event *event, struct why *why)
{
    const bool stop = event->kind == CHAOS_STOP;
    const char *end;
    uint64_t step, steps = 1;

    if (!parse_number(text, stop ? '+' : '\0', UINT32_MAX, &end, &step))
        return wrong(why, item, "after @ comes a step, such as kill:w3@20");
    if (stop &&
        (*end != '+' || !parse_number(end + 1, '\0', UINT32_MAX, &end, &steps)))
        return wrong(why, item,
                     "a stop says for how many steps, such as stop:w2@10+5");
    event->step = (uint32_t)step;
    event->steps = (uint32_t)steps;
    return ERR_OK;
}

static enum err parse_name(const char *item, const char *colon, const char *at,
                           struct chaos_event *event, struct why *why)
{
    const size_t size = (size_t)(at - colon - 1);

    if (size >= NAME_SIZE)
        return wrong(why, item, "the name is too long");
    memcpy(event->name, colon + 1, size);
    if (!codec_name_valid(event->name))
        return wrong(why, item, "that is not a worker's name");
    if (strcmp(event->name, "coordinator") == 0 && event->kind == CHAOS_LEAVE)
        return wrong(why, item, "the coordinator cannot leave, only workers");
    if (strcmp(event->name, "coordinator") == 0 && event->kind == CHAOS_LIE)
        return wrong(why, item, "the coordinator cannot lie, only workers");
    return ERR_OK;
}

static enum err parse_event(const char *item, const char *at,
                            struct chaos *chaos, struct why *why)
{
    struct chaos_event event = {0};
    const char *colon = memchr(item, ':', (size_t)(at - item));
    const size_t verb = (size_t)((colon != NULL ? colon : at) - item);
    enum err err = ERR_OK;

    if (!parse_verb(item, verb, &event.kind))
        return wrong(why, item,
                     "there are kill:, stop:, leave:, lie: and join@");
    if ((event.kind == CHAOS_JOIN) != (colon == NULL))
        return wrong(why, item,
                     colon == NULL ? "whom? write it as kill:w3@20"
                                   : "a join has no name; write join@25");
    if (chaos->count == CHAOS_MAX)
        return wrong(why, item, "more than 256 events");
    if (colon != NULL)
        err = parse_name(item, colon, at, &event, why);
    if (err == ERR_OK)
        err = parse_steps(item, at + 1, &event, why);
    if (err == ERR_OK)
        chaos->events[chaos->count++] = event;
    return err;
}

static enum err parse_item(const char *item, struct chaos *chaos,
                           struct why *why)
{
    const char *equals = strchr(item, '='), *at = strchr(item, '@');

    if (equals != NULL && at == NULL)
        return parse_setting(item, equals, chaos, why);
    if (at != NULL && equals == NULL)
        return parse_event(item, at, chaos, why);
    return wrong(why, item,
                 "write kill:w3@20, stop:w2@10+5, leave:w1@40, join@25 or "
                 "kill=0.5/s");
}

enum err chaos_parse(const char *text, struct chaos *chaos, struct why *why)
{
    struct chaos made = {.seed = 1};

    for (const char *next = text;;) {
        char item[ITEM_SIZE];
        const size_t size = strcspn(next, ",");
        enum err err;

        if (size >= sizeof item)
            return why_set(why, ERR_FORMAT, "chaos: an item is too long");
        memcpy(item, next, size);
        item[size] = '\0';
        err = parse_item(item, &made, why);
        if (err != ERR_OK)
            return err;
        if (next[size] == '\0')
            break;
        next += size + 1;
    }
    *chaos = made;
    return ERR_OK;
}

bool chaos_names_coordinator(const struct chaos *chaos)
{
    for (uint32_t i = 0; i < chaos->count; i++)
        if (strcmp(chaos->events[i].name, "coordinator") == 0)
            return true;
    return chaos->coordinator_rate > 0;
}

bool chaos_acts(const struct chaos *chaos, uint32_t step)
{
    for (uint32_t i = 0; i < chaos->count; i++) {
        const struct chaos_event *event = &chaos->events[i];

        if (event->kind != CHAOS_LIE &&
            (step == event->step ||
             (event->kind == CHAOS_STOP && step == event->step + event->steps)))
            return true;
    }
    return false;
}

bool chaos_lies(const struct chaos *chaos, const char *name, uint32_t step)
{
    for (uint32_t i = 0; i < chaos->count; i++) {
        const struct chaos_event *event = &chaos->events[i];

        if (event->kind == CHAOS_LIE && step >= event->step &&
            strcmp(event->name, name) == 0)
            return true;
    }
    return false;
}
