/*
 * interrupt.h - the first Ctrl-C asks a program to end, the second ends it.
 *
 * SIGTERM, SIGHUP and SIGUSR1 ask as SIGINT does.  What whoever started us had
 * ignored stays ignored.
 */
#ifndef OS_INTERRUPT_H
#define OS_INTERRUPT_H

#include "base/flag.h"

enum { INTERRUPT_INT = 2 }; /* SIGINT, as interrupt_signal tells it. */

/* `flag` is raised by the first of them; one flag at a time. */
void interrupt_begin(struct flag *flag);
/* The same, and the second raises `hurry`, for who has something to tidy up
 * first; the third ends the program. */
void interrupt_begin_twice(struct flag *flag, struct flag *hurry);
/* Since the beginning all is done but to save it, which is what they ask for:
 * the first that comes before interrupt_end changes nothing, the second ends
 * the program. */
void interrupt_hold(void);
/* Somebody else has heard that signal, and the work has ended for it. */
void interrupt_heard(int number);
/* Signals do what they did before, but for echoes of the one that came. */
void interrupt_end(void);
/* The signal that came since the last beginning; 0: none did. */
int interrupt_signal(void);

#endif /* OS_INTERRUPT_H */
