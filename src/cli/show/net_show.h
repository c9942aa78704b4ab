/*
 * net_show.h - a network's layers, shapes and needs, for people and programs.
 */
#ifndef CLI_NET_SHOW_H
#define CLI_NET_SHOW_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "model/net/neural_model.h"

/* What a worker that trains it takes of memory. */
struct net_needs {
    uint32_t samples, threads; /* At a time; of the worker. */
    size_t weights;            /* Bytes for all of them. */
    size_t work;               /* Activations, gradients, scratch. */
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
