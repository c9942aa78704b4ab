/*
 * coordinator.h - the coordinator as a pure step machine.
 *
 * It calls the roll, opens a round (weights and pieces to everyone), merges the
 * tallies that come back, ends the step as soon as the code allows, feeds the
 * optimiser, writes the receipt and opens the next round.  Whoever dies, stalls
 * or joins in between changes who computes, never what is computed.
 *
 *   GATHERING --enough--> VIEWING --view durable--> ROUND <--+
 *       ^                    ^                        |      | next step
 *       |                    +-- membership changed --+      |
 *       +-- nobody left ------------------------------+   COMMITTING
 *                                                     +------^  (approximate
 *   any --> DONE | FAILED                                        steps wait
 *                                                                for the disk)
 *
 * Invariants INV-n are listed in docs/protocol.md and checked by
 * coordinator_check() after every step.
 */
#ifndef CORE_COORDINATOR_H
#define CORE_COORDINATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/chunkset.h"
#include "code/code.h"
#include "core/action.h"
#include "core/homes.h"
#include "core/link/gaps.h"
#include "core/link/slow.h"
#include "core/run/trainer.h"
#include "core/star/lines.h"
#include "core/star/segments.h"
#include "math/exact/scale.h"
#include "math/exact/tally.h"
#include "optim/optim.h"
#include "plan/adapt.h"
#include "plan/delay.h"

#define COORDINATOR_LINKS_MAX 10240u
#define ASSIGNEES_SPARE       4u /* Beyond those the code itself asks for. */
#define RETIRED_MAX           4u
#define STRIKES_MAX           3u
#define OFFENDERS_MAX         64u /* Names with strikes that are remembered. */
#define BANNED_SHOWN          8u  /* ... of those in a report. */
#define VOTES_MAX             3u  /* Answers compared for one piece. */

/* A stop waits so long for the step at hand; then it ends without it, so that
 * the steps before it are saved before anybody's patience is at its end. */
#define COORDINATOR_PATIENCE_US (8 * SECOND_US)

/* Scores of all rows in, their slopes dloss/dz (times sample weights) out, in
 * place; returns the loss sum.  `soft` as in struct evaluation.  Pure. */
typedef double (*slopes_function)(void *context, uint32_t soft, double *scores);
/* The same to second derivatives. */
typedef void (*bends_function)(void *context, uint32_t soft, double *scores);

struct coordinator_options {
    struct job job; /* id, shape, data digest, beat and dead times. */
    /* The weights are so many vectors, dims / vectors apart, of each of which
     * the first `length` numbers count: the others are padding. */
    uint32_t vectors, length;
    bool narrow; /* Workers round them to floats: they travel as such. */
    struct digest config;     /* Of everything that decides the bits. */
    struct digest arithmetic; /* Workers must compute these bits. */
    struct code_spec code;
    bool adapt;           /* Change the code where it pays, ... */
    enum exactness worst; /* ... to one of this class at worst. */
    uint32_t drill;       /* Tests: change every so many steps, whatever it
                             pays; 0 = no. */
    bool series;        /* One of several jobs here, one after the other, ... */
    bool more;          /* ... and not the last. */
    bool passing;       /* Whoever asked for it takes the result over: when it
                           is done its state is worth nothing. */
    uint32_t slots;     /* n wanted at the start. */
    uint32_t links_max; /* Connections at once: workers and relays. */
    uint32_t leaves_max;  /* Workers behind relays; 0 = no relays. */
    uint32_t workers_max; /* Let in at once; 0 = as many as have room. */
    struct optim_options optim;
    struct scale *scale;   /* Borrowed; this run's alone, begun by init. */
    struct pool *pool;     /* Borrowed, for long vectors; NULL: none. */
    struct mirror *mirror; /* Borrowed; NULL: none. */
    double largest; /* Codes of data: of all their |values|; 0: not known. */
    double residual_max;    /* ... of a step at most, where the user wants less
                               than the code promises; 0: that. */
    slopes_function slopes; /* Codes of data only, ... */
    bends_function bends;   /* ... and HESSVEC only. */
    void *slopes_context;
    const char *own_data; /* Workers bring the data along and nothing is
                             shipped: told to who has none.  NULL: it is. */
    struct delay delay;
    time_us suspect_us; /* Silence: hedge.  Adapts upwards to jitter. */
    time_us resend_us;  /* Assignment or answer believed lost. */
    time_us gather_us;  /* Start with fewer than `slots` after this. */
    struct ledger_options ledger;
    /* One for each chunk of the job, which is then `keyed`; or NULL. */
    const struct digest *chunk_digests;
    const char *place; /* Where workers read the data; NULL: it is shipped. */
    bool peers;        /* Workers may fetch chunks from each other. */
    /* Private data: whose chunks are whose, in order; none: `home_count` 0.
     * The code is then of placement `homes`. */
    const struct home *homes;
    uint32_t home_count;
    time_us owner_us; /* A step waits so long for an owner, then it fails. */
    /* Compare two workers' answers to a piece before it counts: all of them,
     * or the share `audit`, drawn from a seed that no worker knows.  The
     * driver must be able to carry out ACTION_JUDGE. */
    bool verify;
    double audit;
    uint64_t audit_seed;
};

