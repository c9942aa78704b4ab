/*
 * peer_codec.h - what two workers say to each other about chunks.
 *
 *      who fetches                          who serves
 *        | -- WANT (a chunk) ------------------> |   control; a few at a time
 *        | <---------- PART (some of its bytes)- |   bulk; in order, to the end
 *        | <-------------------------- WAIT -----|   control: it is not here
 *                                                    yet, but data are coming
 *
 * As in wire/codec.h: one byte of kind and the fields, little-endian; a reader
 * takes exactly what a writer can produce, and any byte string gives a message
 * or ERR_FORMAT.  Kinds are none of those of wire/codec.h and roll_codec.h.
 */
#ifndef WIRE_PEER_CODEC_H
#define WIRE_PEER_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Progress is seen part by part: 64 KiB in 2 s is the slowest road that counts
 * as one. */
#define PEER_PART_BYTES    (64u << 10)
#define PEER_SMALL_BYTES   32u
#define PEER_MESSAGE_BYTES (PEER_PART_BYTES + PEER_SMALL_BYTES)

enum peer_kind { PEER_WANT = 0x70, PEER_PART, PEER_WAIT };

struct peer_msg {
    enum peer_kind kind;
    uint32_t chunk;       /* WANT, PART. */
    uint64_t size;        /* PART: of the whole chunk, ... */
    uint64_t at;          /* ... and where in it ... */
    const uint8_t *bytes; /* ... these are: 1 to PEER_PART_BYTES. */
    size_t count;
};

/* `out` has PEER_MESSAGE_BYTES, or PEER_SMALL_BYTES if it is no PART; returns
 * the bytes written. */
size_t peer_codec_encode(const struct peer_msg *msg, uint8_t *out);
/* `bytes` is a view of `data`. */
MUST_CHECK enum err peer_codec_decode(const uint8_t *data, size_t size,
                                      struct peer_msg *msg);

#endif /* WIRE_PEER_CODEC_H */
