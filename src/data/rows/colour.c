/*
 * colour.c - values of filters, their thresholds, and which of them to take.
 */
#include "data/rows/colour.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "data/rows/strata.h"

#define BLOCK_SIDE   2u /* Blocks of an image, by row and by column. */
#define PROJECTIONS  4u
#define WIDE_COLUMNS 4u   /* Of tables: those of the widest spread. */
#define GAIN_LEAST   1e-6 /* Bits: a filter that adds less adds nothing. */

static const char *const names[FILTER_KINDS] = {
    [FILTER_LABEL] = "label",           [FILTER_INTENSITY] = "intensity",
    [FILTER_BLOCK] = "block",           [FILTER_EDGES] = "edges",
    [FILTER_PROJECTION] = "projection", [FILTER_COLUMN] = "column",
};

/* Users count columns from 1, here as in --label. */
static uint32_t counted_from(enum filter_kind kind)
{
    return kind == FILTER_COLUMN ? 1 : 0;
}

const char *filter_text(const struct filter *filter, char text[FILTER_TEXT])
{
    const char *const name = names[filter->kind];

    if (filter->kind == FILTER_BLOCK)
        (void)snprintf(text, FILTER_TEXT, "%s:%u,%u", name,
                       filter->arg / BLOCK_SIDE, filter->arg % BLOCK_SIDE);
    else if (filter->kind == FILTER_PROJECTION || filter->kind == FILTER_COLUMN)
        (void)snprintf(text, FILTER_TEXT, "%s:%u", name,
                       filter->arg + counted_from(filter->kind));
    else
        (void)snprintf(text, FILTER_TEXT, "%s", name);
    return text;
}

/* --- values -------------------------------------------------------------- */

static bool looks_at_images(enum filter_kind kind)
{
    return kind == FILTER_INTENSITY || kind == FILTER_BLOCK ||
           kind == FILTER_EDGES;
}

static double pixel(const struct image *image, const double *x, uint32_t i,
                    uint32_t j)
{
    const double *const at =
        x + ((size_t)i * image->width + j) * image->channels;
    double sum = 0;

    for (uint32_t c = 0; c < image->channels; c++)
        sum += at[c];
    return sum;
}

static double sum_of(const struct image *image, const double *x, uint32_t top,
                     uint32_t bottom, uint32_t left, uint32_t right)
{
    double sum = 0;

    for (uint32_t i = top; i < bottom; i++) {
        for (uint32_t j = left; j < right; j++)
            sum += pixel(image, x, i, j);
    }
    return sum;
}

static double block_sum(const struct image *image, const double *x,
                        uint32_t block)
{
    const uint32_t i = block / BLOCK_SIDE;
    const uint32_t j = block % BLOCK_SIDE;

    return sum_of(image, x, i * image->height / BLOCK_SIDE,
                  (i + 1) * image->height / BLOCK_SIDE,
                  j * image->width / BLOCK_SIDE,
                  (j + 1) * image->width / BLOCK_SIDE);
}

/* The squared Sobel gradient, over all pixels that have eight neighbours. */
static double edge_energy(const struct image *image, const double *x)
{
    double energy = 0;

    for (uint32_t i = 1; i + 1 < image->height; i++) {
        for (uint32_t j = 1; j + 1 < image->width; j++) {
            const double a = pixel(image, x, i - 1, j - 1);
            const double b = pixel(image, x, i - 1, j + 1);
            const double c = pixel(image, x, i + 1, j - 1);
            const double d = pixel(image, x, i + 1, j + 1);
            const double across =
                b - a + d - c +
                2 * (pixel(image, x, i, j + 1) - pixel(image, x, i, j - 1));
            const double down =
                c - a + d - b +
                2 * (pixel(image, x, i + 1, j) - pixel(image, x, i - 1, j));

            energy += across * across + down * down;
        }
    }
    return energy;
}

/* A column is added or taken off, by a toss of its own. */
static double projection(uint32_t cols, const double *x, uint32_t number)
{
    const uint64_t key = rng_at(COLOUR_SEED, number, 0);
    double sum = 0;

    for (uint32_t j = 0; j < cols; j++)
        sum += (rng_word(key, j / 64) >> j % 64 & 1) != 0 ? x[j] : -x[j];
    return sum;
}

