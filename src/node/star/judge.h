/*
 * judge.h - the coordinator computes a piece itself, to settle who is right.
 *
 * One thread beside the loop, one piece at a time.  Weights and scale are
 * copied, because the round may end while it computes.
 */
#ifndef NODE_JUDGE_H
#define NODE_JUDGE_H

#include "base/err.h"
#include "core/action.h"
#include "eval/evaluator.h"
#include "os/run/loop.h"

struct judge_thread;

/* `done` runs on the loop after each piece. */
MUST_CHECK enum err judge_new(struct loop *loop, const struct shelf *shelf,
                              const struct job *job, loop_callback done,
                              void *context, struct judge_thread **judge);
/* Waits for the piece in hand.  Accepts NULL. */
void judge_free(struct judge_thread *judge);

/* An ACTION_JUDGE; its tally is the thread's until `done`. */
void judge_start(struct judge_thread *judge, const struct action *action);
/* How the last one went. */
enum err judge_err(const struct judge_thread *judge);

#endif /* NODE_JUDGE_H */
