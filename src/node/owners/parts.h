/*
 * parts.h - all that a coordinator knows of private data.
 *
 * Whose rows there are and how many, the columns and labels of all together,
 * and how large values are: what a job, its tallies' scale and its bounds need.
 * A run keeps it in its folder, so that it can be resumed while owners are
 * away; the owners of a ring are sent it, since each trains by itself:
 *
 *     parts    "MUSTPRT3", the fields below little-endian, their digest
 */
#ifndef NODE_PARTS_H
#define NODE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "core/homes.h"
#include "core/roll.h"
#include "core/run/names.h"
#include "data/rows/dataset.h"
#include "model/linear/bounds.h"
#include "model/linear/problem.h"

struct parts {
    uint32_t count;
    struct home *homes; /* In the order of their digests. */
    uint32_t rows, cols;
    struct image image;       /* What all rows are; or zeros. */
    struct image_sizes sizes; /* ... and their values are. */
    bool intercept;           /* Then the last column is its. */
    uint32_t chunk_rows, chunks;
    uint32_t model; /* enum model_kind. */
    uint32_t label_count;
    double *labels;       /* Ascending; none: numbers. */
    struct bounds bounds; /* Of a network: none, of no dims. */
};

/* Its file in the run's folder. */
extern const struct names parts_names;

void parts_close(struct parts *parts); /* Zeroed is safe. */
/* Give each home its chunks.  ERR_TOOBIG: there are too many. */
MUST_CHECK enum err parts_cut(struct parts *parts, uint32_t chunk_rows);
/* Names the data of the job: every home, and how all are read. */
struct digest parts_digest(const struct parts *parts);
/* Names every other number here: what was derived from the rows of all.  Scales
 * follow from it, so peers of a ring must have it alike. */
struct digest parts_derived(const struct parts *parts);
/* The data set of the job, without its rows. */
MUST_CHECK enum err parts_hollow(const struct parts *parts,
                                 struct dataset *data);
/* Home of these rows; `count` if there is none. */
uint32_t parts_find(const struct parts *parts, const struct digest *part);
/* What the owner of home `home` is told.  Borrows the labels. */
struct roll_schema parts_schema(const struct parts *parts, uint32_t home,
                                bool known);

/* As bytes from mem_new, their digest last; and back, as if they lied:
 * ERR_FORMAT. */
MUST_CHECK enum err parts_encode(const struct parts *parts, uint8_t **bytes,
                                 size_t *size);
MUST_CHECK enum err parts_decode(const uint8_t *bytes, size_t size,
                                 struct parts *parts);

/* In the run's folder.  Errors with a sentence. */
MUST_CHECK enum err parts_save(const struct parts *parts, const char *folder,
                               struct why *why);
void parts_remove(const char *folder);
MUST_CHECK enum err parts_load(struct parts *parts, const char *folder,
                               struct why *why);

#endif /* NODE_PARTS_H */
