/*
 * work.h - the memory and the loop of one machine that trains a network.
 *
 * A microbatch goes forward and back; its gradient is added to integer sums on
 * the grid of each tensor.  Threads take samples, or items of a layer; what
 * they add up are integers, so that their number changes no bit.
 */
#ifndef MODEL_NET_WORK_H
#define MODEL_NET_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "math/isa.h"
#include "model/net/neural.h"

struct neural_work;

/* Samples that are brought at a time where there are as many: whole
 * microbatches.  More would hardly be faster, and needs memory. */
#define NEURAL_TOGETHER 128u

static inline uint32_t neural_together(uint32_t micro)
{
    return micro < NEURAL_TOGETHER ? NEURAL_TOGETHER / micro * micro : micro;
}

/* For at most `samples` at a time, in microbatches of at most `micro`; net and
 * pool are borrowed.  ERR_UNSUPPORTED, with a sentence: this machine has no
 * fused multiply-add.  ERR_NOMEM. */
MUST_CHECK enum err neural_work_new(const struct neural *net, uint32_t samples,
                                    uint32_t micro, enum isa isa,
                                    struct pool *pool,
                                    struct neural_work **work, struct why *why);
void neural_work_free(struct neural_work *work); /* Accepts NULL. */
/* Bytes that it took, and how many samples go forward and back together. */
size_t neural_work_bytes(const struct neural_work *work);
uint32_t neural_work_near(const struct neural_work *work);

/* Before the first call and whenever the parameters change; they are borrowed.
 * ERR_RANGE: one is not finite. */
MUST_CHECK enum err neural_work_load(struct neural_work *work,
                                     const float *parameters);

/* One or several microbatches: the more, the less often weights and sums are
 * fetched. */
struct neural_rows {
    uint32_t count;        /* Samples, at most those of neural_work_new. */
    uint32_t micro;        /* Of a microbatch; the last may have fewer. */
    const float *x;        /* One after the other. */
    const uint32_t *label; /* NEURAL_SOFTMAX: below the number of outputs. */
    const float *target;   /* NEURAL_SQUARED. */
    const float *weight;   /* Of each sample's loss; NULL: all are 1. */
    /* For what is drawn: a sample has the same draws in whichever microbatch,
     * place and machine. */
    const uint64_t *id;
    uint64_t seed, step;
};

struct neural_sums {
    const int16_t *exponent; /* Of each tensor. */
    int64_t *sum;            /* Of each parameter; added to, ... */
    bool blank;              /* ... or, whatever is there, set. */
    /* [microbatch][tensor]: no parameter's share of a microbatch is larger, on
     * the grid.  Of a dense layer it is the largest |share|, rounded up; of a
     * convolution that of each sample, added up.  So 0 means that all are. */
    int64_t *size;
    double *loss; /* [microbatch]: in the order of the samples. */
};

/* ERR_TOOBIG: does not fit the grid.  ERR_RANGE: something is not finite.  The
 * sums are then anything. */
MUST_CHECK enum err neural_work_gradient(struct neural_work *work,
                                         const struct neural_rows *rows,
                                         struct neural_sums *sums);
/* What the last layer says, samples one after the other, nothing dropped. */
MUST_CHECK enum err neural_work_scores(struct neural_work *work, const float *x,
                                       uint32_t count, float *scores);

#endif /* MODEL_NET_WORK_H */
