/*
 * cache.h - binary copies of data sets, mapped instead of read.
 *
 *     DIR/KEY.data        KEY = hash of the source's bytes and of the options
 *     DIR/KEY.columns     the encoder's text (encode.h) behind its digest
 *     DIR/IDENTITY.key    says KEY for a file that has not changed since: its
 *                         inode, size and times; spares hashing it again
 *
 *     page 0     header: shape, sections, digest of the data, and a digest of
 *                the header itself
 *     page 1...  label, y, weight, x or begin, column, value, original: each
 *                from a page's start, as it lies in memory
 *
 * Each section has a checksum, taken at the speed of memory, by all threads,
 * when the file is opened: a damaged copy is refused, and the caller reads the
 * source again.  That guards against accidents, not against somebody who may
 * write to the folder.
 */
#ifndef DATA_CACHE_H
#define DATA_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/pool.h"
#include "data/read/source_options.h"
#include "data/rows/dataset.h"

#define CACHE_PAGE     4096u
#define CACHE_SECTIONS 8u

/* Sections, in the order of the file. */
enum cache_part {
    CACHE_LABEL,
    CACHE_Y,
    CACHE_WEIGHT,
    CACHE_X,
    CACHE_BEGIN,
    CACHE_COLUMN,
    CACHE_VALUE,
    CACHE_ORIGINAL,
};

struct cache_section {
    uint64_t offset, bytes, checksum;
};

/* What the first page says. */
struct cache_header {
    struct dataset_shape shape;
    uint32_t classes;
    bool renumbered;
    uint64_t rounded; /* Both as in the data set. */
    double rounding;
    uint64_t file_bytes;
    struct digest key, data;
    struct cache_section section[CACHE_SECTIONS];
};

/* Where a source's copy is or would be. */
struct cache_place {
    struct digest key;
    char path[1024];     /* Of the copy. */
    char columns[1024];  /* Of its encoder. */
    char identity[1024]; /* Of the note that leads there. */
};

/* Hashes the source if no note leads to its copy.  ERR_UNSUPPORTED for what is
 * not a plain file; other errors with a sentence that does not name it. */
MUST_CHECK enum err cache_place(const struct source_options *options,
                                struct cache_place *place, struct why *why);
/* Is the source still the file that it was? */
bool cache_place_holds(const struct cache_place *place,
                       const struct source_options *options);
/* ERR_NOTFOUND if there is none; anything else is a damaged or unreadable
 * copy, with a sentence.  `encoder` is not fitted before, and is after. */
MUST_CHECK enum err cache_load(const struct cache_place *place,
                               struct pool *pool, struct dataset *data,
                               struct encoder *encoder, struct why *why);
MUST_CHECK enum err cache_store(const struct cache_place *place,
                                const struct dataset *data,
                                const struct encoder *encoder,
                                struct pool *pool, struct why *why);

/* The file itself, whole or not at all; no note is made of it. */
MUST_CHECK enum err cache_write(const char *path, const struct digest *key,
                                const struct dataset *data, struct pool *pool,
                                struct why *why);

/* The first page, to and from bytes.  decode checks its digest and that every
 * section lies in the file and has the size the shape asks for. */
void cache_header_encode(const struct cache_header *header,
                         uint8_t page[CACHE_PAGE]);
MUST_CHECK enum err cache_header_decode(const uint8_t page[CACHE_PAGE],
                                        struct cache_header *header);

/* Order-independent over pieces of a mebibyte, order-sensitive within. */
uint64_t cache_checksum(const void *data, size_t size, struct pool *pool);

#endif /* DATA_CACHE_H */
