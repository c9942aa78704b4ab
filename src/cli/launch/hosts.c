/*
 * hosts.c - hostfiles and lists of hosts, read.
 */
#include "cli/launch/hosts.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quick.h"
#include "os/file/file.h"
#include "os/net/token.h"
#include "wire/codec.h"

#define FILE_MAX_BYTES (1u << 20)
#define BLANKS         " \t\r"
#define HOST_LETTERS   48

/* Does every letter of it stand for itself, wherever it is written? */
static bool is_plain(const char *text, size_t size, const char *others)
{
    for (size_t i = 0; i < size; i++)
        if (!isalnum((unsigned char)text[i]) && strchr(others, text[i]) == NULL)
            return false;
    return size > 0 && text[0] != '-';
}

static enum err bad_host(const char *text, size_t size, struct why *why)
{
    const char *bracket = memchr(text, '[', size);

    /* node[1-3]; not [::1], nor me@[::1]. */
    if (bracket != NULL && bracket > text && bracket[-1] != '@')
        return why_set(why, ERR_FORMAT,
                       "\"%.*s\" is a list as Slurm writes it; `scontrol show "
                       "hostnames 'LIST' > hosts` writes a host on each line, "
                       "for --hostfile hosts",
                       (int)(size < 80 ? size : 80), text);
    return why_set(why, ERR_FORMAT,
                   "\"%.*s\" is no host; write [user@]host, with letters, "
                   "digits, dots and dashes; other ways to say it go into "
                   "ssh's own config, under a name that is plain",
                   (int)(size < 80 ? size : 80), text);
}

/* -1: no number, or one that is too long. */
static long read_number(const char *text, size_t size)
{
    char digits[8];

    if (size == 0 || size >= sizeof digits)
        return -1;
    (void)snprintf(digits, sizeof digits, "%.*s", (int)size, text);
    return digits[strspn(digits, "0123456789")] == '\0'
               ? strtol(digits, NULL, 10)
               : -1;
}

static enum err read_slots(const char *text, size_t size, uint32_t *slots,
                           struct why *why)
{
    const long number = read_number(text, size);

    if (number < 1 || number > (long)SLOTS_MAX)
        return why_set(why, ERR_FORMAT,
                       "\"%.*s\" is no number of slots; from 1 to %u workers "
                       "run on a host",
                       (int)(size < 40 ? size : 40), text, SLOTS_MAX);
    *slots = (uint32_t)number;
    return ERR_OK;
}

/* It says nothing here, but a number it must be. */
static enum err check_limit(const char *text, size_t size, struct why *why)
{
    if (read_number(text, size) >= 0)
        return ERR_OK;
    return why_set(why, ERR_FORMAT,
                   "\"%.*s\" is no max_slots; it is a number, 0 for no limit",
                   (int)(size < 40 ? size : 40), text);
}

/* host:2 and [host]:2 have slots; an address with several colons and no
 * brackets has none. */
static size_t host_size(const char *text, size_t size)
{
    const char *end = text + size;
    const char *colon = memchr(text, ':', size);
    const char *bracket = memchr(text, ']', size);

    if (bracket != NULL)
        return (size_t)(bracket - text) + 1;
    if (colon == NULL ||
        memchr(colon + 1, ':', (size_t)(end - colon - 1)) != NULL)
        return size;
    return (size_t)(colon - text);
}

/* [user@]host in the form that ssh takes, without brackets. */
static enum err set_target(struct host *host, const char *text, size_t size,
                           struct why *why)
{
    const char *at = memchr(text, '@', size);
    const size_t user = at == NULL ? 0 : (size_t)(at - text) + 1;
    const char *name = text + user;
    size_t length = size - user;
    const bool bracketed =
        length > 2 && name[0] == '[' && name[length - 1] == ']';

    if (bracketed) {
        name++;
        length -= 2;
    }
    if (size >= HOST_SIZE ||
        (at != NULL && !is_plain(text, user - 1, "._+-")) ||
        !is_plain(name, length, bracketed ? "._:%-" : "._:%+-"))
        return bad_host(text, size, why);
    (void)snprintf(host->target, sizeof host->target, "%.*s%.*s", (int)user,
                   text, (int)length, name);
    return ERR_OK;
}

