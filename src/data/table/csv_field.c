/*
 * csv_field.c - the lexer of tables: lines (a quote may go on over their ends),
 * fields, and what one field says: nothing, a truth value, a number, a weight.
 */
#include "data/table/csv_field.h"

#include <stdio.h>
#include <string.h>

#include "data/rows/sparse.h"
#include "data/text/disguise.h"
#include "data/text/number.h"

bool csv_has_outside(struct span line, char c)
{
    bool inside = false;

    for (size_t i = 0; i < line.size; i++) {
        inside ^= line.at[i] == '"';
        if (!inside && line.at[i] == c)
            return true;
    }
    return false;
}

char csv_separator(struct span line)
{
    static const char candidates[] = {'\t', ';', ',', '|'};

    for (size_t i = 0; i < sizeof candidates; i++) {
        if (csv_has_outside(line, candidates[i]))
            return candidates[i];
    }
    return ',';
}

/* Does the line end within quotes, as csv_field sees it?  `inside`: it begins
 * there. */
static bool ends_in_quotes(char separator, struct span line, bool inside)
{
    bool first = true; /* Of a field, but for blanks. */

    if (memchr(line.at, '"', line.size) == NULL)
        return inside;
    for (size_t i = 0; i < line.size; i++) {
        const char c = line.at[i];

        if (inside && c == '"' && i + 1 < line.size && line.at[i + 1] == '"') {
            i++;
        } else if (c == '"' && (inside || first)) {
            inside = !inside;
            first = false;
        } else if (!inside) {
            first = c == separator || (first && c == ' ');
        }
    }
    return inside;
}

enum err csv_line(struct text_source *source, char separator, struct span *line,
                  uint64_t *number, struct why *why)
{
    enum err err = text_line(source, &line->at, &line->size, why);
    bool more;

    if (err != ERR_OK || line->at == NULL)
        return err;
    *number = source->line;
    if (separator == 0)
        separator = csv_separator(*line);
    more = ends_in_quotes(separator, *line, false);
    while (more && line->size < CSV_LINE_MAX) {
        const size_t seen = line->size;

        err = text_join(source, &line->at, &line->size, &more, why);
        if (err != ERR_OK)
            return err;
        more = more &&
               ends_in_quotes(separator,
                              (struct span){line->at + seen, line->size - seen},
                              true);
    }
    return ERR_OK;
}

static bool is_blank(char c)
{
    return c == ' ';
}

/* `line` begins with a quote. */
static enum err quoted_field(struct span *line, char *scratch,
                             struct span *field, struct why *why)
{
    size_t used = 0;
    size_t at = 1;

    for (;; at++) {
        if (at >= line->size)
            return why_set(why, ERR_FORMAT,
                           "a quote is opened and not closed again; a quote "
                           "that belongs to the text is written twice");
        if (line->at[at] == '"') {
            if (at + 1 >= line->size || line->at[at + 1] != '"')
                break;
            at++;
        }
        scratch[used++] = line->at[at];
    }
    *field = (struct span){scratch, used};
    line->at += at + 1;
    line->size -= at + 1;
    return ERR_OK;
}

enum err csv_field(char separator, struct span *line, char *scratch,
                   struct span *field, bool *more, struct why *why)
{
    const char *end;
    size_t size;

    while (line->size > 0 && is_blank(*line->at)) {
        line->at++;
        line->size--;
    }
    if (line->size > 0 && *line->at == '"') {
        const enum err err = quoted_field(line, scratch, field, why);

        if (err != ERR_OK)
            return err;
        while (line->size > 0 && is_blank(*line->at)) {
            line->at++;
            line->size--;
        }
        if (line->size > 0 && *line->at != separator)
            return why_set(why, ERR_FORMAT,
                           "'%s' after a closing quote; put a separator "
                           "between fields",
                           quote((struct span){line->at, 1}).text);
        *more = line->size > 0;
    } else {
        end = line->size == 0 ? NULL : memchr(line->at, separator, line->size);
        size = end == NULL ? line->size : (size_t)(end - line->at);
        *field = span_trim((struct span){line->at, size});
        *more = end != NULL;
        line->at += size;
        line->size -= size;
    }
    if (*more) {
        line->at++;
        line->size--;
    }
    return ERR_OK;
}

bool csv_is_missing(struct span field)
{
    static const char *const texts[] = {
        "",        "?",       "NA",       "N/A",     "n/a",  "NaN",
        "nan",     "NAN",     "-NaN",     "-nan",    "-NAN", "null",
        "NULL",    "None",    "#NA",      "<NA>",    "#N/A", "1.#IND",
        "-1.#IND", "1.#QNAN", "-1.#QNAN", "#N/A N/A"};

    if (field.size > 8)
        return false;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (span_is(field, texts[i]))
            return true;
    }
    return false;
}

