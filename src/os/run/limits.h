/*
 * limits.h - how many descriptors this process may have open, how much
 * stack.
 */
#ifndef OS_LIMITS_H
#define OS_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/* Open now. */
uint64_t limits_files_open(void);
/* The most that may be open at once. */
uint64_t limits_files(void);
/* Make it at least `wanted`, as far as the system lets us (the hard limit);
 * what it was before is returned, for limits_files_restore.  UINT64_MAX: as
 * many as can be. */
uint64_t limits_files_raise(uint64_t wanted);
void limits_files_restore(uint64_t before);
/* Bytes to which the first thread's stack may grow; others get as much. */
uint64_t limits_stack(void);

#endif /* OS_LIMITS_H */
