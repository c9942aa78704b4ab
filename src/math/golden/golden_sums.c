/*
 * golden_sums.c - known bits of what surrounds the kernels: scores and columns
 * apart, vectors, tallies and their packing, followed scales, exact sums,
 * surveys, least squares.
 */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "math/exact/exact.h"
#include "math/exact/follow.h"
#include "math/exact/tally.h"
#include "math/golden/golden_parts.h"
#include "math/kernel/survey.h"
#include "math/solve.h"
#include "math/vec.h"

#define SEED UINT64_C(0x73756d73)

enum {
    LENGTH = 1100, /* More than a block of vec.h, and no whole vectors. */
    DIMS = 139,    /* Two blocks of a packing, and a part of one. */
    CHUNKS = 6,
    ROWS = 5,                  /* Of exact sums. */
    WIDTH = 263,               /* A block of exact.c, and columns one by one. */
    LONG = KERNEL_STRIPE + 72, /* Columns of two stripes. */
    FOLLOWED = 9,
    EQUATIONS = 7,
    UNKNOWNS = 5,
};

/* Of either sign, over `spread` binary orders. */
static double draw(uint32_t what, uint32_t at, uint32_t spread)
{
    const double unit = rng_unit_at(SEED, what, at) - 0.5;
    const uint64_t power = rng_at(SEED, what + 100, at) % spread;

    return ldexp(unit, (int)power - (int)(spread / 2));
}

static enum isa isa_of(const enum isa *isa)
{
    return isa != NULL ? *isa : ISA_PORTABLE;
}

/* --- dense rows whose scores and sums are taken apart -------------------- */

static void add_apart(struct hasher *hasher, enum isa isa,
                      const struct golden_problem *problem)
{
    const struct dense_rows *const in = &problem->rows;
    double z[GOLDEN_ROWS_MAX], r[GOLDEN_ROWS_MAX], loss[GOLDEN_ROWS_MAX];
    double g[GOLDEN_STRIDE_MAX];

    kernel_scores(isa, in, problem->w, z);
    hasher_add_f64(hasher, z, in->rows);
    for (size_t l = 0; l < LOSSES; l++) {
        memcpy(r, z, in->rows * sizeof *r);
        kernel_slopes(isa, loss_samples[l], true, r, in->y, NULL, NULL,
                      in->rows);
        hasher_add_f64(hasher, r, in->rows);
        memcpy(r, z, in->rows * sizeof *r);
        kernel_slopes(isa, loss_samples[l], false, r, in->y, NULL, loss,
                      in->rows);
        hasher_add_f64(hasher, r, in->rows);
        hasher_add_f64(hasher, loss, in->rows);
    }
    kernel_columns(isa, in, r, 0, in->stride, g);
    hasher_add_f64(hasher, g, in->stride);
}

/* Of the five problems the two that round most: denormal and mixed.  More
 * would cost time at every start, most of it in making them. */
struct digest golden_wide(const enum isa *isa)
{
    struct golden_problem problem;
    struct hasher hasher;

    hasher_init(&hasher);
    for (uint32_t i = 1; i < GOLDEN_PROBLEMS; i += 3) {
        golden_problem_make(&problem, i);
        add_apart(&hasher, isa_of(isa), &problem);
    }
    return hasher_end(&hasher);
}

/* Scores of rows of two stripes.  Weights of many magnitudes, drawn by a
 * product: this runs at every start. */
struct digest golden_stripes(const enum isa *isa)
{
    double *const w = mem_new(LONG, sizeof *w);
    int8_t *const x = mem_new((size_t)ROWS * LONG, 1);
    const struct dense_rows rows = {
        .storage = DENSE_I8, .x = x, .rows = ROWS, .stride = LONG};
    struct digest digest = {{0}};
    struct hasher hasher;
    double z[ROWS];