static double value_of(const struct filter *filter, const struct image *image,
                       uint32_t cols, const double *x, double y)
{
    switch (filter->kind) {
    case FILTER_LABEL:
        return y;
    case FILTER_INTENSITY:
        return sum_of(image, x, 0, image->height, 0, image->width);
    case FILTER_BLOCK:
        return block_sum(image, x, filter->arg);
    case FILTER_EDGES:
        return edge_energy(image, x);
    case FILTER_PROJECTION:
        return projection(cols, x, filter->arg);
    case FILTER_COLUMN:
        return x[filter->arg];
    case FILTER_KINDS:
        break;
    }
    CHECK(false);
    return 0;
}

/* Two classes are -1 and 1, more are 0, 1, ...; whatever else comes is the
 * last. */
static uint32_t class_of(double y, uint32_t classes)
{
    if (classes == 2)
        return y > 0;
    return y >= 0 && y < classes ? (uint32_t)y : classes - 1;
}

static uint32_t colour_of(const struct filter *filter, double value)
{
    uint32_t colour = 0;

    if (filter->kind == FILTER_LABEL && filter->arg > 0)
        return class_of(value, filter->arg);
    while (colour + 1 < filter->bins && value > filter->cut[colour])
        colour++;
    return colour;
}

uint32_t colour_row(const struct colouring *colouring,
                    const struct dataset *data, uint32_t row, double *values)
{
    uint32_t colour = 0;

    CHECK(colouring->count == 0 || data->cols == colouring->cols);
    if (colouring->count > 0)
        dataset_row_values(data, row, values);
    for (uint32_t i = 0; i < colouring->count; i++) {
        const struct filter *const filter = &colouring->filter[i];

        colour = colour * filter->bins +
                 colour_of(filter, value_of(filter, &colouring->image,
                                            data->cols, values, data->y[row]));
    }
    return colour;
}

/* --- what can be --------------------------------------------------------- */

static bool filter_fits(const struct filter *filter, const struct image *image,
                        uint32_t cols)
{
    const bool classes = filter->kind == FILTER_LABEL && filter->arg > 0;

    if ((unsigned)filter->kind >= FILTER_KINDS || filter->bins == 0)
        return false;
    if (classes)
        return filter->bins == filter->arg && filter->arg <= CLASSES_MAX;
    if (filter->bins > FILTER_BINS)
        return false;
    for (uint32_t i = 0; i + 1 < filter->bins; i++) {
        if (!isfinite(filter->cut[i]))
            return false;
    }
    if (looks_at_images(filter->kind))
        return image_columns(image) > 0 && image_columns(image) <= cols &&
               (filter->kind != FILTER_BLOCK ||
                filter->arg < BLOCK_SIDE * BLOCK_SIDE);
    return filter->kind != FILTER_COLUMN || filter->arg < cols;
}

uint32_t colouring_colours(const struct colouring *colouring)
{
    uint64_t colours = 1;

    for (uint32_t i = 0; i < colouring->count; i++)
        colours *= colouring->filter[i].bins;
    return (uint32_t)colours;
}

bool colouring_fits(const struct colouring *colouring)
{
    uint64_t colours = 1;

    if (colouring->count > FILTERS_MAX)
        return false;
    for (uint32_t i = 0; i < colouring->count; i++) {
        if (!filter_fits(&colouring->filter[i], &colouring->image,
                         colouring->cols))
            return false;
        colours *= colouring->filter[i].bins;
    }
    return colours <= COLOURS_MAX;
}

/* --- thresholds ---------------------------------------------------------- */

/* Every so manieth row: at most COLOUR_ROWS of them. */
struct look {
    const struct dataset *data;
    uint32_t every, rows;
    double *x;     /* Of one row. */
    double *value; /* Of each row. */
};

static enum err look_init(struct look *look, const struct dataset *data)
{
    *look = (struct look){.data = data};
    look->every = (data->rows + COLOUR_ROWS - 1) / COLOUR_ROWS;
    look->rows = (data->rows + look->every - 1) / look->every;
    look->x = mem_new(data->cols, sizeof *look->x);
    look->value = mem_new(look->rows, sizeof *look->value);
    return look->x == NULL || look->value == NULL ? ERR_NOMEM : ERR_OK;
}

static void look_close(struct look *look)
{
    mem_free(look->x);
    mem_free(look->value);
}

