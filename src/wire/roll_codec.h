/*
 * roll_codec.h - messages of core/roll.h to bytes and back.
 *
 * As in wire/codec.h: one byte of kind and the fields, little-endian; a reader
 * takes exactly what a writer can produce, allocates nothing, and any byte
 * string gives a message or ERR_FORMAT.
 */
#ifndef WIRE_ROLL_CODEC_H
#define WIRE_ROLL_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/roll.h"

/* Is it one of these, rather than one of wire/codec.h? */
bool roll_codec_is(const uint8_t *data, size_t size);
/* Largest message with vectors of `dims`. */
size_t roll_codec_max(uint32_t dims);
size_t roll_codec_bound(const struct roll_msg *msg);
/* `out` has roll_codec_bound bytes; returns the bytes written. */
size_t roll_codec_encode(const struct roll_msg *msg, uint8_t *out);
MUST_CHECK enum err roll_codec_decode(const uint8_t *data, size_t size,
                                      struct roll_msg *msg);

#endif /* WIRE_ROLL_CODEC_H */
