/*
 * names.c - patterns of names of files, of which digits are all that varies.
 */
#include "core/run/names.h"

#include <string.h>

#define BESIDE        ".tmp."
#define BESIDE_DIGITS 16u

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* All of it up to `end`. */
static bool matches(const char *pattern, const char *file, const char *end)
{
    for (; *pattern != '\0'; pattern++) {
        if (*pattern != '#') {
            if (*file++ != *pattern)
                return false;
            continue;
        }
        if (!is_digit(*file))
            return false;
        while (is_digit(*file))
            file++;
    }
    return file == end;
}

static bool have(const struct names *names, const char *file, const char *end)
{
    for (size_t i = 0; i < names->count; i++)
        if (matches(names->name[i], file, end))
            return true;
    return false;
}

bool names_have(const struct names *names, const char *file)
{
    return have(names, file, file + strlen(file));
}

bool names_left(const struct names *names, const char *file)
{
    const char *const end = strstr(file, BESIDE);
    const char *const digits = end == NULL ? "" : end + sizeof BESIDE - 1;

    return strlen(digits) == BESIDE_DIGITS &&
           strspn(digits, "0123456789abcdef") == BESIDE_DIGITS &&
           have(names, file, end);
}
