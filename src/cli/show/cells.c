/*
 * cells.c - a compact picture of many workers: one character each for its pace
 * or its state.
 */
#include "cli/show/cells.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

#define LINE_CELLS   32u
#define GROUP_CELLS  8u
#define COLUMNS      78u
#define NAMES_ROOM   16u /* For ", and 255 more". */
#define HEIGHTS      8u
#define RELAYS_SHOWN 2u /* In one line. */

struct text {
    char *to;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text,
                                                      const char *format, ...)
{
    va_list args;
    int size;

    va_start(args, format);
    size =
        vsnprintf(text->to + text->size, CELLS_TEXT - text->size, format, args);
    va_end(args);
    CHECK(size >= 0 && (size_t)size < CELLS_TEXT - text->size);
    text->size += (size_t)size;
}

const char *cells_colour(enum progress_state state)
{
    static const char *const codes[] = {"\033[32m", "\033[33m", "\033[35m",
                                        "\033[31m", "\033[90m"};

    CHECK((size_t)state < sizeof codes / sizeof *codes);
    return codes[state];
}

uint32_t cells_lines(const struct progress *progress)
{
    return progress->count / LINE_CELLS + (progress->count % LINE_CELLS != 0);
}

/* 0 .. levels - 1. */
static uint32_t level(const struct progress *progress,
                      const struct progress_worker *worker, uint32_t levels)
{
    const uint64_t best = progress->pace_best == 0 ? 1 : progress->pace_best;
    const uint64_t at = worker->pace * levels / best;

    return at < levels ? (uint32_t)at : levels - 1;
}

static void add_pace(struct text *text, const struct progress *progress,
                     const struct progress_worker *worker, bool utf8)
{
    static const char *const blocks[HEIGHTS] = {"\u2581", "\u2582", "\u2583",
                                                "\u2584", "\u2585", "\u2586",
                                                "\u2587", "\u2588"};

    if (utf8)
        add(text, "%s", blocks[level(progress, worker, HEIGHTS)]);
    else
        add(text, "%u", level(progress, worker, 10));
}

static void add_cell(struct text *text, const struct progress *progress,
                     const struct progress_worker *worker, bool utf8,
                     bool colour)
{
    static const char letters[] = {' ', 's', '?', 'x', '-'};

    if (colour)
        add(text, "%s", cells_colour(worker->state));
    if (worker->state == PROGRESS_WORKING)
        add_pace(text, progress, worker, utf8);
    else
        add(text, "%c", letters[worker->state]);
    if (colour)
        add(text, "\033[0m");
}

/* Those that the workers of a line are behind, each once. */
static void add_relays(struct text *text, const struct progress *progress,
                       uint32_t first)
{
    uint32_t shown = 0;

    for (uint32_t i = first; i < progress->count && i < first + LINE_CELLS;
         i++) {
        const char *relay = progress->workers[i].relay;
        bool said = relay[0] == '\0';

        for (uint32_t k = first; k < i && !said; k++)
            said = strcmp(progress->workers[k].relay, relay) == 0;
        if (said)
            continue;
        if (shown == RELAYS_SHOWN)
            add(text, " ...");
        else if (shown < RELAYS_SHOWN)
            add(text, "%s%.10s", shown == 0 ? "  behind " : " ", relay);
        shown++;
    }
}

const char *cells_line(const struct progress *progress, uint32_t line,
                       bool utf8, bool colour, char out[CELLS_TEXT])
{
    const uint32_t first = line * LINE_CELLS;
    struct text text = {0};

    CHECK(first < progress->count);
    text.to = out;
    add(&text, "  %-10.10s", progress->workers[first].name);
    for (uint32_t i = first; i < progress->count && i < first + LINE_CELLS;
         i++) {
        if ((i - first) % GROUP_CELLS == 0)
            add(&text, " ");
        add_cell(&text, progress, &progress->workers[i], utf8, colour);
    }
    add_relays(&text, progress, first);
    return out;
}

/* "dead w3, w9, and 4 more" */
static void add_names(struct text *text, const struct progress *progress,
                      enum progress_state state)
{
    uint32_t shown = 0, more = 0;

    for (uint32_t i = 0; i < progress->count; i++) {
        const char *name = progress->workers[i].name;

        if (progress->workers[i].state != state)
            continue;
        if (more > 0 || text->size + strlen(name) + NAMES_ROOM + 12 > COLUMNS) {
            more++;
            continue;
        }
        if (shown++ == 0)
            add(text, "%s%s %s", text->size > 0 ? "   " : "  ",
                progress_state_name(state), name);
        else
            add(text, ", %s", name);
    }
    if (more > 0 && shown > 0)
        add(text, ", and %u more", more);
    else if (more > 0)
        add(text, "   %u %s", more, progress_state_name(state));
}

const char *cells_trouble(const struct progress *progress, char out[CELLS_TEXT])
{
    struct text text = {0};

    text.to = out;
    out[0] = '\0';
    for (int state = PROGRESS_STRAGGLING; state <= PROGRESS_LEFT; state++)
        add_names(&text, progress, (enum progress_state)state);
    return out;
}
