/*
 * in_loop.h - which pieces a worker computes in its loop, and which a thread
 * computes beside it.
 *
 * To wake the thread and to be woken by it costs more than a short piece; but
 * whoever computes in the loop hears no CANCEL meanwhile.  So up to QUICK_US
 * are computed there, and as much as CALM_US if the loop has nothing else to
 * do: vectors lie on the board, so that none is to be sent, the round has no
 * other piece that might be dropped, and nobody cancels.  That shows in the
 * first CALM_LOOKS pieces of every CALM_PIECES, which the thread computes: a
 * CANCEL that comes after a piece is no longer told of.
 *
 * A ring's peer has a limit of its own (node/ring/compute.c).
 */
#ifndef NODE_IN_LOOP_H
#define NODE_IN_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "math/computation.h"

#define QUICK_US    1000
#define CALM_US     4000
#define CALM_PIECES 64u
#define CALM_LOOKS  8u

/* Zeroed: nothing is known yet. */
struct in_loop {
    int64_t chunk_ns;          /* What one chunk took last; 0: not known ... */
    enum evaluation_kind kind; /* ... if this is asked for. */
    uint32_t calm;             /* Pieces since one was cancelled. */
    int64_t kept_us;           /* The loop has been kept by such pieces. */
};

/* The next piece: is it for the loop?  `idle`: it has nothing else to do. */
bool in_loop_takes(struct in_loop *loop, const struct computation *piece,
                   bool idle);
/* The rule: it takes no longer than so, nor do those together that kept the
 * loop since it looked. */
bool in_loop_fits(const struct in_loop *loop, const struct computation *piece,
                  int64_t most_us);
/* A piece took as long; the last one tells how long the next one takes, but
 * not if it was called off. */
void in_loop_note(struct in_loop *loop, const struct computation *piece,
                  enum err err, int64_t took_us);
/* It was computed in the loop, ... */
void in_loop_kept(struct in_loop *loop, int64_t took_us);
/* ... which has looked at what came meanwhile. */
void in_loop_looked(struct in_loop *loop);
void in_loop_cancelled(struct in_loop *loop);

#endif /* NODE_IN_LOOP_H */
