/*
 * gen.c - generators of synthetic data by (seed, row, column), with a logistic
 * function of its own: libm's last bits differ between machines.
 */
#include "data/make/gen.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "data/make/digits.h"

/* Streams split from the user's seed, so that no draw is used twice. */
enum { DRAW_BETA = 1, DRAW_SIDE, DRAW_VALUE, DRAW_LABEL };

struct generator;

/* One row of the endless table: x has `cols` values. */
typedef void (*gen_row)(const struct generator *gen, uint32_t row, double *x,
                        double *y);

struct gen_kind {
    const char *name;
    gen_row row;
    double (*beta)(uint64_t stream, uint32_t col); /* NULL: none needed. */
    uint32_t rows, cols;                           /* Unless the user says. */
    bool fixed_cols;
    uint32_t classes;
    uint32_t fits; /* Bits of enum value_fit. */
    struct image image;
};

struct generator {
    const struct gen_kind *kind;
    uint32_t rows, cols;
    uint64_t seed;
    double *beta; /* cols. */
};

bool gen_is_spec(const char *spec)
{
    return strncmp(spec, "gen:", 4) == 0;
}

/* exp(t) for t in [-40, 0]: t = k ln 2 + r, |r| <= ln(2)/2, and the series of
 * exp(r), whose 14th term is below 2^-60. */
static double series_exp(double t)
{
    const double k = floor(t * 0x1.71547652b82fep+0 + 0.5);
    const double r = t - k * 0x1.62e42fee00000p-1 - k * 0x1.a39ef35793c76p-33;
    double term = 1;
    double sum = 0;

    /* Smallest terms would be summed first by Horner's rule; plain order is
     * accurate enough and shorter. */
    for (int n = 1; n <= 14; n++) {
        sum += term;
        term = term * r / (double)n;
    }
    return ldexp(sum, (int)k);
}

double gen_logistic(double t)
{
    if (t > 40)
        return 1;
    if (t < -40)
        return 0;
    if (t >= 0)
        return 1 / (1 + series_exp(-t));
    return 1 - 1 / (1 + series_exp(t));
}

/* --- rows -----------------------------------------------------------------
 */

static double sign_beta(uint64_t stream, uint32_t col)
{
    return rng_at(stream, col, 0) >> 63 ? 1 : -1;
}

static double normal_beta(uint64_t stream, uint32_t col)
{
    return rng_normal_at(stream, col, 0);
}

/* Values are fp32 whatever the storage: one table, one set of bits. */
static double rounded(double value)
{
    return (double)(float)value;
}

static void gmm_row(const struct generator *gen, uint32_t row, double *x,
                    double *y)
{
    const uint64_t stream = rng_at(gen->seed, DRAW_VALUE, 0);
    const bool right = rng_at(gen->seed, DRAW_SIDE, row) >> 63;
    const double shift = 1.5 / (double)gen->cols;
    const double spread = 10 / sqrt((double)gen->cols);
    double score = 0;

    for (uint32_t col = 0; col < gen->cols; col++) {
        const double beta = gen->beta[col];
        const double mean = right ? shift * beta : -shift * beta;

        x[col] = rounded(mean + spread * rng_normal_at(stream, row, col));
        score += x[col] * beta;
    }
    *y = rng_unit_at(gen->seed, DRAW_LABEL, row) < gen_logistic(score) ? 1 : -1;
}

static void linear_row(const struct generator *gen, uint32_t row, double *x,
                       double *y)
{
    const uint64_t stream = rng_at(gen->seed, DRAW_VALUE, 0);
    double score = 0;

    for (uint32_t col = 0; col < gen->cols; col++) {
        x[col] = rounded(rng_normal_at(stream, row, col));
        score += x[col] * gen->beta[col];
    }
    *y = score / sqrt((double)gen->cols) +
         0.1 * rng_normal_at(gen->seed, DRAW_LABEL, row);
}

static void draw_digit(const struct generator *gen, uint32_t row,
                       uint32_t digit, double *x, double *y)
{
    float pixel[DIGITS_COLS];

    digits_draw(gen->seed, row, digit, pixel);
    *y = digit;
    for (uint32_t j = 0; j < DIGITS_COLS; j++)
        x[j] = (double)pixel[j];
}

static void digits_row(const struct generator *gen, uint32_t row, double *x,
                       double *y)
{
    draw_digit(gen, row, digits_which(gen->seed, row), x, y);
}

/* Training rows are in the order of their labels, as many of each: workers that
 * hold consecutive ones have one class or two.  Test rows are any. */
