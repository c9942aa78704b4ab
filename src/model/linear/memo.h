/*
 * memo.h - probabilities of all rows, kept while products share their weights.
 *
 * Conjugate gradients ask for the Hessian at one point many times; of softmax
 * regression half of a product is to find the probabilities there.  Only for
 * speed: without a memo, products have the same bits.
 */
#ifndef MODEL_MEMO_H
#define MODEL_MEMO_H

#include "data/rows/dataset.h"
#include "math/evaluation.h"
#include "math/kernel/softmax.h"

/* Zeroed memory is an empty one. */
struct memo {
    const struct dataset *data; /* Whose rows these are. */
    double *w;                  /* At which weights. */
    double *p;
    bool *full; /* By chunk: its thread alone writes it. */
    uint32_t classes;
    uint32_t chunks;
};

/* For products at w, classes * stride: empties it if it is of others. */
void memo_prepare(struct memo *memo, const struct dataset *data,
                  uint32_t classes, const double *w);
/* Of one chunk.  Call memo_fill when a product has been computed with it. */
struct softmax_memo memo_chunk(const struct memo *memo, uint32_t chunk);
void memo_fill(const struct memo *memo, uint32_t chunk);
void memo_close(struct memo *memo);

#endif /* MODEL_MEMO_H */
