/*
 * tray.c - answers that the simulated coordinator is told together, as those on
 * a real one's board are (node/star/tray.h).
 *
 * What waits is copied: the packet is gone by then.  A tray is the driver's
 * memory, so a crash takes it along.
 */
#include "base/check.h"
#include "base/mem.h"
#include "math/exact/pack.h"
#include "sim/world.h"

enum err sim_tray_init(struct world *world)
{
    struct sim_tray *tray = &world->coordinator.tray;

    for (uint32_t i = 0; i < world->options->tray; i++) {
        tray->items[i].sum =
            mem_new(world->oracle.sum_dims, sizeof *tray->items[i].sum);
        if (tray->items[i].sum == NULL)
            return ERR_NOMEM;
    }
    return ERR_OK;
}

void sim_tray_close(struct world *world)
{
    for (uint32_t i = 0; i < SIM_TRAY_MAX; i++)
        mem_free(world->coordinator.tray.items[i].sum);
}

static bool has_link(const struct sim_tray *tray, uint32_t link)
{
    for (uint32_t i = 0; i < tray->count; i++) {
        if (tray->arrivals[i].link == link)
            return true;
    }
    return false;
}

/* False: no writer packs like that; who sent it is found out alone. */
static bool copy_sums(const struct msg_tally *msg, uint32_t room, int64_t *sum)
{
    struct unpacking unpacking = unpack_begin(&msg->packed);

    return msg->sum == NULL && msg->dims <= room &&
           unpack_next(&unpacking, msg->dims, sum);
}

bool sim_tray_put(struct world *world, uint32_t link)
{
    struct sim_tray *tray = &world->coordinator.tray;
    struct sim_tray_item *item = &tray->items[tray->count];
    const struct msg *msg = world->msg;

    CHECK(tray->count < SIM_TRAY_MAX);
    if (world->options->tray == 0 || msg->kind != MSG_TALLY || msg->leaf != 0 ||
        coordinator_awaits(&world->coordinator.machine) == 0 ||
        has_link(tray, link) ||
        !copy_sums(&msg->tally, world->oracle.sum_dims, item->sum))
        return false;
    item->msg = *msg;
    item->msg.tally.sum = item->sum;
    item->conn = world->msg_conn;
    item->poisoned = world->msg_poisoned;
    tray->arrivals[tray->count++] =
        (struct arrival){.at = world->now, .link = link, .msg = &item->msg};
    return true;
}

bool sim_tray_due(const struct world *world)
{
    const struct sim_tray *tray = &world->coordinator.tray;

    return tray->count == world->options->tray ||
           tray->count >= coordinator_awaits(&world->coordinator.machine);
}

void sim_tray_show(struct world *world, uint32_t link)
{
    const struct sim_tray *tray = &world->coordinator.tray;

    for (uint32_t i = 0; i < tray->count; i++) {
        if (tray->arrivals[i].link != link)
            continue;
        world->msg = &tray->items[i].msg;
        world->msg_conn = tray->items[i].conn;
        world->msg_poisoned = tray->items[i].poisoned;
    }
}
