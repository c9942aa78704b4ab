/*
 * oracle.h - one perfect machine: what every run must end with.
 *
 * A plain loop over all chunks, no protocol in sight.  It keeps the hash of
 * the weights at every step, so that a run that strays is caught at the step
 * where it does, and (for small problems) the tally of each chunk: workers
 * that compute at the same weights need not compute the same integers again,
 * which is what lets thousands of seeds run in a second.
 */
#ifndef SIM_ORACLE_H
#define SIM_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "core/star/coordinator.h"
#include "data/rows/gather.h"
#include "math/exact/tally.h"
#include "model/linear/bounds.h"
#include "model/linear/part.h"
#include "model/linear/problem.h"
#include "optim/local.h"
#include "sim/followed.h"
#include "sim/networked.h"

/* At most so many integers are remembered. */
#define ORACLE_MEMO_MAX (UINT64_C(1) << 21)

/* A row that was not in exactly one batch of a pass. */
struct uneven {
    uint32_t pass; /* From 1 on; 0: there was none. */
    uint32_t row, times;
};

struct oracle {
    const struct problem *problem; /* NULL: no compute, all sums zero. */
    struct bounds bounds;
    uint32_t dims, sum_dims, chunks;
    struct followed followed; /* Off where bounds are proved. */
    struct networked net;     /* Of a network, else without a model. */
    uint32_t steps;           /* Made; fewer than asked for if tol ended it. */
    struct digest *hash;      /* Receipt of the weights after t updates. */
    double *weights;          /* Final: the model. */
    struct held_out held_out; /* Of early stopping, decided here once more. */
    double best;              /* Least loss of held-out rows, ... */
    uint32_t waited;          /* ... and passes since. */
    uint64_t *keys; /* Of the first round of step t, as in round_key. */
    int16_t *scale; /* Of the evaluation at hand; sum_dims + 1. */
    /* Gradients that were evaluated, so that workers need not do it again. */
    bool remembers;
    uint32_t known, capacity;
    double *points;     /* capacity x dims. */
    int16_t *exponents; /* capacity x (dims + 1). */
    int64_t *sums;      /* capacity x chunks x dims. */
    tally_loss *losses; /* capacity x chunks. */
    struct problem_round round;
    void *scratch;
    /* Minibatches; nothing is remembered of them, so that workers compute. */
    struct sampler sampler;
    struct gather gather;
    uint32_t *times;      /* How often each row was in a batch of this pass. */
    struct uneven uneven; /* The first. */
    bool averages;        /* Code `local`: */
    struct local local;
};

/* Of a network `problem` has the rows, and `dims` are its own.
 * `problem` NULL: zero gradients, `dims` and `chunks` as given.  `shift` NULL:
 * bounds are proved; else nothing is, of 2^shift times the problem's values:
 * `dims` of them, and oracle->dims are the job's, sizes included. */
MUST_CHECK enum err
oracle_init(struct oracle *oracle, const struct problem *problem, uint32_t dims,
            uint32_t chunks, const struct optim_options *optim,
            const int *shift, const struct neural_model *net,
            const struct held_out *held_out);
void oracle_close(struct oracle *oracle);

/* If the gradient at these weights is remembered, carry the computation out
 * from memory. */
bool oracle_recall(const struct oracle *oracle,
                   const struct computation *asked);

/* Average number `round` of a job of code `local`: the steps of chunks [first,
 * end) of `problem` (NULL as above) by themselves.  out[dims + 1] as in
 * optim/local.h. */
MUST_CHECK enum err oracle_local(struct oracle *oracle,
                                 const struct problem *problem, uint32_t round,
                                 const double *w, uint32_t first, uint32_t end,
                                 double *out);

/* Exponents as one machine has them. */
MUST_CHECK enum err oracle_scale(const struct oracle *oracle,
                                 const struct evaluation *what,
                                 int16_t *exponent);

/* A slopes_function; the same context. */
double oracle_slopes(void *context, uint32_t soft, double *scores);
/* The bends_function to it. */
void oracle_bends(void *context, uint32_t soft, double *scores);

/* As trainer_hash: of the columns, not of their padding. */
struct digest oracle_hash(const struct oracle *oracle, const double *w);

#endif /* SIM_ORACLE_H */
