/*
 * product.h - a coded block of data, as both of its sides name it.
 *
 * What a worker of such a job (core/star/products.h) holds is a block
 * (math/blocks.h), named by a hash of all that it is made from: two workers,
 * two views, two lives of a coordinator that speak of the same name speak of
 * the same numbers, so a strip that comes late is either right or of another
 * name.
 */
#ifndef CORE_PRODUCT_H
#define CORE_PRODUCT_H

#include <stdint.h>

#include "core/msg.h"
#include "math/blocks.h"

struct block_shape product_shape(const struct job *job, uint32_t parts);
/* The name of the block that these items are of; never 0. */
uint64_t product_block(uint32_t parts, const struct item *items,
                       uint32_t count);
/* Item i as a term of its block. */
struct block_term product_term(const struct item *item);

#endif /* CORE_PRODUCT_H */
