/*
 * roads.c - numbered links; one that was accepted has a number from its HELLO
 * on.
 */
#include "node/group/roads.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

#define NO_NUMBER UINT32_MAX

static uint32_t number_of(const struct roads *roads, const struct link *link)
{
    for (uint32_t i = 0; i < SUM_LINKS; i++) {
        if (roads->links[i] == link)
            return i;
    }
    return NO_NUMBER;
}

static void forget(struct roads *roads, uint32_t number)
{
    roads->links[number] = NULL;
    roads->up[number] = false;
}

void roads_drop(struct roads *roads, uint32_t number)
{
    struct link *link = roads->links[number];

    forget(roads, number);
    if (link != NULL)
        link_close(link);
}

void roads_drop_all(struct roads *roads)
{
    for (uint32_t i = 0; i < SUM_LINKS; i++)
        roads_drop(roads, i);
}

void roads_send(struct roads *roads, uint32_t number, const struct sum_msg *msg,
                struct blob *piece, size_t size)
{
    const enum plane plane =
        sum_is_urgent(msg->kind) ? PLANE_CONTROL : PLANE_BULK;
    struct sum_msg whole = *msg;
    size_t head;

    if (roads->links[number] == NULL || !roads->up[number])
        return;
    whole.size = size;
    head = sum_codec_head(&whole, roads->head);
    if (piece != NULL)
        link_send_with(roads->links[number], plane, roads->head, head, piece,
                       size);
    else
        link_send(roads->links[number], plane, roads->head, head);
}

/* --- what links report ---------------------------------------------------- */

static void on_up(void *context, struct link *link)
{
    struct roads *roads = context;
    const uint32_t number = number_of(roads, link);
    char host[NET_HOST_SIZE];

    if (number == NO_NUMBER)
        return; /* Accepted: until its HELLO. */
    if (!link_own_host(link, host)) {
        roads_drop(roads, number);
        roads->events->down(roads->context, number);
        return;
    }
    roads->up[number] = true;
    roads->events->up(roads->context, number, host);
}

static void reject(struct link *link, struct roads *roads, const char *reason)
{
    const struct sum_msg msg = {.kind = SUM_REJECT, .reason = reason};

    link_send(link, PLANE_CONTROL, roads->head,
              sum_codec_head(&msg, roads->head));
    link_close(link);
}

/* The number of a link that is met; NO_NUMBER: it was turned away. */
static uint32_t meet(struct roads *roads, struct link *link,
                     const struct sum_msg *msg)
{
    uint32_t number = number_of(roads, link);
    char host[NET_HOST_SIZE];

    if (msg->kind != SUM_HELLO)
        return number;
    if (number == NO_NUMBER) {
        for (number = 0; number < SUM_ACCEPTED && roads->links[number] != NULL;
             number++)
            ;
        if (number == SUM_ACCEPTED || !link_may_be(link, TOKEN_CLUSTER) ||
            !link_own_host(link, host)) {
            reject(link, roads,
                   number == SUM_ACCEPTED
                       ? "the group is full"
                       : "a group needs the cluster's token, not a worker's "
                         "own");
            return NO_NUMBER;
        }
        roads->links[number] = link;
        roads->up[number] = true;
        roads->events->met(roads->context, host);
    }
    link_trust(link, sum_codec_message_max(SUM_BYTES_MAX));
    return number;
}

static void on_message(void *context, struct link *link, enum plane plane,
                       const uint8_t *data, size_t size)
{
    struct roads *roads = context;
    struct sum_msg msg;
    uint32_t number = number_of(roads, link);

    if (sum_codec_decode(data, size, &roads->room, &msg) != ERR_OK ||
        sum_is_urgent(msg.kind) != (plane == PLANE_CONTROL) ||
        (number == NO_NUMBER && msg.kind != SUM_HELLO)) {
        if (number == NO_NUMBER) {
            link_close(link);
            return;
        }
        roads_drop(roads, number);
        roads->events->down(roads->context, number);
        return;
    }
    number = meet(roads, link, &msg);
    if (number != NO_NUMBER)
        roads->events->message(roads->context, number, &msg,
                               &roads->inboxes[number]);
}

/* A vector is put together so that its numbers begin on a line. */
static enum link_room on_room(void *context, struct link *link,
                              const uint8_t *begin, size_t size, uint8_t **room,
                              size_t *capacity)
{
    struct roads *roads = context;
    const uint32_t number = number_of(roads, link);
    uint64_t bytes;

    if (number == NO_NUMBER || !sum_codec_peek_piece(begin, size, &bytes) ||
        bytes > roads->room_max || /* It will be refused. */
        !vector_fit(&roads->inboxes[number], bytes))
        return LINK_ROOM_OWN;
    *room = vector_numbers(&roads->inboxes[number]) - SUM_CODEC_PIECE_HEAD;
    *capacity = SUM_CODEC_PIECE_HEAD + bytes;
    return LINK_ROOM_GIVEN;
}

static void on_down(void *context, struct link *link, enum link_end how,
                    const char *why)
{
    struct roads *roads = context;
    const uint32_t number = number_of(roads, link);

    if (number == NO_NUMBER)
        return;
    forget(roads, number);
    if (how == LINK_REFUSED)
        roads->events->refused(roads->context, why);
    roads->events->down(roads->context, number);
}

static const struct link_events link_events = {
    .up = on_up, .message = on_message, .down = on_down, .room = on_room};

enum err roads_dial(struct roads *roads, uint32_t number, const char *place)
{
    struct net_address address;

    CHECK(roads->links[number] == NULL);
    if (net_parse(place, &address, NULL) != ERR_OK)
        return ERR_FORMAT;
    return link_dial(roads->hub, &address, &roads->links[number]);
}

/* --- life ----------------------------------------------------------------- */

enum err roads_open(struct roads *roads, struct loop *loop,
                    const struct token *token, bool plain,
                    const struct roads_events *events, void *context)
{
    const struct sum_msg longest = {.kind = SUM_VIEW,
                                    .view = &roads->room.view};
    const struct link_options links = {.loop = loop,
                                       .token = token,
                                       .events = &link_events,
                                       .context = roads,
                                       .plain = plain,
                                       .elsewhere = true};

    roads->events = events;
    roads->context = context;
    roads->head = mem_new(sum_codec_bound(&longest), 1);
    if (roads->head == NULL)
        return ERR_NOMEM;
    return link_hub_new(&links, &roads->hub);
}

void roads_close(struct roads *roads)
{
    for (uint32_t i = 0; i < SUM_LINKS; i++) {
        forget(roads, i);
        vector_close(&roads->inboxes[i]);
    }
    link_hub_free(roads->hub);
    mem_free(roads->head);
    *roads = (struct roads){.hub = NULL};
}
