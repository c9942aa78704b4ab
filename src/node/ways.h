/*
 * ways.h - ways to the coordinator: `HOST:PORT[,HOST:PORT...]`.
 */
#ifndef NODE_WAYS_H
#define NODE_WAYS_H

#include <stdint.h>

#include "base/err.h"
#include "core/msg.h"
#include "os/net.h"

#define WAYS_MAX 8u

MUST_CHECK enum err ways_parse(const char *text,
                               struct net_address addresses[WAYS_MAX],
                               uint32_t *count, struct why *why);

/* The host's name up to the first dot and the process id: unique and told
 * apart at a glance. */
void ways_own_name(char name[NAME_SIZE]);

#endif /* NODE_WAYS_H */
