/*
 * network.c - connections between workers, relays and the coordinator.
 *
 * A connection has two planes, each first in, first out; the control plane is
 * faster, so that CANCEL may overtake ROUND.  A message is encoded when it is
 * sent and decoded when it arrives, by the real codec.
 *
 *   partition  by worker and direction, until a moment; what meets it is lost
 *              or (as TCP would) arrives when it heals
 *   burst      for a while messages of all connections are lost, doubled or
 *              late: harsher than TCP, the protocol must not care
 *   ghost      a double that turns up seconds later, on whatever connection
 *              the worker then has: of another view, life or incarnation
 *   replay     the last answers, all of them, once more as ghosts
 *   reset      an end that gets a message for a connection it does not hold
 *              answers as a kernel would: the sender learns that it is broken
 */
#include "sim/world.h"

#include <math.h>

#include "base/check.h"
#include "base/mem.h"

#define DIAL_TIMEOUT_US (400 * MS_US)
#define GHOST_US        (UINT64_C(2) * SECOND_US)
#define GHOST_SHARE     0.5
#define REPLAY_US       (UINT64_C(400) * MS_US)

/* --- packets ------------------------------------------------------------- */

static struct packet *new_packet(struct world *world, size_t size)
{
    struct packet *packet = world->free_packets;

    if (packet != NULL)
        world->free_packets = packet->next;
    else
        packet = mem_new(1, sizeof *packet);
    CHECK(packet != NULL);
    if (packet->capacity < size) {
        uint8_t *grown = mem_grow(packet->bytes, 0, size, 1, &packet->capacity);

        CHECK(grown != NULL);
        packet->bytes = grown;
    }
    packet->next = NULL;
    packet->size = size;
    packet->poisoned = false;
    return packet;
}

void network_free_packet(struct world *world, struct packet *packet)
{
    packet->next = world->free_packets;
    world->free_packets = packet;
}

static void destroy_packet(struct packet *packet)
{
    mem_free(packet->bytes);
    mem_free(packet);
}

void network_close(struct world *world)
{
    struct happening left;

    while (heap_pop(&world->heap, &left)) {
        if (left.packet != NULL)
            destroy_packet(left.packet);
    }
    for (uint32_t i = 0; i < MEMORIES_MAX; i++) {
        if (world->memories[i].packet != NULL)
            destroy_packet(world->memories[i].packet);
    }
    while (world->free_packets != NULL) {
        struct packet *packet = world->free_packets;

        world->free_packets = packet->next;
        destroy_packet(packet);
    }
    mem_free(world->conns);
    world->conns = NULL;
}

/* --- the way ------------------------------------------------------------- */

static struct conn *conn_at(struct world *world, uint32_t conn)
{
    CHECK(conn < world->conn_count);
    return &world->conns[conn];
}

/* The node at the end where `direction` leads. */
static uint32_t end_node(struct world *world, uint32_t conn, int direction)
{
    const struct conn *at = conn_at(world, conn);

    return direction == TO_WORKER ? at->lower : at->upper;
}

static struct caller *caller_of(struct world *world, uint32_t node)
{
    return is_relay(node) ? &world->relays[node - NODE_RELAY].caller
                          : &world->workers[node].caller;
}

static struct listener *listener_of(struct world *world, uint32_t node)
{
    return is_relay(node) ? &world->relays[node - NODE_RELAY].listener
                          : &world->coordinator.listener;
}

static time_us latency(struct world *world, bool bulk)
{
    const struct sim_options *options = world->options;
    time_us us = bulk ? options->bulk_latency_us : options->latency_us;

    if (options->ideal)
        return 0;
    if (options->jitter_us > 0)
        us += (time_us)rng_below(&world->network_rng,
                                 (uint64_t)options->jitter_us + 1);
    return us;
}

static bool is_cut(struct world *world, uint32_t lower, int direction)
{
    return caller_of(world, lower)->cut_until[direction] > world->now;
}

static bool in_burst(const struct world *world)
{
    return world->burst.until > world->now;
}

/* When a message sent now arrives.  Late ones leave the line. */
static time_us arrival(struct world *world, struct conn *conn, int direction,
                       bool bulk)
{
    time_us *last = &conn->last_at[direction][bulk];
    time_us at = world->now + latency(world, bulk);

    if (in_burst(world) && rng_chance(&world->network_rng, world->burst.late)) {
        world->result->reordered++;
        return at + (time_us)rng_below(&world->network_rng,
                                       (uint64_t)world->burst.late_us + 1);
    }
    if (at < *last)
        at = *last;
    *last = at;
    return at;
}

