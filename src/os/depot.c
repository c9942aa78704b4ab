#include "os/depot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/transfer.h"

#define PREFIX    ".new-" /* Of a piece that is being written. */
#define OLD_S     3600    /* Nobody writes one for so long. */
#define NAME_SIZE 96u

struct depot {
    int fd;
    uint64_t bytes_max;
    uint64_t bytes;  /* As far as this process knows. */
    uint64_t number; /* Of the next file that is written. */
};

struct piece {
    char name[DIGEST_TEXT];
    uint64_t bytes;
    struct timespec used;
};

struct pieces {
    struct piece *list;
    size_t count, capacity;
};

static bool is_piece(const char *name)
{
    return strlen(name) == 2 * DIGEST_BYTES &&
           strspn(name, "0123456789abcdef") == 2 * DIGEST_BYTES;
}

static bool pieces_add(struct pieces *pieces, const char *name,
                       const struct stat *info)
{
    struct piece *piece;

    if (pieces->count == pieces->capacity) {
        struct piece *grown =
            mem_grow(pieces->list, pieces->count, pieces->count + 1,
                     sizeof *grown, &pieces->capacity);

        if (grown == NULL)
            return false;
        pieces->list = grown;
    }
    piece = &pieces->list[pieces->count++];
    memcpy(piece->name, name, DIGEST_TEXT);
    piece->bytes = (uint64_t)info->st_size;
    piece->used = info->st_mtim;
    return true;
}

/* Everything in the folder; files that a killed writer left are removed. */
static enum err look(const struct depot *depot, struct pieces *pieces)
{
    const int fd = openat(depot->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    const time_t now = time(NULL);
    const struct dirent *entry;
    struct stat info;
    enum err err = ERR_OK;

    if (folder == NULL) {
        if (fd >= 0)
            (void)close(fd);
        return ERR_IO;
    }
    while (err == ERR_OK && (entry = readdir(folder)) != NULL) {
        if (fstatat(depot->fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) !=
                0 ||
            !S_ISREG(info.st_mode))
            continue;
        if (is_piece(entry->d_name))
            err = pieces_add(pieces, entry->d_name, &info) ? ERR_OK : ERR_NOMEM;
        else if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0 &&
                 now - info.st_mtim.tv_sec > OLD_S)
            (void)unlinkat(depot->fd, entry->d_name, 0);
    }
    (void)closedir(folder);
    return err;
}