/* What may be wrong with an answer (P9, P10); the text is for people. */
#define POISON_LIST(X)                                                         \
    X(POISON_SHAPE, "size", "of the wrong size or piece")                      \
    X(POISON_FINITE, "finite", "not finite")                                   \
    X(POISON_BOUND, "bound", "out of the proved bound")                        \
    X(POISON_KEY, "key", "to a round that never was")                          \
    X(POISON_LIE, "lie", "not what the piece gives")                           \
    X(POISON_REFUSAL, "refusal", "refusing what another could compute")

#define POISON_ENUM(code, name, text) code,
enum poison_kind { POISON_LIST(POISON_ENUM) POISON_KINDS };
#undef POISON_ENUM

/* One word for machines, a few for people. */
const char *poison_name(enum poison_kind kind);
const char *poison_text(enum poison_kind kind);

/* A name that sent poison; it outlives its sessions. */
struct offender {
    char name[NAME_SIZE];
    uint32_t strikes;
    bool banned;
};

/* src/core/star/trust.c. */
struct trust {
    struct offender offenders[OFFENDERS_MAX];
    uint32_t count;
};

/* One worker's answer to a piece that is compared. */
struct vote {
    char name[NAME_SIZE];
    bool asked; /* It was given the piece; its slot may owe less. */
    struct digest digest;
};

/* src/core/star/verify.c. */
struct ballot {
    bool checked;  /* Two equal answers are wanted. */
    bool disputed; /* ... and two were not: the judge decides. */
    uint32_t count;
    struct vote votes[VOTES_MAX];
    struct digest truth; /* Of the tally that was merged. */
};

/* The piece that is being computed here. */
struct judge {
    bool busy; /* JUDGED is to come; the tally is the driver's. */
    uint32_t piece;
    struct round_key key;
    struct tally tally;
};

/* src/core/star/homes.c. */
struct home_state {
    char name[NAME_SIZE]; /* Of the owner that came last. */
    time_us away_since;   /* Nobody has it; TIME_NEVER: somebody has. */
    bool told;            /* ... and people know. */
};

struct homes {
    struct home_state *state;
    uint32_t *chunk, *slot; /* Behind `code`. */
    struct code_homes code; /* As the code at hand was built. */
};

/* src/core/star/peers.c. */
#define PEER_HOLDERS  4u /* Remembered of a chunk. */
#define PEER_SOURCES  8u /* That one worker fetches from, ... */
#define PEER_FETCHERS 8u /* ... and that fetch from one. */

struct holder {
    uint32_t link, id;
};

struct peer_pair {
    uint32_t id; /* Of the source. */
    bool failed;
};

/* A member as one among its peers. */
struct peering {
    bool alone;        /* Said so: never a peer. */
    bool invited;      /* Was sent SERVE, and has not answered. */
    uint32_t id;       /* For its session; 0: it did not say SERVING. */
    uint16_t port;     /* 0: it only fetches. */
    bool local;        /* Came over loopback: no other machine can dial it. */
    bool mute;         /* Not to be named any more. */
    uint64_t asked;    /* Chunks that others were sent to it for. */
    uint32_t fetchers; /* Members that it is a source of, ... */
    uint32_t faults;   /* ... and how many of them it failed. */
    struct peer_pair sources[PEER_SOURCES];
    uint32_t source_count;
    uint32_t failures; /* Of these sources. */
};

