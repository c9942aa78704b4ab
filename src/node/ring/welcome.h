/*
 * welcome.h - what a peer of a ring does for machines that come without data:
 * it tells them the terms (TERMS) and serves papers and chunks.
 *
 * The server (node/worker/peer_server.h) listens from the first such machine
 * on, with a key of this process's own, from which each guest has one by its
 * name.  A guest is nobody in the ring until it says MEET.
 */
#ifndef NODE_RING_WELCOME_H
#define NODE_RING_WELCOME_H

#include "base/err.h"
#include "core/msg.h"
#include "core/ring/peer.h"
#include "data/rows/dataset.h"
#include "node/ring/papers.h"
#include "os/run/loop.h"

struct welcome;

/* `papers` NULL, or of size 0: nobody may join.  Borrows all. */
MUST_CHECK enum err welcome_new(struct loop *loop,
                                const struct papers_kept *papers,
                                const struct dataset *data, const char *host,
                                struct welcome **welcome);
void welcome_free(struct welcome *welcome); /* Accepts NULL. */

/* The terms for who said this HELLO; or why it cannot join. */
const char *welcome_answer(struct welcome *welcome, const struct peer *peer,
                           const struct msg_hello *hello,
                           struct msg_terms *terms);

#endif /* NODE_RING_WELCOME_H */
