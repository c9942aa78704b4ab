/*
 * sum.h - muster_sum: an elastic, exact all-reduce as two pure step machines.
 *
 * A group has one host and members; calls are numbered.  In a call every
 * member gives a vector and gets the sum of all that were given.  What is in a
 * call is in it whole or not at all (SUM-1), everyone who is told a total of
 * a call is told the same one (SUM-2), nobody's vector counts twice (SUM-3).
 *
 *      member                               host
 *        | -- HELLO -----------------------> |   name, incarnation
 *        | <----------- WELCOME or REJECT -- |   the first call to take part in
 *        | -- BEAT (every 50 ms) ----------> |
 *        | <------------------------- ECHO - |
 *        | -- GIVE (call, vector) ---------> |   bulk
 *        | <------ TOTAL (call, vector, who) |   bulk
 *        | <------- MISSED or REFUSE (call)- |   too late / of another shape
 *        | -- WITHDRAW (call) -------------> |   bulk: cancelled, or impatient
 *        | <--------------- WITHDRAWN (call) |   or TOTAL, if it was too late
 *        | -- LEAVE, <- BYE ---------------- |
 *
 * The host closes a call once `least` vectors are in and every living member
 * has given one, or the patience of one of those who gave is over.  Whoever
 * died without giving is left out; whoever joins takes part from the next
 * call on (from this one if nobody has given yet, or as soon as too few are
 * left for it: what it gave for the next one counts then, and it knows the
 * total by the serial of its vector).  A member that was left out and comes
 * late is told the total of the last call and that it is not in it; older ones
 * are MISSED.
 *
 * Vectors stay with the driver: the host machine says KEEP, DROP and TOTAL and
 * never looks at one.  How they are added is math/exact/exact.h: rounded once.
 */
#ifndef CORE_SUM_H
#define CORE_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "core/msg.h"

#define SUM_VERSION   1u
#define SUM_SEATS_MAX 1024u
#define SUM_NO_SEAT   UINT32_MAX

enum sum_kind {
    SUM_HELLO = 1,
    SUM_WELCOME,
    SUM_REJECT,
    SUM_BEAT,
    SUM_ECHO,
    SUM_GIVE,
    SUM_TOTAL,
    SUM_MISSED,
    SUM_REFUSE,
    SUM_WITHDRAW,
    SUM_WITHDRAWN,
    SUM_LEAVE,
    SUM_BYE,
};

struct sum_shape {
    uint32_t type;  /* enum exact_type. */
    uint64_t count; /* Numbers. */
};

struct sum_msg {
    enum sum_kind kind;
    uint32_t version; /* HELLO. */
    char name[NAME_SIZE];
    uint64_t incarnation;
    uint64_t group;    /* WELCOME; HELLO: the one belonged to, 0 = none. */
    uint64_t call;     /* Of all but HELLO, REJECT, BEAT, ECHO, LEAVE, BYE. */
    uint64_t next;     /* MISSED: the call that is open now. */
    int64_t beat_us;   /* WELCOME. */
    int64_t dead_us;   /* WELCOME: silence after which the host is gone. */
    uint64_t size_max; /* WELCOME: bytes of a vector. */
    struct sum_shape shape; /* GIVE, TOTAL. */
    int64_t patience_us;    /* GIVE; 0 = for ever. */
    uint64_t serial;        /* GIVE: counts a member's vectors.  TOTAL: of
                               yours that is in it; 0 = none. */
    uint32_t contributed;   /* TOTAL: vectors in it ... */
    uint32_t members;       /* ... of so many who might have given one. */
    const char *who;        /* TOTAL: their names, by comma, in order. */
    size_t who_size;
    const uint8_t *bytes; /* GIVE, TOTAL. */
    size_t size;
    char reason[REASON_SIZE]; /* REJECT, REFUSE, BYE. */
};

enum sum_event_kind {
    SUM_EVENT_START, /* Member. */
    SUM_EVENT_TIME,
    SUM_EVENT_UP, /* Member: connected. */
    SUM_EVENT_DOWN,
    SUM_EVENT_MESSAGE,
    SUM_EVENT_GIVE,   /* Member: its user calls. */
    SUM_EVENT_CANCEL, /* Member: its user does not want to wait any more. */
    SUM_EVENT_END,    /* Member: leave.  Host: the group is over. */
};

struct sum_event {
    enum sum_event_kind kind;
    time_us now;
    uint32_t link; /* Host: of DOWN and MESSAGE. */
    const struct sum_msg *msg;
    struct sum_shape shape; /* GIVE; the bytes are good until RESULT. */
    const uint8_t *bytes;
    size_t size;
    time_us patience_us; /* 0 = for ever. */
};

