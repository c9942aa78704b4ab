/*
 * blocks.h - the shape of coded data: a matrix cut into parts, and what a
 * worker holds of it.
 *
 * X (rows x cols) is cut twice into P parts: by rows, whole chunks
 * [floor(pK/P), floor((p+1)K/P)), and by columns [floor(pD/P),
 * floor((p+1)D/P)).  A block is a sum of parts, each times its factor, shorter
 * parts filled up with zeros:
 *
 *     tall   sum of row parts          block_rows x cols    for X w
 *     wide   sum of column parts, X^T  block_cols x rows    for X^T r
 *
 * A block of one copy has no wide matrix, and half the size.
 *
 * Blocks travel in strips, each made from whole chunks: strip t < K is chunk t
 * of the tall matrix, strip K + t the columns of wide that belong to chunk t.
 */
#ifndef MATH_BLOCKS_H
#define MATH_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "math/evaluation.h"

#define BLOCK_LANES 8u /* Rows of a block are padded as those of kernel.h. */

struct block_shape {
    uint32_t rows, cols, chunk_rows;
    uint32_t chunks; /* K */
    uint32_t parts;  /* P, 1 .. K. */
    uint32_t copies; /* 1: tall alone; 2: tall and wide. */
    bool narrow;     /* Who holds it keeps fp32 of it; strips are fp64. */
};

#define BLOCK_COPIES_MAX 2u

/* One part of a block. */
struct block_term {
    uint32_t part;
    uint32_t first, end; /* Its chunks. */
    double factor;
};

/* A block by its name, a hash of all that it is made from. */
struct block_share {
    uint64_t block; /* 0: rows, not a block. */
    uint32_t parts, copies, count;
    const struct block_term *terms; /* Of whoever speaks of it: copy them. */
};

static inline uint32_t block_pad(uint32_t count)
{
    return (count + BLOCK_LANES - 1) / BLOCK_LANES * BLOCK_LANES;
}

/* Chunks of the longest row part. */
static inline uint32_t block_chunks(const struct block_shape *shape)
{
    return (shape->chunks + shape->parts - 1) / shape->parts;
}

static inline uint32_t block_rows(const struct block_shape *shape)
{
    const uint64_t rows = (uint64_t)block_chunks(shape) * shape->chunk_rows;

    return rows < shape->rows ? (uint32_t)rows : shape->rows;
}

static inline uint32_t block_cols(const struct block_shape *shape)
{
    return (shape->cols + shape->parts - 1) / shape->parts;
}

/* The first row of a chunk, or `rows` behind the last. */
static inline uint32_t block_first_row(const struct block_shape *shape,
                                       uint32_t chunk)
{
    const uint64_t row = (uint64_t)chunk * shape->chunk_rows;

    return row < shape->rows ? (uint32_t)row : shape->rows;
}

/* The first chunk of a row part, or `chunks` behind the last. */
static inline uint32_t block_first_chunk(const struct block_shape *shape,
                                         uint32_t part)
{
    return (uint32_t)((uint64_t)part * shape->chunks / shape->parts);
}

/* ... and its first row, or `rows` behind the last. */
static inline uint32_t block_part_row(const struct block_shape *shape,
                                      uint32_t part)
{
    return block_first_row(shape, block_first_chunk(shape, part));
}

static inline uint32_t block_first_col(const struct block_shape *shape,
                                       uint32_t part)
{
    return (uint32_t)((uint64_t)part * shape->cols / shape->parts);
}

/* Numbers that a product takes, padded, and gives. */
static inline uint32_t block_in(const struct block_shape *shape,
                                enum evaluation_kind kind)
{
    if (kind == EVALUATE_BACK)
        return block_pad(shape->rows);
    return block_pad(kind == EVALUATE_SCORES ? shape->cols : block_rows(shape));
}

static inline uint32_t block_out(const struct block_shape *shape,
                                 enum evaluation_kind kind)
{
    if (kind == EVALUATE_BACK)
        return block_cols(shape);
    return kind == EVALUATE_SCORES ? block_rows(shape) : block_pad(shape->cols);
}

/* What a range of a product is a part of: the numbers that it gives, and of
 * COMBINE, which gives all of them, the rows that it adds up. */
static inline uint32_t block_range(const struct block_shape *shape,
                                   enum evaluation_kind kind)
{
    return kind == EVALUATE_BACK ? block_cols(shape) : block_rows(shape);
}

/* A part of that range. */
struct block_span {
    uint32_t first, end;
};

struct block_strips {
    uint32_t first, end;
};

/* What the range [first, end) of a product reads: whole chunks of tall, or all
 * of wide, whose strips are columns. */
static inline struct block_strips
block_strips_of(const struct block_shape *shape, enum evaluation_kind kind,
                uint32_t first, uint32_t end)
{
    if (kind == EVALUATE_BACK)
        return (struct block_strips){shape->chunks, 2 * shape->chunks};
    return (struct block_strips){first / shape->chunk_rows,
                                 first < end ? (end - 1) / shape->chunk_rows + 1
                                             : first / shape->chunk_rows};
}

static inline struct block_strips
block_strips_all(const struct block_shape *shape, enum evaluation_kind kind)
{
    return block_strips_of(shape, kind, 0, block_range(shape, kind));
}

/* Those between the end of tall and K are none. */
static inline bool block_has_strip(const struct block_shape *shape,
                                   uint32_t strip)
{
    return strip < block_chunks(shape) ||
           (strip >= shape->chunks && strip < shape->copies * shape->chunks);
}

#endif /* MATH_BLOCKS_H */
