/*
 * supervisor.c - supervision of a run's processes by one poll: restarts,
 * signals, time limits, preemption, and the orderly end.
 */
#include "node/run/supervisor.h"

#include <stdlib.h>
#include <string.h>

#include "base/flag.h"
#include "base/mem.h"
#include "node/host/result_file.h"
#include "node/run/notice_child.h"
#include "os/clock.h"
#include "os/log.h"
#include "os/run/process.h"

#define TICK_US (100 * MS_US)
/* For the step at hand, then for the disk. */
#define STOP_US         (COORDINATOR_PATIENCE_US + 2 * SECOND_US)
#define DESERTED_US     (2 * SECOND_US)
#define PARTING_US      (200 * MS_US) /* For workers, once the job is done. */
#define PARTED_US       (2 * SECOND_US)
#define REGATHER_US     (80 * MS_US)
#define REGATHER_FAR_US SECOND_US
#define READ_BYTES      (16u << 10)
#define RELAY_LIVES_MAX 100u

static void end(struct supervisor *s, enum err err)
{
    s->over = true;
    s->err = err;
}

static void watch(struct supervisor *s, const struct trace *trace)
{
    if (s->options->watch != NULL)
        s->options->watch(s->options->watch_context, trace);
}

/* The trace stream. */

static bool is_local(struct supervisor *s, const char *name)
{
    return crew_find(&s->crew, name) != NULL;
}

static void on_trace(void *context, const struct trace *trace)
{
    struct supervisor *s = context;

    account_trace(&s->account, trace, is_local(s, trace->name));
    if (trace->kind == TRACE_COMMIT)
        s->death_count = 0;
    s->told = s->told || trace->kind == TRACE_STOP;
    if (trace->kind == TRACE_SHORT || trace->kind == TRACE_ENOUGH)
        s->need = trace->kind == TRACE_SHORT ? (uint32_t)trace->b : 1;
    watch(s, trace);
    if (trace->kind == TRACE_ROUND && !s->stopping)
        chaos_run_step(&s->chaos, trace->key.step, clock_now_us());
    if (trace->kind == TRACE_ROUND &&
        chaos_acts(&s->options->chaos, trace->key.step))
        wait_give(s->pass_fd);
}

/* At most one buffer, so that signals are looked at in between. */
static bool read_traces(struct supervisor *s)
{
    uint8_t data[READ_BYTES];
    bool ended = false;
    size_t size;

    if (s->trace_fd < 0)
        return false;
    size = wait_read(s->trace_fd, data, sizeof data, &ended);
    trace_reader_bytes(&s->traces, data, size);
    if (ended)
        wait_close(&s->trace_fd);
    return size > 0;
}

/* Children. */

static void tell_crew(struct supervisor *s)
{
    s->crew.own[0] = s->trace_fd;
    s->crew.own[1] = s->waiter.fd;
    s->crew.own[2] = s->lock_fd;
    s->crew.own[3] = s->pass_fd;
    s->crew.listen_fd = s->coordinator.listen_fd;
}

static enum err start_coordinator(struct supervisor *s)
{
    int writer = -1;
    enum err err = wait_pipe(&s->trace_fd, &writer, s->why);

    wait_close(&s->pass_fd); /* What the last life did not take is void. */
    if (err == ERR_OK)
        err = wait_passes(&s->pass_fd, s->why);
    if (err != ERR_OK) {
        wait_close(&writer);
        return err;
    }
    s->coordinator.trace_fd = writer;
    s->coordinator.pass_fd = s->pass_fd;
    trace_reader_begin(&s->traces);
    s->restart_at = 0;
    /* The living dial again at once; do not wait for the dead.  Who is missed
     * joins a step later, which is cheap where the data is at hand. */
    if (s->lives++ > 0)
        s->coordinator.core.gather_us = account_strangers_alive(&s->account) > 0
                                            ? REGATHER_FAR_US
                                            : REGATHER_US;
    tell_crew(s);
    s->crew.own[3] = -1; /* Its own, too. */
    err = crew_start_coordinator(&s->crew, &s->coordinator, s->why);
    wait_close(&writer);
    return err;
}

