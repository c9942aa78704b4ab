/*
 * codec.h - messages to bytes and back, with a cap on everything.
 *
 * A message is one byte of kind and its fields, little-endian.  Large ones are
 * cut into frames by os/link; this layer sees whole messages.  Tallies are
 * packed (math/pack.h).  A decoder allocates nothing: vectors land in the
 * caller's buffers, sized for the job, so that no length a peer declares can
 * make us allocate.  Any byte string gives a message or ERR_FORMAT.
 *
 * A message of or for a relay's leaf has LEAF_BIT set in its kind and the
 * leaf's number after it.
 */
#ifndef WIRE_CODEC_H
#define WIRE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/msg.h"

/* Where decoded vectors land.  dims 0: only messages without vectors. */
struct codec_room {
    uint32_t dims;     /* Of weights and direction. */
    uint32_t sum_dims; /* At least dims: of the longest sums. */
    uint32_t items_max;
    double *weights;   /* sum_dims + 1: ROUND weights, ROW. */
    double *direction; /* dims: ROUND. */
    int16_t *exponent; /* sum_dims. */
    int64_t *sum;      /* sum_dims. */
    struct item *items;
    uint32_t answers_max; /* 0 unless codec_room_answers made some. */
    struct answer *answers;
};

MUST_CHECK enum err codec_room_init(struct codec_room *room, uint32_t dims,
                                    uint32_t sum_dims, uint32_t items_max);
/* Room for SUMs, too; ANSWERS_MAX at most. */
MUST_CHECK enum err codec_room_answers(struct codec_room *room,
                                       uint32_t answers_max);
void codec_room_close(struct codec_room *room);

/* The most bytes the message can take. */
size_t codec_bound(const struct msg *msg);
/* `out` has codec_bound(msg) bytes; returns the bytes written. */
size_t codec_encode(const struct msg *msg, uint8_t *out);
/* Views into `data` and `room`.  ERR_FORMAT: not one whole message. */
MUST_CHECK enum err codec_decode(const uint8_t *data, size_t size,
                                 struct codec_room *room, struct msg *msg);

/* Is it [A-Za-z0-9._-]{1,64}: a name that no terminal, file or page minds? */
bool codec_name_valid(const char *name);

/* Largest SUM of the job. */
size_t codec_sum_max(uint32_t sum_dims, uint32_t answers_max);

/* Largest message this job may see: what a link may buffer once the peer is
 * known (before that: LINK_STRANGER_BYTES). */
size_t codec_message_max(uint32_t dims, uint32_t sum_dims, uint32_t items_max,
                         size_t chunk_bytes);

#endif /* WIRE_CODEC_H */
