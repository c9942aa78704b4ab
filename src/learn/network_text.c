/*
 * network_text.c - a network's text, read from a file if it is the name of one.
 */
#include "learn/network_text.h"

#include <string.h>

#include "base/mem.h"
#include "data/text/sniff.h"
#include "model/net/neural_model.h"
#include "os/file/file.h"

#define TEXT_MAX (UINT64_C(1) << 16)

static enum err read_text(const char *path, char **text, struct why *why)
{
    uint8_t *bytes;
    size_t size;
    enum err err = file_read(path, TEXT_MAX, &bytes, &size, why);

    if (err != ERR_OK)
        return err;
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
    *text = mem_text(given);
    return *text != NULL ? ERR_OK : why_set(why, ERR_NOMEM, "out of memory");
}
