/*
 * suspects.h - who is behind, and why, in words: what `muster status
 * --why-slow` says of a star's workers and of a ring's peers alike.
 */
#ifndef NODE_SUSPECTS_H
#define NODE_SUSPECTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "core/link/slow.h"

#define SUSPECT_WHY 192u

/* One of those who are looked at.  Texts are borrowed. */
struct suspect {
    const char *name, *state;
    double behind_s;         /* As status shows it: it owes an answer. */
    const struct slow *slow; /* What was measured of it. */
    bool silent;             /* Too long to wait for what it measured: ... */
    time_us silent_us;       /* ... so long ... */
    time_us deaf_us;         /* ... and so long its machine, or its relay's, has
                                not acknowledged what was sent. */
    bool gone;               /* There is no link to it, and it is waited for. */
    time_us owes_us; /* A ring's peer whose beats come: so long nothing has come
                        of what it owes, though it ... */
    bool lost;       /* ... has sent it, or else has not. */
    const char *relay; /* It is behind this one; NULL: none. */
    bool hushed;       /* Its relay is there and does not hear it. */

    /* suspects_judge fills in the rest: */
    struct slow_times times;
    struct slow_verdict verdict;
    double order; /* The largest is shown first. */
    uint32_t number;
    char why[SUSPECT_WHY]; /* "": it is not behind. */
};

/* Finds the cause of each, and puts the slowest first.  ERR_NOMEM. */
MUST_CHECK enum err suspects_judge(struct suspect *all, uint32_t count);
/* A list for an answer of `capacity` bytes; those that do not fit are counted
 * in *more. */
json_t *suspects_json(const struct suspect *all, uint32_t count,
                      size_t capacity, json_int_t *more);

#endif /* NODE_SUSPECTS_H */
