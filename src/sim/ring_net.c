/*
 * ring_net.c - connections between the peers of a simulated ring.
 *
 * What is sent on one arrives in order, or the connection ends: packets have
 * numbers, and one that is due before its turn, or while the two do not reach
 * each other, is looked at again a little later.  Only a PULSE keeps no order,
 * as in mesh.h; how long it travels comes from a stream of its own, so that
 * seeds that once showed a bug still do.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "sim/ring_world.h"

#define AGAIN_US (2 * MS_US)

bool ring_reaches(const struct ring_world *world, uint32_t a, uint32_t b)
{
    if ((world->side >> a & 1) != (world->side >> b & 1))
        return false;
    return (world->cut_pairs >> (8 * a + b) & 1) == 0;
}

static bool is_set(uint64_t pairs, uint32_t from, uint32_t to)
{
    return (pairs >> (8 * from + to) & 1) != 0;
}

/* Has it a connection of its own? */
static bool is_urgent(enum msg_kind kind)
{
    return kind == MSG_MEET || !msg_is_bulk(kind);
}

static bool is_disturbed(const struct ring_world *world, uint32_t from,
                         uint32_t to)
{
    return is_set(world->mute | world->choke | world->trickle, from, to);
}

/* Does it stay on its way? */
static bool is_held(const struct ring_world *world, uint32_t from, uint32_t to,
                    const struct packet *packet)
{
    const uint64_t all = world->mute | world->trickle;

    if (packet == NULL || is_urgent(packet->kind))
        return false;
    return is_set(all, from, to) ||
           (is_set(world->choke, from, to) &&
            (packet->kind == MSG_SLICE || packet->kind == MSG_STATE));
}

static time_us travel_by(const struct ring_world *world, struct rng *rng)
{
    const struct sim_options *run = world->options->run;

    return run->latency_us +
           (time_us)rng_below(rng, (uint64_t)run->jitter_us + 1);
}

static time_us travel(struct ring_world *world)
{
    return travel_by(world, &world->rng);
}

/* The end that the node has, 2 if it is none of it any more. */
static int end_of(const struct ring_world *world, const struct ring_conn *conn,
                  uint32_t node)
{
    for (int end = 0; end < 2; end++)
        if (conn->node[end] == node && conn->open[end] &&
            conn->life[end] == world->nodes[node].life)
            return end;
    return 2;
}

static struct ring_conn *find(struct ring_world *world, uint32_t node,
                              uint32_t link, int *end)
{
    for (size_t i = world->conn_count; i-- > 0;) {
        struct ring_conn *conn = &world->conns[i];

        *end = end_of(world, conn, node);
        if (*end < 2 && conn->link[*end] == link)
            return conn;
    }
    return NULL;
}

static uint32_t conn_index(const struct ring_world *world,
                           const struct ring_conn *conn)
{
    return (uint32_t)(conn - world->conns);
}

/* A packet, or the end, to the other side. */
static void push(struct ring_world *world, struct ring_conn *conn, int end,
                 struct packet *packet)
{
    time_us at = world->base.now + travel(world);

    if (at < conn->last_at[end])
        at = conn->last_at[end];
    conn->last_at[end] = at;
    world_push(&world->base, (struct happening){.at = at,
                                                .kind = RING_PACKET,
                                                .node = conn->node[1 - end],
                                                .life = conn->life[1 - end],
                                                .conn = conn_index(world, conn),
                                                .number = conn->sent[end]++,
                                                .peer = (uint32_t)(1 - end),
                                                .packet = packet});
}

/* Beside the others. */
static void push_pulse(struct ring_world *world, const struct ring_conn *conn,
                       int end, struct packet *packet)
{
    world_push(&world->base,
               (struct happening){.at = world->base.now +
                                        travel_by(world, &world->pulse_rng),
                                  .kind = RING_PULSE,
                                  .node = conn->node[1 - end],
                                  .life = conn->life[1 - end],
                                  .conn = conn_index(world, conn),
                                  .peer = (uint32_t)(1 - end),
                                  .packet = packet});
}

