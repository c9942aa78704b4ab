#include "base/plain.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character that begins there; 0: none that is to be shown.  Not
 * every wrong form is found, only what a terminal may act on. */
static size_t shown_bytes(const unsigned char *at)
{
    const size_t size = at[0] < 0x80   ? 1
                        : at[0] < 0xc2 ? 0
                        : at[0] < 0xe0 ? 2
                        : at[0] < 0xf0 ? 3
                        : at[0] < 0xf5 ? 4
                                       : 0;

    if (size == 1)
        return (at[0] >= 0x20 && at[0] != 0x7f) || at[0] == '\n' ? 1 : 0;
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    }
    /* U+0080 to U+009f are controls, too. */
    return at[0] == 0xc2 && at[1] < 0xa0 ? 0 : size;
}

void plain_text(char *text)
{
    while (*text != '\0') {
        const size_t size = shown_bytes((const unsigned char *)text);

        if (size == 0)
            *text = '?';
        text += size == 0 ? 1 : size;
    }
}
