/*
 * dictionary.h - the categories of a column while it is read, in order of
 * appearance, and their final numbers.
 */
#ifndef DATA_TABLE_DICTIONARY_H
#define DATA_TABLE_DICTIONARY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "data/table/frame.h"

struct dictionary {
    struct category *category;
    uint32_t count;
    size_t capacity;
    uint32_t *slot; /* Category + 1; 0: free. */
    size_t slots;   /* A power of two. */
};

void dictionary_close(struct dictionary *words); /* Zeroed is safe. */

/* The word's number so far; a new one is added.  ERR_NOMEM. */
MUST_CHECK enum err dictionary_look_up(struct dictionary *words,
                                       struct span text, uint32_t *code);

/* Sort the categories, join those that are equal as numbers, hand them over to
 * the column and number its rows anew.  ERR_NOMEM. */
MUST_CHECK enum err dictionary_settle(struct frame_column *column,
                                      struct dictionary *words, uint32_t rows);

#endif /* DATA_TABLE_DICTIONARY_H */
