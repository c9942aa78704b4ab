/*
 * option.c - from texts to checked values.
 *
 * Every value passes through setting_put, whatever its origin, so that a range
 * is checked once and the rule of precedence stands in one line there.
 */
#include "learn/recipe/option.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "learn/recipe/foreign.h"

static char plain(char c)
{
    return c == '_' ? '-' : c;
}

/* Do `length` characters of `typed` spell `name`? */
static bool same_name(const char *typed, size_t length, const char *name,
                      size_t name_length)
{
    if (length != name_length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (plain(typed[i]) != name[i])
            return false;
    return true;
}

/* Is the word one of the names in "a|b|c"? */
static bool in_list(const char *typed, size_t length, const char *list)
{
    for (const char *at = list; at != NULL && *at != '\0';) {
        const size_t item = strcspn(at, "|");

        if (same_name(typed, length, at, item))
            return true;
        at += item + (at[item] == '|');
    }
    return false;
}

bool option_named(const struct option *row, const char *typed, size_t length)
{
    return same_name(typed, length, row->name, strlen(row->name)) ||
           in_list(typed, length, row->aliases);
}

const char *option_choices(const struct option *row, char list[CHOICES_SIZE])
{
    (void)snprintf(list, CHOICES_SIZE, "%s", row->choices);
    for (char *bar = strchr(list, '|'); bar != NULL; bar = strchr(bar, '|'))
        *bar = ' ';
    return list;
}

const char *option_dashes(const char *name)
{
    return name[1] == '\0' ? "-" : "--";
}

static bool parse_count(const char *text, size_t length, uint64_t *value)
{
    char copy[32];
    char *end;

    if (length == 0 || length >= sizeof copy ||
        !isdigit((unsigned char)text[0]))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    errno = 0;
    *value = strtoull(copy, &end, 10);
    return errno == 0 && *end == '\0';
}

/* As people write numbers: strtod reads hexadecimal ones and blanks, too. */
static bool parse_real(const char *text, double *value)
{
    char *end;

    errno = 0;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && errno == 0 &&
           strspn(text, "+-.0123456789eE") == strlen(text);
}

/* -0 is below 0, whatever the processor says. */
static bool within(const struct option *row, double value)
{
    return value >= row->min && value <= row->max &&
           !(row->min >= 0 && signbit(value));
}

static enum err out_of_range(const struct option *row, const char *text,
                             const char *what, struct why *why)
{
    return why_set(
        why, ERR_RANGE, "%s%s %.64s: expected %s from %.16g to %.16g",
        option_dashes(row->name), row->name, text, what, row->min, row->max);
}

static enum err parse_flag(const struct option *row, const char *text,
                           struct setting *setting, struct why *why)
{
    const bool yes = in_list(text, strlen(text), "yes|true|on|1");

    if (!yes && !in_list(text, strlen(text), "no|false|off|0"))
        return why_set(why, ERR_RANGE, "--%s %.64s: expected yes or no",
                       row->name, text);
    setting->low = yes;
    return ERR_OK;
}

/* The choice that was written in another case, or NULL; it is cut out of
 * `list`.  Slips need no guess: the sentence names all choices. */
static const char *same_choice(const struct option *row, const char *text,
                               char list[CHOICES_SIZE])
{
    (void)option_choices(row, list);
    for (char *at = list; *at != '\0';) {
        char *const end = at + strcspn(at, " ");
        const bool last = *end == '\0';

        *end = '\0';
        if (nearest_distance(text, at) == 0)
            return at;
        at = last ? end : end + 1;
    }
    return NULL;
}

static enum err parse_choice(const struct option *row, const char *text,
                             struct why *why)
{
    char list[CHOICES_SIZE], cut[CHOICES_SIZE];
    const char *same, *advice;

    if (in_list(text, strlen(text), row->choices))
        return ERR_OK;
    advice = foreign_value(row, text);
    if (advice != NULL)
        return why_set(why, ERR_RANGE, "--%s %.64s: %s", row->name, text,
                       advice);
    same = same_choice(row, text, cut);
    return why_set(why, ERR_RANGE, "--%s %.64s: expected one of: %s%s%s%s",
                   row->name, text, option_choices(row, list),
                   same == NULL ? "" : "; did you mean ",
                   same == NULL ? "" : same, same == NULL ? "" : "?");
}

static enum err parse_span(const struct option *row, const char *text,
                           struct setting *setting, struct why *why)
{
    const size_t first = strcspn(text, ":");
    const char *second = text[first] == ':' ? text + first + 1 : text;
    const size_t second_length = second == text ? first : strlen(second);

    if (!parse_count(text, first, &setting->low) ||
        !parse_count(second, second_length, &setting->high) ||
        !within(row, (double)setting->low) ||
        !within(row, (double)setting->high) || setting->low > setting->high)
        return out_of_range(row, text, "a whole number, or two as LOW:HIGH,",
                            why);
    return ERR_OK;
}

/* Whatever its parser calls it, it is no value of the row.  What was worked out
 * may have a name of its own (one worker's code: plain). */
static enum err check_text(const struct option *row, const char *text,
                           enum origin origin, struct why *why)
{
    enum err err = ERR_OK;

    if (row->check != NULL && origin != ORIGIN_DEFAULT)
        err = row->check(text, why);
    return err == ERR_OK || err == ERR_NOMEM ? err : ERR_RANGE;
}

static enum err parse_value(const struct option *row, const char *text,
                            struct setting *setting, struct why *why)
{
    switch (row->kind) {
    case VALUE_FLAG:
        return parse_flag(row, text, setting, why);
    case VALUE_COUNT:
        if (!parse_count(text, strlen(text), &setting->low) ||
            !within(row, (double)setting->low))
            return out_of_range(row, text, "a whole number", why);
        return ERR_OK;
    case VALUE_REAL:
        if (!parse_real(text, &setting->real) || !within(row, setting->real))
            return out_of_range(row, text, "a number", why);
        return ERR_OK;
    case VALUE_CHOICE:
        return parse_choice(row, text, why);
    case VALUE_SPAN:
        return parse_span(row, text, setting, why);
    case VALUE_TEXT:
        return check_text(row, text, setting->origin, why);
    case VALUE_RUN:
        return ERR_OK;
    }
    return ERR_UNKNOWN;
}

enum err setting_put(struct setting *setting, const struct option *row,
                     const char *text, enum origin origin, struct why *why)
{
    struct setting made = {.origin = origin};
    enum err err;

    CHECK(text != NULL);
    if (setting->text != NULL && origin < setting->origin)
        return ERR_OK;
    if (*text == '\0' && row->kind != VALUE_RUN)
        return why_set(why, ERR_RANGE, "%s%s: the value is empty; expected %s",
                       option_dashes(row->name), row->name,
                       row->kind == VALUE_FLAG ? "yes or no" : row->value);
    err = parse_value(row, text, &made, why);
    if (err != ERR_OK)
        return err;
    if (row->kind == VALUE_FLAG)
        text = made.low != 0 ? "yes" : "no";
    made.text = mem_text(text);
    if (made.text == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    setting_close(setting);
    *setting = made;
    return ERR_OK;
}

enum err setting_add(struct setting *setting, const struct option *row,
                     const char *text, enum origin origin, struct why *why)
{
    char *both;
    size_t size;
    enum err err;

    if (row->adds == '\0' || *text == '\0' || setting->text == NULL ||
        setting->origin != origin)
        return setting_put(setting, row, text, origin, why);
    size = strlen(setting->text) + 1 + strlen(text) + 1;
    both = mem_new(size, 1);
    if (both == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    (void)snprintf(both, size, "%s%c%s", setting->text, row->adds, text);
    err = setting_put(setting, row, both, origin, why);
    mem_free(both);
    return err;
}

enum err setting_copy(struct setting *to, const struct setting *from)
{
    CHECK(to->text == NULL);
    *to = *from;
    if (from->text == NULL)
        return ERR_OK;
    to->text = mem_text(from->text);
    return to->text == NULL ? ERR_NOMEM : ERR_OK;
}

void setting_close(struct setting *setting)
{
    mem_free(setting->text);
    *setting = (struct setting){0};
}

bool setting_given(const struct setting *setting)
{
    return setting->text != NULL && setting->origin != ORIGIN_DEFAULT;
}

/* The alias at `at` in `name`, and where the next one is. */
static const char *next_alias(const char *at, char name[OPTION_NAME_SIZE])
{
    const size_t length = strcspn(at, "|");

    (void)snprintf(name, OPTION_NAME_SIZE, "%.*s", (int)length, at);
    return at + length + (at[length] == '|');
}

size_t option_nearest(const struct option *row, const char *typed,
                      char name[OPTION_NAME_SIZE])
{
    const char *at = row->aliases == NULL ? "" : row->aliases;
    size_t best = nearest_distance(typed, row->name);

    (void)snprintf(name, OPTION_NAME_SIZE, "%s", row->name);
    while (*at != '\0') {
        char alias[OPTION_NAME_SIZE];
        size_t far;

        at = next_alias(at, alias);
        far = alias[1] == '\0' ? SIZE_MAX : nearest_distance(typed, alias);
        if (far < best) {
            best = far;
            memcpy(name, alias, OPTION_NAME_SIZE);
        }
    }
    return best;
}

const char *option_also(const struct option *row, char text[OPTION_ALSO_SIZE])
{
    const char *at = row->aliases == NULL ? "" : row->aliases;
    size_t used = 0;

    text[0] = '\0';
    while (*at != '\0') {
        char alias[OPTION_NAME_SIZE];

        at = next_alias(at, alias);
        if (alias[1] == '\0')
            continue;
        used += (size_t)snprintf(text + used, OPTION_ALSO_SIZE - used, "%s--%s",
                                 used == 0 ? "" : ", ", alias);
        CHECK(used < OPTION_ALSO_SIZE);
    }
    return text;
}

/* Is anything asked for by this value? */
static bool asks(const struct setting *setting, enum value_kind kind)
{
    if (kind == VALUE_FLAG || kind == VALUE_COUNT)
        return setting->low != 0;
    return kind != VALUE_REAL || setting->real != 0;
}

void setting_choose(const struct setting *setting, const struct option *row,
                    struct choices *choices)
{
    if (setting_given(setting) && asks(setting, row->kind))
        choices_add(choices, row->traits, row->name);
}

const char *origin_name(enum origin origin)
{
    static const char *const names[] = {"default", "file", "environment",
                                        "flag"};

    CHECK((size_t)origin < sizeof names / sizeof *names);
    return names[origin];
}
