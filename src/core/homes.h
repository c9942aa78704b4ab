/*
 * homes.h - private data: rows that never leave their owner's machine.
 *
 * A home is one owner's file, known by the digest of its contents; several
 * workers who have that very file are all its owners.  The data set of such a
 * job is the homes one after the other, in the order of their digests, each
 * with whole chunks of its own: the last chunk of a home may be short.
 *
 *     home      |<---- 0 ---->|<- 1 ->|<------ 2 ------>|
 *     chunk      0   1   2  3   4   5   6   7   8   9  10
 *     rows      C   C   C  <C  C  <C   C   C   C   C  <C     C = chunk_rows
 *
 * The coordinator has no rows: it knows how many there are, and whose.
 */
#ifndef CORE_HOMES_H
#define CORE_HOMES_H

#include <stdint.h>

#include "base/hash.h"

#define HOMES_MAX 1024u

struct home {
    struct digest part;  /* Of the owner's rows. */
    uint32_t first, end; /* Chunks. */
    uint32_t rows;
};

#endif /* CORE_HOMES_H */
