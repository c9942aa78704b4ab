/*
 * text.h - text by and by into a message of fixed size.
 */
#ifndef NODE_TEXT_H
#define NODE_TEXT_H

#include <stddef.h>

struct text {
    char *to;
    size_t size, capacity;
};

/* The caller has looked that it fits. */
__attribute__((format(printf, 2, 3))) void text_add(struct text *text,
                                                    const char *format, ...);

#endif /* NODE_TEXT_H */
