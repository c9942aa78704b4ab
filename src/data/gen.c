#include "data/gen.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"

enum { GMM_ROWS = 20000, GMM_COLS = 100 };

/* Streams split from the user's seed, so that no draw is used twice. */
enum { DRAW_BETA = 1, DRAW_SIDE, DRAW_VALUE, DRAW_LABEL };

struct gmm {
    uint32_t rows, cols;
    uint64_t seed;
    double shift; /* 1.5/p: distance of a mean from 0, per coordinate. */
    double spread;
};

bool gen_is_spec(const char *spec)
{
    return strncmp(spec, "gen:", 4) == 0;
}

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

static enum err gmm_parse(const char *spec, struct gmm *gmm, struct why *why)
{
    const char *at = spec + 4;

    if (strcmp(at, "gmm") == 0)
        return ERR_OK;
    if (strncmp(at, "gmm:", 4) != 0)
        return why_set(why, ERR_UNKNOWN,
                       "%s: no such generator; use gen:gmm or "
                       "gen:gmm:ROWS,COLS",
                       spec);
    at += 4;
    gmm->rows = read_count(&at, ',', DATA_ROWS_MAX);
    if (gmm->rows != 0)
        gmm->cols = read_count(&at, '\0', DATA_COLS_MAX);
    if (gmm->rows == 0 || gmm->cols == 0)
        return why_set(why, ERR_RANGE,
                       "%s: expected gen:gmm:ROWS,COLS with ROWS 1 to %u and "
                       "COLS 1 to %u",
                       spec, DATA_ROWS_MAX, DATA_COLS_MAX);
    return ERR_OK;
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

static double gmm_beta(const struct gmm *gmm, uint32_t col)
{
    const uint64_t stream = rng_at(gmm->seed, DRAW_BETA, 0);

    return rng_at(stream, col, 0) >> 63 ? 1 : -1;
}

static void gmm_row(const struct gmm *gmm, uint32_t row, float *x, double *y)
{
    const uint64_t stream = rng_at(gmm->seed, DRAW_VALUE, 0);
    const bool right = rng_at(gmm->seed, DRAW_SIDE, row) >> 63;
    double score = 0;

    for (uint32_t col = 0; col < gmm->cols; col++) {
        const double beta = gmm_beta(gmm, col);
        const double mean = right ? gmm->shift * beta : -gmm->shift * beta;

        x[col] = (float)(mean + gmm->spread * rng_normal_at(stream, row, col));
        score += (double)x[col] * beta;
    }
    *y = rng_unit_at(gmm->seed, DRAW_LABEL, row) < gen_logistic(score) ? 1 : -1;
}

/* Rows first..first+rows of the endless table. */
static enum err gmm_fill(const struct gmm *gmm,
                         const struct source_options *options, uint32_t first,
                         uint32_t rows, struct dataset *data)
{
    const uint32_t own = gmm->cols + (options->intercept ? 1 : 0);
    const uint32_t cols = own < options->cols_min ? options->cols_min : own;
    struct dataset made = {0};
    const enum err err = dataset_init(&made, rows, cols,
                                      options->chunk_rows != 0
                                          ? options->chunk_rows
                                          : dataset_default_chunk_rows(rows));

    if (err != ERR_OK)
        return err;
    made.label[0] = -1;
    made.label[1] = 1;
    made.classes = 2;
    for (uint32_t i = 0; i < rows; i++) {
        float *const x = made.x + (size_t)i * made.stride;

        gmm_row(gmm, first + i, x, &made.y[i]);
        if (options->intercept)
            x[cols - 1] = 1.0f;
    }
    chunkset_fill(&made.present);
    *data = made;
    return ERR_OK;
}

enum err gen_load(const struct source_options *options, struct dataset *train,
                  struct dataset *test, bool *has_test, struct why *why)
{
    struct gmm gmm = {.rows = GMM_ROWS, .cols = GMM_COLS};
    struct dataset made = {0};
    enum err err = gmm_parse(options->spec, &gmm, why);

    if (err != ERR_OK)
        return err;
    gmm.seed = options->seed;
    gmm.shift = 1.5 / (double)gmm.cols;
    gmm.spread = 10 / sqrt((double)gmm.cols);
    err = gmm_fill(&gmm, options, 0, gmm.rows, &made);
    if (err == ERR_OK && test != NULL)
        err = gmm_fill(&gmm, options, gmm.rows,
                       gmm.rows / 5 + (gmm.rows % 5 != 0), test);
    if (err != ERR_OK) {
        dataset_close(&made);
        return why_set(why, err, "%s: %s; ask for fewer rows or columns",
                       options->spec, err_text(err));
    }
    *train = made;
    if (has_test != NULL)
        *has_test = test != NULL;
    return ERR_OK;
}
