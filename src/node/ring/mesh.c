/*
 * mesh.c - numbered links, greeted by MEET, and the one question that others
 * may ask.
 */
#include "node/ring/mesh.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/ring/peer.h"
#include "node/host/posting.h"
#include "node/host/reject_log.h"
#include "node/ring/lending.h"
#include "node/ring/letters.h"
#include "node/ring/sheets.h"
#include "node/ring/usher.h"
#include "os/clock.h"
#include "os/run/listener.h"
#include "wire/codec.h"
#include "wire/roll_codec.h"

#define NO_NUMBER UINT32_MAX

/* One end of a link. */
struct end {
    struct end *next;
    struct link *link;
    uint32_t number; /* NO_NUMBER: accepted, and not greeted yet. */
    uint32_t berth;  /* On the board; BOARD_NONE: it does not share it. */
    struct letter_road road;
    size_t heard; /* Bytes that came by the bulk plane, and were told of. */
    bool up;
    bool failed; /* No memory for a message: it is to go down. */
};

#define BATCH_MAX 64u /* Messages that leave together. */
#define NO_SHEET  UINT32_MAX

struct mesh {
    struct mesh_options options;
    struct link_hub *hub;
    struct timer *failing; /* Tells of those that have failed. */
    struct listener *bell; /* Of own berth; NULL: nobody rings. */
    struct end *ends;
    uint32_t next_number;
    struct codec_room room;
    struct envelope envelope;
    struct sheets sheets;
    uint64_t slice_bytes; /* Of SLICEs that were not lent. */
    struct reject_log rejects;
    bool over;
};

static struct end *find(struct mesh *mesh, uint32_t number)
{
    for (struct end *end = mesh->ends; end != NULL; end = end->next)
        if (end->number == number)
            return end;
    return NULL;
}

static void forget(struct mesh *mesh, struct end *end)
{
    struct end **at = &mesh->ends;

    while (*at != end)
        at = &(*at)->next;
    *at = end->next;
    mem_free(end);
}

/* From here: what is queued still goes. */
static void drop(struct mesh *mesh, struct end *end)
{
    link_set_user(end->link, NULL);
    link_close(end->link);
    forget(mesh, end);
}

/* As if its socket had failed. */
static void break_off(struct mesh *mesh, struct end *end)
{
    const uint32_t number = end->number;

    drop(mesh, end);
    if (number != NO_NUMBER)
        mesh->options.events->down(mesh->options.context, number);
}

static struct end *add(struct mesh *mesh, struct link *link, uint32_t number)
{
    struct end *end = mem_new(1, sizeof *end);

    if (end == NULL)
        return NULL;
    *end = (struct end){.next = mesh->ends,
                        .link = link,
                        .number = number,
                        .berth = BOARD_NONE,
                        .road = {.link = link_number(link)}};
    mesh->ends = end;
    link_set_user(link, end);
    return end;
}

/* --- out ------------------------------------------------------------------ */

static bool is_urgent(enum msg_kind kind)
{
    return kind == MSG_MEET || !msg_is_bulk(kind);
}

static bool fill(struct mesh *mesh, const struct end *end,
                 const struct msg *msg)
{
    const struct mesh_options *const options = &mesh->options;

    if (end->berth != BOARD_NONE &&
        lending_posts(options->board, options->berth, options->sum_dims, msg))
        return lending_fill(options->board, options->berth, options->sum_dims,
                            &mesh->envelope, msg);
    if (msg->kind == MSG_SLICE && msg->slice.stepped != NULL)
        return false; /* It was a neighbour's when it sent its part. */
    if (!envelope_fill(&mesh->envelope, msg))
        return false;
    if (msg->kind == MSG_SLICE)
        mesh->slice_bytes +=
            mesh->envelope.head_size + mesh->envelope.tail_size;
    return true;
}

static void fail(struct mesh *mesh, struct end *end)
{
    end->failed = true;
    timer_at(mesh->failing, clock_now_us());
}

