/*
 * depot.c - a content-addressed cache on disk with a cap on its bytes.
 * Processes that share a folder agree by a lock on the file of the count, which
 * nobody waits for without an end.
 */
#include "os/file/depot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file/file.h"
#include "os/transfer.h"

#define HOLD_MS 1000
#define BESIDE  ".new" /* A piece that is being written. */

#define COUNT ".bytes" /* What all pieces take, for all who share them. */

struct depot {
    int fd;
    int count_fd; /* COUNT; locked by who changes the folder. */
    uint64_t bytes_max;
    uint64_t bytes; /* Of all pieces; true while the lock is held. */
    bool busy;      /* It was not to be had last time. */
    /* Threads of this process: the folder's lock is held for all of them. */
    pthread_mutex_t writing;
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

/* Everything in the folder. */
static enum err look(const struct depot *depot, struct pieces *pieces)
{
    const int fd = openat(depot->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
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

/* What the others have put there is known once it is held.  Who holds it writes
 * one piece; one that was stopped then is not waited for twice.  It is asked
 * for again and again, because a lock that is waited for in the kernel has no
 * time limit: whoever shares a folder with a stopped process would neither read
 * on nor end. */
static bool hold(struct depot *depot)
{
    uint64_t bytes = 0;

    for (int tries = depot->busy ? 1 : HOLD_MS;
         flock(depot->count_fd, LOCK_EX | LOCK_NB) != 0; tries--) {
        depot->busy = tries <= 1;
        if (depot->busy || (errno != EWOULDBLOCK && errno != EINTR))
            return false;
        (void)poll(NULL, 0, 1);
    }
    depot->busy = false;
    if (pread(depot->count_fd, &bytes, sizeof bytes, 0) == sizeof bytes)
        depot->bytes = bytes;
    else
        depot->bytes = depot->bytes_max; /* It is counted again. */
    return true;
}

/* The sum may be another's mistake. */
static void uncount(struct depot *depot, uint64_t bytes)
{
    depot->bytes -= bytes < depot->bytes ? bytes : depot->bytes;
}

static void let_go(const struct depot *depot)
{
    (void)!pwrite(depot->count_fd, &depot->bytes, sizeof depot->bytes, 0);
    (void)flock(depot->count_fd, LOCK_UN);
}

static enum err open_count(struct depot *depot)
{
    struct stat info;

    depot->count_fd =
        openat(depot->fd, COUNT,
               O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    return depot->count_fd >= 0 && fstat(depot->count_fd, &info) == 0 &&
                   S_ISREG(info.st_mode)
               ? ERR_OK
               : ERR_IO;
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
    (void)pthread_mutex_init(&made->writing, NULL);
    made->bytes_max = bytes_max;
    made->count_fd = -1;
    made->fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (made->fd < 0) {
        mem_free(made);
        return file_write_failed(why, folder, errno);
    }
    err = open_count(made);
    if (err == ERR_OK && hold(made)) {
        err = make_room(made, 0);
        let_go(made);
    }
    if (err != ERR_OK) {
        depot_close(made);
        return why_set(why, err, "%s: cannot be used: %s", folder,
                       err_text(err));
    }
    *depot = made;
    return ERR_OK;
}

void depot_close(struct depot *depot)
{
    if (depot == NULL)
        return;
    if (depot->count_fd >= 0)
        (void)close(depot->count_fd);
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

/* Another process may have found the same damage, and put a whole piece in its
 * place since: `fd` is still open, so no other file can have its number. */
static void discard(struct depot *depot, const char *name, int fd)
{
    struct stat damaged, there;

    (void)pthread_mutex_lock(&depot->writing);
    if (hold(depot)) {
        if (fstat(fd, &damaged) == 0 &&
            fstatat(depot->fd, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
            there.st_ino == damaged.st_ino && there.st_dev == damaged.st_dev &&
            unlinkat(depot->fd, name, 0) == 0)
            uncount(depot, (uint64_t)there.st_size);
        let_go(depot);
    }
    (void)pthread_mutex_unlock(&depot->writing);
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
    if (err == ERR_TOOBIG || (err == ERR_OK && !digest_equal(&found, digest))) {
        discard(depot, name, fd);
        err = ERR_MISMATCH;
    }
    (void)close(fd);
    if (err == ERR_OK)
        *size = got;
    return err;
}

/* One at a time writes; what a killed one left is written over. */
static int write_piece(const struct depot *depot, const char *name,
                       const uint8_t *bytes, size_t size)
{
    const int fd =
        openat(depot->fd, BESIDE,
               O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    int error = 0;

    if (fd < 0)
        return errno;
    if (transfer_write_all(fd, bytes, size) != ERR_OK)
        error = errno;
    if (close(fd) != 0 && error == 0)
        error = errno;
    if (error != 0)
        (void)unlinkat(depot->fd, BESIDE, 0);
    return error != 0 ? error : file_take_place(depot->fd, BESIDE, name);
}

/* What is there under the name, damaged or not; 0: nothing. */
static uint64_t taken(const struct depot *depot, const struct digest *digest,
                      size_t size, bool *whole)
{
    char name[DIGEST_TEXT];
    struct digest is = {0};
    size_t there = 0, got = 0;
    uint8_t *bytes;
    int fd;

    *whole = false;
    if (depot_size(depot, digest, &there) != ERR_OK || there != size)
        return there;
    bytes = mem_new(size, 1);
    fd = openat(depot->fd, digest_text(digest, name),
                O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (bytes != NULL && fd >= 0 && read_whole(fd, bytes, size, &got) == ERR_OK)
        is = hash_bytes(bytes, got);
    *whole = digest_equal(&is, digest);
    if (fd >= 0)
        (void)close(fd);
    mem_free(bytes);
    return there;
}

/* The folder is held. */
static enum err put_held(struct depot *depot, const struct digest *digest,
                         const uint8_t *bytes, size_t size, struct why *why)
{
    char name[DIGEST_TEXT];
    bool whole;
    const uint64_t there = taken(depot, digest, size, &whole);
    int error;

    if (whole)
        return ERR_OK; /* Another process was first. */
    if (there > 0 && unlinkat(depot->fd, digest_text(digest, name), 0) == 0)
        uncount(depot, there);
    if (depot->bytes + size > depot->bytes_max &&
        make_room(depot, size) != ERR_OK)
        return why_set(why, ERR_IO, "the folder cannot be listed");
    error = write_piece(depot, digest_text(digest, name), bytes, size);
    if (error != 0)
        return why_set(why, ERR_IO, "%s", strerror(error));
    depot->bytes += size;
    return ERR_OK;
}

enum err depot_put(struct depot *depot, const struct digest *digest,
                   const uint8_t *bytes, size_t size, struct why *why)
{
    const struct digest is = hash_bytes(bytes, size);
    enum err err;

    if (!digest_equal(&is, digest))
        return ERR_MISMATCH;
    if (size > depot->bytes_max)
        return ERR_OK; /* It would drive out everything else. */
    (void)pthread_mutex_lock(&depot->writing);
    err = ERR_OK; /* If others hold it: fetched again some day. */
    if (hold(depot)) {
        err = put_held(depot, digest, bytes, size, why);
        let_go(depot);
    }
    (void)pthread_mutex_unlock(&depot->writing);
    return err;
}

bool depot_default(char *path, size_t capacity)
{
    return file_cache_path("/chunks", path, capacity);
}
