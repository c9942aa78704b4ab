/*
 * replay.h - feed the files of a folder to a fuzz target, in order of name.
 */
#ifndef FUZZ_REPLAY_H
#define FUZZ_REPLAY_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static int replay_reached __attribute__((unused)); /* Inputs that did. */

static inline int replay_file(const char *path)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(path, "rb");
    size_t size;
    int result;

    if (file == NULL)
        return -1;
    size = fread(data, 1, sizeof data, file);
    (void)fclose(file);
    fuzz_reached = false;
    result = LLVMFuzzerTestOneInput(data, size);
    replay_reached += fuzz_reached;
    return result;
}

/* How many files were fed; -1 if the folder cannot be read. */
static inline int replay_folder(const char *folder)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, NULL, alphasort);
    int fed = count < 0 ? -1 : 0;

    for (int i = 0; i < count; i++) {
        char path[8192];

        (void)snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && replay_file(path) == 0)
            fed++;
        free(entries[i]);
    }
    free(entries);
    return fed;
}

#endif /* FUZZ_REPLAY_H */
