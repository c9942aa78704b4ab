/*
 * spawn.h - another program as a child: this one with other words, which
 * speaks through our streams, or one of the system, which is spoken to and
 * listened to through pipes.
 *
 * os/run/program.h runs a program to its end; these run beside us, and their
 * owner looks after them: spawn_wait, spawn_read, process_ended.
 */
#ifndef OS_SPAWN_H
#define OS_SPAWN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/time.h"

struct spawn {
    const char *program;      /* Looked for in PATH; NULL: this one. */
    const char *const *words; /* Its arguments, the last one NULL. */
    /* Its three streams are pipes of ours, and it is in a session of its own,
     * where it finds no terminal to ask at; it is killed when we end in
     * whatever way.  Otherwise it has our streams and is in a group of its own,
     * so that a Ctrl-C reaches us alone, and is sent SIGTERM when we end in
     * whatever way. */
    bool piped;
    const char *variable; /* NAME=VALUE that it finds besides; NULL: none. */
};

/* A child and our ends of its pipes; zeroed is none. */
struct spawned {
    int pid; /* 0: none. */
    int in, out, err;
};

/* ERR_NOTFOUND: there is no such program. */
MUST_CHECK enum err spawn_start(const struct spawn *spawn,
                                struct spawned *spawned, struct why *why);
/* To its standard input, at most a pipe's room; false: it reads no more. */
bool spawn_tell(struct spawned *spawned, const void *data, size_t size);
/* No more will be told. */
void spawn_hush(struct spawned *spawned);
/* What has come from *fd, at most `size` bytes; 0: nothing yet, or, with *fd -1
 * from then on, it is over. */
size_t spawn_read(int *fd, void *data, size_t size);
/* Our ends are closed; the child, if it lives, is left to itself. */
void spawn_close(struct spawned *spawned);
/* To the child, by its number. */
void spawn_signal(const struct spawned *spawned, int number);

/* SIGKILL to a piped child and to all that it has started. */
void spawn_kill(const struct spawned *spawned);

/* Until one of them can be read from, or is over, or `most_us` have passed, or
 * a signal came. */
void spawn_wait(const int *fds, size_t count, time_us most_us);

#endif /* OS_SPAWN_H */
