/*
 * survey.c - a first look at a table with words in it: which columns hold
 * what, and whether its first line is a header.
 *
 *     age,sex,fare        sex is words further down too, but age and fare are
 *     22,male,7.25        numbers there: a header
 *     p,x,s,n             all columns are words, and each of these comes again
 *     e,x,s,y             in its column, or is missing: a row
 *
 * It ends at the first line that is no row, which frame_read will refuse: what
 * comes after it no longer matters, and of a quote that nobody closed may be
 * the rest of a large file.
 */
#include <string.h>

#include "base/mem.h"
#include "data/table/frame.h"
#include "data/text/disguise.h"
#include "data/text/number.h"

struct surveyor {
    struct survey *survey;
    struct csv csv;     /* After the first line. */
    uint32_t again;     /* Columns whose first field came again, ... */
    bool *came;         /* ... namely these. */
    struct span *first; /* The fields of the first line. */
    char *scratch;
    size_t scratch_size;
};

void survey_close(struct survey *survey)
{
    mem_free(survey->column);
    mem_free(survey->empty);
    *survey = (struct survey){0};
}

static void count_field(struct survey_column *column, struct span field)
{
    double value;

    if (csv_is_missing(field)) {
        column->missing++;
    } else if (csv_is_boolean(field, &value)) {
        column->booleans++;
    } else if (number_parse(field.at, field.size, &value) != NUMBER_NOT) {
        column->decimals += disguise_points(field) == POINTS_OTHER;
        column->numbers++;
    } else if (disguise_of(field) != NULL) {
        column->grouped += disguise_points(field) == POINTS_GROUP;
        column->disguised++;
    } else {
        column->words++;
    }
}

static void look_back(struct surveyor *surveyor, uint32_t col,
                      struct span field)
{
    const struct span first = surveyor->first[col];

    if (surveyor->came[col] || field.size != first.size ||
        (first.size > 0 && memcmp(field.at, first.at, first.size) != 0))
        return;
    surveyor->came[col] = true;
    surveyor->again++;
}

static bool make_room(struct surveyor *surveyor, size_t size)
{
    if (size + 1 <= surveyor->scratch_size)
        return true;
    mem_free(surveyor->scratch);
    surveyor->scratch_size = 2 * size + 1;
    surveyor->scratch = mem_new(surveyor->scratch_size, 1);
    return surveyor->scratch != NULL;
}

/* False: it is no row. */
static bool survey_line(struct surveyor *surveyor, struct span line)
{
    const uint32_t cols = surveyor->survey->cols;
    bool more = true;
    uint32_t col = 0;

    for (; more && col < cols; col++) {
        struct span field = {0};

        if (csv_field(surveyor->csv.separator, &line, surveyor->scratch, &field,
                      &more, NULL) != ERR_OK)
            return false;
        count_field(&surveyor->survey->column[col], field);
        look_back(surveyor, col, field);
    }
    return !more && col == cols;
}

/* The first line: its form, and its fields to compare others with. */
static enum err begin(struct surveyor *surveyor,
                      const struct frame_options *options, char separator,
                      struct span line, struct why *why)
{
    struct csv *const csv = &surveyor->csv;
    struct survey *const survey = surveyor->survey;
    const char *name;
    enum err err;