static void look_at(struct look *look, const struct filter *filter)
{
    const struct dataset *const data = look->data;

    for (uint32_t i = 0; i < look->rows; i++) {
        const uint32_t row = i * look->every;

        dataset_row_values(data, row, look->x);
        look->value[i] =
            value_of(filter, &data->image, data->cols, look->x, data->y[row]);
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Bins of as many rows each as can be. */
static void set_quantiles(struct look *look, struct filter *filter,
                          uint32_t bins)
{
    look_at(look, filter);
    qsort(look->value, look->rows, sizeof *look->value, ascending);
    filter->bins = bins;
    for (uint32_t i = 1; i < bins; i++) {
        const uint64_t at = (uint64_t)i * look->rows / bins;

        filter->cut[i - 1] = look->value[at > 0 ? at - 1 : 0];
    }
}

/* Is it what it usually is? */
static void set_mean(struct look *look, struct filter *filter)
{
    double sum = 0;

    look_at(look, filter);
    for (uint32_t i = 0; i < look->rows; i++)
        sum += look->value[i];
    filter->bins = 2;
    filter->cut[0] = sum / look->rows;
}

/* Labels that were mapped to classes. */
static uint32_t classes_of(const struct dataset *data)
{
    const uint32_t classes = data->classes;

    if (classes < 2 || classes > FILTERS_TRIED * FILTER_BINS)
        return 0;
    for (uint32_t i = 0; i < data->rows; i++) {
        const double y = data->y[i];

        if (classes == 2 ? y != -1 && y != 1
                         : !(y >= 0 && y < classes && y == floor(y)))
            return 0;
    }
    return classes;
}

static void fit(struct look *look, struct filter *filter)
{
    switch (filter->kind) {
    case FILTER_LABEL:
        filter->arg = classes_of(look->data);
        filter->bins = filter->arg;
        if (filter->arg == 0)
            set_quantiles(look, filter, FILTER_BINS);
        break;
    case FILTER_BLOCK:
        set_mean(look, filter);
        break;
    case FILTER_PROJECTION:
        set_quantiles(look, filter, 2);
        break;
    case FILTER_INTENSITY:
    case FILTER_EDGES:
    case FILTER_COLUMN:
    case FILTER_KINDS:
        set_quantiles(look, filter, FILTER_BINS);
        break;
    }
}

/* --- which to try -------------------------------------------------------- */

static void add(struct filter *filter, uint32_t *count, enum filter_kind kind,
                uint32_t arg)
{
    if (*count < FILTERS_TRIED)
        filter[(*count)++] = (struct filter){.kind = kind, .arg = arg};
}

/* Columns of the largest variance; of equals the first. */
static enum err add_wide(struct look *look, struct filter *filter,
                         uint32_t *count)
{
    const uint32_t cols = look->data->cols;
    double *const sum = mem_new((size_t)2 * cols, sizeof *sum);
    double *square;

    if (sum == NULL)
        return ERR_NOMEM;
    square = sum + cols;
    for (uint32_t i = 0; i < look->rows; i++) {
        dataset_row_values(look->data, i * look->every, look->x);
        for (uint32_t j = 0; j < cols; j++) {
            sum[j] += look->x[j];
            square[j] += look->x[j] * look->x[j];
        }
    }
    for (uint32_t j = 0; j < cols; j++)
        square[j] -= sum[j] * sum[j] / look->rows;
    for (uint32_t k = 0; k < WIDE_COLUMNS; k++) {
        uint32_t best = 0;

        for (uint32_t j = 1; j < cols; j++)
            best = square[j] > square[best] ? j : best;
        if (!(square[best] > 0))
            break;
        add(filter, count, FILTER_COLUMN, best);
        square[best] = 0;
    }
    mem_free(sum);
    return ERR_OK;
}

static enum err add_suitable(struct look *look, struct filter *filter,
                             uint32_t *count)
{
    enum err err = ERR_OK;

    add(filter, count, FILTER_LABEL, 0);
    if (image_columns(&look->data->image) > 0) {
        add(filter, count, FILTER_INTENSITY, 0);
        for (uint32_t i = 0; i < BLOCK_SIDE * BLOCK_SIDE; i++)
            add(filter, count, FILTER_BLOCK, i);
        add(filter, count, FILTER_EDGES, 0);
    } else {
        err = add_wide(look, filter, count);
    }
    for (uint32_t i = 0; i < PROJECTIONS; i++)
        add(filter, count, FILTER_PROJECTION, i);
    return err;
}

/* False: it is none. */
static bool read_filter(const char *word, size_t length, struct filter *filter)
{
    const size_t name = strcspn(word, ":+");
    unsigned first = 0;
    unsigned second = 0;
    char end;

    for (unsigned i = 0; i < FILTER_KINDS; i++) {
        const char *const rest = word + strlen(names[i]);
        char text[FILTER_TEXT] = "";
        int found;

        if (strlen(names[i]) != name || strncmp(word, names[i], name) != 0)
            continue;
        *filter = (struct filter){.kind = (enum filter_kind)i};
        if (length - name >= sizeof text)
            return false;
        memcpy(text, rest, length - name);
        found = sscanf(text, ":%u,%u%c", &first, &second, &end);
        if (i == FILTER_BLOCK) {
            filter->arg = first * BLOCK_SIDE + second;
            return found == 2 && first < BLOCK_SIDE && second < BLOCK_SIDE;
        }
        filter->arg = first - counted_from(filter->kind);
        if (i == FILTER_PROJECTION || i == FILTER_COLUMN)
            return found == 1 && first >= counted_from(filter->kind);
        return length == name;
    }
    return false;
}

static enum err refuse(const char *word, size_t length, struct why *why)
{
    static const char column[] = "column:";
    const int shown = length < 40 ? (int)length : 40;

    if (length >= sizeof column &&
        strncmp(word, column, sizeof column - 1) == 0)
        return why_set(why, ERR_RANGE,
                       "filter %.*s: a number from 1 names a column, counted "
                       "as they are encoded: a column of words is as many as "
                       "it has words",
                       shown, word);
    return why_set(why, ERR_RANGE,
                   "no filter named %.*s; there are label, intensity, "
                   "block:I,J, edges, projection:K, column:K",
                   shown, word);
}

enum err colour_vet(const char *wish, struct why *why)
{
    for (const char *at = wish; *at != '\0';) {
        const size_t length = strcspn(at, "+");
        struct filter found;

        if (!read_filter(at, length, &found))
            return refuse(at, length, why);
        at += at[length] == '+' ? length + 1 : length;
    }
    return ERR_OK;
}

enum err colour_check(const char *wish, const struct image *image,
                      uint32_t cols, struct why *why)
{
    for (const char *at = wish; *at != '\0';) {
        const size_t length = strcspn(at, "+");
        const int shown = length < 40 ? (int)length : 40;
        struct filter found;

        if (!read_filter(at, length, &found))
            return refuse(at, length, why);
        found.bins = 1;
        found.arg = found.kind == FILTER_LABEL ? 0 : found.arg;
        if (!filter_fits(&found, image, cols) && looks_at_images(found.kind))
            return why_set(why, ERR_RANGE,
                           "filter %.*s: these rows are no images", shown, at);
        if (!filter_fits(&found, image, cols))
            return why_set(why, ERR_RANGE,
                           "filter %.*s: these rows have only %u columns",
                           shown, at, cols);
        at += at[length] == '+' ? length + 1 : length;
    }
    return ERR_OK;
}

static enum err add_wished(const struct dataset *data, const char *wish,
                           struct filter *filter, uint32_t *count,
                           struct why *why)
{
    const enum err err = colour_check(wish, &data->image, data->cols, why);

    for (const char *at = wish; err == ERR_OK && *at != '\0';) {
        const size_t length = strcspn(at, "+");
        struct filter found;

        CHECK(read_filter(at, length, &found));
        add(filter, count, found.kind, found.arg);
        at += at[length] == '+' ? length + 1 : length;
    }
    return err;
}

enum err colour_candidates(const struct dataset *data, const char *wish,
                           struct filter *filter, uint32_t *count,
                           struct why *why)
{
    struct look look = {0};
    enum err err = look_init(&look, data);

    *count = 0;
    if (err != ERR_OK)
        (void)why_set(why, err, "out of memory");
    else if (wish != NULL)
        err = add_wished(data, wish, filter, count, why);
    else
        err = add_suitable(&look, filter, count);
    for (uint32_t i = 0; err == ERR_OK && i < *count; i++)
        fit(&look, &filter[i]);
    look_close(&look);
    return err;
}

/* --- which to take ------------------------------------------------------- */

/* Colours of the rows looked at under each candidate, and their cells. */
struct pick {
    uint32_t rows, count;
    const struct filter *filter;
    uint32_t *colour; /* count x rows. */
    uint32_t *cell;   /* Of each row, by the filters taken, ... */
    uint32_t cells;   /* ... so many. */
    uint32_t *next;   /* With one more. */
    uint32_t *number; /* Of a pair of cell and colour, and one; 0: none yet. */
    uint32_t *size;   /* Of each new cell. */
    bool taken[FILTERS_TRIED];
};

static void pick_close(struct pick *pick)
{
    mem_free(pick->colour);
    mem_free(pick->cell);
    mem_free(pick->next);
    mem_free(pick->number);
    mem_free(pick->size);
}

static enum err pick_init(struct pick *pick, const struct dataset *data,
                          const struct filter *filter, uint32_t count)
{
    struct look look = {0};
    enum err err = look_init(&look, data);

    *pick = (struct pick){
        .rows = look.rows, .count = count, .filter = filter, .cells = 1};
    pick->colour = mem_new((size_t)count * look.rows, sizeof *pick->colour);
    pick->cell = mem_new(look.rows, sizeof *pick->cell);
    pick->next = mem_new(look.rows, sizeof *pick->next);
    pick->number = mem_new(COLOURS_MAX, sizeof *pick->number);
    pick->size = mem_new(COLOURS_MAX, sizeof *pick->size);
    if (err == ERR_OK &&
        (pick->colour == NULL || pick->cell == NULL || pick->next == NULL ||
         pick->number == NULL || pick->size == NULL))
        err = ERR_NOMEM;
    for (uint32_t k = 0; err == ERR_OK && k < count; k++) {
        look_at(&look, &filter[k]);
        for (uint32_t i = 0; i < look.rows; i++)
            pick->colour[(size_t)k * look.rows + i] =
                colour_of(&filter[k], look.value[i]);
    }
    look_close(&look);
    return err;
}

/* Cells with one filter more, to pick->next; returns how many have rows. */
static uint32_t refine(struct pick *pick, uint32_t k)
{
    const uint32_t bins = pick->filter[k].bins;
    const uint32_t *const colour = pick->colour + (size_t)k * pick->rows;
    uint32_t cells = 0;

    memset(pick->number, 0, (size_t)pick->cells * bins * sizeof *pick->number);
    memset(pick->size, 0, (size_t)pick->cells * bins * sizeof *pick->size);
    for (uint32_t i = 0; i < pick->rows; i++) {
        uint32_t *const number =
            &pick->number[pick->cell[i] * bins + colour[i]];

        if (*number == 0)
            *number = ++cells;
        pick->next[i] = *number - 1;
        pick->size[*number - 1]++;
    }
    return cells;
}

/* The candidate that adds most; count: none may be added. */
static uint32_t best_filter(struct pick *pick, uint32_t colours,
                            uint32_t cells_max, double joint, double *best)
{
    uint32_t found = pick->count;

    *best = joint + GAIN_LEAST;
    for (uint32_t k = 0; k < pick->count; k++) {
        uint32_t cells;
        double bits;

        if (pick->taken[k] ||
            (uint64_t)colours * pick->filter[k].bins > COLOURS_MAX ||
            (uint64_t)pick->cells * pick->filter[k].bins > COLOURS_MAX)
            continue;
        cells = refine(pick, k);
        bits = strata_entropy(pick->size, cells, pick->rows);
        if (cells <= cells_max && bits > *best) {
            *best = bits;
            found = k;
        }
    }
    return found;
}

static double entropy_alone(struct pick *pick, uint32_t k)
{
    const uint32_t *const colour = pick->colour + (size_t)k * pick->rows;

    memset(pick->size, 0, pick->filter[k].bins * sizeof *pick->size);
    for (uint32_t i = 0; i < pick->rows; i++)
        pick->size[colour[i]]++;
    return strata_entropy(pick->size, pick->filter[k].bins, pick->rows);
}

enum err colour_choose(const struct dataset *data, const struct filter *filter,
                       uint32_t count, uint32_t cells_max,
                       struct colouring *colouring,
                       struct colour_choice *choice)
{
    struct pick pick;
    double joint = 0;
    double more;
    enum err err = pick_init(&pick, data, filter, count);

    *colouring = (struct colouring){.image = data->image, .cols = data->cols};
    while (err == ERR_OK && colouring->count < FILTERS_MAX) {
        const uint32_t k = best_filter(&pick, colouring_colours(colouring),
                                       cells_max, joint, &more);

        if (k == count)
            break;
        if (choice != NULL)
            choice[colouring->count] =
                (struct colour_choice){.filter = filter[k],
                                       .alone = entropy_alone(&pick, k),
                                       .joint = more};
        pick.cells = refine(&pick, k);
        memcpy(pick.cell, pick.next, pick.rows * sizeof *pick.cell);
        if (choice != NULL)
            choice[colouring->count].cells = pick.cells;
        pick.taken[k] = true;
        joint = more;
        colouring->filter[colouring->count++] = filter[k];
    }
    pick_close(&pick);
    return err;
}
