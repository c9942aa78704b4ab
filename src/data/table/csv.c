/*
 * csv.c - a parser for tables of numbers: a fast path for digits and
 * separators, and a careful one with quotes, which also says what is wrong in
 * which line and column.
 */
#include "data/table/csv.h"

#include <math.h>
#include <stdio.h>
#include <strings.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "data/text/number.h"
#include "data/text/text_source.h"

enum { COLUMNS_LISTED = 20 };

void csv_close(struct csv *csv)
{
    mem_free(csv->names);
    columns_close(&csv->columns);
    *csv = (struct csv){0};
}

const char *csv_name(const struct csv *csv, uint32_t col)
{
    const char *name = csv->names;

    if (!csv->header || col >= csv->cols)
        return "";
    for (uint32_t i = 0; i < col; i++)
        name += strlen(name) + 1;
    return name;
}

struct csv_shown csv_shown(const struct csv *csv, uint32_t col)
{
    const struct quote name = quote_text(csv_name(csv, col));
    const bool named = name.text[0] != '\0';
    struct csv_shown made;

    (void)snprintf(made.text, sizeof made.text, "column %u%s%s%s", col + 1,
                   named ? " (" : "", name.text, named ? ")" : "");
    return made;
}

bool csv_place(const struct csv *csv, struct span wanted, uint32_t *col)
{
    double number = 0;

    if (number_parse(wanted.at, wanted.size, &number) != NUMBER_OK ||
        number != floor(number) || number < 1 || number > csv->cols)
        return false;
    *col = (uint32_t)number - 1;
    return true;
}

/* The column that was meant, as far as it is a slip of the hand. */
static const char *nearest_column(const struct csv *csv, const char *typed)
{
    const char *name = csv->names;
    const char *best = NULL;
    size_t limit = nearest_limit(typed);

    for (uint32_t i = 0; i < csv->cols; i++, name += strlen(name) + 1) {
        const size_t far = nearest_distance(typed, name);

        if (name[0] != '\0' && far <= limit && (best == NULL || far < limit)) {
            best = name;
            limit = far;
        }
    }
    return best;
}

/* Lists are cut at commas, so that such a name cannot be in one: the column
 * whose name goes on with a comma after `wanted`, or `cols`. */
static uint32_t find_cut(const struct csv *csv, struct span wanted)
{
    const char *name = csv->names;
    uint32_t col = 0;

    while (col < csv->cols &&
           !(wanted.size > 0 && strncmp(name, wanted.at, wanted.size) == 0 &&
             name[wanted.size] == ',')) {
        name += strlen(name) + 1;
        col++;
    }
    return col;
}

/* How to name a column in a list of names. */
static struct quote way_to_name(const char *name, uint32_t col)
{
    struct quote made = quote_text(name);

    if (name[0] == '\0')
        (void)snprintf(made.text, sizeof made.text, ":%u (no name)", col + 1);
    return made;
}

/* "a, b, c", or "a, ... c" of many or long ones. */
static void list_names(const struct csv *csv, char *list, size_t room)
{
    const char *name = csv->names;
    size_t used = 0;

    for (uint32_t i = 0; i < csv->cols; i++, name += strlen(name) + 1) {
        const struct quote shown = way_to_name(name, i);
        const char *const mark = strpbrk(name, ", ") != NULL ? "\"" : "";

        if (csv->cols > COLUMNS_LISTED ||
            used + strlen(shown.text) + 5 > room) {
            (void)snprintf(
                list, room, "%s, ... %s", way_to_name(csv->names, 0).text,
                way_to_name(csv_name(csv, csv->cols - 1), csv->cols - 1).text);
            return;
        }
        used += (size_t)snprintf(list + used, room - used, "%s%s%s%s",
                                 i == 0 ? "" : ", ", mark, shown.text, mark);
    }
}

static enum err say_no_column(const struct csv *csv, struct span wanted,
                              struct why *why)
{
    const struct quote typed = quote(wanted);
    const char *const near = nearest_column(csv, typed.text);
    const uint32_t cut = find_cut(csv, wanted);
    char list[WHY_SIZE / 2];

