/*
 * seal.h - a number beside memory that its owner writes and others read in
 * place, of another process perhaps (a seqlock whose reader looks once,
 * afterwards).
 *
 * The owner breaks the seal before it writes anew.  Who reads knows the number
 * under which it was told of the contents, reads for as long as it takes, and
 * then asks whether that number holds: if not, nothing of what was read counts.
 * A number never comes again, whoever owns the memory next.
 */
#ifndef CORE_RING_SEAL_H
#define CORE_RING_SEAL_H

#include <stdbool.h>
#include <stdint.h>

struct seal {
    uint64_t number; /* Atomic; by the functions below only. */
};

/* What was told of the memory does not hold any more. */
void seal_break(struct seal *seal);
/* Of what its owner has written since. */
uint64_t seal_number(const struct seal *seal);
bool seal_holds(const struct seal *seal, uint64_t number);

#endif /* CORE_RING_SEAL_H */