/* Of what is in the envelope: did it go as a letter? */
static bool leave(struct mesh *mesh, const struct end *end,
                  const struct msg *msg)
{
    const struct envelope *const envelope = &mesh->envelope;

    return end->berth != BOARD_NONE && msg->kind == MSG_SLICE &&
           envelope->tail == NULL &&
           letter_leave(mesh->options.board, mesh->options.berth, end->berth,
                        &end->road, envelope->room->bytes, envelope->head_size);
}

static void send(struct mesh *mesh, struct end *end, const struct msg *msg)
{
    const enum plane plane = is_urgent(msg->kind) ? PLANE_CONTROL : PLANE_BULK;

    if (end->failed || !fill(mesh, end, msg)) {
        fail(mesh, end);
        return;
    }
    if (leave(mesh, end, msg))
        return;
    end->road.sent += plane == PLANE_BULK;
    envelope_send(&mesh->envelope, end->link, plane);
}

void mesh_send(struct mesh *mesh, uint32_t number, const struct msg *msg)
{
    struct end *end = find(mesh, number);

    if (end != NULL && end->up && !end->failed)
        send(mesh, end, msg);
}

static struct end *find_up(struct mesh *mesh, uint32_t number)
{
    struct end *end = find(mesh, number);

    return end != NULL && end->up && !end->failed ? end : NULL;
}

static bool is_lent(const struct mesh *mesh, const struct end *end,
                    const struct msg *msg)
{
    const struct mesh_options *const options = &mesh->options;

    return end->berth != BOARD_NONE &&
           lending_posts(options->board, options->berth, options->sum_dims,
                         msg);
}

/* Stepped weights are lent or, as fill says, not sent at all. */
static bool is_sheet(const struct mesh *mesh, const struct end *end,
                     const struct msg *msg)
{
    return msg->slice.stepped == NULL && !is_lent(mesh, end, msg);
}

static void send_sheet(struct mesh *mesh, struct end *end,
                       const struct sheet *sheet)
{
    if (end->failed || sheet->blob == NULL) {
        fail(mesh, end);
        return;
    }
    mesh->slice_bytes += sheet->size;
    end->road.sent++;
    link_send_with(end->link, PLANE_BULK, NULL, 0, sheet->blob, sheet->size);
}

/* The first of them, as many as there is room for. */
static uint32_t send_batch(struct mesh *mesh, const struct action *sends,
                           uint32_t count)
{
    struct sheets *const sheets = &mesh->sheets;
    struct pool *const pool = mesh->options.pool;
    uint32_t which[BATCH_MAX];
    uint32_t most = 0;

    sheets_begin(sheets, pool);
    for (; most < count && most < BATCH_MAX; most++) {
        const struct msg *const msg = &sends[most].msg;
        const struct end *const end = find_up(mesh, sends[most].link);

        which[most] = NO_SHEET;
        if (end != NULL && is_sheet(mesh, end, msg) &&
            !sheets_add(sheets, msg, &which[most]))
            break;
    }
    sheets_encode(sheets, pool);
    link_hub_cork(mesh->hub);
    for (uint32_t i = 0; i < most; i++) {
        struct end *const end = find_up(mesh, sends[i].link);

        if (end != NULL && which[i] != NO_SHEET)
            send_sheet(mesh, end, &sheets->list[which[i]]);
        else if (end != NULL)
            send(mesh, end, &sends[i].msg);
    }
    link_hub_uncork(mesh->hub, pool);
    sheets_end(sheets);
    return most;
}

uint32_t mesh_send_slices(struct mesh *mesh, const struct actions *actions,
                          uint32_t first)
{
    const struct action *const list = actions->list + first;
    uint32_t slices = 0, sent = 0;

    while (slices < actions->count - first &&
           list[slices].kind == ACTION_SEND &&
           list[slices].msg.kind == MSG_SLICE)
        slices++;
    while (sent < slices)
        sent += send_batch(mesh, list + sent, slices - sent);
    return slices;
}

uint64_t mesh_slice_bytes(const struct mesh *mesh)
{
    return mesh->slice_bytes;
}

