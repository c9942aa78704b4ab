/*
 * key.h - what a tally must carry to be counted (TALLY-3).
 */
#ifndef CORE_KEY_H
#define CORE_KEY_H

#include <stdbool.h>
#include <stdint.h>

struct round_key {
    uint64_t job;     /* One training run, over all its restarts. */
    uint64_t view;    /* Numbered agreed membership; only grows. */
    uint32_t step;    /* One model update. */
    uint32_t round;   /* One broadcast-and-collect in it. */
    uint32_t attempt; /* A redo of the round. */
    uint64_t scale;   /* Short hash of the tally exponents. */
    uint64_t weights; /* Short hash of the weights it is computed at. */
};

static inline bool key_equal(const struct round_key *a,
                             const struct round_key *b)
{
    return a->job == b->job && a->view == b->view && a->step == b->step &&
           a->round == b->round && a->attempt == b->attempt &&
           a->scale == b->scale && a->weights == b->weights;
}

/* Order of rounds within a job: by view, then step, round, attempt. */
static inline int key_order(const struct round_key *a,
                            const struct round_key *b)
{
    if (a->view != b->view)
        return a->view < b->view ? -1 : 1;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    if (a->round != b->round)
        return a->round < b->round ? -1 : 1;
    if (a->attempt != b->attempt)
        return a->attempt < b->attempt ? -1 : 1;
    return 0;
}

#endif /* CORE_KEY_H */