static int by_age(const void *left, const void *right)
{
    const struct timespec *const a = &((const struct piece *)left)->used;
    const struct timespec *const b = &((const struct piece *)right)->used;

    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

/* Count, and make room for `wanted` bytes; more than that, so that it is not
 * done again at once. */
static enum err make_room(struct depot *depot, uint64_t wanted)
{
    struct pieces pieces = {0};
    const uint64_t most = depot->bytes_max - depot->bytes_max / 10;
    enum err err = look(depot, &pieces);

    depot->bytes = 0;
    for (size_t i = 0; i < pieces.count; i++)
        depot->bytes += pieces.list[i].bytes;
    if (err == ERR_OK && pieces.count > 0)
        qsort(pieces.list, pieces.count, sizeof *pieces.list, by_age);
    for (size_t i = 0; err == ERR_OK && i < pieces.count; i++) {
        if (depot->bytes + wanted <= most)
            break;
        if (unlinkat(depot->fd, pieces.list[i].name, 0) == 0)
            depot->bytes -= pieces.list[i].bytes;
    }
    mem_free(pieces.list);
    return err;
}

enum err depot_open(const char *folder, uint64_t bytes_max,
                    struct depot **depot, struct why *why)
{
    struct depot *made = mem_new(1, sizeof *made);
    enum err err = made == NULL ? ERR_NOMEM : file_make_folder(folder, why);

    if (err != ERR_OK) {
        mem_free(made);
        return err;
    }
    made->bytes_max = bytes_max;
    made->fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (made->fd < 0) {
        mem_free(made);
        return file_write_failed(why, folder, errno);
    }
    err = make_room(made, 0);
    if (err != ERR_OK) {
        depot_close(made);
        return err;
    }
    *depot = made;
    return ERR_OK;
}

void depot_close(struct depot *depot)
{
    if (depot == NULL)
        return;
    (void)close(depot->fd);
    mem_free(depot);
}

bool depot_has(const struct depot *depot, const struct digest *digest)
{
    char name[DIGEST_TEXT];

    return faccessat(depot->fd, digest_text(digest, name), R_OK, 0) == 0;
}

enum err depot_size(const struct depot *depot, const struct digest *digest,
                    size_t *size)
{
    char name[DIGEST_TEXT];
    struct stat info;

    if (fstatat(depot->fd, digest_text(digest, name), &info,
                AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(info.st_mode))
        return ERR_NOTFOUND;
    *size = (size_t)info.st_size;
    return ERR_OK;
}

static enum err read_whole(int fd, uint8_t *bytes, size_t capacity,
                           size_t *size)
{
    struct stat info;
    size_t at = 0;

    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return ERR_IO;
    if ((uint64_t)info.st_size > capacity)
        return ERR_TOOBIG;
    while (at < (size_t)info.st_size) {
        const ssize_t got = read(fd, bytes + at, (size_t)info.st_size - at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return ERR_IO;
        at += (size_t)got;
    }
    *size = at;
    return ERR_OK;
}

enum err depot_get(struct depot *depot, const struct digest *digest,
                   uint8_t *bytes, size_t capacity, size_t *size)
{
    char name[DIGEST_TEXT];
    struct digest found = {0};
    size_t got = 0;
    enum err err;
    const int fd = openat(depot->fd, digest_text(digest, name),
                          O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return errno == ENOENT ? ERR_NOTFOUND : ERR_IO;
    err = read_whole(fd, bytes, capacity, &got);
    if (err == ERR_OK) {
        found = hash_bytes(bytes, got);
        (void)futimens(fd, NULL); /* Used just now. */
    }
    (void)close(fd);
    if (err == ERR_IO)
        return err;
    if (err != ERR_OK || !digest_equal(&found, digest)) {
        (void)unlinkat(depot->fd, name, 0);
        return ERR_MISMATCH;
    }
    *size = got;
    return ERR_OK;
}

static enum err write_beside(const struct depot *depot, const char *beside,
                             const uint8_t *bytes, size_t size)
{
    const int fd =
        openat(depot->fd, beside,
               O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    enum err err;

    if (fd < 0)
        return ERR_IO;
    err = transfer_write_all(fd, bytes, size);
    if (close(fd) != 0 && err == ERR_OK)
        err = ERR_IO;
    return err;
}

enum err depot_put(struct depot *depot, const struct digest *digest,
                   const uint8_t *bytes, size_t size, struct why *why)
{
    const struct digest is = hash_bytes(bytes, size);
    char name[DIGEST_TEXT];
    char beside[NAME_SIZE];

    if (!digest_equal(&is, digest))
        return ERR_MISMATCH;
    if (size > depot->bytes_max)
        return ERR_OK; /* It would drive out everything else. */
    if (depot->bytes + size > depot->bytes_max &&
        make_room(depot, size) != ERR_OK)
        return why_set(why, ERR_IO, "the folder cannot be listed");
    (void)snprintf(beside, sizeof beside, PREFIX "%ld-%llu", (long)getpid(),
                   (unsigned long long)depot->number++);
    if (write_beside(depot, beside, bytes, size) != ERR_OK ||
        renameat(depot->fd, beside, depot->fd, digest_text(digest, name)) !=
            0) {
        const int error = errno;

        (void)unlinkat(depot->fd, beside, 0);
        return why_set(why, ERR_IO, "%s", strerror(error));
    }
    depot->bytes += size;
    return ERR_OK;
}

bool depot_default(char *path, size_t capacity)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int size;

    if (cache != NULL && cache[0] == '/')
        size = snprintf(path, capacity, "%s/muster/chunks", cache);
    else if (home != NULL && home[0] == '/')
        size = snprintf(path, capacity, "%s/.cache/muster/chunks", home);
    else
        return false;
    return size > 0 && (size_t)size < capacity;
}
