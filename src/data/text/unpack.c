/*
 * unpack.c - decompression (gzip, zstd) by the first bytes of a file, member
 * after member.  A stream that ends early is an error, never an end.
 */
#include "data/text/unpack.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "os/file/file.h"
#include "os/file/input.h"

enum {
    PACKED_BLOCK = 1 << 16,
    GZIP_ONLY = 15 + 16, /* inflateInit2: largest window, gzip header. */
    DEFLATE_ONLY = -15,  /* The same without a header. */
};

enum unpack_mode {
    UNPACK_ASK,
    UNPACK_PLAIN,
    UNPACK_GZIP,
    UNPACK_ZSTD,
    UNPACK_PART
};

/* zlib's own gz* functions are not used: they cannot read standard input
 * without closing it. */
struct unpacker {
    FILE *file;            /* NULL: memory. */
    const uint8_t *memory; /* What is left of it. */
    size_t memory_size;
    z_stream zlib;
    ZSTD_DStream *zstd;
    enum unpack_mode mode;
    struct unpack_part part; /* UNPACK_PART: what is left of it. */
    uLong check;             /* Of what came so far. */
    bool watched; /* A plain file, which nobody else shall write to. */
    struct input_identity identity; /* When it was opened. */
    bool in_member; /* A gzip member or zstd frame has begun and not ended. */
    size_t at, end; /* Unread part of `packed`. */
    uint8_t packed[PACKED_BLOCK];
};

static enum err say_nomem(struct why *why)
{
    return why_set(why, ERR_NOMEM, "out of memory");
}

enum err unpacker_open(const char *path, struct unpacker **in, struct why *why)
{
    struct unpacker *made = mem_new(1, sizeof *made);

    if (made == NULL)
        return say_nomem(why);
    made->file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (made->file == NULL) {
        const int code = errno;

        mem_free(made);
        return file_read_words(why, code);
    }
    made->watched = input_look(fileno(made->file), &made->identity);
    *in = made;
    return ERR_OK;
}

enum err unpacker_open_memory(const void *data, size_t size,
                              struct unpacker **in)
{
    struct unpacker *made = mem_new(1, sizeof *made);

    if (made == NULL)
        return ERR_NOMEM;
    made->memory = data;
    made->memory_size = size;
    *in = made;
    return ERR_OK;
}

void unpacker_close(struct unpacker *in)
{
    if (in == NULL)
        return;
    if (in->file != NULL && in->file != stdin)
        (void)fclose(in->file);
    if (in->mode == UNPACK_GZIP ||
        (in->mode == UNPACK_PART && in->part.deflated))
        (void)inflateEnd(&in->zlib);
    (void)ZSTD_freeDStream(in->zstd);
    mem_free(in);
}

static size_t take_memory(struct unpacker *in)
{
    const size_t left = in->memory_size;
    const size_t size = left < PACKED_BLOCK ? left : PACKED_BLOCK;

    if (size > 0)
        memcpy(in->packed, in->memory, size);
    in->memory += size;
    in->memory_size -= size;
    return size;
}

/* Read the next block of the file if the last is used up; at == end then
 * means the end of the file. */
static enum err load_packed(struct unpacker *in, struct why *why)
{
    if (in->at < in->end)
        return ERR_OK;
    in->at = 0;
    if (in->file == NULL) {
        in->end = take_memory(in);
        return ERR_OK;
    }
    errno = 0;
    in->end = fread(in->packed, 1, sizeof in->packed, in->file);
    if (in->end == 0 && ferror(in->file))
        return file_read_words(why, errno);
    return ERR_OK;
}

static enum unpack_mode mode_of(const uint8_t *first, size_t size)
{
    static const uint8_t gzip[] = {0x1f, 0x8b};
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};

    if (size >= sizeof gzip && memcmp(first, gzip, sizeof gzip) == 0)
        return UNPACK_GZIP;
    if (size >= sizeof zstd && memcmp(first, zstd, sizeof zstd) == 0)
        return UNPACK_ZSTD;
    return UNPACK_PLAIN;
}

bool unpacker_is_packed(const void *first, size_t size)
{
    return mode_of(first, size) != UNPACK_PLAIN;
}

/* Look at the first bytes and decide what they are. */
static enum err choose_mode(struct unpacker *in, struct why *why)
{
    const enum err err = load_packed(in, why);
    enum unpack_mode mode;

