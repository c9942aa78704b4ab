/*
 * letters.h - is a text written in UTF-8?
 *
 * Names of columns and words of categories go into models, cards and JSON, and
 * are compared byte by byte with those of other tables: in another encoding
 * they would be other words, without a sound.  So texts in UTF-16 or UTF-32 are
 * refused by how they begin, and names and words, as far as they are used, one
 * by one; the sentence says what makes UTF-8 of them.
 */
#ifndef DATA_LETTERS_H
#define DATA_LETTERS_H

#include <stddef.h>

#include "base/err.h"
#include "data/span.h"

/* The beginning of a text: ERR_FORMAT if it is UTF-16 or UTF-32, by its byte
 * order mark, or as every other byte is NUL. */
MUST_CHECK enum err letters_begin(const char *text, size_t size,
                                  struct why *why);
/* A name or word: ERR_FORMAT if it is not UTF-8. */
MUST_CHECK enum err letters_check(struct span word, struct why *why);

#endif /* DATA_LETTERS_H */
