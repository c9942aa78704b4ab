#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *mem_new(size_t count, size_t size)
{
    size_t bytes;
    void *memory;

    if (__builtin_mul_overflow(count, size, &bytes) ||
        bytes > SIZE_MAX / 2 - MEM_LINE)
        return NULL;
    bytes = (bytes + MEM_LINE) / MEM_LINE * MEM_LINE;
    memory = aligned_alloc(MEM_LINE, bytes);
    if (memory != NULL)
        memset(memory, 0, bytes);
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
    free(memory);
}

char *mem_text(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = mem_new(size, 1);

    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}