    if (cut < csv->cols)
        return why_set(why, ERR_UNKNOWN,
                       "no column '%s'; if '%s' is meant, which has a comma in "
                       "its name, write :%u",
                       typed.text, quote_text(csv_name(csv, cut)).text,
                       cut + 1);
    if (near != NULL)
        return why_set(why, ERR_UNKNOWN, "no column '%s'; did you mean '%s'?",
                       typed.text, quote_text(near).text);
    list_names(csv, list, sizeof list);
    return why_set(why, ERR_UNKNOWN,
                   "no column '%s'; there are %s, or numbers 1 to %u",
                   typed.text, list, csv->cols);
}

static bool find_name(const struct csv *csv, struct span wanted, uint32_t *col)
{
    const char *name = csv->names;

    for (uint32_t i = 0; csv->header && i < csv->cols; i++) {
        if (span_is(wanted, name)) {
            *col = i;
            return true;
        }
        name += strlen(name) + 1;
    }
    return false;
}

/* A name may have blanks at its ends; in a list they are mostly the list's. */
enum err csv_find(const struct csv *csv, struct span wanted, uint32_t *col,
                  struct why *why)
{
    if (find_name(csv, wanted, col))
        return ERR_OK;
    wanted = span_trim(wanted);
    if (find_name(csv, wanted, col))
        return ERR_OK;
    if (csv_place(csv, wanted, col))
        return ERR_OK;
    if (wanted.size > 1 && wanted.at[0] == ':' &&
        csv_place(csv, (struct span){wanted.at + 1, wanted.size - 1}, col))
        return ERR_OK;
    if (csv->header)
        return say_no_column(csv, wanted, why);
    return why_set(why, ERR_UNKNOWN,
                   "no column '%s'; there is no header, so give a number from "
                   "1 to %u",
                   quote(wanted).text, csv->cols);
}

/* Add a field to what is known of its line. */
static void look_at_field(struct csv_fields *fields, uint32_t col,
                          struct span field, double *last)
{
    double value = 0;
    const enum number kind = number_parse(field.at, field.size, &value);

    if (kind == NUMBER_OK && fields->run && value == floor(value) &&
        value >= 0 && (fields->numbers == 0 || value == *last + 1))
        *last = value;
    else if (col > 0 || field.size > 0)
        fields->run = false;
    if (kind == NUMBER_OK || kind == NUMBER_HUGE ||
        csv_is_boolean(field, &value))
        fields->numbers++;
    else if (!csv_is_missing(field))
        fields->words++;
}

/* Copy the fields of the first line to `names`, each with a NUL, and see what
 * they are. */
static enum err read_first(struct csv *csv, struct span line, char *scratch,
                           struct why *why)
{
    size_t used = 0;
    double last = 0;
    bool more = true;

    csv->cols = 0;
    csv->first = (struct csv_fields){.run = true};
    while (more) {
        struct span field = {0};
        const enum err err =
            csv_field(csv->separator, &line, scratch, &field, &more, why);

        if (err != ERR_OK)
            return err;
        if (csv->cols > DATA_COLS_MAX)
            return why_set(why, ERR_TOOBIG, "more than %u columns",
                           DATA_COLS_MAX);
        look_at_field(&csv->first, csv->cols, field, &last);
        for (size_t i = 0; i < field.size; i++)
            csv->names[used++] = field.at[i] == '\0' ? '?' : field.at[i];
        csv->names[used++] = '\0';
        csv->cols++;
    }
    /* 0,1 are names that numpy's columns get; 5,6 may well be values. */
    if (csv->first.numbers < 3 &&
        (csv->first.numbers < 2 || last != csv->first.numbers - 1))
        csv->first.run = false;
    return ERR_OK;
}

/* Is the first feature of a known table among the names? */
static bool has_known_name(const struct csv *csv)
{
    const struct schema *const known = csv->wanted.known;
    const char *name = csv->names;

    if (name == NULL || known->name == NULL)
        return false;
    for (uint32_t i = 0; i < csv->cols; i++) {
        if (strcmp(name, known->name[0]) == 0)
            return true;
        name += strlen(name) + 1;
    }
    return false;
}

static bool is_header(const struct csv *csv)
{
    const bool words = csv->first.words > 0 && csv->first.numbers == 0;

    if (csv->header_wanted != HEADER_AUTO)
        return csv->header_wanted == HEADER_YES;
    if (csv->wanted.known != NULL)
        return has_known_name(csv) || (words && csv->wanted.known->numeric);
    return words || csv->first.run;
}

bool csv_says_separator(struct span line, char *separator)
{
    if (line.size != 5 || strncasecmp(line.at, "sep=", 4) != 0)
        return false;
    if (*separator == 0)
        *separator = line.at[4];
    return true;
}

