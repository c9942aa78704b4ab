/*
 * elastic.h - a coordinator of a job on coded data under an elastic code; the
 * test plays its workers.
 */
#ifndef TESTS_ELASTIC_H
#define TESTS_ELASTIC_H

#include "play.h"

enum { ELASTIC_ROWS = 32 };

/* Any `need` of `slots` machines suffice; two copies, or one. */
struct coordinator_options elastic_options(uint32_t slots, uint32_t need,
                                           uint32_t copies);
void elastic_open(struct play *play, uint32_t slots, uint32_t need,
                  uint32_t copies);
void elastic_lose(struct play *play, uint32_t link);
/* With zeros, or that number. */
void elastic_answer_one(struct play *play, uint32_t link, uint32_t id);
void elastic_answer_with(struct play *play, uint32_t link, uint32_t id,
                         double number);
bool elastic_owes(const struct play *play, uint32_t link, uint32_t id);
/* All that it owes now; what that brings it is for later. */
void elastic_answer_all(struct play *play, uint32_t link);
/* Receipts and views are durable: a round is open. */
void elastic_journal(struct play *play);
/* The first `count` answer what is asked until the round is over; false:
 * nothing is asked of them any more, and it is not. */
bool elastic_round(struct play *play, uint32_t count);
/* ... and until the step is, and the next is open. */
void elastic_step(struct play *play, uint32_t count);
/* The journal and the checkpoint of `step` are written, and it ends. */
void elastic_ends_stopped(struct play *play, uint32_t step);
/* The first trace of that kind in the last step; NULL: there is none. */
const struct trace *elastic_trace(const struct play *play,
                                  enum trace_kind kind);

#endif
