/*
 * tray.h - answers that lie on the board and wait to be counted together.
 *
 * The core adds up several tallies in one pass over its total, if it is told of
 * them together (EVENT_TALLIES).  So notes are read as they come, with the time
 * they came at, and told once the round needs no more, once the tray is full,
 * or before anything else is told: nothing overtakes them.
 *
 * Waiting costs what could have been added up meanwhile by a processor that has
 * nothing else to do; so it pays only where there are no more processors than
 * local workers.  Elsewhere those are told together that are there at once.
 */
#ifndef NODE_TRAY_H
#define NODE_TRAY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/action.h"
#include "node/host/posting.h"

#define TRAY_MAX 8u

/* One answer: what it says, and where it lies until it is released. */
struct tray_item {
    struct msg msg;
    uint32_t berth;
    struct posted where;
};

struct tray {
    bool waits; /* For answers that have not come yet. */
    uint32_t count;
    struct tray_item items[TRAY_MAX];
    struct arrival arrivals[TRAY_MAX];
};

/* Is there an answer of that berth, or no room for one more?  Then those before
 * are to be told first: a worker has two places for answers, and may need the
 * other one. */
bool tray_blocks(const struct tray *tray, uint32_t berth);
/* Lay it on the tray: a TALLY that posting_tally gave. */
void tray_put(struct tray *tray, uint32_t link, time_us now,
              const struct tray_item *item);
/* Are they to be told now, if the round awaits that many? */
bool tray_due(const struct tray *tray, uint32_t awaited);
/* All were told: their places are their workers' again. */
void tray_clear(struct tray *tray, struct board *board);

#endif /* NODE_TRAY_H */