/* --- poison -------------------------------------------------------------- */

/* What a broken machine might send: never a value that could be right, or
 * other chunks than those of the piece. */
static void poison_tally(struct world *world, struct msg_tally *tally,
                         int64_t *sum)
{
    static const int64_t nonsense[] = {INT64_MIN, INT64_MAX, INT64_C(1) << 62,
                                       -(INT64_C(1) << 62)};
    struct rng *rng = &world->network_rng;
    uint64_t at;
    uint64_t kind;

    for (uint32_t j = 0; j < tally->dims; j++)
        sum[j] = tally->sum[j];
    at = rng_below(rng, tally->dims);
    kind = rng_below(rng, 5);
    if (kind < 4)
        sum[at] = nonsense[kind];
    else
        tally->piece++;
    tally->sum = sum;
}

/* What a machine that is silently wrong, or a liar, might send: nobody can tell
 * it from the truth who has not computed the piece. */
static void lie_tally(struct world *world, struct msg_tally *tally,
                      int64_t *sum)
{
    uint64_t at;

    for (uint32_t j = 0; j < tally->dims; j++)
        sum[j] = tally->sum[j];
    at = rng_below(&world->network_rng, tally->dims);
    /* Another value, in bound, and no two liars say the same. */
    sum[at] = sum[at] / 2 + (INT64_C(1) << 40) +
              (int64_t)rng_below(&world->network_rng, UINT64_C(1) << 30);
    tally->sum = sum;
    world->result->lies++;
}

static void poison_row(struct world *world, struct msg_row *row, double *values)
{
    const double nonsense[] = {(double)NAN, (double)INFINITY,
                               -(double)INFINITY};
    struct rng *rng = &world->network_rng;
    uint64_t at;

    for (uint32_t j = 0; j <= row->dims; j++)
        values[j] = row->row[j];
    at = rng_below(rng, (uint64_t)row->dims + 1);
    values[at] = nonsense[rng_below(rng, 3)];
    row->row = values;
}

/* Replaces the vectors of an answer; says if there were any. */
static bool poison_msg(struct world *world, struct msg *msg)
{
    if (msg->kind == MSG_TALLY && msg->tally.dims > 0) {
        poison_tally(world, &msg->tally, world->room.sum);
        return true;
    }
    if (msg->kind == MSG_ROW && msg->row.dims > 0) {
        poison_row(world, &msg->row, world->room.weights);
        return true;
    }
    return false;
}

/* --- sending and arriving ------------------------------------------------ */

static struct packet *encode(struct world *world, const struct msg *msg)
{
    struct packet *packet = new_packet(world, codec_bound(msg));

    packet->size = codec_encode(msg, packet->bytes);
    CHECK(packet->size <= packet->capacity);
    world->result->messages++;
    return packet;
}

static struct packet *copy_packet(struct world *world,
                                  const struct packet *packet)
{
    struct packet *copy = new_packet(world, packet->size);

    for (size_t i = 0; i < packet->size; i++)
        copy->bytes[i] = packet->bytes[i];
    copy->poisoned = packet->poisoned;
    return copy;
}

static void put_on_wire(struct world *world, uint32_t conn, int direction,
                        bool bulk, struct packet *packet)
{
    const time_us at = arrival(world, conn_at(world, conn), direction, bulk);

    world_push(world,
               (struct happening){.at = at,
                                  .kind = HAPPEN_PACKET,
                                  .node = end_node(world, conn, direction),
                                  .conn = conn,
                                  .number = (uint32_t)direction,
                                  .packet = packet});
}

static void haunt(struct world *world, uint32_t conn, int direction,
                  uint64_t within_us, struct packet *packet)
{
    const time_us after =
        (time_us)rng_below(&world->network_rng, within_us) + 1;

    world_push(world,
               (struct happening){.at = world->now + after,
                                  .kind = HAPPEN_PACKET,
                                  .node = end_node(world, conn, direction),
                                  .life = conn_at(world, conn)->lower,
                                  .conn = CONN_GHOST,
                                  .number = (uint32_t)direction,
                                  .packet = packet});
}

