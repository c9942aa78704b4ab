/*
 * evaluator.h - a machine's means of carrying out a computation.
 *
 * Each kind is one row of eval/registry.c, and everybody who computes sums of
 * rows calls it through that table: workers, the judge, one machine alone, the
 * simulator.
 *
 *     linear      sums of a linear model's chunks      -> tally
 *     local       a part's own steps (optim/local.h)   -> vector
 *     net         sums of a network's microbatches     -> tally, with sizes
 *     products    products with a coded block          -> vector
 *     sequential  passes of sgd over all rows          -> vector
 *     shadow      another one's, and of samples        -> tally
 *     user        a function of the user's             -> tally, with sizes
 *
 * What is written depends on the brief, the rows and the computation alone,
 * never on threads.
 *
 * Threads.  One runs at a time, in any thread, with the pool's to help.
 * Whoever owns the evaluator may meanwhile store chunks in the shelf's data,
 * and strips with evaluator_store: a run reads what was there when it was
 * begun.
 */
#ifndef EVAL_EVALUATOR_H
#define EVAL_EVALUATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/brief.h"
#include "base/err.h"
#include "base/flag.h"
#include "base/pool.h"
#include "data/rows/dataset.h"
#include "eval/user.h"
#include "math/computation.h"
#include "math/kernel/kernel.h"

/* What this machine has for it.  Borrowed, all of it. */
struct shelf {
    const struct dataset *data; /* All rows, or room for them; may be NULL. */
    bool part;                  /* ... or a part of them, cut by itself, ... */
    uint32_t first;             /* ... whose first chunk ... */
    uint32_t first_row;         /* ... and row are these of the job, ... */
    uint32_t chunks;            /* ... which has so many. */
    const struct user_function *user; /* May be NULL. */
    enum isa isa;
};

/* The head of every evaluator. */
struct evaluator {
    const struct evaluator_ops *ops;
    uint32_t dims;   /* Weights. */
    uint32_t sums;   /* Numbers of an answer, the loss and a Hessian aside. */
    uint32_t chunks; /* Of the job. */
    uint32_t scattered; /* A run reads rows of all so many chunks of the data;
                           0: of its own chunks. */
    size_t shard_max; /* Bytes of a chunk or strip as it travels; 0: none do. */
};

struct evaluator_ops {
    const char *name; /* Begins the brief. */
    bool anywhere; /* Any thread may run it, and a short run one that has other
                      things to do; else let it be always the same one. */
    /* The rows that a machine without any makes room for; NULL: none.
     * ERR_FORMAT: no such brief. */
    enum err (*shape)(const struct brief *brief, struct dataset_shape *shape);
    /* ERR_FORMAT: no such brief.  ERR_SHAPE: brief and shelf do not fit. */
    enum err (*open)(const struct brief *brief, const struct shelf *shelf,
                     struct pool *pool, struct evaluator **out);
    void (*close)(struct evaluator *self);
    enum err (*run)(struct evaluator *self, const struct computation *asked,
                    const struct flag *cancel);
    /* May be NULL: */
    enum err (*begin)(struct evaluator *self, const struct computation *asked);
    void (*end)(struct evaluator *self);
    void (*forget)(struct evaluator *self);
    enum err (*store)(struct evaluator *self, const struct block_share *share,
                      uint32_t strip, const uint8_t *bytes, size_t size);
    bool (*has_vector)(const struct evaluator *self, enum evaluation_kind kind);
};

/* Before a run if something was stored since the last: the run reads what is
 * there now.  ERR_NOMEM. */
MUST_CHECK static inline enum err
evaluator_begin(struct evaluator *self, const struct computation *asked)
{
    return self->ops->begin == NULL ? ERR_OK : self->ops->begin(self, asked);
}

/* ERR_CANCELLED once `cancel` (may be NULL) is raised, which is looked at
 * between chunks, or what it computes at once of several.  ERR_TOOBIG: a chunk
 * does not fit this scale, another may do; ERR_RANGE: it is not finite or,
 * where the scale is proved, does not fit. ERR_CLOSED: the user's function said
 * stop.  ERR_SHAPE: it cannot be asked for that.  ERR_NOMEM. */
MUST_CHECK static inline enum err evaluator_run(struct evaluator *self,
                                                const struct computation *asked,
                                                const struct flag *cancel)
{
    return self->ops->run(self, asked, cancel);
}

/* After a run that was begun. */
static inline void evaluator_end(struct evaluator *self)
{
    if (self->ops->end != NULL)
        self->ops->end(self);
}

/* What the last run read may have changed under it: what was prepared from that
 * is nothing, though a later computation of the same name may come. */
static inline void evaluator_forget(struct evaluator *self)
{
    if (self->ops->forget != NULL)
        self->ops->forget(self);
}

/* A strip of that block, which is the block at hand from now on.  ERR_FORMAT:
 * no such strip.  ERR_NOMEM. */
MUST_CHECK static inline enum err
evaluator_store(struct evaluator *self, const struct block_share *share,
                uint32_t strip, const uint8_t *bytes, size_t size)
{
    return self->ops->store == NULL
               ? ERR_FORMAT
               : self->ops->store(self, share, strip, bytes, size);
}

/* Does a run write a vector as long as the model, besides its sums? */
static inline bool evaluator_has_vector(const struct evaluator *self,
                                        enum evaluation_kind kind)
{
    return self->ops->has_vector != NULL && self->ops->has_vector(self, kind);
}

static inline void evaluator_close(struct evaluator *self) /* Accepts NULL. */
{
    if (self != NULL)
        self->ops->close(self);
}

#endif /* EVAL_EVALUATOR_H */
