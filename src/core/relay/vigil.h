/*
 * vigil.h - a relay's watch over its leaves, and one beat for all of them.
 *
 *     leaf   -- BEAT --> relay                       20 times a second each
 *            <-- ECHO --
 *                        relay -- WATCH --> above    20 times a second in all
 *                              <-- ECHO --
 *
 * RELAY-5: the relay answers the beats itself, with the coordinator's clock as
 * far as it knows it, and says upwards only whom it does not hear, and for how
 * long.  What the coordinator must see of a beat, that a worker is idle again
 * and again (it may have lost its work), is passed on, ever more seldom.  Where
 * something went up anyway and nobody is silent, most WATCHes are left out.
 */
#ifndef CORE_VIGIL_H
#define CORE_VIGIL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/link/gaps.h"
#include "core/link/offset.h"
#include "core/msg.h"

struct vigil_leaf {
    bool here;
    bool listed;   /* The last WATCH said that it is silent. */
    uint32_t road; /* Of the relay between, + 1; 0 = it is our own. */
    time_us heard_at;
    struct gaps gaps;     /* Our own leaf's. */
    struct msg_beat last; /* Its last beat, ... */
    uint32_t same;        /* ... said so often before, idle each time. */
};

struct vigil {
    struct vigil_leaf *leaves;
    uint32_t leaves_max;
    struct gaps *roads; /* To the relays below, by their links. */
    uint32_t roads_max;
    struct silent *silent; /* SILENT_MAX: of the WATCH at hand. */
    uint32_t first;        /* Leaf that the next list begins with. */
    struct offset clock;   /* The coordinator's. */
    uint64_t sequence;     /* Of WATCHes, with those not sent. */
    uint64_t sent;         /* The last that was. */
    bool said;             /* Something went up since: we are here. */
    bool named;            /* The last WATCH had silent ones in it. */
    time_us due;           /* Next WATCH; TIME_NEVER. */
};

MUST_CHECK enum err vigil_init(struct vigil *vigil, uint32_t leaves_max,
                               uint32_t roads_max);
void vigil_close(struct vigil *vigil);

/* There is one above, from now on, or none. */
void vigil_begin(struct vigil *vigil, const struct job *job, time_us now);
void vigil_end(struct vigil *vigil);
/* There is a leaf at `index`, behind the relay `road` - 1 if road > 0. */
void vigil_join(struct vigil *vigil, uint32_t index, uint32_t road,
                const struct job *job, time_us now);
void vigil_leave(struct vigil *vigil, uint32_t index);
/* A relay below has come to `link`. */
void vigil_road(struct vigil *vigil, uint32_t link, const struct job *job);

void vigil_heard(struct vigil *vigil, uint32_t index, time_us now);
/* Our own leaf's beat, newer than the last or not.  True: pass it on. */
bool vigil_beat(struct vigil *vigil, uint32_t index, const struct job *job,
                const struct msg_beat *beat, time_us now);
/* WATCH from the relay on `link`: all behind it are there; those that it lists
 * are then to be set back.  False: it is an old one. */
bool vigil_below(struct vigil *vigil, uint32_t link, const struct job *job,
                 const struct msg_watch *watch, time_us now);
void vigil_silent(struct vigil *vigil, uint32_t index, time_us silence,
                  time_us now);

/* ECHO from above. */
void vigil_echo(struct vigil *vigil, const struct msg_echo *echo, time_us now);
/* ECHO to below; false: the coordinator's clock is not known yet. */
bool vigil_answer(const struct vigil *vigil, uint64_t sequence, int64_t sent_us,
                  time_us now, struct msg_echo *echo);
/* Anything from the relay on `link` is a sign of all whom it has not named. */
void vigil_road_heard(struct vigil *vigil, uint32_t link, time_us now);
/* One is due.  WATCH to above; `leaf` in it is an index.  False: it would say
 * nothing new. */
bool vigil_watch(struct vigil *vigil, const struct job *job, time_us now,
                 struct msg_watch *watch);

#endif /* CORE_VIGIL_H */
