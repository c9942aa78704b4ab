/*
 * gather.h - all that a machine without data needs to be a peer of a ring, from
 * whichever peers are there.
 *
 *     dial --> HELLO --> TERMS --> papers (papers.h) --> chunks --> a peer
 *               |          ^                               |
 *               '- REJECT  '-- other peers that it names --'
 *
 * Any peer gives TERMS: who else is there, and where it serves papers and
 * chunks, which are believed by their digests.  So it does not matter who is
 * asked, chunks come from several at a time, and one that dies or falls silent
 * on the way costs what it had not sent.  Nobody of the ring waits, or knows:
 * only who has all rows says MEET.
 */
#ifndef NODE_RING_GATHER_H
#define NODE_RING_GATHER_H

#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "data/rows/dataset.h"
#include "node/ring/papers.h"
#include "node/worker/supply.h"
#include "os/net/interface.h"
#include "os/net/net.h"
#include "os/net/token.h"

#define GATHER_PLACES 8u

struct gather_options {
    const struct net_address *addresses;
    uint32_t address_count; /* At most GATHER_PLACES. */
    const struct token *token;
    const struct net_source *source; /* To dial from; NULL: any. */
    const char *name;
    struct supply_options supply;
    time_us give_up_us; /* Nothing came for so long. */
};

struct gathered {
    struct digest config;         /* The ring's. */
    char own_host[NET_HOST_SIZE]; /* Of this machine, as it reached it. */
    struct net_address places[GATHER_PLACES]; /* Of peers that were there. */
    uint32_t place_count;
    uint8_t *bytes; /* What `papers` are views of. */
    struct papers papers;
    struct dataset data; /* All chunks, without labels' names. */
};

/* ERR_CANCELLED: told to leave (SIGTERM, SIGINT); ERR_TIMEOUT, ERR_DENIED and
 * others with a sentence. */
MUST_CHECK enum err gather_run(const struct gather_options *options,
                               struct gathered *gathered, struct why *why);
void gathered_close(struct gathered *gathered); /* Zeroed is safe. */

#endif /* NODE_RING_GATHER_H */