/* --- lent sums ------------------------------------------------------------ */

/* Memory that peers of one machine share. */
enum err ring_open_rooms(struct ring_world *world)
{
    const struct oracle *const oracle = &world->base.oracle;
    const uint32_t vectors = optim_part_vectors(&world->options->run->optim);

    for (uint32_t i = 0; i < world->options->peers_max; i++) {
        void **const stepped = &world->nodes[i].stepped;

        if (vectors > 0)
            *stepped = mem_new(share_bytes(oracle->dims, vectors), 1);
        if (vectors > 0 && *stepped == NULL)
            return ERR_NOMEM;
        for (uint32_t k = 0; k < PEER_ROOMS; k++) {
            int64_t **const room = &world->nodes[i].rooms[k];

            *room = mem_new(oracle->sum_dims, sizeof **room);
            if (*room == NULL)
                return ERR_NOMEM;
        }
    }
    return ERR_OK;
}

void ring_close_rooms(struct ring_world *world)
{
    for (uint32_t i = 0; i < world->options->peers_max; i++) {
        mem_free(world->nodes[i].stepped);
        for (uint32_t k = 0; k < PEER_ROOMS; k++)
            mem_free(world->nodes[i].rooms[k]);
    }
}

void ring_lend_rooms(struct ring_world *world, uint32_t node,
                     struct peer_options *options)
{
    struct ring_node *const at = &world->nodes[node];

    for (uint32_t k = 0; k < PEER_ROOMS && world->options->machines > 0; k++)
        options->rooms[k] = (struct slice_room){at->rooms[k], &at->seals[k]};
    if (at->stepped != NULL)
        options->stepped =
            (struct share_room){at->stepped, &at->seals[PEER_ROOMS]};
}

static bool share(const struct ring_world *world, uint32_t a, uint32_t b)
{
    const uint32_t machines = world->options->machines;

    return machines > 0 && a % machines == b % machines;
}

/* The message, or a note of where its sums lie. */
static size_t encode(struct ring_world *world, uint32_t from, uint32_t to,
                     const struct msg *msg, uint8_t *out)
{
    const struct seal *const seals = world->nodes[from].seals;
    struct posted where;

    if (msg->kind != MSG_SLICE || msg->slice.seal == NULL ||
        !share(world, from, to)) {
        CHECK(msg->kind != MSG_SLICE || msg->slice.stepped == NULL);
        return codec_encode(msg, out);
    }
    where = (struct posted){.place = (uint32_t)(msg->slice.seal - seals),
                            .sequence = msg->slice.number};
    CHECK(where.place <= PEER_ROOMS);
    world->counted.lent++;
    world->counted.stepped += msg->slice.stepped != NULL;
    return codec_encode_posted(msg, &where, out);
}

static enum err decode(struct ring_world *world, uint32_t from,
                       const struct packet *packet, struct msg *msg)
{
    struct ring_node *const at = &world->nodes[from];
    struct posted where;
    enum err err;

    if (!codec_is_posted(packet->bytes, packet->size))
        return codec_decode(packet->bytes, packet->size, &world->room, msg);
    err = codec_decode_posted(packet->bytes, packet->size, &world->room, msg,
                              &where);
    if (err != ERR_OK)
        return err;
    if (where.place == PEER_ROOMS)
        msg->slice.stepped = at->stepped;
    else
        msg->slice.sum = at->rooms[where.place] + msg->slice.at;
    msg->slice.seal = &at->seals[where.place];
    msg->slice.number = where.sequence;
    return ERR_OK;
}

/* --- messages ------------------------------------------------------------- */

