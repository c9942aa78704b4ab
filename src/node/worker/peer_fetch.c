/*
 * peer_fetch.c - one connection for each peer that is fetched from.
 *
 * A host is one peer: what is wanted of it, what was asked for, the chunk that
 * is coming in.  Nothing is reported or freed from inside another call: a host
 * that failed is marked, and the timer reports and forgets it.
 */
#include "node/worker/peer_fetch.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "node/worker/peer_basket.h"
#include "node/worker/peer_desk.h"
#include "os/clock.h"
#include "os/net/link.h"
#include "os/net/token.h"

#define CONNECT_US  SECOND_US
#define SILENCE_US  (2 * SECOND_US)  /* No part, and no WAIT. */
#define PATIENCE_US (10 * SECOND_US) /* No part, whatever it says. */
#define IDLE_US     (2 * SECOND_US)
#define HOSTS_MAX   16u

struct host {
    struct host *next;
    struct peer_fetch *fetch;
    uint32_t peer;
    uint16_t port;
    struct token token;
    struct link_hub *hub; /* NULL: it is not dialled, and has failed. */
    struct link *link;
    bool up;
    bool reached; /* Its machine is there; the peer itself is slow. */
    bool failed;  /* Or nothing more is wanted: to be forgotten. */
    enum err err;
    uint32_t *wanted;
    size_t capacity;
    uint32_t count;
    uint32_t asked; /* The first of `wanted` it was told. */
    time_us deadline;
    time_us patience_at;
    struct peer_basket basket;
};

struct peer_fetch {
    struct peer_fetch_options options;
    const struct digest *digests;
    size_t chunk_bytes_max;
    struct timer *timer;
    struct host *hosts;
};

/* --- the timer ----------------------------------------------------------- */

static void arm(struct peer_fetch *fetch)
{
    time_us at = TIME_NEVER;

    for (const struct host *host = fetch->hosts; host != NULL;
         host = host->next) {
        const time_us due = host->failed ? 0 : host->deadline;

        at = due < at ? due : at;
    }
    timer_at(fetch->timer, at == 0 ? clock_now_us() : at);
}

static void fail(struct host *host, enum err err)
{
    if (host->failed)
        return;
    host->failed = true;
    host->err = err;
    arm(host->fetch);
}

/* So long at most until it is heard of again. */
static void expect(struct host *host)
{
    const time_us now = clock_now_us();

    host->deadline = now + (host->count == 0 ? IDLE_US
                            : host->up       ? SILENCE_US
                                             : CONNECT_US);
    if (host->count > 0 && host->deadline > host->patience_at)
        host->deadline = host->patience_at;
    arm(host->fetch);
}

static void host_free(struct host *host)
{
    if (host->link != NULL)
        link_set_user(host->link, NULL);
    link_hub_free(host->hub);
    token_close(&host->token);
    mem_free(host->wanted);
    peer_basket_close(&host->basket);
    mem_free(host);
}

/* All that is still wanted of it, range by range. */
static void report(struct host *host)
{
    const struct peer_fetch_options *options = &host->fetch->options;
    uint32_t end;

    for (uint32_t i = 0; i < host->count; i = end) {
        const uint32_t first = host->wanted[i];

        end = i + 1;
        while (end < host->count && host->wanted[end] == first + (end - i))
            end++;
        options->fetched(options->context, host->peer, first, first + (end - i),
                         NULL, 0, host->err);
    }
}

/* No answer from its machine is a firewall; from the peer, perhaps a busy
 * machine. */
static bool gets_more_time(struct host *host, time_us now)
{
    if (host->failed || host->up || host->reached || host->link == NULL ||
        !link_reached(host->link))
        return false;
    host->reached = true;
    host->deadline = now + SILENCE_US;
    return true;
}

