/*
 * table_notes.c - what people are told of a table: what was taken for a header,
 * a category, a name; which columns nobody asked about.  A guess that is said
 * aloud is corrected before it costs a training.
 */
#include "data/read/table_notes.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

enum { NAMES_SHOWN = 8, NAMES_MIN = 20, CODES_TOLD = 4 };

void table_note_unknown(const struct source_options *options,
                        const struct frame *frame,
                        const struct unknown_words *unknown)
{
    const struct csv *const csv = &frame->csv;
    uint32_t col = 0;

    if (unknown->fields == 0)
        return;
    while (csv->columns.role[col] != unknown->column)
        col++;
    source_note(options,
                "%s: %llu field%s with a category that the training table "
                "does not have, the first '%s' in %s; such "
                "fields count as no category",
                source_shown(options), (unsigned long long)unknown->fields,
                unknown->fields == 1 ? "" : "s", quote_text(unknown->text).text,
                csv_shown(csv, col).text);
}

/* Names come first: a number that is both counts as a name. */
static void note_numbers(const struct source_options *options,
                         const struct csv *csv, const char *option,
                         const char *list)
{
    while (csv->header && list != NULL && *list != '\0') {
        const struct span item = {list, strcspn(list, ",")};
        uint32_t named = 0;
        uint32_t placed = 0;

        if (csv_find(csv, item, &named, NULL) == ERR_OK &&
            csv_place(csv, span_trim(item), &placed) && placed != named)
            source_note(options,
                        "%s: --%s %s is the column of that name, which is "
                        "column %u; --%s :%s is the one in that place",
                        source_shown(options), option, quote(item).text,
                        named + 1, option, quote(item).text);
        list += item.size + (list[item.size] == ',');
    }
}

/* Rows to predict need no label, but a column that nobody knows may be it by
 * another name; then metrics are expected, and there are none. */
static void note_unjudged(const struct source_options *options,
                          const struct csv *csv)
{
    const struct schema *const known = csv->wanted.known;

    if (options->unlabelled && options->label == NULL &&
        csv->columns.strangers > 0 && csv->columns.label >= csv->cols &&
        known->label_name[0] != '\0')
        source_note(options,
                    "%s: no column %s, the label of the training table, so "
                    "nothing is judged (--label NAME takes another column)",
                    source_shown(options), quote_text(known->label_name).text);
}

/* What was made of the columns that nobody said anything about. */
void table_note_columns(const struct source_options *options,
                        const struct csv *csv)
{
    const struct columns *const columns = &csv->columns;
    const char *const first = csv_name(csv, 0);

    note_numbers(options, csv, "label", options->label);
    note_numbers(options, csv, "drop", options->drop);
    note_numbers(options, csv, "weight", options->weight);
    note_numbers(options, csv, "categorical", options->categorical);
    if (columns->strangers > 0)
        source_note(options,
                    "%s: %u column%s that the model was not trained on %s left "
                    "alone, the first is %s",
                    source_shown(options), columns->strangers,
                    columns->strangers == 1 ? "" : "s",
                    columns->strangers == 1 ? "is" : "are",
                    csv_shown(csv, columns->stranger).text);
    if (csv->wanted.known != NULL) {
        note_unjudged(options, csv);
        return;
    }
    if (csv->first.run && options->header == HEADER_AUTO)
        source_note(options,
                    "%s: the first line counts up from %s and is taken for a "
                    "header (--header no: it is a row)",
                    source_shown(options),
                    quote_text(first[0] == '\0' && csv->cols > 1
                                   ? csv_name(csv, 1)
                                   : first)
                        .text);
    if (csv->header && columns->role[0] < COLUMN_FEATURES &&
        (first[0] == '\0' || strcmp(first, "Unnamed: 0") == 0))
        source_note(options,
                    "%s: the first column has no name; if it only numbers the "
                    "rows, as the index that pandas writes does, leave it out "
                    "with --drop :1",
                    source_shown(options));
}

/* Does it end with the word, in any case, behind a sign or as in "homeZip"? */
static bool ends_with(const char *name, const char *word)
{
    const size_t length = strlen(name), ending = strlen(word);
    const char *const at = name + length - ending;

    if (length < ending)
        return false;
    for (size_t i = 0; i < ending; i++)
        if (tolower((unsigned char)at[i]) != word[i])
            return false;
    return length == ending || isalnum((unsigned char)at[-1]) == 0 ||
           (islower((unsigned char)at[-1]) != 0 &&
            isupper((unsigned char)at[0]) != 0);
}

static bool ends_with_one(const char *name, const char *const *words)
{
    while (*words != NULL && !ends_with(name, *words))
        words++;
    return *words != NULL;
}

/* Names of much besides: they say it only where no number comes twice. */
bool table_counts_rows(const char *name)
{
    static const char *const words[] = {
        "index",  "idx",     "row",   "no",        "nr",     "num",
        "number", "account", "phone", "telephone", "mobile", "serial",
        "ssn",    "isbn",    "ean",   "invoice",   NULL};

    return ends_with_one(name, words);
}

