/*
 * letters.c - the heads of letters, and when one may be read.
 */
#include "node/ring/letters.h"

#include <string.h>

bool letter_leave(struct board *board, uint32_t from, uint32_t to,
                  const struct letter_road *road, const void *data, size_t size)
{
    uint8_t note[BOARD_NOTE_BYTES];

    if (size == 0 || size > LETTER_BYTES)
        return false;
    memcpy(note, &road->link, sizeof road->link);
    memcpy(note + sizeof road->link, &road->sent, sizeof road->sent);
    memcpy(note + LETTER_HEAD, data, size);
    return board_letter_leave(board, from, to, note, LETTER_HEAD + size);
}

bool letter_look(const struct board *board, uint32_t from, uint32_t to,
                 struct letter *letter)
{
    uint8_t note[BOARD_NOTE_BYTES];
    size_t size;

    if (!board_letter_look(board, from, to, note, &size))
        return false;
    letter->size = size > LETTER_HEAD ? size - LETTER_HEAD : 0;
    if (letter->size == 0)
        return true;
    memcpy(&letter->link, note, sizeof letter->link);
    memcpy(&letter->before, note + sizeof letter->link, sizeof letter->before);
    memcpy(letter->bytes, note + LETTER_HEAD, letter->size);
    return true;
}

bool letter_is_next(const struct letter *letter, const struct letter_road *road)
{
    return letter->link == road->link && letter->before <= road->received;
}

void letter_take(struct board *board, uint32_t from, uint32_t to)
{
    board_letter_take(board, from, to);
}
