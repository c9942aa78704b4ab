/*
 * ways.c - discovery: how to reach a coordinator, from a list of addresses and
 * a token, or from a run's folder.
 */
#include "node/host/ways.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "node/host/format.h"
#include "node/host/keep.h"
#include "os/file/file.h"
#include "os/run/process.h"
#include "wire/codec.h"

#define HOST_LETTERS 48
#define ADDRESS_MAX  4096u
#define MARK_LETTERS 512

static const char *const files[] = {ADDRESS_FILE, READING_FILE, TOKEN_FILE,
                                    LOCK_FILE, LAUNCH_FILE};
const struct names ways_names = NAMES_OF(files);

void ways_own_name(char name[NAME_SIZE])
{
    char host[NET_HOST_SIZE];
    size_t size;

    net_own_name(host);
    size = strcspn(host, ".");
    for (size_t i = 0; i < size; i++) {
        const char one[2] = {host[i], '\0'};

        if (!codec_name_valid(one))
            host[i] = '-';
    }
    (void)snprintf(name, NAME_SIZE, "%.*s-%u",
                   (int)(size < HOST_LETTERS ? size : HOST_LETTERS), host,
                   process_own_pid());
}

static enum err parse_one(const char *text, size_t size,
                          struct net_address *address, struct why *why)
{
    char one[NET_TEXT_SIZE];
    enum err err;

    if (size >= sizeof one)
        return why_set(why, ERR_SHAPE, "%.80s...: the address is too long",
                       text);
    memcpy(one, text, size);
    one[size] = '\0';
    err = net_parse(one, address, why);
    if (err == ERR_OK && address->port == 0)
        err =
            why_set(why, ERR_SHAPE, "%.200s: which port? write HOST:PORT", one);
    return err;
}

enum err ways_parse(const char *text, struct ways *ways, struct why *why)
{
    for (;;) {
        const size_t size = strcspn(text, ",");
        enum err err;

        if (ways->count == WAYS_MAX)
            return why_set(why, ERR_FORMAT, "more than %u addresses", WAYS_MAX);
        err = parse_one(text, size, &ways->addresses[ways->count++], why);
        if (err != ERR_OK || text[size] == '\0')
            return err;
        text += size + 1;
    }
}

bool ways_held(const char *folder)
{
    char path[FILE_PATH_SIZE];

    file_path_in(folder, LOCK_FILE, path);
    return file_locked(path);
}

bool ways_reading(const char *folder)
{
    char path[FILE_PATH_SIZE];

    file_path_in(folder, READING_FILE, path);
    return ways_held(folder) && file_exists(path);
}

bool ways_stop_reading(const char *folder)
{
    char path[FILE_PATH_SIZE];

    file_path_in(folder, READING_FILE, path);
    return ways_held(folder) && file_remove_first(path);
}

bool ways_over(const char *folder)
{
    char path[FILE_PATH_SIZE];

    if (folder == NULL)
        return false;
    file_path_in(folder, ADDRESS_FILE, path);
    return !ways_held(folder) && file_find(path, NULL) == ERR_NOTFOUND;
}

bool ways_begins(const char *folder, bool dialled)
{
    char reading[FILE_PATH_SIZE], address[FILE_PATH_SIZE];

    file_path_in(folder, READING_FILE, reading);
    file_path_in(folder, ADDRESS_FILE, address);
    return ways_held(folder) && !file_exists(reading) &&
           !keep_is_alone(folder) && (dialled || !file_exists(address));
}

enum err ways_silent(const char *folder, struct why *why)
{
    char path[FILE_PATH_SIZE];
    enum err err;

    if (ways_reading(folder))
        return why_set(why, ERR_NOTFOUND,
                       "%s: the run there still reads its rows, and answers "
                       "when it has; `muster stop %s` ends it before",
                       folder, folder);
    if (ways_held(folder) && keep_is_alone(folder))
        return why_set(why, ERR_NOTFOUND,
                       "%s: the run there is one process without workers, "
                       "which answers no questions; Ctrl-C (or SIGINT) ends "
                       "it, and its state is saved",
                       folder);
    if (ways_held(folder))
        return why_set(why, ERR_NOTFOUND,
                       "%s: the run there begins or ends just now, and answers "
                       "no questions; ask again",
                       folder);
    if (!format_holds_run(folder))
        return why_set(why, ERR_NOTFOUND,
                       "%s: no run is going on there, and none was begun that "
                       "could be gone on with; start it again",
                       folder);
    err = format_check(folder, why);
    if (err != ERR_OK)
        return err;
    file_path_in(folder, CONFIG_FILE, path);
    if (!file_exists(path)) /* Of `muster product`, or of a program. */
        return why_set(why, ERR_NOTFOUND,
                       "%s: no run is going on there; the command that began "
                       "it, given again, goes on with it",
                       folder);
    return why_set(why, ERR_NOTFOUND,
                   "%s: no run is going on there; `muster train --resume=%s` "
                   "goes on with one that was stopped",
                   folder, folder);
}

