#define _GNU_SOURCE /* memfd_create */
/*
 * memory_file.c - an anonymous file in memory (memfd) made before a fork: the
 * child's last words reach its parent even where the disk is full.  Others of
 * the same user open it by its entry in /proc, which nobody else may follow.
 */
#include "os/file/memory_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/transfer.h"

#define NAMED_UNDER "/proc/"

int memory_file_new(void)
{
    return memfd_create("muster", MFD_CLOEXEC);
}

void memory_file_free(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}

enum err memory_file_write(int fd, const void *data, size_t size)
{
    enum err err = ERR_IO;

    if (fd >= 0 && ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0)
        err = transfer_write_all(fd, data, size);
    if (err != ERR_OK && fd >= 0 && ftruncate(fd, 0) != 0)
        return ERR_IO; /* What is read then is not whole, and says so. */
    return err;
}

enum err memory_file_read(int fd, size_t max, uint8_t **data, size_t *size)
{
    uint8_t *bytes = NULL;
    size_t got = 0;
    enum err err;

    if (fd < 0)
        return ERR_NOTFOUND;
    if (lseek(fd, 0, SEEK_SET) != 0)
        return ERR_IO;
    err = transfer_read_all(fd, max, &bytes, &got);
    if (err == ERR_OK && got == 0) {
        mem_free(bytes);
        return ERR_NOTFOUND;
    }
    if (err != ERR_OK)
        return err;
    *data = bytes;
    *size = got;
    return ERR_OK;
}

enum err memory_file_name(int fd, char *name, size_t capacity, struct why *why)
{
    const int size =
        snprintf(name, capacity, NAMED_UNDER "%d/fd/%d", (int)getpid(), fd);
    struct stat info;

    if (fd < 0 || size < 0 || (size_t)size >= capacity || fchmod(fd, 0600) != 0)
        return why_set(why, ERR_IO, "there is no file in memory to be had");
    if (prctl(PR_GET_DUMPABLE) != 1 || stat(name, &info) != 0)
        return why_set(why, ERR_DENIED,
                       "other processes of this user cannot read a key from "
                       "this one, which is closed to them (PR_SET_DUMPABLE, as "
                       "after --token-file) or has no " NAMED_UNDER
                       "; give a token's file");
    return ERR_OK;
}

bool memory_file_is_name(const char *name)
{
    return strncmp(name, NAMED_UNDER, sizeof NAMED_UNDER - 1) == 0;
}
