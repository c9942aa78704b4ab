/*
 * action.c - the list of actions that a step machine fills, and the words of
 * trace events.  A list that is full grows, since a machine cannot take back
 * half a step.
 */
#include "core/action.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

enum err actions_init(struct actions *actions, uint32_t capacity)
{
    struct action *list = mem_new(capacity, sizeof *list);

    if (list == NULL)
        return ERR_NOMEM;
    *actions = (struct actions){.list = list, .capacity = capacity};
    return ERR_OK;
}

void actions_close(struct actions *actions)
{
    mem_free(actions->list);
    *actions = (struct actions){0};
}

struct action *actions_add(struct actions *actions, enum action_kind kind)
{
    struct action *action;

    if (actions->count == actions->capacity) {
        struct action *list =
            mem_grow(actions->list, actions->count, actions->count + 1,
                     sizeof *list, &actions->capacity);

        /* A machine cannot take back half a step: end, and be restarted. */
        CHECK(list != NULL);
        actions->list = list;
    }
    action = &actions->list[actions->count++];
    memset(action, 0, sizeof *action);
    action->kind = kind;
    return action;
}

struct trace trace_tally(const struct trace *sum,
                         const struct trace_answer *answer, const char *name)
{
    struct trace tally = {
        .now = sum->now,
        .kind = TRACE_TALLY,
        .link = answer->link,
        .key = sum->key,
        .a = answer->piece,
        .b = answer->chunks,
        .answer = {.compute_us = answer->compute_us,
                   .delay_factor = answer->delay_factor},
    };

    CHECK(sum->kind == TRACE_SUM);
    memcpy(tally.name, name, strnlen(name, NAME_SIZE - 1));
    return tally;
}

const char *trace_name(enum trace_kind kind)
{
#define TRACE_CASE(code, text)                                                 \
    case code:                                                                 \
        return text;
    switch (kind) {
        TRACE_LIST(TRACE_CASE)
    }
#undef TRACE_CASE
    return "unknown";
}

const char *trace_switch_text(const struct trace *trace, char out[TRACE_TEXT])
{
    (void)snprintf(out, TRACE_TEXT,
                   "step %u: code %s: %.0f %% less time a step expected "
                   "(95 %%: %.0f to %.0f)",
                   trace->key.step, trace->name, 100 * trace->value,
                   (double)(int64_t)trace->a / 10,
                   (double)(int64_t)trace->b / 10);
    return out;
}
