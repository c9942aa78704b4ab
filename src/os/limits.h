/*
 * limits.h - how many descriptors this process may have open.
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

#endif /* OS_LIMITS_H */
