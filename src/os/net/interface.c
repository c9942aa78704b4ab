#define _GNU_SOURCE
/*
 * interface.c - the addresses of this machine's network cards (getifaddrs), by
 * a card's name or one of its addresses.  Link-local addresses are left out:
 * nobody else could dial them.
 */
#include "os/net/interface.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "os/net/sockaddr.h"

#define NAMES_SIZE 160u

/* The address of an entry; false for what is no address of ours to use. */
static bool address_of(const struct ifaddrs *entry,
                       struct sockaddr_storage *address)
{
    struct sockaddr_in6 six;

    if (entry->ifa_addr == NULL || (entry->ifa_flags & IFF_UP) == 0)
        return false;
    memset(address, 0, sizeof *address);
    if (entry->ifa_addr->sa_family == AF_INET) {
        memcpy(address, entry->ifa_addr, sizeof(struct sockaddr_in));
        return true;
    }
    if (entry->ifa_addr->sa_family != AF_INET6)
        return false;
    memcpy(&six, entry->ifa_addr, sizeof six);
    memcpy(address, &six, sizeof six);
    return !IN6_IS_ADDR_LINKLOCAL(&six.sin6_addr);
}

static void keep(struct net_source *source,
                 const struct sockaddr_storage *address)
{
    char *host = address->ss_family == AF_INET6 ? source->six : source->four;

    if (host[0] == '\0')
        sockaddr_host(address, host);
}

static void collect(const struct ifaddrs *list, const char *name,
                    const struct sockaddr_storage *wanted,
                    struct net_source *source)
{
    struct sockaddr_storage address;

    for (; list != NULL; list = list->ifa_next) {
        if (!address_of(list, &address))
            continue;
        if (wanted != NULL ? sockaddr_same_host(&address, wanted)
                           : strcmp(list->ifa_name, name) == 0)
            keep(source, &address);
    }
}

/* "lo, eth0", each once. */
static void list_names(const struct ifaddrs *list, char names[NAMES_SIZE])
{
    size_t used = 0;

    names[0] = '\0';
    for (const struct ifaddrs *at = list; at != NULL; at = at->ifa_next) {
        struct sockaddr_storage address;
        bool seen = false;

        for (const struct ifaddrs *old = list; old != at; old = old->ifa_next)
            seen = seen || (address_of(old, &address) &&
                            strcmp(old->ifa_name, at->ifa_name) == 0);
        if (seen || !address_of(at, &address))
            continue;
        used += (size_t)snprintf(names + used, NAMES_SIZE - used, "%s%.15s",
                                 used == 0 ? "" : ", ", at->ifa_name);
        if (used >= NAMES_SIZE)
            return; /* More than anyone will read. */
    }
}

enum err net_source_find(const char *text, struct net_source *source,
                         struct why *why)
{
    struct net_source made = {.four = ""};
    struct sockaddr_storage wanted;
    const bool numeric = sockaddr_parse(text, &wanted);
    char names[NAMES_SIZE];
    struct ifaddrs *list;

    if (getifaddrs(&list) != 0)
        return why_set(why, ERR_IO, "the network cards cannot be listed");
    collect(list, text, numeric ? &wanted : NULL, &made);
    list_names(list, names);
    freeifaddrs(list);
    if (made.four[0] == '\0' && made.six[0] == '\0')
        return why_set(why, ERR_NOTFOUND,
                       "--interface %.80s: this machine has no such network "
                       "card or address; there are %s",
                       text, names);
    *source = made;
    return ERR_OK;
}

const char *net_source_host(const struct net_source *source)
{
    return source->four[0] != '\0' ? source->four : source->six;
}
