/*
 * memory_file.h - bytes that a child leaves for its parent, without a disk.
 *
 * Made before the fork, written by the child, read by the parent once the child
 * is gone: a full disk does not touch it.
 */
#ifndef OS_MEMORY_FILE_H
#define OS_MEMORY_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* A descriptor, or -1 if the system has none; close with memory_file_free. */
int memory_file_new(void);
void memory_file_free(int fd); /* Accepts -1. */

/* Replaces what was in it.  ERR_IO: no room, and nothing is in it. */
MUST_CHECK enum err memory_file_write(int fd, const void *data, size_t size);
/* ERR_NOTFOUND if nothing was written; ERR_TOOBIG beyond `max`.  *data is from
 * mem_new. */
MUST_CHECK enum err memory_file_read(int fd, size_t max, uint8_t **data,
                                     size_t *size);

#endif /* OS_MEMORY_FILE_H */
