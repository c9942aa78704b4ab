/*
 * json_text.c - a strict reader of JSON's objects and strings that makes no
 * tree.
 */
#include "model/files/json_text.h"

#include <stdint.h>
#include <string.h>

#include "base/hex.h"
#include "base/utf8.h"

static size_t left(const struct json_text *in)
{
    return (size_t)(in->end - in->at);
}

char json_text_peek(struct json_text *in)
{
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\t' ||
                                *in->at == '\n' || *in->at == '\r'))
        in->at++;
    return in->at < in->end ? *in->at : '\0';
}

bool json_text_pass(struct json_text *in, char mark)
{
    if (json_text_peek(in) != mark || in->at == in->end)
        return false;
    in->at++;
    return true;
}

/* Counted from 1; the end is its last byte. */
enum err json_text_broken(const struct json_text *in, const char *what)
{
    return why_set(in->why, ERR_FORMAT, "its header, byte %zu: %s",
                   (size_t)(in->at - in->begin) + (in->at < in->end), what);
}

/* Four digits behind \u. */
static bool take_unit(struct json_text *in, uint32_t *unit)
{
    uint8_t bytes[2];

    if (left(in) < 6 || in->at[0] != '\\' || in->at[1] != 'u' ||
        !hex_get(in->at + 2, sizeof bytes, bytes))
        return false;
    in->at += 6;
    *unit = (uint32_t)bytes[0] << 8 | bytes[1];
    return true;
}

/* A character as one unit of UTF-16, or as two halves. */
static enum err take_code(struct json_text *in, char **out)
{
    uint32_t code = 0, low = 0;
    struct json_text ahead = *in;

    if (!take_unit(&ahead, &code) || code == 0 ||
        (code >= 0xdc00 && code <= 0xdfff))
        return json_text_broken(in, "no character is written so");
    if (code >= 0xd800 && code < 0xdc00) {
        if (!take_unit(&ahead, &low) || low < 0xdc00 || low > 0xdfff)
            return json_text_broken(in, "half of a character");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    in->at = ahead.at;
    *out += utf8_put(code, *out);
    return ERR_OK;
}

static enum err take_escape(struct json_text *in, char **out)
{
    static const char names[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    const char *const found =
        left(in) < 2 ? NULL : memchr(names, in->at[1], sizeof names - 1);

    if (found == NULL)
        return take_code(in, out);
    *(*out)++ = means[found - names];
    in->at += 2;
    return ERR_OK;
}

static enum err take_characters(struct json_text *in, char **out)
{
    const unsigned char byte = (unsigned char)*in->at;
    uint32_t code = 0;
    size_t size;

    /* ASCII first: headers hold little else. */
    if (byte >= ' ' && byte < 0x80 && byte != '\\') {
        *(*out)++ = *in->at++;
        return ERR_OK;
    }
    if (byte == '\\')
        return take_escape(in, out);
    size = utf8_get(in->at, left(in), &code);
    if (size == 0 || code < ' ')
        return json_text_broken(in, "a byte that stands in no string");
    memcpy(*out, in->at, size);
    *out += size;
    in->at += size;
    return ERR_OK;
}

/* What is decoded is never longer than what was written, and the NUL has a
 * quote's place. */
enum err json_text_string(struct json_text *in, const char **text)
{
    char *out = in->room;
    enum err err = ERR_OK;

    if (!json_text_pass(in, '"'))
        return json_text_broken(in, "a string is missing");
    while (err == ERR_OK && in->at < in->end && *in->at != '"')
        err = take_characters(in, &out);
    if (err != ERR_OK)
        return err;
    if (in->at == in->end)
        return json_text_broken(in, "the end of a string is missing");
    in->at++;
    *out++ = '\0';
    *text = in->room;
    in->room = out;
    return ERR_OK;
}

enum err json_text_key(struct json_text *in, size_t before, const char **key)
{
    enum err err;

    *key = NULL;
    if (json_text_pass(in, '}'))
        return ERR_OK;
    if (before > 0 && !json_text_pass(in, ','))
        return json_text_broken(in, "',' or '}' is missing");
    err = json_text_string(in, key);
    if (err == ERR_OK && !json_text_pass(in, ':'))
        err = json_text_broken(in, "':' is missing");
    return err;
}
