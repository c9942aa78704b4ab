/*
 * pages.h - large memory straight from the kernel, and files mapped into it.
 *
 * base/mem.h zeroes what it gives, and so touches it: a table that is filled
 * while its source is given back would need room for both.  Pages come zeroed
 * and cost nothing until written to; large ones are asked for as huge pages,
 * which spare the kernels most misses of the address cache.
 */
#ifndef OS_PAGES_H
#define OS_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Zeroed, aligned to a cache line at least; NULL if there is no room.  Less
 * than a few pages come from base/mem.h. */
void *pages_new(uint64_t count, size_t size);
/* With the same numbers; accepts NULL. */
void pages_free(void *memory, uint64_t count, size_t size);

/* A file's bytes, read-only for as long as the mapping is there.  Changes to
 * the file may show: the caller verifies what it relies on.  ERR_NOTFOUND,
 * ERR_DENIED, ERR_IO, ERR_NOMEM; ERR_FORMAT if the file is empty. */
struct file_map {
    void *data;
    size_t size;
};

MUST_CHECK enum err file_map_open(struct file_map *map, const char *path,
                                  struct why *why);
void file_map_close(struct file_map *map); /* Zeroed is safe. */
/* For a program of our own: it ends with a sentence, not with SIGBUS, when a
 * file that it has mapped is cut. */
void file_map_watch(void);

#endif /* OS_PAGES_H */
