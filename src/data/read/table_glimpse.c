/*
 * table_glimpse.c - doubts about columns of numbers that take a look at how
 * these are written: the first rows of the text are read once more, after all
 * of it was taken.  What is found there is a doubt, not a rule, so that the
 * first rows will do.
 */
#include "data/read/table_glimpse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/read/table_notes.h"
#include "data/text/disguise.h"
#include "data/text/number.h"

enum { GLIMPSE_ROWS = 1000, TELLING_ROWS = 20, GLIMPSES_TOLD = 4 };

struct glimpsed {
    uint32_t numbers, missing;
    uint32_t threes; /* 195.990: thousands, or three decimals. */
    bool decimals;   /* Anything that cannot be thousands. */
    bool whole, doubted;
    struct quote example; /* The first of `threes`. */
    double *value;        /* Of columns that may count rows; else NULL. */
};

static void look(struct glimpsed *column, struct span field)
{
    const enum points points = disguise_points(field);
    double value;

    if (csv_is_missing(field)) {
        column->missing++;
        return;
    }
    if (number_parse(field.at, field.size, &value) != NUMBER_OK) {
        column->decimals = true;
        column->whole = false;
        return;
    }
    if (points == POINTS_EITHER && column->threes++ == 0)
        column->example = quote(field);
    column->decimals |= points == POINTS_OTHER ||
                        (points == POINTS_NONE && fabs(value) >= 1000);
    column->whole &= value == floor(value);
    if (column->value != NULL)
        column->value[column->numbers] = value;
    column->numbers++;
}

/* The rows of a text that was read before: whatever does not fit ends it. */
static void look_at_rows(struct text_source *source, const struct csv *csv,
                         struct glimpsed *column)
{
    char separator = csv->separator;
    char *scratch = NULL;
    size_t room = 0;
    bool first = true;

    for (uint32_t rows = 0; rows < GLIMPSE_ROWS;) {
        struct span line;
        uint64_t number;
        bool more = true;

        if (csv_line(source, separator, &line, &number, NULL) != ERR_OK ||
            line.at == NULL)
            break;
        if (span_trim(line).size == 0 ||
            (first && csv_says_separator(line, &separator)))
            continue;
        if (first && csv->header) {
            first = false;
            continue;
        }
        first = false;
        if (line.size + 1 > room) {
            mem_free(scratch);
            room = 2 * line.size + 1;
            scratch = mem_new(room, 1);
        }
        for (uint32_t i = 0; scratch != NULL && more && i < csv->cols; i++) {
            struct span field;

            if (csv_field(csv->separator, &line, scratch, &field, &more,
                          NULL) != ERR_OK)
                break;
            if (column[i].doubted)
                look(&column[i], field);
        }
        rows++;
    }
    mem_free(scratch);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static bool all_differ(struct glimpsed *column)
{
    uint32_t i = 1;

    qsort(column->value, column->numbers, sizeof *column->value, by_value);
    while (i < column->numbers && column->value[i] > column->value[i - 1])
        i++;
    return i == column->numbers;
}

/* *told counts what was said. */
static void tell(const struct source_options *options, const struct csv *csv,
                 uint32_t col, struct glimpsed *column, uint32_t *told)
{
    if (csv->separator == ';' && column->threes > 1 && !column->decimals &&
        2 * column->threes >= column->numbers && ++*told <= GLIMPSES_TOLD)
        source_note(options,
                    "%s: %s: '%s' is read with three decimals, as are others; "
                    "if their points stand between thousands, take them out "
                    "(`tr -d . <OLD >NEW`, if all points are such)",
                    source_shown(options), csv_shown(csv, col).text,
                    column->example.text);
    if (column->value != NULL && column->whole && column->missing == 0 &&
        column->numbers >= TELLING_ROWS && all_differ(column) &&
        ++*told <= GLIMPSES_TOLD)
        source_note(options,
                    "%s: %s is taken for a quantity, and has another whole "
                    "number in each row; if it only tells rows apart, leave it "
                    "out with --drop :%u",
                    source_shown(options), csv_shown(csv, col).text, col + 1);
}

/* Which columns are read as numbers and in doubt, by separator or name. */
static bool doubt(const struct csv *csv, const struct frame *frame,
                  struct glimpsed *column)
{
    const char *name = csv_name(csv, 0);
    bool any = false;

    for (uint32_t i = 0; i < csv->cols; i++) {
        const uint32_t role = csv->columns.role[i];
        const bool feature =
            role < COLUMN_FEATURES &&
            (frame == NULL || !frame->column[role].categorical);

        column[i].whole = true;
        column[i].doubted =
            csv->separator == ';' && (feature || role == COLUMN_LABEL);
        if (feature && csv->header && table_counts_rows(name))
            column[i].value = mem_new(GLIMPSE_ROWS, sizeof(double));
        column[i].doubted |= column[i].value != NULL;
        any |= column[i].doubted;
        name += csv->header ? strlen(name) + 1 : 0;
    }
    return any;
}

void table_note_glimpse(const struct source_options *options,
                        const struct span *text, const struct csv *csv,
                        const struct frame *frame)
{
    struct text_source source = {0};
    struct glimpsed *column;
    uint32_t told = 0;

    if (csv->wanted.known != NULL)
        return; /* Whoever applies a model was told when it was trained. */
    column = mem_new(csv->cols, sizeof *column);
    if (column == NULL)
        return;
    if (doubt(csv, frame, column) &&
        (text == NULL
             ? text_open(&source, options->spec, NULL)
             : text_open_memory(&source, text->at, text->size)) == ERR_OK)
        look_at_rows(&source, csv, column);
    text_close(&source);
    for (uint32_t i = 0; i < csv->cols; i++) {
        if (column[i].doubted)
            tell(options, csv, i, &column[i], &told);
        mem_free(column[i].value);
    }
    mem_free(column);
}
