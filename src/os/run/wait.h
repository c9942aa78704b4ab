/*
 * wait.h - what a supervisor waits for, without a loop that fork would copy:
 * a pipe, signals, the end of a child, the time.
 */
#ifndef OS_WAIT_H
#define OS_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

enum { WAIT_SIGTERM = 15 }; /* As `wake` tells it. */

/* GNU timeout and others send a signal to a process and once more to its group,
 * which may arrive as one or as two.  The same signal within this time is an
 * echo, and not told; nobody presses Ctrl-C twice in it on purpose. */
#define WAIT_ECHO_US (SECOND_US / 5)

/* Signals that end a run arrive here while it is open, whichever thread of the
 * process they are given to; waiter_close leaves them as they were.  SIGCHLD is
 * not relied on: a host may block, ignore or handle it. */
struct waiter {
    int fd;   /* eventfd */
    int told; /* The last signal that `wake` told of; 0 = none. */
    time_us told_at;
    uint64_t kept[128]; /* What the signals did before. */
};

struct wake {
    bool readable; /* The pipe has something, or its end. */
    bool child;    /* A child may have ended. */
    int signal;    /* SIGINT, SIGTERM, SIGHUP or SIGUSR1 came; 0 = none. */
};

MUST_CHECK enum err waiter_open(struct waiter *waiter, struct why *why);
/* A signal that came and that waiter_wait has not told of; 0 = none. */
int waiter_close(struct waiter *waiter);
/* Until one of them or `until`, but not much longer than a child may wait to be
 * looked at; fd -1 = no pipe. */
struct wake waiter_wait(struct waiter *waiter, int fd, time_us until);
/* The same of several pipes, WAIT_PIPES at most. */
#define WAIT_PIPES 64u
struct wake waiter_wait_any(struct waiter *waiter, const int *fds,
                            uint32_t count, time_us until);

/* Passes that one process gives and another waits for, one by one. */
MUST_CHECK enum err wait_passes(int *fd, struct why *why);
void wait_give(int fd);
void wait_take(int fd);

/* A pipe; the reading end does not block. */
MUST_CHECK enum err wait_pipe(int *reader, int *writer, struct why *why);
/* Bytes read; 0 = none now; *ended once no writer is left. */
size_t wait_read(int fd, void *data, size_t capacity, bool *ended);
/* All of it, as far as somebody reads. */
void wait_write(int fd, const void *data, size_t size);
void wait_close(int *fd);

#endif /* OS_WAIT_H */
