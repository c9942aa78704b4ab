/*
 * link_dial.c - the dialling side: a name becomes addresses, which are tried
 * one after the other; one that swallows packets is given up for the next.
 */
#include <netdb.h>
#include <string.h>

#include "os/clock.h"
#include "os/net/link_parts.h"
#include "os/net/sockaddr.h"
#include "os/random.h"
#include "os/run/loop_parts.h"

#define ADDRESS_US SECOND_US /* For one address while there are more. */

static void dial_next(struct link *link);

static bool more_addresses(const struct link *link)
{
    return link->address_at + 1 < link->address_count;
}

/* The next address; the connection to this one closes on its own. */
static void next_address(struct link *link)
{
    struct conn *conn = link->conn[PLANE_CONTROL];

    link->conn[PLANE_CONTROL] = NULL;
    conn->link = NULL;
    stranger_add(link->hub, conn);
    conn_close(conn);
    link->address_at++;
    dial_next(link);
}

bool link_address_silent(const struct link *link, time_us now)
{
    const struct conn *conn = link->conn[PLANE_CONTROL];

    return link->dialled && !link->closing &&
           (more_addresses(link) || link->hub->options.elsewhere) &&
           now >= link->address_until && conn != NULL && !conn->closing &&
           !conn->reached;
}

void link_address_late(struct link *link)
{
    if (more_addresses(link))
        next_address(link);
    else
        link_end(link, LINK_LOST, "no answer from there");
}

static void on_connected(uv_connect_t *request, int status)
{
    struct conn *conn = request->data;
    struct link *link = conn->link;

    if (conn->closing)
        return;
    if (status == 0) {
        conn->reached = true;
        conn_begin(conn, link->hub->client, false);
        return;
    }
    if (conn->plane == PLANE_CONTROL && more_addresses(link)) {
        next_address(link);
        return;
    }
    conn_fail(conn, LINK_LOST, uv_strerror(status));
}

static const char *source_of(const struct net_source *source, int family)
{
    return family == AF_INET6 ? source->six : source->four;
}

/* The source address says which network card the packets leave by. */
static int bind_source(struct conn *conn, const struct net_source *source)
{
    struct sockaddr_storage address;

    if (source == NULL ||
        !sockaddr_parse(source_of(source, conn->peer.ss_family), &address))
        return 0;
    return uv_tcp_bind(&conn->tcp, (const struct sockaddr *)&address, 0);
}

void link_dial_plane(struct link *link, enum plane plane)
{
    struct conn *conn = link_hub_conn(link->hub);
    int error;

    if (conn == NULL) {
        link_end(link, LINK_LOST, "out of memory");
        return;
    }
    conn->link = link;
    conn->plane = plane;
    conn->limit = link->limit;
    conn->peer = link->addresses[link->address_at];
    link->conn[plane] = conn;
    error = bind_source(conn, link->hub->options.source);
    if (error == 0)
        error =
            uv_tcp_connect(&conn->connect, &conn->tcp,
                           (const struct sockaddr *)&conn->peer, on_connected);
    if (error != 0)
        link_end(link, LINK_LOST, uv_strerror(error));
}

/* Can this address be dialled from where we must? */
static bool has_way(const struct link *link, uint32_t at)
{
    const struct net_source *source = link->hub->options.source;

    return source == NULL ||
           source_of(source, link->addresses[at].ss_family)[0] != '\0';
}

static void dial_next(struct link *link)
{
    while (!has_way(link, link->address_at) &&
           link->address_at + 1 < link->address_count)
        link->address_at++;
    link->address_until = clock_now_us() + ADDRESS_US;
    if (!has_way(link, link->address_at))
        link_end(link, LINK_REFUSED,
                 "the network card of --interface has no address of its kind "
                 "(IPv4 or IPv6)");
    else
        link_dial_plane(link, PLANE_CONTROL);
}

static void keep_addresses(struct link *link, const struct addrinfo *list)
{
    for (; list != NULL && link->address_count < LINK_ADDRESSES_MAX;
         list = list->ai_next) {
        struct sockaddr_storage *address =
            &link->addresses[link->address_count++];

        memcpy(address, list->ai_addr, list->ai_addrlen);
        sockaddr_set_port(address, link->target.port);
    }
}

static void on_resolved(uv_getaddrinfo_t *request, int status,
                        struct addrinfo *list)
{
    struct link *link = request->data;
    struct link_hub *hub = link->hub;

    link->resolving = false;
    if (status == 0 && !link->closing)
        keep_addresses(link, list);
    uv_freeaddrinfo(list);
    if (link->closing)
        link_settle(link);
    else if (link->address_count == 0)
        link_end(link, LINK_LOST, uv_strerror(status));
    else
        dial_next(link);
    link_hub_release(hub);
}

static void link_resolve(struct link *link)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_ADDRCONFIG};
    int error;

    link->resolve.data = link;
    error = uv_getaddrinfo(&link->hub->options.loop->uv, &link->resolve,
                           on_resolved, link->target.host, NULL, &hints);
    if (error != 0)
        link_end(link, LINK_LOST, uv_strerror(error));
    else
        link->resolving = true;
}

enum err link_dial(struct link_hub *hub, const struct net_address *address,
                   struct link **link)
{
    struct link *made = link_new(hub);

    if (made == NULL)
        return ERR_NOMEM;
    made->dialled = true;
    made->target = *address;
    made->deadline = clock_now_us() + LINK_STRANGER_US;
    random_fill(made->cookie, sizeof made->cookie);
    (void)net_text(address, made->address);
    *link = made;
    if (sockaddr_parse(address->host, &made->addresses[0])) {
        sockaddr_set_port(&made->addresses[0], address->port);
        made->address_count = 1;
        dial_next(made);
    } else {
        link_resolve(made);
    }
    link_sweep_soon(hub, LINK_SWEEP_MS);
    return ERR_OK;
}
