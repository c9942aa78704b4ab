/*
 * disguise.c - recognition of numbers that are written as words: thousands
 * separators, currencies, units, dates and times, each by a small grammar of
 * its own.
 */
#include "data/text/disguise.h"

#include <stdint.h>
#include <strings.h>

#include "data/text/number.h"

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static size_t digits_of(struct span text)
{
    size_t count = 0;

    while (count < text.size && is_digit(text.at[count]))
        count++;
    return count;
}

static void skip(struct span *text, size_t count)
{
    text->at += count;
    text->size -= count;
}

static bool cut_front(struct span *text, const char *with)
{
    const size_t size = strlen(with);

    if (text->size <= size || memcmp(text->at, with, size) != 0)
        return false;
    skip(text, size);
    *text = span_trim(*text);
    return true;
}

static bool cut_end(struct span *text, const char *with)
{
    const size_t size = strlen(with);

    if (text->size <= size ||
        strncasecmp(text->at + text->size - size, with, size) != 0)
        return false;
    text->size -= size;
    *text = span_trim(*text);
    return true;
}

static bool is_plain(struct span text)
{
    double value;

    return text.size > 0 && (is_digit(text.at[0]) || text.at[0] == '.') &&
           number_parse(text.at, text.size, &value) == NUMBER_OK;
}

/* How many bytes at the beginning stand between groups of digits: blanks that
 * do not break lines are two or three. */
static size_t group_mark(struct span text)
{
    static const char *const marks[] = {",", ".",        "'",           " ",
                                        "_", "\xc2\xa0", "\xe2\x80\xaf"};

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const size_t size = strlen(marks[i]);

        if (text.size > size && memcmp(text.at, marks[i], size) == 0)
            return size;
    }
    return 0;
}

static bool all_digits(struct span text)
{
    return text.size > 0 && digits_of(text) == text.size;
}

/* 1,234 and 1.234.567,5, but not 1.234; and 1.234.50, which is what `tr , .`
 * makes of 1.234,50.  With one group more that may be an address. */
static bool is_grouped(struct span text)
{
    const size_t first = digits_of(text);
    struct span mark;
    size_t groups = 0;

    if (first == 0 || first > 3)
        return false;
    skip(&text, first);
    mark = (struct span){text.at, group_mark(text)};
    while (mark.size > 0 && text.size >= mark.size + 3 &&
           memcmp(text.at, mark.at, mark.size) == 0 &&
           digits_of((struct span){text.at + mark.size,
                                   text.size - mark.size}) == 3) {
        skip(&text, mark.size + 3);
        groups++;
    }
    if (groups == 0)
        return false;
    if (text.size == 0)
        return groups > 1 || *mark.at != '.';
    return (*text.at == '.' || *text.at == ',') &&
           all_digits((struct span){text.at + 1, text.size - 1}) &&
           (*text.at != *mark.at ||
            (*text.at == '.' && groups == 1 && text.size == 3));
}

/* 3,5. */
static bool has_decimal_comma(struct span text)
{
    const size_t whole = digits_of(text);

    if (text.size < whole + 2 || text.at[whole] != ',')
        return false;
    skip(&text, whole + 1);
    return digits_of(text) == text.size;
}

/* 1,234 may be either, and whoever takes it for the wrong one is off by a
 * factor of 1000; 0,250 may not. */
static const char *written_oddly(struct span text)
{
    const bool grouped = is_grouped(text) && *text.at != '0';

    if (has_decimal_comma(text))
        return grouped ? "a number with a comma between its thousands or "
                         "before its decimals"
                       : "a number with a decimal comma";
    return grouped ? "a number with marks between its thousands" : NULL;
}

static bool is_amount(struct span text)
{
    return is_plain(text) || written_oddly(text) != NULL;
}

static bool has_currency(struct span text)
{
    static const char *const signs[] = {
        "US$", "$",   "\xe2\x82\xac", "\xc2\xa3", "\xc2\xa5", "\xe2\x82\xb9",
        "USD", "EUR", "GBP",          "CHF",      "Rs."};

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        struct span rest = text;

        if (cut_front(&rest, signs[i]) || cut_end(&rest, signs[i])) {
            (void)cut_front(&rest, "-");
            (void)(cut_end(&rest, "k") || cut_end(&rest, "m") ||
                   cut_end(&rest, "b"));
            return is_amount(rest);
        }
    }
    return false;
}

