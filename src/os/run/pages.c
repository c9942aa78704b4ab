#define _GNU_SOURCE /* MAP_ANONYMOUS, madvise */
/*
 * pages.c - anonymous and file mappings (mmap).  A file that is cut short while
 * it is mapped raises SIGBUS: the handler says which file it was and ends the
 * program.
 */
#include "os/run/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/file/file.h"

/* Below the first, the heap is as good.  Blocks of a table being read are
 * above it, so that giving one back helps at once. */
#define PAGES_LEAST (UINT64_C(1) << 16)
#define PAGES_HUGE  (UINT64_C(1) << 21)

static bool is_small(uint64_t count, size_t size)
{
    return count == 0 || count < PAGES_LEAST / (size == 0 ? 1 : size);
}

void *pages_new(uint64_t count, size_t size)
{
    size_t bytes;
    void *memory;

    if (is_small(count, size))
        return mem_new(count, size);
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        return NULL;
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    if (bytes >= PAGES_HUGE)
        (void)madvise(memory, bytes, MADV_HUGEPAGE); /* A wish, no more. */
    return memory;
}

void pages_free(void *memory, uint64_t count, size_t size)
{
    if (memory == NULL)
        return;
    if (is_small(count, size))
        mem_free(memory);
    else
        CHECK(munmap(memory, count * size) == 0);
}

/* What a signal handler may look at: the sentence is ready before it is needed.
 * A program maps one data set, the last counts. */
static struct {
    char sentence[FILE_PATH_SIZE + 128];
    const uint8_t *data;
    size_t size;
} watched;
static atomic_flag said = ATOMIC_FLAG_INIT;

static void watch(const struct file_map *map, const char *path)
{
    watched.size = 0;
    (void)snprintf(watched.sentence, sizeof watched.sentence,
                   "muster: %s: cut short while it was in use; remove it and "
                   "start again\n",
                   path);
    watched.data = map->data;
    watched.size = map->size;
}

static void on_missing_page(int number, siginfo_t *info, void *context)
{
    const uintptr_t at = (uintptr_t)info->si_addr;
    const uintptr_t first = (uintptr_t)watched.data;

    (void)context;
    if (at >= first && at - first < watched.size) {
        while (atomic_flag_test_and_set(&said))
            (void)pause(); /* Another thread is about to end us. */
        (void)!write(STDERR_FILENO, watched.sentence, strlen(watched.sentence));
        _exit(EXIT_FAILURE);
    }
    (void)signal(number, SIG_DFL); /* Not ours: it comes again. */
}

void file_map_watch(void)
{
    const struct sigaction action = {.sa_sigaction = on_missing_page,
                                     .sa_flags = SA_SIGINFO};

    (void)sigaction(SIGBUS, &action, NULL);
}

static enum err map_fd(struct file_map *map, int fd, const char *path,
                       struct why *why)
{
    struct stat stat;
    void *data;

    if (fstat(fd, &stat) != 0)
        return file_read_failed(why, path, errno);
    if (!S_ISREG(stat.st_mode) || stat.st_size <= 0)
        return why_set(why, ERR_FORMAT, "%s: not a plain file with bytes in it",
                       path);
    data = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return file_read_failed(why, path, errno);
    *map = (struct file_map){.data = data, .size = (size_t)stat.st_size};
    watch(map, path);
    return ERR_OK;
}

enum err file_map_open(struct file_map *map, const char *path, struct why *why)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum err err;

    if (fd < 0)
        return file_read_failed(why, path, errno);
    err = map_fd(map, fd, path, why);
    (void)close(fd);
    return err;
}

void file_map_close(struct file_map *map)
{
    if (map->data != NULL)
        CHECK(munmap(map->data, map->size) == 0);
    *map = (struct file_map){0};
}
