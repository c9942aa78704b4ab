/*
 * disk.h - one folder of files, as an interface.
 *
 * The order of writes, syncs and renames is protocol (core/run/store.c), the
 * system calls are not: os/file/folder.h implements this on a real folder, sim
 * on a model whose power can be cut.  Names are plain, without a slash.
 *
 * Nothing is durable until `sync` (contents) and, for a new or renamed entry,
 * `sync_folder` (names) have returned ERR_OK.  A failed sync is final for that
 * file: write a new one (the kernel has marked the lost pages clean).
 */
#ifndef BASE_DISK_H
#define BASE_DISK_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct disk {
    const struct disk_ops *ops;
};

struct disk_ops {
    /* Create or empty `name` and write it. */
    enum err (*write_new)(struct disk *disk, const char *name, const void *data,
                          size_t size);
    /* Add at the end of `name`, creating it if need be. */
    enum err (*append)(struct disk *disk, const char *name, const void *data,
                       size_t size);
    enum err (*cut)(struct disk *disk, const char *name, size_t size);
    enum err (*sync)(struct disk *disk, const char *name);
    enum err (*rename)(struct disk *disk, const char *from, const char *to);
    enum err (*sync_folder)(struct disk *disk);
    /* The whole file in memory from mem_new; ERR_NOTFOUND if there is none,
     * ERR_DENIED if it is no plain file. */
    enum err (*read)(struct disk *disk, const char *name, uint8_t **data,
                     size_t *size);
    /* What there is of [offset, offset + size): *got is less at its end only.
     */
    enum err (*read_at)(struct disk *disk, const char *name, uint64_t offset,
                        void *data, size_t size, size_t *got);
    /* What the last write, sync or rename that failed with ERR_IO died of, in
     * the system's words.  NULL: nobody knows more than that. */
    const char *(*words)(const struct disk *disk);
};

static inline const char *disk_words(const struct disk *disk, enum err err)
{
    return err == ERR_IO && disk->ops->words != NULL ? disk->ops->words(disk)
                                                     : err_text(err);
}

#endif /* BASE_DISK_H */
