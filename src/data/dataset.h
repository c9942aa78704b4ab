/*
 * dataset.h - dense rows cut into chunks.
 *
 * The cut depends on the data and the options, never on the machines:
 *
 *     rows    |0 ........ C-1|C ....... 2C-1| ... |.. rows-1|
 *     chunk        0               1                K-1          C = chunk_rows
 *
 * Storage is fp32 rows padded with zeros to 8 columns, labels fp64.  A worker
 * may hold only some chunks (`present`); the coordinator holds all.
 */
#ifndef DATA_DATASET_H
#define DATA_DATASET_H

#include <stddef.h>
#include <stdint.h>

#include "base/chunkset.h"
#include "base/err.h"
#include "base/hash.h"
#include "math/kernel.h"

#define DATA_ROWS_MAX  (UINT32_C(1) << 30)
#define DATA_COLS_MAX  (UINT32_C(1) << 24)
#define DATA_BYTES_MAX (UINT64_C(1) << 37)
#define CLASSES_MAX    1024u /* More distinct labels are not counted. */

struct dataset {
    uint32_t rows;
    uint32_t cols;       /* Features, the intercept included if asked for. */
    uint32_t stride;     /* cols rounded up to KERNEL_LANES. */
    uint32_t chunk_rows; /* The last chunk may be shorter. */
    struct chunkset present;
    float *x;         /* rows * stride. */
    double *y;        /* rows; -1/+1 for two labels, as read for regression. */
    double label[2];  /* The labels that -1 and +1 stand for. */
    uint32_t classes; /* Distinct labels seen, 0 = more than CLASSES_MAX. */
};

/* Rows per chunk when the user does not say: 256, or more so that there are
 * at most 4096 chunks; a multiple of 8. */
uint32_t dataset_default_chunk_rows(uint32_t rows);

/* Room for all rows, none present.  ERR_TOOBIG beyond the limits above or
 * CHUNKS_MAX chunks, ERR_SHAPE if a number is 0. */
MUST_CHECK enum err dataset_init(struct dataset *data, uint32_t rows,
                                 uint32_t cols, uint32_t chunk_rows);
void dataset_close(struct dataset *data);

uint32_t dataset_chunks(const struct dataset *data);
/* The rows of a present chunk, as the kernels want them. */
struct dense_rows dataset_chunk(const struct dataset *data, uint32_t chunk);
uint32_t dataset_chunk_size(const struct dataset *data, uint32_t chunk);

/* A chunk as bytes for shipping (labels, then cols floats a row; no padding),
 * and back.  decode: ERR_FORMAT if size or values (NaN, Inf) do not fit. */
size_t dataset_chunk_bytes(const struct dataset *data, uint32_t chunk);
void dataset_chunk_encode(const struct dataset *data, uint32_t chunk,
                          uint8_t *out);
MUST_CHECK enum err dataset_chunk_decode(struct dataset *data, uint32_t chunk,
                                         const uint8_t *in, size_t size);

/* Shape, labels and values of all rows: names the data in config and receipt.
 */
struct digest dataset_digest(const struct dataset *data);

#endif /* DATA_DATASET_H */
