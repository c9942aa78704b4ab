/*
 * network_text.c - a network's text, read from a file if it is the name of one.
 */
#include "learn/network_text.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "data/text/sniff.h"
#include "model/net/neural_model.h"
#include "os/file/file.h"

#define TEXT_MAX (UINT64_C(1) << 16)

/* From a # to the end of its line: a model keeps the layers alone. */
static void drop_comments(uint8_t *bytes, size_t *size)
{
    bool comment = false;
    size_t kept = 0;

    for (size_t i = 0; i < *size; i++) {
        comment = bytes[i] == '#' || (comment && bytes[i] != '\n');
        if (!comment)
            bytes[kept++] = bytes[i];
    }
    *size = kept;
}

/* One word with an ending or a folder: layers have digits behind . and /, and
 * calls (nn.Linear(4,32)), which are told what to write, brackets. */
static bool looks_like_file(const char *given)
{
    bool found = false;

    for (const char *at = given; (at = strpbrk(at, "./")) != NULL; at++)
        found |= isalpha((unsigned char)at[1]) != 0;
    return found && strpbrk(given, " \t\r\n(") == NULL;
}

static enum err read_text(const char *path, char **text, struct why *why)
{
    uint8_t *bytes;
    size_t size;
    enum err err = file_read(path, TEXT_MAX, &bytes, &size, why);

    if (err != ERR_OK)
        return err;
    drop_comments(bytes, &size);
    if (memchr(bytes, '\0', size) != NULL)
        err =
            why_set(why, ERR_FORMAT, "%.200s: not the text of a network", path);
    *text = err == ERR_OK ? mem_new(size + 1, 1) : NULL;
    if (*text != NULL)
        memcpy(*text, bytes, size);
    else if (err == ERR_OK)
        err = why_set(why, ERR_NOMEM, "out of memory");
    mem_free(bytes);
    return err;
}

enum err network_text(const char *given, char **text, struct why *why)
{
    enum err err;

    *text = NULL;
    err = neural_text_begins(given) ? ERR_OK : sniff_network(given, why);
    if (err != ERR_OK)
        return why_in(why, err, "--net %.200s", given);
    if (!neural_text_begins(given) && file_exists(given))
        return read_text(given, text, why);
    if (looks_like_file(given))
        return why_set(why, ERR_NOTFOUND,
                       "--net %.200s: there is no such file; name one, or "
                       "write the layers, \"dense100 relu dense10\"",
                       given);
    *text = mem_text(given);
    return *text != NULL ? ERR_OK : why_set(why, ERR_NOMEM, "out of memory");
}

enum err network_check(const char *given, struct why *why)
{
    enum err err;

    if (!neural_text_begins(given) &&
        (file_exists(given) || looks_like_file(given)))
        return ERR_OK;
    err = neural_check(given, why);
    return err == ERR_OK ? err : why_in(why, err, "--net");
}