void ring_send(struct ring_world *world, uint32_t node, uint32_t link,
               const struct msg *msg)
{
    int end;
    struct ring_conn *conn = find(world, node, link, &end);
    struct packet *packet;

    if (msg->kind == MSG_SLICE)
        ring_check_slice(world, node, &msg->slice);
    if (conn == NULL)
        return; /* It broke, and the machine is about to hear of it. */
    packet = mem_new(1, sizeof *packet);
    CHECK(packet != NULL);
    packet->capacity = codec_bound(msg);
    packet->bytes = mem_new(packet->capacity, 1);
    CHECK(packet->bytes != NULL);
    packet->size = encode(world, node, conn->node[1 - end], msg, packet->bytes);
    packet->kind = msg->kind;
    world->base.result->messages++;
    if (msg->kind == MSG_PULSE ||
        (msg->kind == MSG_BEAT &&
         is_disturbed(world, node, conn->node[1 - end])))
        push_pulse(world, conn, end, packet);
    else
        push(world, conn, end, packet);
}

void ring_dial(struct ring_world *world, uint32_t node, uint32_t link,
               const char *place)
{
    const uint32_t other = (uint32_t)strtoul(place, NULL, 10);

    CHECK(other < world->options->peers_max);
    world_push(&world->base,
               (struct happening){.at = world->base.now + travel(world),
                                  .kind = RING_DIAL,
                                  .node = node,
                                  .life = world->nodes[node].life,
                                  .number = link,
                                  .peer = other});
}

/* Open at both ends, if the other runs; nobody hears of it where it is cut. */
void ring_on_dial(struct ring_world *world, const struct happening *happening)
{
    const uint32_t from = happening->node;
    const uint32_t to = happening->peer;
    struct ring_node *other = &world->nodes[to];
    struct ring_conn *conn;

    if (happening->life != world->nodes[from].life ||
        !world->nodes[from].running || !ring_reaches(world, from, to) ||
        other->unplugged)
        return;
    if (world->conn_count == world->conn_capacity) {
        world->conns =
            mem_grow(world->conns, world->conn_count, world->conn_count + 1,
                     sizeof *world->conns, &world->conn_capacity);
        CHECK(world->conns != NULL);
    }
    conn = &world->conns[world->conn_count++];
    *conn = (struct ring_conn){.node = {from, to},
                               .life = {happening->life, other->life},
                               .link = {happening->number, other->next_link},
                               .open = {true, other->running}};
    if (other->running)
        other->next_link++;
    world_push(&world->base,
               (struct happening){.at = world->base.now + travel(world),
                                  .kind = RING_UP,
                                  .node = from,
                                  .life = happening->life,
                                  .conn = conn_index(world, conn)});
}

void ring_on_up(struct ring_world *world, const struct happening *happening)
{
    struct ring_conn *conn = &world->conns[happening->conn];
    const bool up = conn->open[1];

    if (!conn->open[0])
        return; /* Given up. */
    if (!up)
        conn->open[0] = false;
    ring_tell(world, happening->node,
              (struct event){.kind = up ? EVENT_LINK_UP : EVENT_LINK_DOWN,
                             .link = conn->link[0]});
}

static void close_end(struct ring_world *world, struct ring_conn *conn, int end,
                      bool silent)
{
    conn->open[end] = false;
    if (!silent)
        push(world, conn, end, NULL);
}

/* One that is dialled may not be there yet: the dial comes to nothing. */
static void forget_dial(struct ring_world *world, uint32_t node, uint32_t link)
{
    for (size_t i = 0; i < world->base.heap.count; i++) {
        struct happening *at = &world->base.heap.list[i];

        if (at->kind == RING_DIAL && at->node == node && at->number == link)
            at->life = UINT64_MAX;
    }
}

void ring_close_link(struct ring_world *world, uint32_t node, uint32_t link)
{
    int end;
    struct ring_conn *conn = find(world, node, link, &end);

    if (conn != NULL)
        close_end(world, conn, end, false);
    else
        forget_dial(world, node, link);
}

