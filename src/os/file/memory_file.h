/*
 * memory_file.h - bytes for another process, without a disk.
 *
 * Made before a fork, written by the child, read by the parent once the child
 * is gone: a full disk does not touch it.  Or named, for other processes of the
 * same user: it is gone with the process that made it, even by SIGKILL.
 */
#ifndef OS_MEMORY_FILE_H
#define OS_MEMORY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* A descriptor, or -1 if the system has none; close with memory_file_free. */
int memory_file_new(void);
void memory_file_free(int fd); /* Accepts -1. */

/* The name by which other processes of this user can open it, as long as this
 * one lives and has it open; nothing is left on any disk, however that ends.
 * ERR_DENIED: this process is closed to others (PR_SET_DUMPABLE), or there is
 * no /proc. */
MUST_CHECK enum err memory_file_name(int fd, char *name, size_t capacity,
                                     struct why *why);
/* Is that such a name? */
bool memory_file_is_name(const char *name);
/* Replaces what was in it.  ERR_IO: no room, and nothing is in it. */
MUST_CHECK enum err memory_file_write(int fd, const void *data, size_t size);
/* ERR_NOTFOUND if nothing was written; ERR_TOOBIG beyond `max`.  *data is from
 * mem_new. */
MUST_CHECK enum err memory_file_read(int fd, size_t max, uint8_t **data,
                                     size_t *size);

#endif /* OS_MEMORY_FILE_H */
