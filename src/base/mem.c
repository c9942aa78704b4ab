/*
 * mem.c - the heap, in blocks aligned to a cache line.  The word in front of a
 * block says where the C library's own block begins.
 */
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LARGE (1u << 20)

static uint8_t *zeroed(size_t bytes)
{
    uint8_t *block;

    /* calloc knows which pages come zeroed from the kernel and does not touch
     * them; a long vector that a job never uses then costs nothing.  (What is
     * called here tests/faults/shim.c lets fail.) */
    if (bytes >= LARGE)
        return calloc(1, bytes);
    block = aligned_alloc(MEM_LINE, bytes);
    if (block != NULL)
        memset(block, 0, bytes);
    return block;
}

/* The line before the memory ends with where the block begins. */
void *mem_new(size_t count, size_t size)
{
    size_t bytes;
    uint8_t *block;
    uint8_t *memory;

    if (__builtin_mul_overflow(count, size, &bytes) ||
        bytes > SIZE_MAX / 2 - 2 * MEM_LINE)
        return NULL;
    block = zeroed((bytes + 2 * MEM_LINE) / MEM_LINE * MEM_LINE);
    if (block == NULL)
        return NULL;
    memory = block + sizeof block;
    memory += (MEM_LINE - (uintptr_t)memory % MEM_LINE) % MEM_LINE;
    memcpy(memory - sizeof block, &block, sizeof block);
    return memory;
}

void *mem_grow(void *old, size_t used, size_t need, size_t size,
               size_t *capacity)
{
    size_t wanted = *capacity < 8 ? 8 : *capacity;
    void *grown;

    while (wanted < need) {
        if (wanted > SIZE_MAX / 2)
            return NULL;
        wanted *= 2;
    }
    grown = mem_new(wanted, size);
    if (grown == NULL)
        return NULL;
    if (used > 0)
        memcpy(grown, old, used * size);
    mem_free(old);
    *capacity = wanted;
    return grown;
}

void mem_free(void *memory)
{
    uint8_t *block;

    if (memory == NULL)
        return;
    memcpy(&block, (uint8_t *)memory - sizeof block, sizeof block);
    free(block);
}

char *mem_text(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = mem_new(size, 1);

    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}