static void on_time(void *context)
{
    struct peer_fetch *fetch = context;
    const time_us now = clock_now_us();
    struct host *done = NULL;
    struct host **at = &fetch->hosts;

    while (*at != NULL) {
        struct host *host = *at;

        if ((!host->failed && now < host->deadline) ||
            gets_more_time(host, now)) {
            at = &host->next;
            continue;
        }
        if (!host->failed)
            host->err = ERR_TIMEOUT;
        *at = host->next;
        host->next = done;
        done = host;
    }
    arm(fetch);
    while (done != NULL) {
        struct host *host = done;

        done = host->next;
        report(host);
        host_free(host);
    }
}

/* --- asking -------------------------------------------------------------- */

static void ask(struct host *host)
{
    while (host->up && host->asked < host->count && host->asked < PEER_WINDOW) {
        const struct peer_msg want = {.kind = PEER_WANT,
                                      .chunk = host->wanted[host->asked++]};
        uint8_t bytes[PEER_SMALL_BYTES];

        link_send(host->link, PLANE_CONTROL, bytes,
                  peer_codec_encode(&want, bytes));
    }
}

/* Where it is among those asked for; `asked` if it is not. */
static uint32_t place_of(const struct host *host, uint32_t chunk)
{
    uint32_t i = 0;

    while (i < host->asked && host->wanted[i] != chunk)
        i++;
    return i;
}

static void unwant(struct host *host, uint32_t at)
{
    host->count--;
    host->asked--;
    memmove(host->wanted + at, host->wanted + at + 1,
            (host->count - at) * sizeof *host->wanted);
}

/* --- parts --------------------------------------------------------------- */

static void chunk_came(struct host *host, const struct digest *digest)
{
    const struct peer_fetch_options *options = &host->fetch->options;
    const struct peer_basket *basket = &host->basket;

    if (!digest_equal(digest, &host->fetch->digests[basket->chunk])) {
        fail(host, ERR_MISMATCH);
        return;
    }
    unwant(host, place_of(host, basket->chunk));
    ask(host);
    options->fetched(options->context, host->peer, basket->chunk,
                     basket->chunk + 1, basket->bytes, basket->at, ERR_OK);
}

static enum err take_part(struct host *host, const struct peer_msg *part)
{
    struct digest digest;
    bool whole = false;
    enum err err;

    if (place_of(host, part->chunk) == host->asked)
        return ERR_FORMAT;
    err = peer_basket_put(&host->basket, part, host->fetch->chunk_bytes_max,
                          &whole, &digest);
    if (err == ERR_OK && whole)
        chunk_came(host, &digest);
    return err;
}

/* --- what the links report ----------------------------------------------- */

static void on_up(void *context, struct link *link)
{
    struct host *host = context;

    host->up = true;
    link_trust(link, PEER_MESSAGE_BYTES);
    ask(host);
    expect(host);
}

static void on_message(void *context, struct link *link, enum plane plane,
                       const uint8_t *data, size_t size)
{
    struct host *host = context;
    struct peer_msg msg;
    enum err err = ERR_OK;

    (void)link;
    if (host->failed)
        return;
    if (peer_codec_decode(data, size, &msg) != ERR_OK ||
        msg.kind != (plane == PLANE_BULK ? PEER_PART : PEER_WAIT)) {
        fail(host, ERR_FORMAT);
        return;
    }
    if (msg.kind == PEER_PART) {
        host->patience_at = clock_now_us() + PATIENCE_US;
        err = take_part(host, &msg);
    }
    if (err != ERR_OK)
        fail(host, err);
    else
        expect(host);
}

static void on_down(void *context, struct link *link, enum link_end how,
                    const char *why)
{
    struct host *host = context;

    (void)link;
    (void)how;
    (void)why;
    host->link = NULL;
    host->up = false;
    fail(host, ERR_CLOSED);
}

static const struct link_events link_events = {
    .up = on_up, .message = on_message, .down = on_down};

/* --- hosts --------------------------------------------------------------- */

static enum err dial(struct host *host, const struct msg_fetch *msg)
{
    const struct peer_fetch *fetch = host->fetch;
    const struct link_options links = {.loop = fetch->options.loop,
                                       .token = &host->token,
                                       .source = fetch->options.source,
                                       .events = &link_events,
                                       .context = host};
    struct net_address address = {.port = msg->port};
    enum err err;

