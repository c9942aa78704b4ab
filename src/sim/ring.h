/*
 * ring.h - a ring of peers in virtual time: core/ring/peer.h as it ships, with
 * kills, stops, partitions, heals and joins.
 *
 * Links keep their order or break, as connections do; a cut holds back what is
 * on its way until it is healed or somebody gives the link up.  Evaluators,
 * oracle, disk and codec are those of sim/sim.h.  Checked from outside:
 *
 *   CHECK-R1  after every step every peer has the weights of one machine
 *             alone, and at its end the model
 *   CHECK-R2  in a round of a view no chunk is in two parts
 *   CHECK-R3  once faults have ended, whoever runs ends, with the model: no
 *             side stays where it is though it can go on
 *   CHECK-R4  every peer's journal obeys the JOUR rules
 *   CHECK-R5  nobody makes a step again that it has made, but all together
 *             when somebody was wrong
 *   CHECK-R6  nobody is given up for what it owes while all that is sent comes
 *
 * Lent sums are read where they lie when a message arrives, however much later
 * that is than when it was sent, and whatever its sender wrote since.
 *
 * What undisturbed peers send is counted (struct ring_result).
 */
#ifndef SIM_RING_H
#define SIM_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sim/sim.h"

#define RING_NODES_MAX 8u

enum ring_fault_kind {
    RING_KILL,    /* kill -9 of `node`. */
    RING_UNPLUG,  /* Its machine is gone: silence. */
    RING_STOP,    /* SIGSTOP of `node`, for a while. */
    RING_CUT,     /* Nodes in the set `side` and the others are apart. */
    RING_CUT_ONE, /* `node` and `other` do not reach each other. */
    RING_HEAL,    /* All reach all. */
    RING_JOIN,    /* `node`, not running, starts and joins any. */
    RING_RESET,   /* The link between `node` and `other` breaks. */
    RING_LEAVE,   /* SIGTERM of `node`. */
    RING_END,     /* `muster stop` at `node`. */
    RING_FLIP,    /* A bit of the weights of `node` turns over. */
    RING_MUTE,    /* What `node` sends `other` stays on its way; its beats and
                     greetings, which have a connection of their own, do not, */
    RING_CHOKE,   /* ... or slices and states only: short ones come through. */
    RING_TRICKLE, /* As MUTE, but bytes of what stays on its way arrive. */
    RING_HANG,    /* What `node` computes right now never ends by itself. */
    RING_FAULTS
};

/* Before the event of this number. */
struct ring_fault {
    enum ring_fault_kind kind;
    uint64_t event;
    uint32_t node, other;
    uint32_t side;  /* As bits. */
    time_us for_us; /* STOP; 0: until faults end. */
};

struct ring_options {
    const struct sim_options *run; /* What is trained; times; seed; sink. */
    uint32_t peers;                /* At the start, ... */
    uint32_t peers_max;            /* ... and in all. */
    uint32_t least;
    uint32_t small, segment, state_segment;
    uint32_t machines; /* Peers of one (node % machines) lend each other their
                          sums; 0: nobody does. */
    bool kept;         /* Peers have folders. */
    bool divided;      /* Cuts are not healed when faults end. */
    bool stays;        /* What runs is not started again then, either. */
    bool may_differ;   /* Bits turn over: a peer may end with MISMATCH. */
    const struct ring_fault *script;
    uint32_t script_count;
    uint32_t fault_count; /* Drawn from the seed, beside the script. */
    time_us fault_gap_us;
    bool mutes; /* Some of them come with a MUTE or a CHOKE, of a stream of
                   their own. */
};

/* What a run came to, beside `sim_result`. */
struct ring_result {
    uint32_t finished;   /* Peers that ended with the model, ... */
    uint32_t stopped;    /* ... at a prefix of the path, ... */
    uint32_t mismatched; /* ... because models differed. */
    uint64_t lent;       /* Slices that were lent, not sent, ... */
    uint64_t stepped;    /* ... and of these of the model, not of sums. */
    uint64_t coordinates, slices, state_bytes, views, merges, doubts;
    uint64_t rounds;      /* Summed over peers. */
    uint64_t saves;       /* Likewise. */
    uint32_t unsaved_max; /* Steps that somebody was ahead of all disks. */
    uint32_t named;       /* TRACE_POISON of the node that was flipped. */
    uint32_t steps_min, steps_max; /* Of those who ended. */
    uint64_t first_round; /* Event by which the first one was opened. */
};

/* As sim_run; `ring` may be NULL. */
MUST_CHECK enum err ring_run(const struct ring_options *options,
                             struct sim_result *result,
                             struct ring_result *ring, struct why *why);

/* A ring of what `run` trains, as its seed has it. */
struct ring_options ring_options_of(const struct sim_options *run);
/* Is it one in a campaign: about every fourth of those that may be, or `all`?
 */
bool ring_drawn(const struct sim_options *run, bool all);
/* May it be one: bitwise, all rows or parts at home, nobody in between? */
bool ring_may(const struct sim_options *run);

#endif /* SIM_RING_H */