bool network_find_ghost(struct world *world, struct happening *happening)
{
    const uint32_t conn = caller_of(world, (uint32_t)happening->life)->conn;

    if (conn == CONN_NONE || !conn_at(world, conn)->open[happening->number])
        return false;
    happening->conn = conn;
    happening->node = end_node(world, conn, (int)happening->number);
    return true;
}

static void send_double(struct world *world, uint32_t conn, int direction,
                        bool bulk, struct packet *packet)
{
    world->result->doubled++;
    if (bulk && rng_chance(&world->network_rng, GHOST_SHARE))
        haunt(world, conn, direction, GHOST_US, packet);
    else
        put_on_wire(world, conn, direction, bulk, packet);
}

/* Keep a copy of an answer, in place of the oldest one kept. */
static void remember(struct world *world, uint32_t conn, int direction,
                     const struct packet *packet)
{
    struct memory *memory =
        &world->memories[world->memory_next++ % MEMORIES_MAX];

    if (memory->packet != NULL)
        network_free_packet(world, memory->packet);
    *memory = (struct memory){.packet = copy_packet(world, packet),
                              .conn = conn,
                              .direction = direction};
}

void network_replay(struct world *world)
{
    for (uint32_t i = 0; i < MEMORIES_MAX; i++) {
        struct memory *memory = &world->memories[i];

        if (memory->packet == NULL)
            continue;
        haunt(world, memory->conn, memory->direction, REPLAY_US,
              memory->packet);
        memory->packet = NULL;
    }
}

/* Is it one that must not be merged? */
static bool spoil_msg(struct world *world, struct msg *msg, enum spoil spoil)
{
    if (spoil == SPOIL_POISON)
        return poison_msg(world, msg);
    if (spoil == SPOIL_NOT || msg->kind != MSG_TALLY || msg->tally.dims == 0)
        return false;
    lie_tally(world, &msg->tally, world->room.sum);
    return !world->options->gullible;
}

void network_send(struct world *world, uint32_t conn, int direction,
                  const struct msg *msg, enum spoil spoil)
{
    const bool bulk = msg_is_bulk(msg->kind);
    struct msg sent = *msg;
    const bool poisoned = spoil_msg(world, &sent, spoil);
    struct packet *packet;

    if (in_burst(world) && rng_chance(&world->network_rng, world->burst.lose)) {
        world->result->lost++;
        return;
    }
    packet = encode(world, &sent);
    if (conn_at(world, conn)->upper == NODE_COORDINATOR)
        world->result->coordinator_bytes += packet->size;
    packet->poisoned =
        poisoned || (world->passes_poison &&
                     (msg->kind == MSG_TALLY || msg->kind == MSG_ROW));
    if (world->remembers && (msg->kind == MSG_TALLY || msg->kind == MSG_ROW ||
                             msg->kind == MSG_SUM))
        remember(world, conn, direction, packet);
    if (in_burst(world) && rng_chance(&world->network_rng, world->burst.twice))
        send_double(world, conn, direction, bulk, copy_packet(world, packet));
    put_on_wire(world, conn, direction, bulk, packet);
}

static bool machine_on(struct world *world, uint32_t node)
{
    return !world_process(world, node)->unplugged;
}

void network_put_off(struct world *world, const struct happening *happening,
                     time_us at)
{
    struct happening later = *happening;

    later.at = at;
    later.packet = copy_packet(world, happening->packet);
    world_push(world, later);
}

bool network_arrives(struct world *world, const struct happening *happening)
{
    const int direction = (int)happening->number;
    const struct conn *conn = conn_at(world, happening->conn);
    const struct caller *caller = caller_of(world, conn->lower);

    if (is_cut(world, conn->lower, direction)) {
        if (!caller->cut_loses)
            network_put_off(world, happening, caller->cut_until[direction]);
        return false;
    }
    if (conn->open[direction])
        return true;
    if (machine_on(world, happening->node))
        network_break(world, happening->conn, !direction);
    return false;
}

const struct msg *network_decode(struct codec_room *room,
                                 const struct packet *packet, struct msg *msg)
{
    if (codec_decode(packet->bytes, packet->size, room, msg) != ERR_OK)
        return NULL;
    return msg;
}

/* --- connections --------------------------------------------------------- */

