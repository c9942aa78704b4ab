/*
 * peer_keys.h - the coordinator's part in what workers fetch from each other:
 * it draws the keys and says where whom can be found.
 *
 * The address is the one that the coordinator sees itself; only the port is
 * the worker's word, so that nobody can send others to a machine of its choice.
 */
#ifndef NODE_PEER_KEYS_H
#define NODE_PEER_KEYS_H

#include "core/msg.h"
#include "node/host/session.h"

/* The session's own key: drawn once, and the same for as long as it lasts. */
void peer_keys_serve(struct session *session, struct msg_serve *msg);
/* Where `source` (NULL: gone) is, and the key to it of worker `name`.  If that
 * cannot be said the fetch will fail, and the chunks be asked for. */
void peer_keys_introduce(const struct session *source, const char *name,
                         struct msg_fetch *msg);

#endif /* NODE_PEER_KEYS_H */