uint64_t mesh_unsent(const struct mesh *mesh)
{
    uint64_t unsent = 0;

    for (const struct end *end = mesh->ends; end != NULL; end = end->next)
        unsent += link_queued(end->link, PLANE_BULK);
    return unsent;
}

time_us mesh_deaf_us(const struct mesh *mesh, uint32_t number)
{
    for (const struct end *end = mesh->ends; end != NULL; end = end->next)
        if (end->number == number && end->up)
            return link_deaf_us(end->link);
    return 0;
}

bool mesh_moved(struct mesh *mesh, uint32_t *number)
{
    for (struct end *end = mesh->ends; end != NULL; end = end->next) {
        const size_t heard = link_heard(end->link, PLANE_BULK);

        if (end->number == NO_NUMBER || end->heard == heard)
            continue;
        end->heard = heard;
        *number = end->number;
        return true;
    }
    return false;
}

static void drop_failed(void *context)
{
    struct mesh *mesh = context;
    struct end *end = mesh->ends;

    while (end != NULL) {
        if (!end->failed) {
            end = end->next;
            continue;
        }
        break_off(mesh, end);
        end = mesh->ends; /* The machine may have closed others. */
    }
}

void mesh_close(struct mesh *mesh, uint32_t number)
{
    struct end *end = find(mesh, number);

    if (end != NULL)
        drop(mesh, end);
}

/* --- who comes in --------------------------------------------------------- */

static void log_refusal(struct mesh *mesh, const struct end *end,
                        const char *reason)
{
    char text[NET_TEXT_SIZE + REASON_SIZE + 32];

    (void)snprintf(text, sizeof text, "%s was turned away: %s",
                   link_address(end->link), reason);
    reject_log_add(&mesh->rejects, clock_now_us(), text);
}

static void reject(struct mesh *mesh, struct end *end, const char *reason)
{
    struct msg msg = {.kind = MSG_REJECT};

    log_refusal(mesh, end, reason);
    (void)snprintf(msg.reject.reason, sizeof msg.reject.reason, "%s", reason);
    send(mesh, end, &msg);
    drop(mesh, end);
}

static void answer(struct mesh *mesh, struct end *end,
                   const struct msg_ask *ask)
{
    static char text[STATUS_SIZE];
    struct msg msg = {.kind = MSG_STATUS, .status = {.text = text}};

    msg.status.size = mesh->options.events->ask(
        mesh->options.context, ask, link_may_be(end->link, TOKEN_CLUSTER), text,
        sizeof text);
    send(mesh, end, &msg);
    drop(mesh, end);
}

static bool has_cluster_token(struct mesh *mesh, struct end *end)
{
    if (link_may_be(end->link, TOKEN_CLUSTER))
        return true;
    reject(mesh, end,
           "a peer of a ring needs the cluster's token, not a worker's own");
    return false;
}

static void tell_terms(struct mesh *mesh, struct end *end,
                       const struct msg_hello *hello)
{
    struct msg msg = {.kind = MSG_TERMS};
    const char *why;

    if (!has_cluster_token(mesh, end))
        return;
    why = mesh->options.events->hello(mesh->options.context, hello, &msg.terms);
    if (why != NULL) {
        reject(mesh, end, why);
        return;
    }
    send(mesh, end, &msg);
    drop(mesh, end);
}

static uint32_t free_number(struct mesh *mesh)
{
    do {
        mesh->next_number = (mesh->next_number + 1) % PEER_DIALLED;
    } while (find(mesh, mesh->next_number) != NULL);
    return mesh->next_number;
}

/* Who listens on all addresses does not know the one by which it is reached;
 * whoever is met there does. */
static void fill_in_host(const struct end *end, struct msg_meet *meet)
{
    char text[NET_TEXT_SIZE];
    struct net_address address;

    if (meet->place[0] != ':' ||
        net_parse(meet->place, &address, NULL) != ERR_OK ||
        !link_host(end->link, address.host))
        return;
    if (strlen(net_text(&address, text)) < PEER_PLACE)
        (void)snprintf(meet->place, PEER_PLACE, "%.*s", (int)PEER_PLACE - 1,
                       text);
}

