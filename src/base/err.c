/*
 * err.c - the texts of error codes, and the sentence that a failure carries.  A
 * caller puts its own words in front of those of the function that it called,
 * so that the sentence reads from the outside in.  Names and cells of files are
 * shown in it; what they would do to a terminal is not done.
 */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"

const char *err_text(enum err err)
{
#define ERR_CASE(code, text)                                                   \
    case code:                                                                 \
        return text;
    switch (err) {
        ERR_LIST(ERR_CASE)
    }
#undef ERR_CASE
    return "unknown error";
}

enum err why_set(struct why *why, enum err err, const char *format, ...)
{
    va_list args;

    if (why == NULL)
        return err;
    va_start(args, format);
    (void)vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    plain_controls(why->text, sizeof why->text);
    return err;
}

enum err why_in(struct why *why, enum err err, const char *format, ...)
{
    struct why inner;
    va_list args;
    size_t used;

    if (why == NULL)
        return err;
    inner = *why;
    va_start(args, format);
    (void)vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    used = strlen(why->text);
    (void)snprintf(why->text + used, sizeof why->text - used, ": %s",
                   inner.text[0] != '\0' ? inner.text : err_text(err));
    plain_controls(why->text, sizeof why->text);
    return err;
}
