#define _GNU_SOURCE
/*
 * sockaddr.c - one type for IPv4 and IPv6 addresses, and what the kernel says
 * of a connection: here alone the two families are told apart.
 */
#include "os/net/sockaddr.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>

/* Copies, because a sockaddr_storage may not be read as something else. */
static struct sockaddr_in in4(const struct sockaddr_storage *address)
{
    struct sockaddr_in in;

    memcpy(&in, address, sizeof in);
    return in;
}

static struct sockaddr_in6 in6(const struct sockaddr_storage *address)
{
    struct sockaddr_in6 in;

    memcpy(&in, address, sizeof in);
    return in;
}

socklen_t sockaddr_size(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                          : sizeof(struct sockaddr_in);
}

uint16_t sockaddr_port(const struct sockaddr_storage *address)
{
    return ntohs(address->ss_family == AF_INET6 ? in6(address).sin6_port
                                                : in4(address).sin_port);
}

void sockaddr_set_port(struct sockaddr_storage *address, uint16_t port)
{
    if (address->ss_family == AF_INET6) {
        struct sockaddr_in6 in = in6(address);

        in.sin6_port = htons(port);
        memcpy(address, &in, sizeof in);
    } else {
        struct sockaddr_in in = in4(address);

        in.sin_port = htons(port);
        memcpy(address, &in, sizeof in);
    }
}

bool sockaddr_loopback(const struct sockaddr_storage *address)
{
    const struct sockaddr_in6 six = in6(address);

    if (address->ss_family == AF_INET)
        return ntohl(in4(address).sin_addr.s_addr) >> 24 == 127;
    if (address->ss_family != AF_INET6)
        return false;
    if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr))
        return six.sin6_addr.s6_addr[12] == 127;
    return IN6_IS_ADDR_LOOPBACK(&six.sin6_addr);
}

bool sockaddr_any(const struct sockaddr_storage *address)
{
    const struct sockaddr_in6 six = in6(address);

    if (address->ss_family == AF_INET)
        return in4(address).sin_addr.s_addr == htonl(INADDR_ANY);
    return IN6_IS_ADDR_UNSPECIFIED(&six.sin6_addr);
}

bool sockaddr_same_host(const struct sockaddr_storage *a,
                        const struct sockaddr_storage *b)
{
    const struct sockaddr_in6 six_a = in6(a), six_b = in6(b);

    if (a->ss_family != b->ss_family)
        return false;
    if (a->ss_family == AF_INET)
        return in4(a).sin_addr.s_addr == in4(b).sin_addr.s_addr;
    return memcmp(&six_a.sin6_addr, &six_b.sin6_addr, sizeof six_a.sin6_addr) ==
           0;
}

void sockaddr_host(const struct sockaddr_storage *address,
                   char host[NET_HOST_SIZE])
{
    const struct sockaddr_in four = in4(address);
    const struct sockaddr_in6 six = in6(address);
    const void *bytes = address->ss_family == AF_INET6
                            ? (const void *)&six.sin6_addr
                            : (const void *)&four.sin_addr;

    if (inet_ntop(address->ss_family, bytes, host, NET_HOST_SIZE) == NULL)
        memcpy(host, "?", 2);
}

bool sockaddr_parse(const char *host, struct sockaddr_storage *address)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};

    memset(address, 0, sizeof *address);
    if (inet_pton(AF_INET, host, &four.sin_addr) == 1) {
        memcpy(address, &four, sizeof four);
        return true;
    }
    if (inet_pton(AF_INET6, host, &six.sin6_addr) == 1) {
        memcpy(address, &six, sizeof six);
        return true;
    }
    return false;
}

int sockaddr_dup(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

size_t sockaddr_unacknowledged(int fd)
{
    int bytes = 0;

    return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? (size_t)bytes : 0;
}