enum sum_action_kind {
    SUM_ACTION_SEND,  /* Of a TOTAL the host's driver fills in the bytes. */
    SUM_ACTION_CLOSE, /* No DOWN follows. */
    SUM_ACTION_TIMER,
    SUM_ACTION_KEEP,    /* Host: the message's bytes are those of `seat`. */
    SUM_ACTION_DROP,    /* Host: forget them. */
    SUM_ACTION_TOTAL,   /* Host: add up what seats with was_in keep; forget. */
    SUM_ACTION_CONNECT, /* Member: UP or DOWN follows. */
    SUM_ACTION_JOINED,  /* Member: the group let it in, for the first time. */
    SUM_ACTION_RESULT,  /* Member: of GIVE; err, msg if it is a TOTAL. */
    SUM_ACTION_FINISH,  /* The machine is done. */
};

struct sum_action {
    enum sum_action_kind kind;
    uint32_t link; /* Host. */
    uint32_t seat; /* KEEP, DROP. */
    time_us at;
    struct sum_msg msg; /* SEND, RESULT. */
    enum err err;       /* RESULT, FINISH. */
    int included;       /* RESULT: 1, 0, or -1: who knows. */
    const char *reason; /* RESULT, FINISH: one sentence, or "". */
};

/* The driver's; a step fills it from the start. */
struct sum_actions {
    struct sum_action *list;
    uint32_t capacity, count;
};

/* What one step of a host of so many seats can ask for. */
uint32_t sum_actions_max(uint32_t seats);
struct sum_action *sum_actions_add(struct sum_actions *actions,
                                   enum sum_action_kind kind);

/* Does it travel on the bulk connection?  WITHDRAW and BYE do, too: they must
 * not overtake the vector and the last total. */
static inline bool sum_is_bulk(enum sum_kind kind)
{
    return kind == SUM_GIVE || kind == SUM_TOTAL || kind == SUM_WITHDRAW ||
           kind == SUM_BYE;
}

/* --- host ---------------------------------------------------------------- */

struct sum_host_options {
    uint64_t group;
    uint32_t seats; /* Members at once; <= SUM_SEATS_MAX. */
    uint32_t least; /* Never close a call with fewer vectors; > 0. */
    uint64_t size_max;
    time_us beat_us;
    time_us dead_us;      /* Silence of a member, and ... */
    time_us host_dead_us; /* ... of the host, which adds large vectors. */
};

struct sum_seat {
    bool taken;
    bool linked;
    uint32_t link;
    char name[NAME_SIZE];
    uint64_t incarnation;
    uint64_t first_call; /* It is waited for from this one on. */
    bool given;          /* For the call that is open ... */
    bool early;          /* ... or for the one after it. */
    struct sum_shape shape;
    uint64_t serial;    /* Of what it gave. */
    bool was_in;        /* The total of the last call ... */
    uint64_t in_serial; /* ... with this. */
    time_us heard_at;
};

struct sum_host {
    struct sum_host_options options;
    time_us now;
    uint64_t call; /* Open; the first is 1. */
    struct sum_seat *seats;
    uint32_t *order; /* Scratch: seats by name. */
    uint32_t given;
    struct sum_shape shape; /* Of the open call, once somebody gave. */
    time_us close_at;       /* Somebody's patience ends. */
    struct sum_shape last_shape;
    uint32_t last_contributed, last_members;
    char *who; /* Of the last call. */
    size_t who_size;
    bool over;
};

MUST_CHECK enum err sum_host_init(struct sum_host *host,
                                  const struct sum_host_options *options);
void sum_host_close(struct sum_host *host);
void sum_host_step(struct sum_host *host, const struct sum_event *event,
                   struct sum_actions *actions);

/* --- member -------------------------------------------------------------- */

struct sum_member_options {
    char name[NAME_SIZE];
    uint64_t incarnation;
    time_us retry_us, retry_max_us;
    time_us give_up_us; /* Unreachable for so long: FINISH. */
};

enum sum_member_phase {
    SUM_DIALLING,
    SUM_GREETING,
    SUM_IN,
    SUM_LEAVING,
    SUM_DONE,
};

struct sum_member {
    struct sum_member_options options;
    enum sum_member_phase phase;
    time_us now;
    uint64_t group; /* 0 = none yet. */
    uint64_t call;  /* The next one. */
    time_us beat_us, dead_us;
    uint64_t size_max;
    time_us dial_at, hello_at, greet_until, beat_at, heard_at, lost_at,
        leave_until;
    time_us retry_us;

    bool pending; /* The user waits. */
    bool sent;    /* ... and the host may have the vector. */
    bool again;   /* ... even before it was sent this time. */
    bool doubt;   /* It may have an earlier one of this call. */
    bool fresh;   /* Has been told no total yet. */
    uint64_t serial;
    struct sum_shape shape;
    const uint8_t *bytes;
    size_t size;
    time_us patience_us, deadline_at;
    enum err withdraw; /* Why it is being withdrawn; OK = it is not. */
    char reason[REASON_SIZE];
};

void sum_member_init(struct sum_member *member,
                     const struct sum_member_options *options);
void sum_member_step(struct sum_member *member, const struct sum_event *event,
                     struct sum_actions *actions);

#endif /* CORE_SUM_H */
