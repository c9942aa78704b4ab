/*
 * disk.c - a disk model with two states of every file, seen and durable.  A
 * power cut settles each sector and each name by the seed's dice, within what a
 * real disk may do.
 */
#include "sim/disk.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

/* --- bytes --------------------------------------------------------------- */

/* Set the length; new bytes are zeros. */
static enum err bytes_resize(struct disk_bytes *bytes, size_t size)
{
    if (size > bytes->capacity) {
        uint8_t *grown =
            mem_grow(bytes->data, bytes->size, size, 1, &bytes->capacity);

        if (grown == NULL)
            return ERR_NOMEM;
        bytes->data = grown;
    }
    if (size > bytes->size)
        memset(bytes->data + bytes->size, 0, size - bytes->size);
    bytes->size = size;
    return ERR_OK;
}

/* Make `to` equal to `from`, knowing that they agree before `offset`. */
static enum err bytes_copy(struct disk_bytes *to, const struct disk_bytes *from,
                           size_t offset)
{
    enum err err;

    if (offset > to->size)
        offset = to->size;
    if (offset > from->size)
        offset = from->size;
    err = bytes_resize(to, from->size);
    if (err == ERR_OK && from->size > offset)
        memcpy(to->data + offset, from->data + offset, from->size - offset);
    return err;
}

static void bytes_close(struct disk_bytes *bytes)
{
    mem_free(bytes->data);
    *bytes = (struct disk_bytes){0};
}

/* --- files and names ----------------------------------------------------- */

static struct disk_model *model_of(struct disk *disk)
{
    return (struct disk_model *)(void *)disk;
}

