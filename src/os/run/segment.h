/*
 * segment.h - memory that processes of one user on one machine share, whoever
 * of them made it and whoever is still there.
 *
 * A file in memory (memfd) that every one of them has open: others come in by
 * its name under /proc of any of them, and it is gone with the last.  In it:
 *
 *     value    a small value of all, changed by compare-and-swap
 *     marks    words of single seats
 *     texts    of single seats: names
 *     bytes    as many as were asked for, of which only those touched exist
 *
 *   SEGMENT-1  A seat is a byte of the file that its process has locked (an
 *              open file description's lock): the kernel gives it to one, and
 *              lets go of it however that process ends.
 *   SEGMENT-2  Who changes the value writes a copy of its own (each seat has
 *              two) and swaps the word that says which copy is the value, if
 *              that still is what it was.  Whoever is stopped or killed
 * anywhere has changed it or has not, and is in nobody's way.  A reader looks
 * at that word again after it has read. SEGMENT-3  A bell only says: look
 * again.  Whoever is killed before ringing has told nobody: so a wait has an
 * end, after which one looks.
 */
#ifndef OS_SEGMENT_H
#define OS_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

#define SEGMENT_SEATS       64u
#define SEGMENT_VALUE_WORDS 24u
#define SEGMENT_MARKS       4u  /* Of a seat. */
#define SEGMENT_TEXT_SIZE   72u /* Of a seat. */
#define SEGMENT_FACTS       8u  /* Numbers of its maker's that stay. */
#define SEGMENT_NAME_SIZE   64u

struct segment;

struct segment_shape {
    uint64_t kind;                 /* Others are told apart by it. */
    uint64_t bytes;                /* In all; multiples of pages. */
    uint64_t facts[SEGMENT_FACTS]; /* What the maker tells who comes later. */
};

/* Every seat is free, the value is `value`.  ERR_DENIED: no other process could
 * open it. */
MUST_CHECK enum err segment_new(const struct segment_shape *shape,
                                const uint64_t value[SEGMENT_VALUE_WORDS],
                                struct segment **segment, struct why *why);
MUST_CHECK enum err segment_open(const char *name, uint64_t kind,
                                 struct segment **segment, struct why *why);
void segment_free(struct segment *segment); /* Accepts NULL. */
/* By which others open it, as long as this process has it open. */
const char *segment_name(const struct segment *segment);
const struct segment_shape *segment_shape(const struct segment *segment);

/* The bytes that are everybody's, from `at` on. */
uint8_t *segment_bytes(const struct segment *segment, uint64_t at);
/* They can be written to from now on; ERR_NOMEM: there is no room. */
MUST_CHECK enum err segment_reserve(struct segment *segment, uint64_t at,
                                    uint64_t size);

/* --- seats --------------------------------------------------------------- */

/* False: another process has it.  One seat for a segment that is open. */
MUST_CHECK bool segment_sit(struct segment *segment, uint32_t seat);
void segment_rise(struct segment *segment, uint32_t seat);
/* Is there a process on it, stopped or not? */
bool segment_occupied(const struct segment *segment, uint32_t seat);

/* --- the value ----------------------------------------------------------- */

/* Returns what segment_swap asks for. */
uint64_t segment_read(const struct segment *segment,
                      uint64_t value[SEGMENT_VALUE_WORDS]);
/* Whose seat it is puts another value in place of the one read; false: it is
 * another one by now. */
MUST_CHECK bool segment_swap(struct segment *segment, uint32_t seat,
                             uint64_t read,
                             const uint64_t value[SEGMENT_VALUE_WORDS]);
uint64_t segment_mark(const struct segment *segment, uint32_t seat,
                      uint32_t mark);
/* What was written before it is seen by who sees it. */
void segment_set_mark(struct segment *segment, uint32_t seat, uint32_t mark,
                      uint64_t value);
/* Ended by a 0. */
char *segment_text(const struct segment *segment, uint32_t seat);

/* --- waiting ------------------------------------------------------------- */

/* Look at the bell, look at what you wait for, then wait for another ring; from
 * a signal handler, too. */
uint32_t segment_bell(const struct segment *segment);
void segment_ring(struct segment *segment);
/* `awake`: look that many times before lying down.  False: `until` is over. */
bool segment_wait(struct segment *segment, uint32_t bell, uint32_t awake,
                  time_us until);

#endif /* OS_SEGMENT_H */
