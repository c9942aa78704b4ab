/*
 * address.c - checks of addresses to listen on and to dial: nothing leaves this
 * machine without a key.
 */
#include "learn/address.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "os/file/file.h"
#include "os/net/interface.h"
#include "os/net/net.h"

/* By its name; the socket layer asks the resolver again before it connects. */
static bool is_loopback(const char *host)
{
    return host[0] == '\0' || strncmp(host, "127.", 4) == 0 ||
           strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0;
}

/* One address, or several with commas between: are they all of this machine? */
static enum err all_loopback(const char *address, bool *loopback,
                             struct why *why)
{
    *loopback = true;
    while (address != NULL) {
        const size_t size = strcspn(address, ",");
        struct net_address parsed;
        char one[NET_TEXT_SIZE];

        (void)snprintf(one, sizeof one, "%.*s", (int)size, address);
        if (size >= sizeof one || net_parse(one, &parsed, why) != ERR_OK)
            return ERR_RANGE;
        *loopback = *loopback && is_loopback(parsed.host);
        address = address[size] == ',' ? address + size + 1 : NULL;
    }
    return ERR_OK;
}

enum err address_check_dial(const char *where, const char *token_file,
                            const char *remedy, struct why *why)
{
    return address_check(file_find(where, NULL) != ERR_NOTFOUND ? NULL : where,
                         token_file, remedy, why);
}

enum err address_check(const char *address, const char *token_file,
                       const char *remedy, struct why *why)
{
    bool loopback;

    if (all_loopback(address, &loopback, why) != ERR_OK)
        return ERR_RANGE;
    if (token_file != NULL && file_find(token_file, NULL) == ERR_NOTFOUND)
        return why_set(why, ERR_NOTFOUND,
                       "--token-file %.200s: there is no such file; copy the "
                       "cluster's, or make one with `muster token new`",
                       token_file);
    if (token_file != NULL)
        return file_check_private(token_file, why);
    if (loopback)
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "%.200s is more than this machine, and that needs a key; %s",
                   address, remedy);
}

enum err address_of_interface(const char *interface, const char *listen,
                              char text[ADDRESS_SIZE], struct why *why)
{
    struct net_source source;
    struct net_address wanted = {.host = ""};
    const bool placed = listen != NULL && listen[0] != ':';

    static_assert(ADDRESS_SIZE > NET_TEXT_SIZE, "room for an address");
    if (net_source_find(interface, &source, why) != ERR_OK ||
        (listen != NULL && net_parse(listen, &wanted, why) != ERR_OK))
        return ERR_RANGE;
    if (placed && strcmp(wanted.host, net_source_host(&source)) != 0)
        return why_set(why, ERR_RANGE,
                       "--interface %.80s and --listen %.80s name two places; "
                       "write --listen :%u",
                       interface, listen, (unsigned)wanted.port);
    (void)snprintf(wanted.host, sizeof wanted.host, "%s",
                   net_source_host(&source));
    (void)net_text(&wanted, text);
    return ERR_OK;
}

static bool is_everywhere(const char *listen)
{
    struct net_address wanted;

    return listen != NULL && net_parse(listen, &wanted, NULL) == ERR_OK &&
           (strcmp(wanted.host, "0.0.0.0") == 0 ||
            strcmp(wanted.host, "::") == 0);
}

const char *address_for_others(const char *listen, const char *local,
                               char text[ADDRESS_SIZE])
{
    struct net_address address;

    if (!is_everywhere(listen) || net_parse(local, &address, NULL) != ERR_OK) {
        (void)snprintf(text, ADDRESS_SIZE, "%s", local);
        return text;
    }
    net_own_name(address.host);
    return net_text(&address, text);
}
