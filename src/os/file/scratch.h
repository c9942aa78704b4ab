/*
 * scratch.h - a folder that is gone afterwards, even if this process is killed:
 * another one, the keeper, outlives it for as long as it takes to remove it.
 */
#ifndef OS_SCRATCH_H
#define OS_SCRATCH_H

#include "base/err.h"
#include "os/file/file.h"

struct scratch {
    char path[FILE_PATH_SIZE];
    int lifeline; /* To the keeper; -1: there is none. */
};

/* A new folder of mode 0700 under TMPDIR or /tmp.  Processes that are forked
 * before it is closed may use it; the keeper waits for their ends, too. */
MUST_CHECK enum err scratch_open(struct scratch *scratch, struct why *why);
/* With all that is in it; what links lead to stays. */
void scratch_close(struct scratch *scratch);

#endif /* OS_SCRATCH_H */
