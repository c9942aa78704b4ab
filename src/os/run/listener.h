/*
 * listener.h - a bell of the board (os/run/board.h) that a loop listens to.
 *
 * To be woken by the kernel costs both sides several microseconds, which is
 * most of a short step.  So where there are more processors than workers, a
 * loop whose last wait was short stays awake for a while and looks at the board
 * itself; who rings need not call it then.  Descriptors are looked at
 * meanwhile.
 */
#ifndef OS_LISTENER_H
#define OS_LISTENER_H

#include "os/run/board.h"
#include "os/run/loop.h"

struct listener;

/* `rung` on the loop whenever that bell has been rung, and has been hushed.
 * NULL and ERR_OK: there is no board, or it has no notes. */
MUST_CHECK enum err listener_new(struct loop *loop, struct board *board,
                                 uint32_t berth, enum board_side side,
                                 loop_callback rung, void *context,
                                 struct listener **listener);
/* Now, rung or not: whoever should have may have been killed (BOARD-4). */
void listener_look(struct listener *listener); /* Accepts NULL. */
/* Is it worth staying awake?  Not while another thread computes and nobody has
 * a reason to ring. */
void listener_expect(struct listener *listener, bool ring); /* Accepts NULL. */
void listener_free(struct listener *listener);              /* Accepts NULL. */

#endif /* OS_LISTENER_H */
