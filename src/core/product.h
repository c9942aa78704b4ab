/*
 * product.h - gradients on coded data: two products instead of one sum.
 *
 * Where the optimiser asks for a gradient at w, the coordinator of a job whose
 * code codes data (code_spec_products) opens two rounds:
 *
 *     SCORES  w to everyone; any k of the answers give z = X w; from z and the
 *             labels, which stay here, come the loss and the slopes r
 *     BACK    r to everyone; any k of the answers give X^T r, the gradient
 *
 * What a worker holds is a block (math/blocks.h), named by a hash of all that
 * it is made from: two workers, two views, two lives of a coordinator that
 * speak of the same name speak of the same numbers, so a strip that comes late
 * is either right or of another name.
 */
#ifndef CORE_PRODUCT_H
#define CORE_PRODUCT_H

#include <stdint.h>

#include "core/msg.h"
#include "math/blocks.h"

struct coordinator;
struct outcome;

struct block_shape product_shape(const struct job *job, uint32_t parts);
/* The name of the block that these items are of; never 0. */
uint64_t product_block(uint32_t parts, const struct item *items,
                       uint32_t count);
/* Item i as a term of its block. */
struct block_term product_term(const struct item *item);

/* For the driver that ships: the terms of the block of the worker on `link`,
 * at most code.parts, and its name.  0: it has no slot. */
uint32_t product_terms(const struct coordinator *c, uint32_t link,
                       struct block_term *terms, uint64_t *block);

#endif /* CORE_PRODUCT_H */
