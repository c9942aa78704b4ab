/*
 * relay.c - the relays' processes: core/relay/relay.h between two connections.
 *
 *     worker i --> relay i / fanout --> coordinator
 *
 * With `deep` all relays but the first are behind others.  Who is turned away
 * tries the next relay, then the coordinator, and so on.
 */
#include "sim/world.h"

#include <stdio.h>

#include "base/check.h"
#include "base/mem.h"

#define RETRY_US     (20 * MS_US)
#define RETRY_MAX_US (500 * MS_US)
#define MEND_US      (300 * MS_US)
#define WAYS         3u

bool is_relay(uint32_t node)
{
    return node >= NODE_RELAY && node < NODE_NOBODY;
}

enum err sim_relays_init(struct world *world)
{
    const uint32_t fanout = world->options->fanout;
    enum err err = ERR_OK;

    if (fanout == 0)
        return ERR_OK;
    CHECK(!world->options->ideal);
    world->relay_count = (world->worker_count + fanout - 1) / fanout;
    world->relays = mem_new(world->relay_count, sizeof *world->relays);
    if (world->relays == NULL)
        return ERR_NOMEM;
    for (uint32_t i = 0; i < world->relay_count && err == ERR_OK; i++) {
        world->relays[i].caller.conn = CONN_NONE;
        err = network_listener(&world->relays[i].listener,
                               2 * (world->workers_max + world->relay_count));
    }
    return err;
}

void sim_relays_close(struct world *world)
{
    for (uint32_t i = 0; i < world->relay_count && world->relays != NULL; i++) {
        struct sim_relay *relay = &world->relays[i];

        if (relay->process.running) {
            relay_close(&relay->machine);
            process_end(world, &relay->process);
        }
        mem_free(relay->process.held);
        mem_free(relay->listener.link_conn);
    }
    mem_free(world->relays);
    world->relays = NULL;
}

uint32_t sim_relay_for(const struct world *world, uint32_t worker)
{
    const uint32_t way = world->workers[worker].caller.tries % WAYS;

    if (world->relay_count == 0 || way == WAYS - 1)
        return NODE_COORDINATOR;
    return NODE_RELAY +
           (worker / world->options->fanout + way) % world->relay_count;
}

/* Its parent is before it: there are no circles. */
static uint32_t parent_of(const struct world *world, uint32_t index)
{
    const struct sim_relay *relay = &world->relays[index];

    if (index == 0 || !world->options->deep || relay->caller.tries % 2 == 1)
        return NODE_COORDINATOR;
    return NODE_RELAY + (index - 1) / world->options->fanout;
}

static uint32_t conn_of(const struct sim_relay *relay, uint32_t link)
{
    if (link == RELAY_PARENT)
        return relay->caller.conn;
    CHECK(link < relay->listener.links);
    return relay->listener.link_conn[link];
}

/* To the parent it is what a worker is, to the others a coordinator. */
static int way_to(uint32_t link)
{
    return link == RELAY_PARENT ? TO_COORDINATOR : TO_WORKER;
}

static void hang_up(struct world *world, struct sim_relay *relay, uint32_t link)
{
    const uint32_t conn = conn_of(relay, link);

    if (conn == CONN_NONE)
        return;
    network_close_end(world, conn, !way_to(link));
    if (link == RELAY_PARENT)
        relay->caller.conn = CONN_NONE;
}

static void say(struct world *world, struct sim_relay *relay,
                const struct action *action)
{
    const uint32_t conn = conn_of(relay, action->link);
    const int way = way_to(action->link);
    const enum msg_kind kind = action->msg.kind;

    if (conn == CONN_NONE || !world->conns[conn].open[!way])
        return; /* It broke and the machine has not been told yet. */
    network_send(world, conn, way, &action->msg, false);
    /* After a last word to a worker its link is closed. */
    if (action->link != RELAY_PARENT && action->msg.leaf == 0 &&
        (kind == MSG_BYE || kind == MSG_REJECT))
        hang_up(world, relay, action->link);
}

static void obey(struct world *world, uint32_t index,
                 const struct action *action, bool *ended)
{
    struct sim_relay *relay = &world->relays[index];

    switch ((int)action->kind) {
    case ACTION_SEND:
        say(world, relay, action);
        break;
    case ACTION_CLOSE:
        hang_up(world, relay, action->link);
        break;
    case ACTION_TIMER:
        world_set_timer(world, NODE_RELAY + index, action->at);
        break;
    case ACTION_CONNECT:
        network_dial(world, NODE_RELAY + index, parent_of(world, index));
        break;
    case ACTION_OPEN:
        break;
    case ACTION_FINISH:
        world_note(world, NODE_RELAY + index, '-', "ends: %s", action->reason);
        *ended = true;
        break;
    default:
        CHECK(!"not an action of a relay");
    }
}

/* --- lives --------------------------------------------------------------- */

static void end_life(struct world *world, uint32_t index, bool unplugged)
{
    struct sim_relay *relay = &world->relays[index];

    for (uint32_t link = 0; link < relay->listener.links; link++) {
        const uint32_t conn = relay->listener.link_conn[link];

        if (conn != CONN_NONE && unplugged)
            network_drop_end(world, conn, TO_COORDINATOR);
        else if (conn != CONN_NONE)
            network_close_end(world, conn, TO_COORDINATOR);
    }
    if (relay->caller.conn != CONN_NONE && unplugged)
        network_drop_end(world, relay->caller.conn, TO_WORKER);
    else
        hang_up(world, relay, RELAY_PARENT);
    relay->caller.conn = CONN_NONE;
    relay_close(&relay->machine);
    process_end(world, &relay->process);
    relay->process.unplugged = unplugged;
    if (world->mending)
        world_start_later(world, NODE_RELAY + index, MEND_US);
}

