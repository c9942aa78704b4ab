/*
 * product.c - the shape, the terms and the name of a coded block.
 */
#include "core/product.h"

#include "base/hash.h"

struct block_shape product_shape(const struct job *job, uint32_t parts)
{
    return (struct block_shape){.rows = job->rows,
                                .cols = job->coded_cols,
                                .chunk_rows = job->chunk_rows,
                                .chunks = job->chunks,
                                .parts = parts,
                                .copies = job->copies};
}

uint64_t product_block(uint32_t parts, const struct item *items, uint32_t count)
{
    struct hasher hasher;
    struct digest digest;

    hasher_init(&hasher);
    hasher_add(&hasher, &parts, sizeof parts);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t numbers[] = {items[i].id, items[i].first, items[i].end};

        hasher_add(&hasher, numbers, sizeof numbers);
        hasher_add_f64(&hasher, &items[i].coefficient, 1);
    }
    digest = hasher_end(&hasher);
    return digest_short(&digest) | 1;
}

/* A part is one span and one piece: it has the piece's number. */
struct block_term product_term(const struct item *item)
{
    return (struct block_term){.part = item->id,
                               .first = item->first,
                               .end = item->end,
                               .factor = item->coefficient};
}
