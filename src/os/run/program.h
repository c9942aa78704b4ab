/*
 * program.h - this program once more with other arguments, or one that came
 * with it, as a child that is waited for and cannot outlive us.
 */
#ifndef OS_PROGRAM_H
#define OS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "os/run/process.h"

struct program_start {
    const char *program;      /* Path of another one; NULL: ours. */
    const char *const *words; /* Its arguments, the last one NULL. */
    const char *folder;       /* Where it runs. */
    const char *output;       /* In `folder`: its standard output ... */
    const char *errors;       /* ... and standard error go there. */
};

/* Environment variables of muster (MUSTER_...) are not for it: what it does is
 * in its words alone.  Standard input is empty. */
MUST_CHECK enum err program_run(const struct program_start *start,
                                struct process_end *end, struct why *why);

/* Where a program is that came with ours: built with it, in examples/ beside
 * it; installed, in ../libexec/muster.  False: at neither place. */
MUST_CHECK bool program_find(const char *name, char *path, size_t size);

#endif /* OS_PROGRAM_H */