static void step(struct world *world, uint32_t index, struct event event)
{
    struct sim_relay *relay = &world->relays[index];
    bool ended = false;

    event.now = world->now;
    relay_step(&relay->machine, &event, &world->actions);
    for (uint32_t i = 0; i < world->actions.count; i++)
        obey(world, index, &world->actions.list[i], &ended);
    if (!ended)
        return;
    end_life(world, index, false); /* Whoever runs it starts it again. */
    world_start_later(world, NODE_RELAY + index, MEND_US);
}

void sim_relay_crash(struct world *world, uint32_t index, bool unplugged)
{
    world_note(world, NODE_RELAY + index, '!', "%s",
               unplugged ? "power cut" : "killed");
    end_life(world, index, unplugged);
}

void sim_relay_start(struct world *world, uint32_t index)
{
    struct sim_relay *relay = &world->relays[index];
    struct relay_options options = {
        .links_max = relay->listener.links,
        .leaves_max = 2 * world->workers_max,
        .retry_us = RETRY_US,
        .retry_max_us = RETRY_MAX_US,
        .give_up_us = TIME_NEVER,
    };

    process_begin(&relay->process);
    (void)snprintf(options.name, sizeof options.name, "r%u", index);
    CHECK(relay_init(&relay->machine, &options) == ERR_OK);
    world_note(world, NODE_RELAY + index, '+', "starts");
    step(world, index,
         (struct event){.kind = EVENT_START, .link = RELAY_PARENT});
}

/* --- what happens to them ------------------------------------------------ */

static bool passed_on(const struct actions *actions)
{
    for (uint32_t i = 0; i < actions->count; i++) {
        const struct action *action = &actions->list[i];

        if (action->kind == ACTION_SEND &&
            (action->msg.kind == MSG_TALLY || action->msg.kind == MSG_ROW))
            return true;
    }
    return false;
}

/* Poison that a relay can see; of chunks that are not the piece's only the
 * coordinator knows. */
static bool out_of_bound(const struct msg *msg)
{
    const int64_t limit = INT64_C(1) << TALLY_BITS;

    for (uint32_t j = 0; msg->kind == MSG_TALLY && j < msg->tally.dims; j++) {
        if (msg->tally.sum[j] <= -limit || msg->tally.sum[j] >= limit)
            return true;
    }
    return false;
}

static void on_packet(struct world *world, const struct happening *happening)
{
    const uint32_t index = happening->node - NODE_RELAY;
    const struct relay *machine = &world->relays[index].machine;
    const bool down = happening->number == TO_WORKER;
    const uint32_t before = machine->answer_count;
    const struct msg *decoded;
    struct msg msg;
    bool visible;

    if (!network_arrives(world, happening))
        return;
    decoded = network_decode(machine->open ? &world->room : &world->bare,
                             happening->packet, &msg);
    if (decoded == NULL) {
        if (machine->open)
            checker_violate(&world->checker, "wire: a message did not decode");
        return;
    }
    world->passes_poison = happening->packet->poisoned;
    visible = world->passes_poison && out_of_bound(decoded);
    step(world, index,
         (struct event){.kind = EVENT_MESSAGE,
                        .link = down ? RELAY_PARENT
                                     : world->conns[happening->conn].link,
                        .msg = decoded});
    if (visible && !passed_on(&world->actions) &&
        machine->answer_count > before)
        checker_violate(&world->checker, "RELAY-1: a relay merged poison");
    world->passes_poison = false;
}

static void on_parent(struct world *world, const struct happening *happening)
{
    const uint32_t index = happening->node - NODE_RELAY;
    struct sim_relay *relay = &world->relays[index];
    struct conn *conn = &world->conns[happening->conn];
    const bool up = happening->kind == HAPPEN_LINK_UP;

    if (!relay->process.running || happening->life != relay->process.life ||
        relay->caller.conn != happening->conn)
        return;
    conn->open[TO_WORKER] = up;
    if (!up) {
        relay->caller.conn = CONN_NONE;
        relay->caller.tries =
            relay->machine.phase == RELAY_SERVING ? 0 : relay->caller.tries + 1;
    }
    step(world, index,
         (struct event){.kind = up ? EVENT_LINK_UP : EVENT_LINK_DOWN,
                        .link = RELAY_PARENT});
}

static void on_child_down(struct world *world,
                          const struct happening *happening)
{
    const struct conn *conn = &world->conns[happening->conn];
    const uint32_t link = conn->link;

    if (!conn->open[TO_COORDINATOR])
        return;
    network_drop_end(world, happening->conn, TO_COORDINATOR);
    step(world, happening->node - NODE_RELAY,
         (struct event){.kind = EVENT_LINK_DOWN, .link = link});
}

void sim_relay_on(struct world *world, const struct happening *happening)
{
    const uint32_t index = happening->node - NODE_RELAY;
    const struct process *process = &world->relays[index].process;

    if (happening->kind == HAPPEN_PACKET) {
        on_packet(world, happening);
    } else if (happening->kind == HAPPEN_LINK_UP ||
               happening->kind == HAPPEN_LINK_DOWN) {
        if (world->conns[happening->conn].lower == happening->node)
            on_parent(world, happening);
        else
            on_child_down(world, happening);
    } else if (process->running && happening->life == process->life) {
        CHECK(happening->kind == HAPPEN_TIMER);
        if (world_timer_due(world, happening->node))
            step(world, index,
                 (struct event){.kind = EVENT_TIME, .link = RELAY_PARENT});
    }
}