    /* Names are not looked up because a coordinator says so. */
    if (fetch->options.alone || msg->port == 0 || !net_is_number(msg->host))
        return ERR_RANGE;
    (void)snprintf(address.host, sizeof address.host, "%s", msg->host);
    err = link_hub_new(&links, &host->hub);
    return err == ERR_OK ? link_dial(host->hub, &address, &host->link) : err;
}

static uint32_t host_count(const struct peer_fetch *fetch)
{
    uint32_t count = 0;

    for (const struct host *host = fetch->hosts; host != NULL;
         host = host->next)
        count++;
    return count;
}

static struct host *host_new(struct peer_fetch *fetch,
                             const struct msg_fetch *msg)
{
    struct host *host = mem_new(1, sizeof *host);
    enum err err;

    if (host == NULL)
        return NULL;
    host->fetch = fetch;
    host->peer = msg->peer;
    host->port = msg->port;
    (void)snprintf(host->token.name, sizeof host->token.name, "%s",
                   fetch->options.name);
    memcpy(host->token.key, msg->key, PEER_KEY);
    host->patience_at = clock_now_us() + PATIENCE_US;
    host->deadline = clock_now_us() + CONNECT_US;
    err = host_count(fetch) < HOSTS_MAX ? dial(host, msg) : ERR_TOOBIG;
    if (err != ERR_OK) {
        host->failed = true;
        host->err = err;
    }
    host->next = fetch->hosts;
    fetch->hosts = host;
    return host;
}

/* The same peer with the same key; another life of it is another host. */
static struct host *host_of(const struct peer_fetch *fetch,
                            const struct msg_fetch *msg)
{
    for (struct host *host = fetch->hosts; host != NULL; host = host->next) {
        if (host->peer == msg->peer && host->port == msg->port &&
            memcmp(host->token.key, msg->key, PEER_KEY) == 0)
            return host;
    }
    return NULL;
}

enum err peer_fetch_want(struct peer_fetch *fetch, const struct msg_fetch *msg,
                         uint32_t first, uint32_t end)
{
    struct host *host = host_of(fetch, msg);
    size_t need;

    CHECK(fetch->digests != NULL && first <= end);
    if (host == NULL)
        host = host_new(fetch, msg);
    if (host == NULL)
        return ERR_NOMEM;
    need = host->count + (size_t)(end - first);
    if (need > host->capacity) {
        uint32_t *grown = mem_grow(host->wanted, host->count, need,
                                   sizeof *grown, &host->capacity);

        if (grown == NULL)
            return ERR_NOMEM;
        host->wanted = grown;
    }
    if (host->count == 0)
        host->patience_at = clock_now_us() + PATIENCE_US;
    for (uint32_t chunk = first; chunk < end; chunk++)
        host->wanted[host->count++] = chunk;
    ask(host);
    if (host->up)
        expect(host);
    else
        arm(fetch); /* Who asks for more is not dialled for longer. */
    return ERR_OK;
}

/* --- all of it ----------------------------------------------------------- */

enum err peer_fetch_new(const struct peer_fetch_options *options,
                        struct peer_fetch **fetch)
{
    struct peer_fetch *made = mem_new(1, sizeof *made);
    enum err err;

    if (made == NULL)
        return ERR_NOMEM;
    made->options = *options;
    err = timer_new(options->loop, on_time, made, &made->timer);
    if (err != ERR_OK) {
        mem_free(made);
        return err;
    }
    *fetch = made;
    return ERR_OK;
}

void peer_fetch_free(struct peer_fetch *fetch)
{
    if (fetch == NULL)
        return;
    while (fetch->hosts != NULL) {
        struct host *host = fetch->hosts;

        fetch->hosts = host->next;
        host_free(host);
    }
    timer_free(fetch->timer);
    mem_free(fetch);
}

void peer_fetch_learn(struct peer_fetch *fetch, const struct digest *digests,
                      size_t chunk_bytes_max)
{
    fetch->digests = digests;
    fetch->chunk_bytes_max = chunk_bytes_max;
}
