/*
 * sum_parts.h - what the files of the member share: its links and its user
 * (sum_member.c), the successor of a view (sum_view.c), a call (sum_call.c).
 */
#ifndef CORE_SUM_PARTS_H
#define CORE_SUM_PARTS_H

#include "core/sum/sum.h"

#define SUM_ASK_US (200 * MS_US) /* Between two requests for a new view. */

static inline uint64_t sum_bit(uint32_t seat)
{
    return UINT64_C(1) << seat;
}

static inline uint64_t sum_all(const struct sum_view *view)
{
    return view->count == 0 ? 0 : UINT64_MAX >> (SUM_SEATS - view->count);
}

static inline uint32_t sum_count(uint64_t seats)
{
    return (uint32_t)__builtin_popcountll(seats);
}

static inline bool sum_same_shape(const struct sum_shape *a,
                                  const struct sum_shape *b)
{
    return a->type == b->type && a->count == b->count;
}

/* --- sum_member.c --- */
struct sum_action *sum_act(struct sum_actions *actions,
                           enum sum_action_kind kind);
struct sum_msg *sum_send(struct sum_actions *actions, uint32_t link,
                         enum sum_kind kind);
/* To every other member of the view that has a link. */
struct sum_msg sum_words(const struct sum_member *member, enum sum_kind kind);
void sum_tell_all(const struct sum_member *member, const struct sum_msg *msg,
                  struct sum_actions *actions);
bool sum_same_life(const struct sum_seat *a, const struct sum_seat *b);
/* Seat of the view; SUM_NOBODY: a guest. */
uint32_t sum_seat_of(const struct sum_member *member, uint32_t link);
void sum_map_roads(struct sum_member *member);
uint64_t sum_linked(const struct sum_member *member);
void sum_drop(struct sum_member *member, uint32_t link,
              struct sum_actions *actions);
/* The user's call is over. */
struct sum_action *sum_answer(struct sum_member *member, enum err err,
                              int included, struct sum_actions *actions);
void sum_answer_total(struct sum_member *member, int included,
                      struct sum_actions *actions);
void sum_finish(struct sum_member *member, enum err err, const char *reason,
                struct sum_actions *actions);

/* --- sum_view.c --- */
/* Must the view end, as far as this member knows? */
bool sum_restless(const struct sum_member *member);
/* See to it, if it is time. */
void sum_press(struct sum_member *member, struct sum_actions *actions);
void sum_retry(struct sum_member *member, struct sum_actions *actions);
void sum_look_again(struct sum_member *member, struct sum_actions *actions);
/* The view says what vectors of its call are to be: is the user's? */
void sum_check_shape(struct sum_member *member, struct sum_actions *actions);
void sum_install(struct sum_member *member, const struct sum_view *view,
                 struct sum_actions *actions);
void sum_view_message(struct sum_member *member, uint32_t link,
                      const struct sum_msg *msg, struct sum_actions *actions);

/* --- sum_call.c --- */
void sum_call_reset(struct sum_member *member);
void sum_try_give(struct sum_member *member, struct sum_actions *actions);
void sum_commit(struct sum_member *member, struct sum_actions *actions);
void sum_call_message(struct sum_member *member, uint32_t seat,
                      const struct sum_msg *msg, struct sum_actions *actions);

#endif /* CORE_SUM_PARTS_H */
