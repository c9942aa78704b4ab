/*
 * signals.h - a guest in somebody else's process leaves its signals and its
 * standard streams as they were.
 */
#ifndef OS_SIGNALS_H
#define OS_SIGNALS_H

#include <stdbool.h>

/* Did whoever started us ask that it be ignored?  nohup does so with HUP, and a
 * shell with INT of what it starts by `&` in a script. */
bool signals_ignored(int number);
/* Remember what INT, TERM, HUP, USR1, CHLD and PIPE do, ignore PIPE, and hold
 * standard streams that are closed (streams.h); of several threads that do so
 * the last to restore them restores them. */
void signals_keep(void);
void signals_restore(void);
/* To the host's own handler, after signals_restore: a signal that we took and
 * that has changed nothing; 0 = none. */
void signals_give_back(int number);
/* For a program of our own: whoever started it may have held signals back, and
 * a file that grows beyond `ulimit -f` is a write that fails, not an end. */
void signals_own(void);

#endif /* OS_SIGNALS_H */
