/*
 * net_show.h - a network's layers, shapes and needs, for people and programs.
 */
#ifndef CLI_NET_SHOW_H
#define CLI_NET_SHOW_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "model/net/neural_model.h"

/* What a worker that trains it takes of memory: weights, link and work if it
 * computes its part in one (uncoded); with `steal`, where it computes a
 * microbatch at a time, weights, link and least, and up to under_way more. */
struct net_needs {
    uint32_t samples, micro; /* At a time, at most and at least. */
    uint32_t threads;        /* Of the worker. */
    size_t weights;          /* Bytes for all of them. */
    size_t link;             /* What a connection keeps of messages. */
    size_t under_way; /* Answers and weights of which there may be two. */
    size_t steers, steers_most; /* The coordinator, in bytes. */
    size_t work, least; /* Activations, gradients, scratch: of `samples` and
                           `micro`. */
};

/* ERR_UNSUPPORTED, with a sentence: this machine cannot train networks.
 * ERR_NOMEM. */
MUST_CHECK enum err net_needs(const struct neural *net, uint32_t micro,
                              uint32_t threads, struct net_needs *needs,
                              struct why *why);
void net_show(const struct neural_model *model, const struct net_needs *needs);
/* An object without a hash or labels: those are the file's. */
json_t *net_json(const struct neural_model *model,
                 const struct net_needs *needs);

#endif /* CLI_NET_SHOW_H */
