/*
 * arithmetic.h - one digest of all that decides the bits of a model, whatever
 * the data: kernels, vectors, tallies, scales, optimisers.
 *
 * Machines tell it each other before they work together (HELLO), and a run's
 * configuration begins with it, so that state of one arithmetic is never
 * continued by another.  arithmetic_check makes sure that this machine keeps
 * what the digest promises.
 */
#ifndef NODE_ARITHMETIC_H
#define NODE_ARITHMETIC_H

#include "base/err.h"
#include "base/hash.h"
#include "math/golden/golden.h"

/* Of every layer that has any; returns how many. */
#define ARITHMETIC_PARTS_MAX 32u
size_t arithmetic_parts(struct golden_part parts[ARITHMETIC_PARTS_MAX]);

/* Names and golden vectors of parts, and of all that there are. */
struct digest arithmetic_digest_of(const struct golden_part *parts,
                                   size_t count);
struct digest arithmetic_digest(void);

/* ERR_MISMATCH, with a sentence, if this process computes other bits. */
MUST_CHECK enum err arithmetic_check(enum isa isa, struct why *why);

#endif /* NODE_ARITHMETIC_H */
