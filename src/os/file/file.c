/*
 * file.c - whole files by name.
 */
#define _GNU_SOURCE /* realpath, F_OFD_SETLK */
#include "os/file/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file/output.h"
#include "os/random.h"
#include "os/transfer.h"

#define PATH_SIZE   4096u
#define GROUPS_ROOM 256
#define UNMAPPED    65534u /* Linux: a user that is not of our namespace. */

static enum err error_code(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return ERR_NOTFOUND;
    case EACCES:
    case EPERM:
    case ELOOP:
        return ERR_DENIED;
    case EEXIST:
        return ERR_EXISTS;
    case ENOMEM:
        return ERR_NOMEM;
    case EFBIG:
        return ERR_TOOBIG;
    default:
        return ERR_IO;
    }
}

#define CIRCLE                                                                 \
    "symbolic links that lead in a circle; `ls -l` shows where each leads"

enum err file_read_words(struct why *why, int error)
{
    const enum err err = error_code(error);

    if (error == ELOOP)
        return why_set(why, err, CIRCLE);
    if (err == ERR_NOTFOUND)
        return why_set(why, err, "no such file; check the name");
    if (err == ERR_DENIED)
        return why_set(why, err, "not readable; check the file's permissions");
    if (error == EISDIR)
        return why_set(why, err, "is a directory; name a file in it");
    return why_set(why, err, "cannot be read: %s", strerror(error));
}

enum err file_read_failed(struct why *why, const char *path, int error)
{
    return why_in(why, file_read_words(why, error), "%s", path);
}

/* What helps; "" if nothing is known to. */
static const char *write_remedy(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
    case ENOTDIR:
        return "; choose another place";
    case ENOSPC:
    case EDQUOT:
        return "; free some, or choose another place";
    case EFBIG:
        return "; `ulimit -f` says how large a file may be here";
    default:
        return "";
    }
}

enum err file_write_failed(struct why *why, const char *path, int error)
{
    const enum err err = error_code(error);

    if (error == ENOENT)
        return why_set(why, err, "%s: its folder is not there; make it first",
                       path);
    if (error == ELOOP)
        return why_set(why, err, "%s: " CIRCLE, path);
    if (error == EISDIR)
        return why_set(why, err, "%s: is a directory; name a file in it", path);
    if (error == ENXIO)
        return why_set(why, ERR_DENIED,
                       "%s: a named pipe or a socket; name a file", path);
    if (error == FILE_STRANGERS_LINK)
        return why_set(why, ERR_DENIED,
                       "%s: a symbolic link of another user's; name what it "
                       "leads to",
                       path);
    if (error == FILE_STRANGERS_FILE)
        return why_set(why, ERR_DENIED,
                       "%s: another user's file, who could change what is "
                       "written there; name another",
                       path);
    return why_set(why, err, "%s: cannot be written: %s%s", path,
                   strerror(error), write_remedy(error));
}

static enum err read_open(int fd, const char *path, size_t max, uint8_t **data,
                          size_t *size, struct why *why)
{
    struct stat info;
    enum err err;

    /* A hole of many GiB takes no room on the disk, and much here. */
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 &&
        (uint64_t)info.st_size > max)
        err = ERR_TOOBIG;
    else
        err = transfer_read_all(fd, max, data, size);
    if (err == ERR_TOOBIG)
        return why_set(why, err, "%s: larger than %zu bytes", path, max);
    if (err == ERR_NOMEM)
        return why_set(why, err, "%s: out of memory", path);
    if (err != ERR_OK)
        return file_read_failed(why, path, errno);
    return ERR_OK;
}

bool file_is_descriptor(const char *path)
{
    return strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/proc/", 6) == 0;
}

/* Nobody may ever write into it, and to open it is to wait. */
static bool is_named_pipe(const char *path, const struct stat *info)
{
    return S_ISFIFO(info->st_mode) && !file_is_descriptor(path) &&
           strcmp(path, "/dev/stdin") != 0;
}

/* What it reads is waited for, but not that somebody opens it. */
static enum err open_to_read(const char *path, int *fd, struct why *why)
{
    struct stat info;
    bool pipe = stat(path, &info) == 0 && is_named_pipe(path, &info);

    *fd = pipe ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0 && !pipe)
        return file_read_failed(why, path, errno);
    pipe = pipe || (fstat(*fd, &info) == 0 && is_named_pipe(path, &info));
    if (!pipe && fcntl(*fd, F_SETFL, 0) == 0)
        return ERR_OK;
    if (*fd >= 0)
        (void)close(*fd);
    return why_set(why, ERR_DENIED, "%s: a named pipe; name a file", path);
}

enum err file_read(const char *path, size_t max, uint8_t **data, size_t *size,
                   struct why *why)
{
    int fd;
    enum err err = open_to_read(path, &fd, why);

