/*
 * why_slow.c - core/link/slow.h for all members, as sentences.
 *
 * One that is silent sends no vitals, so it is judged from this end: if its
 * machine has acknowledged all that was sent, the road is fine and the process
 * stands still.
 */
#include "node/star/why_slow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "node/host/answer.h"
#include "node/star/status.h"

#define DEAF_US       (200 * MS_US) /* Acknowledgements may be late on purpose. */
#define SENTENCE_SIZE 192u

struct suspect {
    const struct member *member;
    uint32_t link;
    struct slow_times times;
    struct slow_verdict verdict;
    double order; /* The largest is shown first. */
    char why[SENTENCE_SIZE];
};

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
    const struct slow *slow = &one->member->slow;
    const struct vitals *vitals =
        &slow->samples[(slow->count - 1) % SLOW_SAMPLES].vitals;

    (void)snprintf(one->why, sizeof one->why,
                   "rounds and answers are on the road for %.0f %% of the "
                   "time; round trip %.3g ms, %" PRIu64 " bytes unsent",
                   percent(one, one->times.part[SLOW_NETWORK]),
                   (double)slow->trip_us / 1e3, vitals->unsent_bytes);
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
static void judge_silent_leaf(const struct coordinator *c, struct suspect *one,
                              time_us deaf, double silent)
{
    const bool road = deaf >= DEAF_US;

    one->verdict.cause = road ? SLOW_NETWORK : SLOW_NOT;
    (void)snprintf(one->why, sizeof one->why, "silent for %.2f s; relay %s %s",
                   silent, member_relay(c, one->member),
                   road ? "does not acknowledge what is sent"
                   : one->member->hushed
                       ? "is there and does not hear it either"
                       : "takes in what is sent and is silent, too");
}

static void judge_silent(const struct coordinator *c, struct suspect *one,
                         time_us deaf, time_us now)
{
    const double silent =
        (double)(now - member_heard_at(c, one->member)) / (double)SECOND_US;
    const bool road = deaf >= DEAF_US;

    one->order = 1e9 + silent;
    if (one->member->via != 0) {
        judge_silent_leaf(c, one, deaf, silent);
        return;
    }
    one->verdict.cause = road ? SLOW_NETWORK : SLOW_PAUSE;
    (void)snprintf(one->why, sizeof one->why, "silent for %.2f s; %s", silent,
                   road ? "its machine does not acknowledge what is sent"
                        : "its machine takes in what is sent: the process "
                          "stands still");
}

static json_t *one_json(const struct coordinator *c, const struct suspect *one,
                        time_us now)
{
    const char *unused;
    const double factor = one->verdict.factor;

    return json_pack("{s:s, s:s, s:f, s:s, s:s*, s:o, s:s}", "name",
                     one->member->name, "state", status_state_name(one->member),
                     "behind_s", status_behind(c, one->member, now, &unused),
                     "cause", slow_cause_name(one->verdict.cause), "relay",
                     one->member->via > 0 ? member_relay(c, one->member) : NULL,
                     "factor", factor > 0 ? json_number(factor) : json_null(),
                     "why", one->why);
}

static int slowest_first(const void *a, const void *b)
{
    const struct suspect *one = a;
    const struct suspect *two = b;

    if (one->order != two->order)
        return one->order > two->order ? -1 : 1;
    return one->link < two->link ? -1 : 1;
}

static uint32_t list_members(const struct coordinator *c, struct suspect *all)
{
    uint32_t count = 0;

    for (uint32_t link = 0; link < c->members_max; link++) {
        if (c->members[link].state == MEMBER_NONE)
            continue;
        all[count++] =
            (struct suspect){.member = &c->members[link],
                             .link = link,
                             .times = slow_times(&c->members[link].slow)};
    }
    return count;
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

static json_t *all_json(const struct coordinator *c, time_us now,
                        const struct suspect *all, uint32_t count,
                        size_t capacity)
{
    struct answer_list workers = answer_list_new(capacity);

    for (uint32_t i = 0; i < count; i++)
        answer_list_add(&workers, one_json(c, &all[i], now));
    return json_pack("{s:I, s:I, s:s, s:I, s:o, s:I}", "step",
                     (json_int_t)c->trainer.optim.step, "steps",
                     (json_int_t)c->options.optim.steps, "phase",
                     coordinator_phase_name(c->phase), "needed",
                     (json_int_t)c->segments.waits_for, "workers",
                     workers.entries, "more", (json_int_t)workers.more);
}

json_t *why_slow_json(const struct coordinator *coordinator, time_us now,
                      why_deaf deaf, void *context, size_t capacity)
{
    const struct coordinator *c = coordinator;
    struct suspect *all = mem_new(c->members_max, sizeof *all);
    json_t *answer = NULL;
    uint32_t count;

    if (all == NULL)
        return NULL;
    count = list_members(c, all);
    if (judge_all(all, count) == ERR_OK) {
        for (uint32_t i = 0; i < count; i++) {
            if (all[i].member->suspect)
                judge_silent(c, &all[i], deaf(context, all[i].link), now);
            else
                say(&all[i]);
        }
        qsort(all, count, sizeof *all, slowest_first);
        answer = all_json(c, now, all, count, capacity);
    }
    mem_free(all);
    return answer;
}
