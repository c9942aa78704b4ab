/*
 * shuffle_plan.h - who works on which row in a pass, who holds a copy of it,
 * and the messages that bring what a worker will need and does not hold.
 *
 * All processes draw the same plan from one seed, so no message needs to name
 * its rows.  See shuffle.c for the whole.
 */
#ifndef SHUFFLE_PLAN_H
#define SHUFFLE_PLAN_H

#include <stddef.h>
#include <stdint.h>

enum { WORKERS_MAX = 12, ROWS_MAX = 1 << 22 };
#define NO_ROW UINT32_MAX

enum dealing { DEAL_EACH, DEAL_ONCE, DEAL_NEVER };

struct setting {
    uint32_t n, rows, columns, passes;
    uint32_t keep, of; /* p = keep / of */
    uint32_t dealing;  /* enum dealing */
    uint32_t random, uncoded, unicast, json;
    uint32_t damage; /* Message in which a bit is turned; 0: none. */
    uint32_t lose;   /* Message that nobody hears at first; 0: none. */
    uint32_t seed;
};

struct plan {
    const struct setting *set;
    uint64_t state;
    uint32_t *home, *next; /* Worker of a row in this pass, in the next. */
    uint32_t *held;        /* Set of workers, as bits; home is among them. */
    uint32_t *order;       /* Scratch: all rows. */
    struct keyed *sorted;  /* Scratch. */
};

struct message {
    uint32_t to;                /* Set of workers. */
    uint32_t rows[WORKERS_MAX]; /* What each of them wants; or NO_ROW. */
};

struct messages {
    struct message *list; /* Room for as many as there are rows. */
    uint32_t count;
    uint32_t wanted; /* Rows in all. */
};

/* Says why and ends the process. */
_Noreturn __attribute__((format(printf, 1, 2))) void fail(const char *format,
                                                          ...);
/* Zeroed memory, or the end of the process. */
void *room(size_t count, size_t size);
/* The next number of a stream (splitmix64). */
uint64_t draw(uint64_t *state);

uint32_t bit(uint32_t worker);
uint32_t share_of(const struct setting *set); /* q / n */
uint32_t extra_of(const struct setting *set); /* p (q - q / n) */
/* Of what the number of rows has to be a multiple. */
uint64_t rows_step(const struct setting *set);
/* Rows that a deal takes on the average (shuffle.c). */
double formula(const struct setting *set);

void plan_open(struct plan *plan, const struct setting *set);
void plan_close(struct plan *plan);
/* Decide who works on what in the next pass. */
void plan_deal(struct plan *plan);
/* The messages for that. */
void plan_messages(struct plan *plan, struct messages *all);
/* They are delivered: the next pass is this one. */
void plan_turn(struct plan *plan);

#endif /* SHUFFLE_PLAN_H */
