/*
 * relay_parts.h - the relay's files to each other; nobody else's.
 *
 *   relay.c         init, close, step; greetings, links and time
 *   relay_leaves.c  who is behind it, and what each still owes
 *   relay_round.c   the round on its way down
 *   relay_merge.c   answers on their way up
 */
#ifndef CORE_RELAY_PARTS_H
#define CORE_RELAY_PARTS_H

#include "core/relay/relay.h"

static inline bool relay_range_ok(const struct relay *relay, uint32_t first,
                                  uint32_t end)
{
    return first < end && end <= relay->job.chunks;
}

/* relay_leaves.c */
struct msg *relay_send(struct actions *actions, uint32_t link, uint32_t leaf,
                       enum msg_kind kind);
/* As it came, but for the number. */
void relay_pass(struct actions *actions, const struct msg *msg, uint32_t link,
                uint32_t leaf);
/* As those above call it; NULL: it went meanwhile. */
struct relay_leaf *relay_leaf_numbered(struct relay *relay, uint32_t number);
/* The worker on `link`, or the leaf `sub` of the relay there; NULL: none. */
struct relay_leaf *relay_leaf_on(struct relay *relay, uint32_t link,
                                 uint32_t sub);
/* NULL: there is no room. */
struct relay_leaf *relay_leaf_new(struct relay *relay, uint32_t link,
                                  uint32_t sub);
uint32_t relay_leaf_index(const struct relay *relay,
                          const struct relay_leaf *leaf);
void relay_leaf_owes(struct relay *relay, struct relay_leaf *leaf,
                     uint32_t owes);
/* It owes one answer less. */
void relay_leaf_answered(struct relay *relay, struct relay_leaf *leaf);
/* What it answered still counts. */
void relay_leaf_free(struct relay *relay, struct relay_leaf *leaf,
                     struct actions *actions);
/* The one above does not want it any more. */
void relay_leaf_dismiss(struct relay *relay, struct relay_leaf *leaf,
                        struct actions *actions);
/* It is gone: the one above is told. */
void relay_leaf_lost(struct relay *relay, struct relay_leaf *leaf,
                     struct actions *actions);
/* ... and so are all behind this link. */
void relay_link_lost(struct relay *relay, uint32_t link,
                     struct actions *actions);

/* relay_round.c */
/* Weights and scale for all. */
void relay_cast(struct relay *relay, const struct msg_round *msg,
                struct actions *actions);
/* The leaf's share of the round, and the round itself if it, or the relay it
 * is behind, does not have it.  Asked for again, an answer counts again. */
void relay_task(struct relay *relay, struct relay_leaf *leaf,
                const struct msg *msg, struct actions *actions);
/* RELAY-2: pieces that are not to be merged. */
void relay_alone(struct relay *relay, const struct msg *msg,
                 struct actions *actions);
void relay_work(struct relay *relay, struct relay_leaf *leaf,
                const struct msg_work *work);
void relay_drop(struct relay *relay, struct relay_leaf *leaf,
                const struct msg_work *drop, struct actions *actions);
void relay_cancel(struct relay *relay, const struct msg_cancel *msg);
/* To those that are still at it; to all, if it has overtaken its round. */
void relay_cancel_all(struct relay *relay, const struct msg *msg,
                      struct actions *actions);

/* relay_merge.c */
void relay_tally(struct relay *relay, struct relay_leaf *leaf,
                 const struct msg *msg, struct actions *actions);
/* False: no relay can have merged it (RELAY-6). */
MUST_CHECK bool relay_sum(struct relay *relay, uint32_t link,
                          const struct msg *msg, struct actions *actions);
/* What is held goes up, once a step at most: a second time is put off to the
 * next moment, because the first message still points at its buffer. */
void relay_flush(struct relay *relay, struct actions *actions);
/* The same once nobody owes an answer. */
void relay_flush_complete(struct relay *relay, struct actions *actions);

#endif /* CORE_RELAY_PARTS_H */
