/*
 * span.h - pieces of a text, for parsers and their messages.
 */
#ifndef DATA_SPAN_H
#define DATA_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/plain.h"

/* Not NUL-terminated. */
struct span {
    const char *at;
    size_t size;
};

#define QUOTE_MAX 32
#define LIST_SIZE 128u

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

/* One more in a list of words, "a, b, ..." once there is no room. */
static inline void list_add(char *list, size_t size, const char *word)
{
    const size_t used = strlen(list);

    if (used >= 3 && strcmp(list + used - 3, "...") == 0)
        return;
    if (used + strlen(", ") + strlen(word) + sizeof ", ..." > size)
        word = "...";
    (void)snprintf(list + used, size - used, "%s%s", used == 0 ? "" : ", ",
                   word);
}

/* Without the blanks at its ends. */
static inline struct span span_trim(struct span span)
{
    while (span.size > 0 && span.at[0] == ' ') {
        span.at++;
        span.size--;
    }
    while (span.size > 0 && span.at[span.size - 1] == ' ')
        span.size--;
    return span;
}

static inline bool span_is(struct span span, const char *text)
{
    size_t size;

    CHECK(text != NULL);
    size = strlen(text);
    return span.size == size && (size == 0 || memcmp(span.at, text, size) == 0);
}

#endif /* DATA_SPAN_H */
