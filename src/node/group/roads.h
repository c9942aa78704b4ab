/*
 * roads.h - the links of a member of a group, by the numbers that
 * core/sum/sum.h gives them: those it dialled and those it accepted.
 *
 * ORDER.  The machine is told what a link brings in the order in which it was
 * sent, and a link is two connections.  So only what may overtake goes by the
 * control plane (sum_is_urgent).
 */
#ifndef NODE_GROUP_ROADS_H
#define NODE_GROUP_ROADS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/sum/sum.h"
#include "node/group/vectors.h"
#include "os/net/link.h"
#include "wire/sum_codec.h"

struct roads_events {
    /* A dialled one; `own_host` is this machine's end of it. */
    void (*up)(void *context, uint32_t number, const char *own_host);
    void (*down)(void *context, uint32_t number);
    /* HELLO of an accepted one: the same of our end. */
    void (*met)(void *context, const char *own_host);
    /* `arrived`: what is long was put together there, and is left to whoever
     * wants it (vectors.h). */
    void (*message)(void *context, uint32_t number, const struct sum_msg *msg,
                    struct vector *arrived);
    /* Never to be let in: another token, no such program. */
    void (*refused)(void *context, const char *why);
};

struct roads {
    struct link_hub *hub;
    const struct roads_events *events;
    void *context;
    struct link *links[SUM_LINKS];
    bool up[SUM_LINKS];
    struct vector inboxes[SUM_LINKS];
    uint64_t room_max; /* Bytes of a vector; 0 until the group said so. */
    struct sum_codec_room room;
    uint8_t *head; /* Of a message, without its vector. */
};

MUST_CHECK enum err roads_open(struct roads *roads, struct loop *loop,
                               const struct token *token, bool plain,
                               const struct roads_events *events,
                               void *context);
void roads_close(struct roads *roads); /* Accepts a zeroed one. */

/* `up` or `down` follows, also if the place cannot be read. */
MUST_CHECK enum err roads_dial(struct roads *roads, uint32_t number,
                               const char *place);
/* With `size` bytes of `piece`, if it is not NULL.  A number without a link
 * swallows it. */
void roads_send(struct roads *roads, uint32_t number, const struct sum_msg *msg,
                struct blob *piece, size_t size);
/* What is queued is still sent. */
void roads_drop(struct roads *roads, uint32_t number);
void roads_drop_all(struct roads *roads);

#endif /* NODE_GROUP_ROADS_H */
