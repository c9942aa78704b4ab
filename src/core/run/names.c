/*
 * names.c - patterns of names of files, of which digits are all that varies.
 */
#include "core/run/names.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool matches(const char *pattern, const char *file)
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
    return *file == '\0';
}

bool names_have(const struct names *names, const char *file)
{
    for (size_t i = 0; i < names->count; i++)
        if (matches(names->name[i], file))
            return true;
    return false;
}
