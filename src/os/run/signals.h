/*
 * signals.h - a guest in somebody else's process leaves its signals as they
 * were.
 */
#ifndef OS_SIGNALS_H
#define OS_SIGNALS_H

#include <stdbool.h>

/* Did whoever started us ask that it be ignored?  nohup does so with HUP, and a
 * shell with INT of what it starts by `&` in a script. */
bool signals_ignored(int number);
/* Remember what INT, TERM, HUP, USR1, CHLD and PIPE do, and ignore PIPE; of
 * several threads that do so the last to restore them restores them. */
void signals_keep(void);
void signals_restore(void);
/* For a program of our own: whoever started it may have held signals back, and
 * a file that grows beyond `ulimit -f` is a write that fails, not an end. */
void signals_own(void);

#endif /* OS_SIGNALS_H */
