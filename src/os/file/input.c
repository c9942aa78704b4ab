/*
 * input.c - positioned reads (pread) of a plain file, and whether the file
 * changed while it was read.
 */
#include "os/file/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file/file.h"

bool input_is_stream(const char *path)
{
    struct stat found;

    return strcmp(path, "-") == 0 ||
           (stat(path, &found) == 0 && !S_ISREG(found.st_mode) &&
            !S_ISDIR(found.st_mode));
}

bool input_is_device(const char *path)
{
    struct stat found;

    return stat(path, &found) == 0 &&
           (S_ISCHR(found.st_mode) || S_ISBLK(found.st_mode));
}

enum err input_open(struct input *input, const char *path, struct why *why)
{
    struct input_identity identity;
    struct stat found;
    int fd;

    if (stat(path, &found) == 0 && S_ISFIFO(found.st_mode))
        return ERR_UNSUPPORTED; /* Whoever writes into it would notice. */
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return file_read_failed(why, path, errno);
    if (!input_look(fd, &identity)) {
        (void)close(fd);
        return ERR_UNSUPPORTED;
    }
    *input = (struct input){.fd = fd, .identity = identity};
    return ERR_OK;
}

void input_close(struct input *input)
{
    (void)close(input->fd);
    input->fd = -1;
}

enum err input_read_at(const struct input *input, uint64_t offset, void *out,
                       size_t size, size_t *got)
{
    size_t have = 0;

    while (have < size) {
        const ssize_t more = pread(input->fd, (char *)out + have, size - have,
                                   (off_t)(offset + have));

        if (more < 0 && errno == EINTR)
            continue;
        if (more < 0)
            return ERR_IO;
        if (more == 0)
            break;
        have += (size_t)more;
    }
    *got = have;
    return ERR_OK;
}

static int64_t in_ns(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

bool input_look(int fd, struct input_identity *identity)
{
    struct stat stat;

    if (fstat(fd, &stat) != 0 || !S_ISREG(stat.st_mode))
        return false;
    *identity = (struct input_identity){
        .device = stat.st_dev,
        .inode = stat.st_ino,
        .size = (uint64_t)stat.st_size,
        .modified_ns = in_ns(stat.st_mtim),
        .changed_ns = in_ns(stat.st_ctim),
    };
    return true;
}

/* New names and permissions change a file too, but not what is in it. */
bool input_unchanged(const struct input_identity *before,
                     const struct input_identity *after)
{
    return before->size == after->size &&
           before->modified_ns == after->modified_ns;
}
