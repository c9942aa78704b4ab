/*
 * folder.c - system calls behind base/disk.h.
 *
 * A failed sync is final for that descriptor: the kernel marks the lost pages
 * clean and reports the error once, so the kept append descriptor is dropped
 * and whoever asks again gets a new one (core/run/store.c writes a new file).
 */
#include "os/file/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "os/file/file.h"
#include "os/transfer.h"

/* Nothing in a run's folder may make us wait, as opening a pipe does. */
#define OPEN_FLAGS (O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)

static struct folder *folder_of(struct disk *disk)
{
    return (struct folder *)disk;
}

static enum err failed(int error)
{
    if (error == ENOENT)
        return ERR_NOTFOUND;
    if (error == ELOOP || error == ENXIO || error == EISDIR)
        return ERR_DENIED;
    return error == ENOMEM ? ERR_NOMEM : ERR_IO;
}

/* Of what writes: who tells of it has the number. */
static enum err write_failed(struct folder *folder, int error)
{
    folder->error = error;
    return failed(error);
}

/* In the midst of it: whatever the number, it is the disk's failure. */
static enum err disk_failed(struct folder *folder)
{
    folder->error = errno;
    return ERR_IO;
}

static enum err put(struct folder *folder, int fd, const void *data,
                    size_t size)
{
    return transfer_write_all(fd, data, size) == ERR_OK ? ERR_OK
                                                        : disk_failed(folder);
}

static enum err sync_open(struct folder *folder, int fd)
{
    return fsync(fd) == 0 ? ERR_OK : disk_failed(folder);
}

/* A plain file; else -1 with `errno`. */
static int open_plain(const struct folder *folder, const char *name, int flags)
{
    const int fd = openat(folder->fd, name, OPEN_FLAGS | flags, 0600);
    struct stat info;

    if (fd < 0 || (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)))
        return fd;
    (void)close(fd);
    errno = ENXIO;
    return -1;
}

static void forget_append(struct folder *folder)
{
    if (folder->append_fd >= 0)
        (void)close(folder->append_fd);
    folder->append_fd = -1;
    folder->append_name[0] = '\0';
}

static bool is_append(const struct folder *folder, const char *name)
{
    return folder->append_fd >= 0 && strcmp(folder->append_name, name) == 0;
}

static void check_name(const char *name)
{
    CHECK(strlen(name) > 0 && strlen(name) < FOLDER_NAME_SIZE);
    CHECK(strchr(name, '/') == NULL);
}

static enum err folder_write_new(struct disk *disk, const char *name,
                                 const void *data, size_t size)
{
    struct folder *folder = folder_of(disk);
    enum err err;
    int fd;

    check_name(name);
    if (is_append(folder, name))
        forget_append(folder);
    folder->renamed = true;
    fd = open_plain(folder, name, O_WRONLY | O_CREAT | O_TRUNC);
    if (fd < 0)
        return write_failed(folder, errno);
    err = put(folder, fd, data, size);
    if (close(fd) != 0 && err == ERR_OK)
        err = disk_failed(folder);
    return err;
}

static enum err open_append(struct folder *folder, const char *name)
{
    if (is_append(folder, name))
        return ERR_OK;
    forget_append(folder);
    folder->renamed = true;
    folder->append_fd = open_plain(folder, name, O_WRONLY | O_CREAT | O_APPEND);
    if (folder->append_fd < 0)
        return write_failed(folder, errno);
    (void)snprintf(folder->append_name, sizeof folder->append_name, "%s", name);
    return ERR_OK;
}

static enum err folder_append(struct disk *disk, const char *name,
                              const void *data, size_t size)
{
    struct folder *folder = folder_of(disk);
    enum err err;

    check_name(name);
    err = open_append(folder, name);
    if (err == ERR_OK)
        err = put(folder, folder->append_fd, data, size);
    if (err != ERR_OK)
        forget_append(folder);
    return err;
}

