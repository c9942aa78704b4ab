/*
 * zip.h - the members of a zip archive, as numpy.savez writes them: stored or
 * deflated.
 *
 *     [local header, bytes of a member] ... [directory] [end of directory]
 *
 * The directory at the end says what is where; nothing in it is believed that
 * the rest contradicts.  Members that overlap, lie outside, or say other names,
 * sizes or checksums than they have are refused, and no more is unpacked than
 * was announced.  Encrypted members, archives in several parts and of 4 GiB or
 * more (ZIP64) are refused, too.
 */
#ifndef DATA_ZIP_H
#define DATA_ZIP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "data/text/unpack.h"

enum { ZIP_MEMBERS_MAX = 1024, ZIP_NAME_MAX = 255 };

struct zip_member {
    char name[ZIP_NAME_MAX + 1];
    uint64_t header; /* Where its local header is. */
    struct unpack_part part;
};

struct zip {
    const char *path;      /* Must stay; NULL: memory. */
    const uint8_t *memory; /* Must stay. */
    uint64_t size;
    struct zip_member *member;
    uint32_t count;
};

/* ERR_FORMAT, ERR_TRUNCATED, ERR_UNSUPPORTED, ERR_TOOBIG and those of opening
 * a file: with a sentence that does not name the file. */
MUST_CHECK enum err zip_open(struct zip *zip, const char *path,
                             struct why *why);
/* The same for bytes, for tests. */
MUST_CHECK enum err zip_open_memory(struct zip *zip, const void *data,
                                    size_t size, struct why *why);
void zip_close(struct zip *zip); /* Zeroed is safe. */

/* NULL if there is none of that name. */
const struct zip_member *zip_find(const struct zip *zip, const char *name);
/* Its bytes; the end is reached only if all that was said of them is true. */
MUST_CHECK enum err zip_read(const struct zip *zip,
                             const struct zip_member *member,
                             struct unpacker **in, struct why *why);

bool zip_is_magic(const void *first, size_t size);

#endif /* DATA_ZIP_H */
