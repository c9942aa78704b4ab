/*
 * peer.h - one peer of a ring: a training without a centre, as a pure step
 * machine.
 *
 * Every peer has the whole trainer (optimiser, scale, early stopping, ledger)
 * and asks the same question; it computes its chunks of it, exchanges slices
 * with the other members of its view and feeds the same total.  Sums are
 * integers, so that all end with the same bits, whoever was there: nothing has
 * to be agreed on but who works together right now.
 *
 *     A                      B                      C
 *     | <---- MEET, MEET --> | <----- MEET, MEET -> |   who I am, both ways
 *     | <---- ROSTER ------> | <----- ROSTER -----> |   whom I know and hear
 *     | -- PROPOSE --------> | ---- (A to C) -----> |   view: number, members
 *     | <---- REPORT ------> | <----- REPORT -----> |   where I stand
 *     |                      | -- STATE ----------> |   to who is behind
 *     |====== each computes its chunks ============ |
 *     | <---- SLICE -------> | <----- SLICE ------> |   reduce-scatter: slice
 *     | <---- SLICE (total)> | <----- SLICE ------> |   j to member j; gather
 *     |====== each feeds its trainer ============== |
 *     | <---- BEAT --------> | <----- BEAT -------> |   every beat_us
 *     | <---- PULSE -------> | <----- PULSE ------> |   where my time goes
 *     | <---- PARTING -----> | <----- PARTING ----> |   I have the model, or go
 *
 * What a view is and who proposes it: council.h.  What is exchanged: slices.h.
 * Invariants (RING-n), and why there is no quorum: docs/ring.md.
 *
 * --- The contract with a driver (src/node/ring, src/sim/ring.h) -------------
 *
 * LINKS.  A full mesh, one link for each pair.  All but BEAT, PULSE and
 * REJECT keep their order: they travel on one plane (msg_is_bulk), the bulk
 * one.  Links that others dialled have numbers of the driver's, below
 * PEER_DIALLED; nothing is told when one comes up: its first message is a MEET.
 * Links that are dialled from here have the numbers of CONNECT, PEER_DIALLED
 * and above; LINK_UP or LINK_DOWN follows, and DOWN once it breaks.  A number
 * may be asked for again after its DOWN or CLOSE; after CLOSE nothing comes
 * from it any more.  A link delivers what was sent in order, or goes down:
 * nothing is sent twice here.  Who dials: the higher name of two that know each
 * other, and the lower one if nothing came of it for `dead_us`; whoever has
 * `contact` dials that until somebody answers there, and again when it has no
 * link at all.
 *
 * MEET.  The driver of the receiver writes the host it sees into msg->place
 * where the host there is empty (":7777").
 *
 * MOVED.  The driver tells, about once a beat, by which links bytes of messages
 * came that are not whole yet: who sends much over a slow road is not one from
 * whom nothing comes.
 *
 * Events: START once; TIME; LINK_UP, LINK_DOWN, MESSAGE (of `link`); COMPUTED;
 * JOURNALED, CHECKPOINTED, RECEIPT, MEASURED as the star's coordinator is told
 * them; STOP (--max-time, `muster stop`: all of this side end at the same next
 * step boundary); LEAVE (SIGTERM, spot notice: this peer alone leaves, at the
 * end of the round at hand).
 *
 * Actions, in order:
 *   SEND, CLOSE, TIMER, TRACE   as for all machines
 *   CONNECT      dial `place`, as link `link`
 *   COMPUTE      carry out `computation` (a tally); COMPUTED follows.  All that
 *                it points to is the driver's until then, and stays where it is
 *   CANCEL       COMPUTED follows soon (CANCELLED, or done after all)
 *   JOURNAL, CHECKPOINT, RECEIPT   this peer's own folder; only with a ledger
 *                (options.trainer.kept)
 *   MEASURE      the held-out rows at trainer_weights(); MEASURED follows
 *   FINISH       the machine is over; the model is trainer_model(), whole only
 *                if err is OK.  CANCELLED: stopped, or left, at a prefix of the
 *                common path.  MISMATCH: peers disagree, and so they did when
 *                it was computed again.  Links are flushed, then closed
 *
 * VECTORS.  The peer owns its tally, the two totals, the decoded sums and the
 * state; all are made by peer_init, nothing is allocated in a step.  Messages
 * in actions are views of them, good until the next step.
 *
 * LENDING.  A driver may have the tally and the totals lie in memory that peers
 * of its machine share (options.rooms).  A SLICE of those has a seal, and may
 * be passed on as a note of where it lies and of its number; the receiver's
 * driver makes the same message of it, whose sums are the sender's.  The memory
 * outlives its peer, and its seals go on counting in the next life.  So it is
 * of what a peer has made of its slice of the model (options.stepped, share.h):
 * a SLICE that has `stepped` goes only to members whose parts came as such
 * notes, so that it is passed on as one, too.
 *
 * VITALS.  Before a beat for which pulse.due_at is over the driver fills in its
 * half of pulse.vitals (core/vitals.h).
 *
 * WHO MAY COME IN.  The token is the driver's business (a worker's own token is
 * refused there).  Another config, arithmetic or version is turned away here
 * with REJECT.
 */
