/*
 * unpack.h - the bytes of a file or of standard input, unpacked on the way.
 *
 * gzip and zstd are known by their first bytes, not by the name.  A packed
 * stream that ends early is an error, not the end of the data.
 */
#ifndef DATA_UNPACK_H
#define DATA_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct unpacker;

/* `path` may be "-".  ERR_NOTFOUND, ERR_DENIED, ERR_IO, ERR_NOMEM; sentences
 * do not name the file: the caller does. */
MUST_CHECK enum err unpacker_open(const char *path, struct unpacker **in,
                                  struct why *why);
/* Reads `size` bytes at `data`, which must stay: for tests. */
MUST_CHECK enum err unpacker_open_memory(const void *data, size_t size,
                                         struct unpacker **in);
void unpacker_close(struct unpacker *in); /* Accepts NULL. */

/* Up to `room` bytes; *got is 0 at the end only.  Also ERR_FORMAT for damaged
 * and ERR_TRUNCATED for short packed data, ERR_IO if a plain file was written
 * to meanwhile. */
MUST_CHECK enum err unpacker_read(struct unpacker *in, void *out, size_t room,
                                  size_t *got, struct why *why);
/* The same until `room` is full or the data end. */
MUST_CHECK enum err unpacker_fill(struct unpacker *in, void *out, size_t room,
                                  size_t *got, struct why *why);

/* A stretch of a file: a member of a zip archive. */
struct unpack_part {
    uint64_t offset;
    uint64_t packed; /* Bytes there. */
    uint64_t size;   /* Bytes they unpack to. */
    uint32_t check;  /* CRC-32 of these. */
    bool deflated;   /* Or stored as they are. */
};

/* Read this and nothing else, before anything was read.  The end is reached
 * only if sizes and checksum are true; never more than `size` bytes come. */
MUST_CHECK enum err unpacker_narrow(struct unpacker *in,
                                    const struct unpack_part *part,
                                    struct why *why);

/* The sentence for a file that was written to: ERR_IO. */
enum err unpacker_say_changed(struct why *why);

/* Do data that begin so need unpacking? */
bool unpacker_is_packed(const void *first, size_t size);

#endif /* DATA_UNPACK_H */
