/*
 * ring_folder.c - which folder is whose, and which peer came furthest.
 */
#include "node/host/ring_folder.h"

#include <stdio.h>

#include "core/msg.h"
#include "core/run/store.h"
#include "os/file/folder.h"

#define RING_FILE "ring"

static const char *const files[] = {RING_FILE, "w#"};
const struct names ring_names = NAMES_OF(files);

enum err ring_folder_mark(const char *out, struct why *why)
{
    static const char text[] = "w0, w1, ...: one folder for each peer\n";
    char path[FILE_PATH_SIZE];

    file_path_in(out, RING_FILE, path);
    return file_write_atomic(path, text, sizeof text - 1, 0600, why);
}

bool ring_folder_is(const char *out)
{
    char path[FILE_PATH_SIZE];

    file_path_in(out, RING_FILE, path);
    return file_exists(path);
}

void ring_folder_of(const char *out, uint32_t number, char path[FILE_PATH_SIZE])
{
    char name[NAME_SIZE];

    (void)snprintf(name, sizeof name, "w%u", number);
    file_path_in(out, name, path);
}

bool ring_folder_step(const char *out, uint32_t number, uint32_t *step)
{
    char path[FILE_PATH_SIZE];
    struct journal_summary summary = {0};
    struct folder folder;
    enum err err;

    ring_folder_of(out, number, path);
    if (!file_exists(path))
        return false;
    err = folder_open(&folder, path, NULL);
    if (err == ERR_OK)
        err = store_walk(&folder.disk, NULL, NULL, &summary);
    folder_close(&folder);
    if (err == ERR_OK)
        *step = summary.step;
    return err == ERR_OK;
}

void ring_folder_journal(const char *out, char path[FILE_PATH_SIZE])
{
    uint32_t best = 0, most = 0;

    (void)snprintf(path, FILE_PATH_SIZE, "%.*s", (int)FILE_PATH_SIZE - 1, out);
    if (!ring_folder_is(out))
        return;
    for (uint32_t i = 0; i < PEERS_MAX; i++) {
        uint32_t step;

        if (!ring_folder_step(out, i, &step) || step <= most)
            continue;
        most = step;
        best = i;
    }
    ring_folder_of(out, best, path);
}
