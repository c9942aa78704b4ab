/*
 * supervisor.h - watches over the processes of a run until it ends.
 *
 * One poll() on the coordinator's trace pipe and signals, and a look at the
 * children in between; no loop and no thread, so that a fork copies nothing
 * that runs.
 *
 *     coordinator killed   start the next life, at once the first time; if it
 *                          had been told to stop, that was the end
 *     worker killed        the core deals with it; --respawn starts it again,
 *                          after a pause if it only begins to fail again
 *     relay killed         the same; its workers dial it, or past it
 *     SIGINT, SIGTERM,     ask the coordinator to end at a step boundary;
 *     SIGHUP, SIGUSR1      a second one ends everything at once
 *     --max-time           the same as a signal
 *     --preempt-notice     the same as SIGTERM; a child looks for it
 */
#ifndef NODE_SUPERVISOR_H
#define NODE_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>

#include "node/host/trace_pipe.h"
#include "node/run/account.h"
#include "node/run/chaos_run.h"
#include "node/run/crew.h"
#include "node/run/train.h"
#include "os/run/wait.h"

#define SUPERVISOR_DEATHS_MAX 5u

struct supervisor {
    const struct train_options *options;
    struct coordinator_node_options coordinator; /* Of the next life. */
    struct worker_node_options worker;           /* Of any local worker. */
    struct relay_node_options relay;             /* Of any local relay. */
    struct crew_relays relays;
    struct waiter waiter;
    struct crew crew;
    struct chaos_run chaos;
    struct account account;

    int notice_pid; /* Of the child that waits for the notice; 0 = none. */

    int lock_fd;  /* Of the run folder. */
    int trace_fd; /* -1 = none. */
    int pass_fd;  /* What the coordinator waits for at some steps; -1 = none. */
    struct trace_reader traces;

    time_us restart_at;   /* Of the coordinator; 0 = not waiting. */
    uint32_t death_count; /* Without a commit since. */
    uint32_t lives;

    bool stopping;
    bool told; /* The coordinator was, by `muster stop`, and ends by itself. */
    int signal;
    int came; /* The last signal that this process was sent; 0 = none. */
    time_us stop_until;
    time_us max_time_at;
    bool timed_out;      /* That is why it stops. */
    uint32_t need;       /* Workers that the step waits for; or 1. */
    time_us deserted_at; /* Fewer are left, for good; 0 = not so. */
    bool deserted;       /* ... and that is why it ends, ... */
    uint32_t left;       /* ... with so many. */
    time_us tick_at;
    bool over;
    enum err err;
    struct why *why;
};

/* The run, from the first fork to the last wait.  What it came to is in the
 * result file, if the coordinator wrote one.  No child is left. */
MUST_CHECK enum err supervisor_run(struct supervisor *supervisor,
                                   struct why *why);

#endif /* NODE_SUPERVISOR_H */
