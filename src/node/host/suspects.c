/*
 * suspects.c - core/link/slow.h for all who work together, as sentences.
 *
 * One that is silent sends no vitals, so it is judged from this end: if its
 * machine has acknowledged all that was sent, the road is fine and the process
 * stands still.
 */
#include "node/host/suspects.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "node/host/answer.h"

#define DEAF_US  (200 * MS_US) /* Acknowledgements may be late on purpose. */
#define BEHIND_S 1.0

/* A part of what it owed, in percent. */
static double percent(const struct suspect *one, double part)
{
    const double share = one->times.owed > 0 ? part / one->times.owed : 0;

    return 100 * (share < 1 ? share : 1);
}

static void say_compute(struct suspect *one)
{
    const double running = one->times.part[SLOW_COMPUTE] - one->times.starved;

    if (one->times.starved > running)
        (void)snprintf(one->why, sizeof one->why,
                       "has a processor for %.0f %% of the time it wants one",
                       100 * running / one->times.part[SLOW_COMPUTE]);
    else
        (void)snprintf(one->why, sizeof one->why,
                       "computes all the time (%.3g ms a chunk), but slowly",
                       1e3 * running);
}

static void say_network(struct suspect *one)
{
    const struct slow *slow = one->slow;
    const struct vitals *vitals =
        &slow->samples[(slow->count - 1) % SLOW_SAMPLES].vitals;
    char trip[32] = ""; /* Nobody echoes beats to the peers of a ring. */

    if (slow->error_us >= 0)
        (void)snprintf(trip, sizeof trip, "round trip %.3g ms, ",
                       (double)slow->trip_us / 1e3);
    (void)snprintf(one->why, sizeof one->why,
                   "rounds and answers are on the road for %.0f %% of the "
                   "time; %s%" PRIu64 " bytes unsent",
                   percent(one, one->times.part[SLOW_NETWORK]), trip,
                   vitals->unsent_bytes);
}

static void say_pause(struct suspect *one)
{
    const double pause = one->times.part[SLOW_PAUSE];

    if (one->times.held * 2 > pause)
        (void)snprintf(one->why, sizeof one->why,
                       "slow on purpose (--delay) for %.0f %% of the time",
                       percent(one, one->times.held));
    else
        (void)snprintf(one->why, sizeof one->why,
                       "stood still for %.0f %% of the time: stopped or "
                       "suspended",
                       percent(one, pause));
}

static void say(struct suspect *one)
{
    switch (one->verdict.cause) {
    case SLOW_COMPUTE:
        say_compute(one);
        break;
    case SLOW_NETWORK:
        say_network(one);
        break;
    case SLOW_DISK:
        (void)snprintf(one->why, sizeof one->why,
                       "waits for pages from disk for %.0f %% of the time: "
                       "too little memory",
                       percent(one, one->times.part[SLOW_DISK]));
        break;
    case SLOW_PAUSE:
        say_pause(one);
        break;
    case SLOW_NOT:
    case SLOW_CAUSES:
        break;
    }
}

/* Of a leaf only the road to its relay is seen, and what the relay says. */
static void judge_silent_leaf(struct suspect *one, double silent)
{
    const bool road = one->deaf_us >= DEAF_US;

    one->verdict.cause = road ? SLOW_NETWORK : SLOW_NOT;
    (void)snprintf(one->why, sizeof one->why, "silent for %.2f s; relay %s %s",
                   silent, one->relay,
                   road          ? "does not acknowledge what is sent"
                   : one->hushed ? "is there and does not hear it either"
                                 : "takes in what is sent and is silent, too");
}