static void start_worker(struct supervisor *s, const char *name)
{
    struct why why = {0};

    tell_crew(s);
    if (crew_start_worker(&s->crew, name, &s->worker, &why) != ERR_OK)
        log_line("a worker could not be started: %s", why.text);
}

static void start_relay(struct supervisor *s, uint32_t index)
{
    struct why why = {0};

    tell_crew(s);
    if (crew_start_relay(&s->crew, index, &s->relay, &why) != ERR_OK)
        log_line("a relay could not be started: %s", why.text);
}

static void start_again(struct supervisor *s, struct crew_member *member)
{
    char name[NAME_SIZE];

    memcpy(name, member->process.name, NAME_SIZE);
    member->restart_at = 0;
    if (member->relay)
        start_relay(s, (uint32_t)strtoul(name + 1, NULL, 10));
    else
        start_worker(s, name);
}

static void restart(struct supervisor *s, struct crew_member *member)
{
    const time_us now = clock_now_us();

    crew_put_off(member, now);
    if (member->restart_at == now)
        start_again(s, member);
}

static void restart_due(struct supervisor *s, time_us now)
{
    for (uint32_t i = 1; i < s->crew.count && !s->stopping; i++) {
        struct crew_member *member = &s->crew.members[i];

        if (member->restart_at != 0 && now >= member->restart_at)
            start_again(s, member);
    }
}

/* Its workers knock at its socket, which we keep open.  One that cannot live
 * is given up: after a while they go past it. */
static void relay_ended(struct supervisor *s, struct crew_member *member)
{
    if (process_failed(&member->end) && !s->stopping && !s->over &&
        member->lives < RELAY_LIVES_MAX)
        restart(s, member);
}

static void join_one(void *context)
{
    start_worker(context, NULL);
}

/* What can be done after an end that nobody wanted. */
static const char *next_step(const struct supervisor *s)
{
    return s->options->scratch ? "nothing is saved without --out"
                               : "the state is saved, go on with --resume";
}

static void coordinator_killed(struct supervisor *s, int number)
{
    account_coordinator_died(&s->account);
    s->need = 1; /* The next life will say. */
    if (s->stopping || s->told) {
        end(s, ERR_OK); /* Journal and checkpoint are what was asked for. */
        return;
    }
    if (++s->death_count >= SUPERVISOR_DEATHS_MAX) {
        end(s, why_set(s->why, ERR_CLOSED,
                       "the coordinator died %u times in a row (signal %d) "
                       "without finishing a step; %s",
                       s->death_count, number, next_step(s)));
        return;
    }
    s->restart_at = clock_now_us() + crew_backoff(s->death_count);
}

/* Has the coordinator left a result? */
static bool said_how(const struct supervisor *s)
{
    struct run_result result;
    const enum err err =
        result_read(s->options->out, s->coordinator.spare_fd, &result, NULL);

    if (err == ERR_OK)
        mem_free(result.weights);
    return err == ERR_OK;
}

static void check_coordinator(struct supervisor *s)
{
    struct crew_member *member = &s->crew.members[0];

    if (member->process.pid > 0 || member->reported)
        return;
    member->reported = true;
    while (read_traces(s))
        continue; /* Its last words; nobody writes any more. */
    wait_close(&s->trace_fd);
    if ((member->end.signal != 0 || member->end.unseen) && !said_how(s))
        coordinator_killed(s, member->end.signal);
    else if (member->end.code != 0 && !said_how(s))
        end(s, why_set(s->why, ERR_IO,
                       "%.200s: the result could be written neither there nor "
                       "to memory; free some, or raise `ulimit -f`",
                       s->options->out));
    else
        end(s, ERR_OK); /* The result file says how. */
}

/* End at a step boundary. */
static void stop(struct supervisor *s, int number)
{
    const int pid = s->crew.members[0].process.pid;

    s->stopping = true;
    s->signal = number;
    s->stop_until = clock_now_us() + STOP_US;
    s->restart_at = 0;
    if (pid == 0) {
        end(s, ERR_OK); /* Between two lives: nothing to wait for. */
        return;
    }
    process_terminate(pid);
    process_resume(pid);
}

