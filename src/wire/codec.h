/*
 * codec.h - messages to bytes and back, with a cap on everything.
 *
 * A message is one byte of kind and its fields, little-endian.  Large ones are
 * cut into frames by os/net/link; this layer sees whole messages.  Tallies are
 * packed (math/exact/pack.h).  A decoder allocates nothing: vectors land in the
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
    double *weights;    /* sum_dims + 1: ROUND weights, ROW. */
    double *direction;  /* dims: ROUND. */
    int16_t *exponent;  /* sum_dims + 1. */
    uint32_t scaled;    /* So many of them are ... */
    uint64_t scale;     /* ... of the scale with this name; 0: none. */
    int64_t *sum;       /* sum_dims. */
    bool packed;        /* Sums of a TALLY are left as they are, not looked at:
                           whoever counts them does (math/exact/tally.h). */
    struct item *items; /* items_max, and as many for the terms of a block. */
    uint32_t answers_max; /* 0 unless codec_room_answers made some. */
    struct answer *answers;
    struct silent *silent;    /* SILENT_MAX, with the answers. */
    struct stint *stints;     /* STINTS_MAX. */
    struct ring_known *known; /* PEERS_MAX; NULL unless codec_room_peers. */
    uint32_t *pieces;         /* SEGMENTS_MAX: ROW. */
};

MUST_CHECK enum err codec_room_init(struct codec_room *room, uint32_t dims,
                                    uint32_t sum_dims, uint32_t items_max);
/* Room for SUMs and WATCHes, too; ANSWERS_MAX at most. */
MUST_CHECK enum err codec_room_answers(struct codec_room *room,
                                       uint32_t answers_max);
/* Room for ROSTERs and PROPOSEs, too. */
MUST_CHECK enum err codec_room_peers(struct codec_room *room);
void codec_room_close(struct codec_room *room);

/* The most bytes the message can take. */
size_t codec_bound(const struct msg *msg);
/* `out` has codec_bound(msg) bytes; returns the bytes written. */
size_t codec_encode(const struct msg *msg, uint8_t *out);
/* Views into `data` and `room`.  ERR_FORMAT: not one whole message. */
MUST_CHECK enum err codec_decode(const uint8_t *data, size_t size,
                                 struct codec_room *room, struct msg *msg);
/* The same, but weights and direction of a ROUND stay where they are in `data`,
 * which begins on a line (MEM_LINE); exponents of a scale that `room` has are
 * not read again.  Narrow weights are widened there, so `data` has room for the
 * job's largest message, and what was in it is gone. */
MUST_CHECK enum err codec_decode_here(uint8_t *data, size_t size,
                                      struct codec_room *room, struct msg *msg);
/* Bytes from which codec_peek_round can tell. */
#define CODEC_PEEK_BYTES 45u
/* Is this the beginning of a ROUND, and of which? */
bool codec_peek_round(const uint8_t *data, size_t size, struct round_key *key);

/* Messages whose vectors lie in memory that both sides share (os/run/board.h):
 *
 *     kind + 64 1 | place 4 | sequence 8 | the message's fields but vectors
 *
 * ROUND, TALLY and SLICE can be sent so; what lies there are the weights and
 * exponents of a ROUND (codec_lay_vectors), the sums of a TALLY or SLICE as
 * they lie in memory. Narrow weights are doubles there: whoever stepped wrote
 * them so, and they are read in place. */
struct posted {
    uint32_t place;
    uint64_t sequence;
};

bool codec_posts(const struct msg *msg);
bool codec_is_posted(const uint8_t *data, size_t size);
size_t codec_posted_bound(const struct msg *msg);
size_t codec_encode_posted(const struct msg *msg, const struct posted *where,
                           uint8_t *out);
/* The message's vectors are NULL; their lengths are checked. */
MUST_CHECK enum err codec_decode_posted(const uint8_t *data, size_t size,
                                        struct codec_room *room,
                                        struct msg *msg, struct posted *where);
/* A plain ROUND or TALLY but its vectors, which codec_encode_weights and then
 * codec_encode_exponents, or pack_i64, write: one after the other they are what
 * codec_encode gives. */
size_t codec_encode_head(const struct msg *msg, uint8_t *out);
/* The vectors of a ROUND: at most so many bytes. */
size_t codec_vectors_bound(uint32_t dims, uint32_t sum_dims);
size_t codec_encode_weights(const struct msg_round *round, uint8_t *out,
                            size_t capacity);
/* `out` has codec_exponents_bound bytes. */
size_t codec_exponents_bound(const struct msg_round *round);
size_t codec_encode_exponents(const struct msg_round *round, uint8_t *out);
/* The same vectors laid out to be read in place, on cache lines of their own:
 * weights, direction, exponents.  `out` has codec_laid_bound bytes and begins
 * on a line. */
size_t codec_laid_bound(uint32_t dims, uint32_t sum_dims);
void codec_lay_vectors(const struct msg_round *round, struct pool *pool,
                       uint8_t *out);
void codec_lay_exponents(const struct msg_round *round, struct pool *pool,
                         uint8_t *out);
/* Points `round` at them.  Exponents are copied into `room`, unless they are
 * there already: if it turns out that the bytes changed meanwhile,
 * codec_room_forget. */
MUST_CHECK enum err codec_find_vectors(const uint8_t *data, size_t size,
                                       struct codec_room *room,
                                       struct msg_round *round);
/* Copies weights and direction into `room`, too. */
void codec_copy_vectors(const struct codec_room *room, struct msg_round *round);

void codec_room_forget(struct codec_room *room);

/* Is it [A-Za-z0-9._-]{1,64}: a name that no terminal, file or page minds? */
bool codec_name_valid(const char *name);

/* Largest SUM of the job. */
size_t codec_sum_max(uint32_t sum_dims, uint32_t answers_max);

/* Largest message this job may see: what a link may buffer once the peer is
 * known (before that: LINK_STRANGER_BYTES). */
size_t codec_message_max(uint32_t dims, uint32_t sum_dims, uint32_t items_max,
                         size_t chunk_bytes);

#endif /* WIRE_CODEC_H */