static void judge_silent(struct suspect *one)
{
    const double silent = (double)one->silent_us / (double)SECOND_US;
    const bool road = one->deaf_us >= DEAF_US;

    one->order = 1e9 + silent;
    one->verdict.factor = 0; /* What is known is of before. */
    if (one->relay != NULL) {
        judge_silent_leaf(one, silent);
        return;
    }
    if (one->gone) {
        one->verdict.cause = SLOW_NOT;
        (void)snprintf(one->why, sizeof one->why,
                       "silent for %.2f s; there is no link to it, and its "
                       "rows are waited for",
                       silent);
        return;
    }
    one->verdict.cause = road ? SLOW_NETWORK : SLOW_PAUSE;
    (void)snprintf(one->why, sizeof one->why, "silent for %.2f s; %s", silent,
                   road ? "its machine does not acknowledge what is sent"
                        : "its machine takes in what is sent: the process "
                          "stands still");
}

static void judge_owing(struct suspect *one)
{
    const double owes = (double)one->owes_us / (double)SECOND_US;

    one->order = 1e9 + owes;
    one->verdict.cause = one->lost ? SLOW_NETWORK : SLOW_NOT;
    (void)snprintf(one->why, sizeof one->why, "%s for %.2f s; its beats come",
                   one->lost ? "nothing has come of what it sent"
                             : "owes what the others wait for, and has not "
                               "sent it,",
                   owes);
}

/* Nothing to compare it with: the others have had nothing to do for so long. */
static bool stands(const struct suspect *one)
{
    return one->verdict.factor == 0 && one->behind_s >= BEHIND_S;
}

static void judge_standing(struct suspect *one)
{
    one->order = one->behind_s;
    (void)snprintf(one->why, sizeof one->why,
                   "has owed an answer for %.2f s; its beats come",
                   one->behind_s);
}

static enum err judge_all(struct suspect *all, uint32_t count)
{
    struct slow_times *times = mem_new(count, sizeof *times);
    struct slow_verdict *verdicts = mem_new(count, sizeof *verdicts);
    double *scratch = mem_new(count, sizeof *scratch);
    const bool room = times != NULL && verdicts != NULL && scratch != NULL;

    for (uint32_t i = 0; room && i < count; i++)
        times[i] = all[i].times;
    if (room)
        slow_judge(times, count, scratch, verdicts);
    for (uint32_t i = 0; room && i < count; i++) {
        all[i].verdict = verdicts[i];
        all[i].order = verdicts[i].factor;
    }
    mem_free(times);
    mem_free(verdicts);
    mem_free(scratch);
    return room ? ERR_OK : ERR_NOMEM;
}

static int slowest_first(const void *a, const void *b)
{
    const struct suspect *one = a;
    const struct suspect *two = b;

    if (one->order != two->order)
        return one->order > two->order ? -1 : 1;
    return one->number < two->number ? -1 : 1;
}

enum err suspects_judge(struct suspect *all, uint32_t count)
{
    enum err err;

    for (uint32_t i = 0; i < count; i++) {
        all[i].number = i;
        all[i].times = slow_times(all[i].slow);
    }
    err = judge_all(all, count);
    for (uint32_t i = 0; err == ERR_OK && i < count; i++) {
        if (all[i].silent)
            judge_silent(&all[i]);
        else if (all[i].owes_us > 0)
            judge_owing(&all[i]);
        else if (stands(&all[i]))
            judge_standing(&all[i]);
        else
            say(&all[i]);
    }
    if (err == ERR_OK)
        qsort(all, count, sizeof *all, slowest_first);
    return err;
}

static json_t *one_json(const struct suspect *one)
{
    const double factor = one->verdict.factor;

    return json_pack("{s:s, s:s, s:f, s:s, s:s*, s:o, s:s}", "name", one->name,
                     "state", one->state, "behind_s", one->behind_s, "cause",
                     slow_cause_name(one->verdict.cause), "relay", one->relay,
                     "factor", factor > 0 ? json_number(factor) : json_null(),
                     "why", one->why);
}

json_t *suspects_json(const struct suspect *all, uint32_t count,
                      size_t capacity, json_int_t *more)
{
    struct answer_list list = answer_list_new(capacity);

    for (uint32_t i = 0; i < count; i++)
        answer_list_add(&list, one_json(&all[i]));
    *more = (json_int_t)list.more;
    return list.entries;
}
