/*
 * ring_news.h - one story out of what all peers of a ring tell.
 *
 * They all make the same steps and see the same others come and go, and any of
 * them may die in mid-sentence: the first word of each thing counts.
 */
#ifndef NODE_RING_NEWS_H
#define NODE_RING_NEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/key.h"
#include "core/msg.h"
#include "core/trace.h"

/* A name that was told of. */
struct ring_told {
    char name[NAME_SIZE];
    bool in;
};

/* Zeroed nothing was told. */
struct ring_news {
    struct ring_told told[PEERS_MAX];
    uint32_t told_count;
    uint32_t committed, passed; /* Steps told of, ... */
    struct round_key round;     /* ... the round, ... */
    bool done;                  /* ... and the end. */
};

/* Is it? */
bool ring_news(struct ring_news *news, const struct trace *trace);

#endif /* NODE_RING_NEWS_H */