enum member_state {
    MEMBER_NONE,   /* No session on this link. */
    MEMBER_READY,  /* In, without a slot. */
    MEMBER_ACTIVE, /* Fills a slot of the code. */
};

struct member {
    /* What every round touches of every member comes first: it is little, and
     * there may be thousands of them. */
    enum member_state state;
    uint32_t slot;       /* ACTIVE. */
    uint32_t present_at; /* Its place in c->present. */
    uint32_t via, leaf;  /* Over a relay: its link + 1, and this worker's
                            number there. */
    bool suspect;
    bool in_round;        /* Was sent the weights of this round. */
    struct round_key key; /* Of the ROUND it was sent last. */
    uint64_t asked_by;    /* Incarnation that asks for a name in use, ... */
    time_us asked_at;     /* ... since then: roster.c. */
    time_us answered_at;  /* Last answer, or the opening of the round. */
    uint32_t answered;    /* Answers in this round. */
    uint64_t assignment;  /* Last sent, of c->assignments. */
    time_us assigned_at;
    uint32_t outstanding; /* Pieces assigned this round and not answered. */
    uint32_t idle_beats;
    uint32_t answers; /* Tallies and coded answers merged, for status. */
    time_us heard_at;
    struct slow slow; /* Where its time goes. */
    struct pace pace; /* Codes of data: how quick it is. */
    uint32_t ready;   /* Pieces of X w whose data it has for certain, ... */
    bool wide;        /* ... and all of the second copy. */
    bool lags;        /* Others do what it owes in this round, too. */

    char name[NAME_SIZE];
    uint64_t incarnation;
    uint32_t pid;
    bool resident; /* Had all data when it came. */
    uint32_t strikes;
    uint64_t unchecked;     /* Its answers that counted uncompared. */
    struct chunkset held;   /* Data it has or was sent, ... */
    uint64_t block;         /* ... of this block; 0 = no block. */
    uint32_t home;          /* Private data: the one it owns. */
    struct chunkset near;   /* Data it can fetch by itself. */
    struct peering peer;    /* ... and from others. */
    bool counting;          /* Has not said HAVE yet: send it no data, ... */
    time_us counting_until; /* ... and wait for it, but not longer. */
    struct gaps gaps;       /* Between beats; for the adaptive limit. */

    /* Over a relay: */
    bool hushed; /* The relay does not hear it; of a relay: of some of its
                    leaves this is so, or was. */
    uint64_t hushed_in; /* The WATCH that said so last. */
    /* The link is a relay's (and `state` is NONE): */
    bool relay;
    bool cast; /* It was sent the weights of the round `cast_key`. */
    struct round_key cast_key;
    bool called_off;      /* ... and told that it is over. */
    bool repeats;         /* Its leaves have in this round what they had ... */
    uint64_t repeat_view; /* ... in the last, of this view; 0 = not so. */
};

/* Who said in this round of a piece that it does not fit: core/star/refusals.c.
 */
#define REFUSED_MAX 4u
struct refuser {
    char name[NAME_SIZE];
    uint32_t count; /* Beyond REFUSED_MAX: all of them. */
    uint32_t piece[REFUSED_MAX];
};

struct refusals {
    struct refuser *who; /* By the hash of the name. */
    size_t room;         /* A power of two. */
    size_t count;
};

/* A gradient on coded data takes two rounds or more: src/core/star/products.c.
 */
struct products {
    double *scores;     /* X w, then its slopes ... */
    double loss;        /* ... and loss. */
    bool alone;         /* X w is all that was asked for. */
    bool halfway;       /* What goes back is there: the way back is next. */
    uint32_t round;     /* Of the step. */
    double condition;   /* Of the round at hand: the worst set's, ... */
    double residual;    /* ... how well it decodes, ... */
    double reach;       /* ... and the sum of the |numbers| of its vector. */
    struct lines lines; /* lbfgs and newton. */
};

/* Message bodies of one event. */
struct item_room {
    struct item *list;
    uint32_t used;     /* Since the last step: messages point into it. */
    uint32_t capacity; /* Of all messages that one step can make; see view.c. */
    void *retired[RETIRED_MAX]; /* Of an older code, still in messages. */
    uint32_t retired_count;
};

