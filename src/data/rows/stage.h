/*
 * stage.h - rows between a reader and the data set.
 *
 * A stream can be read but once and its shape is known at the end only; yet
 * memory must not hold the rows twice.  Readers hand over blocks of rows, each
 * packed at once into the narrowest form that holds it (storage.h); the data
 * set is as wide as the widest, so blocks never take more room than it.  When
 * all are there, blocks are unpacked into the data set and given back one by
 * one:
 *
 *     text -> struct sparse -> block block block ... -> data set
 */
#ifndef DATA_STAGE_H
#define DATA_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "data/rows/dataset.h"
#include "data/rows/sparse.h"

struct block {
    struct census census;
    enum storage storage;
    uint64_t entries; /* Sparse: nonzero values. */
    double *label;    /* census.rows. */
    double *weight;   /* The same; NULL: all 1. */
    void *x;          /* Dense: rows of census.cols, padded to 8. */
    uint32_t *begin;  /* Sparse: rows + 1. */
    uint32_t *column;
    float *value; /* CSR only. */
};

struct stage {
    struct block *block;
    size_t count, capacity;
    bool wide;          /* Readers keep values as fp64: for storage f64. */
    struct image image; /* If the reader knows. */
    struct image taken; /* What images must be; zeros: anything. */
    uint32_t byte;      /* What cells that are bytes are divided by; 0 before:
                           as the file's form has it. */
    bool bytes;         /* Cells were bytes. */
};

/* How to make a data set of the rows. */
struct stage_options {
    uint32_t chunk_rows; /* 0: the default. */
    uint32_t cols_min;   /* Both as in source_options. */
    uint32_t cols_max;
    bool intercept;
    bool choose;                /* Choose the storage from the values... */
    enum storage storage;       /* ...or use this one. */
    const struct dataset *like; /* NULL, or number columns as it does and be
                                   sparse or dense as it is. */
};

/* Pack rows, rounded to fp32 unless wide; zeros are dropped.  ERR_NOMEM.
 * Threads may pack blocks of their own side by side. */
MUST_CHECK enum err block_pack(struct block *block, const struct sparse *rows);
void block_close(struct block *block); /* Zeroed is safe. */

void stage_close(struct stage *stage); /* Zeroed is empty. */
/* Empty, and to be filled as it was to be. */
void stage_clear(struct stage *stage);
/* Room for `count` more blocks, zeroed; the first of them. */
MUST_CHECK enum err stage_extend(struct stage *stage, size_t count,
                                 struct block **first);
/* Of all blocks. */
uint64_t stage_rows(const struct stage *stage);
/* Is column 0 zero in all rows? */
bool stage_lacks_first(const struct stage *stage);
uint64_t stage_cols(const struct stage *stage);
/* Pack and append. */
MUST_CHECK enum err stage_add(struct stage *stage, const struct sparse *rows);

/* All rows in one piece, zeros left out; the blocks stay.  ERR_NOMEM. */
MUST_CHECK enum err stage_unpack(const struct stage *stage,
                                 struct sparse *rows);

/* The storage that `options` asks for, or the one that such values choose.
 * ERR_RANGE with a sentence if it does not hold them. */
MUST_CHECK enum err stage_storage(const struct stage_options *options,
                                  const struct census *census,
                                  enum storage *storage, struct why *why);

/* The data set, labels as read, all chunks present; the blocks are gone
 * whatever the outcome.  ERR_SHAPE if there are no rows or columns, ERR_RANGE
 * if values do not fit the storage asked for, ERR_TOOBIG, ERR_NOMEM: with a
 * sentence. */
MUST_CHECK enum err stage_build(struct stage *stage,
                                const struct stage_options *options,
                                struct pool *pool, struct dataset *data,
                                struct why *why);

#endif /* DATA_STAGE_H */
