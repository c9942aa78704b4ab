/*
 * scratch.h - a folder that is gone afterwards.
 */
#ifndef OS_SCRATCH_H
#define OS_SCRATCH_H

#include <stddef.h>

#include "base/err.h"

/* A new folder of mode 0700 under TMPDIR or /tmp; its path in `path`. */
MUST_CHECK enum err scratch_new(char *path, size_t capacity, struct why *why);
/* With all plain files in it. */
void scratch_remove(const char *path);

#endif /* OS_SCRATCH_H */
