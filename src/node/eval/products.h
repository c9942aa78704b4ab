/*
 * products.h - a worker's block of coded data, and products with it.
 *
 * The thread that computes may still be reading a block when the worker is told
 * of another one; the old block is kept until the thread is done.
 */
#ifndef NODE_PRODUCTS_H
#define NODE_PRODUCTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/flag.h"
#include "core/action.h"
#include "core/product.h"
#include "data/rows/coded.h"

struct products {
    struct job job;
    const struct dataset *data; /* All rows, or NULL: strips come. */
    enum isa isa;
    struct pool *pool;  /* Borrowed. */
    struct block *now;  /* NULL: none yet. */
    struct block *then; /* The one before, if the thread still has it. */
    /* The thread's. */
    struct block *used;
    enum evaluation_kind kind;
    const double *in;
    double *out;
};

/* Is it a job whose numbers add up?  `data` may be NULL. */
bool products_fit(const struct job *job, const struct dataset *data);
/* No strip of the job is larger. */
size_t products_strip_max(const struct job *job);

/* Zeroed memory is safe to close; nobody computes then. */
void products_init(struct products *products, const struct job *job,
                   const struct dataset *data, enum isa isa, struct pool *pool);
void products_close(struct products *products);

/* ERR_FORMAT: no such strip, ERR_NOMEM. */
MUST_CHECK enum err products_store(struct products *products,
                                   const struct block_share *share,
                                   const struct msg_data *data);
/* Before the thread is started, and after it is done. */
MUST_CHECK enum err products_begin(struct products *products,
                                   const struct action *action);
void products_end(struct products *products);
/* In the thread: makes the block if the rows are here, then multiplies. */
MUST_CHECK enum err products_compute(struct products *products,
                                     const struct flag *cancel);

#endif /* NODE_PRODUCTS_H */
