/*
 * zip.c - a reader for zip archives.  Names, sizes and checksums are told twice
 * in one, in the directory and before each member: what does not agree is
 * refused.
 */
#include "data/text/zip.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "os/file/file.h"
#include "os/file/input.h"

enum {
    END_BYTES = 22,
    COMMENT_MAX = 65535,
    ENTRY_BYTES = 46,
    LOCAL_BYTES = 30,
    FLAG_ENCRYPTED = 1,
    METHOD_STORED = 0,
    METHOD_DEFLATED = 8,
};

/* Bytes of an archive that are in memory. */
struct view {
    const uint8_t *at;
    size_t size;
};

/* What is read from: a file or memory. */
struct archive {
    struct input input;
    const uint8_t *memory; /* NULL: the file. */
    uint64_t size;
};

static uint32_t get16(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static uint32_t get32(const uint8_t *at)
{
    return get16(at) | get16(at + 2) << 16;
}

bool zip_is_magic(const void *first, size_t size)
{
    return size >= 4 &&
           (memcmp(first, "PK\3\4", 4) == 0 || memcmp(first, "PK\5\6", 4) == 0);
}

void zip_close(struct zip *zip)
{
    mem_free(zip->member);
    *zip = (struct zip){0};
}

static enum err say_damaged(const char *what, struct why *why)
{
    return why_set(why, ERR_FORMAT,
                   "the zip archive is damaged: %s; write or fetch it again",
                   what);
}

static enum err say_zip64(struct why *why)
{
    return why_set(why, ERR_UNSUPPORTED,
                   "a zip archive of 4 GiB or more (ZIP64) is not supported; "
                   "save the arrays as .npy files");
}

static enum err read_at(const struct archive *archive, uint64_t offset,
                        uint8_t *out, size_t size, struct why *why)
{
    size_t got = 0;
    enum err err;

    if (offset > archive->size || size > archive->size - offset)
        return say_damaged("it refers to bytes behind its end", why);
    if (archive->memory != NULL) {
        if (size > 0)
            memcpy(out, archive->memory + offset, size);
        return ERR_OK;
    }
    err = input_read_at(&archive->input, offset, out, size, &got);
    if (err != ERR_OK)
        return why_set(why, err, "%s", err_text(err));
    return got == size ? ERR_OK : unpacker_say_changed(why);
}

/* --- the directory ----------------------------------------------------------
 */

/* The end of the directory is the last thing but for a comment. */
static const uint8_t *find_end(struct view tail)
{
    for (size_t back = END_BYTES; tail.at != NULL && back <= tail.size;
         back++) {
        const uint8_t *const at = tail.at + tail.size - back;

        if (memcmp(at, "PK\5\6", 4) == 0 && get16(at + 20) == back - END_BYTES)
            return at;
    }
    return NULL;
}

struct directory {
    uint64_t offset, size;
    uint32_t count;
};

static enum err check_end(const struct archive *archive, const uint8_t *end,
                          uint64_t at, struct directory *made, struct why *why)
{
    made->count = get16(end + 10);
    made->size = get32(end + 12);
    made->offset = get32(end + 16);
    if (made->count == UINT16_MAX || made->offset == UINT32_MAX ||
        made->size == UINT32_MAX || archive->size > UINT32_MAX)
        return say_zip64(why);
    if (get16(end + 4) != 0 || get16(end + 6) != 0 ||
        get16(end + 8) != made->count)
        return why_set(why, ERR_UNSUPPORTED,
                       "a zip archive in several parts is not supported");
    if (made->count > ZIP_MEMBERS_MAX)
        return why_set(why, ERR_TOOBIG,
                       "a zip archive of %u members; at most %d are supported",
                       made->count, ZIP_MEMBERS_MAX);
    if (made->offset + made->size != at)
        return say_damaged("its directory is not where it should be", why);
    return ERR_OK;
}

static enum err read_end(const struct archive *archive,
                         struct directory *directory, struct why *why)
{
    const size_t most = END_BYTES + COMMENT_MAX;
    const size_t size = archive->size < most ? (size_t)archive->size : most;
    uint8_t *const tail = mem_new(size + 1, 1);
    const uint8_t *end = NULL;
    enum err err =
        tail == NULL ? why_set(why, ERR_NOMEM, "out of memory")
                     : read_at(archive, archive->size - size, tail, size, why);

    if (err == ERR_OK) {
        end = find_end((struct view){tail, size});
        err = end == NULL
                  ? why_set(why, ERR_TRUNCATED,
                            "not a whole zip archive: its end is missing; "
                            "write or fetch it again")
                  : check_end(archive, end,
                              archive->size - size + (uint64_t)(end - tail),
                              directory, why);
    }
    mem_free(tail);
    return err;
}

static enum err take_name(struct zip_member *member, struct view name,
                          struct why *why)
{
    if (name.size == 0 || name.size > ZIP_NAME_MAX ||
        memchr(name.at, '\0', name.size) != NULL)
        return say_damaged("the name of a member is no name", why);
    memcpy(member->name, name.at, name.size);
    return ERR_OK;
}

/* One entry of the directory; *at moves behind it. */
static enum err take_entry(struct zip_member *member, struct view *at,
                           struct why *why)
{
    const uint8_t *const p = at->at;
    size_t name, whole;

    if (p == NULL || at->size < ENTRY_BYTES || memcmp(p, "PK\1\2", 4) != 0)
        return say_damaged("its directory has other entries than it says", why);
    name = get16(p + 28);
    whole = ENTRY_BYTES + name + get16(p + 30) + get16(p + 32);
    if (whole > at->size)
        return say_damaged("an entry of its directory is cut short", why);
    if (get16(p + 8) & FLAG_ENCRYPTED)
        return why_set(why, ERR_UNSUPPORTED,
                       "the zip archive is encrypted; save it without");
    if (get16(p + 10) != METHOD_STORED && get16(p + 10) != METHOD_DEFLATED)
        return why_set(why, ERR_UNSUPPORTED,
                       "a member of the zip archive is packed in a way (%u) "
                       "that is not supported; use numpy.savez_compressed",
                       get16(p + 10));
    member->header = get32(p + 42);
    member->part = (struct unpack_part){.deflated = get16(p + 10) != 0,
                                        .check = get32(p + 16),
                                        .packed = get32(p + 20),
                                        .size = get32(p + 24)};
    if (member->header == UINT32_MAX || member->part.packed == UINT32_MAX ||
        member->part.size == UINT32_MAX)
        return say_zip64(why);
    at->at += whole;
    at->size -= whole;
    return take_name(member, (struct view){p + ENTRY_BYTES, name}, why);
}

/* The header before a member's bytes must not contradict the directory. */
static enum err check_local(const struct archive *archive, uint64_t end,
                            struct zip_member *member, struct why *why)
{
    uint8_t local[LOCAL_BYTES + ZIP_NAME_MAX] = {0};
    const size_t name = strlen(member->name);
    enum err err =
        read_at(archive, member->header, local, LOCAL_BYTES + name, why);

    if (err != ERR_OK)
        return err;
    if (memcmp(local, "PK\3\4", 4) != 0 ||
        (get16(local + 8) != METHOD_STORED) != member->part.deflated ||
        get16(local + 26) != name ||
        memcmp(local + LOCAL_BYTES, member->name, name) != 0)
        return say_damaged("a member is not what the directory says", why);
    member->part.offset =
        member->header + LOCAL_BYTES + name + get16(local + 28);
    if (member->part.offset + member->part.packed > end)
        return say_damaged("a member reaches into the directory", why);
    if (!member->part.deflated && member->part.packed != member->part.size)
        return say_damaged("a member says two sizes", why);
    return ERR_OK;
}

static enum err check_overlap(const struct zip *zip, struct why *why)
{
    for (uint32_t i = 0; i < zip->count; i++) {
        const struct zip_member *const a = &zip->member[i];

        for (uint32_t j = 0; j < i; j++) {
            const struct zip_member *const b = &zip->member[j];

            if (a->header < b->part.offset + b->part.packed &&
                b->header < a->part.offset + a->part.packed)
                return say_damaged("two members share bytes", why);
            if (strcmp(a->name, b->name) == 0)
                return say_damaged("two members have one name", why);
        }
    }
    return ERR_OK;
}

static enum err take_entries(const struct archive *archive,
                             const struct directory *directory,
                             struct view bytes, struct zip *zip,
                             struct why *why)
{
    enum err err = ERR_OK;

    for (uint32_t i = 0;
         err == ERR_OK && zip->member != NULL && i < directory->count; i++) {
        err = take_entry(&zip->member[i], &bytes, why);
        if (err == ERR_OK)
            err = check_local(archive, directory->offset, &zip->member[i], why);
        zip->count += err == ERR_OK;
    }
    if (err == ERR_OK && bytes.size > 0)
        err = say_damaged("its directory has other entries than it says", why);
    return err == ERR_OK ? check_overlap(zip, why) : err;
}

static enum err read_directory(const struct archive *archive, struct zip *zip,
                               struct why *why)
{
    struct directory directory = {0};
    uint8_t *bytes = NULL;
    enum err err = read_end(archive, &directory, why);

    if (err != ERR_OK)
        return err;
    bytes = mem_new((size_t)directory.size + 1, 1);
    zip->member = mem_new((size_t)directory.count + 1, sizeof *zip->member);
    err = bytes == NULL || zip->member == NULL
              ? why_set(why, ERR_NOMEM, "out of memory")
              : read_at(archive, directory.offset, bytes,
                        (size_t)directory.size, why);
    if (err == ERR_OK)
        err = take_entries(archive, &directory,
                           (struct view){bytes, (size_t)directory.size}, zip,
                           why);
    mem_free(bytes);
    return err;
}

static enum err finish(const struct archive *archive, struct zip *made,
                       struct zip *zip, struct why *why)
{
    const enum err err = read_directory(archive, made, why);

    if (err != ERR_OK)
        zip_close(made);
    else
        *zip = *made;
    return err;
}

enum err zip_open(struct zip *zip, const char *path, struct why *why)
{
    struct archive archive = {0};
    struct zip made = {.path = path};
    enum err err = input_open(&archive.input, path, NULL);
    const int error = err == ERR_UNSUPPORTED ? EISDIR : errno;

    if (err != ERR_OK && !input_is_stream(path))
        return file_read_words(why, error);
    if (err == ERR_UNSUPPORTED)
        return why_set(why, err,
                       "a zip archive must be a plain file, not a pipe");
    if (err != ERR_OK)
        return err;
    archive.size = archive.input.identity.size;
    err = finish(&archive, &made, zip, why);
    input_close(&archive.input);
    return err;
}

enum err zip_open_memory(struct zip *zip, const void *data, size_t size,
                         struct why *why)
{
    const struct archive archive = {.memory = data, .size = size};
    struct zip made = {.memory = data, .size = size};

    return finish(&archive, &made, zip, why);
}

const struct zip_member *zip_find(const struct zip *zip, const char *name)
{
    for (uint32_t i = 0; i < zip->count; i++) {
        if (strcmp(zip->member[i].name, name) == 0)
            return &zip->member[i];
    }
    return NULL;
}

enum err zip_read(const struct zip *zip, const struct zip_member *member,
                  struct unpacker **in, struct why *why)
{
    struct unpacker *made = NULL;
    enum err err = zip->path != NULL
                       ? unpacker_open(zip->path, &made, why)
                       : unpacker_open_memory(zip->memory, zip->size, &made);

    if (err == ERR_OK)
        err = unpacker_narrow(made, &member->part, why);
    if (err != ERR_OK) {
        unpacker_close(made);
        return err;
    }
    *in = made;
    return ERR_OK;
}