void ring_close_all(struct ring_world *world, uint32_t node, bool silent)
{
    for (size_t i = 0; i < world->conn_count; i++) {
        struct ring_conn *conn = &world->conns[i];
        const int end = end_of(world, conn, node);

        if (end < 2)
            close_end(world, conn, end, silent);
    }
}

/* Both ends are told; what is on its way is lost. */
void ring_reset(struct ring_world *world, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < world->conn_count; i++) {
        struct ring_conn *conn = &world->conns[i];
        const int end = end_of(world, conn, a);

        if (end == 2 || conn->node[1 - end] != b || !conn->open[1 - end])
            continue;
        conn->dropped = true;
        push(world, conn, 0, NULL);
        push(world, conn, 1, NULL);
    }
}

static void put_off(struct ring_world *world, const struct happening *happening)
{
    struct happening again = *happening;

    again.at = world->base.now + AGAIN_US;
    world_push(&world->base, again);
}

static void free_packet(struct packet *packet)
{
    if (packet != NULL)
        mem_free(packet->bytes);
    mem_free(packet);
}

static void deliver(struct ring_world *world, const struct happening *happening,
                    uint32_t link)
{
    const struct ring_conn *conn = &world->conns[happening->conn];
    struct msg msg;

    if (decode(world, conn->node[1 - happening->peer], happening->packet,
               &msg) != ERR_OK) {
        checker_violate(&world->base.checker, "a message that cannot be read");
        return;
    }
    ring_tell(world, happening->node,
              (struct event){.kind = EVENT_MESSAGE, .link = link, .msg = &msg});
}

void ring_on_packet(struct ring_world *world, const struct happening *happening)
{
    struct ring_conn *conn = &world->conns[happening->conn];
    const uint32_t end = happening->peer;
    const uint32_t link = conn->link[end];

    if (!conn->open[end] ||
        happening->life != world->nodes[happening->node].life ||
        !world->nodes[happening->node].running) {
        conn->delivered[1 - end]++;
        free_packet(happening->packet);
        return;
    }
    /* Either connection's end is the link's. */
    if (happening->packet == NULL &&
        is_disturbed(world, conn->node[1 - end], happening->node) &&
        ring_reaches(world, conn->node[0], conn->node[1])) {
        conn->open[end] = false;
        ring_tell(world, happening->node,
                  (struct event){.kind = EVENT_LINK_DOWN, .link = link});
        return;
    }
    if (happening->number != conn->delivered[1 - end] ||
        is_held(world, conn->node[1 - end], happening->node,
                happening->packet) ||
        !ring_reaches(world, conn->node[0], conn->node[1])) {
        put_off(world, happening);
        return;
    }
    conn->delivered[1 - end]++;
    if (happening->packet == NULL) {
        conn->open[end] = false;
        ring_tell(world, happening->node,
                  (struct event){.kind = EVENT_LINK_DOWN, .link = link});
    } else if (!conn->dropped) {
        deliver(world, happening, link);
    }
    free_packet(happening->packet);
}

/* The first of a connection is a MEET, which nothing overtakes. */
void ring_on_pulse(struct ring_world *world, const struct happening *happening)
{
    const struct ring_conn *conn = &world->conns[happening->conn];
    const uint32_t end = happening->peer;
    const struct ring_node *at = &world->nodes[happening->node];
    const bool there = conn->open[end] && happening->life == at->life &&
                       at->running && !conn->dropped;

    if (there && (conn->delivered[1 - end] == 0 ||
                  !ring_reaches(world, conn->node[0], conn->node[1]))) {
        put_off(world, happening);
        return;
    }
    if (there && is_set(world->trickle, conn->node[1 - end], happening->node))
        ring_tell(world, happening->node,
                  (struct event){.kind = EVENT_MOVED, .link = conn->link[end]});
    if (there)
        deliver(world, happening, conn->link[end]);
    free_packet(happening->packet);
}