enum err network_listener(struct listener *listener, uint32_t links)
{
    listener->links = links;
    listener->link_conn = mem_new(links, sizeof *listener->link_conn);
    for (uint32_t i = 0; listener->link_conn != NULL && i < links; i++)
        listener->link_conn[i] = CONN_NONE;
    return listener->link_conn == NULL ? ERR_NOMEM : ERR_OK;
}

void network_dial(struct world *world, uint32_t lower, uint32_t upper)
{
    const uint32_t conn = (uint32_t)world->conn_count;

    if (world->conn_count == world->conn_capacity) {
        struct conn *grown =
            mem_grow(world->conns, world->conn_count, world->conn_count + 1,
                     sizeof *grown, &world->conn_capacity);

        CHECK(grown != NULL);
        world->conns = grown;
    }
    world->conns[world->conn_count++] =
        (struct conn){.lower = lower, .upper = upper};
    caller_of(world, lower)->conn = conn;
    world_push(world,
               (struct happening){.at = world->now + latency(world, false),
                                  .kind = HAPPEN_DIAL,
                                  .node = upper,
                                  .life = world_process(world, lower)->life,
                                  .conn = conn});
}

/* The attempt comes to nothing, at once (refused) or after a while. */
static void refuse(struct world *world, const struct happening *dial,
                   time_us after_us)
{
    world_push(world,
               (struct happening){.at = world->now + after_us,
                                  .kind = HAPPEN_LINK_DOWN,
                                  .node = conn_at(world, dial->conn)->lower,
                                  .life = dial->life,
                                  .conn = dial->conn});
}

/* The lowest free link: soon used again, which is the hardest case for whoever
 * forgets to forget. */
static uint32_t free_link(const struct listener *listener)
{
    for (uint32_t link = 0; link < listener->links; link++) {
        if (listener->link_conn[link] == CONN_NONE)
            return link;
    }
    return listener->links;
}

void network_on_dial(struct world *world, const struct happening *happening)
{
    struct conn *conn = conn_at(world, happening->conn);
    struct listener *listener = listener_of(world, conn->upper);
    const struct process *process = world_process(world, conn->upper);
    const uint32_t link = free_link(listener);

    if (is_cut(world, conn->lower, TO_COORDINATOR) ||
        is_cut(world, conn->lower, TO_WORKER) || process->unplugged) {
        refuse(world, happening, DIAL_TIMEOUT_US);
        return;
    }
    if (!process->running || link == listener->links) {
        refuse(world, happening, latency(world, false));
        return;
    }
    listener->link_conn[link] = happening->conn;
    conn->link = link;
    conn->open[TO_COORDINATOR] = true;
    world_push(world,
               (struct happening){.at = arrival(world, conn, TO_WORKER, false),
                                  .kind = HAPPEN_LINK_UP,
                                  .node = conn->lower,
                                  .life = happening->life,
                                  .conn = happening->conn});
}

void network_drop_end(struct world *world, uint32_t conn, int direction)
{
    struct conn *at = conn_at(world, conn);

    if (direction == TO_COORDINATOR && at->open[TO_COORDINATOR]) {
        struct listener *listener = listener_of(world, at->upper);

        CHECK(listener->link_conn[at->link] == conn);
        listener->link_conn[at->link] = CONN_NONE;
        if (!is_relay(at->upper))
            checker_link_down(&world->checker, at->link);
    }
    if (direction == TO_WORKER && caller_of(world, at->lower)->conn == conn)
        caller_of(world, at->lower)->conn = CONN_NONE;
    at->open[direction] = false;
}

void network_break(struct world *world, uint32_t conn, int direction)
{
    struct conn *at = conn_at(world, conn);
    time_us when = world->now + latency(world, false);

    if (!at->open[direction] || is_cut(world, at->lower, direction))
        return;
    /* The end of a stream comes after what is in it. */
    for (int bulk = 0; bulk < 2; bulk++) {
        if (when < at->last_at[direction][bulk])
            when = at->last_at[direction][bulk];
    }
    world_push(world,
               (struct happening){.at = when,
                                  .kind = HAPPEN_LINK_DOWN,
                                  .node = end_node(world, conn, direction),
                                  .life = world_process(world, at->lower)->life,
                                  .conn = conn});
}

void network_close_end(struct world *world, uint32_t conn, int direction)
{
    network_drop_end(world, conn, direction);
    network_break(world, conn, !direction);
}