static bool has_unit(struct span text)
{
    static const char *const units[] = {
        "k",   "m",    "kg",    "mg",    "lb",     "lbs",  "oz",  "cm",  "mm",
        "km",  "ft",   "mi",    "mph",   "kmh",    "km/h", "ms",  "sec", "min",
        "hr",  "hrs",  "mins",  "hours", "day",    "days", "yr",  "yrs", "kb",
        "mb",  "year", "years", "month", "months", "gb",   "tb",  "hz",  "mhz",
        "ghz", "kw",   "kwh",   "cc",    "hp",     "bhp",  "mpg", "kmpl"};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        struct span rest = text;

        if (cut_end(&rest, units[i]) && is_amount(rest))
            return true;
    }
    return false;
}

/* Up to `most` digits, at least one, as a number; false: there are others. */
static bool take_digits(struct span *text, size_t most, size_t *size,
                        unsigned *value)
{
    *size = digits_of(*text);
    *value = 0;
    if (*size == 0 || *size > most)
        return false;
    for (size_t i = 0; i < *size; i++)
        *value = 10 * *value + (unsigned)(text->at[i] - '0');
    skip(text, *size);
    return true;
}

static bool is_day_and_month(unsigned a, unsigned b)
{
    return a >= 1 && b >= 1 && a <= 31 && b <= 31 && (a <= 12 || b <= 12);
}

/* 2020-01-31, 31.1.20, 1/31/2020: cut off. */
static bool take_date(struct span *text)
{
    struct span rest = *text;
    size_t size[3];
    unsigned value[3];
    char mark = 0;

    for (int i = 0; i < 3; i++) {
        if (i > 0 && (rest.size == 0 || strchr("-/.", *rest.at) == NULL ||
                      (i == 2 && *rest.at != mark)))
            return false;
        if (i > 0) {
            mark = *rest.at;
            skip(&rest, 1);
        }
        if (!take_digits(&rest, 4, &size[i], &value[i]))
            return false;
    }
    if (size[1] > 2 ||
        !(size[0] == 4 ? size[2] <= 2 && is_day_and_month(value[1], value[2])
                       : size[0] <= 2 && (size[2] == 2 || size[2] == 4) &&
                             is_day_and_month(value[0], value[1])))
        return false;
    *text = rest;
    return true;
}

/* 12:30, 7:05:59.25 PM, 12:30:00+01:00, 00:00:00Z. */
static bool is_time(struct span text)
{
    struct span rest = text;
    size_t size;
    unsigned value;

    if (!take_digits(&rest, 2, &size, &value) || value > 24)
        return false;
    for (int i = 0; i < 2 && rest.size > 0 && *rest.at == ':'; i++) {
        skip(&rest, 1);
        if (!take_digits(&rest, 2, &size, &value) || size != 2 || value > 60)
            return false;
    }
    if (rest.at == text.at + digits_of(text))
        return false;
    if (rest.size > 1 && *rest.at == '.')
        skip(&rest, 1 + digits_of((struct span){rest.at + 1, rest.size - 1}));
    rest = span_trim(rest);
    return rest.size == 0 || span_is(rest, "Z") || span_is(rest, "UTC") ||
           (rest.size == 2 && (rest.at[1] | 0x20) == 'm') ||
           (rest.size >= 3 && (*rest.at == '+' || *rest.at == '-') &&
            is_digit(rest.at[1]));
}

static bool is_month(struct span word)
{
    static const char *const names[] = {
        "january", "february", "march",     "april",   "may",      "june",
        "july",    "august",   "september", "october", "november", "december"};

    for (size_t i = 0; word.size >= 3 && i < 12; i++) {
        if ((word.size == 3 || word.size == strlen(names[i])) &&
            strncasecmp(word.at, names[i], word.size) == 0)
            return true;
    }
    return false;
}