/* False: it was turned away. */
static bool greet(struct mesh *mesh, struct end *end, struct msg_meet *meet)
{
    if (end->number == NO_NUMBER && !has_cluster_token(mesh, end))
        return false;
    if (end->number == NO_NUMBER)
        end->number = free_number(mesh);
    fill_in_host(end, meet);
    if (mesh->options.board != NULL && meet->incarnation != 0)
        end->berth = board_berth_find(mesh->options.board, meet->incarnation);
    link_trust(end->link, mesh->options.message_max);
    return true;
}

/* --- what links report ---------------------------------------------------- */

static void on_up(void *context, struct link *link)
{
    struct mesh *mesh = context;
    struct end *end = link_user(link);

    if (mesh->over) {
        link_close(link);
        return;
    }
    if (end == NULL)
        end = add(mesh, link, NO_NUMBER);
    if (end == NULL) {
        link_close(link);
        return;
    }
    end->up = true;
    if (end->number != NO_NUMBER)
        mesh->options.events->up(mesh->options.context, end->number);
}

static enum err decode(struct mesh *mesh, const struct end *end,
                       const uint8_t *data, size_t size, struct msg *msg)
{
    return end->berth != BOARD_NONE && codec_is_posted(data, size)
               ? lending_find(mesh->options.board, end->berth,
                              mesh->options.sum_dims, &mesh->room, data, size,
                              msg)
               : codec_decode(data, size, &mesh->room, msg);
}

static void take_message(struct mesh *mesh, struct end *end, enum plane plane,
                         const uint8_t *data, size_t size)
{
    struct msg msg;

    if (end->number == NO_NUMBER && roll_codec_is(data, size)) {
        const char *const why =
            usher_answer(mesh->options.parts, end->link, data, size);

        if (why != NULL)
            log_refusal(mesh, end, why);
        drop(mesh, end);
        return;
    }
    if (decode(mesh, end, data, size, &msg) != ERR_OK || msg.leaf != 0 ||
        is_urgent(msg.kind) != (plane == PLANE_CONTROL)) {
        log_refusal(mesh, end, "it sent what is no message of a peer");
        break_off(mesh, end);
        return;
    }
    if (end->number == NO_NUMBER && msg.kind == MSG_ASK) {
        answer(mesh, end, &msg.ask);
        return;
    }
    if (end->number == NO_NUMBER && msg.kind == MSG_HELLO) {
        tell_terms(mesh, end, &msg.hello);
        return;
    }
    if (end->number == NO_NUMBER && msg.kind != MSG_MEET) {
        reject(mesh, end, "this is a peer of a ring, and no coordinator");
        return;
    }
    if (msg.kind == MSG_MEET && !greet(mesh, end, &msg.meet))
        return;
    end->heard = link_heard(end->link, PLANE_BULK);
    mesh->options.events->message(mesh->options.context, end->number, &msg);
}

static struct end *find_road(struct mesh *mesh, uint64_t link)
{
    struct end *end = mesh->ends;

    while (end != NULL && end->road.link != link)
        end = end->next;
    return end;
}

/* All that may be read now of what the neighbour there has left.  Whom the
 * machine hears it may close, and others. */
static void take_letters(struct mesh *mesh, uint32_t berth)
{
    struct board *const board = mesh->options.board;
    struct letter letter;

    while (!mesh->over &&
           letter_look(board, berth, mesh->options.berth, &letter)) {
        struct end *const end =
            letter.size > 0 ? find_road(mesh, letter.link) : NULL;

        /* Its MEET is under way, or what was sent before. */
        if (end != NULL &&
            (end->berth != berth || !letter_is_next(&letter, &end->road)))
            return;
        letter_take(board, berth, mesh->options.berth);
        if (end != NULL)
            take_message(mesh, end, PLANE_BULK, letter.bytes, letter.size);
    }
}

static void on_bell(void *context)
{
    struct mesh *mesh = context;
    const uint32_t berths = board_shape(mesh->options.board)->berths;

    for (uint32_t berth = 0; berth < berths; berth++)
        take_letters(mesh, berth);
}

/* Letters that were left before it are read before it, and those after it that
 * have waited for it. */
