/*
 * peer_parts.h - the files of a ring's peer to each other; nobody else's.
 *
 *   peer.c          events, phases, the end
 *   peer_links.c    who is there: dialling, MEET, ROSTER, BEAT, silence
 *   peer_owed.c     who is there, but nothing comes of what it owes
 *   peer_council.c  views: PROPOSE, REPORT, STATE
 *   peer_doubt.c    two that differ: going back, and who was wrong
 *   peer_round.c    rounds: COMPUTE, SLICE, feed, receipts
 *   peer_pulse.c    PULSE: where the time goes, and who owes
 */
#ifndef CORE_RING_PEER_PARTS_H
#define CORE_RING_PEER_PARTS_H

#include "core/ring/peer.h"

#define SEAT(i) (UINT64_C(1) << (i))

/* --- peer.c --- */
struct msg *peer_send(struct peer *p, struct actions *actions, uint32_t link,
                      enum msg_kind kind);
struct trace *peer_trace(struct peer *p, struct actions *actions,
                         enum trace_kind kind);
/* The machine ends, saving its last state first; the sentence is copied. */
__attribute__((format(printf, 4, 5))) void peer_end(struct peer *p,
                                                    struct actions *actions,
                                                    enum err err,
                                                    const char *format, ...);
/* Between two rounds: what comes next. */
void peer_next(struct peer *p, struct actions *actions);
/* A view begins: which owners of private rows are back that were missed. */
void peer_welcome_home(struct peer *p, struct actions *actions);
/* Is a checkpoint due, and is it this peer's turn to save it? */
bool peer_saves(const struct peer *p);
/* Whose journal and checkpoint. */
struct checkpoint peer_head(const struct peer *p);

/* --- peer_links.c --- */
void links_start(struct peer *p, struct actions *actions);
void links_up(struct peer *p, uint32_t link, struct actions *actions);
void links_down(struct peer *p, uint32_t link);
void links_meet(struct peer *p, uint32_t link, const struct msg_meet *meet,
                struct actions *actions);
void links_roster(struct peer *p, uint32_t index,
                  const struct msg_roster *roster, struct actions *actions);
void links_reject(struct peer *p, uint32_t link, const char *reason,
                  struct actions *actions);
/* Of a greeted link; PEER_NO_SEAT. */
uint32_t links_seat(const struct peer *p, uint32_t link);
uint32_t links_find(const struct peer *p, const char *name);
/* The link is closed, and what was known of the other side forgotten. */
void links_drop(struct peer *p, uint32_t seat, struct actions *actions);
/* ... and it is not let in again: it sent what no peer sends. */
void links_ban(struct peer *p, uint32_t seat, struct actions *actions);
/* Died, or left if it said PARTING. */
void links_tell_gone(struct peer *p, uint32_t seat, struct actions *actions);
/* Silence, dials and beats that are due; and when the next is. */
void links_tend(struct peer *p, struct actions *actions);
/* The last thing of a step: ROSTERs, if something is new. */
void links_tell(struct peer *p, struct actions *actions);
time_us links_due(const struct peer *p);
/* Those with a link and a ROSTER, and this peer. */
uint64_t links_heard(const struct peer *p);

/* --- peer_owed.c --- */
/* Of a link that was just greeted: nothing has gone by it. */
void owed_begin(struct peer *p, uint32_t seat);
/* A message goes out; something came by the bulk connection. */
void owed_send(struct peer *p, uint32_t link, enum msg_kind kind);
void owed_moved(struct peer *p, uint32_t seat);
void owed_take(struct peer *p, uint32_t seat, const struct msg_beat *beat);
/* This peer was away: nobody else is to blame. */
void owed_forgive(struct peer *p, time_us now);
/* What its beats say of this peer. */
uint32_t owed_flags(const struct peer *p);
/* Drops whom nothing has come from for too long, with each beat.  True: one was
 * to be dropped but this peer is to stop, and need not wait. */
bool owed_tend(struct peer *p, struct actions *actions);
/* Is it let in again?  Not soon after its link stood. */
bool owed_shuns(const struct peer *p, uint32_t seat, uint64_t incarnation);

/* --- peer_council.c --- */
/* Propose what should be, if it is not so; what can wait for the end of the
 * round waits. */
void council_tend(struct peer *p, struct actions *actions);
/* That is now.  True: another view was taken up. */
bool council_between(struct peer *p, struct actions *actions);
void council_propose(struct peer *p, uint32_t seat,
                     const struct msg_propose *propose,
                     struct actions *actions);
void council_report(struct peer *p, uint32_t seat,
                    const struct msg_report *report, struct actions *actions);
void council_state(struct peer *p, uint32_t seat, const struct msg_state *state,
                   struct actions *actions);
/* Nobody computes or measures any more: HALTING goes on. */
void council_halted(struct peer *p, struct actions *actions);
/* Lets go of the round; what the driver reads must not change under it. */
void council_halt(struct peer *p, struct actions *actions);
/* A REPORT to all members. */
void council_say(struct peer *p, const struct ring_stand *stand, bool doubt,
                 struct actions *actions);

/* --- peer_doubt.c --- */
/* By its slice the weights of that seat are others than they are here; named
 * once it is known who is right. */
void doubt_accuse(struct peer *p, uint32_t seat, const struct round_key *key);
/* Equal positions, unequal states. */
void doubt_raise(struct peer *p, struct actions *actions);
/* The name of the weights of a step is known: who was right? */
void doubt_settle(struct peer *p, uint32_t step, uint64_t name,
                  struct actions *actions);
/* Nobody computes any more: go. */
void doubt_go_back(struct peer *p, struct actions *actions);
/* To where the last view began, or, if it is not `anchored`, to the beginning.
 */
enum err doubt_return(struct peer *p, bool anchored, struct actions *actions);
/* The name of the weights of an earlier step; 0: not known any more. */
uint64_t doubt_past(const struct peer *p, uint32_t step);

/* --- peer_round.c --- */
void peer_round_open(struct peer *p, struct actions *actions);
void peer_round_computed(struct peer *p, const struct event *event,
                         struct actions *actions);
/* Seats whose parts are not all in; or, *totals, whose totals are not. */
uint64_t peer_round_owing(const struct peer *p, bool *totals);
void peer_round_slice(struct peer *p, uint32_t seat,
                      const struct msg_slice *msg, struct actions *actions);

/* --- peer_pulse.c --- */
/* First and last thing of a step; `beaten`: beats went out in it. */
void pulse_before(struct peer *p, const struct event *event);
void pulse_after(struct peer *p, bool beaten, struct actions *actions);
void pulse_take(struct peer *p, uint32_t seat, const struct msg_pulse *pulse);

#endif /* CORE_RING_PEER_PARTS_H */
