/*
 * peer_keys.c - introductions between workers: a key for each server of chunks,
 * from which the key of each of its guests is derived.
 */
#include "node/star/peer_keys.h"

#include <stdio.h>
#include <string.h>

#include "os/random.h"

void peer_keys_serve(struct session *session, struct msg_serve *msg)
{
    if (session->serving.name[0] == '\0') {
        (void)snprintf(session->serving.name, sizeof session->serving.name,
                       "%s", TOKEN_CLUSTER);
        random_fill(session->serving.key, sizeof session->serving.key);
    }
    memcpy(msg->key, session->serving.key, PEER_KEY);
}

void peer_keys_introduce(const struct session *source, const char *name,
                         struct msg_fetch *msg)
{
    char host[NET_HOST_SIZE];

    if (source == NULL || source->serving.name[0] == '\0' ||
        strcmp(name, TOKEN_CLUSTER) == 0 || !link_host(source->link, host) ||
        strlen(host) >= sizeof msg->host ||
        !token_key_of(&source->serving, name, msg->key)) {
        msg->port = 0;
        return;
    }
    memcpy(msg->host, host, strlen(host) + 1);
}
