/*
 * format.c - what a run folder's format is, and that one run at a time has it.
 */
#include "node/host/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/run/journal.h"
#include "core/run/store.h"
#include "node/host/result_file.h"
#include "node/host/ring_folder.h"
#include "node/host/ways.h"
#include "os/file/file.h"
#include "os/file/output.h"

#define TEXT_SIZE  32u
#define CLASH_SIZE 256u /* Of a name in a folder, with its end. */

static const char *const files[] = {FORMAT_FILE, FACTS_FILE};
const struct names format_names = NAMES_OF(files);
static const char *const options[] = {CONFIG_FILE};
const struct names config_names = NAMES_OF(options);

/* Row i is format i + 1; the last one is ours.  Folders without a number are
 * of the first. */
static const char *const readers[] = {
    "muster 0.1",
    "muster 0.2", /* Numbered; GAP records, the loss on a grid of its own. */
    "muster 0.3", /* Checkpoints always have the loss on held-out rows. */
    "muster 0.4", /* Receipts of many weights have a name, no SHA-256. */
};

#define FORMATS (sizeof readers / sizeof *readers)

bool format_holds_run(const char *folder)
{
    char path[FILE_PATH_SIZE];
    bool there;

    file_path_in(folder, JOURNAL_FILE, path);
    there = file_exists(path) || ring_folder_is(folder);
    file_path_in(folder, SERIES_FILE, path);
    return there || file_exists(path);
}

static enum err read_number(const char *folder, unsigned long *number,
                            struct why *why)
{
    char path[FILE_PATH_SIZE];
    uint8_t *text;
    size_t size;
    char *end;
    enum err err;

    file_path_in(folder, FORMAT_FILE, path);
    *number = 1;
    err = file_read_plain(path, TEXT_SIZE, &text, &size, why);
    if (err == ERR_NOTFOUND)
        return ERR_OK;
    if (err != ERR_OK)
        return err;
    *number = strtoul((const char *)text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *number == 0 || *end != '\n' ||
        end[1] != '\0')
        err = why_set(why, ERR_FORMAT,
                      "%.200s: this is not the number of a format; something "
                      "else wrote it: begin the run anew, with another --out",
                      path);
    mem_free(text);
    return err;
}

/* Is it of one peer of a ring, whose run is in the folder above? */
static bool is_peers(const char *folder, char above[FILE_PATH_SIZE])
{
    char *slash;

    if (!file_absolute(folder, above, FILE_PATH_SIZE))
        return false;
    slash = strrchr(above, '/');
    if (slash == NULL || slash == above)
        return false;
    *slash = '\0';
    return ring_folder_is(above);
}

enum err format_check(const char *folder, struct why *why)
{
    char above[FILE_PATH_SIZE];
    unsigned long number = 1;
    enum err err;

    if (!format_holds_run(folder))
        return ERR_OK;
    err = read_number(folder, &number, why);
    if (err == ERR_OK && number == 1 && is_peers(folder, above))
        return why_set(why, ERR_UNSUPPORTED,
                       "%.200s: the folder of one peer of a ring; the run is "
                       "the folder above it, %.300s",
                       folder, above);
    if (err != ERR_OK || number == 0 || number == FORMATS)
        return err;
    if (number > FORMATS)
        return why_set(why, ERR_UNSUPPORTED,
                       "%.200s: a run folder of format %lu, and %s reads up to "
                       "%zu; go on with the version that wrote it, or a later "
                       "one",
                       folder, number, readers[FORMATS - 1], FORMATS);
    return why_set(why, ERR_UNSUPPORTED,
                   "%.200s: a run folder of format %lu, which %s reads and %s "
                   "does not; go on with that version, or begin the run anew",
                   folder, number, readers[number - 1], readers[FORMATS - 1]);
}

/* Is it a run's, whatever became of that?  The mark is written before any other
 * file is, and a user's file of that name says something else. */
static bool is_marked(const char *folder)
{
    char path[FILE_PATH_SIZE];
    unsigned long number;

    file_path_in(folder, FORMAT_FILE, path);
    return file_exists(path) && read_number(folder, &number, NULL) == ERR_OK &&
           number <= FORMATS;
}

/* May it be there before the mark?  Locks have nothing in them that could be
 * lost, and a key is used, not written over: a job of Slurm's makes it first.
 */
static bool comes_before(const char *folder, const char *name)
{
    static const char *const blank[] = {LOCK_FILE, LAUNCH_FILE, READING_FILE};
    char path[FILE_PATH_SIZE];
    struct token token;
    bool is_lock = false;

    for (size_t i = 0; i < sizeof blank / sizeof *blank; i++)
        is_lock |= strcmp(name, blank[i]) == 0;
    file_path_in(folder, name, path);
    if (is_lock)
        return output_is_file(path) && !file_is_link(path) &&
               !output_is_filled(path);
    if (strcmp(name, TOKEN_FILE) != 0 ||
        token_load(path, true, &token, NULL) != ERR_OK)
        return false;
    token_close(&token);
    return true;
}

/* The first in the order of letters: folders have none. */
struct clash {
    const char *folder;
    const struct names *const *owners;
    char name[CLASH_SIZE]; /* "": none. */
};

