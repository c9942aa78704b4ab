/*
 * relay.h - the relay as a pure step machine.
 *
 * A relay stands between the coordinator and some workers, its leaves.  Weights
 * come to it once and go on to every leaf; the leaves' tallies are merged on
 * the way up (they are integer sums: tally(A) + tally(B) = tally(A u B)), so
 * that the one above sends and receives as much as it has children, whatever
 * the number of workers.  Everything else it passes on, marked with the number
 * of the leaf it is of or for: to the coordinator each leaf is a member like
 * any other.  The one above may be a relay, too, and so may be a child.
 *
 *     coordinator            ROUND once, TASK for each leaf, SUM back
 *        |      \
 *      relay    relay        merges TALLYs, numbers leaves
 *      / | \    / | \
 *     w  w  w  w  w  w       see a coordinator
 *
 *     DIALLING --LINK_UP--> GREETING --WELCOME--> SERVING --BYE--> DONE
 *         ^---------------------+---- LINK_DOWN, silence ---+
 *
 * Rules, RELAY-n in docs/protocol.md:
 *   RELAY-1  it merges an answer only to the round at hand, with others of it,
 *            in bound, and disjoint from what it holds or has passed on; any
 *            other goes up as it came, for the coordinator to judge
 *   RELAY-2  a piece that another way may answer, too (ALONE, DROP), is not
 *            merged
 *   RELAY-3  an answer waits for others at most an eighth of the time the round
 *            has taken
 *   RELAY-4  without the one above there are no leaves: their links are closed,
 *            and they dial again, here or elsewhere
 *   RELAY-5  it answers for its leaves' beats, and says whom it does not hear
 *   RELAY-6  it cuts off a relay below whose sum is out of bound or has a chunk
 *            twice: nobody above could tell whose doing that was
 */
#ifndef CORE_RELAY_H
#define CORE_RELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/chunkset.h"
#include "core/action.h"
#include "core/relay/vigil.h"
#include "math/exact/tally.h"

#define RELAY_PARENT     UINT32_MAX /* The link upwards. */
#define RELAY_LEAVES_MAX 10240u

struct relay_options {
    char name[NAME_SIZE];
    bool stays;          /* As in core/worker/worker.h. */
    uint32_t links_max;  /* Connections from below. */
    uint32_t leaves_max; /* Workers below, those of relays included. */
    time_us retry_us;    /* First wait before dialling again; doubles. */
    time_us retry_max_us;
    time_us give_up_us; /* Unreachable for so long: FINISH; TIME_NEVER. */
};

enum relay_phase {
    RELAY_DIALLING,
    RELAY_GREETING,
    RELAY_SERVING,
    RELAY_DONE,
};

struct relay_leaf {
    uint32_t number; /* 0 = nobody; never used twice. */
    uint32_t link;
    uint32_t sub;  /* Its number at the relay on that link; 0 = none. */
    uint32_t owes; /* Pieces of this round given and not answered. */
    /* Its last TASK, if it was not too long to keep. */
    uint64_t task_view; /* 0 = none. */
    uint32_t task_count;
    struct item task[REPEAT_MAX];
};

struct relay_link {
    uint32_t leaf; /* Index + 1 of the worker on it; 0 = none. */
    bool relay;    /* Said so. */
    bool cast;     /* It, a relay, has the weights of this round. */
};

struct relay {
    struct relay_options options;
    enum relay_phase phase;
    time_us now;

    /* The link upwards. */
    time_us dial_at; /* DIALLING: when to try next; NEVER = trying. */
    time_us retry_us;
    time_us lost_at;
    time_us hello_at;
    time_us greet_until;   /* No WELCOME by then: dial again. */
    time_us unanswered_at; /* First WATCH since we heard; or NEVER. */

    struct relay_link *links;
    struct relay_leaf *leaves;
    struct msg_hello *hellos; /* What they said, by the same index. */
    uint32_t owed;            /* By all of them. */
    uint32_t generation;      /* Of the numbers given. */
    struct vigil vigil;       /* Over all of them. */

    /* The job; opened by the first WELCOME, kept over reconnects. */
    bool open;
    struct job job;
    uint8_t brief[BRIEF_MAX]; /* Its brief. */

    /* The round. */
    bool in_round;
    bool over;              /* It was called off. */
    struct msg_round round; /* Its vectors are these: */
    double *weights, *direction;
    int16_t *exponent;
    time_us round_at;
    struct chunkset passed; /* Merged and sent. */
    struct chunkset alone;  /* RELAY-2. */
    /* What is merged and not sent; the other was just sent, and a message of
     * this very step points at it. */
    struct tally held[2];
    struct answer *answers[2]; /* ANSWERS_MAX. */
    uint32_t live;
    uint32_t answer_count;
    time_us hold_until;
    bool flushed;          /* In this step. */
    struct answer *mapped; /* ANSWERS_MAX: of a SUM passed on by itself. */
    struct chunkset seen;  /* Of the answer that is looked at. */

    char reason[REASON_SIZE]; /* Behind ACTION_FINISH. */
};

MUST_CHECK enum err relay_init(struct relay *relay,
                               const struct relay_options *options);
void relay_close(struct relay *relay);

/* Advance by one event; `link` is RELAY_PARENT or below links_max.  `actions`
 * is emptied first. */
void relay_step(struct relay *relay, const struct event *event,
                struct actions *actions);

/* Workers behind it now. */
uint32_t relay_leaves(const struct relay *relay);

#endif /* CORE_RELAY_H */
