/*
 * nearest.c - edit distance (Levenshtein) with two rows of the table, for the
 * question "did you mean".
 */
#include "base/nearest.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

static int plain(char c)
{
    return c == '_' ? '-' : tolower((unsigned char)c);
}

static size_t smallest(size_t a, size_t b, size_t c)
{
    const size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Two rows at a time. */
size_t nearest_distance(const char *a, const char *b)
{
    size_t before[NEAREST_MAX_BYTES + 1];
    size_t row[NEAREST_MAX_BYTES + 1];
    const size_t columns = strlen(b);

    if (columns > NEAREST_MAX_BYTES || strlen(a) > NEAREST_MAX_BYTES)
        return SIZE_MAX;
    for (size_t j = 0; j <= columns; j++)
        before[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        row[0] = i + 1;
        for (size_t j = 0; j < columns; j++)
            row[j + 1] = smallest(before[j + 1] + 1, row[j] + 1,
                                  before[j] + (plain(a[i]) != plain(b[j])));
        memcpy(before, row, sizeof before);
    }
    return before[columns];
}

size_t nearest_limit(const char *typed)
{
    const size_t length = strlen(typed);

    /* Half wrong is no longer a slip of the hand. */
    return length < 3 ? 0 : length < 4 ? 1 : length / 3 + 1;
}

const char *nearest_name(const char *typed, const char *const *names,
                         size_t count)
{
    const char *best = NULL;
    size_t limit = nearest_limit(typed);

    for (size_t i = 0; i < count; i++) {
        const size_t far = nearest_distance(typed, names[i]);

        if (far <= limit && (best == NULL || far < limit)) {
            best = names[i];
            limit = far;
        }
    }
    return best;
}
