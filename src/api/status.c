/*
 * status.c - how functions of muster.h end, and how structures with a size are
 * taken and given.
 */
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "api/handle.h"
#include "base/version.h"

_Static_assert(MUSTER_WHY_SIZE == WHY_SIZE, "a sentence fits both");
_Static_assert(MUSTER_HASH_SIZE == DIGEST_TEXT, "a digest in hex");

static enum err check_size(const void *given, size_t least, size_t own,
                           size_t *size, struct why *why)
{
    if (given == NULL)
        return why_set(why, ERR_SHAPE, "a structure is NULL");
    memcpy(size, given, sizeof *size);
    if (*size > own)
        return why_set(why, ERR_UNKNOWN,
                       "a structure of %zu bytes, the library knows %zu: the "
                       "header is newer than the library",
                       *size, own);
    if (*size < least)
        return why_set(why, ERR_SHAPE,
                       "a structure of %zu bytes; MUSTER_INIT sets the size",
                       *size);
    return ERR_OK;
}

enum err struct_take(const void *given, size_t least, size_t own, void *out,
                     struct why *why)
{
    size_t size = 0;
    const enum err err = check_size(given, least, own, &size, why);

    if (err != ERR_OK)
        return err;
    memset(out, 0, own);
    memcpy(out, given, size);
    return ERR_OK;
}

enum err struct_give(void *given, size_t least, size_t own, const void *made,
                     struct why *why)
{
    size_t size = 0;
    const enum err err = check_size(given, least, own, &size, why);

    if (err != ERR_OK)
        return err;
    memcpy((char *)given + sizeof size, (const char *)made + sizeof size,
           size - sizeof size);
    return ERR_OK;
}

fenv_t floats_own(void)
{
    fenv_t host;

    (void)fegetenv(&host);
    (void)fesetenv(FE_DFL_ENV);
    return host;
}

void floats_restore(const fenv_t *host)
{
    (void)fesetenv(host);
}

static enum muster_status status_of(enum err err)
{
    switch (err) {
    case ERR_OK:
        return MUSTER_OK;
    case ERR_UNKNOWN:
        return MUSTER_BAD_VERSION;
    case ERR_SHAPE:
    case ERR_FORMAT:
        return MUSTER_BAD_OPTION;
    case ERR_NOMEM:
        return MUSTER_NO_MEMORY;
    case ERR_RANGE:
        return MUSTER_DIVERGED;
    case ERR_CANCELLED:
        return MUSTER_STOPPED;
    case ERR_UNSUPPORTED:
        return MUSTER_UNSUPPORTED;
    case ERR_MISMATCH:
        return MUSTER_NOT_A_FUNCTION;
    case ERR_DENIED:
        return MUSTER_REFUSED;
    case ERR_CLOSED:
        return MUSTER_LOST;
    case ERR_TIMEOUT:
        return MUSTER_TIMEOUT;
    case ERR_STALE:
        return MUSTER_MISSED;
    case ERR_UNDECODABLE:
    case ERR_OVERLAP:
    case ERR_TRUNCATED:
    case ERR_TOOBIG:
    case ERR_NOTFOUND:
    case ERR_EXISTS:
    case ERR_IO:
        return MUSTER_FAILED;
    }
    return MUSTER_FAILED;
}

/* The dashes of a flag that begins there, --l2 or -n; 0: none does. */
static size_t dashes_at(const char *text, size_t i)
{
    const char *const word = text + i;
    const size_t count = strspn(word, "-");

    if (i > 0 && strchr(count == 1 ? " (" : " (\"'`", text[i - 1]) == NULL)
        return 0;
    if (count == 1) /* A value may begin with one: -inf. */
        return isalpha((unsigned char)word[1]) &&
                       !isalnum((unsigned char)word[2])
                   ? 1
                   : 0;
    return count == 2 && islower((unsigned char)word[2]) ? 2 : 0;
}

/* A command to type (`muster train --resume=run`, `ulimit -f`) is left as it
 * is. */
void status_keys(const char *text, char *why)
{
    bool quoted = false, command = false;
    size_t used = 0;

    for (size_t i = 0; text[i] != '\0' && used + 1 < MUSTER_WHY_SIZE; i++) {
        if (text[i] == '`') {
            quoted = !quoted;
            command = quoted && text[i + 1] != '-';
        }
        if (!command)
            i += dashes_at(text, i);
        why[used++] = text[i];
    }
    why[used] = '\0';
}

static void say(enum err err, const struct why *sentence, char *why)
{
    const char *text = "";

    if (err == ERR_CANCELLED)
        text = "stopped: a function of yours or a signal said so";
    else if (err != ERR_OK)
        text = err_text(err);
    if (err != ERR_OK && sentence->text[0] != '\0')
        text = sentence->text;
    if (why != NULL)
        status_keys(text, why);
}

enum muster_status status_end(enum err err, const struct why *sentence,
                              char *why)
{
    say(err, sentence, why);
    return status_of(err);
}

enum muster_status status_of_data(enum err err, const struct why *sentence,
                                  char *why)
{
    say(err, sentence, why);
    if (err == ERR_TOOBIG)
        return MUSTER_BAD_DATA;
    switch (status_of(err)) {
    case MUSTER_BAD_VERSION:
    case MUSTER_BAD_OPTION:
    case MUSTER_DIVERGED:
    case MUSTER_UNSUPPORTED:
    case MUSTER_NOT_A_FUNCTION:
        return MUSTER_BAD_DATA;
    case MUSTER_OK:
    case MUSTER_NO_MEMORY:
    case MUSTER_STOPPED:
    case MUSTER_FAILED:
    case MUSTER_REFUSED:
    case MUSTER_LOST:
    case MUSTER_TIMEOUT:
    case MUSTER_MISSED:
    case MUSTER_BAD_DATA:
        break;
    }
    return status_of(err);
}

const char *muster_status_text(enum muster_status status)
{
    switch (status) {
    case MUSTER_OK:
        return "done";
    case MUSTER_BAD_VERSION:
        return "the header is newer than the library";
    case MUSTER_BAD_OPTION:
        return "a key, a value or an argument that cannot be";
    case MUSTER_NO_MEMORY:
        return "out of memory";
    case MUSTER_DIVERGED:
        return "the training diverged";
    case MUSTER_STOPPED:
        return "stopped";
    case MUSTER_UNSUPPORTED:
        return "not supported";
    case MUSTER_NOT_A_FUNCTION:
        return "two answers to the same question";
    case MUSTER_FAILED:
        return "disk, network or processes failed";
    case MUSTER_REFUSED:
        return "refused by the other side";
    case MUSTER_LOST:
        return "nobody is left, or can be reached";
    case MUSTER_TIMEOUT:
        return "too late";
    case MUSTER_MISSED:
        return "the others have gone on";
    case MUSTER_BAD_DATA:
        return "rows, labels or a file that cannot be used";
    }
    return "an unknown status";
}

uint32_t muster_version(void)
{
    return MUSTER_VERSION;
}

const char *muster_release(void)
{
    return version_text;
}
