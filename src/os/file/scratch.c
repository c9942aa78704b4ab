#define _GNU_SOURCE
/*
 * scratch.c - a temporary folder under TMPDIR (mkdtemp), removed with the files
 * in it.
 */
#include "os/file/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum err scratch_new(char *path, size_t capacity, struct why *why)
{
    const char *under = getenv("TMPDIR");
    int size;

    if (under == NULL || under[0] == '\0')
        under = "/tmp";
    size = snprintf(path, capacity, "%s/muster-XXXXXX", under);
    if (size < 0 || (size_t)size >= capacity)
        return why_set(why, ERR_SHAPE, "TMPDIR: not a path");
    if (mkdtemp(path) == NULL)
        return why_set(why, ERR_IO, "%s: cannot make a folder: %s", under,
                       strerror(errno));
    return ERR_OK;
}

void scratch_remove(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;

    if (folder == NULL)
        return;
    while ((entry = readdir(folder)) != NULL)
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    (void)closedir(folder);
    (void)rmdir(path);
}
