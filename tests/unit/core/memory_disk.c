#include "memory_disk.h"

#include <stdbool.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

static struct memory_disk *self(struct disk *disk)
{
    return (struct memory_disk *)disk;
}

static bool fails(struct memory_disk *disk)
{
    const int at = disk->operations++;

    return disk->fail_after >= 0 && at >= disk->fail_after &&
           (disk->fail_count == 0 || at < disk->fail_after + disk->fail_count);
}

struct memory_file *memory_disk_find(struct memory_disk *disk, const char *name)
{
    for (int i = 0; i < MEMORY_FILES; i++) {
        if (disk->files[i].data != NULL &&
            strcmp(disk->files[i].name, name) == 0)
            return &disk->files[i];
    }
    return NULL;
}

static struct memory_file *make(struct memory_disk *disk, const char *name)
{
    struct memory_file *file = memory_disk_find(disk, name);

    for (int i = 0; file == NULL && i < MEMORY_FILES; i++) {
        if (disk->files[i].data == NULL)
            file = &disk->files[i];
    }
    CHECK(file != NULL && strlen(name) < sizeof file->name);
    memcpy(file->name, name, strlen(name) + 1);
    if (file->data == NULL)
        file->data = mem_new(0, 1);
    return file;
}

static void set(struct memory_file *file, const void *data, size_t size)
{
    uint8_t *copy = mem_new(size, 1);

    CHECK(copy != NULL);
    memcpy(copy, data, size);
    mem_free(file->data);
    file->data = copy;
    file->size = size;
}

static enum err write_new(struct disk *disk, const char *name, const void *data,
                          size_t size)
{
    if (fails(self(disk)))
        return ERR_IO;
    set(make(self(disk), name), data, size);
    return ERR_OK;
}

static enum err append(struct disk *disk, const char *name, const void *data,
                       size_t size)
{
    struct memory_file *file;
    uint8_t *joined;

    if (fails(self(disk)))
        return ERR_IO;
    file = make(self(disk), name);
    joined = mem_new(file->size + size, 1);
    CHECK(joined != NULL);
    memcpy(joined, file->data, file->size);
    memcpy(joined + file->size, data, size);
    set(file, joined, file->size + size);
    mem_free(joined);
    return ERR_OK;
}

static enum err cut(struct disk *disk, const char *name, size_t size)
{
    struct memory_file *file = memory_disk_find(self(disk), name);

    if (fails(self(disk)) || file == NULL || file->size < size)
        return ERR_IO;
    file->size = size;
    return ERR_OK;
}

static enum err sync(struct disk *disk, const char *name)
{
    (void)name;
    return fails(self(disk)) ? ERR_IO : ERR_OK;
}

static enum err rename_file(struct disk *disk, const char *from, const char *to)
{
    struct memory_file *old = memory_disk_find(self(disk), from);
    struct memory_file *target;

    if (fails(self(disk)) || old == NULL)
        return ERR_IO;
    target = make(self(disk), to);
    set(target, old->data, old->size);
    mem_free(old->data);
    *old = (struct memory_file){0};
    return ERR_OK;
}

static enum err sync_folder(struct disk *disk)
{
    return fails(self(disk)) ? ERR_IO : ERR_OK;
}

static enum err read_file(struct disk *disk, const char *name, uint8_t **data,
                          size_t *size)
{
    const struct memory_file *file = memory_disk_find(self(disk), name);

    if (file == NULL)
        return ERR_NOTFOUND;
    *data = mem_new(file->size, 1);
    CHECK(*data != NULL);
    memcpy(*data, file->data, file->size);
    *size = file->size;
    return ERR_OK;
}

static enum err read_at(struct disk *disk, const char *name, uint64_t offset,
                        void *data, size_t size, size_t *got)
{
    const struct memory_file *file =
        memory_disk_find((struct memory_disk *)disk, name);

    if (file == NULL)
        return ERR_NOTFOUND;
    *got = offset < file->size ? file->size - offset : 0;
    if (*got > size)
        *got = size;
    if (*got > 0)
        memcpy(data, file->data + offset, *got);
    ((struct memory_disk *)disk)->read_bytes += *got;
    return ERR_OK;
}

void memory_disk_init(struct memory_disk *disk)
{
    static const struct disk_ops ops = {
        .write_new = write_new,
        .append = append,
        .cut = cut,
        .sync = sync,
        .rename = rename_file,
        .sync_folder = sync_folder,
        .read = read_file,
        .read_at = read_at,
    };

    *disk = (struct memory_disk){.disk = {.ops = &ops}, .fail_after = -1};
}

void memory_disk_close(struct memory_disk *disk)
{
    for (int i = 0; i < MEMORY_FILES; i++)
        mem_free(disk->files[i].data);
    *disk = (struct memory_disk){0};
}