    if (err != ERR_OK)
        return err;
    mode = mode_of(in->packed, in->end);
    if (mode == UNPACK_GZIP && inflateInit2(&in->zlib, GZIP_ONLY) != Z_OK)
        return say_nomem(why);
    if (mode == UNPACK_ZSTD) {
        in->zstd = ZSTD_createDStream();
        if (in->zstd == NULL)
            return say_nomem(why);
    }
    in->mode = mode;
    in->in_member = mode != UNPACK_PLAIN;
    return ERR_OK;
}

static enum err unpack_plain(struct unpacker *in, void *out, size_t room,
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

static enum err inflate_some(struct unpacker *in, void *out, size_t room,
                             size_t *got, struct why *why)
{
    int code;

    in->zlib.next_in = in->packed + in->at;
    in->zlib.avail_in = (uInt)(in->end - in->at);
    in->zlib.next_out = out;
    in->zlib.avail_out = (uInt)room;
    code = inflate(&in->zlib, Z_NO_FLUSH);
    in->at = in->end - in->zlib.avail_in;
    *got = room - in->zlib.avail_out;
    in->in_member = code != Z_STREAM_END;
    if (code == Z_MEM_ERROR)
        return say_nomem(why);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        return why_set(why, ERR_FORMAT,
                       "the %s data are damaged; fetch the file again",
                       in->mode == UNPACK_PART ? "zip" : "gzip");
    return ERR_OK;
}

static enum err zstd_some(struct unpacker *in, void *out, size_t room,
                          size_t *got, struct why *why)
{
    ZSTD_inBuffer from = {in->packed, in->end, in->at};
    ZSTD_outBuffer to = {out, room, 0};
    const size_t code = ZSTD_decompressStream(in->zstd, &to, &from);

    in->at = from.pos;
    *got = to.pos;
    if (ZSTD_isError(code))
        return why_set(why, ERR_FORMAT,
                       "the zstd data are damaged (%s); fetch the file again",
                       ZSTD_getErrorName(code));
    in->in_member = code != 0;
    return ERR_OK;
}

/* --- a part -----------------------------------------------------------------
 */

static enum err skip(struct unpacker *in, uint64_t offset, struct why *why)
{
    if (in->file == NULL && offset <= in->memory_size) {
        in->memory += offset;
        in->memory_size -= (size_t)offset;
        return ERR_OK;
    }
    if (in->file != NULL && fseeko(in->file, (off_t)offset, SEEK_SET) == 0)
        return ERR_OK;
    return why_set(why, ERR_IO, "cannot be read from its middle");
}

enum err unpacker_narrow(struct unpacker *in, const struct unpack_part *part,
                         struct why *why)
{
    enum err err = skip(in, part->offset, why);

    if (err == ERR_OK && part->deflated &&
        inflateInit2(&in->zlib, DEFLATE_ONLY) != Z_OK)
        err = say_nomem(why);
    if (err != ERR_OK)
        return err;
    in->mode = UNPACK_PART;
    in->part = *part;
    in->in_member = part->deflated;
    in->check = crc32(0, NULL, 0);
    return ERR_OK;
}

static enum err say_part(const char *what, struct why *why)
{
    return why_set(why, ERR_FORMAT,
                   "the zip archive is damaged: a member %s; write or fetch it "
                   "again",
                   what);
}

/* Packed bytes, no further than the part. */
static enum err load_part(struct unpacker *in, struct why *why)
{
    const bool fresh = in->at == in->end;
    const enum err err = load_packed(in, why);

    if (err != ERR_OK || !fresh)
        return err;
    if (in->end > in->part.packed)
        in->end = (size_t)in->part.packed;
    in->part.packed -= in->end;
    return ERR_OK;
}

/* Whatever comes when all that was announced has come. */
static enum err end_part(struct unpacker *in, struct why *why)
{
    uint8_t extra;
    size_t more = 0;
    enum err err = ERR_OK;

    while (err == ERR_OK && in->in_member && more == 0) {
        err = load_part(in, why);
        if (err == ERR_OK && in->at == in->end)
            return say_part("ends too early", why);
        if (err == ERR_OK)
            err = inflate_some(in, &extra, 1, &more, why);
    }
    if (err != ERR_OK)
        return err;
    if (more > 0 || in->at < in->end || in->part.packed > 0)
        return say_part("is larger than it says", why);
    return in->check == in->part.check ? ERR_OK
                                       : say_part("fails its checksum", why);
}

static enum err unpack_part(struct unpacker *in, void *out, size_t room,
                            size_t *got, struct why *why)
{
    enum err err = ERR_OK;

    *got = 0;
    if (room > in->part.size)
        room = (size_t)in->part.size;
    if (room == 0)
        return end_part(in, why);
    while (err == ERR_OK && *got == 0) {
        err = load_part(in, why);
        if (err == ERR_OK &&
            (in->at == in->end || (in->part.deflated && !in->in_member)))
            err = say_part("ends too early", why);
        else if (err == ERR_OK && in->part.deflated)
            err = inflate_some(in, out, room, got, why);
        else if (err == ERR_OK)
            err = unpack_plain(in, out, room, got, why);
    }
    in->part.size -= *got;
    in->check = crc32(in->check, out, (uInt)*got);
    return err;
}

/* Between members: another may follow.  What does after zstd is the business of
 * zstd. */
static bool next_member(struct unpacker *in)
{
    if (in->at == in->end)
        return false;
    if (in->mode == UNPACK_ZSTD)
        return true;
    return in->packed[in->at] == 0x1f && inflateReset(&in->zlib) == Z_OK;
}

/* Zeros may follow the last member, as on a tape; anything else may be rows,
 * which must not be lost without a word. */
static enum err skip_padding(struct unpacker *in, struct why *why)
{
    enum err err = ERR_OK;

    while (err == ERR_OK && in->at < in->end && in->packed[in->at] == 0) {
        in->at++;
        err = load_packed(in, why);
    }
    if (err == ERR_OK && in->at < in->end)
        err = why_set(why, ERR_FORMAT,
                      "what follows the end of the gzip data is neither gzip "
                      "nor zeros; fetch the file again");
    return err;
}

static enum err unpack_some(struct unpacker *in, void *out, size_t room,
                            size_t *got, struct why *why)
{
    const bool gzip = in->mode == UNPACK_GZIP;

    *got = 0;
    while (*got == 0) {
        enum err err = load_packed(in, why);

        if (err != ERR_OK)
            return err;
        if (!in->in_member && !next_member(in))
            return skip_padding(in, why);
        /* zstd may hold back bytes that it has read already. */
        if (in->at == in->end && (gzip || in->in_member)) {
            err = gzip ? ERR_OK : zstd_some(in, out, room, got, why);
            if (err != ERR_OK || *got > 0)
                return err;
            return why_set(why, ERR_TRUNCATED,
                           "the %s data end too early; fetch the file again",
                           gzip ? "gzip" : "zstd");
        }
        err = gzip ? inflate_some(in, out, room, got, why)
                   : zstd_some(in, out, room, got, why);
        if (err != ERR_OK)
            return err;
    }
    return ERR_OK;
}

enum err unpacker_say_changed(struct why *why)
{
    return why_set(why, ERR_IO,
                   "changed while it was read; try again when it is complete");
}

static bool has_changed(const struct unpacker *in)
{
    struct input_identity now;

    return in->watched && (!input_look(fileno(in->file), &now) ||
                           !input_unchanged(&in->identity, &now));
}

enum err unpacker_read(struct unpacker *in, void *out, size_t room, size_t *got,
                       struct why *why)
{
    const size_t most = (size_t)1 << 30; /* zlib counts in unsigned int. */
    enum err err = ERR_OK;

    if (in->mode == UNPACK_ASK)
        err = choose_mode(in, why);
    if (err != ERR_OK)
        return err;
    if (room > most)
        room = most;
    err = in->mode == UNPACK_PLAIN  ? unpack_plain(in, out, room, got, why)
          : in->mode == UNPACK_PART ? unpack_part(in, out, room, got, why)
                                    : unpack_some(in, out, room, got, why);
    /* A file that grows looks damaged. */
    if ((err == ERR_FORMAT || (err == ERR_OK && *got == 0)) && has_changed(in))
        err = unpacker_say_changed(why);
    return err;
}

enum err unpacker_fill(struct unpacker *in, void *out, size_t room, size_t *got,
                       struct why *why)
{
    size_t have = 0;

    while (have < room) {
        size_t more = 0;
        const enum err err =
            unpacker_read(in, (char *)out + have, room - have, &more, why);

        if (err != ERR_OK)
            return err;
        if (more == 0)
            break;
        have += more;
    }
    *got = have;
    return ERR_OK;
}
