/*
 * say.c - the only mouth of the program besides the screen.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"
#include "cli/mpi_ranks.h"
#include "os/log.h"
#include "os/run/interrupt.h"

static void tidy(char *sentence, size_t size)
{
    plain_controls(sentence, size);
    plain_text(sentence);
}

/* What is wrong with the words besides the first of it. */
static json_t *others_json(const struct options *options)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < options->other_count; i++) {
        tidy(options->others[i].text, WHY_SIZE);
        (void)json_array_append_new(list, json_string(options->others[i].text));
    }
    return list;
}

static void say_error_json(const struct cli *cli, const char *sentence)
{
    json_t *object = json_pack("{s:s}", "error", sentence);

    if (cli->options.other_count > 0)
        (void)json_object_set_new(object, "also", others_json(&cli->options));
    say_json(object);
}

static void say_error_text(const struct cli *cli, const char *sentence)
{
    const struct options *options = &cli->options;

    (void)fprintf(stderr, "muster: %s\n", sentence);
    for (uint32_t i = 0; i < options->other_count; i++) {
        tidy(options->others[i].text, WHY_SIZE);
        (void)fprintf(stderr, "muster: %s\n", options->others[i].text);
    }
}

int say_error(const struct cli *cli, int status, const char *format, ...)
{
    char sentence[2 * WHY_SIZE];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    tidy(sentence, sizeof sentence);
    if (!ranks_speak(cli, &status, sentence, sizeof sentence))
        return status;
    if (cli->json)
        say_error_json(cli, sentence);
    else
        say_error_text(cli, sentence);
    return status;
}

int say_why(const struct cli *cli, enum err err, const struct why *why)
{
    const bool usage = err == ERR_UNKNOWN || err == ERR_SHAPE ||
                       err == ERR_RANGE || err == ERR_UNSUPPORTED;

    int status = usage ? EXIT_USAGE : EXIT_FAILED;

    if (err == ERR_CANCELLED && interrupt_signal() != 0)
        status = EXIT_SIGNAL + interrupt_signal();
    return say_error(cli, status, "%s",
                     why->text[0] == '\0' ? err_text(err) : why->text);
}

__attribute__((format(printf, 1, 0))) static void say_line(const char *format,
                                                           va_list arguments)
{
    char sentence[2 * WHY_SIZE];

    (void)vsnprintf(sentence, sizeof sentence, format, arguments);
    plain_controls(sentence, sizeof sentence);
    plain_text(sentence);
    (void)fprintf(stderr, "%s\n", sentence);
}

void say_note(const struct cli *cli, const char *format, ...)
{
    va_list arguments;

    if (cli->quiet)
        return;
    va_start(arguments, format);
    say_line(format, arguments);
    va_end(arguments);
}

void say_aloud(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say_line(format, arguments);
    va_end(arguments);
}

void tell_note(void *context, const char *sentence)
{
    (void)context;
    log_note("%s", sentence);
}

void say_name(const char *before, const char *name, const char *after)
{
    char piece[256];
    size_t left = strlen(name);

    (void)fputs(before, stdout);
    while (left > 0) {
        const size_t size = plain_copy(piece, sizeof piece, name, left);

        (void)fputs(piece, stdout);
        name += size;
        left -= size;
    }
    (void)fputs(after, stdout);
}

void say_json(json_t *object)
{
    (void)json_dumpf(object, stdout,
                     JSON_INDENT(2) | JSON_REAL_PRECISION(17) |
                         JSON_ENSURE_ASCII);
    (void)fputc('\n', stdout);
    /* Where both streams are one file, no line of the other gets into it; main
     * looks whether it could be written. */
    (void)fflush(stdout);
    json_decref(object);
}
