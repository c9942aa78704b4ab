#include "cli/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "os/file.h"
#include "os/net.h"

/* By its name; the socket layer asks the resolver again before it connects. */
static bool is_loopback(const char *host)
{
    return host[0] == '\0' || strncmp(host, "127.", 4) == 0 ||
           strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0;
}

enum err address_check(const char *address, const char *token_file,
                       const char *remedy, struct why *why)
{
    struct net_address parsed = {.host = ""};

    if (address != NULL && net_parse(address, &parsed, why) != ERR_OK)
        return ERR_RANGE;
    if (token_file != NULL)
        return file_check_private(token_file, why);
    if (is_loopback(parsed.host))
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "%.200s is more than this machine, and that needs a key; %s",
                   address, remedy);
}
