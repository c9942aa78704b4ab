/*
 * sum_codec.h - messages of core/sum/sum.h to bytes and back.
 *
 * One byte of kind, the fields that kind has, little-endian.  A decoder
 * allocates nothing: vectors and texts are views of the message, a view of the
 * group is put into `room`.  Any byte string gives a message or ERR_FORMAT.
 */
#ifndef WIRE_SUM_CODEC_H
#define WIRE_SUM_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/sum/sum.h"

struct sum_codec_room {
    struct sum_view view;
    char reason[REASON_SIZE];
};

/* The most bytes the message can take; of vectors up to so many bytes. */
size_t sum_codec_bound(const struct sum_msg *msg);
size_t sum_codec_message_max(uint64_t size_max);

/* `out` has sum_codec_bound(msg) bytes; returns the bytes written. */
size_t sum_codec_encode(const struct sum_msg *msg, uint8_t *out);
/* Of SLICE and PART: what goes before the bytes, which follow as they are. */
size_t sum_codec_head(const struct sum_msg *msg, uint8_t *out);
/* Of SLICE and PART: how long that is, and how much follows it according to a
 * message of which only the first bytes are there. */
#define SUM_CODEC_PIECE_HEAD 37u
bool sum_codec_peek_piece(const uint8_t *begin, size_t size, uint64_t *bytes);
/* Views into `data` and `room`.  ERR_FORMAT: not one whole message. */
MUST_CHECK enum err sum_codec_decode(const uint8_t *data, size_t size,
                                     struct sum_codec_room *room,
                                     struct sum_msg *msg);

#endif /* WIRE_SUM_CODEC_H */