bool csv_is_boolean(struct span field, double *value)
{
    static const char *const texts[] = {"False", "True",  "false",
                                        "true",  "FALSE", "TRUE"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (span_is(field, texts[i])) {
            *value = (double)(i % 2);
            return true;
        }
    }
    return false;
}

static bool is_money(const char *disguise)
{
    return strcmp(disguise, "an amount of money") == 0;
}

/* How to write a column's values.  A command that goes over the whole file is
 * named only where nothing else in it is known to be spoilt. */
static const char *plainly(struct span field, const char *disguise,
                           const struct csv_setting *setting)
{
    const bool fields = setting->separator == ',';

    if (is_money(disguise))
        return "as plain numbers, without the currency and marks";
    if (setting->grouped && memchr(field.at, ',', field.size) != NULL)
        return fields || setting->decimals
                   ? "without points, and with a point for the comma"
                   : "without points, and with a point for the comma (`tr -d . "
                     "<OLD | tr , . >NEW`, if all points and commas are such)";
    if (strstr(disguise, "decimal comma") != NULL)
        return fields ? "with points"
                      : "with points (`tr , . <OLD >NEW`, if all commas are "
                        "such)";
    return "as plain numbers";
}

/* What to do about a number in disguise; a label is not to be dropped, but may
 * be the label only because it is the last column and nobody named another.
 * Amounts and times seldom come twice, and a category that does not is of no
 * use; amounts of money are none at all. */
static enum err say_disguise(struct span field, const char *disguise,
                             const struct csv_setting *setting, struct why *why)
{
    const bool label = setting->label;
    char names[64] = "";

    if (!is_money(disguise))
        (void)snprintf(names, sizeof names,
                       " (if they are names of %s, --categorical auto,:%u)",
                       label ? "classes" : "categories", setting->col + 1);
    return why_set(why, ERR_FORMAT,
                   "%s'%s' is %s, not a plain number; write the column's "
                   "values %s%s%s",
                   label ? "it is read as the label, and --label NAME takes "
                           "another column; "
                         : "",
                   quote(field).text, disguise,
                   plainly(field, disguise, setting),
                   label ? "" : ", or leave it out with --drop", names);
}

enum err csv_say_unlike(struct span field, const struct csv_setting *setting,
                        const char *more, struct why *why)
{
    const char *const disguise = disguise_of(field);

    if (disguise == NULL)
        return why_set(why, ERR_FORMAT,
                       "'%s' is not a number, which the column held in the "
                       "training table%s",
                       quote(field).text, more);
    return why_set(why, ERR_FORMAT,
                   "'%s' is %s, and the column held plain numbers in the "
                   "training table; write its values %s%s",
                   quote(field).text, disguise,
                   plainly(field, disguise, setting), more);
}

enum err csv_number(struct span field, const struct csv_setting *setting,
                    double *value, struct why *why)
{
    const bool label = setting->label;
    const char *disguise;

    if (csv_is_missing(field))
        return why_set(why, ERR_FORMAT,
                       "%s%s%s; --missing mean, median, zero or indicator "
                       "fills such fields in, --drop leaves the column out",
                       field.size == 0 ? "the field is empty" : "'",
                       quote(field).text,
                       field.size == 0 ? "" : "' is a missing value");
    switch (number_parse(field.at, field.size, value)) {
    case NUMBER_OK:
        return ERR_OK;
    case NUMBER_NONFINITE:
        return why_set(why, ERR_RANGE, "%s; values must be finite: %s",
                       quote(field).text,
                       label ? "leave the row out"
                             : "write a number, or nothing at all and train "
                               "with --missing mean");
    case NUMBER_HUGE:
        return why_set(why, ERR_RANGE, "%s is too large; at most %s",
                       quote(field).text, sparse_limit(true));
    case NUMBER_NOT:
        break;
    }
    if (csv_is_boolean(field, value))
        return ERR_OK;
    disguise = disguise_of(field);
    if (disguise != NULL)
        return say_disguise(field, disguise, setting, why);
    return why_set(why, ERR_FORMAT,
                   "'%s' is not a number; if it stands for what is not known, "
                   "%s; if the column holds words, add --categorical "
                   "auto,:%u",
                   quote(field).text,
                   label ? "leave the row out"
                         : "empty the field and add --missing mean",
                   setting->col + 1);
}

bool csv_is_weight(double value)
{
    return value > 0 && value <= CSV_WEIGHT_MAX;
}

enum err csv_say_weight(const char *text, struct why *why)
{
    return why_set(why, ERR_RANGE,
                   "'%s' is no weight; weights of rows are numbers above 0, at "
                   "most %g",
                   text, CSV_WEIGHT_MAX);
}

enum err csv_weight(struct span field, double *value, struct why *why)
{
    return number_parse(field.at, field.size, value) == NUMBER_OK &&
                   csv_is_weight(*value)
               ? ERR_OK
               : csv_say_weight(quote(field).text, why);
}
