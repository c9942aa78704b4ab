/*
 * text.c - a model card as lines of text.
 */
#include "learn/card/text.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plain.h"

#define FIRST  "model card "
#define SECOND "sha256     "

/* Lines are counted first, then written: nothing of a card is cut off. */
struct sheet {
    char *text; /* NULL: counted only. */
    size_t used, size;
};

__attribute__((format(printf, 2, 3))) static void put(struct sheet *sheet,
                                                      const char *format, ...)
{
    char *const to = sheet->text == NULL ? NULL : sheet->text + sheet->used;
    va_list arguments;

    va_start(arguments, format);
    sheet->used += (size_t)vsnprintf(
        to, to == NULL ? 0 : sheet->size - sheet->used, format, arguments);
    va_end(arguments);
}

/* Six digits, or as many more as read back as `value`: 17 do for any. */
static void put_real(struct sheet *sheet, double value)
{
    char text[32];
    int digits = 5;

    do
        (void)snprintf(text, sizeof text, "%.*g", ++digits, value);
    while (digits < DBL_DECIMAL_DIG && strtod(text, NULL) != value);
    put(sheet, "%s", text);
}

/* Of what stands behind `begun`; a number or a text, or nothing. */
static void put_pair(struct sheet *sheet, size_t begun, const char *name,
                     const json_t *value)
{
    const char *const between = sheet->used > begun ? ", " : "";

    if (json_is_integer(value)) {
        put(sheet, "%s%s %lld", between, name,
            (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        put(sheet, "%s%s ", between, name);
        put_real(sheet, json_real_value(value));
    } else if (json_is_string(value)) {
        put(sheet, "%s%s %s", between, name, json_string_value(value));
    }
}

/* Whatever was put since is one line. */
static void end_line(struct sheet *sheet, size_t begun)
{
    for (size_t i = begun; sheet->text != NULL && i < sheet->used; i++) {
        if (sheet->text[i] == '\n')
            sheet->text[i] = '?';
    }
    put(sheet, "\n");
}

/* `begun`, `titled`: where the line and what it says begin.  There is none if
 * it says nothing. */
static void end_list(struct sheet *sheet, size_t begun, size_t titled)
{
    if (sheet->used == titled)
        sheet->used = begun;
    else
        end_line(sheet, begun);
}

static void put_line(struct sheet *sheet, const char *title, json_t *object)
{
    const size_t begun = sheet->used;
    size_t titled;
    const char *name;
    json_t *value;

    put(sheet, "%-10s ", title);
    titled = sheet->used;
    json_object_foreach(object, name, value)
    {
        put_pair(sheet, titled, name, value);
    }
    if (json_is_true(json_object_get(object, "since_resume")))
        put(sheet, " since --resume");
    end_list(sheet, begun, titled);
}

static void put_training(struct sheet *sheet, const char *title,
                         const json_t *card)
{
    static const char *const keys[] = {"net",   "muster",    "code",
                                       "steps", "objective", "end"};
    const size_t begun = sheet->used;
    size_t titled;

    put(sheet, "%-10s ", title);
    titled = sheet->used;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        put_pair(sheet, titled, keys[i], json_object_get(card, keys[i]));
    end_list(sheet, begun, titled);
}

/* One line for each, and what the first has for what all have: the rows and
 * the choices of one class against the rest. */
static void put_parts(struct sheet *sheet, json_t *parts)
{
    json_t *part;
    size_t i;

    json_array_foreach(parts, i, part)
    {
        char title[32];

        (void)snprintf(title, sizeof title, "part %zu", i + 1);
        put_training(sheet, title, part);
    }
    part = json_array_get(parts, 0);
    put_line(sheet, "data", json_object_get(part, "data"));
    put_line(sheet, "options", json_object_get(part, "options"));
}

static void put_card(struct sheet *sheet, json_t *card)
{
    static const struct {
        const char *title, *key;
    } lines[] = {
        {"data", "data"},           {"options", "options"},
        {"exactness", "exactness"}, {"workers", "workers"},
        {"test", "test_metrics"},   {"valid", "valid_metrics"},
        {"train", "train_metrics"},
    };

    put_training(sheet, "trained", card);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        put_line(sheet, lines[i].title, json_object_get(card, lines[i].key));
    put_parts(sheet, json_object_get(card, "parts"));
}

static void put_file(struct sheet *sheet, const json_t *card)
{
    static const char *const keys[] = {"kind", "hash"};
    const char *const name = json_string_value(json_object_get(card, "model"));
    const char *const sum = json_string_value(json_object_get(card, "sha256"));
    const size_t begun = sheet->used;

    put(sheet, FIRST "%s", name == NULL ? "" : name);
    end_line(sheet, begun);
    put(sheet, SECOND "%s\n", sum == NULL ? "" : sum);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *const text =
            json_string_value(json_object_get(card, keys[i]));

        if (text != NULL)
            put(sheet, "%-10s %s\n", keys[i], text);
    }
}

char *card_text(json_t *card, bool whole)
{
    struct sheet sheet = {0};

    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) {
            sheet = (struct sheet){.size = sheet.used + 1};
            sheet.text = mem_new(sheet.size, 1);
            if (sheet.text == NULL)
                return NULL;
        }
        if (whole)
            put_file(&sheet, card);
        put_card(&sheet, card);
    }
    sheet.text[sheet.used] = '\0';
    plain_text(sheet.text);
    return sheet.text;
}

bool card_text_sum(const char *text, size_t size, char sum[DIGEST_TEXT])
{
    const char *const end = memchr(text, '\n', size);
    const size_t first = end == NULL ? size : (size_t)(end - text) + 1;

    if (size - first < sizeof SECOND - 1 + DIGEST_TEXT ||
        strncmp(text, FIRST, sizeof FIRST - 1) != 0 ||
        strncmp(text + first, SECOND, sizeof SECOND - 1) != 0)
        return false;
    memcpy(sum, text + first + sizeof SECOND - 1, DIGEST_TEXT - 1);
    sum[DIGEST_TEXT - 1] = '\0';
    return true;
}
