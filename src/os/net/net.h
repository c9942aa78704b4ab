/*
 * net.h - addresses as people write them, and the listening socket.
 *
 * The socket is opened by the supervisor before it forks, so that every life
 * of the coordinator listens at the same address and connections made while
 * there is none wait in the kernel.
 */
#ifndef OS_NET_H
#define OS_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define NET_HOST_SIZE 256u
#define NET_TEXT_SIZE (NET_HOST_SIZE + 10u)

struct net_address {
    char host[NET_HOST_SIZE]; /* A name or a number, without brackets. */
    uint16_t port;            /* 0 = any. */
};

/* "HOST:PORT", "[::1]:PORT", "HOST" (any port), ":PORT" (loopback). */
MUST_CHECK enum err net_parse(const char *text, struct net_address *address,
                              struct why *why);
/* As net_parse reads it; returns `text`. */
char *net_text(const struct net_address *address, char text[NET_TEXT_SIZE]);

/* Is it an address in numbers, which nobody has to look up? */
bool net_is_number(const char *host);

/* Is it, in numbers, of this machine alone? */
bool net_is_loopback(const struct net_address *address);

/* What this machine calls itself; "worker" if it has no name. */
void net_own_name(char name[NET_HOST_SIZE]);

struct net_listener {
    int fd;
    struct net_address bound; /* Numeric host and the real port. */
    struct net_address local; /* Where a process of this machine dials it. */
    bool moved;               /* The wanted port was taken or reserved. */
};

/* Bind and listen.  A port that is taken, or that another well-known program
 * uses, is replaced by a free one.  ERR_DENIED if `loopback_only` and the
 * address is not loopback. */
MUST_CHECK enum err net_listen(const struct net_address *wanted,
                               bool loopback_only,
                               struct net_listener *listener, struct why *why);
void net_close(struct net_listener *listener);

#endif /* OS_NET_H */