static void check_workers(struct supervisor *s)
{
    for (uint32_t i = 1; i < s->crew.count; i++) {
        struct crew_member *member = &s->crew.members[i];
        char name[NAME_SIZE];
        bool died;

        if (member->process.pid > 0 || member->reported)
            continue;
        member->reported = true;
        if (member->relay) {
            relay_ended(s, member);
            continue;
        }
        died = process_failed(&member->end);
        memcpy(name, member->process.name, NAME_SIZE);
        account_worker_ended(&s->account, name, died);
        if (member->end.code == CREW_STOP_CODE && !s->stopping && !s->over)
            stop(s, 0);
        if (died && s->options->respawn && !s->stopping && !s->over)
            restart(s, member);
    }
}

static uint32_t workers_alive(const struct supervisor *s)
{
    return crew_workers_alive(&s->crew) + account_strangers_alive(&s->account);
}

/* May anybody else come?  Who knows the folder of a run that has some workers
 * left can join it. */
static bool may_come(const struct supervisor *s)
{
    return s->options->listen != NULL || s->options->parts != NULL ||
           s->options->respawn || chaos_run_joins(&s->chaos) ||
           (workers_alive(s) > 0 && !s->options->scratch);
}

/* A run that nobody can help any more must say so, not wait. */
static void check_deserted(struct supervisor *s, time_us now)
{
    const bool hope = workers_alive(s) >= s->need || may_come(s);

    if (hope || s->stopping)
        s->deserted_at = 0;
    else if (s->deserted_at == 0)
        s->deserted_at = now;
    else if (now - s->deserted_at >= DESERTED_US) {
        s->deserted = true;
        s->left = workers_alive(s);
        stop(s, 0); /* The coordinator saves the last step. */
    }
}

static enum err how_ended(struct supervisor *s)
{
    if (s->err != ERR_OK || !s->deserted)
        return s->err;
    if (s->left > 0)
        return why_set(s->why, ERR_CLOSED,
                       "a step needs %u workers, %u %s left, and nobody can "
                       "join this run; %s",
                       s->need, s->left, s->left == 1 ? "is" : "are",
                       next_step(s));
    return why_set(s->why, ERR_CLOSED, "all workers are gone; %s",
                   next_step(s));
}

static void check_notice(struct supervisor *s)
{
    if (notice_child_told(&s->notice_pid) && !s->stopping && !s->over)
        stop(s, WAIT_SIGTERM);
}

static void check_children(struct supervisor *s)
{
    crew_reap(&s->crew);
    check_notice(s);
    check_coordinator(s);
    check_workers(s);
}

/* The end on request. */

/* A second Ctrl-C is impatience; a second SIGTERM is not, for `timeout` and the
 * like send one to a process and one to its group, and the stop that it asked
 * for takes no longer than STOP_US. */
static void on_signal(struct supervisor *s, int number)
{
    if (!s->stopping) {
        stop(s, number);
        return;
    }
    s->signal = number;
    if (number != WAIT_SIGTERM)
        end(s, ERR_OK);
}

static bool told_to_stop(const struct supervisor *s)
{
    return s->options->stop != NULL && flag_raised(s->options->stop);
}

static void check_time(struct supervisor *s, time_us now)
{
    if (s->over)
        return;
    if (s->restart_at != 0 && now >= s->restart_at) {
        const enum err err = start_coordinator(s);

        if (err != ERR_OK)
            end(s, err);
    }
    if (!s->stopping && (now >= s->max_time_at || told_to_stop(s))) {
        s->timed_out = !told_to_stop(s);
        stop(s, 0);
    }
    if (s->stopping && now >= s->stop_until)
        end(s, ERR_OK); /* It hangs; what is on disk is the state. */
    if (!s->stopping)
        chaos_run_time(&s->chaos, now);
    restart_due(s, now);
    check_deserted(s, now);
    if (now >= s->tick_at) {
        watch(s, NULL);
        s->tick_at = now + TICK_US;
    }
}

