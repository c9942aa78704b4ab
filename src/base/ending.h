/*
 * ending.h - what a file's name ends with: ".csv", ".npy".
 */
#ifndef BASE_ENDING_H
#define BASE_ENDING_H

#include <stdbool.h>
#include <stddef.h>

/* Do the first `length` characters of the name end with `ending`, in capitals
 * or not? */
bool ending_is(const char *name, size_t length, const char *ending);

#endif /* BASE_ENDING_H */