    if (err != ERR_OK)
        return err;
    err = read_open(fd, path, max, data, size, why);
    (void)close(fd);
    return err;
}

enum err file_write_atomic(const char *path, const void *data, size_t size,
                           unsigned mode, struct why *why)
{
    return output_put(path, OUTPUT_OWN, mode, data, size, why);
}

static int make_one(const char *path)
{
    struct stat info;

    if (mkdir(path, 0700) == 0)
        return 0;
    if (errno != EEXIST)
        return errno;
    if (stat(path, &info) != 0)
        return errno;
    return S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
}

static int make_parents(const char *path)
{
    char part[PATH_SIZE];

    if (path[0] == '\0')
        return ENOENT;
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
        return ENAMETOOLONG;
    for (char *slash = strchr(part + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        int error;

        *slash = '\0';
        error = make_one(part);
        *slash = '/';
        if (error != 0)
            return error;
    }
    return 0;
}

enum err file_make_folder(const char *path, struct why *why)
{
    int error = make_parents(path);

    if (error == 0)
        error = make_one(path);
    return error == 0 ? ERR_OK : file_write_failed(why, path, error);
}

enum err file_make_new_folder(const char *path, struct why *why)
{
    int error = make_parents(path);

    if (error == 0 && mkdir(path, 0700) != 0)
        error = errno;
    return error == 0 ? ERR_OK : file_write_failed(why, path, error);
}

/* `advice` ends the sentence. */
static enum err check_owner(const struct stat *info, const char *path,
                            const char *advice, struct why *why)
{
    if (info->st_uid == geteuid())
        return ERR_OK;
    return why_set(why, ERR_DENIED,
                   "%s: belongs to another user (%u, you are %u)%s", path,
                   (unsigned)info->st_uid, (unsigned)geteuid(), advice);
}

bool file_is_foreign(const char *path, struct why *why)
{
    struct stat info;

    return stat(path, &info) == 0 &&
           check_owner(&info, path, "", why) != ERR_OK;
}

/* Many systems give every user a group of the same number, for nobody else. */
static bool others_write(const struct stat *info)
{
    return (info->st_mode & S_IWOTH) != 0 ||
           ((info->st_mode & S_IWGRP) != 0 &&
            (info->st_gid != getegid() || getegid() != geteuid()));
}

/* Where a namespace has not all users, those it lacks have one number, root
 * among them. */
static bool is_unmapped(uid_t user)
{
    unsigned long first, from, count = UINT32_MAX;
    FILE *file;

    if (user != UNMAPPED)
        return false;
    file = fopen("/proc/self/uid_map", "re");
    if (file == NULL)
        return false;
    if (fscanf(file, "%lu %lu %lu", &first, &from, &count) != 3)
        count = UINT32_MAX;
    (void)fclose(file);
    return count < UINT32_MAX;
}

bool file_is_trusted(uint32_t user)
{
    return user == geteuid() || user == 0 || is_unmapped(user);
}

/* Who may write to a folder by its group is meant to share it with the others
 * there: a project's, on a cluster. */
static bool is_shared_with_us(const struct stat *folder)
{
    gid_t groups[GROUPS_ROOM];
    const int count = getgroups(GROUPS_ROOM, groups);

    if ((folder->st_mode & (S_IWGRP | S_IWOTH)) != S_IWGRP)
        return false;
    for (int i = 0; i < count; i++)
        if (groups[i] == folder->st_gid)
            return true;
    return folder->st_gid == getegid();
}

/* May somebody put another entry in the place of this one? */
static enum err check_above(const char *above, const char *entry,
                            struct why *why)
{
    struct stat folder, info;

    if (stat(above, &folder) != 0)
        return file_read_failed(why, above, errno);
    if (lstat(entry, &info) != 0)
        return file_read_failed(why, entry, errno);
    if (!file_is_trusted(folder.st_uid) && !is_shared_with_us(&folder))
        return why_set(why, ERR_DENIED,
                       "%s: belongs to another user (%u, you are %u), who "
                       "could put another folder in the place of %s; choose a "
                       "folder of your own",
                       above, (unsigned)folder.st_uid, (unsigned)geteuid(),
                       entry);
    if ((folder.st_mode & S_IWOTH) == 0)
        return ERR_OK;
    if ((folder.st_mode & S_ISVTX) != 0 && file_is_trusted(info.st_uid))
        return ERR_OK;
    return why_set(why, ERR_DENIED,
                   "%s: others may write to it (mode %04o) and could put "
                   "another folder in the place of %s; run chmod o-w or "
                   "chmod +t on it, or choose another folder",
                   above, (unsigned)(folder.st_mode & 07777), entry);
}

static bool is_within(const char *path, const char *folder)
{
    const size_t size = strlen(folder);

    return strncmp(path, folder, size) == 0 &&
           (path[size] == '/' || path[size] == '\0' || size == 1);
}

/* Every folder on the way along `path`, which is absolute. */
static enum err check_way(const char *path, const char *here, struct why *why)
{
    char above[PATH_SIZE], entry[PATH_SIZE], real[PATH_SIZE];
    enum err err = ERR_OK;

    for (const char *slash = path; err == ERR_OK && slash != NULL;) {
        const char *const next = strchr(slash + 1, '/');
        const size_t size = next == NULL ? strlen(path) : (size_t)(next - path);

        if (size >= PATH_SIZE)
            return file_read_failed(why, path, ENAMETOOLONG);
        (void)snprintf(above, sizeof above, "%.*s",
                       slash == path ? 1 : (int)(slash - path), path);
        (void)snprintf(entry, sizeof entry, "%.*s", (int)size, path);
        if (!file_absolute(above, real, sizeof real))
            return file_read_failed(why, above, errno);
        if (slash[1] != '/' && slash[1] != '\0' && !is_within(here, real))
            err = check_above(above, entry, why);
        slash = next;
    }
    return err;
}

/* As it is said, and where that leads. */
static enum err check_ways(const char *path, struct why *why)
{
    char here[PATH_SIZE], said[PATH_SIZE], real[PATH_SIZE];
    int size;
    enum err err;

    if (!file_absolute(".", here, sizeof here))
        return file_read_failed(why, path, errno);
    if (!file_absolute(path, real, sizeof real)) {
        /* Below a private folder of another user there are no names to
         * follow: what was checked must do. */
        if (errno == EACCES && path[0] != '/')
            return ERR_OK;
        return file_read_failed(why, path, errno);
    }
    size = path[0] == '/' ? snprintf(said, sizeof said, "%s", path)
                          : snprintf(said, sizeof said, "%s/%s", here, path);
    if (size < 0 || (size_t)size >= sizeof said)
        return file_read_failed(why, path, ENAMETOOLONG);
    err = check_way(said, here, why);
    return err == ERR_OK ? check_way(real, here, why) : err;
}

enum err file_check_folder(const char *path, struct why *why)
{
    static const char advice[] = ", who could change what is in it; choose a "
                                 "folder of your own";
    struct stat info;
    enum err err;

    if (lstat(path, &info) != 0)
        return file_read_failed(why, path, errno);
    err = check_owner(&info, path, advice, why);
    if (err == ERR_OK && stat(path, &info) != 0)
        return file_read_failed(why, path, errno);
    if (err == ERR_OK && !S_ISDIR(info.st_mode))
        return file_write_failed(why, path, ENOTDIR);
    if (err == ERR_OK)
        err = check_owner(&info, path, advice, why);
    if (err == ERR_OK && others_write(&info))
        err = why_set(why, ERR_DENIED,
                      "%s: others may write to it (mode %03o); run chmod go-w "
                      "on it, or choose another folder",
                      path, (unsigned)(info.st_mode & 0777));
    return err == ERR_OK ? check_ways(path, why) : err;
}

bool file_absolute(const char *path, char *out, size_t capacity)
{
    char *found = realpath(path, NULL);
    const size_t size = found == NULL ? 0 : strlen(found) + 1;

    if (size > 0 && size <= capacity)
        memcpy(out, found, size);
    free(found);
    return size > 0 && size <= capacity;
}

bool file_read_link(const char *path, char *out, size_t capacity)
{
    const ssize_t size = readlink(path, out, capacity);
    const bool fits = size > 0 && (size_t)size < capacity;

    out[fits ? size : 0] = '\0';
    return fits;
}

int file_rename(int folder, const char *from, const char *to)
{
    return renameat(folder, from, folder, to) == 0 ? 0 : errno;
}

int file_take_place(int folder, const char *from, const char *to)
{
    const int error = file_rename(folder, from, to);

    if (error != 0)
        (void)unlinkat(folder, from, 0);
    return error;
}

bool file_cache_path(const char *under, char *path, size_t capacity)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int size = -1;

    if (cache != NULL && cache[0] == '/')
        size = snprintf(path, capacity, "%s/muster%s", cache, under);
    else if (home != NULL && home[0] == '/')
        size = snprintf(path, capacity, "%s/.cache/muster%s", home, under);
    return size > 0 && (size_t)size < capacity;
}

