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

struct ring_train {
    const struct train_options *options;
    const struct objective *objective;
    const struct token *token;
    const struct net_listener *door; /* Of the first local peer. */
    int lock_fd;
    struct ledger_options ledger;
    time_us beat_us, dead_us, gather_us;
    struct crew **running; /* Set while there are processes. */
};

MUST_CHECK enum err ring_train_run(const struct ring_train *train,
                                   struct train_result *result,
                                   struct why *why);

#endif /* NODE_RING_TRAIN_H */
