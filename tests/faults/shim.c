/*
 * shim.c - a library to preload: the k-th call of a kind fails.
 *
 *   MUSTER_SHIM_KIND   memory | long | write | sync | open | rename | read
 *   MUSTER_SHIM_AT     which call fails, from 1; 0 = none
 *   MUSTER_SHIM_ERROR  the error number; 0 = the call is cut short by half
 *   MUSTER_SHIM_SIGNAL instead of failing, the call is made after this signal
 *   MUSTER_SHIM_EVER   1: all later calls fail, too
 *   MUSTER_SHIM_ALONE  1: those that the process forks are left in peace
 *   MUSTER_SHIM_COUNT  file to which each process appends its count at exit
 *
 * `memory` is what base/mem.c asks for: aligned_alloc, which nobody else calls,
 * and calloc of long blocks, if the call is the program's own and not a
 * library's; `long` is these alone.  Of the files only those that the process
 * opens itself are touched; standard streams are not, so that it can say what
 * is wrong.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define LONG (1u << 20) /* As in base/mem.c. */

static atomic_long seen;
static pid_t first; /* That was started, and forked the others. */

__attribute__((constructor)) static void begin(void)
{
    first = getpid();
}

static long number(const char *name)
{
    const char *text = getenv(name);

    return text == NULL ? 0 : strtol(text, NULL, 10);
}

/* Is this call, of that kind, to fail? */
static bool fails(const char *kind)
{
    const char *wanted = getenv("MUSTER_SHIM_KIND");
    const long at = number("MUSTER_SHIM_AT");
    long now;

    if (wanted == NULL || strcmp(wanted, kind) != 0 ||
        (number("MUSTER_SHIM_ALONE") && getpid() != first))
        return false;
    now = atomic_fetch_add(&seen, 1) + 1;
    if (now == at && number("MUSTER_SHIM_SIGNAL") > 0) {
        (void)kill(getpid(), (int)number("MUSTER_SHIM_SIGNAL"));
        return false;
    }
    return at > 0 && (now == at || (now > at && number("MUSTER_SHIM_EVER")));
}

static bool plain_file(int fd)
{
    struct stat about;

    return fd > 2 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
}

/* The real one. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((destructor)) static void say_count(void)
{
    const char *path = getenv("MUSTER_SHIM_COUNT");
    FILE *file = path == NULL ? NULL : fopen(path, "a");

    if (file == NULL)
        return;
    (void)fprintf(file, "%ld\n", atomic_load(&seen));
    (void)fclose(file);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    if (fails("memory")) {
        errno = ENOMEM;
        return NULL;
    }
    return REAL(aligned_alloc)(alignment, size);
}

/* Is this address in the program itself?  Its headers are. */
static bool own_code(void *at)
{
    void *headers;
    Dl_info here, program;

    headers = (void *)getauxval(AT_PHDR);
    return dladdr(at, &here) != 0 && dladdr(headers, &program) != 0 &&
           here.dli_fbase == program.dli_fbase;
}

/* dlsym may itself call calloc; this is the real one's other name. */
void *__libc_calloc(size_t count, size_t size);

void *calloc(size_t count, size_t size)
{
    if (count == 1 && size >= LONG && own_code(__builtin_return_address(0)) &&
        (fails("memory") || fails("long"))) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_calloc(count, size);
}

/* The error, or half of what was asked for. */
#define TRANSFER(call, kind, whole, half)                                      \
    do {                                                                       \
        if (!plain_file(fd) || !fails(kind))                                   \
            return REAL(call) whole;                                           \
        if (number("MUSTER_SHIM_ERROR") == 0)                                  \
            return REAL(call) half;                                            \
        errno = (int)number("MUSTER_SHIM_ERROR");                              \
        return -1;                                                             \
    } while (0)

ssize_t write(int fd, const void *data, size_t size)
{
    TRANSFER(write, "write", (fd, data, size), (fd, data, (size + 1) / 2));
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    TRANSFER(pwrite, "write", (fd, data, size, at),
             (fd, data, (size + 1) / 2, at));
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
    TRANSFER(pwrite64, "write", (fd, data, size, at),
             (fd, data, (size + 1) / 2, at));
}

ssize_t read(int fd, void *data, size_t size)
{
    TRANSFER(read, "read", (fd, data, size), (fd, data, (size + 1) / 2));
}

ssize_t pread(int fd, void *data, size_t size, off_t at)
{
    TRANSFER(pread, "read", (fd, data, size, at),
             (fd, data, (size + 1) / 2, at));
}

ssize_t pread64(int fd, void *data, size_t size, off64_t at)
{
    TRANSFER(pread64, "read", (fd, data, size, at),
             (fd, data, (size + 1) / 2, at));
}

#define REFUSE(call, kind, whole)                                              \
    do {                                                                       \
        if (!fails(kind) || number("MUSTER_SHIM_ERROR") == 0)                  \
            return REAL(call) whole;                                           \
        errno = (int)number("MUSTER_SHIM_ERROR");                              \
        return -1;                                                             \
    } while (0)

int fsync(int fd)
{
    REFUSE(fsync, "sync", (fd));
}

int fdatasync(int fd)
{
    REFUSE(fdatasync, "sync", (fd));
}

int rename(const char *from, const char *to)
{
    REFUSE(rename, "rename", (from, to));
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    REFUSE(renameat, "rename", (from_fd, from, to_fd, to));
}

static mode_t mode_of(int flags, va_list *more)
{
    return flags & O_CREAT ? va_arg(*more, mode_t) : 0;
}

#define OPEN(call, whole)                                                      \
    va_list more;                                                              \
    mode_t mode;                                                               \
                                                                               \
    va_start(more, flags);                                                     \
    mode = mode_of(flags, &more);                                              \
    va_end(more);                                                              \
    REFUSE(call, "open", whole)

int open(const char *path, int flags, ...)
{
    OPEN(open, (path, flags, mode));
}

int open64(const char *path, int flags, ...)
{
    OPEN(open64, (path, flags, mode));
}

int openat(int folder, const char *path, int flags, ...)
{
    OPEN(openat, (folder, path, flags, mode));
}

int openat64(int folder, const char *path, int flags, ...)
{
    OPEN(openat64, (folder, path, flags, mode));
}
