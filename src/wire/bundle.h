/*
 * bundle.h - many small messages in one.
 *
 * Over a relay the messages of many workers share a connection; one write and
 * one read for all that are ready costs what one message does.  A bundle is
 * BUNDLE_BYTE, then for each message its size (u32) and its bytes.
 */
#ifndef WIRE_BUNDLE_H
#define WIRE_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUNDLE_BYTE     0x7fu
#define BUNDLE_CAPACITY 16384u /* What even a stranger may send. */
#define BUNDLE_ITEM_MAX 2048u  /* Larger messages travel by themselves. */

struct bundle {
    uint8_t bytes[BUNDLE_CAPACITY];
    size_t size; /* 0 = empty. */
};

/* False: it is full, or the message too large; nothing was added. */
bool bundle_add(struct bundle *bundle, const uint8_t *data, size_t size);

bool bundle_is(const uint8_t *data, size_t size);
/* The next message of a bundle; *at is 0 before the first.  False at the end,
 * and with *at = 0 if the bytes are no bundle. */
bool bundle_next(const uint8_t *data, size_t size, size_t *at,
                 const uint8_t **message, size_t *message_size);

#endif /* WIRE_BUNDLE_H */
