/*
 * sum.h - muster_sum between machines: an elastic, exact all-reduce over a full
 * mesh, as one pure step machine.  There is no host: every member runs this.
 *
 * A *view* is a numbered list of members, oldest first.  Calls are numbered,
 * too.  In a call every member gives a vector; slice j of each goes to member
 * j, which adds them (exactly, rounded once) and sends the part to all.
 *
 *      member a                                   member b
 *        | -- SLICE (view, call) ----------------> |   direct reduce-scatter
 *        | <---------------- SLICE (view, call) -- |
 *        | -- PART (view, call) -----------------> |   all-gather
 *        | <----------------- PART (view, call) -- |
 *        | -- HAVE (view, call) -----------------> |   I have the whole total
 *        | <----------------- HAVE (view, call) -- |   all have: both return
 *
 * Everything unusual (a death, a joiner, a leaver, patience that ends, a vector
 * taken back, shapes that differ) is one thing: the view is replaced by its
 * successor, in which the open call begins again.  The successor is agreed on
 * by single-decree Paxos among the members of the view (Lamport, "The
 * Part-Time Parliament"); who proposes is the *chair*, the oldest member that
 * the proposer has a link to, itself included:
 *
 *      chair                                      each member of view n
 *        | -- COLLECT (n, ballot) ---------------> |   freezes: says no more
 *        | <- STATE (n, ballot, what it has) ----- |     HAVE in view n
 *        | -- PROPOSE (n, ballot, view n + 1) ---> |
 *        | <- ACCEPT (n, ballot) ----------------- |   a quorum: it is chosen
 *        | -- VIEW (n + 1) ----------------------> |   and passed on by all
 *
 *   SUM-1  Of view n at most one successor is chosen: by a quorum of view n,
 *          more than half of it, or half with its oldest member.  Any two
 *          quorums meet.  So of two sides of a partition at most one goes on.
 *   SUM-2  A member says HAVE (n, c) only while it is not frozen in n, and what
 *          it reports in STATE is what it had when it froze.  A call is
 *          committed in n when *all* of n said HAVE; then every STATE of n says
 *          that the total is there, and every successor counts the call as
 *          committed.  If a single STATE lacks it, nobody has returned, nor
 *          ever will, and the successor may begin the call again.
 *   SUM-3  Whoever is in a successor (but for who joins with it) answered the
 *          COLLECT that led to it: it has the totals of all calls that the
 *          successor counts as committed.  No total is ever sent again.
 *   SUM-4  A total is of the vectors of the call's set, which the view fixes
 *          (view.set in view.call, all in later calls), each once, whole: a
 *          slice that was sent in another view, or call, is not added.
 *   SUM-5  Nobody gives in call c + 1 before it has committed c, and without
 *          everybody's vector there is no total of c + 1: nobody is ahead of
 *          another member of the view by more than what it gave.
 *   SUM-6  A link that breaks may have lost something: the view of both ends.
 *
 * So a vector is in for all or for none, and whoever returns knows that all who
 * are left can return the same.  A member that finds itself out (it was
 * stopped, or cut off) joins again by itself; it gives up after `give_up_us`.
 *
 * LINKS.  Who joins dials all members; within a view the younger dials the
 * older again.  Numbers below SUM_ACCEPTED are the driver's, of links that it
 * accepted; the others are the machine's.  All but HELLO, REJECT and BEAT
 * must arrive in the order in which they were sent over one link.
 *
 * Vectors stay with the driver, which is told KEEP, ADD and which slice to
 * send; the machine never looks at one.
 */
#ifndef CORE_SUM_H
#define CORE_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "core/msg.h"

#define SUM_VERSION   2u
#define SUM_SEATS     64u
#define SUM_ACCEPTED  160u /* Links that others dialled: members and guests. */
#define SUM_LINKS     (SUM_ACCEPTED + SUM_SEATS + 8u)
#define SUM_PLACE     PEER_PLACE
#define SUM_NOBODY    UINT32_MAX
#define SUM_BYTES_MAX (UINT64_C(256) << 20) /* Of a vector. */

