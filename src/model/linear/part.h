/*
 * part.h - gradient sums over some chunks, on a scale of their own.
 *
 * For `local`: a worker that steps along the gradients of its own rows needs
 * bounds of those rows alone, for it may have no others, and weights that no
 * one else has seen.
 */
#ifndef MODEL_PART_H
#define MODEL_PART_H

#include "data/rows/reading.h"
#include "model/linear/bounds.h"
#include "model/linear/problem.h"

struct part {
    const struct problem *problem; /* Borrowed. */
    uint32_t first, end;           /* Chunks; 0, 0: none taken yet. */
    uint32_t first_row, rows;
    uint32_t counted; /* Rows of weight above 0. */
    struct bounds bounds;
    int16_t *exponent; /* Of the point at hand. */
    struct tally tally;
    struct reading reading;
};

MUST_CHECK enum err part_init(struct part *part, const struct problem *problem);
void part_close(struct part *part); /* Zeroed is safe. */

/* Turn to chunks [first, end), which are present: measures their bounds,
 * unless they were the last ones taken. */
MUST_CHECK enum err part_take(struct part *part, uint32_t first, uint32_t end,
                              struct pool *pool);
/* Exponents for w, and an empty tally; the caller adds the part's chunks to
 * it.  ERR_RANGE: w is not finite, or too large. */
MUST_CHECK enum err part_begin(struct part *part, const double *w);
/* What the tally comes to. */
void part_end(const struct part *part, double *sum, double *loss_sum);
/* Row i < rows of the part; good until the next. */
struct reading_row part_row(const struct part *part, uint32_t i);

#endif /* MODEL_PART_H */
