/*
 * memory_disk.h - a struct disk in memory that fails on request.
 *
 * Fault = countdown: the operation after `fail_after` good ones, and all later
 * ones, return ERR_IO.  For power cuts see the simulator's disk.
 */
#ifndef TESTS_MEMORY_DISK_H
#define TESTS_MEMORY_DISK_H

#include <stdint.h>

#include "base/disk.h"

#define MEMORY_FILES 8

struct memory_file {
    char name[32];
    uint8_t *data;
    size_t size;
};

struct memory_disk {
    struct disk disk; /* First: a struct disk * is a struct memory_disk *. */
    struct memory_file files[MEMORY_FILES];
    int operations;
    int fail_after; /* -1 = never. */
    int fail_count; /* So many fail; 0: all. */
    size_t read_bytes;
};

void memory_disk_init(struct memory_disk *disk);
void memory_disk_close(struct memory_disk *disk);
struct memory_file *memory_disk_find(struct memory_disk *disk,
                                     const char *name);

#endif