    *csv = (struct csv){.wanted = options->wanted,
                        .header_wanted = options->header,
                        .separator = separator};
    err = csv_look(csv, line.at, line.size, why);
    if (err != ERR_OK)
        return err;
    survey->cols = csv->cols;
    survey->column = mem_new(csv->cols, sizeof *survey->column);
    surveyor->came = mem_new(csv->cols, sizeof *surveyor->came);
    surveyor->first = mem_new(csv->cols, sizeof *surveyor->first);
    survey->empty = mem_new(csv->cols, sizeof *survey->empty);
    if (survey->column == NULL || surveyor->came == NULL ||
        surveyor->first == NULL || survey->empty == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    name = csv->names;
    for (uint32_t i = 0; i < csv->cols; i++) {
        surveyor->first[i] = (struct span){name, strlen(name)};
        name += surveyor->first[i].size + 1;
    }
    return ERR_OK;
}

/* Is there a column with a word in the first line and mostly numbers below?
 * (A header that comes again is a word there.) */
static bool words_above_numbers(const struct surveyor *surveyor)
{
    const struct survey *const survey = surveyor->survey;

    for (uint32_t i = 0; i < survey->cols; i++) {
        const struct survey_column *const below = &survey->column[i];
        struct survey_column above = {0};

        count_field(&above, surveyor->first[i]);
        if (above.words > 0 &&
            below->words < below->numbers + below->disguised + below->booleans)
            return true;
    }
    return false;
}

/* Is there a column of dates or the like, the first line's too? */
static bool disguised_all_along(const struct surveyor *surveyor)
{
    const struct survey *const survey = surveyor->survey;

    for (uint32_t i = 0; i < survey->cols; i++) {
        if (survey->column[i].disguised > 0 &&
            disguise_of(surveyor->first[i]) != NULL)
            return true;
    }
    return false;
}

/* Fields of the first line that say nothing, and did not come again. */
static uint32_t missing_above(const struct surveyor *surveyor)
{
    uint32_t missing = 0;

    for (uint32_t i = 0; i < surveyor->survey->cols; i++)
        missing += !surveyor->came[i] && csv_is_missing(surveyor->first[i]);
    return surveyor->again > 0 ? missing : 0;
}

static bool is_header(const struct surveyor *surveyor,
                      const struct frame_options *options)
{
    const struct csv *const csv = &surveyor->csv;

    if (options->header != HEADER_AUTO || options->wanted.known != NULL ||
        csv->first.words == 0)
        return csv->header;
    if (words_above_numbers(surveyor))
        return true;
    return csv->first.numbers == 0 &&
           surveyor->again + missing_above(surveyor) < csv->cols &&
           !disguised_all_along(surveyor);
}

/* The first column whose name is a value of it, too; `cols`: none. */
static uint32_t first_again(const struct surveyor *surveyor)
{
    uint32_t col = 0;

    while (col < surveyor->survey->cols && !surveyor->came[col])
        col++;
    return col;
}

static bool holds_nothing(const struct survey_column *fields)
{
    return fields->missing > 0 && fields->numbers == 0 &&
           fields->disguised == 0 && fields->booleans == 0 &&
           fields->words == 0;
}

static bool is_empty(struct span line)
{
    while (line.size > 0 && *line.at == ' ') {
        line.at++;
        line.size--;
    }
    return line.size == 0;
}

static enum err survey_lines(struct surveyor *surveyor,
                             struct text_source *source,
                             const struct frame_options *options,
                             struct why *why)
{
    char separator = options->separator;
    bool begun = false;

    for (;;) {
        struct span line;
        uint64_t number = 0;
        enum err err =
            csv_line(source, begun ? surveyor->csv.separator : separator, &line,
                     &number, why);

        if (err != ERR_OK || line.at == NULL)
            return err;
        if (is_empty(line) || (!begun && csv_says_separator(line, &separator)))
            continue;
        if (!make_room(surveyor, line.size))
            return why_set(why, ERR_NOMEM, "out of memory");
        if (begun && !survey_line(surveyor, line))
            return ERR_OK;
        if (!begun)
            err = begin(surveyor, options, separator, line, why);
        begun = true;
        if (err != ERR_OK)
            return why_in(why, err, "line %llu", (unsigned long long)number);
    }
}

enum err survey_read(struct text_source *source,
                     const struct frame_options *options, struct survey *survey,
                     struct why *why)
{
    struct survey made = {0};
    struct surveyor surveyor = {.survey = &made};
    enum err err = survey_lines(&surveyor, source, options, why);

    if (err == ERR_OK) {
        made.header = is_header(&surveyor, options);
        made.again = first_again(&surveyor);
        /* An empty text has neither columns nor a first line. */
        for (uint32_t i = 0;
             surveyor.first != NULL && !made.header && i < made.cols; i++)
            count_field(&made.column[i], surveyor.first[i]);
        for (uint32_t i = 0; i < made.cols; i++) {
            made.empty[i] = holds_nothing(&made.column[i]);
            made.decimals |= made.column[i].decimals > 0;
        }
        *survey = made;
    } else {
        survey_close(&made);
    }
    csv_close(&surveyor.csv);
    mem_free(surveyor.came);
    mem_free(surveyor.first);
    mem_free(surveyor.scratch);
    return err;
}
