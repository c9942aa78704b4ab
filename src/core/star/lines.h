/*
 * lines.h - scores of coded data that are kept, for lbfgs and newton.
 *
 * Scores are linear in what is multiplied: with X b and X p those at b + t p
 * are known for every t.  So of what those optimisers ask on coded data
 *
 *     LINE       is answered here, by labels and scores alone: a line search is
 *                one SCORES round (of p), however many trials it takes
 *     GRADIENT   at the end of a line is the way back alone
 *     HESSVEC    is SCORES of v, then the second derivatives at b times these,
 *                on the way back
 *
 * A vector's scores are known by its numbers: whoever asks is compared with
 * what was multiplied, so that a coordinator that begins anew, or an optimiser
 * that goes elsewhere, merely has more rounds.
 */
#ifndef CORE_STAR_LINES_H
#define CORE_STAR_LINES_H

#include <stdbool.h>
#include <stdint.h>

/* A vector that was multiplied, and what came of it. */
struct multiplied {
    bool known;
    double *vector; /* dims. */
    double *scores; /* Rows. */
};

struct lines {
    struct multiplied from, way; /* Weights, and a direction. */
    double step;    /* Of the trial at hand: at from + step * way. */
    uint32_t moves; /* Since `from` was multiplied itself. */
    double *trial;  /* Rows: scores of a trial. */
};

#endif /* CORE_STAR_LINES_H */
