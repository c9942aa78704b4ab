/*
 * roll.h - what owners of private data and the coordinator say to each other
 * before there is a job.
 *
 *      owner                               coordinator
 *        | -- OFFER ---------------------------> |   rows, columns, labels
 *        | <----------------------------- SCHEMA-|   of all together
 *        | -- SIZES ---------------------------> |   largest values
 *        | <----------------------------- SCALES-|   of all together
 *        | -- SUMS ----------------------------> |   this owner's part of U, V
 *        | <--------------------- SCHEMA (known)-|   now join
 *
 * U and V are the bounds of model/linear/problem.h; a network has none, and
 * its owners are sent a known SCHEMA at once.  An owner that comes later,
 * or again, is sent one, too.  Whoever cannot take part is told
 * why (NO).  Nothing here is a row, or a value of one but for the largest of
 * each column; that is all a coordinator ever learns besides tallies.
 *
 * In a ring nobody is the coordinator of what follows.  Owners say PEER instead
 * of OFFER, to the one who calls the roll or, later, to any peer; and after the
 * known SCHEMA they are sent PARTS: all of the above of all owners, which is
 * what each needs to train by itself.
 *
 *      owner                               who calls the roll; any peer
 *        | -- PEER ----------------------------> |   as OFFER
 *        | <------------- ... SCHEMA (known) ----|
 *        | <------------------------------ PARTS-|   now be a peer
 *
 * Vectors in a message are views of its bytes, not aligned: copy them out.
 */
#ifndef CORE_ROLL_H
#define CORE_ROLL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "core/homes.h"
#include "core/msg.h"

#define ROLL_LABELS_MAX 1024u

/* Beside those of enum msg_kind, so that the two are never mistaken. */
enum roll_kind {
    ROLL_OFFER = 0x60,
    ROLL_SCHEMA,
    ROLL_SIZES,
    ROLL_SCALES,
    ROLL_SUMS,
    ROLL_NO,
    ROLL_PEER,
    ROLL_PARTS,
};

struct roll_offer {
    uint32_t version;
    char name[NAME_SIZE];
    struct digest arithmetic;
    struct digest part;    /* Of the rows. */
    struct digest columns; /* Of their names and the label's; zero: none. */
    uint32_t rows, cols;
    uint32_t height, width, channels; /* What a row is as an image, or 0. */
    double least, most;               /* ... and its values, and 0. */
    bool whole;                       /* They are whole numbers. */
    uint32_t label_count;             /* 0: too many to be classes. */
    const uint8_t *labels;            /* f64, ascending. */
};

struct roll_schema {
    bool known; /* Nothing more is wanted. */
    struct digest data;
    uint32_t rows, cols; /* Of all; the intercept's column included. */
    bool intercept;
    uint32_t chunk_rows;
    uint32_t model;        /* enum model_kind, opaque to core. */
    uint32_t first, end;   /* Chunks of this owner's rows ... */
    uint32_t chunks;       /* ... and of all. */
    uint32_t first_row;    /* Of this owner's. */
    uint32_t label_count;  /* 0: labels are numbers. */
    const uint8_t *labels; /* f64, ascending. */
};

struct roll_sizes {
    double label, norm, weight;
    uint32_t dims;
    const uint8_t *x_max; /* f64. */
};

/* Of U, V and M (model/linear/problem.h): ROLL_SUMS_EACH vectors of dims. */
#define ROLL_SUMS_EACH 3u

struct roll_scales {
    uint32_t dims;
    const uint8_t *scale; /* i16. */
};

struct roll_sums {
    uint32_t dims;
    const uint8_t *sum; /* i64. */
};

/* node/owners/parts.h as bytes, at most so many of them. */
#define ROLL_PARTS_MAX(dims)                                                   \
    (256 + ROLL_LABELS_MAX * sizeof(double) +                                  \
     (size_t)HOMES_MAX * (DIGEST_BYTES + 4) +                                  \
     (ROLL_SUMS_EACH + 1) * (size_t)(dims) * sizeof(double))

struct roll_parts {
    uint32_t size;
    const uint8_t *bytes;
};

struct roll_msg {
    enum roll_kind kind;
    union {
        struct roll_offer offer; /* PEER, too. */
        struct roll_schema schema;
        struct roll_sizes sizes;
        struct roll_scales scales;
        struct roll_sums sums;
        struct msg_reject no;
        struct roll_parts parts;
    };
};

#endif /* CORE_ROLL_H */
