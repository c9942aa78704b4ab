/*
 * ending.c - endings of file names.
 */
#include "base/ending.h"

#include <string.h>
#include <strings.h>

bool ending_is(const char *name, size_t length, const char *ending)
{
    const size_t own = strlen(ending);

    return length >= own && strncasecmp(name + length - own, ending, own) == 0;
}
