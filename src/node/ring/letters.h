/*
 * letters.h - what one peer sends another of its machine without a system call:
 * notes on their board (os/run/board.h), in order with what goes by their link.
 *
 *     letter   [ link's number | messages before it ][ the message ]
 *
 * RING-2 asks that a link delivers in the order in which it was sent to, and
 * letters arrive at once, while what the link carries takes its time.  So each
 * letter says which link it belongs to, and how many messages were sent before
 * it by that link's bulk connection.  The reader leaves it where it is until it
 * has got those; and before it passes on the next of them it takes the letters
 * that lie there, which were written before that one was sent.  What a link
 * that is gone has left is nobody's.
 *
 * If there is no room for a letter the message goes by the link.
 */
#ifndef NODE_RING_LETTERS_H
#define NODE_RING_LETTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/run/board.h"

#define LETTER_HEAD  (2 * sizeof(uint64_t))
#define LETTER_BYTES (BOARD_NOTE_BYTES - LETTER_HEAD)

/* One end of a link, by its bulk connection. */
struct letter_road {
    uint64_t link;     /* The same number at both ends, and nobody else's. */
    uint64_t sent;     /* Messages that went out by it, ... */
    uint64_t received; /* ... and that were passed on of those that came in. */
};

struct letter {
    uint64_t link, before;
    size_t size;
    uint8_t bytes[LETTER_BYTES];
};

/* False: it is to be sent. */
MUST_CHECK bool letter_leave(struct board *board, uint32_t from, uint32_t to,
                             const struct letter_road *road, const void *data,
                             size_t size);
/* The first that lies there, and stays; false: none does.  What is no letter
 * has size 0. */
bool letter_look(const struct board *board, uint32_t from, uint32_t to,
                 struct letter *letter);
/* May it be passed on, of that end of its link?  If so take it. */
bool letter_is_next(const struct letter *letter,
                    const struct letter_road *road);
void letter_take(struct board *board, uint32_t from, uint32_t to);

#endif /* NODE_RING_LETTERS_H */
