/*
 * usher.h - owners of a ring's private rows who come back and have to be told
 * what all its owners know; they do not speak as peers do (wire/roll_codec.h).
 */
#ifndef NODE_RING_USHER_H
#define NODE_RING_USHER_H

#include <stddef.h>
#include <stdint.h>

#include "node/owners/parts.h"
#include "os/net/link.h"

/* Answers what came by the link, which the caller closes then.  `parts` NULL:
 * everybody has all rows.  Returns why it was turned away; NULL: it was not. */
const char *usher_answer(const struct parts *parts, struct link *link,
                         const uint8_t *data, size_t size);

#endif /* NODE_RING_USHER_H */