    if (w != NULL && x != NULL) {
        for (uint32_t j = 0; j < LONG; j++) {
            const uint32_t drawn = (j + 1) * UINT32_C(2654435769);

            w[j] = (double)drawn * (drawn % 64 == 0 ? 0x1p-8 : 0x1p-30);
        }
        for (uint32_t at = 0; at < ROWS * LONG; at++)
            x[at] = (int8_t)((int)(at * 7 % 251) - 125);
        kernel_scores(isa_of(isa), &rows, w, z);
        hasher_init(&hasher);
        hasher_add_f64(&hasher, z, ROWS);
        digest = hasher_end(&hasher);
    }
    mem_free(w);
    mem_free(x);
    return digest;
}

/* --- vectors ------------------------------------------------------------- */

struct digest golden_vectors(const enum isa *isa)
{
    static const uint32_t lengths[] = {1, 7, 8, 61, LENGTH};
    double a[LENGTH], b[LENGTH], out[LENGTH];
    struct hasher hasher;

    (void)isa;
    hasher_init(&hasher);
    for (uint32_t i = 0; i < LENGTH; i++) {
        a[i] = draw(0, i, 40);
        b[i] = draw(1, i, 40);
    }
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        const uint32_t count = lengths[l];
        const double sizes[] = {vec_dot(a, b, count), vec_norm(a, count),
                                vec_largest(b, count),
                                vec_finite(a, count) ? 1.0 : 0.0};

        hasher_add_f64(&hasher, sizes, sizeof sizes / sizeof *sizes);
        vec_measure(a, 77, 0x1.3p-3, b, count, out);
        hasher_add_f64(&hasher, out, count);
        vec_descend(0x1.fp-1, 0x1.1p-4, a, count, out);
        hasher_add_f64(&hasher, out, count);
    }
    return hasher_end(&hasher);
}

/* --- tallies ------------------------------------------------------------- */

struct sums {
    struct tally all, some, room;
    int16_t exponent[DIMS + 1];
    double gradient[CHUNKS][DIMS], back[DIMS];
    uint8_t packed[DIMS * 16];
};

static void add_digest(struct hasher *hasher, const struct digest *digest)
{
    hasher_add(hasher, digest->bytes, sizeof digest->bytes);
}

static bool put(struct sums *sums, struct tally *tally, uint32_t chunk)
{
    return tally_add_chunk(tally, chunk, sums->gradient[chunk], 0.25 * chunk,
                           sums->exponent) == ERR_OK;
}

/* Chunk after chunk, merged, as a claim, and packed: all the ways in. */
static bool gather(struct sums *sums, struct hasher *hasher)
{
    struct tally_claim claim = {.first = 4, .end = 5, .loss = 12345};
    struct packed packed;
    size_t size;
    bool good;

    tally_blank(&sums->all);
    good = put(sums, &sums->all, 0) && put(sums, &sums->all, 1) &&
           put(sums, &sums->some, 2) && put(sums, &sums->some, 3) &&
           tally_merge(&sums->all, &sums->some) == ERR_OK;
    claim.sum = sums->some.sum;
    tally_absorb_many(&sums->all, &sums->room, &claim, 1, NULL);
    CHECK(pack_bound(DIMS) <= sizeof sums->packed);
    size = pack_i64(sums->all.sum, DIMS, sums->packed);
    hasher_add(hasher, sums->packed, size);
    tally_clear(&sums->some);
    chunkset_add(&sums->some.chunks, 5);
    return good && claim.good &&
           packed_find(sums->packed, size, DIMS, &packed) == ERR_OK &&
           tally_absorb_packed(&sums->all, &sums->some, &packed) &&
           tally_gradient(&sums->all, sums->exponent, sums->back);
}

static void fill(struct sums *sums)
{
    for (uint32_t j = 0; j < DIMS; j++) {
        sums->exponent[j] = tally_exponent(fabs(draw(2, j, 30)) + 1);
        sums->exponent[j] = (int16_t)(sums->exponent[j] - 20 - (int)(j % 5));
        for (uint32_t k = 0; k < CHUNKS; k++)
            sums->gradient[k][j] = draw(3 + k, j, 16);
    }
    sums->exponent[DIMS] = tally_loss_exponent(1000);
}

struct digest golden_tally(const enum isa *isa)
{
    struct sums *const sums = mem_new(1, sizeof *sums);
    struct digest digest = {{0}};
    struct hasher hasher;
    double loss;