void table_note_codes(const struct source_options *options,
                      const struct csv *csv, const struct frame *frame)
{
    static const char *const ids[] = {"id", "uid", "uuid", "guid", NULL};
    static const char *const codes[] = {
        "zip",       "zipcode",     "zip_code",    "zip code", "postcode",
        "post_code", "postal_code", "postal code", "plz",      NULL};
    const char *name = csv_name(csv, 0);
    uint32_t told = 0;

    if (csv->wanted.known != NULL || !csv->header)
        return;
    for (uint32_t i = 0; i < csv->cols && told < CODES_TOLD;
         i++, name += strlen(name) + 1) {
        const uint32_t role = csv->columns.role[i];
        const bool id = ends_with_one(name, ids);

        if (role >= COLUMN_FEATURES ||
            (frame != NULL && frame->column[role].categorical) ||
            (!id && !ends_with_one(name, codes)))
            continue;
        told++;
        source_note(options,
                    id ? "%s: %s is taken for a quantity; if it only tells "
                         "rows apart, leave it out with --drop :%u"
                       : "%s: %s is taken for a quantity; --categorical "
                         "auto,:%u makes a 0/1 column for each value",
                    source_shown(options), csv_shown(csv, i).text, i + 1);
    }
}

/* Because there is no value in it? */
static bool is_left_out(const struct csv *csv, uint32_t col)
{
    return csv->wanted.empty != NULL && csv->wanted.empty[col] &&
           csv->columns.role[col] == COLUMN_UNUSED;
}

/* The first column without a name, or their number.  Names lie one after the
 * other, so whoever asks for each by its number goes through all of them. */
static uint32_t first_nameless(const struct csv *csv)
{
    uint32_t col = 1; /* The first may well be: pandas' index. */
    const char *name = csv_name(csv, col);

    while (col < csv->cols && (name[0] != '\0' || is_left_out(csv, col))) {
        name += strlen(name) + 1;
        col++;
    }
    return col;
}

void table_note_empty(const struct source_options *options,
                      const struct csv *csv)
{
    uint32_t count = 0, first = 0;

    for (uint32_t i = csv->cols; i-- > 0;)
        if (is_left_out(csv, i)) {
            first = i;
            count++;
        }
    if (count == 1)
        source_note(options, "%s: %s has no value in any row and is left out",
                    source_shown(options), csv_shown(csv, first).text);
    else if (count > 1)
        source_note(options,
                    "%s: %u columns have no value in any row and are left out, "
                    "the first is %s",
                    source_shown(options), count, csv_shown(csv, first).text);
}

static bool has_no_number(const struct frame_column *column, uint32_t rows)
{
    uint32_t i = 0;

    while (!column->categorical && i < rows && isnan(column->number[i]))
        i++;
    return !column->categorical && i == rows;
}

void table_note_meanless(const struct source_options *options,
                         const struct frame *frame)
{
    uint32_t count = 0, first = 0;

    for (uint32_t i = frame->csv.cols; i-- > 0;) {
        const uint32_t role = frame->csv.columns.role[i];

        if (role < COLUMN_FEATURES &&
            has_no_number(&frame->column[role], frame->rows)) {
            first = i;
            count++;
        }
    }
    if (count > 0)
        source_note(options,
                    "%s: %u column%s no value in any row and %s 0 throughout, "
                    "the first is %s; --drop leaves it out",
                    source_shown(options), count,
                    count == 1 ? " has" : "s have", count == 1 ? "is" : "are",
                    csv_shown(&frame->csv, first).text);
}

/* A header that looks like a row may be one. */
void table_note_header(const struct source_options *options,
                       const struct csv *csv, uint32_t again)
{
    uint32_t empty;

    if (!csv->header || csv->first.run || options->header != HEADER_AUTO ||
        csv->wanted.known != NULL)
        return;
    empty = first_nameless(csv);
    if (again < csv->cols && csv_name(csv, again)[0] != '\0')
        source_note(options,
                    "%s: the first line is taken for the header (--header no "
                    "if it is a row), though the name of column %u, '%s', is "
                    "one of its values, too",
                    source_shown(options), again + 1,
                    quote_text(csv_name(csv, again)).text);
    else if (empty < csv->cols)
        source_note(options,
                    "%s: the first line is taken for the header (--header no "
                    "if it is a row), though column %u has no name in it",
                    source_shown(options), empty + 1);
}

/* "sex (2)", or "column 3 (2)" without a header, behind what is there; false if
 * there is no room for all of it. */
static bool add_column(char *list, size_t room, const struct csv *csv,
                       uint32_t col, uint32_t categories)
{
    const char *const name = csv_name(csv, col);
    const size_t used = strlen(list);
    char number[32];
    int size;

    (void)snprintf(number, sizeof number, "column %u", col + 1);
    size =
        snprintf(list + used, room - used, "%s%s (%u)", used > 0 ? ", " : "",
                 name[0] == '\0' ? number : quote_text(name).text, categories);
    if (size >= 0 && (size_t)size < room - used)
        return true;
    list[used] = '\0';
    return false;
}

