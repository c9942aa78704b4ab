/*
 * span.h - pieces of a text, for parsers and their messages.
 */
#ifndef DATA_SPAN_H
#define DATA_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "base/plain.h"

/* Not NUL-terminated. */
struct span {
    const char *at;
    size_t size;
};

#define QUOTE_MAX 32

/* A span fit for a message: short, printable. */
struct quote {
    char text[QUOTE_MAX + 4];
};

static inline struct quote quote(struct span span)
{
    struct quote made = {0};
    const size_t used =
        plain_copy(made.text, QUOTE_MAX + 1, span.at, span.size);

    if (used < span.size)
        memcpy(made.text + used, "...", 4);
    return made;
}

/* The same of a C string. */
static inline struct quote quote_text(const char *text)
{
    return quote((struct span){text, strlen(text)});
}

static inline bool span_is(struct span span, const char *text)
{
    size_t size;

    CHECK(text != NULL);
    size = strlen(text);
    return span.size == size && (size == 0 || memcmp(span.at, text, size) == 0);
}

#endif /* DATA_SPAN_H */