    (void)isa;
    if (sums == NULL)
        return digest;
    if (tally_init(&sums->all, DIMS, CHUNKS) == ERR_OK &&
        tally_init(&sums->some, DIMS, CHUNKS) == ERR_OK &&
        tally_init(&sums->room, DIMS, CHUNKS) == ERR_OK) {
        hasher_init(&hasher);
        fill(sums);
        /* Broken arithmetic may not fit: what came of it is hashed. */
        (void)gather(sums, &hasher);
        digest = tally_digest(&sums->all);
        add_digest(&hasher, &digest);
        loss = tally_loss_value(&sums->all, sums->exponent);
        hasher_add_f64(&hasher, &loss, 1);
        hasher_add_f64(&hasher, sums->back, DIMS);
        digest = hasher_end(&hasher);
    }
    tally_close(&sums->all);
    tally_close(&sums->some);
    tally_close(&sums->room);
    mem_free(sums);
    return digest;
}

/* --- followed scales ----------------------------------------------------- */

static void follow_once(struct follow *follow, uint32_t round,
                        struct hasher *hasher)
{
    int16_t exponent[3 * FOLLOWED + 2] = {0};
    double values[3 * FOLLOWED + 2] = {0};
    const uint32_t dims = follow_dims(FOLLOWED);
    const struct evaluation what = {.kind = EVALUATE_GRADIENT, .w = values};
    enum scale_verdict verdict;
    double said;

    CHECK(dims < sizeof values / sizeof *values);
    CHECK(scale_exponents(&follow->scale, &what, exponent) == ERR_OK);
    for (uint32_t j = 0; j <= dims; j++) {
        said = (double)exponent[j];
        hasher_add_f64(hasher, &said, 1);
    }
    for (uint32_t j = 0; j < FOLLOWED; j++)
        values[j] = draw(10 + round, j, 24);
    verdict =
        follow_measure(FOLLOWED, CHUNKS, exponent, draw(9, round, 8), values)
            ? scale_stands(&follow->scale, what.kind, values)
            : scale_refused(&follow->scale, what.kind);
    said = (double)verdict;
    hasher_add_f64(hasher, &said, 1);
    hasher_add_f64(hasher, values, dims);
}

struct digest golden_follow(const enum isa *isa)
{
    struct follow follow = {0};
    struct digest digest = {{0}};
    struct hasher hasher;

    (void)isa;
    if (follow_init(&follow, FOLLOWED, CHUNKS) == ERR_OK) {
        hasher_init(&hasher);
        for (uint32_t round = 0; round < 4; round++)
            follow_once(&follow, round / 2, &hasher);
        digest = hasher_end(&hasher);
    }
    follow_close(&follow);
    return digest;
}

/* --- exact sums ---------------------------------------------------------- */

static void sum_exactly(const enum isa *isa, enum exact_type type,
                        const void *const *rows, void *out)
{
    double column[ROWS];

    if (isa != NULL)
        exact_sum(*isa, type, rows, ROWS, WIDTH, column, out);
    else
        exact_sum_ref(type, rows, ROWS, WIDTH, column, out);
}

/* Columns over so many orders that some do not fit a pair of doubles. */
struct digest golden_exact(const enum isa *isa)
{
    double wide[ROWS][WIDTH], sum[WIDTH];
    float narrow[ROWS][WIDTH], sum_narrow[WIDTH];
    const void *wides[ROWS], *narrows[ROWS];
    struct hasher hasher;

    for (uint32_t i = 0; i < ROWS; i++) {
        wides[i] = wide[i];
        narrows[i] = narrow[i];
        for (uint32_t j = 0; j < WIDTH; j++) {
            wide[i][j] = draw(20 + i, j, 2 + j);
            narrow[i][j] = (float)draw(30 + i, j, 2 + j % 100);
        }
    }
    hasher_init(&hasher);
    sum_exactly(isa, EXACT_F64, wides, sum);
    hasher_add_f64(&hasher, sum, WIDTH);
    sum_exactly(isa, EXACT_F32, narrows, sum_narrow);
    for (uint32_t j = 0; j < WIDTH; j++)
        sum[j] = (double)sum_narrow[j];
    hasher_add_f64(&hasher, sum, WIDTH);
    return hasher_end(&hasher);
}

