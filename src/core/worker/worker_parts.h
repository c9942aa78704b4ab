/*
 * worker_parts.h - the worker's files to each other; nobody else's.
 *
 *   worker.c         init, close, step; time
 *   worker_link.c    dialling, greetings, the job, beats, the goodbye
 *   worker_round.c   which round it obeys
 *   worker_pieces.c  pieces, from the queue to the answer
 *   worker_products.c  ... of products, several at a time
 *   worker_data.c    the chunks it holds, can fetch, and lacks
 */
#ifndef CORE_WORKER_PARTS_H
#define CORE_WORKER_PARTS_H

#include "core/worker/worker.h"

#define NEED_RESEND_US (200 * MS_US)

/* worker.c */
struct msg *worker_send(struct actions *actions, enum msg_kind kind);
void worker_finish(struct worker *worker, struct actions *actions, enum err err,
                   const char *reason);

/* worker_link.c */
void worker_link_dial(struct worker *worker, struct actions *actions);
void worker_link_up(struct worker *worker, struct actions *actions);
void worker_link_down(struct worker *worker, struct actions *actions);
/* After a wait that doubles. */
void worker_link_redial(struct worker *worker, struct actions *actions);
void worker_link_greet(struct worker *worker, struct actions *actions);
void worker_link_welcome(struct worker *worker, const struct job *job,
                         struct actions *actions);
void worker_link_beat(struct worker *worker, struct actions *actions);
void worker_link_echo(struct worker *worker, const struct msg_echo *msg);
bool worker_link_silent(const struct worker *worker);
/* Last in a step: the message points at stints that nobody may add to. */
void worker_link_pulse(struct worker *worker, struct actions *actions);
/* It was told to go: it finishes what it is at. */
void worker_leave(struct worker *worker, struct actions *actions);
/* Nothing unsent is left: say goodbye.  Said again until BYE or patience ends.
 */
void worker_link_leave(struct worker *worker, struct actions *actions);

/* worker_round.c */
void worker_round(struct worker *worker, const struct msg_round *msg,
                  struct actions *actions);
/* A round is arriving. */
void worker_coming(struct worker *worker, const struct round_key *key,
                   struct actions *actions);
void worker_work(struct worker *worker, const struct msg_work *msg,
                 struct actions *actions);
void worker_drop(struct worker *worker, const struct msg_work *msg);
void worker_cancel(struct worker *worker, const struct msg_cancel *msg,
                   struct actions *actions);
/* Forget the round.  What is being computed is called off; its buffer comes
 * back with EVENT_COMPUTED. */
void worker_round_end(struct worker *worker, struct actions *actions);

/* worker_pieces.c */
/* `row`: a row begins, and pieces of it are taken. */
void worker_pieces_add(struct worker *worker, const struct item *items,
                       uint32_t count, bool row);
struct worker_item *worker_pieces_find(struct worker *worker, uint32_t id);
uint32_t worker_pieces_left(const struct worker *worker);
/* So many, from queue[at] on, are finished whatever happens to the others. */
uint32_t worker_pieces_begun(const struct worker *worker);
/* Begin with the next, if it is time and its data are here. */
void worker_pieces_next(struct worker *worker, struct actions *actions);
void worker_pieces_computed(struct worker *worker, const struct event *event,
                            struct actions *actions);
/* The piece at hand is computed and any delay is over: answer it. */
void worker_pieces_deliver(struct worker *worker, struct actions *actions);
bool worker_pieces_has_data(const struct worker *worker,
                            const struct worker_item *item);
bool worker_busy(const struct worker *worker);
/* The block of coded data that it holds or is about to; or rows. */
struct block_share worker_share(const struct worker *worker);

/* worker_products.c */
/* With the piece at hand, and those that follow it if they are quick. */
void worker_products_start(struct worker *worker, struct actions *actions);
/* They were computed, and take so long with injected delays. */
void worker_products_took(struct worker *worker, double us);
void worker_products_send(struct worker *worker, struct actions *actions);
/* Of all that are computed together. */
uint32_t worker_products_numbers(const struct worker *worker);

/* worker_data.c: the worker's chunks.  Callers then look for work. */
MUST_CHECK enum err worker_data_room(struct worker *worker,
                                     const struct job *job);
void worker_data_close(struct worker *worker);
/* Said in HELLO: HAVE will follow. */
bool worker_data_keeps(struct worker *worker);
void worker_data_welcomed(struct worker *worker, struct actions *actions);
void worker_data_chunks(struct worker *worker, const struct msg *msg,
                        struct actions *actions);
void worker_data_arrived(struct worker *worker, const struct msg *msg,
                         struct actions *actions);
void worker_data_fetch(struct worker *worker, const struct msg_fetch *msg,
                       struct actions *actions);
void worker_data_recalled(struct worker *worker, const struct chunkset *near,
                          const struct chunkset *held, struct actions *actions);
void worker_data_fetched(struct worker *worker, const struct event *event,
                         struct actions *actions);
/* The coordinator would have its peers fetch from it. */
void worker_data_serve(const struct worker *worker, const struct msg *msg,
                       struct actions *actions);
void worker_data_serving(const struct worker *worker, uint16_t port,
                         struct actions *actions);
/* Ask for those chunks of a piece, or strips of the block, that nobody is
 * bringing. */
void worker_data_need(struct worker *worker, uint32_t first, uint32_t end,
                      struct actions *actions);

#endif /* CORE_WORKER_PARTS_H */