static struct host *find(const struct hosts *hosts, const char *target)
{
    for (uint32_t i = 0; i < hosts->count; i++)
        if (strcmp(hosts->list[i].target, target) == 0)
            return &hosts->list[i];
    return NULL;
}

/* `name` points into each host: the list has all its room from the start, and
 * never moves. */
static enum err add(struct hosts *hosts, const struct host *one,
                    struct why *why)
{
    struct host *host = find(hosts, one->target);

    if (hosts->list == NULL)
        hosts->list = mem_new(HOSTS_MAX, sizeof *hosts->list);
    if (hosts->list == NULL)
        return why_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    if (host == NULL && hosts->count == HOSTS_MAX)
        return why_set(why, ERR_RANGE, "more than %u hosts", HOSTS_MAX);
    if (host == NULL) {
        host = &hosts->list[hosts->count++];
        *host = *one;
        host->slots = 0;
        host->name = strchr(host->target, '@');
        host->name = host->name == NULL ? host->target : host->name + 1;
    }
    host->slots += one->slots;
    hosts->slots += one->slots;
    if (host->slots > SLOTS_MAX)
        return why_set(why, ERR_RANGE, "more than %u workers on %.80s",
                       SLOTS_MAX, host->target);
    return ERR_OK;
}

/* What may stand behind a host, with blanks around each part or none. */
static enum err read_more(const char *text, size_t size, uint32_t *slots,
                          struct why *why)
{
    static const char *const known[] = {"slots", "max_slots", "max-slots"};
    const char *const end = text + size;

    while (text < end) {
        const size_t word = strcspn(text, BLANKS "=");
        const size_t left = (size_t)(end - text);
        const size_t key = word < left ? word : left;
        const char *value = text + key + strspn(text + key, BLANKS);
        size_t which = 0, length;
        enum err err;

        while (which < sizeof known / sizeof *known &&
               (strlen(known[which]) != key ||
                strncmp(text, known[which], key) != 0))
            which++;
        if (read_number(text, key) > 0 && key == left)
            return why_set(why, ERR_FORMAT,
                           "\"%.*s\" after the host; write slots=%.*s",
                           (int)key, text, (int)key, text);
        if (which == sizeof known / sizeof *known || value >= end ||
            *value != '=')
            return why_set(why, ERR_FORMAT,
                           "\"%.*s\" after the host; only slots=N and "
                           "max_slots=N may stand there",
                           (int)(end - text < 40 ? end - text : 40), text);
        value += 1 + strspn(value + 1, BLANKS);
        text = value + strcspn(value, BLANKS);
        if (text > end)
            text = end;
        length = value < text ? (size_t)(text - value) : 0;
        err = which == 0 ? read_slots(value, length, slots, why)
                         : check_limit(value, length, why);
        if (err != ERR_OK)
            return err;
        text += strspn(text, BLANKS);
    }
    return ERR_OK;
}

/* One host: `text` is host, host:slots, or host and slots=N behind it. */
static enum err add_text(struct hosts *hosts, const char *text, size_t size,
                         struct why *why)
{
    const size_t word = strcspn(text, BLANKS);
    const size_t first = word < size ? word : size;
    const size_t name = host_size(text, first);
    const size_t blanks = strspn(text + first, BLANKS);
    const size_t rest = first + blanks < size ? size - first - blanks : 0;
    struct host one = {.slots = 1};
    enum err err = set_target(&one, text, name, why);

    if (err == ERR_OK && name < first)
        err = text[name] == ':' ? read_slots(text + name + 1, first - name - 1,
                                             &one.slots, why)
                                : bad_host(text, first, why);
    if (err == ERR_OK)
        err = read_more(text + first + blanks, rest, &one.slots, why);
    return err == ERR_OK ? add(hosts, &one, why) : err;
}

/* Blanks and comments off both ends; returns the size that is left. */
static size_t trim(const char **text, size_t size)
{
    const char *mark = memchr(*text, '#', size);

    if (mark != NULL)
        size = (size_t)(mark - *text);
    while (size > 0 && strchr(BLANKS, **text) != NULL) {
        (*text)++;
        size--;
    }
    while (size > 0 && strchr(BLANKS, (*text)[size - 1]) != NULL)
        size--;
    return size;
}

