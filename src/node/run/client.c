/*
 * client.c - the client of `muster status`, `stop` and `set`: one connection,
 * one question, one answer, or the reason why there is none.
 */
#include "node/run/client.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "node/host/ways.h"
#include "os/clock.h"
#include "os/net/link.h"
#include "os/run/loop.h"
#include "wire/codec.h"

#define ANSWER_US (10 * SECOND_US)

struct client {
    struct loop *loop;
    struct link_hub *hub;
    struct timer *timer;
    struct link *link;
    struct msg_ask ask;
    bool asked;
    char *json;
    enum err err;
    struct why *why;
};

static void client_end(struct client *client, enum err err, const char *text)
{
    if (client->err == ERR_OK && client->json == NULL && err != ERR_OK)
        client->err = why_set(client->why, err, "%s", text);
    loop_stop(client->loop);
}

static void on_up(void *context, struct link *link)
{
    struct client *client = context;
    const struct msg msg = {.kind = MSG_ASK, .ask = client->ask};
    uint8_t bytes[1024];

    link_trust(link, codec_message_max(0, 0, 0, 0));
    link_send(link, PLANE_CONTROL, bytes, codec_encode(&msg, bytes));
    client->asked = true;
}

static void on_message(void *context, struct link *link, enum plane plane,
                       const uint8_t *data, size_t size)
{
    struct client *client = context;
    struct codec_room room = {0};
    struct msg msg;

    (void)link;
    (void)plane;
    if (codec_decode(data, size, &room, &msg) != ERR_OK ||
        msg.kind != MSG_STATUS) {
        client_end(client, ERR_FORMAT, "the answer makes no sense");
        return;
    }
    client->json = mem_new(msg.status.size + 1, 1);
    if (client->json == NULL) {
        client_end(client, ERR_NOMEM, "out of memory");
        return;
    }
    memcpy(client->json, msg.status.text, msg.status.size);
    client_end(client, ERR_OK, "");
}

static void on_down(void *context, struct link *link, enum link_end how,
                    const char *why)
{
    struct client *client = context;

    (void)link;
    client->link = NULL;
    if (how == LINK_LOST && client->asked)
        why = "whoever is there gave no answer; is that a relay? ask the "
              "coordinator";
    client_end(client, how == LINK_REFUSED ? ERR_DENIED : ERR_CLOSED, why);
}

static const struct link_events events = {
    .up = on_up, .message = on_message, .down = on_down};

static void on_time(void *context)
{
    client_end(context, ERR_TIMEOUT, "the coordinator does not answer");
}

static enum err ask(struct client *client, const struct ways *ways)
{
    struct link_options options = {
        .token = &ways->token, .events = &events, .context = client};
    enum err err = loop_new(&client->loop);

    options.loop = client->loop;
    if (err == ERR_OK)
        err = timer_new(client->loop, on_time, client, &client->timer);
    if (err == ERR_OK)
        err = link_hub_new(&options, &client->hub);
    if (err == ERR_OK)
        err = link_dial(client->hub, &ways->addresses[0], &client->link);
    if (err == ERR_OK) {
        timer_at(client->timer, clock_now_us() + ANSWER_US);
        loop_run(client->loop);
        err = client->err;
    }
    link_hub_free(client->hub);
    timer_free(client->timer);
    loop_free(client->loop);
    return err;
}

enum err client_ask(const char *where, const char *token_file,
                    const struct msg_ask *question, char **json,
                    struct why *why)
{
    struct client client = {.ask = *question, .why = why};
    struct ways ways;
    enum err err = ways_open(where, token_file, false, &ways, why);

    client.ask.version = MSG_VERSION;
    if (err == ERR_OK)
        err = ask(&client, &ways);
    ways_close(&ways);
    if (err == ERR_OK)
        *json = client.json;
    else
        mem_free(client.json);
    return err;
}
