#define _XOPEN_SOURCE 700 /* fchown */
/*
 * output.c - atomic replacement of files (write beside, sync, rename), links,
 * devices and standard output included.  Whatever a user names is written
 * through here, so that nothing is ever half written.
 */
#include "os/file/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file/file.h"
#include "os/random.h"
#include "os/transfer.h"

#define PATH_SIZE 4096u
#define LINKS_MAX 40u
#define MODE_BITS 0777u
#define NAME_CUT  200u

enum { BUFFER_SIZE = 1 << 18 };

struct output {
    int fd;
    int error; /* errno of the first failure. */
    size_t used;
    char path[PATH_SIZE];           /* Links followed. */
    char temporary[PATH_SIZE + 32]; /* "": none. */
    uint8_t buffer[BUFFER_SIZE];
};

/* Where the bytes for "-" go, once standard output is taken. */
static int stdout_fd = STDOUT_FILENO;

bool output_is_stdout(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 ||
           strcmp(path, "/dev/fd/1") == 0 ||
           strcmp(path, "/proc/self/fd/1") == 0;
}

enum err output_take_stdout(struct why *why)
{
    int fd;

    if (stdout_fd != STDOUT_FILENO)
        return ERR_OK;
    fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return file_write_failed(why, "standard output", errno);
    stdout_fd = fd;
    return ERR_OK;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool output_is_file(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

unsigned output_mode_of(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode)
               ? 0600 | (info.st_mode & 0044)
               : 0644;
}

bool output_is_filled(const char *path)
{
    const int fd = output_is_file(path)
                       ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                       : -1;
    char first;
    bool filled;

    if (fd < 0)
        return output_is_file(path); /* Who knows what is in it. */
    filled = read(fd, &first, 1) != 0;
    (void)close(fd);
    return filled;
}

bool output_is_input(const char *input, const char *path)
{
    struct stat in, out;

    if (stat(path, &out) != 0 || !S_ISREG(out.st_mode))
        return false;
    return (strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &in)
                                    : stat(input, &in)) == 0 &&
           same_file(&in, &out);
}

/* The descriptor of ours that goes there already, or -1.  Whoever opened that,
 * the shell, say, would not see a file put in its place. */
static int open_stream(const struct stat *info)
{
    const int mine[] = {stdout_fd, STDERR_FILENO};
    struct stat one;

    for (size_t i = 0; i < sizeof mine / sizeof *mine; i++) {
        if (fstat(mine[i], &one) == 0 && same_file(&one, info))
            return mine[i];
    }
    return -1;
}

/* One link on: what it says counts from the folder that it is in. */
static int follow_once(char path[PATH_SIZE])
{
    char copy[PATH_SIZE], target[PATH_SIZE], joined[2 * PATH_SIZE];
    const ssize_t size = readlink(path, target, sizeof target - 1);
    int length;

    if (size < 0)
        return errno;
    target[size] = '\0';
    (void)snprintf(copy, sizeof copy, "%s", path);
    length = target[0] == '/' ? snprintf(joined, sizeof joined, "%s", target)
                              : snprintf(joined, sizeof joined, "%s/%s",
                                         dirname(copy), target);
    if (length >= (int)PATH_SIZE)
        return ENAMETOOLONG;
    memcpy(path, joined, (size_t)length + 1);
    return 0;
}

/* To what is not a link, there or not.  A stranger's link is a trap: he says
 * what is written over, with our rights.  Of the kernel, fs.protected_symlinks
 * refuses it in folders such as /tmp alone, if that is on. */
static int follow_links(char path[PATH_SIZE])
{
    struct stat info;

    for (uint32_t i = 0; lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
         i++) {
        const int error = i == LINKS_MAX                  ? ELOOP
                          : !file_is_trusted(info.st_uid) ? FILE_STRANGERS_LINK
                                                          : follow_once(path);

        if (error != 0)
            return error;
    }
    return 0;
}

static int check_links(const char *path)
{
    char copy[PATH_SIZE];

    (void)snprintf(copy, sizeof copy, "%s", path);
    return follow_links(copy);
}

/* What is at the end of the links, of which nothing that was seen before they
 * were followed is believed: they may have been changed since. */
static int look_at_end(const char *path, struct stat *info, bool *there)
{
    *there = lstat(path, info) == 0;
    if (!*there)
        return errno == ENOENT ? 0 : errno;
    if (S_ISDIR(info->st_mode))
        return EISDIR;
    return S_ISREG(info->st_mode) ? 0 : EBUSY;
}

