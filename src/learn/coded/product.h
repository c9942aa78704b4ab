/*
 * product.h - C = A B, with workers: no training, but every road of one.
 *
 * A is coded data (math/blocks.h), and the columns of B are what it is
 * multiplied by, a step each (optim/columns.c).  So a product is begun, watched
 * and ended as a training is, by fit_run, and whoever is slow, dies or joins
 * meanwhile is what he is there:
 *
 *     product_workers  -->  product_load  -->  fit_run
 *
 * The result's weights are C, column after column.
 */
#ifndef LEARN_PRODUCT_H
#define LEARN_PRODUCT_H

#include "learn/setup.h"

/* Of setup.uneven: above it the smallest rows lose digits that are missed. */
#define PRODUCT_UNEVEN_MOST 1e4

struct memory_rows;

/* Workers and code, before anything is read: as setup_workers, but a code of
 * data it must be: mds unless the recipe says so, and `uncoded`, which is mds
 * without stragglers. */
MUST_CHECK enum err product_workers(struct setup *setup, struct recipe *recipe,
                                    struct why *why);
/* The two matrices, dense; *columns are B's, from mem_new, for as long as the
 * setup is used.  ERR_SHAPE, ERR_RANGE, ERR_TOOBIG with a sentence. */
MUST_CHECK enum err product_load(struct setup *setup,
                                 const struct recipe *recipe,
                                 const struct memory_rows *a,
                                 const struct memory_rows *b, double **columns,
                                 struct why *why);

#endif /* LEARN_PRODUCT_H */