static time_us next_time(const struct supervisor *s)
{
    time_us next = time_sooner(s->tick_at, chaos_run_next(&s->chaos));

    if (s->restart_at != 0)
        next = time_sooner(next, s->restart_at);
    if (s->stopping)
        next = time_sooner(next, s->stop_until);
    return time_sooner(next, s->max_time_at);
}

static bool heard(struct supervisor *s, int number)
{
    if (number != 0)
        s->came = number;
    return number != 0;
}

static void serve(struct supervisor *s)
{
    while (!s->over) {
        const struct wake wake =
            waiter_wait(&s->waiter, s->trace_fd, next_time(s));

        if (heard(s, wake.signal))
            on_signal(s, wake.signal);
        if (wake.readable)
            (void)read_traces(s);
        if (wake.child)
            check_children(s);
        check_time(s, clock_now_us());
    }
}

/* Until all workers are gone, a signal comes, or the time is up. */
static void wait_for_workers(struct supervisor *s, time_us until)
{
    crew_reap(&s->crew);
    while (crew_workers_alive(&s->crew) > 0 && clock_now_us() < until) {
        if (heard(s, waiter_wait(&s->waiter, -1, until).signal))
            return;
        crew_reap(&s->crew);
    }
}

/* Who is stopped, by our chaos, has no part in the end. */
static void kill_stopped(struct supervisor *s)
{
    for (uint32_t i = 1; i < s->crew.count; i++) {
        struct crew_member *member = &s->crew.members[i];

        if (member->resume_at == 0 || member->process.pid == 0)
            continue;
        process_kill(member->process.pid);
        member->reported = true;
    }
}

/* Workers have got their BYE and go by themselves; who was just then without
 * a link is told so, and nobody is waited for for ever. */
static void part(struct supervisor *s)
{
    const time_us now = clock_now_us();

    if (s->crew.members[0].process.pid > 0)
        return; /* Ended in haste: they are killed. */
    kill_stopped(s);
    wait_for_workers(s, now + PARTING_US);
    for (uint32_t i = 1; i < s->crew.count; i++)
        process_terminate(s->crew.members[i].process.pid);
    wait_for_workers(s, now + PARTED_US);
    check_workers(s);
}

static enum err start_all(struct supervisor *s)
{
    enum err err = start_coordinator(s);

    tell_crew(s);
    for (uint32_t i = 0; i < s->relays.count && err == ERR_OK; i++)
        err = crew_start_relay(&s->crew, i, &s->relay, s->why);
    for (uint32_t i = 0; i < s->options->local_workers && err == ERR_OK; i++)
        err = crew_start_worker(&s->crew, NULL, &s->worker, s->why);
    if (err == ERR_OK)
        err = notice_child_start(&s->options->notice, s->crew.own, CREW_OWN_MAX,
                                 &s->notice_pid, s->why);
    return err;
}

enum err supervisor_run(struct supervisor *supervisor, struct why *why)
{
    struct supervisor *s = supervisor;
    const time_us now = clock_now_us();
    enum err err;

    s->waiter.fd = -1;
    s->trace_fd = -1;
    s->pass_fd = -1;
    s->need = 1;
    s->why = why;
    s->max_time_at = s->options->max_time_us > 0 ? now + s->options->max_time_us
                                                 : TIME_NEVER;
    s->tick_at = now + TICK_US;
    err = crew_init(&s->crew, &s->relays);
    if (err == ERR_OK)
        err = trace_reader_init(&s->traces, on_trace, s);
    if (err == ERR_OK)
        err = waiter_open(&s->waiter, why);
    if (err == ERR_OK) {
        chaos_run_init(&s->chaos, &s->options->chaos, &s->crew, join_one, s);
        err = start_all(s);
    }
    if (err == ERR_OK && s->options->meanwhile.call != NULL &&
        !s->options->meanwhile.call(s->options->meanwhile.context))
        stop(s, 0);
    if (err == ERR_OK) {
        serve(s);
        err = how_ended(s);
        part(s);
    }
    notice_child_end(&s->notice_pid);
    crew_close(&s->crew);
    trace_reader_close(&s->traces);
    wait_close(&s->trace_fd);
    wait_close(&s->pass_fd);
    (void)heard(s, waiter_close(&s->waiter));
    return err;
}
