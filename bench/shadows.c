/*
 * shadows.c - what stands for a missing worker's gradient, and how far it is
 * off: the table of docs/shadows.md.
 *
 * Softmax regression on Gaussian clouds, 10 classes, 10 workers of 500 rows;
 * one worker is missing.  Relative squared error of the gradient of all rows,
 * its mean over the runs:
 *
 *     abandon    nothing stands for it
 *     rescale    the others' mean
 *     random     a random sample's sum, weighted m/b
 *     literal    FlexEnt's sample of the largest entropy, unweighted
 *     weighted   the same sample, each row by N_c/n_c of its cell
 *     strata     a sample in proportion by cell
 *     shrink     that one, shrunk towards the others' mean, variance by cells
 *     groups     the same, variance by random groups, as workers send it
 *
 * usage: shadows [runs]    60 unless said otherwise
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/rng.h"
#include "code/shadow.h"
#include "data/rows/strata.h"

#define CLASSES 10u
#define COLS    21u /* The last is 1. */
#define DIMS    (CLASSES * COLS)
#define WORKERS 10u
#define SHARE   500u
#define ROWS    (WORKERS * SHARE)
#define COLOURS (CLASSES * 2u) /* The label, and the sign of a column. */
#define STEPS   60u
#define RATE    1.0
#define GROUPS  4u
#define ARMS    8u

static const char *const arms[ARMS] = {"abandon", "rescale",  "random",
                                       "literal", "weighted", "strata",
                                       "shrink",  "groups"};

static double x[ROWS][COLS];
static uint32_t label[ROWS], colour[ROWS];

/* Rows of one class after the other are a worker's own where labels are skewed:
 * then each has two classes. */
static void make_rows(uint64_t seed, bool skewed)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        const uint32_t pair = skewed ? i / SHARE : 0;

        label[i] = skewed
                       ? (pair + (uint32_t)(rng_at(seed, 1, i) & 1)) % CLASSES
                       : (uint32_t)(rng_at(seed, 1, i) % CLASSES);
        for (uint32_t j = 0; j + 1 < COLS; j++)
            x[i][j] = .7 * rng_normal_at(seed, 2 + label[i], j) +
                      rng_normal_at(seed, 100 + i, j);
        x[i][COLS - 1] = 1;
        colour[i] = 2 * label[i] + (x[i][0] > 0);
    }
}

/* The gradient of one row. */
static void gradient_of(const double *w, uint32_t row, double *g)
{
    double p[CLASSES];
    double most = -INFINITY;
    double sum = 0;

    for (uint32_t k = 0; k < CLASSES; k++) {
        p[k] = 0;
        for (uint32_t j = 0; j < COLS; j++)
            p[k] += w[k * COLS + j] * x[row][j];
        most = fmax(most, p[k]);
    }
    for (uint32_t k = 0; k < CLASSES; k++)
        sum += p[k] = exp(p[k] - most);
    for (uint32_t k = 0; k < CLASSES; k++)
        for (uint32_t j = 0; j < COLS; j++)
            g[k * COLS + j] = (p[k] / sum - (k == label[row])) * x[row][j];
}

static void add(double *to, const double *g, double factor)
{
    for (uint32_t j = 0; j < DIMS; j++)
        to[j] += factor * g[j];
}

static double square_of(const double *g)
{
    double sum = 0;

    for (uint32_t j = 0; j < DIMS; j++)
        sum += g[j] * g[j];
    return sum;
}

static void sum_rows(const double *w, uint32_t first, uint32_t end, double *sum)
{
    double g[DIMS];

    memset(sum, 0, DIMS * sizeof *sum);
    for (uint32_t i = first; i < end; i++) {
        gradient_of(w, i, g);
        add(sum, g, 1);
    }
}

static void train(double *w, uint32_t steps)
{
    double sum[DIMS];

    memset(w, 0, DIMS * sizeof *w);
    for (uint32_t t = 0; t < steps; t++) {
        sum_rows(w, 0, ROWS, sum);
        add(w, sum, -RATE / ROWS);
    }
}

/* The sample's weighted sum (by weights, or N_c/n_c), and its variance by cells
 * and by random groups. */
struct drawn {
    double sum[DIMS];
    double by_cells, by_groups;
};

