/*
 * json_text.h - a header of JSON, read from its beginning to its end, piece by
 * piece.
 *
 * A tree of a text costs many times the text, and a header of others may be
 * long: objects are walked member by member, strings are decoded into room that
 * the caller gives, and whatever else is a value is left to the caller.  What
 * RFC 8259 does not allow is refused, and so is \u0000, which would end a C
 * string.
 */
#ifndef MODEL_FILES_JSON_TEXT_H
#define MODEL_FILES_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct json_text {
    const char *begin, *at, *end;
    char *room; /* For strings; as many bytes as the text are enough. */
    struct why *why;
};

/* Blanks, and the mark behind them; another byte stays where it is. */
bool json_text_pass(struct json_text *in, char mark);

/* The byte behind blanks; '\0' at the end. */
char json_text_peek(struct json_text *in);

/* ERR_FORMAT, with "its header, byte N: " before what is wrong at hand. */
enum err json_text_broken(const struct json_text *in, const char *what);

/* A string, which lies in the room. */
MUST_CHECK enum err json_text_string(struct json_text *in, const char **text);

/* The next key of an object whose brace was passed and `before` of whose
 * members were taken; its value comes next.  NULL: the object ended. */
MUST_CHECK enum err json_text_key(struct json_text *in, size_t before,
                                  const char **key);

#endif /* MODEL_FILES_JSON_TEXT_H */
