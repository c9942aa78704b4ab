/*
 * names.h - the names that an owner's files have in a folder that many use.
 *
 * Whoever writes files into a run's folder exports a list of their names, and
 * nobody else repeats them: what a run may write over, and what is to be
 * removed after it, is asked of the lists.  '#' stands for a number:
 * "scores-#-#".
 */
#ifndef CORE_NAMES_H
#define CORE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct names {
    const char *const *name;
    size_t count;
};

/* Of an array of patterns. */
#define NAMES_OF(array)                                                        \
    {                                                                          \
        (array), sizeof(array) / sizeof *(array)                               \
    }

/* Is `file` one of them? */
bool names_have(const struct names *names, const char *file);
/* Is it what a kill leaves of one of them, which is written beside its place:
 * "config.tmp.0123456789abcdef"? */
bool names_left(const struct names *names, const char *file);

#endif /* CORE_NAMES_H */
