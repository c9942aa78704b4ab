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

/* Ours, less what begins with `length` letters of `without` (0: nothing), and
 * one variable more (NULL: none).  The array is the caller's to free, NULL if
 * there is no memory; its texts are not. */
char **program_environment(const char *without, size_t length,
                           const char *more);

/* Where a program is that came with ours: built with it, beside it or in
 * examples/; installed, in ../libexec/muster.  False: nowhere. */
MUST_CHECK bool program_find(const char *name, char *path, size_t size);

/* Be that program from now on, with these arguments (the last one NULL) and all
 * that is in our environment.  Returns if it cannot be started. */
void program_become(const char *path, char *const *argv);

#endif /* OS_PROGRAM_H */
