/*
 * text_source.c - a buffered line reader over a file, a stream or memory.
 */
#include "data/text/text_source.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/text/letters.h"
#include "data/text/unpack.h"

enum { TEXT_BLOCK = 1 << 18 };

enum err text_open(struct text_source *source, const char *path,
                   struct why *why)
{
    struct text_source made = {.capacity = TEXT_BLOCK};

    enum err err;

    made.buffer = mem_new(made.capacity, 1);
    if (made.buffer == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    err = unpacker_open(path, &made.unpacker, why);
    if (err != ERR_OK) {
        text_close(&made);
        return err;
    }
    *source = made;
    return ERR_OK;
}

enum err text_open_memory(struct text_source *source, const void *data,
                          size_t size)
{
    struct text_source made = {.capacity = size + 1, .end = size};

    made.ended = true;
    made.buffer = mem_new(made.capacity, 1);
    if (made.buffer == NULL)
        return ERR_NOMEM;
    if (size > 0)
        memcpy(made.buffer, data, size);
    *source = made;
    return ERR_OK;
}

void text_close(struct text_source *source)
{
    unpacker_close(source->unpacker);
    mem_free(source->buffer);
    *source = (struct text_source){0};
}

/* Room for more bytes after `end`: first by moving the unread part down, then
 * by growing. */
static enum err make_room(struct text_source *source, struct why *why)
{
    const size_t unread = source->end - source->start;
    char *grown;

    if (source->start > 0) {
        memmove(source->buffer, source->buffer + source->start, unread);
        source->start = 0;
        source->end = unread;
    }
    if (source->end < source->capacity)
        return ERR_OK;
    if (unread >= TEXT_LINE_MAX)
        return why_set(why, ERR_TOOBIG,
                       "line %llu: longer than 2 GiB; is this a text file?",
                       (unsigned long long)source->line + 1);
    if (unread > 0 && memchr(source->buffer, '\0', unread) != NULL)
        return why_set(why, ERR_FORMAT,
                       "line %llu: a NUL byte; is this a text file?",
                       (unsigned long long)source->line + 1);
    grown = mem_grow(source->buffer, unread, source->capacity + 1, 1,
                     &source->capacity);
    if (grown == NULL)
        return why_set(why, ERR_NOMEM, "line %llu: out of memory",
                       (unsigned long long)source->line + 1);
    source->buffer = grown;
    return ERR_OK;
}

static enum err refill(struct text_source *source, struct why *why)
{
    enum err err = make_room(source, why);
    size_t got = 0;

    if (err != ERR_OK)
        return err;
    err = unpacker_read(source->unpacker, source->buffer + source->end,
                        source->capacity - source->end, &got, why);
    if (err != ERR_OK)
        return err;
    source->end += got;
    source->ended = got == 0;
    return ERR_OK;
}

/* Bytes of a UTF-8 byte order mark at the start of a text. */
static size_t mark_size(const char *text, size_t size)
{
    return size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Read on until a line's end is in the buffer behind the first `searched`
 * bytes.  *length is without its LF; *feed says whether it has one, as the last
 * may not. */
static enum err find_line(struct text_source *source, size_t searched,
                          size_t *length, bool *feed, struct why *why)
{
    for (;;) {
        const char *const first = source->buffer + source->start;
        const size_t size = source->end - source->start;
        const char *const end = memchr(first + searched, '\n', size - searched);
        enum err err;

        if (end != NULL || source->ended) {
            *length = end != NULL ? (size_t)(end - first) : size;
            *feed = end != NULL;
            return ERR_OK;
        }
        searched = size;
        err = refill(source, why);
        if (err != ERR_OK)
            return err;
    }
}

enum err text_line(struct text_source *source, const char **text, size_t *size,
                   struct why *why)
{
    size_t length = 0;
    size_t mark = 0;
    bool feed = false;
    enum err err = find_line(source, 0, &length, &feed, why);

    if (err == ERR_OK && source->line == 0)
        err = letters_begin(source->buffer + source->start,
                            source->end - source->start, why);
    if (err != ERR_OK)
        return err;
    if (source->line == 0)
        mark = mark_size(source->buffer + source->start, length);
    *text = source->buffer + source->start + mark;
    *size = length - mark;
    source->given = length + (feed ? 1 : 0);
    source->start += source->given;
    if (!feed && *size == 0) {
        *text = NULL;
        return ERR_OK;
    }
    source->line++;
    if (*size > 0 && (*text)[*size - 1] == '\r')
        --*size;
    return ERR_OK;
}

enum err text_join(struct text_source *source, const char **text, size_t *size,
                   bool *more, struct why *why)
{
    const size_t given = source->given;
    /* Bytes of a mark in front of it. */
    const size_t front =
        (size_t)(*text - (source->buffer + source->start - given));
    size_t length = 0;
    bool feed = false;
    enum err err;

    CHECK(front <= given);
    source->start -= given;
    err = find_line(source, given, &length, &feed, why);
    if (err != ERR_OK)
        return err;
    *more = feed || length > given;
    *text = source->buffer + source->start + front;
    source->given = *more ? length + (feed ? 1 : 0) : given;
    source->start += source->given;
    if (!*more)
        return ERR_OK;
    source->line++;
    *size = length - front;
    if ((*text)[*size - 1] == '\r')
        --*size;
    return ERR_OK;
}