enum sum_kind {
    SUM_HELLO = 1, /* Both ends of a link, first. */
    SUM_REJECT,
    SUM_BEAT,
    SUM_VIEW,
    SUM_JOIN,    /* To the chair: I have links to all of that view. */
    SUM_REQUEST, /* To the chair: that view must end. */
    SUM_COLLECT,
    SUM_STATE,
    SUM_PROPOSE,
    SUM_ACCEPT,
    SUM_SLICE,
    SUM_PART,
    SUM_HAVE,
};

struct sum_shape {
    uint32_t type;  /* enum exact_type; 0: none. */
    uint64_t count; /* Numbers. */
};

struct sum_seat {
    char name[NAME_SIZE];
    char place[SUM_PLACE]; /* Where it can be dialled. */
    uint64_t incarnation;
};

struct sum_view {
    uint64_t group, number;
    uint32_t least, members_max; /* Of the group, as is ... */
    uint64_t size_max;           /* ... bytes of a vector. */
    uint64_t call;               /* Open; those before are committed. */
    uint64_t set;                /* Seats whose vectors are to be in it. */
    bool closed;                 /* All of those have given: no patience. */
    struct sum_shape shape;      /* Of it, where somebody has given. */
    uint32_t count;
    struct sum_seat seats[SUM_SEATS]; /* Oldest first. */
};

/* What a member says when it freezes. */
struct sum_state {
    uint64_t committed; /* Calls. */
    bool holds;         /* The total of the next one, too. */
    bool leaving;
    bool impatient;         /* Of `given`: its patience is over. */
    uint64_t given;         /* Call for which it wants to be in; 0: none. */
    struct sum_shape shape; /* Of that. */
    uint64_t links;         /* Seats to which it has a link. */
    uint64_t accepted;      /* Ballot of the view that follows; 0: none. */
};

struct sum_msg {
    enum sum_kind kind;
    uint32_t version;    /* HELLO, as the next four. */
    struct sum_seat who; /* Name, incarnation, place. */
    uint64_t group;      /* The one it belongs to; 0: none yet. */
    uint64_t number;     /* View: of all but HELLO, REJECT, BEAT, VIEW. */
    uint64_t call;       /* SLICE, PART, HAVE; JOIN: it waits in; 0: none. */
    uint64_t ballot;     /* COLLECT, STATE, PROPOSE, ACCEPT. */
    struct sum_state state;
    const struct sum_view *view; /* VIEW, PROPOSE; STATE: accepted, or NULL. */
    struct sum_shape shape;      /* SLICE, PART: of the whole vector. */
    const uint8_t *bytes;        /* SLICE, PART. */
    size_t size;
    const char *reason; /* REJECT. */
};

enum sum_event_kind {
    SUM_EVENT_START,
    SUM_EVENT_TIME,
    SUM_EVENT_UP, /* A link that was dialled. */
    SUM_EVENT_DOWN,
    SUM_EVENT_MESSAGE, /* The first of an accepted link is HELLO. */
    SUM_EVENT_GIVE,    /* The user calls. */
    SUM_EVENT_CANCEL,  /* ... and does not want to wait any more. */
    SUM_EVENT_END,     /* Leave. */
};

struct sum_event {
    enum sum_event_kind kind;
    time_us now;
    uint32_t link;
    const struct sum_msg *msg;
    struct sum_shape shape; /* GIVE; the vector stays good until RESULT. */
    time_us patience_us;    /* 0 = for ever. */
};

enum sum_action_kind {
    SUM_ACTION_SEND,  /* Of SLICE and PART the driver fills in the bytes:
                         slice `slot` of the user's vector, or of the total. */
    SUM_ACTION_CLOSE, /* No DOWN follows. */
    SUM_ACTION_TIMER,
    SUM_ACTION_CONNECT, /* To `place`; UP or DOWN follows. */
    SUM_ACTION_KEEP,    /* The message's bytes: of seat `slot`; if there is no
                           message, the user's own slice. */
    SUM_ACTION_ADD,     /* Slices of the seats in `set`: our part. */
    SUM_ACTION_JOINED,  /* It is in a view, for the first time. */
    SUM_ACTION_RESULT,  /* Of GIVE: err; with ERR_OK the total of `call`. */
    SUM_ACTION_FINISH,
};

