/*
 * interrupt.h - the first Ctrl-C asks a program to end, the second ends it.
 *
 * SIGTERM, SIGHUP and SIGUSR1 ask as SIGINT does.  What whoever started us had
 * ignored stays ignored.  Before there is anything to save, the first one ends
 * it, too, but with a sentence: interrupt_begin_early.
 */
#ifndef OS_INTERRUPT_H
#define OS_INTERRUPT_H

#include "base/flag.h"

enum { INTERRUPT_INT = 2 }; /* SIGINT, as interrupt_signal tells it. */

/* What ends a program that has nothing to save yet, on a thread of its own:
 * whatever the program does meanwhile is not asked.  `over`, ten times a
 * second, says whether somebody else ended it; may be NULL.  `end` says so and
 * exits: it does not return.  `number` 0: it was `over`. */
struct interrupt_early {
    bool (*over)(void *context);
    void (*end)(void *context, int number);
    void *context;
};

/* Signals that ask wait until they are let in: for who makes something that
 * `end` undoes before it can say what that is. */
void interrupt_block(void);
void interrupt_unblock(void);
/* From now until interrupt_begin or interrupt_end_early.  Without a thread to
 * be had nothing changes.  Who forks ends it before. */
void interrupt_begin_early(const struct interrupt_early *what);
void interrupt_end_early(void);

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
