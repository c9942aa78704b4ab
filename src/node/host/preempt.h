/*
 * preempt.h - a look at the spot notice now and then, beside a loop.
 *
 * The look may take seconds where nobody answers, so a thread of its own takes
 * it.  (The supervisor has no loop: it forks a process that waits.)
 */
#ifndef NODE_PREEMPT_H
#define NODE_PREEMPT_H

#include "os/net/notice.h"
#include "os/run/loop.h"

struct preempt;

/* `told` is called once, on the loop.  Does nothing, and sets NULL, without a
 * kind of notice. */
MUST_CHECK enum err preempt_new(struct loop *loop,
                                const struct notice_options *options,
                                loop_callback told, void *context,
                                struct preempt **preempt);
void preempt_free(struct preempt *preempt); /* Accepts NULL. */

#endif /* NODE_PREEMPT_H */
