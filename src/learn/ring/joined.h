/*
 * joined.h - `muster join` where a ring is: a machine that brings nothing but
 * processors becomes a peer like all others, and ends with the model.
 */
#ifndef LEARN_JOINED_H
#define LEARN_JOINED_H

#include "learn/setup.h"
#include "node/run/train.h"
#include "node/worker/worker_node.h"

struct joined_options {
    const struct join_options *join; /* Where to, and by what name. */
    const char *token_file;          /* The cluster's. */
    const char *listen;              /* For other peers; NULL: any port. */
    const char *save; /* What the model is to be called; NULL: nothing. */
};

struct joined {
    struct setup setup; /* As if it had been loaded here. */
    struct train_result result;
};

/* ERR_CANCELLED: told to leave before it had all rows. */
MUST_CHECK enum err joined_run(const struct joined_options *options,
                               struct joined *joined, struct why *why);
void joined_close(struct joined *joined); /* Zeroed is safe. */

#endif /* LEARN_JOINED_H */
