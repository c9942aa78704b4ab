/*
 * dataset.h - rows cut into chunks.
 *
 * The cut depends on the data and the options, never on the machines:
 *
 *     rows    |0 ........ C-1|C ....... 2C-1| ... |.. rows-1|
 *     chunk        0               1                K-1          C = chunk_rows
 *
 * Files that were put one after the other have chunks of their own (`cut`), so
 * that the last chunk of each may be shorter.
 *
 * Dense rows are padded with zeros to 8 columns; sparse ones are columns, and
 * values unless all are 1 (see storage.h).  Labels are fp64.  A worker may hold
 * only some chunks (`present`), but has room for all.  The coordinator holds
 * all, or, of rows that stay with their owners, none: such a data set is
 * hollow, a shape without x and y.
 */
#ifndef DATA_DATASET_H
#define DATA_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/chunkset.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/pool.h"
#include "data/rows/image.h"
#include "data/rows/storage.h"
#include "math/kernel/kernel.h"
#include "math/kernel/sparse.h"

#define DATA_ROWS_MAX  (UINT32_C(1) << 30)
#define DATA_COLS_MAX  (UINT32_C(1) << 24)
#define DATA_BYTES_MAX (UINT64_C(1) << 37)
#define CLASSES_MAX    1024u /* More distinct labels are not counted. */

struct dataset {
    enum storage storage;
    uint32_t rows;
    uint32_t cols;       /* Features, the intercept included if asked for. */
    uint32_t stride;     /* cols rounded up to KERNEL_LANES. */
    uint32_t chunk_rows; /* The last chunk may be shorter. */
    struct image image;  /* What a row is, but for the intercept. */
    double white;        /* What 255 became of cells that were bytes; else 0. */
    bool known_scale;    /* Values are on their model's scale, whatever their
                            sizes: bytes that were brought to it, or some of
                            its own rows. */
    struct chunkset present;
    uint32_t *cut;      /* First row of each chunk, and one; NULL: alike. */
    void *x;            /* Dense: rows * stride values, see storage.h. */
    uint64_t *begin;    /* Sparse: rows + 1 offsets (all chunks' rows). */
    uint32_t *column;   /* Sparse: renumbered, see `original`. */
    float *value;       /* CSR only. */
    uint32_t *original; /* Sparse: the user's number of each column (frequent
                           columns come first inside; NULL: as read). */
    double *y;          /* rows; -1/+1 for two labels, 0..classes-1 for more and
                           for softmax, as read for regression. */
    double *weight;     /* Sample (times class) weights; NULL: all 1. */
    uint32_t *fold;     /* Which part of the rows each is in, for trainings that
                           leave one out; NULL: there are none.  Then ... */
    uint32_t without;   /* ... rows of this one have no weight, whatever ... */
    double *given;      /* ... theirs is; NULL: all 1. */
    double *label;      /* classes of them, ascending: what was read; room for
                           two at least. */
    uint32_t classes;   /* Distinct labels seen, 0 = more than CLASSES_MAX. */
    uint64_t entries;   /* Sparse: room in column and value. */
    uint64_t rounded;   /* Values read that fp32 does not hold, and ... */
    double rounding;    /* ... the largest relative error of their rounding,
                           or 2^-24, which none exceeds. */
    /* Not the caller's business. */
    struct digest digest; /* Of a cached data set: known without reading it. */
    bool digest_known;    /* Or by dataset_know. */
    void *map;            /* Cache file that arrays above may lie in. */
    size_t map_bytes;
};

/* All that a worker must know to make room. */
struct dataset_shape {
    enum storage storage;
    uint32_t rows, cols, chunk_rows;
    uint64_t entries; /* Sparse only. */
    bool weighted;
    bool folded;        /* Each row is in a fold, ... */
    uint32_t without;   /* ... and those of this one are left out. */
    struct image image; /* Of no use to who only computes: not sent. */
};

