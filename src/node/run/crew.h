/*
 * crew.h - the processes of a run: one coordinator, local workers, relays; or
 * the peers of a ring.
 *
 * The supervisor forks them all and reaps them all; crew_close leaves none,
 * however the run ended.
 */
#ifndef NODE_CREW_H
#define NODE_CREW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "node/relay/relay_node.h"
#include "node/ring/peer_node.h"
#include "node/run/train.h"
#include "node/star/coordinator_node.h"
#include "node/worker/worker_node.h"
#include "os/run/process.h"

#define CREW_COORDINATOR "coordinator"
#define CREW_OWN_MAX     4u
#define CREW_STOP_CODE   3 /* Exit code: the user's function said stop. */

struct crew_member {
    struct train_process process; /* pid 0 = gone. */
    struct process_end end;       /* Once it is gone. */
    bool reported;                /* Its end was taken note of. */
    bool relay;
    uint32_t lives;       /* Of a relay. */
    time_us began_at;     /* This life. */
    uint32_t failures;    /* Lives in a row that ended as they began. */
    time_us restart_at;   /* The next one begins; 0 = it is not to. */
    time_us resume_at;    /* Stopped until then; 0 = not stopped. */
    uint32_t resume_step; /* ... or until this step. */
};

/* Relays and who is behind them. */
struct crew_relays {
    uint32_t count, fanout;
    uint32_t lowest;  /* So many have workers; then come those above them, level
                         by level. */
    const int *doors; /* Their listening sockets. */
    /* For those below relay r: [2r] the relay, [2r + 1] the coordinator. */
    const struct net_address *ways;
};

struct crew {
    struct crew_member *members; /* [0] is the coordinator; a ring has none. */
    struct train_process *view;  /* For train_processes. */
    size_t view_capacity;
    uint32_t count;
    size_t capacity;
    uint32_t workers_made;
    /* Descriptors of the supervisor that no child may keep open. */
    int own[CREW_OWN_MAX];
    int listen_fd; /* For the coordinator alone. */
    struct crew_relays relays;
    int *drop; /* What a child must close. */
};

MUST_CHECK enum err crew_init(struct crew *crew,
                              const struct crew_relays *relays);
/* Kill and reap whoever is left. */
void crew_close(struct crew *crew);

MUST_CHECK enum err
crew_start_coordinator(struct crew *crew,
                       const struct coordinator_node_options *options,
                       struct why *why);
/* Next free name w0, w1, ...; or `name` again. */
MUST_CHECK enum err crew_start_worker(struct crew *crew, const char *name,
                                      const struct worker_node_options *base,
                                      struct why *why);

/* Relay r0, r1, ... for the first time, or again. */
/* Relays for so many workers, or for so many relays. */
static inline uint32_t crew_level(uint32_t below, uint32_t fanout)
{
    return (below + fanout - 1) / fanout;
}

MUST_CHECK enum err crew_start_relay(struct crew *crew, uint32_t index,
                                     const struct relay_node_options *base,
                                     struct why *why);

/* A peer of a ring, for the first time or again: its name and its listening
 * socket are in `options`. */
MUST_CHECK enum err crew_start_peer(struct crew *crew,
                                    const struct peer_node_options *options,
                                    struct why *why);

/* The wait before a life, after so many deaths in a row. */
time_us crew_backoff(uint32_t deaths);
/* It died: when its next life begins.  At once, as a rule; but one that fails
 * as soon as it begins would keep a processor busy with nothing. */
void crew_put_off(struct crew_member *member, time_us now);

struct crew_member *crew_find(struct crew *crew, const char *name);
/* Take note of whoever has ended. */
void crew_reap(struct crew *crew);
uint32_t crew_workers_alive(const struct crew *crew);
const struct train_process *crew_processes(struct crew *crew, uint32_t *count);

#endif /* NODE_CREW_H */