/* The group's rights are for the old group alone. */
static mode_t without_group(mode_t mode)
{
    return (mode & 0707) | ((mode & 07) << 3);
}

/* The bytes that were checked, not a stranger's: a folder may be open to all.
 */
static int check_own(int fd)
{
    struct stat info;

    if (fstat(fd, &info) != 0)
        return errno;
    return S_ISREG(info.st_mode) && info.st_uid == geteuid() ? 0 : EPERM;
}

/* As the file that is replaced; nobody gains a right by it.  A stranger's file
 * says nothing of who may write to ours: it can only take rights away. */
static int take_after(int fd, const struct stat *old)
{
    mode_t mode = old->st_mode & MODE_BITS;
    struct stat made;

    if (fstat(fd, &made) != 0)
        return errno;
    if (old->st_uid != geteuid())
        mode = without_group(mode) & made.st_mode & MODE_BITS & ~(mode_t)022;
    else if (fchown(fd, (uid_t)-1, old->st_gid) != 0)
        mode = without_group(mode);
    return fchmod(fd, mode) == 0 ? 0 : errno;
}

/* A name may be as long as the folder allows: its own is cut then. */
static void name_beside(struct output *output)
{
    const char *slash = strrchr(output->path, '/');
    const size_t folder =
        slash == NULL ? 0 : (size_t)(slash + 1 - output->path);
    const size_t whole = strlen(output->path);

    (void)snprintf(output->temporary, sizeof output->temporary,
                   "%.*s.tmp.%016" PRIx64,
                   (int)(whole < folder + NAME_CUT ? whole : folder + NAME_CUT),
                   output->path, random_u64());
}

static int open_beside(struct output *output, unsigned mode,
                       const struct stat *old)
{
    int error;

    name_beside(output);
    output->fd =
        open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (output->fd < 0)
        return errno;
    error = old != NULL ? take_after(output->fd, old) : 0;
    if (error != 0) {
        (void)close(output->fd);
        (void)unlink(output->temporary);
    }
    return error;
}

