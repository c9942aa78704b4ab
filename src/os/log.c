/*
 * log.c - the log: a line, one write, the process's name in front.  Lines that
 * others can provoke are limited in number, or a stranger could fill a disk.
 */
#include "os/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/plain.h"
#include "os/clock.h"
#include "os/transfer.h"

#define LINE_SIZE  1024
#define BURST      10u
#define BURST_US   SECOND_US
#define NAME_BYTES 80u

static struct {
    char name[NAME_BYTES];
    bool quiet;
    time_us began; /* Of the present burst. */
    uint32_t said; /* In it. */
    uint64_t dropped;
} log_state;

void log_name(const char *name)
{
    (void)snprintf(log_state.name, sizeof log_state.name, "%s%s", name,
                   name[0] != '\0' ? ": " : "");
    log_state.dropped = 0; /* Those were another's. */
}

void log_quiet(bool quiet)
{
    log_state.quiet = quiet;
}

static void put(const char *text)
{
    char line[LINE_SIZE + NAME_BYTES + 16];

    (void)snprintf(line, sizeof line, "muster: %s%s\n", log_state.name, text);
    if (transfer_write_all(STDERR_FILENO, line, strlen(line)) != ERR_OK)
        log_state.dropped++;
}

void log_end(void)
{
    char text[64];
    const uint64_t dropped = log_state.dropped;

    if (dropped == 0)
        return;
    log_state.dropped = 0;
    (void)snprintf(text, sizeof text, "... and %" PRIu64 " more line%s",
                   dropped, dropped == 1 ? "" : "s");
    put(text);
}

static bool too_many(void)
{
    const time_us now = clock_now_us();

    if (now - log_state.began >= BURST_US) {
        log_end();
        log_state.began = now;
        log_state.said = 0;
    }
    if (log_state.said >= BURST) {
        log_state.dropped++;
        return true;
    }
    log_state.said++;
    return false;
}

static void say(const char *format, va_list args)
{
    char text[LINE_SIZE];

    if (too_many())
        return;
    (void)vsnprintf(text, sizeof text, format, args);
    plain_text(text);
    put(text);
}

void log_line(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
}

void log_note(const char *format, ...)
{
    va_list args;

    if (log_state.quiet)
        return;
    va_start(args, format);
    say(format, args);
    va_end(args);
}
