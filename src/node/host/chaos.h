/*
 * chaos.h - faults on purpose: `--chaos kill:w3@20,stop:w2@10+5,kill=0.5/s`.
 *
 *     kill:NAME@STEP          kill -9 when STEP opens (NAME: w0, coordinator)
 *     stop:NAME@STEP+STEPS    SIGSTOP, SIGCONT STEPS steps later
 *     leave:NAME@STEP         SIGTERM: leaves in good order
 *     lie:NAME@STEP           from STEP on its answers are wrong, in bound
 *     join@STEP               one more local worker
 *     kill=R/s stop=R/s join=R/s coordinator=R/s   at random, R a second
 *     seed=N                  of the random ones
 */
#ifndef NODE_CHAOS_H
#define NODE_CHAOS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/msg.h"

#define CHAOS_MAX 256u

enum chaos_kind { CHAOS_KILL, CHAOS_STOP, CHAOS_LEAVE, CHAOS_JOIN, CHAOS_LIE };

struct chaos_event {
    enum chaos_kind kind;
    char name[NAME_SIZE]; /* "coordinator" or a worker; "" for join. */
    uint32_t step;
    uint32_t steps; /* STOP: for how long. */
};

struct chaos {
    uint32_t count;
    struct chaos_event events[CHAOS_MAX];
    double kill_rate, stop_rate, join_rate, coordinator_rate;
    uint64_t seed;
};

MUST_CHECK enum err chaos_parse(const char *text, struct chaos *chaos,
                                struct why *why);
bool chaos_names_coordinator(const struct chaos *chaos);
const char *chaos_verb(enum chaos_kind kind); /* As it is written. */
/* Is anybody killed, stopped, started or let go on when this step opens? */
bool chaos_acts(const struct chaos *chaos, uint32_t step);
/* Is the worker of that name to lie in this step? */
bool chaos_lies(const struct chaos *chaos, const char *name, uint32_t step);

#endif /* NODE_CHAOS_H */
