/*
 * peer_say.h - what a peer says aloud, in lines that people read.
 */
#ifndef NODE_RING_PEER_SAY_H
#define NODE_RING_PEER_SAY_H

#include "core/ring/peer.h"
#include "core/trace.h"
#include "node/ring/peer_node.h"

/* Of who is shut out, was wrong, or is waited for. */
void peer_say_trace(const struct trace *trace);
/* ... and if nobody has answered where it dials others, nor come from there. */
void peer_say_unreached(const struct peer *peer,
                        const struct peer_node_options *options);

#endif /* NODE_RING_PEER_SAY_H */
