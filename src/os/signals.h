/*
 * signals.h - a guest in somebody else's process leaves its signals as they
 * were.
 */
#ifndef OS_SIGNALS_H
#define OS_SIGNALS_H

#include <stdint.h>

struct signals {
    uint64_t kept[128]; /* Actions of the signals we touch. */
};

/* Remember what INT, TERM, HUP, USR1, CHLD and PIPE do, and ignore PIPE. */
void signals_keep(struct signals *signals);
void signals_restore(const struct signals *signals);
/* For a thread of our own: none of the process's signals are for it. */
void signals_block_all(void);

#endif /* OS_SIGNALS_H */
