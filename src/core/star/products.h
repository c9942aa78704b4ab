/*
 * products.h - gradients on coded data: two products instead of one sum.
 *
 * Where the optimiser asks for a gradient at w, the coordinator of a job whose
 * code codes data (code_spec_products) opens rounds for two products:
 *
 *     SCORES  w to everyone; any k of the answers give z = X w; from z and the
 *             labels, which stay here, come the loss and the slopes r
 *     BACK    r to everyone; any k of the answers give X^T r, the gradient;
 *             or, where there is one copy of the data,
 *     COMBINE numbers of its own to each; their sum is the gradient, and there
 *             are further such rounds for what does not come (combine.c)
 *
 * Who asks for scores (optim/columns.c) is answered by the first of them.  For
 * lbfgs and newton scores are kept, and some rounds are saved (lines.h).
 */
#ifndef CORE_PRODUCTS_H
#define CORE_PRODUCTS_H

#include <stdint.h>

#include "math/blocks.h"

struct coordinator;

/* For the driver that ships: the terms of the block of the worker on `link`,
 * at most code.parts, and its name.  0: it has no slot. */
uint32_t product_terms(const struct coordinator *c, uint32_t link,
                       struct block_term *terms, uint64_t *block);

#endif /* CORE_PRODUCTS_H */