/* 31 Jan 2020, Jan-15, January 31, 2020. */
static bool has_month(struct span text)
{
    uint32_t months = 0;
    uint32_t numbers = 0;

    while (text.size > 0) {
        struct span word = {text.at, 0};

        while (word.size < text.size &&
               strchr(" ,-/.", text.at[word.size]) == NULL)
            word.size++;
        if (is_month(word))
            months++;
        else if (word.size > 0 && word.size <= 4 &&
                 digits_of(word) == word.size)
            numbers++;
        else if (word.size > 0)
            return false;
        skip(&text, word.size + (word.size < text.size));
    }
    return months == 1 && (numbers == 1 || numbers == 2);
}

static bool is_year(size_t size, unsigned value)
{
    return size == 4 && value >= 1900 && value < 2100;
}

/* 2020-01, 01/2020, 2020-Q1 and pandas' 2020Q1. */
static bool is_part_of_year(struct span text)
{
    struct span rest = text;
    size_t size[2];
    unsigned value[2];
    bool quarter;

    if (!take_digits(&rest, 4, &size[0], &value[0]) || rest.size == 0)
        return false;
    if (strchr("-/", *rest.at) != NULL)
        skip(&rest, 1);
    quarter = rest.size > 0 && (*rest.at | 0x20) == 'q';
    skip(&rest, quarter);
    if (rest.at == text.at + size[0] ||
        !take_digits(&rest, 4, &size[1], &value[1]) || rest.size > 0)
        return false;
    if (is_year(size[0], value[0]))
        return quarter ? size[1] == 1 && value[1] >= 1 && value[1] <= 4
                       : size[1] == 2 && value[1] >= 1 && value[1] <= 12;
    return !quarter && is_year(size[1], value[1]) && size[0] == 2 &&
           value[0] >= 1 && value[0] <= 12;
}

/* 20141013T000000. */
static bool is_stamp(struct span text)
{
    return text.size == 15 && digits_of(text) == 8 && text.at[8] == 'T' &&
           digits_of((struct span){text.at + 9, 6}) == 6;
}

/* 0 days 00:01:00, -1 days +23:59:00: pandas' Timedelta. */
static bool is_span_of_time(struct span text)
{
    (void)cut_front(&text, "-");
    skip(&text, digits_of(text));
    if (!cut_front(&text, " days") && !cut_front(&text, " day"))
        return false;
    (void)cut_front(&text, "+");
    return is_time(text);
}

static const char *moment_of(struct span text)
{
    if (is_time(text) || is_span_of_time(text))
        return "a time";
    if (has_month(text) || is_part_of_year(text) || is_stamp(text))
        return "a date";
    if (!take_date(&text))
        return NULL;
    if (text.size > 0 && (*text.at == ' ' || *text.at == 'T')) {
        skip(&text, 1);
        return is_time(span_trim(text)) ? "a date" : NULL;
    }
    return text.size == 0 ? "a date" : NULL;
}

static struct span unsigned_of(struct span field)
{
    struct span text = span_trim(field);

    if (!cut_front(&text, "-"))
        (void)cut_front(&text, "+");
    return text;
}

enum points disguise_points(struct span field)
{
    const struct span text = unsigned_of(field);
    const char *const point = memchr(text.at, '.', text.size);
    const size_t whole = point == NULL ? 0 : (size_t)(point - text.at);

    if (point == NULL)
        return POINTS_NONE;
    if (is_grouped(text) && text.at[digits_of(text)] == '.')
        return POINTS_GROUP;
    return whole >= 1 && whole <= 3 && *text.at != '0' &&
                   digits_of(text) == whole && text.size == whole + 4 &&
                   all_digits((struct span){point + 1, 3})
               ? POINTS_EITHER
               : POINTS_OTHER;
}

const char *disguise_of(struct span field)
{
    struct span text = span_trim(field);
    const char *const moment = moment_of(text);

    if (moment != NULL)
        return moment;
    if (text.size > 2 && text.at[0] == '(' && text.at[text.size - 1] == ')')
        text = span_trim((struct span){text.at + 1, text.size - 2});
    else if (!cut_front(&text, "-"))
        (void)cut_front(&text, "+");
    if (written_oddly(text) != NULL)
        return written_oddly(text);
    if (has_currency(text))
        return "an amount of money";
    if (has_unit(text))
        return "a number with a unit";
    if (cut_end(&text, "%") && is_amount(text))
        return "a percentage";
    return *field.at == '(' && is_plain(text) ? "a number in brackets" : NULL;
}