/* Texts that would be read wrongly, or not be understood by who reads the
 * sentence. */
static enum err refuse_form(struct span line, struct why *why)
{
    char separator = 0;

    if (csv_has_outside(line, '\r'))
        return why_set(why, ERR_FORMAT,
                       "a carriage return within the line; if lines end with "
                       "them alone, tr '\\r' '\\n' makes them line feeds");
    return csv_says_separator(line, &separator)
               ? why_set(why, ERR_FORMAT, "a line for Excel, no row")
               : ERR_OK;
}

static bool has_comma(const struct csv *csv)
{
    const char *name = csv->names;

    for (uint32_t i = 0; i < csv->cols; i++, name += strlen(name) + 1)
        if (strchr(name, ',') != NULL)
            return true;
    return false;
}

const char *csv_doubt(const struct csv *csv)
{
    const char *const first = csv->names;

    if (first == NULL)
        return "";
    if (first[0] == '#')
        return "; line 1 begins with '#': if it is a comment, leave it out";
    if (csv->cols == 1 && strchr(first, ' ') != NULL)
        return "; if blanks stand between fields, add --separator ' '";
    if (csv->cols == 1 && strpbrk(first, ",;\t|") != NULL)
        return "; another --separator, or none, may fit";
    if (csv->header && csv->separator != ',' && has_comma(csv))
        return "; if commas stand between fields, add --separator ,";
    return "";
}

enum err csv_look(struct csv *csv, const char *line, size_t size,
                  struct why *why)
{
    const struct span first = {line, size};
    char *scratch;
    enum err err = refuse_form(first, why);

    if (err != ERR_OK)
        return err;
    scratch = mem_new(size + 1, 1);
    if (csv->separator == 0)
        csv->separator = csv_separator(first);
    mem_free(csv->names);
    csv->names = mem_new(2 * size + 2, 1);
    err = scratch == NULL || csv->names == NULL
              ? why_set(why, ERR_NOMEM, "out of memory")
              : read_first(csv, first, scratch, why);
    mem_free(scratch);
    if (err == ERR_OK)
        csv->header = is_header(csv);
    return err;
}

enum err csv_begin(struct csv *csv, const char *line, size_t size,
                   struct why *why)
{
    const enum err err = csv_look(csv, line, size, why);

    return err == ERR_OK ? columns_assign(csv, &csv->wanted, &csv->columns, why)
                         : err;
}

static enum err in_column(const struct csv *csv, uint32_t col, enum err err,
                          struct why *why)
{
    return why_in(why, err, "%s", csv_shown(csv, col).text);
}

static enum err store(const struct csv *csv, uint32_t col, double value,
                      struct sparse *sparse, struct why *why)
{
    const size_t used = sparse->start[sparse->rows + 1];
    const uint32_t role = csv->columns.role[col];

    if (role >= COLUMN_FEATURES) {
        if (role == COLUMN_LABEL)
            sparse->label[sparse->rows] = value;
        if (role == COLUMN_WEIGHT)
            sparse->weight[sparse->rows] = value;
        return role != COLUMN_WEIGHT || csv_is_weight(value) ? ERR_OK
                                                             : ERR_RANGE;
    }
    if (!sparse_in_range(sparse, value))
        return why_set(why, ERR_RANGE, "%g is too large; at most %s", value,
                       sparse_limit(sparse->wide));
    if (value == 0)
        return ERR_OK;
    sparse->index[used] = role;
    sparse->value[used] = value;
    sparse->start[sparse->rows + 1]++;
    return ERR_OK;
}

static enum err say_ragged(const struct csv *csv, uint32_t found,
                           struct why *why)
{
    return why_set(why, ERR_FORMAT, "%u columns, expected %u", found,
                   csv->cols);
}

/* Labels that are True and False are classes of these names. */
static enum err read_number(const struct csv *csv, uint32_t col,
                            struct span field, double *value, struct why *why)
{
    const struct csv_setting setting = {.label = csv->columns.role[col] ==
                                                 COLUMN_LABEL,
                                        .col = col,
                                        .separator = csv->separator};

    if (csv->columns.role[col] == COLUMN_WEIGHT)
        return csv_weight(field, value, why);
    if (setting.label && csv_is_boolean(field, value))
        return why_set(why, ERR_FORMAT, "'%s' is a word", quote(field).text);
    return csv_number(field, &setting, value, why);
}

