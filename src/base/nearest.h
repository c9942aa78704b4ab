/*
 * nearest.h - the name that somebody who mistyped one may have meant.
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

#define NEAREST_MAX_BYTES 48u /* Longer names are near to nothing. */

/* Levenshtein's distance; upper and lower case, '-' and '_' are the same. */
size_t nearest_distance(const char *a, const char *b);
/* How many slips a name of that length may have. */
size_t nearest_limit(const char *typed);
/* The nearest of `count` names to a mistyped one, or NULL if none is near. */
const char *nearest_name(const char *typed, const char *const *names,
                         size_t count);

#endif /* BASE_NEAREST_H */