static void sorted_row(const struct generator *gen, uint32_t row, double *x,
                       double *y)
{
    draw_digit(gen, row,
               row < gen->rows ? (uint32_t)(UINT64_C(10) * row / gen->rows)
                               : digits_which(gen->seed, row),
               x, y);
}

static const struct gen_kind kinds[] = {
    {"gmm", gmm_row, sign_beta, 20000, 100, false, 2, VALUES_F32, {0}},
    {"linear", linear_row, normal_beta, 20000, 100, false, 0, VALUES_F32, {0}},
    {"digits",
     digits_row,
     NULL,
     10000,
     DIGITS_COLS,
     true,
     10,
     VALUES_PIXEL | VALUES_F32,
     {DIGITS_SIDE, DIGITS_SIDE, 1}},
    {"sorted",
     sorted_row,
     NULL,
     10000,
     DIGITS_COLS,
     true,
     10,
     VALUES_PIXEL | VALUES_F32,
     {DIGITS_SIDE, DIGITS_SIDE, 1}},
};

#define KINDS (sizeof kinds / sizeof *kinds)

/* --- the user's words -----------------------------------------------------
 */

/* Decimal digits up to `stop`; 0 if there is anything else or too much. */
static uint32_t read_count(const char **at, char stop, uint32_t most)
{
    uint64_t value = 0;

    for (; **at >= '0' && **at <= '9' && value <= most; (*at)++)
        value = value * 10 + (uint64_t)(**at - '0');
    if (**at != stop || value > most)
        return 0;
    *at += stop != '\0';
    return (uint32_t)value;
}

static const struct gen_kind *find_kind(const char *name, size_t size)
{
    for (size_t i = 0; i < KINDS; i++) {
        if (strlen(kinds[i].name) == size &&
            memcmp(kinds[i].name, name, size) == 0)
            return &kinds[i];
    }
    return NULL;
}

static enum err say_counts(const struct generator *gen, const char *spec,
                           struct why *why)
{
    if (gen->kind->fixed_cols)
        return why_set(why, ERR_RANGE,
                       "%s: expected gen:%s:ROWS with ROWS 1 to %u", spec,
                       gen->kind->name, DATA_ROWS_MAX);
    return why_set(why, ERR_RANGE,
                   "%s: expected gen:%s:ROWS,COLS with ROWS 1 to %u and COLS 1 "
                   "to %u",
                   spec, gen->kind->name, DATA_ROWS_MAX, DATA_COLS_MAX);
}

static enum err gen_parse(const char *spec, struct generator *gen,
                          struct why *why)
{
    const char *at = spec + 4;
    const size_t size = strcspn(at, ":");

    gen->kind = find_kind(at, size);
    if (gen->kind == NULL)
        return why_set(why, ERR_UNKNOWN,
                       "%s: no such generator; use gen:gmm, gen:linear or "
                       "gen:digits, or gen:gmm:ROWS,COLS",
                       spec);
    gen->rows = gen->kind->rows;
    gen->cols = gen->kind->cols;
    at += size;
    if (*at == '\0')
        return ERR_OK;
    at++;
    gen->rows =
        read_count(&at, gen->kind->fixed_cols ? '\0' : ',', DATA_ROWS_MAX);
    if (gen->rows != 0 && !gen->kind->fixed_cols)
        gen->cols = read_count(&at, '\0', DATA_COLS_MAX);
    return gen->rows == 0 || gen->cols == 0 ? say_counts(gen, spec, why)
                                            : ERR_OK;
}

/* --- filling --------------------------------------------------------------
 */

struct filling {
    const struct generator *gen;
    uint32_t first; /* Row of the endless table that becomes row 0. */
    bool intercept;
    bool number; /* Of two labels: 0 and 1 for -1 and +1. */
    struct dataset *data;
    double *scratch; /* A row for each thread. */
};

static void fill_chunk(void *context, uint32_t thread, uint32_t item)
{
    struct filling *const fill = context;
    struct dataset *const data = fill->data;
    double *const x = fill->scratch + (size_t)thread * data->stride;
    const uint32_t begin = item * data->chunk_rows;
    const uint32_t end = begin + dataset_chunk_size(data, item);

    for (uint32_t row = begin; row < end; row++) {
        memset(x, 0, data->stride * sizeof *x);
        fill->gen->kind->row(fill->gen, fill->first + row, x, &data->y[row]);
        if (fill->number)
            data->y[row] = data->y[row] > 0;
        if (fill->intercept)
            x[data->cols - 1] = 1;
        storage_pack(data->storage, x, data->stride, dataset_row(data, row));
    }
}

