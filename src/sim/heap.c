/*
 * heap.c - a binary heap of events with sequence numbers as tie-breakers.
 */
#include "sim/heap.h"

#include "base/mem.h"

void heap_close(struct heap *heap)
{
    mem_free(heap->list);
    *heap = (struct heap){0};
}

static bool before(const struct happening *a, const struct happening *b)
{
    if (a->at != b->at)
        return a->at < b->at;
    return a->sequence < b->sequence;
}

enum err heap_push(struct heap *heap, struct happening happening)
{
    size_t at = heap->count;

    if (heap->count == heap->capacity) {
        struct happening *grown =
            mem_grow(heap->list, heap->count, heap->count + 1, sizeof *grown,
                     &heap->capacity);

        if (grown == NULL)
            return ERR_NOMEM;
        heap->list = grown;
    }
    happening.sequence = heap->sequence++;
    heap->count++;
    while (at > 0) {
        const size_t parent = (at - 1) / 2;

        if (!before(&happening, &heap->list[parent]))
            break;
        heap->list[at] = heap->list[parent];
        at = parent;
    }
    heap->list[at] = happening;
    return ERR_OK;
}

/* Put `last` where the hole at the root sinks to. */
static void sink(struct heap *heap, struct happening last)
{
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= heap->count)
            break;
        if (child + 1 < heap->count &&
            before(&heap->list[child + 1], &heap->list[child]))
            child++;
        if (!before(&heap->list[child], &last))
            break;
        heap->list[at] = heap->list[child];
        at = child;
    }
    heap->list[at] = last;
}

bool heap_pop(struct heap *heap, struct happening *first)
{
    if (heap->count == 0)
        return false;
    *first = heap->list[0];
    heap->count--;
    if (heap->count > 0)
        sink(heap, heap->list[heap->count]);
    return true;
}