/* Columns from `col` on, with quotes and everything. */
static enum err careful_row(const struct csv *csv, struct span line,
                            struct sparse *sparse, struct why *why)
{
    char *scratch = mem_new(line.size + 1, 1);
    enum err err =
        scratch == NULL ? why_set(why, ERR_NOMEM, "out of memory") : ERR_OK;
    bool more = true;
    uint32_t col = 0;

    while (err == ERR_OK && more) {
        struct span field = {0};
        double value = 0;

        err = csv_field(csv->separator, &line, scratch, &field, &more, why);
        if (err == ERR_OK && col < csv->cols &&
            csv->columns.role[col] != COLUMN_UNUSED) {
            err = read_number(csv, col, field, &value, why);
            if (err == ERR_OK)
                err = store(csv, col, value, sparse, why);
        }
        if (err != ERR_OK)
            err = in_column(csv, col, err, why);
        col++;
    }
    mem_free(scratch);
    if (err == ERR_OK && col != csv->cols)
        err = say_ragged(csv, col, why);
    return err;
}

/* Numbers and separators only; false: let the careful reader judge.  The line
 * ends with a line feed. */
static bool fast_row(const struct csv *csv, const char *p,
                     struct sparse *sparse)
{
    for (uint32_t col = 0; col < csv->cols; col++) {
        double value;

        if (!number_scan(&p, &value) ||
            *p != (col + 1 < csv->cols ? csv->separator : '\n') ||
            store(csv, col, value, sparse, NULL) != ERR_OK)
            return false;
        p++;
    }
    return true;
}

static enum err read_line(const struct csv *csv, struct span line,
                          struct sparse *sparse, struct why *why)
{
    enum err err;

    if (span_trim(line).size == 0 || (line.size == 1 && *line.at == '\r'))
        return ERR_OK;
    err = sparse_reserve(sparse, csv->cols);
    if (err != ERR_OK)
        return why_set(why, err, "%s", err_text(err));
    sparse->start[sparse->rows + 1] = sparse->start[sparse->rows];
    sparse->label[sparse->rows] = nan(""); /* Unless there is one. */
    if (!fast_row(csv, line.at, sparse)) {
        sparse->start[sparse->rows + 1] = sparse->start[sparse->rows];
        if (line.at[line.size - 1] == '\r')
            line.size--;
        err = careful_row(csv, line, sparse, why);
        if (err != ERR_OK)
            return err;
    }
    sparse->rows++;
    return ERR_OK;
}

enum err csv_block(const struct text_block *block, const void *options,
                   struct sparse *sparse, struct why *why)
{
    const struct csv *const csv = options;
    const char *at = block->text;
    const char *const end = at + block->size;
    uint64_t lines = 0;

    while (at < end) {
        const char *const feed = memchr(at, '\n', (size_t)(end - at));
        const struct span line = {at, (size_t)(feed - at)};
        const enum err err = read_line(csv, line, sparse, why);

        lines++;
        if (err != ERR_OK)
            return why_in(why, err, "line %llu",
                          (unsigned long long)block->lines_before + lines);
        at = feed + 1;
    }
    /* Every block is as wide as the table, whatever its zeros. */
    sparse->cols = csv->columns.features;
    sparse->weighted = csv->columns.weight < csv->cols;
    return ERR_OK;
}

enum err csv_block_begin(void *options, const char *line, size_t size,
                         bool *skip, struct why *why)
{
    struct csv *const csv = options;
    const enum err err = csv_begin(csv, line, size, why);

    *skip = csv->header;
    if (err == ERR_OK && !csv->columns.ascending)
        return why_set(why, ERR_UNSUPPORTED,
                       "the columns are in another order than the model's");
    return err;
}

enum err csv_stage(const char *path, const struct span *text, struct csv *csv,
                   struct pool *pool, struct stage *stage, struct why *why)
{
    const struct text_format format = {
        .read = csv_block, .begin = csv_block_begin, .options = csv};
    const enum err err =
        text == NULL
            ? text_blocks_read(path, &format, pool, stage, why)
            : text_blocks_read_memory(text->at, text->size, TEXT_BLOCK_BYTES,
                                      &format, pool, stage, why);

    if (err != ERR_OK)
        return err;
    if (stage_rows(stage) == 0)
        return why_set(why, ERR_FORMAT,
                       "no rows; expected lines of numbers with commas or "
                       "tabs between them");
    return ERR_OK;
}