static enum err read_address(const char *folder, struct ways *ways,
                             struct why *why)
{
    char path[FILE_PATH_SIZE];
    uint8_t *text;
    size_t size;
    enum err err;

    file_path_in(folder, ADDRESS_FILE, path);
    if (!file_exists(path))
        return ways_silent(folder, why);
    err = file_read_plain(path, ADDRESS_MAX, &text, &size, why);
    if (err != ERR_OK)
        return err;
    text[strcspn((char *)text, "\n")] = '\0';
    err = ways_parse((char *)text, ways, why);
    mem_free(text);
    return err == ERR_OK ? err : why_in(why, err, "%s", path);
}

static enum err read_token(const char *folder, struct ways *ways,
                           struct why *why)
{
    char path[FILE_PATH_SIZE];

    file_path_in(folder, TOKEN_FILE, path);
    ways->own = true;
    if (!file_exists(path))
        return why_set(why, ERR_NOTFOUND,
                       "%s: the run there was started with --token-file; give "
                       "that here, too",
                       folder);
    return token_load(path, true, &ways->token, why);
}

enum err ways_open(const char *where, const char *token_file, bool cluster,
                   struct ways *ways, struct why *why)
{
    enum err err = file_find(where, why);
    const bool folder = err == ERR_OK;

    *ways = (struct ways){.count = 0};
    if (err == ERR_DENIED)
        return err;
    if (folder)
        ways->folder = where;
    if (!folder && strchr(where, '/') != NULL)
        return why_set(why, ERR_NOTFOUND, "%.200s: there is no such run",
                       where);
    err = folder ? file_check_folder(where, why) : ways_parse(where, ways, why);
    /* While rows are read the address, if any, is that of the last life. */
    if (err == ERR_OK && folder)
        err = ways_reading(where) ? ways_silent(where, why)
                                  : read_address(where, ways, why);
    if (err != ERR_OK)
        return err;
    if (token_file != NULL)
        return token_given(token_file, cluster, &ways->token, why);
    if (folder)
        return read_token(where, ways, why);
    return why_set(why, ERR_SHAPE,
                   "%.200s: that needs a key; of a run of yours on this "
                   "machine name the folder instead of the address, of any "
                   "other add --token-file",
                   where);
}

void ways_close(struct ways *ways)
{
    token_close(&ways->token);
}

enum err ways_keep_token(const char *folder, struct token *token,
                         struct why *why)
{
    char path[FILE_PATH_SIZE];

    file_path_in(folder, TOKEN_FILE, path);
    if (token_load(path, true, token, NULL) == ERR_OK)
        return ERR_OK;
    token_draw(token);
    return token_keep(path, token, why);
}

enum err ways_keep_address(const char *folder,
                           const struct net_address *address, struct why *why)
{
    const char *const mark = getenv(ADDRESS_MARK);
    char path[FILE_PATH_SIZE], host[NET_TEXT_SIZE], text[ADDRESS_MAX];
    int size;

    size = snprintf(text, sizeof text, "%s\n", net_text(address, host));
    if (mark != NULL)
        size += snprintf(text + size, sizeof text - (size_t)size, "%.*s\n",
                         MARK_LETTERS, mark);
    file_path_in(folder, ADDRESS_FILE, path);
    return file_write_atomic(path, text, (size_t)size, 0600, why);
}

static void forget(const char *folder, const char *name)
{
    char path[FILE_PATH_SIZE];

    file_path_in(folder, name, path);
    file_remove(path);
}

uint16_t ways_last_port(const char *folder)
{
    struct ways ways = {0};

    return read_address(folder, &ways, NULL) == ERR_OK && ways.count == 1
               ? ways.addresses[0].port
               : 0;
}

void ways_forget_address(const char *folder)
{
    forget(folder, ADDRESS_FILE);
}

void ways_forget_token(const char *folder)
{
    forget(folder, TOKEN_FILE);
}