enum err file_link_atomic(const char *target, const char *path, struct why *why)
{
    char temporary[PATH_SIZE];
    int error;

    if (snprintf(temporary, sizeof temporary, "%s.tmp.%016" PRIx64, path,
                 random_u64()) >= (int)sizeof temporary)
        return file_write_failed(why, path, ENAMETOOLONG);
    if (symlink(target, temporary) != 0)
        return file_write_failed(why, path, errno);
    error = file_take_place(AT_FDCWD, temporary, path);
    return error == 0 ? ERR_OK : file_write_failed(why, path, error);
}

void file_names(const char *folder,
                void (*see)(void *context, const char *name), void *context)
{
    DIR *open = opendir(folder);
    const struct dirent *entry;

    if (open == NULL)
        return;
    while ((entry = readdir(open)) != NULL)
        see(context, entry->d_name);
    (void)closedir(open);
}

void file_path_in(const char *folder, const char *name,
                  char path[FILE_PATH_SIZE])
{
    const int size = snprintf(path, FILE_PATH_SIZE, "%s/%s", folder, name);

    if (size < 0 || (size_t)size >= FILE_PATH_SIZE)
        path[0] = '\0';
}

enum err file_find(const char *path, struct why *why)
{
    struct stat info;

    return stat(path, &info) == 0 ? ERR_OK : file_read_failed(why, path, errno);
}

