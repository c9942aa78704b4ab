/*
 * text.c - formatting into a buffer whose size was computed; too much is a bug,
 * not a truncation.
 */
#include "node/host/text.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/check.h"

void text_add(struct text *text, const char *format, ...)
{
    va_list args;
    int size;

    va_start(args, format);
    size = vsnprintf(text->to + text->size, text->capacity - text->size, format,
                     args);
    va_end(args);
    CHECK(size >= 0 && (size_t)size < text->capacity - text->size);
    text->size += (size_t)size;
}
