/*
 * worker_parts.h - what worker.c and worker_data.c share.
 */
#ifndef CORE_WORKER_PARTS_H
#define CORE_WORKER_PARTS_H

#include "core/worker.h"

struct msg *worker_send(struct actions *actions, enum msg_kind kind);
/* The block of coded data that it holds or is about to; or rows. */
struct block_share worker_share(const struct worker *worker);

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
                          struct actions *actions);
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