struct sum_action {
    enum sum_action_kind kind;
    uint32_t link;
    uint32_t slot;
    uint32_t slots; /* Members of the view: how vectors are cut. */
    uint64_t call;  /* KEEP, ADD, RESULT, as set and shape. */
    uint64_t set;
    struct sum_shape shape;
    time_us at;
    struct sum_msg msg; /* SEND. */
    const char *place;
    enum err err;       /* RESULT, FINISH. */
    int included;       /* RESULT: 1, 0, or -1: who knows. */
    const char *reason; /* RESULT, FINISH: one sentence, or "". */
};

/* The driver's, of SUM_ACTIONS; a step fills it from the start. */
#define SUM_ACTIONS (6u * SUM_LINKS)
struct sum_actions {
    struct sum_action *list;
    uint32_t capacity, count;
};

/* May it overtake what was sent before it? */
static inline bool sum_is_urgent(enum sum_kind kind)
{
    return kind == SUM_HELLO || kind == SUM_REJECT || kind == SUM_BEAT;
}

/* Numbers of slice `slot` of `slots`, and where it begins. */
uint64_t sum_slice_at(uint64_t count, uint32_t slots, uint32_t slot);
uint64_t sum_slice_size(uint64_t count, uint32_t slots, uint32_t slot);

struct sum_options {
    struct sum_seat self;
    bool
        first; /* Begin a group, with the next four; else `sponsor` is asked. */
    uint64_t group;
    uint32_t least, members_max;
    uint64_t size_max;
    char sponsor[SUM_PLACE];
    time_us beat_us, dead_us; /* Silence after which a link is given up. */
    time_us retry_us, retry_max_us;
    time_us give_up_us; /* Cut off from the group for so long: FINISH. */
};

struct sum_link {
    bool used, up, met; /* met: it said HELLO. */
    struct sum_seat who;
    time_us heard_at;
    bool wants;    /* A guest: in, from the next view on ... */
    uint64_t call; /* ... where it waits for this call. */
};

/* What came in of a call in this view. */
struct sum_traffic {
    uint64_t slices, parts, haves; /* Seats. */
    struct sum_shape shape;        /* Of the first slice ... */
    bool odd;                      /* ... and another's is not that. */
};

struct sum_last {
    uint64_t call; /* 0: this member has not its total. */
    uint32_t contributed, members;
    struct sum_shape shape;
    char who[SUM_SEATS * NAME_SIZE]; /* Names by comma, in order. */
};

struct sum_member {
    struct sum_options options;
    bool over, in, leaving; /* in: a member of `view`, else a guest. */
    time_us now;
    struct sum_view view;
    uint32_t me;               /* Seat; SUM_NOBODY. */
    uint32_t roads[SUM_SEATS]; /* Links by seat; SUM_NOBODY. */
    struct sum_link links[SUM_LINKS];
    time_us beat_at, redial_at, retry_us, ask_at, well_at, leave_until;

    /* The successor of the view. */
    bool frozen, broken;         /* broken: SUM-6. */
    uint64_t promised, accepted; /* Ballots. */
    struct sum_view next;        /* Accepted. */
    uint64_t ballot;             /* Our own attempt; 0: none. */
    uint64_t ballot_seen;
    bool proposing;
    uint64_t answered, agreed; /* Seats. */
    uint64_t best;             /* Ballot of `proposal`, if it was accepted. */
    struct sum_state states[SUM_SEATS];
    struct sum_view proposal;
    time_us retry_at;

    /* The open call. */
    uint64_t committed;
    uint64_t set;
    bool closed, added, holds;
    bool given, doubt; /* Our vector is in it / but the user has gone. */
    struct sum_traffic traffic[2]; /* By the parity of the call. */
    struct sum_last last;

    /* The user. */
    bool joined, pending, pressed; /* pressed: asked for its patience's end. */
    uint64_t told;                 /* The last call that he knows of. */
    struct sum_shape shape;
    time_us impatient_at, deadline_at, withdraw_until;
    enum err withdraw; /* Why it is being withdrawn; OK: it is not. */
    char reason[REASON_SIZE];
};

void sum_member_init(struct sum_member *member,
                     const struct sum_options *options);
/* Where others dial it, known only now; nobody has been told yet. */
void sum_member_place(struct sum_member *member, const char *place);
void sum_member_step(struct sum_member *member, const struct sum_event *event,
                     struct sum_actions *actions);

#endif /* CORE_SUM_H */