/* Must be new: a link in that place is in the way, too. */
static int open_new(struct output *output, unsigned mode)
{
    output->fd =
        open(output->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (output->fd < 0)
        return errno;
    /* To be removed if it is dropped; renamed to itself, it stays. */
    (void)snprintf(output->temporary, sizeof output->temporary, "%s",
                   output->path);
    return 0;
}

/* To open a pipe by its name is to wait for who reads it, perhaps for ever;
 * into what is open already one may write at once. */
static bool keeps_waiting(const char *path, const struct stat *info)
{
    return S_ISSOCK(info->st_mode) ||
           (S_ISFIFO(info->st_mode) && !file_is_descriptor(path));
}

/* What is no file, or a file that is open already, by the name it was seen
 * under. */
static int open_through(struct output *output, const struct stat *seen)
{
    const int error = check_links(output->path);
    struct stat info;

    if (error != 0)
        return error;
    if (keeps_waiting(output->path, seen))
        return ENXIO;
    output->fd = open(output->path, O_WRONLY | O_CLOEXEC | O_APPEND);
    if (output->fd < 0)
        return errno;
    if (file_is_descriptor(output->path) ||
        (fstat(output->fd, &info) == 0 && same_file(&info, seen)))
        return 0;
    (void)close(output->fd);
    return EBUSY;
}

/* Nothing takes the place of a file that grows: it stays its owner's, with his
 * mode. */
static int open_live(struct output *output, unsigned mode, bool there)
{
    int error;

    output->fd =
        open(output->path,
             O_WRONLY | O_CLOEXEC | O_NOFOLLOW | (there ? 0 : O_CREAT | O_EXCL),
             mode);
    if (output->fd < 0)
        return errno;
    error = there ? check_own(output->fd) : 0;
    if (error == 0 && there && ftruncate(output->fd, 0) != 0)
        error = errno;
    if (error != 0)
        (void)close(output->fd);
    return error == EPERM ? FILE_STRANGERS_FILE : error;
}

static int open_copy(struct output *output, int fd)
{
    output->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return output->fd < 0 ? errno : 0;
}

static int open_file(struct output *output, enum output_way way, unsigned mode)
{
    struct stat info;
    bool there = false;
    int error = follow_links(output->path);

    if (error == 0)
        error = look_at_end(output->path, &info, &there);
    if (error == 0 && there && access(output->path, W_OK) != 0)
        error = errno;
    if (error != 0)
        return error;
    return way == OUTPUT_LIVE ? open_live(output, mode, there)
                              : open_beside(output, mode, there ? &info : NULL);
}

static int open_named(struct output *output, enum output_way way, unsigned mode)
{
    struct stat info;
    const bool there = stat(output->path, &info) == 0;
    const int error = there || errno == ENOENT ? 0 : errno;
    const int stream = output_is_stdout(output->path) ? stdout_fd
                       : there                        ? open_stream(&info)
                                                      : -1;

    if (stream >= 0)
        return open_copy(output, stream);
    if (error != 0)
        return error;
    if (there && S_ISDIR(info.st_mode))
        return EISDIR;
    if (there && (!S_ISREG(info.st_mode) || file_is_descriptor(output->path)))
        return open_through(output, &info);
    return open_file(output, way, mode);
}

static int open_way(struct output *output, enum output_way way, unsigned mode)
{
    if (way == OUTPUT_OWN)
        return open_beside(output, mode, NULL);
    return way == OUTPUT_NEW ? open_new(output, mode)
                             : open_named(output, way, mode);
}

enum err output_open(struct output **output, const char *path,
                     enum output_way way, unsigned mode, struct why *why)
{
    struct output *made = mem_new(1, sizeof *made);
    int error;

    if (made == NULL)
        return why_set(why, ERR_NOMEM, "%s: out of memory", path);
    if (snprintf(made->path, sizeof made->path, "%s", path) >=
        (int)sizeof made->path)
        error = ENAMETOOLONG;
    else
        error = open_way(made, way, mode);
    if (error != 0) {
        mem_free(made);
        return file_write_failed(why, path, error);
    }
    *output = made;
    return ERR_OK;
}

/* Standard output, a pipe or a device: nothing is put beside those. */
static bool is_through(const char *path)
{
    struct stat info;

    return output_is_stdout(path) ||
           (stat(path, &info) == 0 && !S_ISREG(info.st_mode) &&
            !S_ISDIR(info.st_mode));
}

/* Asked without opening it, of which who reads would be told. */
static int check_through(const char *path)
{
    const int error = check_links(path);
    struct stat info;

    if (error != 0)
        return error;
    if (stat(path, &info) != 0)
        return errno;
    if (open_stream(&info) < 0 && keeps_waiting(path, &info))
        return ENXIO;
    return access(path, W_OK) == 0 ? 0 : errno;
}

/* Signals that end a program wait: half a file is never left beside the one
 * that it was to become.  Our other threads take no signals (os/run/thread.c).
 */
static void hold_signals(sigset_t *before)
{
    sigset_t all;

    (void)sigfillset(&all);
    (void)sigdelset(&all, SIGBUS);
    (void)pthread_sigmask(SIG_BLOCK, &all, before);
}

static void release_signals(const sigset_t *before)
{
    (void)pthread_sigmask(SIG_SETMASK, before, NULL);
}

enum err output_check(const char *path, struct why *why)
{
    struct output *output = NULL;
    sigset_t before;
    enum err err;

    if (output_is_stdout(path))
        return ERR_OK;
    if (is_through(path)) {
        const int error = check_through(path);

        return error == 0 ? ERR_OK : file_write_failed(why, path, error);
    }
    hold_signals(&before);
    err = output_open(&output, path, OUTPUT_WHOLE, 0600, why);
    if (err == ERR_OK)
        output_abort(output);
    release_signals(&before);
    return err;
}

static void write_out(struct output *output, const void *data, size_t size)
{
    if (output->error == 0 && size > 0 &&
        transfer_write_all(output->fd, data, size) != ERR_OK)
        output->error = errno;
}

void output_write(struct output *output, const void *data, size_t size)
{
    if (size > BUFFER_SIZE - output->used) {
        write_out(output, output->buffer, output->used);
        output->used = 0;
    }
    if (size >= BUFFER_SIZE) {
        write_out(output, data, size);
    } else if (size > 0) {
        memcpy(output->buffer + output->used, data, size);
        output->used += size;
    }
}

static void drop_temporary(const struct output *output)
{
    if (output->temporary[0] != '\0')
        (void)unlink(output->temporary);
}

/* What is no file has nothing to be synced to. */
static int sync_file(int fd)
{
    if (fsync(fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP)
        return 0;
    return errno;
}

/* To be synced; -1 if it may be written, but not read: then it is not. */
static int open_parent(const char *path, int *fd)
{
    char copy[PATH_SIZE];

    (void)snprintf(copy, sizeof copy, "%s", path);
    *fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *fd >= 0 || errno == EACCES ? 0 : errno;
}

/* What can be refused is asked before the rename: after it, the file is there.
 */
static int take_place(const struct output *output)
{
    int error, parent;

    if (output->temporary[0] == '\0')
        return 0;
    error = open_parent(output->path, &parent);
    if (error != 0)
        drop_temporary(output);
    else
        error = file_take_place(AT_FDCWD, output->temporary, output->path);
    if (error == 0 && parent >= 0)
        error = sync_file(parent);
    if (parent >= 0)
        (void)close(parent);
    return error;
}

enum err output_commit(struct output *output, struct why *why)
{
    enum err err = ERR_OK;

    write_out(output, output->buffer, output->used);
    if (output->error == 0)
        output->error = sync_file(output->fd);
    if (close(output->fd) != 0 && output->error == 0)
        output->error = errno;
    if (output->error != 0)
        drop_temporary(output);
    else
        output->error = take_place(output);
    if (output->error != 0)
        err = file_write_failed(why, output->path, output->error);
    mem_free(output);
    return err;
}

void output_abort(struct output *output)
{
    if (output == NULL)
        return;
    (void)close(output->fd);
    drop_temporary(output);
    mem_free(output);
}

static enum err put(const char *path, enum output_way way, unsigned mode,
                    const void *data, size_t size, struct why *why)
{
    struct output *output = NULL;
    const enum err err = output_open(&output, path, way, mode, why);

    if (err != ERR_OK || output == NULL)
        return err;
    output_write(output, data, size);
    return output_commit(output, why);
}

enum err output_put(const char *path, enum output_way way, unsigned mode,
                    const void *data, size_t size, struct why *why)
{
    sigset_t before;
    enum err err;

    if (is_through(path)) /* Who waits for a reader may be told not to. */
        return put(path, way, mode, data, size, why);
    hold_signals(&before);
    err = put(path, way, mode, data, size, why);
    release_signals(&before);
    return err;
}

enum err output_save(const char *path, const void *data, size_t size,
                     struct why *why)
{
    return output_put(path, OUTPUT_WHOLE, 0644, data, size, why);
}

/* As `like` is, before the first byte is in it. */
static enum err put_like(const char *path, const struct stat *like,
                         const void *data, size_t size, struct why *why)
{
    struct output *output = NULL;
    enum err err = output_open(&output, path, OUTPUT_OWN, 0600, why);

    if (err != ERR_OK || output == NULL)
        return err;
    output->error = take_after(output->fd, like);
    output_write(output, data, size);
    return output_commit(output, why);
}

enum err output_put_like(const char *path, const char *like, const void *data,
                         size_t size, struct why *why)
{
    struct stat info;
    sigset_t before;
    enum err err;

    if (stat(like, &info) != 0)
        return file_read_failed(why, like, errno);
    hold_signals(&before);
    err = put_like(path, &info, data, size, why);
    release_signals(&before);
    return err;
}

enum err output_target(const char *path, char *target, size_t capacity,
                       struct why *why)
{
    char copy[PATH_SIZE];
    struct stat info;
    int error = 0;

    if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy)
        error = ENAMETOOLONG;
    if (error == 0)
        error = follow_links(copy);
    if (error == 0 && strlen(copy) >= capacity)
        error = ENAMETOOLONG;
    if (error == 0 && (output_is_stdout(path) ||
                       (stat(copy, &info) == 0 && !S_ISREG(info.st_mode))))
        return why_set(why, ERR_DENIED, "%s: not a plain file; name a file",
                       path);
    if (error != 0)
        return file_write_failed(why, path, error);
    memcpy(target, copy, strlen(copy) + 1);
    return ERR_OK;
}

enum err output_place(const char *part, const char *target, struct why *why)
{
    struct stat old;
    bool there = false;
    const int fd = open(part, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    int error = fd < 0 ? errno : look_at_end(target, &old, &there);

    if (error == 0)
        error = check_own(fd);
    if (error == 0 && there)
        error = take_after(fd, &old);
    if (error == 0)
        error = sync_file(fd);
    if (fd >= 0)
        (void)close(fd);
    if (error == 0) /* If that fails `part` stays: it may be half a day's. */
        error = file_rename(AT_FDCWD, part, target);
    return error == 0 ? ERR_OK : file_write_failed(why, target, error);
}
