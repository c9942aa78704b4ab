/*
 * adapt.h - the code that suits the delays of a job in progress.
 *
 * A coordinator tells it of every round and answer and asks, between two
 * steps, whether to change.  Pure: times in, choice out.
 *
 *   watch   for ADAPT_ROUNDS rounds: what each slot took.  Two answers of one
 *           round tell its pace from what it waited before the first; the
 *           worker's own word for its computing has to do where there is one.
 *   score   one candidate a boundary on what was seen (plan/plan.h), so that
 *           no boundary waits for long; nothing is watched meanwhile
 *   choose  a change must be worth PLAN_GAIN_MIN, and surely something
 *
 * Whoever had not answered when its round ended was called off: the mean of
 * what took longer stands for it, or twice the time it had.  Every change
 * doubles the rounds to the next look: a guess that was wrong is corrected, and
 * a job cannot spend its time changing.
 *
 * Candidates are the codes whose answers are tallies.  The certificates of the
 * others take longer than a boundary may, `muster plan` has the time.  A code
 * that leaves data out (class approx) is taken to lose progress in proportion:
 * the gradient's noise is not measured.
 */
#ifndef PLAN_ADAPT_H
#define PLAN_ADAPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "code/code.h"
#include "plan/delay_trace.h"
#include "plan/plan.h"

#define ADAPT_ROUNDS    20u  /* Seen before a plan. */
#define ADAPT_WARM      2u   /* ... after so many: data travels in them. */
#define ADAPT_SLOTS_MAX 256u /* A boundary takes too long with more. */
#define ADAPT_HOLD_MAX  1280u

/* What a slot did in the round at hand. */
struct adapt_slot {
    uint32_t first_chunks, chunks; /* Of the first answer; of all. */
    uint32_t paced_chunks;         /* Answered without a wait in between: */
    time_us paced_us;
    time_us first_at, last_at;
    int64_t compute_us; /* As the worker says. */
    bool busy;          /* It had more to do after the last answer. */
};

struct adapt {
    uint32_t chunks;      /* Of the job. */
    enum exactness worst; /* Class the choice must keep to. */
    bool on;              /* This view can be planned for. */
    uint32_t slots;
    struct code_spec current;
    uint32_t skip; /* Rounds not to look at yet. */
    uint32_t hold; /* ... after the next change. */
    time_us opened_at;
    struct adapt_slot *slot;     /* ADAPT_SLOTS_MAX. */
    struct delay_trace wait;     /* Seconds before the first answer ... */
    struct delay_trace pace;     /* ... and for a chunk; below 0: not known,
                                    the wait is the round's length. */
    struct plan_table *table;    /* Scored so far: [0 .. scored). */
    uint32_t listed, scored, at; /* 0 listed: still watching. */
    double work_s;
    uint32_t drill, looks;
};

/* drill > 0: change at every so many looks, whatever it pays, to each code in
 * turn; a test of changing, not of choosing. */
MUST_CHECK enum err adapt_init(struct adapt *adapt, uint32_t chunks,
                               enum exactness worst, uint32_t drill);
void adapt_close(struct adapt *adapt);

/* A new view: what was seen so far is of no use. */
void adapt_view(struct adapt *adapt, const struct code *code);

void adapt_open(struct adapt *adapt, time_us now);
/* `busy`: it has more to do and need not wait for work. */
void adapt_answer(struct adapt *adapt, uint32_t slot, time_us now,
                  uint32_t chunks, int64_t compute_us, bool busy);
/* The round has ended; alive[slot]: somebody fills it. */
void adapt_end(struct adapt *adapt, time_us now, const bool *alive);

/* At a step boundary: true if `*spec` is to be used from now on, and why.
 * Allocates and frees; scores one code for ADAPT_ROUNDS rounds at most. */
bool adapt_look(struct adapt *adapt, struct code_spec *spec,
                struct plan_choice *choice);

#endif /* PLAN_ADAPT_H */