static enum err read_lines(struct hosts *hosts, const char *text,
                           const char *path, struct why *why)
{
    uint32_t number = 0;

    while (*text != '\0') {
        const char *line = text;
        const size_t whole = strcspn(text, "\n");
        const size_t size = trim(&line, whole);
        enum err err = ERR_OK;

        number++;
        if (size > 0)
            err = add_text(hosts, line, size, why);
        if (err != ERR_OK)
            return why_in(why, err, "%.200s: line %u", path, number);
        text += whole + (text[whole] == '\n');
    }
    return hosts->count > 0 ? ERR_OK
                            : why_set(why, ERR_FORMAT,
                                      "%.200s: there is no host in it", path);
}

enum err hosts_read(struct hosts *hosts, const char *path, struct why *why)
{
    uint8_t *data;
    size_t size;
    enum err err = file_read(path, FILE_MAX_BYTES, &data, &size, why);

    if (err != ERR_OK)
        return err;
    err = memchr(data, '\0', size) != NULL
              ? why_set(why, ERR_FORMAT, "%.200s: not a list of hosts", path)
              : read_lines(hosts, (const char *)data, path, why);
    mem_free(data);
    return err;
}

enum err hosts_parse(struct hosts *hosts, const char *list, struct why *why)
{
    for (;;) {
        const char *one = list;
        const size_t whole = strcspn(list, ",");
        const size_t size = trim(&one, whole);
        const enum err err = add_text(hosts, one, size, why);

        if (err != ERR_OK || list[whole] == '\0')
            return err;
        list += whole + 1;
    }
}

/* --- names --------------------------------------------------------------- */

/* The host's name and, where it has several or that is no worker's name, a
 * number.  ::1 would begin like an option. */
static void name_slot(const struct host *host, uint32_t number,
                      char name[NAME_SIZE])
{
    const char first[2] = {host->name[0], '\0'};
    char text[HOST_LETTERS + 1];

    (void)snprintf(text, sizeof text, "%s%s",
                   codec_name_valid(first) ? "" : "host", host->name);
    for (char *at = text; *at != '\0'; at++) {
        const char one[2] = {*at, '\0'};

        if (!codec_name_valid(one))
            *at = '-';
    }
    if (host->slots == 1 && strcmp(text, TOKEN_CLUSTER) != 0)
        (void)snprintf(name, NAME_SIZE, "%s", text);
    else
        (void)snprintf(name, NAME_SIZE, "%s-%u", text, number);
}

/* Where a name is, or would be, in a table of twice as many places as names,
 * and a power of two; 0: a free place, else the index and 1. */
static uint32_t *place_of(uint32_t *table, uint32_t mask,
                          char (*names)[NAME_SIZE], const char *name)
{
    uint32_t at = (uint32_t)quick_u64(name, strlen(name), 0);

    while (table[at & mask] != 0 &&
           strcmp(names[table[at & mask] - 1], name) != 0)
        at++;
    return &table[at & mask];
}

/* Two users on one host, names that are alike in their first letters, a host
 * that is called like another's slot: the later ones have more of a name. */
static void tell_apart(uint32_t *table, uint32_t mask, char (*names)[NAME_SIZE],
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char *const name = names[i];
        const size_t whole = strnlen(name, HOST_LETTERS);

        for (uint32_t more = i; *place_of(table, mask, names, name) != 0;
             more++)
            (void)snprintf(name + whole, NAME_SIZE - whole, ".%u", more);
        *place_of(table, mask, names, name) = i + 1;
    }
}

enum err hosts_name(const struct hosts *hosts, char (*names)[NAME_SIZE],
                    struct why *why)
{
    uint32_t places = 2, at = 0;
    uint32_t *table;

    for (uint32_t i = 0; i < hosts->count; i++)
        for (uint32_t k = 1; k <= hosts->list[i].slots; k++)
            name_slot(&hosts->list[i], k, names[at++]);
    while (places < 2 * hosts->slots)
        places *= 2;
    table = mem_new(places, sizeof *table);
    if (table == NULL)
        return why_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    tell_apart(table, places - 1, names, at);
    mem_free(table);
    return ERR_OK;
}

void hosts_close(struct hosts *hosts)
{
    mem_free(hosts->list);
    *hosts = (struct hosts){0};
}
