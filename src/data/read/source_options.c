/*
 * source_options.c - what people are told of a source, by all who read one.
 */
#include "data/read/source_options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"

bool source_scales(const struct source_options *options)
{
    return options->scaling != SCALE_NONE && !options->scaling_implied;
}

struct pool *source_pool(const struct source_options *options)
{
    return options->pool != NULL ? options->pool : pool_serial();
}

const char *source_shown(const struct source_options *options)
{
    if (options->spec == NULL)
        return "the rows";
    return strcmp(options->spec, "-") == 0 ? "standard input" : options->spec;
}

void source_note(const struct source_options *options, const char *format, ...)
{
    char sentence[WHY_SIZE];
    va_list arguments;

    if (options->note == NULL)
        return;
    va_start(arguments, format);
    (void)vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    plain_controls(sentence, sizeof sentence); /* Of the file's name. */
    options->note(options->note_context, sentence);
}
