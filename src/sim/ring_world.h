/*
 * ring_world.h - the state of one simulated ring; inside src/sim only.
 *
 *   ring.c         start, main loop, end; what a peer asks for
 *   ring_net.c     connections between peers
 *   ring_faults.c  what goes wrong, and when
 *   ring_check.c   what must hold
 */
#ifndef SIM_RING_WORLD_H
#define SIM_RING_WORLD_H

#include "core/ring/peer.h"
#include "sim/ring.h"
#include "sim/world.h"

enum ring_happening {
    RING_START,
    RING_TIMER,
    RING_PACKET, /* Or, without a packet, the end of the connection. */
    RING_DIAL,
    RING_UP,
    RING_COMPUTED,
    RING_MEASURED,
    RING_JOURNALED,
    RING_SAVED,
    RING_THAW,
    RING_FAULT,
    RING_CURE,
    RING_DEADLINE,
    RING_PULSE, /* A packet that keeps no order. */
};

/* Ends: 0 dialled, 1 was dialled. */
struct ring_conn {
    uint32_t node[2];
    uint64_t life[2];
    uint32_t link[2];
    bool open[2];
    bool dropped;          /* Reset: what was on its way is lost. */
    uint32_t sent[2];      /* By end: packets, ... */
    uint32_t delivered[2]; /* ... and of these arrived at the other. */
    time_us last_at[2];
};

/* Bytes of a checkpoint are the machine's until it is told. */
struct ring_save {
    const uint8_t *bytes;
    size_t size;
    uint32_t step;
};

struct ring_node {
    bool running, frozen, unplugged, finished;
    uint64_t life;
    uint32_t freeze;
    struct happening *held; /* What came while it was frozen. */
    size_t held_count, held_capacity;
    time_us timer_at;
    struct peer machine;
    /* The machine's vectors over all its lives, and last what it has stepped;
     * NULL: it lends none. */
    struct seal seals[PEER_ROOMS + 1];
    int64_t *rooms[PEER_ROOMS];
    void *stepped;
    bool made; /* The machine is to be closed. */
    struct sim_scale scale;
    struct follow follow;
    struct disk_model disk;
    struct saved saved; /* In this life. */
    bool computing;
    struct computation asked;
    uint32_t number; /* Of the computation. */
    double slow;
    struct ring_save save;
    uint32_t first, end; /* Chunks it has. */
    uint32_t next_link;  /* Of those who dial it. */
    bool stopping;       /* Was told to stop or leave. */
    bool flipped;
    uint64_t rounds;
    uint32_t committed; /* Last step, in this life. */
};

#define RING_KEYS 128u

/* Who has sent which chunks in a round. */
struct ring_parts {
    struct round_key key;
    uint64_t from;
    uint32_t first[RING_NODES_MAX], end[RING_NODES_MAX];
};

struct ring_world {
    const struct ring_options *options;
    struct world base; /* Time, heap, oracle, evaluators, digest, checker. */
    struct ring_result counted;
    uint32_t saved_step; /* The newest that is on anybody's disk. */
    struct ring_node nodes[RING_NODES_MAX];
    struct ring_conn *conns;
    size_t conn_count, conn_capacity;
    struct codec_room room;
    struct actions actions;
    uint64_t events;
    uint32_t side;      /* Cut: these from the others; 0: nobody. */
    uint64_t cut_pairs; /* Bit 8 a + b: a and b do not reach each other. */
    uint64_t mute, choke, trickle; /* Likewise: what a sends b stays on its
                                      way. */
    uint32_t script_next;
    uint32_t faults_left, fault_number;
    bool cured, stop_asked;
    bool muted; /* What was sent has stayed on its way, once. */
    struct ring_parts parts[RING_KEYS];
    uint32_t parts_next;
    struct rng rng, fault_rng, pulse_rng, mute_rng;
};

/* --- ring.c --- */
void ring_start(struct ring_world *world, uint32_t node, const char *contact,
                uint32_t least);
void ring_kill(struct ring_world *world, uint32_t node, bool unplugged);
void ring_tell(struct ring_world *world, uint32_t node, struct event event);
__attribute__((format(printf, 4, 5))) void ring_note(struct ring_world *world,
                                                     uint32_t node, char mark,
                                                     const char *format, ...);
void ring_place(uint32_t node, char place[PEER_PLACE]);
void ring_freeze(struct ring_world *world, uint32_t node, time_us for_us);
void ring_thaw(struct ring_world *world, uint32_t node);

/* --- ring_net.c --- */
/* Sums that peers lend each other: memory that outlives them. */
MUST_CHECK enum err ring_open_rooms(struct ring_world *world);
void ring_close_rooms(struct ring_world *world);
void ring_lend_rooms(struct ring_world *world, uint32_t node,
                     struct peer_options *options);
void ring_send(struct ring_world *world, uint32_t node, uint32_t link,
               const struct msg *msg);
void ring_dial(struct ring_world *world, uint32_t node, uint32_t link,
               const char *place);
void ring_close_link(struct ring_world *world, uint32_t node, uint32_t link);
/* All connections of a node; `silent`: nobody is told. */
void ring_close_all(struct ring_world *world, uint32_t node, bool silent);
void ring_reset(struct ring_world *world, uint32_t a, uint32_t b);
bool ring_reaches(const struct ring_world *world, uint32_t a, uint32_t b);
void ring_on_dial(struct ring_world *world, const struct happening *happening);
void ring_on_up(struct ring_world *world, const struct happening *happening);
/* True: it was told, or lost; false: it is put off. */
void ring_on_packet(struct ring_world *world,
                    const struct happening *happening);

void ring_on_pulse(struct ring_world *world, const struct happening *happening);

/* --- ring_faults.c --- */
void ring_faults_begin(struct ring_world *world);
/* Before event number `world->events`. */
void ring_faults_script(struct ring_world *world);
void ring_on_fault(struct ring_world *world, const struct happening *happening);
/* Nobody who could go on is left, or all have ended. */
bool ring_is_over(const struct ring_world *world);

/* --- ring_check.c --- */
void ring_check_trace(struct ring_world *world, uint32_t node,
                      const struct trace *trace);
void ring_check_slice(struct ring_world *world, uint32_t node,
                      const struct msg_slice *slice);
void ring_check_finish(struct ring_world *world, uint32_t node,
                       const struct action *action);
void ring_check_end(struct ring_world *world);

#endif /* SIM_RING_WORLD_H */
