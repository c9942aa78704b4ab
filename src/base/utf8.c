/*
 * utf8.c - the one place that knows how UTF-8 lays out a character.
 */
#include "base/utf8.h"

#include "base/check.h"

/* Bytes of a character by its first one; 0: none begins so. */
static size_t length_of(unsigned char first)
{
    return first < 0x80   ? 1
           : first < 0xc2 ? 0
           : first < 0xe0 ? 2
           : first < 0xf0 ? 3
           : first < 0xf5 ? 4
                          : 0;
}

size_t utf8_get(const char *text, size_t size, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *const at = (const unsigned char *)text;
    const size_t length = size == 0 ? 0 : length_of(at[0]);
    uint32_t made;

    if (length == 0 || length > size)
        return 0;
    made = length == 1 ? at[0] : at[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        made = made << 6 | (at[i] & 0x3fu);
    }
    if (made < least[length] || made > 0x10ffff ||
        (made >= 0xd800 && made <= 0xdfff))
        return 0;
    *code = made;
    return length;
}

size_t utf8_put(uint32_t code, char text[UTF8_SIZE])
{
    const size_t length = code < 0x80      ? 1
                          : code < 0x800   ? 2
                          : code < 0x10000 ? 3
                                           : 4;

    CHECK(code <= 0x10ffff);
    for (size_t i = length; i-- > 1; code >>= 6)
        text[i] = (char)(0x80 | (code & 0x3f));
    text[0] = (char)(length == 1 ? code : (0xf00u >> length & 0xf0) | code);
    return length;
}