static void look_at(void *context, const char *name)
{
    struct clash *const clash = context;

    if (clash->name[0] != '\0' && strcmp(name, clash->name) >= 0)
        return;
    for (size_t i = 0; clash->owners[i] != NULL; i++)
        if (names_have(clash->owners[i], name) &&
            !comes_before(clash->folder, name))
            (void)snprintf(clash->name, sizeof clash->name, "%s", name);
}

/* "new/../mine" is nowhere, until "new" is made: then it is "mine". */
static bool is_roundabout(const char *folder)
{
    char part[FILE_PATH_SIZE];

    if (snprintf(part, sizeof part, "%s/", folder) >= (int)sizeof part)
        return false; /* Too long to be made. */
    for (char *up = part; (up = strstr(up, "/../")) != NULL; up++) {
        bool there;

        *up = '\0';
        there = up == part || file_exists(part);
        *up = '/';
        if (!there)
            return true;
    }
    return false;
}

enum err format_vet_place(const char *option, const char *folder,
                          struct why *why)
{
    if (file_is_system(folder))
        return why_set(why, ERR_SHAPE,
                       "%s %.200s: a folder of the system; choose another, a "
                       "new one say",
                       option, folder);
    if (is_roundabout(folder))
        return why_set(why, ERR_SHAPE,
                       "%s %.200s: it goes back (..) from a folder that is not "
                       "there; name it by a shorter way",
                       option, folder);
    return ERR_OK;
}

enum err format_free(const char *folder, const struct names *const *owners,
                     struct why *why)
{
    struct clash clash = {.folder = folder, .owners = owners};
    const enum err err = format_vet_place("--out", folder, why);

    if (err != ERR_OK)
        return err;
    if (!file_exists(folder) || is_marked(folder) || format_holds_run(folder) ||
        file_check_folder(folder, NULL) != ERR_OK)
        return ERR_OK; /* Whose folder it is, format_take says. */
    file_names(folder, look_at, &clash);
    if (clash.name[0] == '\0')
        return ERR_OK;
    return why_set(why, ERR_EXISTS,
                   "%.200s: no run is in this folder, but a file named %s, "
                   "which a run would write over; choose another --out, a new "
                   "folder say",
                   folder, clash.name);
}

enum err format_write(const char *folder, struct why *why)
{
    char path[FILE_PATH_SIZE], text[TEXT_SIZE];
    const int size = snprintf(text, sizeof text, "%zu\n", FORMATS);
    unsigned long number;

    /* Whoever opens the folder before the door does has written it: the disk
     * need not be waited for twice. */
    if (read_number(folder, &number, NULL) == ERR_OK && number == FORMATS)
        return ERR_OK;
    file_path_in(folder, FORMAT_FILE, path);
    return file_write_atomic(path, text, (size_t)size, 0600, why);
}

void format_remove(const char *folder)
{
    char path[FILE_PATH_SIZE];

    file_path_in(folder, FORMAT_FILE, path);
    file_remove(path);
    file_path_in(folder, FACTS_FILE, path);
    file_remove(path);
}

static void remove_left(void *context, const char *name)
{
    static const struct names *const owners[] = {&config_names, &format_names,
                                                 &result_names, &ways_names};
    char path[FILE_PATH_SIZE];
    bool ours = false;

    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
        ours |= names_left(owners[i], name);
    if (!ours)
        return;
    file_path_in(context, name, path);
    file_remove(path);
}

enum err format_take(const char *out, int *lock, struct why *why)
{
    char path[FILE_PATH_SIZE], folder[FILE_PATH_SIZE];
    enum err err = file_make_folder(out, why);

    if (err == ERR_OK)
        err = file_check_folder(out, why);
    if (err != ERR_OK)
        return err;
    file_path_in(out, LOCK_FILE, path);
    err = file_lock(path, lock, why);
    if (err == ERR_EXISTS)
        return why_set(why, err,
                       "%s: a run is going on in this folder; choose another "
                       "--out",
                       out);
    (void)snprintf(folder, sizeof folder, "%s", out);
    if (err == ERR_OK)
        file_names(out, remove_left, folder);
    if (err == ERR_OK) { /* Of one that was killed: nobody reads here now. */
        file_path_in(out, READING_FILE, path);
        file_remove(path);
    }
    return err;
}

void format_leave(const char *out, int lock)
{
    char path[FILE_PATH_SIZE];

    file_path_in(out, LOCK_FILE, path);
    if (!format_holds_run(out))
        file_remove(path);
    file_unlock(lock);
}

enum err format_lock(const char *out, bool resume, int *held, int *lock,
                     struct why *why)
{
    enum err err = ERR_OK;
    bool there;

    if (held != NULL && *held >= 0) {
        *lock = *held;
        *held = -1;
    } else {
        err = format_take(out, lock, why);
    }
    if (err != ERR_OK)
        return err;
    there = format_holds_run(out);
    if (there && !resume)
        return why_set(why, ERR_EXISTS,
                       "%s: holds a run already; go on with it with --resume "
                       "or choose another --out",
                       out);
    if (!there && resume)
        return why_set(why, ERR_NOTFOUND,
                       "%s: holds no run to go on with; leave out --resume",
                       out);
    err = resume ? format_check(out, why) : format_write(out, why);
    if (err == ERR_OK)
        result_remove(out);
    return err;
}
