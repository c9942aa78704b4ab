/*
 * disk.h - a folder whose power can be cut, as a `struct disk`.
 *
 * Two truths are kept: what a running system sees, and what is durable.
 *
 *     name --> file (seen)      contents seen      | sync copies contents,
 *     name --> file (durable)   contents durable   | sync_folder names
 *
 * kill -9 of the process loses nothing that was written.  A power cut keeps
 * the durable part and, of the rest, whatever a real disk might: nothing, all,
 * sectors of 512 bytes in any mixture, a length without its contents (zeros),
 * any subset of the pending names.
 */
#ifndef SIM_DISK_H
#define SIM_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/disk.h"
#include "base/err.h"
#include "base/rng.h"

#define DISK_SECTOR    512u
#define DISK_FILES_MAX 16u
#define DISK_NAME_SIZE 32u
#define DISK_OPS_NEVER UINT32_MAX

struct disk_bytes {
    uint8_t *data;
    size_t size, capacity;
};

/* An inode: lives while a name, seen or durable, leads to it. */
struct disk_file {
    bool used;
    struct disk_bytes seen;
    struct disk_bytes durable;
    size_t dirty_from; /* seen and durable agree before this. */
    bool dirty;
};

struct disk_name {
    char name[DISK_NAME_SIZE];
    int seen; /* Index of the file, -1 = none. */
    int durable;
};

struct disk_model {
    struct disk disk; /* First: the ops cast back. */
    struct disk_file files[DISK_FILES_MAX];
    struct disk_name names[DISK_FILES_MAX];
    uint32_t name_count;
    uint32_t crash_after; /* Operations until the process is dead; NEVER. */
    uint32_t error_after; /* Operations until one fails; NEVER. */
    bool dead;            /* Everything fails until revived. */
    uint64_t operations;
};

void disk_model_init(struct disk_model *model);
void disk_model_close(struct disk_model *model);

/* The process is gone and a new one starts: operations work again. */
void disk_model_revive(struct disk_model *model);
/* The machine lost power: choose what is left. */
void disk_model_cut_power(struct disk_model *model, struct rng *rng);
/* The same with everything that is not durable lost. */
void disk_model_drop_unsynced(struct disk_model *model);

/* What a power cut at its worst would leave of a file: a view; false if its
 * name or the file would be gone. */
bool disk_model_durable(const struct disk_model *model, const char *name,
                        const uint8_t **data, size_t *size);
/* What a running system sees of it. */
bool disk_model_seen(const struct disk_model *model, const char *name,
                     const uint8_t **data, size_t *size);

#endif /* SIM_DISK_H */
