/*
 * notice_child.h - the child of a supervisor that waits for the spot notice,
 * since a supervisor has no loop and the look may take seconds.
 */
#ifndef NODE_NOTICE_CHILD_H
#define NODE_NOTICE_CHILD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "os/net/notice.h"

/* Does nothing without a kind of notice.  `drop` as in struct process_start. */
MUST_CHECK enum err notice_child_start(const struct notice_options *options,
                                       const int *drop, uint32_t drop_count,
                                       int *pid, struct why *why);
/* Has the notice come?  Told once, in the log, too. */
bool notice_child_told(int *pid);
void notice_child_end(int *pid);

#endif /* NODE_NOTICE_CHILD_H */
