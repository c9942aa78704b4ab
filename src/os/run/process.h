/*
 * process.h - children without exec: they share our pages and cannot outlive
 * us.
 *
 * The kernel kills a child with SIGKILL when the thread that forked it ends,
 * whatever ended it (PR_SET_PDEATHSIG).  So fork from a thread that lives as
 * long as the run.
 */
#ifndef OS_PROCESS_H
#define OS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* What it returns is the exit code. */
typedef int (*process_main)(void *context);

struct process_start {
    const char *title; /* As ps shows it, at most 15 letters. */
    const int *drop;   /* Descriptors that are not for the child; -1 = none. */
    uint32_t drop_count;
    process_main main;
    void *context;
};

struct process_end {
    int signal; /* 0 = it ended by itself, with `code`. */
    int code;
    bool unseen; /* A host that waits for any child has reaped it. */
};

/* Did it end otherwise than it should, as far as can be told? */
static inline bool process_failed(const struct process_end *end)
{
    return end->signal != 0 || end->code != 0 || end->unseen;
}

/* One run with children at a time in a process, whatever its threads: false if
 * there is one. */
bool process_claim(void);
void process_disclaim(void);

/* In the child signals are as at a program's start, but SIGINT is ignored: a
 * Ctrl-C reaches the whole group, and what to do about it the parent says. */
MUST_CHECK enum err process_fork(const struct process_start *start, int *pid,
                                 struct why *why);
/* In a child: of all descriptors but the first three only *fd stays, under
 * another number. */
void process_keep_only(int *fd);
/* Has the child ended?  If so it is reaped. */
bool process_ended(int pid, struct process_end *end);
/* Wait for it; for use after process_kill. */
void process_reap(int pid);

void process_kill(int pid);      /* SIGKILL */
void process_terminate(int pid); /* SIGTERM */
void process_alert(int pid);     /* SIGUSR1 */
void process_stop(int pid);      /* SIGSTOP */
void process_resume(int pid);    /* SIGCONT */

uint32_t process_own_pid(void);
/* Whose child it is; 0: that cannot be told. */
uint32_t process_parent(uint32_t pid);
/* Did it start with that variable?  False: it is not ours to look at. */
bool process_began_with(uint32_t pid, const char *variable, bool *has);

/* Pin the calling thread, and those that it starts from now on, to the
 * index-th of the processors that it may use; false: it has fewer. */
bool process_pin(uint32_t index);

#endif /* OS_PROCESS_H */