#ifndef CORE_RING_PEER_H
#define CORE_RING_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/time.h"
#include "core/action.h"
#include "core/homes.h"
#include "core/link/pulse.h"
#include "core/link/slow.h"
#include "core/ring/council.h"
#include "core/ring/share.h"
#include "core/ring/slices.h"
#include "core/run/trainer.h"

#define PEER_DIALLED                                                           \
    (UINT32_C(1) << 16) /* And PEERS_MAX above: links dialled from here; it is \
                           that of the first contact. */
#define PEER_NO_LINK UINT32_MAX
#define PEER_NO_SEAT UINT32_MAX
#define PEER_ROOMS   3u  /* Vectors that are read in place. */
#define PEER_PAST    64u /* Steps whose weights' names are remembered. */
#define PEER_VIEWS                                                             \
    (UINT64_C(1) << 62) /* No ring comes to so many: above it there would soon \
                           be no higher number. */

struct peer_options {
    char name[NAME_SIZE];     /* Unique in the ring; it orders. */
    char place[PEER_PLACE];   /* HOST:PORT where others reach it. */
    char contact[PEER_PLACE]; /* Whom to dial first; "": others come. */
    uint64_t incarnation;     /* One life of one process: random. */
    struct digest config;     /* All that bits depend on; the same on all. */
    struct digest given;      /* ... less what was derived from rows that only
                                 their owners have. */
    struct digest arithmetic; /* arithmetic_digest of the variant in use. */
    struct trainer_options trainer; /* `sums_min` 0. */
    uint32_t chunks;                /* Of a step. */
    uint32_t first, end; /* Those this peer can compute: all of them, or
                            the part whose private rows it has. */
    /* Private rows: whose there are; 0 of them: everybody has all.  Not
     * copied. */
    const struct home *homes;
    uint32_t home_count;
    time_us owner_us;       /* So long it waits for an owner that is away. */
    uint32_t least;         /* So many peers form the first view; nobody
                               counts any more once a ring runs. */
    uint32_t small;         /* Tallies up to so many coordinates go whole
                               to everybody (PEER_SMALL). */
    uint32_t segment;       /* Coordinates of one SLICE (PEER_SEGMENT). */
    uint32_t state_segment; /* Bytes of one STATE (PEER_STATE_SEGMENT). */
    /* Where its tally and its two totals are to lie, so that others of this
     * machine read them there; zeroed: anywhere. */
    struct slice_room rooms[PEER_ROOMS];
    /* ... and what it makes of its slice of the model; zeroed: it makes nothing
     * for others. */
    struct share_room stepped;
    uint32_t share; /* Slices of so many coordinates, and more, are stepped by
                       who adds them up (PEER_SHARE); the same on all. */
    time_us beat_us;
    time_us pulse_us; /* Between two PULSEs; 0: none. */
    bool stints;      /* Trace what it did from when to when, for --trace. */
    time_us dead_us;  /* Silence after which a peer is gone. */
    time_us retry_us, retry_max_us; /* Between two dials of a peer. */
};

#define PEER_SMALL         1024u
#define PEER_SEGMENT       65536u
#define PEER_LENT          (UINT32_C(1) << 20) /* The same, if only notes are sent. */
#define PEER_SHARE         4096u
#define PEER_STATE_SEGMENT (UINT32_C(1) << 19)

