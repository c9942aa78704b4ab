#define _GNU_SOURCE /* MAP_ANONYMOUS, madvise */
#include "os/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/file.h"

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
