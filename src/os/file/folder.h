/*
 * folder.h - base/disk.h on a real folder.
 *
 * Everything is relative to one open directory, links are not followed, files
 * are 0600.  The file last appended to stays open.  The directory itself is
 * synced where names of it have changed since that was last done, which those
 * of a file that grows have not.  One thread at a time: two threads on one run
 * folder take a folder each, and each syncs what names it has changed.
 */
#ifndef OS_FOLDER_H
#define OS_FOLDER_H

#include <stdbool.h>

#include "base/disk.h"

#define FOLDER_NAME_SIZE 64u
#define FOLDER_FILE_MAX  (UINT64_C(1) << 36) /* Refuse to read larger ones. */

struct folder {
    struct disk disk; /* First: ops get a pointer to it. */
    int fd;
    bool renamed;  /* Names were made or moved since the last sync_folder. */
    int append_fd; /* -1 = none. */
    int error;     /* errno of the last write, sync or rename that failed. */
    char append_name[FOLDER_NAME_SIZE];
};

/* Opens `path`, which must be there.  Close accepts what open refused. */
MUST_CHECK enum err folder_open(struct folder *folder, const char *path,
                                struct why *why);
void folder_close(struct folder *folder);

#endif /* OS_FOLDER_H */
