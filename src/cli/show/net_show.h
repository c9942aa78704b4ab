/*
 * net_show.h - a network's layers, shapes and needs, for people and programs.
 */
#ifndef CLI_NET_SHOW_H
#define CLI_NET_SHOW_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "model/net/neural_model.h"

struct net_work {
    uint32_t samples; /* That go forward and back together. */
    size_t bytes;     /* Activations, gradients, scratch, what is sent. */
};

/* What those who train it take of memory, in bytes: a worker weights and link,
 * and `all` if it computes its part in one (uncoded), `one` if a microbatch at
 * a time (steal); the coordinator steers, and an answer for each worker. */
struct net_needs {
    uint32_t threads; /* Of the worker. */
    size_t weights;   /* For all of them. */
    size_t link;      /* What a connection keeps of messages. */
    struct net_work all, one;
    size_t steers, answer;
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
