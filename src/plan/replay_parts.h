/*
 * replay_parts.h - what replay.c, stale.c and steal.c share; nobody else
 * includes it.
 */
#ifndef PLAN_REPLAY_PARTS_H
#define PLAN_REPLAY_PARTS_H

#include "plan/replay.h"

/* A step that took longer waited for one that never answers. */
#define REPLAY_STALLED_US ((time_us)(DELAY_NEVER_S / 2 * 1e6))

static inline uint32_t piece_chunks(const struct code *code, uint32_t id)
{
    return code->pieces[id].end - code->pieces[id].first;
}

/* core/worker/worker_pieces.c: what a worker sleeps after computing so many
 * chunks for so long. */
static inline time_us replay_hold(const struct replay *replay,
                                  const struct delay_draw *draw,
                                  uint32_t chunks, time_us compute_us,
                                  bool with_addition)
{
    const double share = (double)chunks / replay->code->chunks / replay->rounds;
    const double hold_us = draw->factor * (double)compute_us +
                           draw->share_s * 1e6 * share +
                           (with_addition ? draw->add_s * 1e6 : 0);

    return hold_us < 1 ? 0 : (time_us)hold_us;
}

/* core/worker/worker_round.c: a chunk begun is finished before CANCEL is
 * obeyed. */
static inline time_us replay_called_off(time_us began, time_us now,
                                        time_us chunk_us)
{
    return chunk_us == 0
               ? now
               : began + (now - began + chunk_us - 1) / chunk_us * chunk_us;
}

bool replay_enough(const struct replay *replay, uint32_t pieces_in,
                   uint32_t slots_in, bool late);
time_us replay_deadline(const struct code *code);

MUST_CHECK enum err stale_new(struct replay *replay);
void stale_free(struct stale *stale);
void stale_run(struct replay *replay, const struct delay_draw *draws,
               struct replay_step *step);

MUST_CHECK enum err steal_new(struct replay *replay);
void steal_free(struct steal *steal);
MUST_CHECK enum err steal_run(struct replay *replay,
                              const struct delay_draw *draws,
                              struct replay_step *step);

#endif /* PLAN_REPLAY_PARTS_H */
