/*
 * csv_field.h - lines and fields of a table, and what a field says.
 *
 * Fields may stand in double quotes ("" is a quote inside) and then go on over
 * a line's end.  Sentences name neither line nor column: who reads knows them.
 */
#ifndef DATA_TABLE_CSV_FIELD_H
#define DATA_TABLE_CSV_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "data/span.h"
#include "data/text/text_source.h"

#define CSV_WEIGHT_MAX 1e12
/* A quote that is open for longer is taken for one that nobody closed. */
#define CSV_LINE_MAX ((size_t)1 << 24)

/* Whichever of tab, semicolon, comma and bar the line has, tab first: text with
 * tabs may well have commas in it. */
char csv_separator(struct span line);
/* Is there such a byte outside of quotes? */
bool csv_has_outside(struct span line, char c);

/* The next line, as text_line gives it, with those that follow as long as a
 * quote is open; *number is that of the first. */
MUST_CHECK enum err csv_line(struct text_source *source, char separator,
                             struct span *line, uint64_t *number,
                             struct why *why);

/* Cuts the next field off `line`.  A quoted field is unquoted in place of
 * `scratch`, which has room for the line.  *more says whether a separator
 * followed.  ERR_FORMAT with a sentence. */
MUST_CHECK enum err csv_field(char separator, struct span *line, char *scratch,
                              struct span *field, bool *more, struct why *why);

/* Does a field stand for a value that is not there?  Empty, ?, and what pandas
 * takes for missing: NA, N/A, n/a, NaN, nan, null, NULL, None, #NA, #N/A, <NA>,
 * -nan, 1.#IND and their like. */
bool csv_is_missing(struct span field);
/* True or False, in the ways that programs write them. */
bool csv_is_boolean(struct span field, double *value);

/* Of the column that a field stands in, what advice about it depends on. */
struct csv_setting {
    bool label;
    uint32_t col;
    char separator;
    bool grouped;  /* It has points between thousands. */
    bool decimals; /* The table has points that are not. */
};

/* A field as a number; the sentence does not name the column. */
MUST_CHECK enum err csv_number(struct span field,
                               const struct csv_setting *setting, double *value,
                               struct why *why);

/* The sentence for what is no number in a column that held numbers where its
 * encoder was fitted, with `more` behind it.  ERR_FORMAT. */
enum err csv_say_unlike(struct span field, const struct csv_setting *setting,
                        const char *more, struct why *why);

/* The same for the weight of a row: above 0, at most CSV_WEIGHT_MAX. */
MUST_CHECK enum err csv_weight(struct span field, double *value,
                               struct why *why);
bool csv_is_weight(double value);
/* The sentence for others. */
enum err csv_say_weight(const char *text, struct why *why);

#endif /* DATA_TABLE_CSV_FIELD_H */