/* Which columns became categories because of what is in them. */
void table_note_words(const struct source_options *options,
                      const struct frame *frame)
{
    const struct csv *const csv = &frame->csv;
    char list[WHY_SIZE / 2] = "";
    uint32_t count = 0;
    bool cut = false;

    for (uint32_t i = 0; i < csv->cols && !cut; i++) {
        const uint32_t role = csv->columns.role[i];

        if (role < COLUMN_FEATURES && frame->column[role].categorical)
            cut = count++ == NAMES_SHOWN ||
                  !add_column(list, sizeof list, csv, i,
                              frame->column[role].categories);
    }
    if (count > 0)
        source_note(options,
                    "%s: columns of words become one 0/1 column for each "
                    "word: %s%s (--drop leaves columns out)",
                    source_shown(options), list, cut ? ", ..." : "");
}

static uint32_t rows_present(const struct frame_column *column, uint32_t rows)
{
    uint32_t present = 0;

    for (uint32_t i = 0; i < rows; i++)
        present += column->code[i] != FRAME_MISSING;
    return present;
}

/* Ids and names: most rows have a word of their own. */
static bool holds_names(const struct frame_column *column, uint32_t rows)
{
    return column->categorical && column->categories >= NAMES_MIN &&
           column->categories > rows_present(column, rows) / 2;
}

void table_note_names(const struct source_options *options,
                      const struct frame *frame)
{
    const struct csv *const csv = &frame->csv;
    const char *name = csv_name(csv, 0);

    for (uint32_t i = 0; i < csv->cols; i++) {
        const uint32_t role = csv->columns.role[i];

        if (role < COLUMN_FEATURES &&
            holds_names(&frame->column[role], frame->rows))
            source_note(options,
                        "%s: column %u%s%s%s has %u different words in %u "
                        "rows; names and ids say nothing about other rows: "
                        "leave it out with --drop :%u",
                        source_shown(options), i + 1, csv->header ? " (" : "",
                        csv->header ? quote_text(name).text : "",
                        csv->header ? ")" : "", frame->column[role].categories,
                        frame->rows, i + 1);
        name += csv->header ? strlen(name) + 1 : 0;
    }
}

/* Case of ASCII only: that of other letters depends on the language. */
static int compare_bare(const char *a, const char *b)
{
    const struct span u = span_trim((struct span){a, strlen(a)});
    const struct span v = span_trim((struct span){b, strlen(b)});
    const int order =
        strncasecmp(u.at, v.at, u.size < v.size ? u.size : v.size);

    return order != 0 ? order : (u.size > v.size) - (u.size < v.size);
}

static int by_bare_word(const void *a, const void *b)
{
    const char *const *const x = a, *const *const y = b;
    const int order = compare_bare(*x, *y);

    return order != 0 ? order : strcmp(*x, *y);
}

static bool note_alike(const struct source_options *options,
                       const struct csv *csv, uint32_t col,
                       const struct frame_column *column)
{
    const bool classes = csv->columns.role[col] == COLUMN_LABEL;
    const uint32_t count = column->categorical ? column->categories : 0;
    const char **const word = count > 0 ? mem_new(count, sizeof *word) : NULL;
    uint32_t pairs = 0, first = 0;

    for (uint32_t i = 0; word != NULL && i < count; i++)
        word[i] = column->category[i].text;
    if (word != NULL)
        qsort(word, count, sizeof *word, by_bare_word);
    for (uint32_t i = word != NULL ? count : 0; i-- > 1;)
        if (compare_bare(word[i - 1], word[i]) == 0) {
            first = i - 1;
            pairs++;
        }
    if (pairs > 0)
        source_note(options,
                    "%s: %s: '%s' and '%s' are two %s, and differ in case or "
                    "blanks only%s; if they are one, write them alike",
                    source_shown(options), csv_shown(csv, col).text,
                    quote_text(word[first]).text,
                    quote_text(word[first + 1]).text,
                    classes ? "classes" : "categories",
                    pairs > 1 ? ", as do others" : "");
    mem_free(word);
    return pairs > 0;
}

void table_note_alike(const struct source_options *options,
                      const struct frame *frame)
{
    uint32_t told = 0;

    for (uint32_t i = 0; i < frame->csv.cols && told < CODES_TOLD; i++) {
        const uint32_t role = frame->csv.columns.role[i];

        if (role < COLUMN_FEATURES)
            told += note_alike(options, &frame->csv, i, &frame->column[role]);
        else if (role == COLUMN_LABEL)
            told += note_alike(options, &frame->csv, i, &frame->classes);
    }
}

enum err table_refuse_names(const struct frame *frame, struct why *why)
{
    const struct csv *const csv = &frame->csv;

    if (!holds_names(&frame->classes, frame->rows))
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "the labels, %s, are %u different words in %u "
                   "rows, so names or ids rather than classes; --label COLUMN "
                   "says where the labels are",
                   csv_shown(csv, csv->columns.label).text,
                   frame->classes.categories, frame->rows);
}