static void on_message(void *context, struct link *link, enum plane plane,
                       const uint8_t *data, size_t size)
{
    struct mesh *mesh = context;
    struct end *end = link_user(link);
    const uint64_t number = link_number(link);

    if (end != NULL && end->berth != BOARD_NONE)
        take_letters(mesh, end->berth);
    end = find_road(mesh, number);
    if (end == NULL || mesh->over)
        return;
    end->road.received += plane == PLANE_BULK;
    take_message(mesh, end, plane, data, size);
    end = find_road(mesh, number);
    if (end != NULL && end->berth != BOARD_NONE)
        take_letters(mesh, end->berth);
}

static void on_down(void *context, struct link *link, enum link_end how,
                    const char *why)
{
    struct mesh *mesh = context;
    struct end *end = link_user(link);
    uint32_t number;

    if (end == NULL)
        return;
    number = end->number;
    forget(mesh, end);
    if (mesh->over || number == NO_NUMBER)
        return;
    if (how == LINK_REFUSED) {
        reject_log_once(&mesh->rejects, clock_now_us(), why, why);
        mesh->options.events->refused(mesh->options.context, number, why);
    }
    mesh->options.events->down(mesh->options.context, number);
}

static void on_refused(void *context, const char *why)
{
    struct mesh *mesh = context;

    reject_log_add(&mesh->rejects, clock_now_us(), why);
}

static const struct link_events link_events = {
    .up = on_up, .message = on_message, .down = on_down, .refused = on_refused};

enum err mesh_dial(struct mesh *mesh, uint32_t number,
                   const struct net_address *address)
{
    struct link *link;
    enum err err;

    CHECK(find(mesh, number) == NULL);
    err = link_dial(mesh->hub, address, &link);
    if (err == ERR_OK && add(mesh, link, number) == NULL) {
        link_close(link);
        err = ERR_NOMEM;
    }
    return err;
}

void mesh_expect(struct mesh *mesh, bool soon)
{
    listener_expect(mesh->bell, soon);
}

/* --- life ----------------------------------------------------------------- */

enum err mesh_new(const struct mesh_options *options, struct mesh **mesh)
{
    struct mesh *made = mem_new(1, sizeof *made);
    struct link_options links = {.loop = options->loop,
                                 .token = options->token,
                                 .source = options->source,
                                 .events = &link_events,
                                 .plain = options->plain,
                                 .elsewhere = true};
    enum err err;

    if (made == NULL)
        return ERR_NOMEM;
    made->options = *options;
    links.context = made;
    err = codec_room_init(&made->room, options->dims, options->sum_dims, 0);
    made->room.packed = true;
    if (err == ERR_OK)
        err = codec_room_peers(&made->room);
    if (err == ERR_OK)
        err = timer_new(options->loop, drop_failed, made, &made->failing);
    if (err == ERR_OK && options->board != NULL)
        err = listener_new(options->loop, options->board, options->berth,
                           BOARD_WORKER, on_bell, made, &made->bell);
    if (err == ERR_OK)
        err = link_hub_new(&links, &made->hub);
    if (err == ERR_OK)
        err = link_hub_listen(made->hub, options->listen_fd);
    if (err == ERR_OK)
        *mesh = made;
    else
        mesh_free(made);
    return err;
}

const struct link_hub *mesh_end(struct mesh *mesh)
{
    mesh->over = true;
    link_hub_stop_listening(mesh->hub);
    listener_free(mesh->bell);
    mesh->bell = NULL;
    while (mesh->ends != NULL)
        drop(mesh, mesh->ends);
    return mesh->hub;
}

void mesh_free(struct mesh *mesh)
{
    if (mesh == NULL)
        return;
    reject_log_end(&mesh->rejects);
    listener_free(mesh->bell);
    while (mesh->ends != NULL)
        forget(mesh, mesh->ends);
    link_hub_free(mesh->hub);
    timer_free(mesh->failing);
    codec_room_close(&mesh->room);
    envelope_close(&mesh->envelope);
    sheets_close(&mesh->sheets);
    mem_free(mesh);
}