bool file_exists(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0;
}

bool file_is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool file_is_link(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

void file_remove(const char *path)
{
    (void)unlink(path);
}

bool file_remove_first(const char *path)
{
    return unlink(path) == 0;
}

void file_remove_folder(const char *path)
{
    (void)rmdir(path);
}

static enum err check_plain(const struct stat *info, const char *path,
                            struct why *why)
{
    return S_ISREG(info->st_mode)
               ? ERR_OK
               : why_set(why, ERR_DENIED, "%s: not a plain file", path);
}

static enum err check_private(const struct stat *info, const char *path,
                              struct why *why)
{
    if (!S_ISREG(info->st_mode))
        return check_plain(info, path, why);
    if (info->st_uid != geteuid())
        return why_set(why, ERR_DENIED,
                       "%s: belongs to another user; a secret must be yours",
                       path);
    if ((info->st_mode & 077) != 0)
        return why_set(why, ERR_DENIED,
                       "%s: others may read it (mode %03o); run chmod 600 on "
                       "it, or make a new one",
                       path, (unsigned)(info->st_mode & 0777));
    return ERR_OK;
}

typedef enum err (*file_check)(const struct stat *info, const char *path,
                               struct why *why);

static enum err check_at(const char *path, file_check check, struct why *why)
{
    struct stat info;

    if (lstat(path, &info) != 0)
        return file_read_failed(why, path, errno);
    return check(&info, path, why);
}

enum err file_check_private(const char *path, struct why *why)
{
    return check_at(path, check_private, why);
}

static enum err read_checked(const char *path, file_check check, size_t max,
                             uint8_t **data, size_t *size, struct why *why)
{
    /* Opening a pipe must not wait for whoever writes to it. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat info;
    enum err err = ERR_OK;

    if (fd < 0 && errno == ELOOP)
        return why_set(why, ERR_DENIED, "%s: not a plain file", path);
    if (fd < 0)
        return file_read_failed(why, path, errno);
    if (fstat(fd, &info) != 0)
        err = file_read_failed(why, path, errno);
    if (err == ERR_OK)
        err = check(&info, path, why);
    if (err == ERR_OK)
        err = read_open(fd, path, max, data, size, why);
    (void)close(fd);
    return err;
}

enum err file_read_private(const char *path, size_t max, uint8_t **data,
                           size_t *size, struct why *why)
{
    return read_checked(path, check_private, max, data, size, why);
}

enum err file_read_plain(const char *path, size_t max, uint8_t **data,
                         size_t *size, struct why *why)
{
    return read_checked(path, check_plain, max, data, size, why);
}

/* Whoever held it before may have removed it while we waited to be let in: then
 * another is in its place, or will be. */
static bool is_at(const struct stat *info, const char *path)
{
    struct stat now;

    return lstat(path, &now) == 0 && now.st_dev == info->st_dev &&
           now.st_ino == info->st_ino;
}

enum err file_lock(const char *path, int *fd, struct why *why)
{
    const int made = open(
        path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat info;

    if (made < 0 && errno == ELOOP)
        return why_set(why, ERR_DENIED, "%s: not a plain file", path);
    if (made < 0)
        return file_write_failed(why, path, errno);
    if (fstat(made, &info) != 0 || check_plain(&info, path, why) != ERR_OK) {
        (void)close(made);
        return ERR_DENIED;
    }
    if (fcntl(made, F_OFD_SETLK, &lock) != 0) {
        (void)close(made);
        return why_set(why, ERR_EXISTS, "%s: held by another process", path);
    }
    if (!is_at(&info, path)) {
        (void)close(made);
        return why_set(why, ERR_EXISTS, "%s: another process just left it",
                       path);
    }
    *fd = made;
    return ERR_OK;
}

void file_unlock(int fd)
{
    (void)close(fd);
}

bool file_locked(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    bool held;

    if (fd < 0)
        return false;
    held = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    (void)close(fd);
    return held;
}