static int find_name(const struct disk_model *model, const char *name)
{
    for (uint32_t i = 0; i < model->name_count; i++) {
        if (strcmp(model->names[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

static struct disk_name *need_name(struct disk_model *model, const char *name)
{
    const int found = find_name(model, name);
    struct disk_name *added;

    if (found >= 0)
        return &model->names[found];
    CHECK(model->name_count < DISK_FILES_MAX);
    CHECK(strlen(name) < DISK_NAME_SIZE);
    added = &model->names[model->name_count++];
    (void)snprintf(added->name, sizeof added->name, "%s", name);
    added->seen = added->durable = -1;
    return added;
}

static void collect_files(struct disk_model *model)
{
    bool led_to[DISK_FILES_MAX] = {false};

    for (uint32_t i = 0; i < model->name_count; i++) {
        if (model->names[i].seen >= 0)
            led_to[model->names[i].seen] = true;
        if (model->names[i].durable >= 0)
            led_to[model->names[i].durable] = true;
    }
    for (uint32_t i = 0; i < DISK_FILES_MAX; i++) {
        if (!led_to[i])
            model->files[i].used = false;
    }
}

static int new_file(struct disk_model *model)
{
    collect_files(model);
    for (int i = 0; i < (int)DISK_FILES_MAX; i++) {
        struct disk_file *file = &model->files[i];

        if (file->used)
            continue;
        file->used = true;
        file->seen.size = file->durable.size = 0;
        file->dirty = false;
        file->dirty_from = 0;
        return i;
    }
    CHECK(!"a disk model without room");
    return -1;
}

static struct disk_file *seen_file(struct disk_model *model, const char *name)
{
    const int at = find_name(model, name);

    if (at < 0 || model->names[at].seen < 0)
        return NULL;
    return &model->files[model->names[at].seen];
}

static struct disk_file *need_file(struct disk_model *model, const char *name)
{
    struct disk_file *file = seen_file(model, name);

    if (file == NULL) {
        const int made = new_file(model);

        need_name(model, name)->seen = made;
        file = &model->files[made];
    }
    return file;
}

static void touch(struct disk_file *file, size_t from)
{
    if (!file->dirty || from < file->dirty_from)
        file->dirty_from = from;
    file->dirty = true;
}

/* --- the operations ------------------------------------------------------ */

/* Counts an operation; says if it may happen.  The process that meets its
 * crash here does not come back from the call in a real system: the driver
 * looks at `dead` as soon as it does. */
static enum err begin(struct disk_model *model)
{
    if (model->dead)
        return ERR_IO;
    if (model->crash_after == 0) {
        model->dead = true;
        return ERR_IO;
    }
    if (model->crash_after != DISK_OPS_NEVER)
        model->crash_after--;
    model->operations++;
    if (model->error_after == 0) {
        model->error_after = DISK_OPS_NEVER;
        return ERR_IO;
    }
    if (model->error_after != DISK_OPS_NEVER)
        model->error_after--;
    return ERR_OK;
}

static enum err add_at(struct disk_file *file, size_t offset, const void *data,
                       size_t size)
{
    const enum err err = bytes_resize(&file->seen, offset + size);

    if (err == ERR_OK && size > 0)
        memcpy(file->seen.data + offset, data, size);
    touch(file, offset);
    return err;
}

static enum err op_write_new(struct disk *disk, const char *name,
                             const void *data, size_t size)
{
    struct disk_model *model = model_of(disk);
    const enum err err = begin(model);
    struct disk_file *file;

    if (err != ERR_OK)
        return err;
    file = need_file(model, name);
    file->seen.size = 0;
    return add_at(file, 0, data, size);
}

static enum err op_append(struct disk *disk, const char *name, const void *data,
                          size_t size)
{
    struct disk_model *model = model_of(disk);
    const enum err err = begin(model);
    struct disk_file *file;

    if (err != ERR_OK)
        return err;
    file = need_file(model, name);
    return add_at(file, file->seen.size, data, size);
}

static enum err op_cut(struct disk *disk, const char *name, size_t size)
{
    struct disk_model *model = model_of(disk);
    const enum err err = begin(model);
    struct disk_file *file;

    if (err != ERR_OK)
        return err;
    file = seen_file(model, name);
    if (file == NULL)
        return ERR_NOTFOUND;
    touch(file, size);
    return bytes_resize(&file->seen, size);
}

/* Only dirty pages are written: bytes lost by a failed sync stay a hole. */
static enum err make_durable(struct disk_file *file)
{
    const size_t from = file->dirty_from;
    const enum err err = bytes_resize(&file->durable, file->seen.size);

    if (err == ERR_OK && file->seen.size > from)
        memcpy(file->durable.data + from, file->seen.data + from,
               file->seen.size - from);
    return err;
}

static enum err op_sync(struct disk *disk, const char *name)
{
    struct disk_model *model = model_of(disk);
    struct disk_file *file = seen_file(model, name);
    enum err err = begin(model);

    if (err == ERR_OK && file == NULL)
        err = ERR_NOTFOUND;
    if (err == ERR_OK && file->dirty)
        err = make_durable(file);
    /* A failed sync, too, marks the pages clean: what was in them will never
     * reach the disk, however often sync is called again. */
    if (file != NULL && !model->dead)
        file->dirty = false;
    return err;
}

static enum err op_rename(struct disk *disk, const char *from, const char *to)
{
    struct disk_model *model = model_of(disk);
    const enum err err = begin(model);
    struct disk_name *target;
    int at;

    if (err != ERR_OK)
        return err;
    at = find_name(model, from);
    if (at < 0 || model->names[at].seen < 0)
        return ERR_NOTFOUND;
    target = need_name(model, to);
    target->seen = model->names[at].seen;
    model->names[at].seen = -1;
    return ERR_OK;
}

static enum err op_sync_folder(struct disk *disk)
{
    struct disk_model *model = model_of(disk);
    const enum err err = begin(model);

    if (err != ERR_OK)
        return err;
    for (uint32_t i = 0; i < model->name_count; i++)
        model->names[i].durable = model->names[i].seen;
    return ERR_OK;
}

static enum err op_read(struct disk *disk, const char *name, uint8_t **data,
                        size_t *size)
{
    struct disk_model *model = model_of(disk);
    const enum err err = begin(model);
    const struct disk_file *file;
    uint8_t *copy;

    if (err != ERR_OK)
        return err;
    file = seen_file(model, name);
    if (file == NULL)
        return ERR_NOTFOUND;
    copy = mem_new(file->seen.size, 1);
    if (copy == NULL)
        return ERR_NOMEM;
    if (file->seen.size > 0)
        memcpy(copy, file->seen.data, file->seen.size);
    *data = copy;
    *size = file->seen.size;
    return ERR_OK;
}

static enum err op_read_at(struct disk *disk, const char *name, uint64_t offset,
                           void *data, size_t size, size_t *got)
{
    struct disk_model *model = model_of(disk);
    const enum err err = begin(model);
    const struct disk_file *file;

    if (err != ERR_OK)
        return err;
    file = seen_file(model, name);
    if (file == NULL)
        return ERR_NOTFOUND;
    *got = offset < file->seen.size ? file->seen.size - offset : 0;
    if (*got > size)
        *got = size;
    if (*got > 0)
        memcpy(data, file->seen.data + offset, *got);
    return ERR_OK;
}

static const struct disk_ops model_ops_table = {
    .write_new = op_write_new,
    .append = op_append,
    .cut = op_cut,
    .sync = op_sync,
    .rename = op_rename,
    .sync_folder = op_sync_folder,
    .read = op_read,
    .read_at = op_read_at,
};

void disk_model_init(struct disk_model *model)
{
    *model = (struct disk_model){
        .disk = {.ops = &model_ops_table},
        .crash_after = DISK_OPS_NEVER,
        .error_after = DISK_OPS_NEVER,
    };
}

void disk_model_close(struct disk_model *model)
{
    for (uint32_t i = 0; i < DISK_FILES_MAX; i++) {
        bytes_close(&model->files[i].seen);
        bytes_close(&model->files[i].durable);
    }
    *model = (struct disk_model){0};
}

void disk_model_revive(struct disk_model *model)
{
    model->dead = false;
    model->crash_after = DISK_OPS_NEVER;
    model->error_after = DISK_OPS_NEVER;
}

/* --- power cuts ---------------------------------------------------------- */

/* What the cut leaves is what is seen and durable from then on. */
static void settle(struct disk_file *file)
{
    CHECK(bytes_copy(&file->durable, &file->seen, 0) == ERR_OK);
    file->dirty = false;
}

/* Each sector as it was, as it was to be, or zeros where it is new. */
static void tear(struct disk_file *file, struct rng *rng, bool zeros)
{
    const size_t old = file->durable.size;
    const size_t now = file->seen.size;
    const size_t low = old < now ? old : now;
    const size_t high = old < now ? now : old;
    size_t size = low + (size_t)rng_below(rng, high - low + 1);

    if (rng_chance(rng, 0.5))
        size = rng_chance(rng, 0.5) ? old : now;
    CHECK(bytes_resize(&file->seen, size) == ERR_OK);
    for (size_t at = 0; at < size; at += DISK_SECTOR) {
        const size_t end = at + DISK_SECTOR < size ? at + DISK_SECTOR : size;

        if (!zeros && rng_chance(rng, 0.5))
            continue;
        for (size_t i = at; i < end; i++)
            file->seen.data[i] = i < old ? file->durable.data[i] : 0;
    }
}

static void cut_file(struct disk_file *file, struct rng *rng)
{
    switch (rng_below(rng, 4)) {
    case 0: /* Dropped. */
        CHECK(bytes_copy(&file->seen, &file->durable, 0) == ERR_OK);
        break;
    case 1: /* Kept: it had just reached the disk. */
        break;
    case 2:
        tear(file, rng, false);
        break;
    default:
        tear(file, rng, true);
        break;
    }
    settle(file);
}

void disk_model_cut_power(struct disk_model *model, struct rng *rng)
{
    for (uint32_t i = 0; i < DISK_FILES_MAX; i++) {
        struct disk_file *file = &model->files[i];

        if (!file->used)
            continue;
        if (file->dirty)
            cut_file(file, rng);
        else /* Seen may still show what a failed sync has lost. */
            CHECK(bytes_copy(&file->seen, &file->durable, 0) == ERR_OK);
    }
    for (uint32_t i = 0; i < model->name_count; i++) {
        struct disk_name *name = &model->names[i];

        if (name->seen != name->durable && rng_chance(rng, 0.5))
            name->seen = name->durable;
        name->durable = name->seen;
    }
    collect_files(model);
}

void disk_model_drop_unsynced(struct disk_model *model)
{
    for (uint32_t i = 0; i < DISK_FILES_MAX; i++) {
        struct disk_file *file = &model->files[i];

        if (file->used)
            CHECK(bytes_copy(&file->seen, &file->durable, 0) == ERR_OK);
        file->dirty = false;
    }
    for (uint32_t i = 0; i < model->name_count; i++)
        model->names[i].seen = model->names[i].durable;
    collect_files(model);
}

static bool look(const struct disk_model *model, const char *name, bool durable,
                 const uint8_t **data, size_t *size)
{
    const int at = find_name(model, name);
    const int file = at < 0    ? -1
                     : durable ? model->names[at].durable
                               : model->names[at].seen;
    const struct disk_bytes *bytes;

    if (file < 0)
        return false;
    bytes = durable ? &model->files[file].durable : &model->files[file].seen;
    *data = bytes->data;
    *size = bytes->size;
    return true;
}

bool disk_model_durable(const struct disk_model *model, const char *name,
                        const uint8_t **data, size_t *size)
{
    return look(model, name, true, data, size);
}

bool disk_model_seen(const struct disk_model *model, const char *name,
                     const uint8_t **data, size_t *size)
{
    return look(model, name, false, data, size);
}