/* --- surveys ------------------------------------------------------------- */

struct surveyed {
    double x_max[GOLDEN_STRIDE_MAX];
    double u[GOLDEN_STRIDE_MAX], v[GOLDEN_STRIDE_MAX], m[GOLDEN_STRIDE_MAX];
    float room[SURVEY_BLOCK * GOLDEN_STRIDE_MAX];
};

static void add_sizes(struct hasher *hasher, enum isa isa,
                      const struct dense_rows *in)
{
    struct surveyed s = {.x_max = {0}};
    const double norm = survey_maxima(isa, in, s.room, s.x_max);

    survey_sums(isa, in, s.room, s.u, s.v, s.m);
    hasher_add_f64(hasher, &norm, 1);
    hasher_add_f64(hasher, s.x_max, in->stride);
    hasher_add_f64(hasher, s.u, in->stride);
    hasher_add_f64(hasher, s.v, in->stride);
    hasher_add_f64(hasher, s.m, in->stride);
}

static void add_pairs(struct hasher *hasher, enum isa isa,
                      const struct dense_rows *like)
{
    enum { STRIDE = 40, WORDS = 2 };
    uint8_t bits[GOLDEN_ROWS_MAX * STRIDE / 8];
    uint64_t words[WORDS * STRIDE] = {0};
    uint64_t pairs[SURVEY_JOINT * STRIDE] = {0};
    bool counts[GOLDEN_ROWS_MAX];
    struct dense_rows in = *like;

    in.storage = DENSE_BIT;
    in.x = bits;
    in.stride = STRIDE;
    for (size_t i = 0; i < sizeof bits; i++)
        bits[i] = (uint8_t)rng_at(SEED, 40, i);
    for (uint32_t i = 0; i < in.rows; i++)
        counts[i] = in.y[i] != 0;
    for (size_t first = 0; first < STRIDE; first += SURVEY_JOINT) {
        const size_t count = survey_columns(&in, counts, words);

        survey_pairs(isa, words, count, STRIDE, first, pairs);
        for (size_t q = 0; q < SURVEY_JOINT; q++) {
            for (size_t k = 0; k < first + SURVEY_JOINT; k++) {
                const double both = (double)pairs[q * STRIDE + k];

                hasher_add_f64(hasher, &both, 1);
            }
        }
    }
}

struct digest golden_survey(const enum isa *isa)
{
    struct golden_problem problem;
    struct hasher hasher;

    hasher_init(&hasher);
    for (uint32_t i = 1; i < GOLDEN_PROBLEMS; i += 3) {
        golden_problem_make(&problem, i);
        add_sizes(&hasher, isa_of(isa), &problem.rows);
    }
    add_pairs(&hasher, isa_of(isa), &problem.rows);
    return hasher_end(&hasher);
}

/* --- least squares ------------------------------------------------------- */

/* One of full rank, one whose last column is the first. */
struct digest golden_solve(const enum isa *isa)
{
    struct solve_room room = {0};
    struct digest digest = {{0}};
    struct hasher hasher;

    (void)isa;
    if (solve_room_init(&room, EQUATIONS, UNKNOWNS) != ERR_OK)
        return digest;
    hasher_init(&hasher);
    for (uint32_t k = 0; k < 2; k++) {
        double a[EQUATIONS * UNKNOWNS], b[EQUATIONS];

        for (uint32_t i = 0; i < EQUATIONS * UNKNOWNS; i++)
            a[i] = draw(50, k == 0 ? i : i % (EQUATIONS * (UNKNOWNS - 1)), 4);
        for (uint32_t i = 0; i < EQUATIONS; i++)
            b[i] = draw(51, i, 4);
        if (solve_shortest(&room, a, b, EQUATIONS, UNKNOWNS) != ERR_OK)
            memset(b, 0, sizeof b);
        hasher_add_f64(&hasher, b, UNKNOWNS);
    }
    solve_room_close(&room);
    return hasher_end(&hasher);
}
