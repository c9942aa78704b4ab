/*
 * ring_train.h - a training by a ring of peers: what they are told, and what
 * the models are that they end with.
 *
 *     muster train (supervisor: screen, chaos, restarts)
 *       |-- peer w0    core/ring/peer.h: trainer, ledger, compute threads
 *       '-- peer w3    ... a folder of its own, OUT/w3, and the same model
 */
#ifndef NODE_RING_TRAIN_H
#define NODE_RING_TRAIN_H

#include "core/run/ledger.h"
#include "eval/objective.h"
#include "node/run/crew.h"
#include "node/run/train.h"
#include "os/net/net.h"
#include "os/net/token.h"
#include "os/run/board.h"

struct ring_train {
    const struct train_options *options;
    const struct objective *objective;
    const struct token *token;
    const struct net_listener *door; /* Of the first local peer. */
    int lock_fd;
    struct board *board; /* lending_new; NULL: slices go by sockets. */
    uint32_t sum_dims;   /* Of the vectors there. */
    struct ledger_options ledger;
    time_us beat_us, pulse_us, dead_us, gather_us;
    struct crew **running;              /* Set while there are processes. */
    const struct digest *chunk_digests; /* NULL: nobody joins without data. */
};

/* What the peers of the ring that this training is of tell each other. */
struct digest ring_config(const struct train_options *options,
                          const struct digest *config);

MUST_CHECK enum err ring_train_run(const struct ring_train *train,
                                   struct train_result *result,
                                   struct why *why);

#endif /* NODE_RING_TRAIN_H */
