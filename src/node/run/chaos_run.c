/*
 * chaos_run.c - fault injection by the supervisor: kill, stop and join at given
 * steps or as a seeded Poisson process.
 */
#include "node/run/chaos_run.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "os/log.h"
#include "os/run/process.h"

#define STOP_MOST_US        (10 * SECOND_US) /* Nothing waits for ever. */
#define COORDINATOR_STOP_US SECOND_US        /* Its steps do not pass. */

void chaos_run_init(struct chaos_run *run, const struct chaos *plan,
                    struct crew *crew, void (*join)(void *context),
                    void *context)
{
    *run = (struct chaos_run){.plan = plan,
                              .crew = crew,
                              .join = join,
                              .context = context,
                              .kill_at = TIME_NEVER,
                              .stop_at = TIME_NEVER,
                              .join_at = TIME_NEVER,
                              .coordinator_at = TIME_NEVER};
    rng_init(&run->rng, plan->seed);
}

/* The next event of a Poisson stream. */
static time_us next_at(struct chaos_run *run, double rate, time_us now)
{
    const double wait_s =
        rate > 0 ? -log1p(-rng_unit(&run->rng)) / rate : HUGE_VAL;

    if (!(wait_s < 1e9))
        return TIME_NEVER;
    return now + (time_us)(wait_s * (double)SECOND_US);
}

static void stop(struct chaos_run *run, struct crew_member *member,
                 uint32_t until_step, time_us until)
{
    process_stop(member->process.pid);
    member->resume_step = until_step;
    member->resume_at = until;
    run->stopped++;
}

static void resume(struct crew_member *member)
{
    process_resume(member->process.pid);
    member->resume_at = 0;
}

static void stop_for_steps(struct chaos_run *run, struct crew_member *member,
                           const struct chaos_event *event, time_us now)
{
    const bool coordinator =
        strcmp(member->process.name, CREW_COORDINATOR) == 0;

    stop(run, member, event->step + event->steps,
         now + (coordinator ? COORDINATOR_STOP_US : STOP_MOST_US));
}

static void carry_out(struct chaos_run *run, const struct chaos_event *event,
                      time_us now)
{
    struct crew_member *member = crew_find(run->crew, event->name);

    if (event->kind == CHAOS_JOIN) {
        run->join(run->context);
        return;
    }
    if (member == NULL && event->kind != CHAOS_LIE)
        log_line("--chaos: step %u: this machine has no worker named %s; "
                 "nothing happens to it",
                 event->step, event->name);
    if (member == NULL || member->process.pid == 0)
        return; /* Another machine's, or gone already. */
    switch (event->kind) {
    case CHAOS_KILL:
        process_kill(member->process.pid);
        run->killed++;
        break;
    case CHAOS_STOP:
        stop_for_steps(run, member, event, now);
        break;
    case CHAOS_LEAVE:
        process_terminate(member->process.pid);
        break;
    case CHAOS_JOIN:
    case CHAOS_LIE: /* The worker sees to it. */
        break;
    }
}

static void begin(struct chaos_run *run, time_us now)
{
    const struct chaos *plan = run->plan;

    run->begun = true;
    run->kill_at = next_at(run, plan->kill_rate, now);
    run->stop_at = next_at(run, plan->stop_rate, now);
    run->join_at = next_at(run, plan->join_rate, now);
    run->coordinator_at = next_at(run, plan->coordinator_rate, now);
}

void chaos_run_step(struct chaos_run *run, uint32_t step, time_us now)
{
    if (!run->begun)
        begin(run, now);
    for (uint32_t i = 0; i < run->plan->count; i++) {
        if (run->done[i] || run->plan->events[i].step > step)
            continue;
        run->done[i] = true;
        carry_out(run, &run->plan->events[i], now);
    }
    for (uint32_t i = 0; i < run->crew->count; i++) {
        struct crew_member *member = &run->crew->members[i];

        if (member->resume_at != 0 && step >= member->resume_step)
            resume(member);
    }
}

static bool may_be_hit(const struct crew_member *member)
{
    return member->process.pid > 0 && member->resume_at == 0 && !member->relay;
}

/* A local worker that runs, if at least two do: the last one is spared. */
static struct crew_member *victim(struct chaos_run *run)
{
    uint32_t running = 0;
    uint64_t chosen;

    for (uint32_t i = 1; i < run->crew->count; i++) {
        const struct crew_member *member = &run->crew->members[i];

        running += may_be_hit(member);
    }
    if (running < 2)
        return NULL;
    chosen = rng_below(&run->rng, running);
    for (uint32_t i = 1; i < run->crew->count; i++) {
        struct crew_member *member = &run->crew->members[i];

        if (may_be_hit(member) && chosen-- == 0)
            return member;
    }
    return NULL;
}

static void kill_one(struct chaos_run *run)
{
    struct crew_member *member = victim(run);

    if (member == NULL)
        return;
    process_kill(member->process.pid);
    run->killed++;
}

static void stop_one(struct chaos_run *run, time_us now)
{
    struct crew_member *member = victim(run);
    const time_us longest = 3 * SECOND_US;

    if (member != NULL)
        stop(run, member, UINT32_MAX,
             now + (time_us)rng_below(&run->rng, (uint64_t)longest));
}

static void resume_due(struct chaos_run *run, time_us now)
{
    for (uint32_t i = 0; i < run->crew->count; i++) {
        struct crew_member *member = &run->crew->members[i];

        if (member->resume_at != 0 && now >= member->resume_at)
            resume(member);
    }
}

void chaos_run_time(struct chaos_run *run, time_us now)
{
    const struct chaos *plan = run->plan;

    resume_due(run, now);
    if (now >= run->kill_at) {
        kill_one(run);
        run->kill_at = next_at(run, plan->kill_rate, now);
    }
    if (now >= run->stop_at) {
        stop_one(run, now);
        run->stop_at = next_at(run, plan->stop_rate, now);
    }
    if (now >= run->join_at) {
        run->join(run->context);
        run->join_at = next_at(run, plan->join_rate, now);
    }
    if (now >= run->coordinator_at) {
        process_kill(run->crew->members[0].process.pid);
        run->coordinator_at = next_at(run, plan->coordinator_rate, now);
    }
}

time_us chaos_run_next(const struct chaos_run *run)
{
    time_us next = time_sooner(time_sooner(run->kill_at, run->stop_at),
                               time_sooner(run->join_at, run->coordinator_at));

    for (uint32_t i = 0; i < run->crew->count; i++) {
        const struct crew_member *member = &run->crew->members[i];

        if (member->resume_at != 0)
            next = time_sooner(next, member->resume_at);
    }
    return next;
}

bool chaos_run_joins(const struct chaos_run *run)
{
    return run->plan->join_rate > 0;
}
