/*
 * plain.c - a filter for UTF-8 from outside: control characters, direction
 * marks and malformed sequences do not reach a terminal or a log.
 */
#include "base/plain.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/hex.h"
#include "base/utf8.h"

/* Letters and signs: no controls, nothing that turns the direction of what
 * follows or is not seen at all. */
static bool is_shown(uint32_t code)
{
    static const uint32_t hidden[][2] = {
        {0x0000, 0x001f}, {0x007f, 0x009f}, {0x00ad, 0x00ad},
        {0x061c, 0x061c}, {0x180e, 0x180e}, {0x200b, 0x200f},
        {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff},
        {0xfff9, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe0fff}};

    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        if (code >= hidden[i][0] && code <= hidden[i][1])
            return false;
    }
    return true;
}

/* Bytes of the character that begins there; 0: none that is to be shown. */
static size_t shown_bytes(const char *text, size_t size)
{
    uint32_t code = 0;
    const size_t length = utf8_get(text, size, &code);

    return is_shown(code) ? length : 0;
}

void plain_text(char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        const size_t size = *text == '\n' ? 1 : shown_bytes(text, left);

        if (size == 0)
            *text = '?';
        text += size == 0 ? 1 : size;
        left -= size == 0 ? 1 : size;
    }
}

void plain_controls(char *text, size_t size)
{
    for (char *at = text; *at != '\0'; at++) {
        const uint8_t code = (uint8_t)*at;
        const size_t room = size - (size_t)(at - text);
        char digits[sizeof "1b"];
        size_t rest;

        if (code >= ' ' && code != 0x7f)
            continue;
        if (room < sizeof "\\x1b") {
            *at = '\0';
            return;
        }
        rest = strnlen(at + 1, room - sizeof "\\x1b");
        memmove(at + 4, at + 1, rest);
        at[4 + rest] = '\0';
        at[0] = '\\';
        at[1] = 'x';
        memcpy(at + 2, hex_put(&code, 1, digits), 2);
        at += 3;
    }
}

size_t plain_copy(char *out, size_t room, const char *text, size_t size)
{
    size_t at = 0;

    while (at < size) {
        const size_t shown = shown_bytes(text + at, size - at);
        const size_t bytes = shown == 0 ? 1 : shown;

        if (at + bytes >= room)
            break;
        if (shown == 0)
            out[at] = '?';
        else
            memcpy(out + at, text + at, shown);
        at += bytes;
    }
    out[at] = '\0';
    return at;
}
