/*
 * stage.h - a coordinator or worker on a stage: the test plays everyone else.
 */
#ifndef TESTS_STAGE_H
#define TESTS_STAGE_H

#include "core/action.h"
#include "core/star/coordinator.h"
#include "core/worker/worker.h"

/* Actions of the last step. */
uint32_t stage_count(const struct actions *actions, enum action_kind kind);
uint32_t stage_count_msg(const struct actions *actions, enum msg_kind kind);
/* The first message of that kind; NULL if there is none. */
const struct msg *stage_find(const struct actions *actions, enum msg_kind kind);
const struct action *stage_find_action(const struct actions *actions,
                                       enum action_kind kind);
uint32_t stage_count_trace(const struct actions *actions, enum trace_kind kind);

/* The file that a CHECKPOINT would become, digest and all, from mem_new. */
uint8_t *stage_sealed(const struct action *checkpoint, size_t *size);

/* A job of `chunks` chunks of 4 rows, 8 dimensions, beats every 50 ms. */
struct job stage_job(uint32_t chunks);

/* Options for `slots` workers under a preset; scale exponents all 0. */
struct coordinator_options stage_options(const char *preset, uint32_t slots,
                                         uint32_t stragglers, uint32_t steps);

#endif