/* Which code the next view may have: src/core/star/view.c. */
struct recoding {
    struct code_spec wanted;   /* Asked for, or changed to ... */
    uint32_t wanted_slots;     /* ... made for so many. */
    struct adapt adapt;        /* Off unless options.adapt. */
    bool due;                  /* A change is, at this boundary: */
    struct plan_choice change; /* ... why. */
    bool refit; /* A code for the living, whatever the one at hand could still
                   do. */
};

/* From this step on samples have this size: src/core/star/sizes.c. */
struct size_change {
    uint32_t step;
    double size;
};

/* In the order of the journal. */
struct sizes {
    struct size_change *list;
    uint32_t count;
};

/* staleness: of the slots' answers. */
struct slot_ages {
    uint32_t *age; /* In updates. */
    bool *early;   /* It came before the round it counts in. */
};

struct piece_state {
    uint32_t assignee_count;
    uint32_t *assignee; /* Links; assignees_max of them. */
};

struct coordinator_stats {
    /* The code at hand, as of one of data alone: so many answers of so many
     * are enough; zeros: none was built. */
    uint32_t enough, slots;
    uint32_t joined, left, died, alive_max;
    uint32_t exactness[3];  /* Steps by enum exactness. */
    double worst_residual;  /* As in a receipt, NaN too. */
    double worst_condition; /* As in a receipt. */
    uint64_t duplicates, stale, poison, hedged, stolen, resent;
    uint64_t shipped, fetched; /* Chunks sent, and named to be fetched. */
    uint64_t strip_passes;     /* Of coded data, the driver's: strips made, each
                                  once for all who were sent it together. */
    uint64_t peered;           /* ... from peers, ... */
    uint64_t peer_failed;      /* ... who did not give so many of them. */
    uint64_t peer_wrong;       /* Peers who gave others wrong bytes. */
    uint64_t pieces_merged, pieces_assigned;
    uint32_t views, rollbacks, alarms, redone;
    uint32_t switches; /* Of the code, by options.adapt. */
    /* Answers used in steps, and under staleness how many updates old. */
    uint64_t aged, age_sum;
    uint32_t age_max;
    uint64_t poison_by[POISON_KINDS];
    uint64_t checked;       /* Pieces that two workers gave alike. */
    uint64_t judged;        /* Pieces computed here to decide. */
    uint64_t unchecked_bad; /* Answers of liars since banned that counted
                               uncompared. */
    uint32_t banned;        /* Names; the first of them: */
    char banned_name[BANNED_SHOWN][NAME_SIZE];
    uint8_t banned_for[BANNED_SHOWN]; /* enum poison_kind. */
};

enum coordinator_phase {
    COORDINATOR_GATHERING,
    COORDINATOR_VIEWING,
    COORDINATOR_ROUND,
    COORDINATOR_COMMITTING,
    COORDINATOR_DONE,
    COORDINATOR_FAILED,
};

/* EVENT_STOP came. */
enum coordinator_stop {
    STOPPING_NOT,
    STOPPING_AT_BOUNDARY,
    STOPPING_NOW, /* Without the step at hand, which cannot end. */
};

/* Before the first view: waiting for so many, until then. */
struct gathering {
    uint32_t workers;
    time_us until;
};

struct stopping {
    enum coordinator_stop how;
    time_us at; /* It was told then. */
};

struct coordinator {
    struct coordinator_options options;
    enum coordinator_phase phase;
    time_us now;
    struct stopping stopping;
    time_us looked_at; /* Last EVENT_TIME. */
    bool backlog; /* Of the event at hand: it is still on its way to them. */

    /* First one for each link, then those behind relays, found by hashing. */
    struct member *members;
    uint32_t members_max; /* links_max + leaves_max + home_count: there is no
                             slot without a number here. */
    uint32_t alive;       /* READY or ACTIVE: */
    uint32_t *present;    /* Their links, in no order. */
    struct gathering gather;
    struct holder *holders; /* PEER_HOLDERS for each chunk; NULL: no peers. */
    uint32_t peer_ids;      /* Given out. */
    struct trust trust;

