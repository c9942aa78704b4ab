/*
 * text_source.h - lines of a file, packed or not, standard input or memory.
 *
 * Streams: only the current line is held, so that standard input works and a
 * file may be larger than memory.  A packed stream that ends early is an error,
 * not the end of the text.
 */
#ifndef DATA_TEXT_SOURCE_H
#define DATA_TEXT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Longer lines are refused: they are binary data, not text. */
#define TEXT_LINE_MAX (UINT64_C(1) << 31)

struct text_source {
    uint64_t line; /* Number of the line last given, from 1. */
    /* Not the caller's business. */
    struct unpacker *unpacker; /* NULL for memory. */
    char *buffer;
    size_t capacity, start, end;
    size_t given; /* Bytes of the last line, all of it: they end at start. */
    bool ended;
};

/* `path` may be "-".  Fails as unpack.h does, with a sentence that does not
 * name the file: the caller does. */
MUST_CHECK enum err text_open(struct text_source *source, const char *path,
                              struct why *why);
/* Copies `data`. */
MUST_CHECK enum err text_open_memory(struct text_source *source,
                                     const void *data, size_t size);
void text_close(struct text_source *source); /* Zeroed is safe. */

/* The next line without its LF or CRLF, valid until the next call; *text is
 * NULL after the last.  A leading UTF-8 byte order mark is dropped. */
MUST_CHECK enum err text_line(struct text_source *source, const char **text,
                              size_t *size, struct why *why);
/* The line last given and the next one as one text, the end of the first
 * between them.  *more is false if there is none; the text may have moved even
 * then. */
MUST_CHECK enum err text_join(struct text_source *source, const char **text,
                              size_t *size, bool *more, struct why *why);

#endif /* DATA_TEXT_SOURCE_H */
