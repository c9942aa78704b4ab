/*
 * peer_server.c - a chunk server in a worker: accepts peers with a key from the
 * coordinator, gives them whole chunks as their connections drain, and tells
 * them when to wait.
 */
#include "node/worker/peer_server.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "node/host/reject_log.h"
#include "node/worker/peer_desk.h"
#include "os/clock.h"
#include "os/net/link.h"
#include "os/net/net.h"
#include "os/net/token.h"

#define HIGH_BYTES (512u << 10)
#define TICK_US    (500 * MS_US)
#define HOPE_US    (4 * SECOND_US)  /* After the last chunk that came in. */
#define IDLE_US    (10 * SECOND_US) /* A guest that wants nothing goes. */

/* A peer that is here. */
struct guest {
    struct guest *next;
    struct link *link;
    struct peer_desk desk;
    time_us asked_at;
};

struct peer_server {
    struct loop *loop;
    const struct dataset *data;
    struct papers_view papers;
    bool spoils;
    struct timer *timer;
    bool ticking;
    struct token token;
    struct net_listener listener; /* fd -1: none. */
    struct link_hub *hub;         /* NULL: not open. */
    struct guest *guests;
    uint32_t guest_count;
    time_us stored_at;
    struct reject_log rejects;
    uint8_t buffer[PEER_MESSAGE_BYTES];
};

static void guest_remove(struct peer_server *server, struct guest *guest)
{
    for (struct guest **at = &server->guests; *at != NULL; at = &(*at)->next) {
        if (*at != guest)
            continue;
        *at = guest->next;
        server->guest_count--;
        break;
    }
    peer_desk_close(&guest->desk);
    mem_free(guest);
}

static void guest_close(struct peer_server *server, struct guest *guest)
{
    link_set_user(guest->link, NULL);
    link_close(guest->link);
    guest_remove(server, guest);
}

static void send_part(struct peer_server *server, struct guest *guest,
                      const struct peer_msg *part)
{
    const size_t size = peer_codec_encode(part, server->buffer);

    if (server->spoils)
        server->buffer[size - 1] ^= 1;
    link_send(guest->link, PLANE_BULK, server->buffer, size);
}

/* Give it what is here, as far as the connection is not behind.  False: the
 * guest is gone. */
static bool pump(struct peer_server *server, struct guest *guest)
{
    while (link_queued(guest->link, PLANE_BULK) < HIGH_BYTES) {
        struct peer_msg part;
        const enum err err = peer_desk_next(&guest->desk, &part);

        if (err == ERR_NOTFOUND)
            return true;
        if (err != ERR_OK) {
            guest_close(server, guest);
            return false;
        }
        guest->asked_at = clock_now_us();
        send_part(server, guest, &part);
    }
    return true;
}

static void tick_soon(struct peer_server *server)
{
    if (!server->ticking)
        timer_at(server->timer, clock_now_us() + TICK_US);
    server->ticking = true;
}

/* It is not here yet, but there is hope; or nothing is asked for any more. */
static void look_at(struct peer_server *server, struct guest *guest,
                    time_us now)
{
    const struct peer_msg wait = {.kind = PEER_WAIT};

    if (peer_desk_waits(&guest->desk) && now - server->stored_at < HOPE_US)
        link_send(guest->link, PLANE_CONTROL, server->buffer,
                  peer_codec_encode(&wait, server->buffer));
    else if (peer_desk_idle(&guest->desk) && now - guest->asked_at >= IDLE_US)
        guest_close(server, guest);
}

static void on_tick(void *context)
{
    struct peer_server *server = context;
    const time_us now = clock_now_us();
    struct guest *next;

    server->ticking = false;
    for (struct guest *guest = server->guests; guest != NULL; guest = next) {
        next = guest->next;
        look_at(server, guest, now);
    }
    if (server->guests != NULL)
        tick_soon(server);
}

/* --- what the links report ----------------------------------------------- */

static void on_up(void *context, struct link *link)
{
    struct peer_server *server = context;
    struct guest *guest = server->guest_count < PEER_GUESTS_MAX
                              ? mem_new(1, sizeof *guest)
                              : NULL;

    if (guest == NULL) {
        link_close(link);
        return;
    }
    peer_desk_init(&guest->desk, server->data);
    guest->desk.papers = server->papers;
    guest->link = link;
    guest->asked_at = clock_now_us();
    guest->next = server->guests;
    server->guests = guest;
    server->guest_count++;
    link_set_user(link, guest);
    tick_soon(server);
}

static void refuse(struct peer_server *server, const struct guest *guest,
                   const char *why)
{
    char text[NET_TEXT_SIZE + 128];

    (void)snprintf(text, sizeof text, "peer %s at %s was turned away: %s",
                   link_peer(guest->link), link_address(guest->link), why);
    reject_log_add(&server->rejects, clock_now_us(), text);
}