/* Rows per chunk when the user does not say: 256, or more so that there are
 * at most 4096 chunks; a multiple of 8. */
uint32_t dataset_default_chunk_rows(uint32_t rows);

/* Room for all rows, none present.  ERR_TOOBIG beyond the limits above or
 * CHUNKS_MAX chunks, ERR_SHAPE if a number is 0. */
MUST_CHECK enum err dataset_init_shape(struct dataset *data,
                                       const struct dataset_shape *shape);
/* The same for STORAGE_F32 without weights. */
MUST_CHECK enum err dataset_init(struct dataset *data, uint32_t rows,
                                 uint32_t cols, uint32_t chunk_rows);
struct dataset_shape dataset_shape(const struct dataset *data);
void dataset_close(struct dataset *data); /* Zeroed is safe. */

/* Copy the labels that were read, `count` <= CLASSES_MAX of them, and set
 * `classes`. */
MUST_CHECK enum err dataset_set_labels(struct dataset *data,
                                       const double *label, uint32_t count);
/* Make room for sample weights, all 1; fine if there is. */
MUST_CHECK enum err dataset_add_weights(struct dataset *data);

/* Of rows in folds: another one is left out from now on.  What is shipped of a
 * chunk stays the same. */
void dataset_leave_out(struct dataset *data, uint32_t fold);
/* Could the rows be those of that shape, whichever fold is left out? */
bool dataset_has_shape(const struct dataset *data,
                       const struct dataset_shape *shape);

/* Rows that are elsewhere: the shape, without room for any.  File i of `count`
 * has rows[i] of them. */
MUST_CHECK enum err dataset_init_hollow(struct dataset *data,
                                        const uint32_t *rows, uint32_t count,
                                        uint32_t cols, uint32_t chunk_rows);

/* Cut the rows, all of them present, into chunks of so many.  ERR_NOMEM. */
MUST_CHECK enum err dataset_cut(struct dataset *data, uint32_t chunk_rows);

uint32_t dataset_chunks(const struct dataset *data);
uint32_t dataset_first_row(const struct dataset *data, uint32_t chunk);
bool dataset_is_sparse(const struct dataset *data);
/* The rows of a present chunk, as the kernels want them. */
struct dense_rows dataset_chunk(const struct dataset *data, uint32_t chunk);
struct sparse_rows dataset_sparse_chunk(const struct dataset *data,
                                        uint32_t chunk);
uint32_t dataset_chunk_size(const struct dataset *data, uint32_t chunk);

/* Row `row` of a dense data set, as storage.h reads and writes it. */
void *dataset_row(const struct dataset *data, uint32_t row);
/* Its values, cols of them, whatever the storage. */
void dataset_row_values(const struct dataset *data, uint32_t row, double *out);
/* The first `cols` of the user's columns of some rows, of present chunks, one
 * row after the other: without the intercept, which is the last. */
void dataset_floats(const struct dataset *data, const uint32_t *row,
                    uint32_t count, uint32_t cols, float *out);

/* A chunk as bytes for shipping, and back.  decode: ERR_FORMAT if size or
 * values (NaN, Inf, columns) do not fit; the data set is then as before. */
size_t dataset_chunk_bytes(const struct dataset *data, uint32_t chunk);
/* No chunk of a data set of this shape is larger. */
size_t dataset_chunk_bytes_max(const struct dataset *data);
void dataset_chunk_encode(const struct dataset *data, uint32_t chunk,
                          uint8_t *out);
MUST_CHECK enum err dataset_chunk_decode(struct dataset *data, uint32_t chunk,
                                         const uint8_t *in, size_t size);

/* Shape, storage, labels and values of all rows: names the data in config and
 * receipt.  The cut into chunks is not part of it. */
struct digest dataset_digest(const struct dataset *data);
/* Ask for it once, of rows that stay as they are from now on: nobody hashes
 * them again. */
void dataset_know(struct dataset *data, struct pool *pool);

#endif /* DATA_DATASET_H */
