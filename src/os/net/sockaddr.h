/*
 * sockaddr.h - IPv4 and IPv6 addresses under one roof (os/ only).
 */
#ifndef OS_SOCKADDR_H
#define OS_SOCKADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "os/net/net.h"

socklen_t sockaddr_size(const struct sockaddr_storage *address);
uint16_t sockaddr_port(const struct sockaddr_storage *address);
void sockaddr_set_port(struct sockaddr_storage *address, uint16_t port);
/* 127.0.0.0/8, ::1, and the former written as IPv6. */
bool sockaddr_loopback(const struct sockaddr_storage *address);
bool sockaddr_any(const struct sockaddr_storage *address);
bool sockaddr_same_host(const struct sockaddr_storage *a,
                        const struct sockaddr_storage *b);
/* In numbers. */
void sockaddr_host(const struct sockaddr_storage *address,
                   char host[NET_HOST_SIZE]);
/* False if `host` is not an address in numbers. */
bool sockaddr_parse(const char *host, struct sockaddr_storage *address);

/* Bytes sent on a TCP socket that have not arrived yet, as far as we know. */
size_t sockaddr_unacknowledged(int fd);

/* A second descriptor of a socket, closed on exec; -1 if there is none. */
int sockaddr_dup(int fd);

#endif /* OS_SOCKADDR_H */
