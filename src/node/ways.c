#include "node/ways.h"

#include <stdio.h>
#include <string.h>

#include "os/process.h"
#include "wire/codec.h"

#define HOST_LETTERS 48

void ways_own_name(char name[NAME_SIZE])
{
    char host[NET_HOST_SIZE];
    size_t size;

    net_own_name(host);
    size = strcspn(host, ".");
    for (size_t i = 0; i < size; i++) {
        const char one[2] = {host[i], '\0'};

        if (!codec_name_valid(one))
            host[i] = '-';
    }
    (void)snprintf(name, NAME_SIZE, "%.*s-%u",
                   (int)(size < HOST_LETTERS ? size : HOST_LETTERS), host,
                   process_own_pid());
}

static enum err parse_one(const char *text, size_t size,
                          struct net_address *address, struct why *why)
{
    char one[NET_TEXT_SIZE];
    enum err err;

    if (size >= sizeof one)
        return why_set(why, ERR_FORMAT, "%.80s...: the address is too long",
                       text);
    memcpy(one, text, size);
    one[size] = '\0';
    err = net_parse(one, address, why);
    if (err == ERR_OK && address->port == 0)
        err = why_set(why, ERR_FORMAT, "%.200s: which port? write HOST:PORT",
                      one);
    return err;
}

enum err ways_parse(const char *text, struct net_address addresses[WAYS_MAX],
                    uint32_t *count, struct why *why)
{
    uint32_t found = 0;

    for (;;) {
        const size_t size = strcspn(text, ",");
        enum err err;

        if (found == WAYS_MAX)
            return why_set(why, ERR_FORMAT, "more than %u addresses", WAYS_MAX);
        err = parse_one(text, size, &addresses[found++], why);
        if (err != ERR_OK)
            return err;
        if (text[size] == '\0')
            break;
        text += size + 1;
    }
    *count = found;
    return ERR_OK;
}
