/*
 * mem.h - the heap; nothing else calls malloc.
 *
 * Memory comes zeroed and aligned to a cache line, sizes are checked for
 * overflow, and nothing aborts: NULL means out of memory and the caller
 * returns ERR_NOMEM.  State machines allocate in init and never in step.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

#define MEM_LINE 64u

/* `count` zeroed objects of `size` bytes; NULL if they do not fit.  A count of
 * zero gives a valid pointer to nothing. */
void *mem_new(size_t count, size_t size) __attribute__((malloc));

/* Grow an array to hold at least `need` objects: doubles *capacity, moves the
 * `used` old objects, zeroes the rest.  Returns NULL and changes nothing if
 * there is no room; otherwise frees `old` and returns the new array. */
void *mem_grow(void *old, size_t used, size_t need, size_t size,
               size_t *capacity);

/* Accepts NULL. */
void mem_free(void *memory);

/* A heap copy of a C string; NULL if out of memory. */
char *mem_text(const char *text) __attribute__((malloc));

#endif /* BASE_MEM_H */