static enum err set_classes(const struct generator *gen, struct dataset *data)
{
    static const double pair[2] = {-1, 1};
    static const double digits[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

    return dataset_set_labels(data, gen->kind->classes == 2 ? pair : digits,
                              gen->kind->classes);
}

static struct census gen_census(const struct generator *gen)
{
    return (struct census){.rows = gen->rows,
                           .cols = gen->cols,
                           .nonzero = (uint64_t)gen->rows * gen->cols,
                           .fits = gen->kind->fits};
}

/* Rows first..first+rows of the endless table. */
static enum err gen_fill(const struct generator *gen,
                         const struct source_options *options, uint32_t first,
                         uint32_t rows, struct dataset *data)
{
    const uint32_t own = gen->cols + (options->intercept ? 1 : 0);
    struct pool *const pool =
        options->pool != NULL ? options->pool : pool_serial();
    const struct census census = gen_census(gen);
    struct dataset_shape shape = {
        .storage = storage_choose_dense(&census),
        .rows = rows,
        .cols = own < options->cols_min ? options->cols_min : own,
        .chunk_rows = options->chunk_rows != 0
                          ? options->chunk_rows
                          : dataset_default_chunk_rows(rows),
        .image = gen->kind->image,
    };
    struct dataset made = {0};
    struct filling fill = {.gen = gen,
                           .first = first,
                           .intercept = options->intercept,
                           .number = (options->classes || options->numbered) &&
                                     gen->kind->classes == 2,
                           .data = &made};
    enum err err;

    if (options->storage != NULL)
        (void)storage_parse(options->storage, &shape.storage);
    err = dataset_init_shape(&made, &shape);
    if (err != ERR_OK)
        return err;
    fill.scratch = mem_new(pool->threads, made.stride * sizeof *fill.scratch);
    err = fill.scratch == NULL ? ERR_NOMEM : set_classes(gen, &made);
    if (err == ERR_OK)
        pool->run(pool, fill_chunk, &fill, dataset_chunks(&made));
    mem_free(fill.scratch);
    if (err != ERR_OK) {
        dataset_close(&made);
        return err;
    }
    chunkset_fill(&made.present);
    *data = made;
    return ERR_OK;
}

static enum err draw_beta(struct generator *gen)
{
    const uint64_t stream = rng_at(gen->seed, DRAW_BETA, 0);

    if (gen->kind->beta == NULL)
        return ERR_OK;
    gen->beta = mem_new(gen->cols, sizeof *gen->beta);
    if (gen->beta == NULL)
        return ERR_NOMEM;
    for (uint32_t col = 0; col < gen->cols; col++)
        gen->beta[col] = gen->kind->beta(stream, col);
    return ERR_OK;
}

static enum err check_storage(const struct generator *gen,
                              const struct source_options *options,
                              struct why *why)
{
    const struct census census = gen_census(gen);
    enum storage storage;

    if (options->storage == NULL)
        return ERR_OK;
    if (!storage_parse(options->storage, &storage) ||
        storage_is_sparse(storage) || !storage_holds(storage, &census))
        return why_set(why, ERR_RANGE,
                       "%s: storage %.32s does not hold its values; use %s",
                       options->spec, options->storage,
                       storage_name(storage_choose_dense(&census)));
    return ERR_OK;
}

/* Nothing is known of columns that were drawn, but what their pixels are. */
static void keep_pixels(const struct source_options *options,
                        const struct dataset *data)
{
    struct encoder *const encoder = options->encoder;

    if (encoder == NULL || encoder->kind != ENCODER_NONE ||
        image_columns(&data->image) == 0)
        return;
    encoder->kind = ENCODER_ROWS;
    encoder->byte = storage_byte(STORAGE_PIXEL);
}

enum err gen_load(const struct source_options *options, struct dataset *train,
                  struct dataset *test, bool *has_test, struct why *why)
{
    struct generator gen = {.seed = options->seed};
    struct dataset made = {0};
    enum err err = gen_parse(options->spec, &gen, why);

    if (err != ERR_OK)
        return err;
    CHECK(gen.kind != NULL);
    err = check_storage(&gen, options, why);
    if (err != ERR_OK)
        return err;
    err = draw_beta(&gen);
    if (err == ERR_OK)
        err = gen_fill(&gen, options, 0, gen.rows, &made);
    if (err == ERR_OK && test != NULL)
        err = gen_fill(&gen, options, gen.rows,
                       gen.rows / 5 + (gen.rows % 5 != 0), test);
    mem_free(gen.beta);
    if (err != ERR_OK) {
        dataset_close(&made);
        return why_set(why, err, "%s: %s; ask for fewer rows or columns",
                       options->spec, err_text(err));
    }
    *train = made;
    keep_pixels(options, train);
    if (has_test != NULL)
        *has_test = test != NULL;
    return ERR_OK;
}