    struct recoding recoding;
    struct code code;
    bool code_built;
    struct homes homes;  /* Of private data. */
    uint32_t *slot_link; /* Slot -> link, or LINK_NONE. */
    uint64_t view;
    bool view_dirty;    /* Membership changed: look again at the boundary. */
    struct sizes sizes; /* Of samples, changed since the run began. */

    struct trainer trainer;
    struct round_key key;
    struct round_key opened; /* The round that was opened last. */
    uint64_t assignments;    /* ROUNDs, TASKs and WORKs sent. */
    struct evaluation what;  /* Asked in this round; the trainer's, or (codes of
                                data) half of it. */
    struct tally tally;      /* Of the round: merged so far. */
    struct tally arrived;    /* One message ... */
    bool absorbed;           /* ... that is in `tally` already, ... */
    bool ahead;              /* ... and was before it was looked at: it is one
                                of several (together.c). */
    double *coded;           /* Coded answers, folded if the code allows it
                                (code.h): vectors of tally.dims + 1; or those
                                of a product, by pieces. */
    struct products products; /* Codes of data. */
    struct segments segments; /* ... whose rounds have these pieces. */
    double *gradient;
    struct tally_decoding decoding; /* done: `gradient` is what `tally` stands
                                       for, whose sums are lost. */
    double *decode;                 /* Weights of the slots' coded answers. */
    uint32_t piece_count; /* Of the round: the code's, or of a product. */
    struct piece_state *pieces;
    uint32_t *assignees; /* Behind pieces[].assignee. */
    uint32_t assignees_max;
    struct ballot *ballots; /* One per piece; NULL: nothing is compared. */
    struct judge judge;
    uint32_t pieces_in; /* How many of piece_in are true. */
    bool *piece_in;     /* Each piece's answers suffice: nobody need compute it
                           any more, and what still comes of it is dropped. */
    bool *slot_in;
    uint32_t *slot_todo; /* Initial pieces the slot still owes. */
    uint32_t slots_in;
    struct slot_ages ages;
    bool late;          /* The code's deadline has passed in this round. */
    bool doubtful;      /* What is in would end it, less exactly than the code
                           promises. */
    bool *slot_alive;   /* Scratch for code_feasible. */
    uint32_t *ids;      /* Scratch for code_work. */
    uint32_t *answerer; /* Scratch of a SUM: links, ANSWERS_MAX of them, ... */
    struct trace_answer *merged; /* ... and what its TRACE_SUM tells. */
    struct item_room items;
    struct refusals refusals;
    bool measuring; /* MEASURED is to come. */
    time_us round_began_at;
    char reason[REASON_SIZE];
    enum err gave_up; /* The job fails with `despair` once its state is saved;
                         ERR_OK: it goes on. */
    char despair[REASON_SIZE];
    struct coordinator_stats stats;
};

/* `recovery` (or NULL for a fresh run) is only read here.  ERR_MISMATCH if it
 * belongs to another configuration; the sentence says so. */
MUST_CHECK enum err coordinator_init(struct coordinator *coordinator,
                                     const struct coordinator_options *options,
                                     const struct recovery *recovery,
                                     struct why *why);
void coordinator_close(struct coordinator *coordinator);

/* Advance by one event.  `actions` is emptied first. */
void coordinator_step(struct coordinator *coordinator,
                      const struct event *event, struct actions *actions);

/* How many answers the round at hand still waits for, if it cannot end without
 * any of them and nobody is given anything else to do when one comes: they may
 * as well be told together (EVENT_TALLIES).  0: tell each at once. */
uint32_t coordinator_awaits(const struct coordinator *coordinator);

/* Can samples be given another size (EVENT_SIZE), and from which step on?  The
 * sentence says why not. */
MUST_CHECK enum err coordinator_resizes(const struct coordinator *coordinator,
                                        uint32_t *step, struct why *why);
/* Of samples in the step at hand; 0: there are none. */
double coordinator_size(const struct coordinator *coordinator);
/* The change that comes next; NULL: none is known. */
const struct size_change *
coordinator_next_size(const struct coordinator *coordinator);

/* The name of the relay it is behind; NAME_SIZE bytes, "" if there is none. */
const char *member_relay(const struct coordinator *c,
                         const struct member *member);
/* When it, or its relay for it, was heard of last. */
time_us member_heard_at(const struct coordinator *c,
                        const struct member *member);

#endif /* CORE_COORDINATOR_H */
