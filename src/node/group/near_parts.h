/*
 * near_parts.h - what the files of a near group know of each other.
 *
 *     seat 0   [ vector of even calls ][ of odd calls ]
 *              [ the slice it added of even calls ][ of odd calls ]
 *     ...
 *     seat 63
 *
 * A process writes where its own seat is and nowhere else: if it was stopped
 * for long, and the others are calls further when it goes on, it spoils
 * nothing.
 */
#ifndef NODE_NEAR_PARTS_H
#define NODE_NEAR_PARTS_H

#include <stdbool.h>

#include "base/flag.h"
#include "core/sum/table.h"
#include "node/group/gait.h"
#include "node/group/near.h"
#include "os/run/segment.h"
#include "os/run/thread.h"

_Static_assert(TABLE_SEATS == SEGMENT_SEATS, "one numbering");
_Static_assert(sizeof(struct table) <= SEGMENT_VALUE_WORDS * sizeof(uint64_t),
               "the table is the segment's value");

/* What is shared is written in a gait of its own from so many bytes on, by
 * doubling sizes. */
#define NEAR_TIMED 16384u
#define NEAR_GAITS 11u   /* Up to 32 MiB. */
#define NEAR_BLOCK 8192u /* Bytes of a slice that are added at once. */

enum near_kind { NEAR_VECTOR, NEAR_SLICE, NEAR_KINDS };
enum { MARK_BEAT, MARK_EVEN, MARK_ODD }; /* When; calls whose slice is added. */

/* What the table is inside, as the segment has it. */
union near_value {
    struct table table;
    uint64_t words[SEGMENT_VALUE_WORDS];
};

struct near {
    struct segment *segment;
    struct table_rules rules;
    uint64_t stride;   /* Bytes of a vector's place. */
    uint64_t size_max; /* Bytes of one. */
    uint64_t reserved[2];
    uint32_t seat;
    uint32_t processors;
    uint32_t awake; /* Looks before lying down. */
    uint64_t call;  /* The next one. */
    bool fresh;     /* Came in the middle of it, and has given nothing yet. */
    time_us looked_at;
    struct flag cancel, busy;
    struct loop *loop; /* Of the thread that beats. */
    struct timer *timer;
    struct bell *bell;
    struct thread *thread;
    char who[TABLE_SEATS * NAME_SIZE];
    struct gait gaits[NEAR_KINDS][NEAR_GAITS];
    uint32_t turns;
    _Alignas(64) uint8_t block[NEAR_BLOCK];
};

/* The table as it is; returns what near_change asks for. */
uint64_t near_look(const struct near *near, union near_value *value);
/* Where the vector of a seat in a call lies, and all that is a seat's. */
uint8_t *near_vector(const struct near *near, uint32_t seat, uint64_t call);
uint64_t near_seat_bytes(uint64_t stride);
/* Who of them is gone: dead, or silent for too long. */
uint64_t near_gone(struct near *near, uint64_t seats);

/* --- near_copy.c --- */
/* To the user, of a vector of `whole` bytes. */
void near_copy(void *to, const void *from, size_t size, size_t whole);

/* Something of a size that is written for others, block by block. */
struct near_share {
    struct gait *gait; /* NULL: of that size there is but one way. */
    bool past;
    uint32_t percent, turn;
    uint32_t trials; /* Blocks of at least a page that are to be timed. */
    uint64_t took[2];
};

/* A slice. */
struct near_share near_share(struct near *near, size_t size);
void near_put(struct near_share *share, uint8_t *to, const uint8_t *from,
              size_t size);
/* A vector, at once, for so many members. */
void near_put_all(struct near *near, uint8_t *to, const uint8_t *from,
                  size_t size, uint32_t members);

/* --- near_add.c --- */
/* Memory for vectors of that size in this call. */
MUST_CHECK enum err near_reserve(struct near *near, uint64_t call, size_t size);
/* The sum of a closed call into `values`, with the others' help.  ERR_STALE: it
 * is not there any more, and `values` are not what they were. */
MUST_CHECK enum err near_add(struct near *near, const struct table_plan *plan,
                             void *values);

#endif /* NODE_NEAR_PARTS_H */