static enum err folder_cut(struct disk *disk, const char *name, size_t size)
{
    struct folder *folder = folder_of(disk);
    enum err err = ERR_OK;
    int fd;

    check_name(name);
    fd = open_plain(folder, name, O_WRONLY);
    if (fd < 0)
        return write_failed(folder, errno);
    while (ftruncate(fd, (off_t)size) != 0) {
        if (errno == EINTR)
            continue;
        err = disk_failed(folder);
        break;
    }
    if (close(fd) != 0 && err == ERR_OK)
        err = disk_failed(folder);
    return err;
}

static enum err folder_sync(struct disk *disk, const char *name)
{
    struct folder *folder = folder_of(disk);
    enum err err;
    int fd;

    check_name(name);
    if (is_append(folder, name)) {
        err = sync_open(folder, folder->append_fd);
        if (err != ERR_OK)
            forget_append(folder);
        return err;
    }
    fd = open_plain(folder, name, O_WRONLY);
    if (fd < 0)
        return write_failed(folder, errno);
    err = sync_open(folder, fd);
    (void)close(fd);
    return err;
}

static enum err folder_rename(struct disk *disk, const char *from,
                              const char *to)
{
    struct folder *folder = folder_of(disk);
    int error;

    check_name(from);
    check_name(to);
    if (is_append(folder, from) || is_append(folder, to))
        forget_append(folder);
    folder->renamed = true;
    error = file_rename(folder->fd, from, to);
    return error == 0 ? ERR_OK : write_failed(folder, error);
}

static enum err folder_sync_folder(struct disk *disk)
{
    struct folder *folder = folder_of(disk);

    if (!folder->renamed)
        return ERR_OK;
    if (fsync(folder->fd) != 0)
        return disk_failed(folder);
    folder->renamed = false;
    return ERR_OK;
}

static enum err folder_read(struct disk *disk, const char *name, uint8_t **data,
                            size_t *size)
{
    struct folder *folder = folder_of(disk);
    enum err err;
    int fd;

    check_name(name);
    fd = open_plain(folder, name, O_RDONLY);
    if (fd < 0)
        return failed(errno);
    err = transfer_read_all(fd, FOLDER_FILE_MAX, data, size);
    (void)close(fd);
    return err;
}

static enum err folder_read_at(struct disk *disk, const char *name,
                               uint64_t offset, void *data, size_t size,
                               size_t *got)
{
    const int fd = open_plain(folder_of(disk), name, O_RDONLY);
    uint8_t *to = data;
    ssize_t read = 1;

    if (fd < 0)
        return failed(errno);
    for (*got = 0; *got < size && read != 0;) {
        read = pread(fd, to + *got, size - *got, (off_t)(offset + *got));
        if (read < 0 && errno != EINTR)
            break;
        *got += read > 0 ? (size_t)read : 0;
    }
    (void)close(fd);
    return read < 0 ? ERR_IO : ERR_OK;
}

static const char *folder_words(const struct disk *disk)
{
    return strerror(((const struct folder *)disk)->error);
}

static const struct disk_ops folder_ops = {
    .write_new = folder_write_new,
    .append = folder_append,
    .cut = folder_cut,
    .sync = folder_sync,
    .rename = folder_rename,
    .sync_folder = folder_sync_folder,
    .read = folder_read,
    .read_at = folder_read_at,
    .words = folder_words,
};

enum err folder_open(struct folder *folder, const char *path, struct why *why)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    *folder = (struct folder){
        .disk = {.ops = &folder_ops},
        .fd = fd,
        .renamed = true, /* By a life before, perhaps. */
        .append_fd = -1,
    };
    if (fd < 0)
        return file_read_failed(why, path, errno);
    return ERR_OK;
}

void folder_close(struct folder *folder)
{
    if (folder->disk.ops == NULL)
        return; /* Zeroed. */
    forget_append(folder);
    if (folder->fd >= 0)
        (void)close(folder->fd);
    *folder = (struct folder){.fd = -1, .append_fd = -1};
}
