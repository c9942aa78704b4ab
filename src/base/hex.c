/*
 * hex.c - bytes as hexadecimal digits, and back.
 */
#include "base/hex.h"

char *hex_put(const uint8_t *bytes, size_t count, char *text)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < count; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * count] = '\0';
    return text;
}

static int value_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool hex_get(const char *text, size_t count, uint8_t *bytes)
{
    for (size_t i = 0; i < count; i++) {
        const int high = value_of(text[2 * i]);
        const int low = high < 0 ? -1 : value_of(text[2 * i + 1]);

        if (low < 0)
            return false;
        bytes[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}