static void on_message(void *context, struct link *link, enum plane plane,
                       const uint8_t *data, size_t size)
{
    struct peer_server *server = context;
    struct guest *guest = link_user(link);
    struct peer_msg msg;

    if (guest == NULL)
        return;
    if (plane != PLANE_CONTROL ||
        peer_codec_decode(data, size, &msg) != ERR_OK ||
        msg.kind != PEER_WANT ||
        peer_desk_want(&guest->desk, msg.chunk) != ERR_OK) {
        refuse(server, guest, "it sent what is no message");
        guest_close(server, guest);
        return;
    }
    guest->asked_at = clock_now_us();
    if (!link_trusted(link))
        link_trust(link, LINK_STRANGER_BYTES + 1);
    (void)pump(server, guest);
}

static void on_down(void *context, struct link *link, enum link_end how,
                    const char *why)
{
    struct guest *guest = link_user(link);

    (void)how;
    (void)why;
    if (guest != NULL)
        guest_remove(context, guest);
}

static void on_drained(void *context, struct link *link)
{
    struct guest *guest = link_user(link);

    if (guest != NULL)
        (void)pump(context, guest);
}

static void on_refused(void *context, const char *why)
{
    struct peer_server *server = context;

    reject_log_add(&server->rejects, clock_now_us(), why);
}

static const struct link_events link_events = {.up = on_up,
                                               .message = on_message,
                                               .down = on_down,
                                               .drained = on_drained,
                                               .refused = on_refused};

/* --- the server ---------------------------------------------------------- */

enum err peer_server_new(struct loop *loop, const struct dataset *data,
                         bool spoils, struct peer_server **server)
{
    struct peer_server *made = mem_new(1, sizeof *made);
    enum err err;

    if (made == NULL)
        return ERR_NOMEM;
    made->loop = loop;
    made->data = data;
    made->spoils = spoils;
    made->listener.fd = -1;
    err = timer_new(loop, on_tick, made, &made->timer);
    if (err != ERR_OK) {
        mem_free(made);
        return err;
    }
    *server = made;
    return ERR_OK;
}

void peer_server_papers(struct peer_server *server,
                        const struct papers_view *papers)
{
    server->papers = *papers;
}

static void shut(struct peer_server *server)
{
    while (server->guests != NULL) {
        link_set_user(server->guests->link, NULL);
        guest_remove(server, server->guests);
    }
    link_hub_free(server->hub);
    server->hub = NULL;
    if (server->listener.fd >= 0)
        net_close(&server->listener);
    server->listener.fd = -1;
    token_close(&server->token);
}

void peer_server_free(struct peer_server *server)
{
    if (server == NULL)
        return;
    reject_log_end(&server->rejects);
    shut(server);
    timer_free(server->timer);
    mem_free(server);
}

static enum err listen_at(struct peer_server *server, const char *host,
                          struct why *why)
{
    const struct link_options links = {.loop = server->loop,
                                       .token = &server->token,
                                       .events = &link_events,
                                       .context = server};
    struct net_address wanted = {0};
    enum err err;

    (void)snprintf(wanted.host, sizeof wanted.host, "%s", host);
    err = net_listen(&wanted, false, &server->listener, why);
    if (err != ERR_OK) {
        server->listener.fd = -1;
        return err;
    }
    err = link_hub_new(&links, &server->hub);
    if (err == ERR_OK)
        err = link_hub_listen(server->hub, server->listener.fd);
    return err == ERR_OK ? err : why_set(why, err, "%s", err_text(err));
}

enum err peer_server_open(struct peer_server *server, const char *host,
                          const uint8_t key[PEER_KEY], uint16_t *port,
                          struct why *why)
{
    const bool open = server->hub != NULL;
    enum err err = ERR_OK;

    CHECK(PEER_KEY == TOKEN_KEY_BYTES);
    if (!open || memcmp(server->token.key, key, PEER_KEY) != 0) {
        shut(server);
        (void)snprintf(server->token.name, sizeof server->token.name, "%s",
                       TOKEN_CLUSTER);
        memcpy(server->token.key, key, PEER_KEY);
        err = listen_at(server, host, why);
    }
    if (err != ERR_OK) {
        shut(server);
        return err;
    }
    *port = server->listener.bound.port;
    return ERR_OK;
}

void peer_server_stored(struct peer_server *server)
{
    struct guest *next;

    if (server == NULL)
        return;
    server->stored_at = clock_now_us();
    for (struct guest *guest = server->guests; guest != NULL; guest = next) {
        next = guest->next;
        (void)pump(server, guest);
    }
}
