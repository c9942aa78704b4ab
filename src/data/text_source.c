#include "data/text_source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"

enum {
    TEXT_BLOCK = 1 << 18,
    PACKED_BLOCK = 1 << 16,
    GZIP_ONLY = 15 + 16, /* inflateInit2: largest window, gzip header. */
};

/*
 * Bytes of a file, inflated if they are gzip's.  zlib's own gz* functions are
 * not used: they cannot read standard input without closing it.
 */
struct unpacker {
    FILE *file;
    z_stream zlib;
    enum { UNPACK_ASK, UNPACK_PLAIN, UNPACK_GZIP } mode;
    bool in_member; /* A gzip member has begun and not ended. */
    size_t at, end; /* Unread part of `packed`. */
    uint8_t packed[PACKED_BLOCK];
};

static enum err say_errno(struct why *why, int code)
{
    if (code == ENOENT)
        return why_set(why, ERR_NOTFOUND, "no such file; check the name");
    if (code == EACCES)
        return why_set(why, ERR_DENIED,
                       "not readable; check the file's permissions");
    if (code == EISDIR)
        return why_set(why, ERR_IO, "is a directory; name a file in it");
    return why_set(why, ERR_IO, "cannot be read: %s", strerror(code));
}

static void unpacker_free(struct unpacker *in)
{
    if (in == NULL)
        return;
    if (in->file != NULL && in->file != stdin)
        (void)fclose(in->file);
    if (in->mode == UNPACK_GZIP)
        (void)inflateEnd(&in->zlib);
    mem_free(in);
}

/* Read the next block of the file if the last is used up; at == end then
 * means the end of the file. */
static enum err load_packed(struct unpacker *in, struct why *why)
{
    if (in->at < in->end)
        return ERR_OK;
    in->at = 0;
    errno = 0;
    in->end = fread(in->packed, 1, sizeof in->packed, in->file);
    if (in->end == 0 && ferror(in->file))
        return say_errno(why, errno);
    return ERR_OK;
}

/* Look at the first bytes and decide what they are. */
static enum err choose_mode(struct unpacker *in, struct why *why)
{
    static const uint8_t gzip[] = {0x1f, 0x8b};
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    const enum err err = load_packed(in, why);

    if (err != ERR_OK)
        return err;
    if (in->end >= sizeof zstd && memcmp(in->packed, zstd, sizeof zstd) == 0)
        return why_set(why, ERR_UNSUPPORTED,
                       "zstd data are not supported yet; unpack the file with "
                       "'zstd -d' first");
    if (in->end < sizeof gzip || memcmp(in->packed, gzip, sizeof gzip) != 0) {
        in->mode = UNPACK_PLAIN;
        return ERR_OK;
    }
    if (inflateInit2(&in->zlib, GZIP_ONLY) != Z_OK)
        return why_set(why, ERR_NOMEM, "out of memory");
    in->mode = UNPACK_GZIP;
    in->in_member = true;
    return ERR_OK;
}

static enum err unpack_plain(struct unpacker *in, char *out, size_t room,
                             size_t *got, struct why *why)
{
    const enum err err = load_packed(in, why);
    const size_t left = in->end - in->at;

    if (err != ERR_OK)
        return err;
    *got = left < room ? left : room;
    if (*got > 0)
        memcpy(out, in->packed + in->at, *got);
    in->at += *got;
    return ERR_OK;
}

/* Between members: another may follow, anything else (padding) is dropped, as
 * gzip does.  True if one does. */
static bool next_member(struct unpacker *in)
{
    if (in->at == in->end || in->packed[in->at] != 0x1f)
        return false;
    in->in_member = inflateReset(&in->zlib) == Z_OK;
    return in->in_member;
}

static enum err inflate_some(struct unpacker *in, char *out, size_t room,
                             size_t *got, struct why *why)
{
    int code;

    in->zlib.next_in = in->packed + in->at;
    in->zlib.avail_in = (uInt)(in->end - in->at);
    in->zlib.next_out = (Bytef *)out;
    in->zlib.avail_out = (uInt)room;
    code = inflate(&in->zlib, Z_NO_FLUSH);
    in->at = in->end - in->zlib.avail_in;
    *got = room - in->zlib.avail_out;
    in->in_member = code != Z_STREAM_END;
    if (code == Z_MEM_ERROR)
        return why_set(why, ERR_NOMEM, "out of memory");
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        return why_set(why, ERR_FORMAT,
                       "the gzip data are damaged; fetch the file again");
    return ERR_OK;
}

static enum err unpack_gzip(struct unpacker *in, char *out, size_t room,
                            size_t *got, struct why *why)
{
    *got = 0;
    while (*got == 0) {
        enum err err = load_packed(in, why);

        if (err != ERR_OK)
            return err;
        if (!in->in_member && !next_member(in))
            return ERR_OK;
        if (in->at == in->end)
            return why_set(why, ERR_TRUNCATED,
                           "the gzip data end too early; fetch the file "
                           "again");
        err = inflate_some(in, out, room, got, why);
        if (err != ERR_OK)
            return err;
    }
    return ERR_OK;
}

/* Up to `room` bytes of text; *got is 0 at the end. */
static enum err unpack(struct unpacker *in, char *out, size_t room, size_t *got,
                       struct why *why)
{
    if (in->mode == UNPACK_ASK) {
        const enum err err = choose_mode(in, why);

        if (err != ERR_OK)
            return err;
    }
    if (in->mode == UNPACK_GZIP)
        return unpack_gzip(in, out, room, got, why);
    return unpack_plain(in, out, room, got, why);
}

enum err text_open(struct text_source *source, const char *path,
                   struct why *why)
{
    struct text_source made = {.capacity = TEXT_BLOCK};

    made.buffer = mem_new(made.capacity, 1);
    made.unpacker = mem_new(1, sizeof *made.unpacker);
    if (made.buffer == NULL || made.unpacker == NULL) {
        text_close(&made);
        return why_set(why, ERR_NOMEM, "out of memory");
    }
    made.unpacker->file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (made.unpacker->file == NULL) {
        const int code = errno;

        text_close(&made);
        return say_errno(why, code);
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
    unpacker_free(source->unpacker);
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
    size_t room;
    size_t got = 0;

    if (err != ERR_OK)
        return err;
    room = source->capacity - source->end;
    if (room > (size_t)1 << 30)
        room = (size_t)1 << 30; /* zlib counts in unsigned int. */
    err =
        unpack(source->unpacker, source->buffer + source->end, room, &got, why);
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

/* Read on until a whole line is in the buffer.  *length is without its LF;
 * *feed says whether it has one, as the last may not. */
static enum err find_line(struct text_source *source, size_t *length,
                          bool *feed, struct why *why)
{
    size_t searched = 0; /* Bytes known to hold no LF. */

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
    const enum err err = find_line(source, &length, &feed, why);

    if (err != ERR_OK)
        return err;
    if (source->line == 0)
        mark = mark_size(source->buffer + source->start, length);
    *text = source->buffer + source->start + mark;
    *size = length - mark;
    source->start += length + (feed ? 1 : 0);
    if (!feed && *size == 0) {
        *text = NULL;
        return ERR_OK;
    }
    source->line++;
    if (*size > 0 && (*text)[*size - 1] == '\r')
        --*size;
    return ERR_OK;
}
