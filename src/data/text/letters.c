/*
 * letters.c - encodings of text that are not read, and what to do about them.
 */
#include "data/text/letters.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/utf8.h"

/* Bytes that a text without a mark is judged by: too many for a binary file
 * that only happens to begin so. */
enum { LOOK_MIN = 8, LOOK_MAX = 32 };

/* Is each byte in an even (odd) place 0, and no other? */
static bool every_other_is_nul(const char *text, size_t size, bool odd)
{
    if (size > LOOK_MAX)
        size = LOOK_MAX;
    for (size_t i = 0; i < size; i++) {
        if ((text[i] == '\0') != ((i % 2 != 0) == odd))
            return false;
    }
    return size >= LOOK_MIN;
}

static bool begins(const char *text, size_t size, const char *mark,
                   size_t length)
{
    return size >= length && memcmp(text, mark, length) == 0;
}

/* As iconv calls it; NULL: neither. */
static const char *wide_name(const char *text, size_t size)
{
    if (begins(text, size, "\xff\xfe\0\0", 4) ||
        begins(text, size, "\0\0\xfe\xff", 4))
        return "UTF-32";
    if (begins(text, size, "\xff\xfe", 2) || begins(text, size, "\xfe\xff", 2))
        return "UTF-16";
    return every_other_is_nul(text, size, true)    ? "UTF-16LE"
           : every_other_is_nul(text, size, false) ? "UTF-16BE"
                                                   : NULL;
}

enum err letters_begin(const char *text, size_t size, struct why *why)
{
    const char *const name = wide_name(text, size);

    return name == NULL
               ? ERR_OK
               : why_set(why, ERR_FORMAT,
                         "%s, and text is UTF-8; save it as that, or `iconv "
                         "-f %s -t UTF-8 OLD >NEW` makes it so",
                         name, name);
}

enum err letters_check(struct span word, struct why *why)
{
    size_t at = 0;

    while (at < word.size) {
        uint32_t code = 0;
        const size_t size = (unsigned char)word.at[at] < 0x80
                                ? 1
                                : utf8_get(word.at + at, word.size - at, &code);

        if (size == 0)
            return why_set(why, ERR_FORMAT,
                           "'%s' is not UTF-8, as text is; if it is Latin-1, "
                           "`iconv -f latin1 -t UTF-8 OLD >NEW` makes it so",
                           quote(word).text);
        at += size;
    }
    return ERR_OK;
}
