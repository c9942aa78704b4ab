/*
 * tray.c - a small batch of answers that wait to be counted together.
 */
#include "node/star/tray.h"

#include <assert.h>

#include "base/check.h"

static_assert(TRAY_MAX <= ARRIVALS_MAX, "all are told in one event");

bool tray_blocks(const struct tray *tray, uint32_t berth)
{
    for (uint32_t i = 0; i < tray->count; i++) {
        if (tray->items[i].berth == berth)
            return true;
    }
    return tray->count == TRAY_MAX;
}

void tray_put(struct tray *tray, uint32_t link, time_us now,
              const struct tray_item *item)
{
    const uint32_t at = tray->count++;

    CHECK(at < TRAY_MAX);
    tray->items[at] = *item;
    tray->arrivals[at] =
        (struct arrival){.at = now, .link = link, .msg = &tray->items[at].msg};
}

bool tray_due(const struct tray *tray, uint32_t awaited)
{
    return tray->count > 0 &&
           (tray->count >= awaited || tray->count == TRAY_MAX);
}

void tray_clear(struct tray *tray, struct board *board)
{
    for (uint32_t i = 0; i < tray->count; i++)
        board_answer_release(board, tray->items[i].berth,
                             tray->items[i].where.place,
                             tray->items[i].where.sequence);
    tray->count = 0;
}