/* Somebody known by name.  Seat 0 is this peer's own. */
struct peer_seat {
    char name[NAME_SIZE];
    char place[PEER_PLACE]; /* "": nobody knows. */
    uint64_t incarnation;   /* Of the one met last; 0: never met. */
    uint64_t member;  /* Of the one in the last view that was installed. */
    uint32_t link;    /* Greeted, and so heard; else PEER_NO_LINK. */
    uint32_t dialled; /* Dialling, or its MEET is awaited; likewise. */
    time_us heard_at, dial_at, retry_us;
    uint32_t first, end; /* Chunks it can compute. */
    bool banned;         /* Sent what cannot be: never again. */
    bool done;           /* Said PARTING: it has the model, or went. */
    /* Of its last ROSTER: */
    bool told;             /* There was one over this link. */
    uint64_t hears;        /* Seats, as bits. */
    struct ring_name view; /* The one it has taken up, ... */
    uint64_t members;      /* ... and who is in it; 0: it has none. */
    bool broken;           /* That view is over, as far as it is concerned. */
    struct ring_name refused; /* It could not take that up. */
    /* Of its last REPORT: */
    uint64_t report_view; /* ring_view.key it is to; 0: none. */
    struct ring_stand stand;
    /* What it said before all went back, to be held against what comes of it;
     * claim 0: nothing. */
    uint32_t claim_step;
    uint64_t claim;
    uint32_t wrong; /* Times that it was. */
    /* How long it owed its parts, and what it says of its time, in this life;
     * not `paced`: nothing is known. */
    bool paced;
    uint64_t paced_life;
    struct slow slow;
    /* What went by the bulk connection of this link, in messages, and what its
     * last beat said of it (peer_owed.c). */
    uint64_t sent, received, claimed;
    bool busy;
    time_us moved_at; /* Something came of what it has sent. */
    time_us level_at; /* All had come, by its beat. */
    uint32_t stalls;  /* Times that its link stood, in this life, ... */
    time_us shun_at;  /* ... the last time that it did, ... */
    time_us shun_us;  /* ... and for how long it is not let in since. */
};

/* What a peer is doing; see docs/ring.md for what a death means in each. */
enum peer_phase {
    PEER_GATHERING,  /* In no view: too few to begin, or left out. */
    PEER_HALTING,    /* A view was taken up; the driver still computes. */
    PEER_REPORTING,  /* Not all members have said where they stand. */
    PEER_TAKING,     /* Is behind: the state of another is on its way. */
    PEER_LACKING,    /* Nobody here has the rows of some chunks. */
    PEER_ROUND,      /* Computing and exchanging. */
    PEER_COMMITTING, /* Between two rounds: disk, held-out rows. */
    PEER_LINGERING,  /* Has the model; others here have not yet. */
    PEER_ENDING,     /* Nothing but the last checkpoint is awaited. */
    PEER_DONE,
};

/* Counted for docs, reports and tests. */
struct peer_stats {
    uint64_t views, merges;       /* Taken up; of sides that were apart. */
    uint64_t slices, coordinates; /* Sent: messages, and sums in them, ... */
    uint64_t states, state_bytes; /* ... and states to those behind. */
    uint64_t stale;               /* Slices of other views, dropped. */
    uint64_t doubts;              /* Times that all went back. */
    uint64_t died;   /* Members gone without a word, so far as it was there. */
    uint64_t stalls; /* Links dropped because nothing came of what was owed. */
};

struct peer {
    struct peer_options options;
    enum peer_phase phase;
    time_us now;
    struct trainer trainer;
    struct peer_seat seats[PEERS_MAX];
    uint32_t seat_count;
    uint32_t contact_link; /* PEER_DIALLED while dialled, else PEER_NO_LINK. */
    time_us contact_at, contact_retry_us;
    bool met;      /* Somebody, once. */
    bool reached;  /* Its contact has answered, once. */
    bool started;  /* Has been in a view that all took up. */
    bool asked;    /* To stop: the next part that it sends says so, ... */
    bool stopping; /* ... and with the total of those all know. */
    bool spreads;  /* It stops while rows are lacking, and says so. */
    bool leaving;
    struct ring_known known[PEERS_MAX];    /* Of a ROSTER that goes out, ... */
    struct ring_known proposed[PEERS_MAX]; /* ... and of a PROPOSE. */
    bool roster_due; /* Somebody came, went or proposed: tell all. */
    time_us beat_at;
    uint64_t beats;
    struct pulse pulse;
    time_us busy_at;    /* It works since then; TIME_NEVER: it does not. */
    time_us ready_at;   /* It worked, or waited for something else, until then,
                         */
    time_us still_at;   /* ... and so did somebody else in the view. */
    time_us longest_us; /* So long it has worked at a time, or a round took. */
    uint64_t looked_at; /* What it waited for when it looked last. */

