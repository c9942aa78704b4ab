/*
 * interface.h - which of this machine's addresses to listen on and dial from.
 */
#ifndef OS_INTERFACE_H
#define OS_INTERFACE_H

#include <stdbool.h>

#include "base/err.h"
#include "os/net/net.h"

/* The addresses of one network card, in numbers; "" where it has none. */
struct net_source {
    char four[NET_HOST_SIZE];
    char six[NET_HOST_SIZE]; /* Not of the link only. */
};

/* By the card's name ("eth0") or by one of its addresses, which is then the
 * only one.  ERR_NOTFOUND: the sentence lists the cards there are. */
MUST_CHECK enum err net_source_find(const char *text, struct net_source *source,
                                    struct why *why);
/* Where to listen: IPv4 if it has both. */
const char *net_source_host(const struct net_source *source);

#endif /* OS_INTERFACE_H */
