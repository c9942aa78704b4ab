#define _GNU_SOURCE
/*
 * net.c - parsing of HOST:PORT and the listening socket.  A port of the
 * system's choice is never one that browsers and others expect another protocol
 * at.
 */
#include "os/net/net.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/net/sockaddr.h"

#define LOOPBACK     "127.0.0.1"
#define PORT_RETRIES 16

/* Ports that people of this field know as torchrun's, Redis's, Ray's, Dask's
 * and Prometheus's. */
static const uint16_t reserved[] = {29400, 29500, 6379, 8265, 8786, 8787, 9090};

static bool port_reserved(uint16_t port)
{
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
        if (reserved[i] == port)
            return true;
    }
    return false;
}

static enum err parse_port(const char *text, const char *whole, uint16_t *port,
                           struct why *why)
{
    char *end;
    const unsigned long value = strtoul(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end != '\0' || value > 65535)
        return why_set(why, ERR_FORMAT,
                       "%s: \"%s\" is not a port; write HOST:PORT with a port "
                       "of 1 to 65535",
                       whole, text);
    *port = (uint16_t)value;
    return ERR_OK;
}

enum err net_parse(const char *text, struct net_address *address,
                   struct why *why)
{
    struct net_address made = {0};
    const char *colon = strrchr(text, ':');
    const char *host = text;
    size_t size = colon != NULL ? (size_t)(colon - text) : strlen(text);
    enum err err = ERR_OK;

    if (text[0] == '[') {
        const char *close = strchr(text, ']');

        if (close == NULL || (close[1] != '\0' && close[1] != ':'))
            return why_set(why, ERR_FORMAT, "%s: write [ADDRESS]:PORT for IPv6",
                           text);
        host = text + 1;
        size = (size_t)(close - host);
        colon = close[1] == ':' ? close + 1 : NULL;
    } else if (colon != NULL && strchr(text, ':') != colon) {
        return why_set(why, ERR_FORMAT, "%s: write [ADDRESS]:PORT for IPv6",
                       text);
    }
    if (size >= sizeof made.host)
        return why_set(why, ERR_TOOBIG, "%.40s...: host name too long", text);
    memcpy(made.host, host, size);
    if (size == 0)
        memcpy(made.host, LOOPBACK, sizeof LOOPBACK);
    if (colon != NULL)
        err = parse_port(colon + 1, text, &made.port, why);
    if (err == ERR_OK)
        *address = made;
    return err;
}

char *net_text(const struct net_address *address, char text[NET_TEXT_SIZE])
{
    if (strchr(address->host, ':') != NULL)
        (void)snprintf(text, NET_TEXT_SIZE, "[%.250s]:%u", address->host,
                       (unsigned)address->port);
    else
        (void)snprintf(text, NET_TEXT_SIZE, "%.250s:%u", address->host,
                       (unsigned)address->port);
    return text;
}

bool net_is_number(const char *host)
{
    struct sockaddr_storage address;

    return sockaddr_parse(host, &address);
}

bool net_is_loopback(const struct net_address *address)
{
    struct sockaddr_storage found;

    return sockaddr_parse(address->host, &found) && sockaddr_loopback(&found);
}

void net_own_name(char name[NET_HOST_SIZE])
{
    if (gethostname(name, NET_HOST_SIZE) != 0 || name[0] == '\0')
        memcpy(name, "worker", sizeof "worker");
    name[NET_HOST_SIZE - 1] = '\0';
}

static enum err resolve(const struct net_address *wanted,
                        struct sockaddr_storage *found, struct why *why)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE};
    struct addrinfo *list;
    const int error = getaddrinfo(wanted->host, NULL, &hints, &list);

    if (error != 0)
        return why_set(why, ERR_NOTFOUND, "%s: %s", wanted->host,
                       gai_strerror(error));
    memset(found, 0, sizeof *found);
    memcpy(found, list->ai_addr, list->ai_addrlen);
    freeaddrinfo(list);
    return ERR_OK;
}

/* A bound, listening socket, or -1 and errno. */
static int listen_on(struct sockaddr_storage *address, uint16_t port)
{
    const int yes = 1;
    int fd, error;

    sockaddr_set_port(address, port);
    fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    /* Connections have it from the listener. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (bind(fd, (const struct sockaddr *)address, sockaddr_size(address)) ==
            0 &&
        listen(fd, SOMAXCONN) == 0)
        return fd;
    error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

static uint16_t bound_port(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;

    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return 0;
    return sockaddr_port(&address);
}

/* A free port of the system's choice that nobody expects something else at. */
static int listen_anywhere(struct sockaddr_storage *address)
{
    for (int i = 0; i < PORT_RETRIES; i++) {
        const int fd = listen_on(address, 0);

        if (fd < 0 || !port_reserved(bound_port(fd)))
            return fd;
        (void)close(fd);
    }
    errno = EADDRINUSE;
    return -1;
}

static void describe(struct net_listener *listener,
                     struct sockaddr_storage *address)
{
    listener->bound.port = bound_port(listener->fd);
    sockaddr_host(address, listener->bound.host);
    listener->local = listener->bound;
    if (sockaddr_any(address))
        (void)snprintf(listener->local.host, sizeof listener->local.host, "%s",
                       address->ss_family == AF_INET6 ? "::1" : LOOPBACK);
}

enum err net_listen(const struct net_address *wanted, bool loopback_only,
                    struct net_listener *listener, struct why *why)
{
    struct net_listener made = {.fd = -1};
    struct sockaddr_storage address;
    enum err err = resolve(wanted, &address, why);

    if (err != ERR_OK)
        return err;
    if (loopback_only && !sockaddr_loopback(&address))
        return why_set(why, ERR_DENIED,
                       "%s is not loopback and there is no token: make one "
                       "with `muster token new FILE` and give it with "
                       "--token-file, or listen on 127.0.0.1",
                       wanted->host);
    if (wanted->port != 0 && !port_reserved(wanted->port))
        made.fd = listen_on(&address, wanted->port);
    if (made.fd < 0 && (wanted->port == 0 || port_reserved(wanted->port) ||
                        errno == EADDRINUSE)) {
        made.fd = listen_anywhere(&address);
        made.moved = wanted->port != 0;
    }
    if (made.fd < 0)
        return why_set(why, ERR_IO, "cannot listen on %s port %u: %s",
                       wanted->host, (unsigned)wanted->port, strerror(errno));
    describe(&made, &address);
    *listener = made;
    return ERR_OK;
}

void net_close(struct net_listener *listener)
{
    if (listener->fd >= 0)
        (void)close(listener->fd);
    listener->fd = -1;
}
