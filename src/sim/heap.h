/*
 * heap.h - what will happen, ordered by (time, sequence number).
 *
 * The sequence number makes equal times a total order, so that a run is a
 * function of its seed and not of where memory happened to lie.
 */
#ifndef SIM_HEAP_H
#define SIM_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

struct packet;

struct happening {
    time_us at;
    uint64_t sequence; /* Set by heap_push. */
    uint32_t kind;     /* enum happening_kind of sim/world.h. */
    uint32_t node;     /* Whom it concerns. */
    uint64_t life;     /* ... in which of its lives. */
    uint32_t conn;
    uint32_t number;
    uint32_t peer;  /* Of a chunk from one. */
    uint32_t looks; /* ... and how often it was looked for. */
    struct packet *packet;
};

struct heap {
    struct happening *list;
    size_t count, capacity;
    uint64_t sequence;
};

void heap_close(struct heap *heap);
/* ERR_NOMEM leaves the heap as it was. */
MUST_CHECK enum err heap_push(struct heap *heap, struct happening happening);
/* False if it is empty. */
bool heap_pop(struct heap *heap, struct happening *first);

#endif /* SIM_HEAP_H */