static struct drawn draw(struct strata *strata, enum draw_kind kind,
                         const double *w, uint32_t first, uint32_t b,
                         uint64_t key, bool weighted)
{
    static double cell_sum[COLOURS][DIMS];
    double group[GROUPS][DIMS] = {{0}};
    double squares[COLOURS] = {0};
    double sums[COLOURS];
    double whole[DIMS] = {0};
    double all = 0;
    struct drawn drawn = {.by_cells = 0};

    memset(cell_sum, 0, sizeof cell_sum);
    strata_draw(strata, kind, colour + first, SHARE, b, key);
    for (uint32_t i = 0; i < b; i++) {
        const uint32_t c = strata->cell[i];
        const double weight = weighted
                                  ? (double)strata->size[c] / strata->take[c]
                                  : strata->weight[i];
        double g[DIMS];

        gradient_of(w, first + strata->row[i], g);
        add(group[i % GROUPS], g, weight);
        add(cell_sum[c], g, 1);
        add(whole, g, 1);
        squares[c] += square_of(g);
    }
    for (uint32_t k = 0; k < GROUPS; k++) {
        add(drawn.sum, group[k], 1);
        all += square_of(group[k]);
    }
    for (uint32_t c = 0; c < strata->cells; c++)
        sums[c] = square_of(cell_sum[c]);
    drawn.by_cells = strata_variance(
        strata, &(struct strata_moments){squares, sums, square_of(whole)});
    drawn.by_groups =
        draw_variance(all, square_of(drawn.sum), GROUPS, (double)b / SHARE);
    return drawn;
}

/* Adds to off: squared errors, over the square of what is right. */
static void tell(enum estimate estimate, const struct drawn *drawn,
                 double variance, const double *others, const double *right,
                 double *off)
{
    struct shadow_part part = {
        .sum = drawn->sum, .variance = variance, .rows = SHARE};
    double sum[DIMS];

    memcpy(sum, others, sizeof sum);
    (void)shadow_fill(estimate, &part, 1, ROWS - SHARE, DIMS, DIMS, sum);
    add(sum, right, -1);
    *off += square_of(sum) / square_of(right);
}

static void run(struct strata *strata, const double *w, uint32_t b,
                uint64_t seed, double off[ARMS])
{
    const uint32_t missing = (uint32_t)(seed % WORKERS);
    const uint32_t first = missing * SHARE;
    const struct drawn random =
        draw(strata, DRAW_RANDOM, w, first, b, seed, false);
    const struct drawn literal =
        draw(strata, DRAW_ENTROPY, w, first, b, seed, false);
    const struct drawn weighted =
        draw(strata, DRAW_ENTROPY, w, first, b, seed, true);
    const struct drawn even =
        draw(strata, DRAW_STRATA, w, first, b, seed, false);
    double own[DIMS];
    double right[DIMS];
    double others[DIMS];

    sum_rows(w, 0, ROWS, right);
    sum_rows(w, first, first + SHARE, own);
    memcpy(others, right, sizeof others);
    add(others, own, -1);
    tell(ESTIMATE_REFERENCE, &random, 1, others, right, &off[0]);
    tell(ESTIMATE_RATIO, &random, 1, others, right, &off[1]);
    tell(ESTIMATE_SHADOW, &random, 1, others, right, &off[2]);
    tell(ESTIMATE_SHADOW, &literal, 1, others, right, &off[3]);
    tell(ESTIMATE_SHADOW, &weighted, 1, others, right, &off[4]);
    tell(ESTIMATE_SHADOW, &even, 1, others, right, &off[5]);
    tell(ESTIMATE_SHRINK, &even, even.by_cells, others, right, &off[6]);
    tell(ESTIMATE_SHRINK, &even, even.by_groups, others, right, &off[7]);
}

static void setting(struct strata *strata, bool skewed, uint32_t steps,
                    double share, uint32_t runs)
{
    double off[ARMS] = {0};
    double w[DIMS];

    for (uint32_t seed = 0; seed < runs; seed++) {
        make_rows(seed, skewed);
        train(w, steps);
        run(strata, w, draw_size(share, SHARE), seed, off);
    }
    (void)printf("%-10s %5u %4.0f %%", skewed ? "skewed" : "alike", steps,
                 100 * share);
    for (uint32_t k = 0; k < ARMS; k++)
        (void)printf(" %9.1e", off[k] / runs);
    (void)printf("\n");
}

int main(int argc, char **argv)
{
    const uint32_t runs = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 60;
    struct strata strata;

    CHECK(runs > 0);
    CHECK(strata_init(&strata, SHARE, COLOURS) == ERR_OK);
    (void)printf("%-10s %5s %6s", "labels", "steps", "size");
    for (uint32_t k = 0; k < ARMS; k++)
        (void)printf(" %9s", arms[k]);
    (void)printf("\n");
    for (uint32_t i = 0; i < 8; i++)
        setting(&strata, (i & 2) != 0, (i & 1) != 0 ? STEPS : 0,
                (i & 4) != 0 ? .3 : .1, runs);
    strata_close(&strata);
    return 0;
}