    /* The view taken up: */
    struct ring_view view;
    uint64_t last_members; /* Of the one installed before it. */
    uint64_t left_out; /* Of these who still have a link: not told of yet. */
    bool broken;    /* A link between two of its members is not what it was. */
    bool installed; /* All reports are in, ... */
    bool begun;     /* ... all have the same state, and that is the anchor. */
    bool waiting;   /* Others are to come in at the end of this round. */
    /* A view that only adds members, to be taken up once this round is over;
     * number 0: none. */
    struct ring_name parked;
    uint64_t parked_members, parked_position;
    bool parked_torn;         /* A link to one of them broke meanwhile. */
    struct ring_name refused; /* Had members that are not heard here. */
    uint64_t highest;   /* Number of any view that was ever heard of, ... */
    uint64_t journaled; /* ... and of the last in the journal, where views of
                           equal number but of two proposers have two. */

    /* The state as it was reported, encoded; or another's as it arrives. */
    uint8_t *state;
    size_t state_size, state_got;
    uint32_t state_from; /* Seat it comes from, or PEER_NO_SEAT. */
    uint8_t *anchor;     /* At the beginning of the last view: common. */
    size_t anchor_size;
    uint64_t anchor_position, anchor_name;
    bool back;           /* Somebody is wrong: go back once nobody computes. */
    bool doubted;        /* All went back; claims are open. */
    uint64_t doubt_view; /* Key of the view in which they did. */
    uint32_t accused;    /* Seat that said otherwise last; 0: not known. */
    struct {
        uint32_t step;
        uint64_t name; /* Of the weights that its first round is about. */
    } past[PEER_PAST]; /* At step % PEER_PAST. */

    /* The round at hand. */
    struct round_key key;
    uint32_t first, end; /* Own chunks. */
    bool computing;      /* COMPUTED is to come, ... */
    bool cancelled;      /* ... and counts for nothing. */
    bool measuring;      /* MEASURED is to come. */
    bool waits_disk;     /* JOURNALED is to come before the next round. */
    time_us opened_at;   /* When the round was. */
    uint32_t told;       /* Segments of own slice whose total went out. */
    struct tally own;
    struct seal *own_seal;       /* Of its sums, if others may read them. */
    struct exchange here, early; /* This round's, and the next one's. */
    double *sums;
    struct share share;
    bool together; /* All of the view have stepped the model for each other. */

    bool *away;            /* By home: it was told that nobody has it here. */
    time_us lacking_since; /* TIME_NEVER: nothing is lacking. */
    enum err ending;       /* ENDING: how. */
    struct peer_stats stats;
    char reason[REASON_SIZE];
};

MUST_CHECK enum err peer_init(struct peer *peer,
                              const struct peer_options *options);
/* Go on from this peer's folder, before START. */
MUST_CHECK enum err peer_resume(struct peer *peer,
                                const struct recovery *recovery,
                                struct why *why);
void peer_close(struct peer *peer); /* Zeroed memory is safe to close. */

/* Advance by one event.  Reads no clock, no socket, no global. */
void peer_step(struct peer *peer, const struct event *event,
               struct actions *actions);

/* How far it is: rounds fed, and passes measured; grows with every one. */
uint64_t peer_position(const struct peer *peer);
/* Members of the view that compute with this one, itself included. */
uint32_t peer_members(const struct peer *peer);
/* For how long nothing has come of what that seat owes; 0: it owes nothing, or
 * works, and no longer than usual.  *lost: it has sent more than came. */
time_us peer_owes_us(const struct peer *peer, uint32_t seat, time_us now,
                     bool *lost);

#endif /* CORE_RING_PEER_H */
